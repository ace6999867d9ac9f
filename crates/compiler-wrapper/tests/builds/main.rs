//! The wrappers with real compilers: programs behave as without them, and report what they access.
//!
//! Sources are in `tests/compile` of the repository. Compilers that are not installed are skipped.

mod behaviour;
mod nvcc;
mod plugins;
mod random_loops;
mod reports;
mod setup;
mod transparency;
