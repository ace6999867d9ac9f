//! Static analyses of a whole program, and the findings they lead to.
//!
//! Codes, sites and words are those of findings at run time (`commsan-findings`); what is
//! particular to an analysis is where it is sure and where it only suspects, see
//! [`Finding::possible`].
//!
//! - `arguments`: constant arguments that calls do not allow.
//! - `collectives`: whether all ranks call the same ones, in the same order.
//! - [`levels`]: which thread level the program needs, and which calls break the one it asks for.
//! - `objects`: datatypes that nobody commits, objects that nobody frees.
//! - `bounded_exec`: defects in a bounded execution by a few ranks.
//! - `local_concurrency`: accesses to buffers and requests of pending operations.
//!
//! [`Finding::possible`]: commsan_findings::Finding::possible

mod allocators;
mod arguments;
mod bounded_exec;
mod callgraph;
mod collectives;
mod conditional;
mod datatypes;
mod environment;
pub mod levels;
mod library;
mod local_concurrency;
mod objects;
mod openmp;
mod places;
mod pointers;

pub use commsan_points_to::{Calls, Mpi};
pub use levels::Level;

use commsan_findings::{Finding, Followed};
use commsan_ir::Program;
use commsan_points_to::PointsTo;

/// Facts that the user supplies where the program does not show them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The level that MPI is initialised with, instead of what the program asks for.
    pub level: Option<Level>,
    /// In which threads functions run that nobody in the program calls.
    pub context: levels::Context,
    /// Whether to report objects that need not be freed, and are not.
    pub leaks: bool,
    /// The numbers of ranks of bounded executions of the program; empty for none.
    pub ranks: Vec<usize>,
}

/// What the analyses say of a program.
#[derive(Debug, Default)]
pub struct Analysis {
    /// In the order of their places.
    pub findings: Vec<Finding>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// How many operations and requests were followed.
    pub followed: Followed,
}

impl Analysis {
    /// Adds what the analyses say of another program; its notes get its name. Programs may share
    /// code.
    pub fn add(&mut self, other: Analysis, name: Option<&str>) {
        for finding in other.findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
        let named = |note: String| match name {
            Some(name) => format!("`{name}`: {note}"),
            None => note,
        };
        self.notes.extend(other.notes.into_iter().map(named));
        self.followed.add(other.followed);
    }
}

/// Runs all analyses. Calls of MPI through pointers become plain ones in the program.
pub fn analyse(program: &mut Program, options: &Options) -> Analysis {
    conditional::settle(program);
    allocators::copy(program);
    let calls = Calls::of(program);
    let mut points_to = PointsTo::of(program, &calls);
    if pointers::threads(program, &points_to) {
        points_to = PointsTo::of(program, &calls);
    }
    pointers::resolve(program, &calls, &points_to);
    let environment = environment::Environment::of(program, &calls);
    let mut analysis = Analysis::default();
    levels::check(program, &calls, &points_to, &environment, options, &mut analysis);
    local_concurrency::check(program, &calls, &points_to, &environment, &mut analysis);
    arguments::check(program, &calls, &environment, &mut analysis);
    objects::check(program, &calls, &points_to, &environment, options.leaks, &mut analysis);
    let executed = bounded_exec::findings(program, &calls, &environment, &options.ranks);
    // The last one: it changes the program.
    collectives::check(program, &calls, &points_to, &environment, &mut analysis);
    bounded_exec::add(executed, &mut analysis);
    let place = |finding: &Finding| {
        finding.sites.first().map(|site| (site.file.clone(), site.line, site.column))
    };
    analysis.findings.sort_by_key(|finding| (place(finding), finding.code));
    analysis
}
