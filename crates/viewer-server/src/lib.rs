//! A profile in the browser: [`serve`] answers a browser on this machine, [`export_html`] writes
//! one file that needs no server.
//!
//! Both give the same answers, found by their address (`question`); this crate computes none
//! itself.

mod address;
mod assets;
mod export;
mod guard;
mod http;
mod question;

pub use address::Address;
pub use export::{Limits, export_html};
pub use http::{Settings, serve};

use commsan_profile::Profile;
use std::sync::OnceLock;

/// What is looked at: a run, and another one that it is compared with.
#[derive(Debug)]
pub struct Runs {
    profile: Profile,
    other: Option<Profile>,
    /// The comparison, once it has been asked for: it does not change.
    comparison: OnceLock<Vec<u8>>,
}

impl Runs {
    /// `profile`, compared with `other` if there is one.
    pub fn new(profile: Profile, other: Option<Profile>) -> Runs {
        Runs { profile, other, comparison: OnceLock::new() }
    }
}
