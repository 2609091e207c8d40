//! The model from outside. One program, for each would compile the model's generic parts anew.

mod laws;
mod mistakes;
mod scripts;
