//! The options that concern a rank, out of `COMMSAN_OPTIONS`.
//!
//! The launcher has checked them; a rank takes what it understands and stays silent about the
//! rest.

use commsan_mpi::MemoryModel;

/// Options of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// End the job at the first finding.
    pub halt_on_error: bool,
    /// Distinct findings written by this rank.
    pub max_findings: usize,
    /// Frames written for each site.
    pub stack_depth: usize,
    /// Memory model of windows.
    pub memory_model: MemoryModel,
}

impl Default for Options {
    fn default() -> Options {
        let memory_model = MemoryModel::AsIs;
        Options { halt_on_error: false, max_findings: 1000, stack_depth: 16, memory_model }
    }
}

/// Reads the environment.
pub fn from_environment() -> Options {
    parse(&std::env::var("COMMSAN_OPTIONS").unwrap_or_default())
}

fn parse(text: &str) -> Options {
    let mut options = Options::default();
    for (key, value) in text.split(':').filter_map(|pair| pair.split_once('=')) {
        match key {
            "halt_on_error" => options.halt_on_error = matches!(value, "1" | "true" | "yes"),
            "max_findings" => options.max_findings = value.parse().unwrap_or(options.max_findings),
            "stack_depth" => options.stack_depth = value.parse().unwrap_or(options.stack_depth),
            "memory_model" => {
                options.memory_model = match value {
                    "separate" => MemoryModel::Separate,
                    "unified" => MemoryModel::Unified,
                    _ => MemoryModel::AsIs,
                }
            }
            _ => {}
        }
    }
    options
}
