//! The answers of the doctor: the case of the README, the equations on random settings, and the small scenarios against the whole
//! recipe; the width of what is unknown; the units in files; configurations as they are in the field; and scenarios as they
//! stand.

mod answers;
mod bands;
mod configurations;
mod election_configurations;
mod election_recipe;
mod elections;
mod equations;
mod exact;
mod random;
mod recipe;
mod session_configurations;
mod sessions;
mod units;
mod written;
