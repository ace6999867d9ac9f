//! What moved where, after the run: merged, named, asked and exported.

pub mod api;
#[cfg(feature = "synthetic")]
pub mod synthetic;
