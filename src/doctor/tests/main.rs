//! The answers of the doctor: the case of the README, the equations on random settings, and the small scenarios against the whole
//! recipe; and the units in files.

mod answers;
mod equations;
mod random;
mod recipe;
mod units;
