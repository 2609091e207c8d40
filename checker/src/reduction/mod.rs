//! Reduction: why far fewer states are searched than there are worlds, and why most transitions are looked up and not taken.
//! The model knows nothing of it: `step` never normalises, the checker does it after each step of the search.
//!
//! ```text
//! form         the equivalence of worlds in a search, and its sentences in certificates
//! normal_form  values without absolute meaning: worlds that differ in nothing else become equal
//! symmetry     interchangeable clients: worlds that differ only in a permutation of them become equal
//! components   worlds as numbers of their parts, and transitions that are looked up
//! names        the canonical values of instants, ids and indexes
//! calls        the canonical numbers of calls: only their identity counts
//! unheard      messages without a reaction are left out; unheard_in_world: the same of a whole world
//! late_faults  losses and pauses are explored only where they let time pass
//! subsumption  a world is not explored if another one can do all that it can
//! partial_order  where a client does something that no other process and no promise sees, all else waits until it is done
//! parts        summaries of the parts of a world: a step renews only those that it changed
//! piece        a part of a world, by itself
//! order, hash  permutations of clients; hashes of parts
//! ```

mod calls;
mod components;
mod form;
mod hash;
mod late_faults;
mod names;
mod normal_form;
mod order;
mod partial_order;
mod parts;
mod piece;
mod subsumption;
mod symmetry;
mod unheard;
#[cfg(feature = "stateright")]
mod unheard_in_world;

pub(crate) use components::{Collapsed, Numbers, PackedChunk, Pool, SharedPool, Stepper, Successor};
pub(crate) use form::Form;
pub(crate) use late_faults::LateFaults;
pub(crate) use normal_form::Formed;
#[cfg(feature = "stateright")]
pub(crate) use normal_form::NormalForm;
pub(crate) use partial_order::PartialOrder;
pub(crate) use subsumption::Subsumption;
pub(crate) use symmetry::Symmetry;
pub(crate) use unheard::Unheard;
