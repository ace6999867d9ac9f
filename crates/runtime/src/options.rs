//! The options that concern a rank, out of `COMMSAN_OPTIONS`.
//!
//! The launcher has checked them; a rank takes what it understands and stays silent about the
//! rest.

use commsan_counters::Settings;
use commsan_mpi::MemoryModel;
use commsan_mpi_calls::Object;

/// Objects that cost more than some memory: libraries have few thousand communicators, what is freed of them is agreed on by
/// all, and other objects keep memory and functions of the program in use. Many good programs leave their groups.
const LASTING: &[Object] = &[Object::Comm, Object::Datatype, Object::Op, Object::Request];

const ALL: &[Object] =
    &[Object::Comm, Object::Datatype, Object::Op, Object::Request, Object::Group];

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
    /// Memory model of windows.
    pub memory_model: MemoryModel,
    /// Standard sends wait for their receives.
    pub strict_sends: bool,
    /// Blocking collectives wait for all ranks.
    pub strict_collectives: bool,
    /// Look at calls of several threads.
    pub thread_checks: bool,
    /// Compare collectives of different ranks.
    pub collective_checks: bool,
    /// Look for such objects that are never freed.
    pub leaks: &'static [Object],
}

impl Default for Options {
    fn default() -> Options {
        Options {
            check: true,
            halt_on_error: false,
            max_findings: 1000,
            stack_depth: 16,
            memory_model: MemoryModel::AsIs,
            strict_sends: false,
            strict_collectives: false,
            thread_checks: true,
            collective_checks: true,
            leaks: LASTING,
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
            "strict_sends" => options.strict_sends = is_true(value),
            "strict_collectives" => options.strict_collectives = is_true(value),
            "thread_checks" => options.thread_checks = is_true(value),
            "collective_checks" => options.collective_checks = is_true(value),
            "leaks" => {
                options.leaks = match value {
                    "auto" => LASTING,
                    _ if is_true(value) => ALL,
                    _ => &[],
                }
            }
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
