//! The options that concern a rank, out of `COMMSAN_OPTIONS`.
//!
//! The launcher has checked them; a rank takes what it understands and stays silent about the
//! rest.

#[cfg(not(feature = "serial"))]
pub mod mpi;

use commsan_counters::Settings;

/// Options of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Look for findings.
    pub check: bool,
    /// End the job at the first finding.
    pub halt_on_error: bool,
    /// Distinct findings written by this rank.
    pub max_findings: usize,
    /// Frames written for each site.
    pub stack_depth: usize,
    /// Count what is watched.
    pub stats: bool,
    /// What concerns MPI only.
    #[cfg(not(feature = "serial"))]
    pub mpi: mpi::Options,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            check: true,
            halt_on_error: false,
            max_findings: 1000,
            stack_depth: 16,
            stats: false,
            #[cfg(not(feature = "serial"))]
            mpi: mpi::Options::default(),
        }
    }
}

/// Reads the environment: how to check, and what to count, if anything.
pub fn from_environment() -> (Options, Option<Settings>) {
    let text = std::env::var("COMMSAN_OPTIONS").unwrap_or_default();
    let epoch = std::env::var("COMMSAN_EPOCH").ok().and_then(|epoch| epoch.parse().ok());
    (parse(&text), counting(&text).map(|settings| Settings { epoch, ..settings }))
}

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(':').filter_map(|pair| pair.split_once('='))
}

fn is_true(value: &str) -> bool {
    matches!(value, "1" | "true" | "yes")
}

fn counting(text: &str) -> Option<Settings> {
    let (mut settings, mut wanted) = (Settings::default(), false);
    for (key, value) in pairs(text) {
        match key {
            "profile" => wanted = is_true(value),
            "sample" => {
                let rate = value.strip_prefix("1/").unwrap_or(value);
                settings.sample = rate.parse().unwrap_or(settings.sample).max(1);
            }
            "objects_from" => {
                settings.objects_from = value.parse().unwrap_or(settings.objects_from);
            }
            "events" => settings.events = value.parse().unwrap_or(settings.events),
            "only_region" => settings.regions.push(value.to_owned()),
            "only_object" => settings.objects.push(value.to_owned()),
            "only_kernel" => settings.kernels.push(value.to_owned()),
            _ => {}
        }
    }
    wanted.then_some(settings)
}

fn parse(text: &str) -> Options {
    let mut options = Options::default();
    for (key, value) in pairs(text) {
        match key {
            "check" => options.check = is_true(value),
            "halt_on_error" => options.halt_on_error = is_true(value),
            "max_findings" => options.max_findings = value.parse().unwrap_or(options.max_findings),
            "stack_depth" => options.stack_depth = value.parse().unwrap_or(options.stack_depth),
            "stats" => options.stats = is_true(value),
            #[cfg(not(feature = "serial"))]
            _ => options.mpi.set(key, value),
            #[cfg(feature = "serial")]
            _ => {}
        }
    }
    options
}
