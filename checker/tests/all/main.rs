//! The checker as others use it. One program, for each would compile the checker's generic parts anew.

mod assumptions;
mod catalogue;
mod dial;
mod engines;
mod exact;
mod expectations;
mod late_faults;
mod laws;
mod partial_order;
mod reduced;
mod subsumption;
mod symmetry;
mod walls;
