//! Reduction: why far fewer states are searched than there are worlds, and why most transitions are looked up and not taken.
//! The model knows nothing of it: `step` never normalises, the checker does it after each step of the search.
//!
//! ```text
//! form         which worlds count as one in a search, and what is said of that
//! normal_form  values without absolute meaning: worlds that differ in nothing else become equal
//! symmetry     interchangeable clients: worlds that differ only in who is who become equal
//! components   worlds as numbers of their parts, and transitions that are looked up
//! names        what values without absolute meaning are called in the normal form
//! calls        what calls are named: only their identity counts
//! unheard      messages that make no difference any more are left out
//! parts        what is known of each part of a world, so that a step need look again only at what it changed
//! piece        a part of a world, by itself
//! order, hash  clients at other places; the hashes of parts
//! ```

mod calls;
mod components;
mod form;
mod hash;
mod names;
mod normal_form;
mod order;
mod parts;
mod piece;
mod symmetry;
mod unheard;
#[cfg(feature = "stateright")]
mod unheard_in_world;

pub(crate) use components::{Collapsed, SharedPool, Stepper, Successor};
pub(crate) use form::Form;
pub(crate) use normal_form::Formed;
#[cfg(feature = "stateright")]
pub(crate) use normal_form::NormalForm;
#[cfg(feature = "stateright")]
pub(crate) use symmetry::{Symmetry, arranged};
pub(crate) use unheard::Unheard;
