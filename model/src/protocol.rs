//! The former name of [`crate::service`].

pub use crate::service::{Administered, Conflict, Opinion, Record, Service as Protocol};
