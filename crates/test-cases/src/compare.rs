//! A report against the marks of its program.

use crate::annotations::{Case, Mark, role_name};
use commsan_findings::{Code, Finding, Role, Site};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What tests need of a `report.json`.
pub struct Report {
    findings: Vec<Finding>,
    ranks: u64,
}

/// Who saw a site, and how often.
#[derive(Default)]
pub struct Observers {
    /// Ranks that observed it.
    pub ranks: BTreeSet<u32>,
    /// How often, over all ranks.
    pub count: u64,
}

/// A site of a finding, as far as marks describe it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seen {
    /// Code of the finding.
    pub code: Code,
    /// The site's role in it, as reports write it.
    pub role: String,
    /// Base name of the source file; `?` if unknown.
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
    /// The function's own name; `?` if unknown.
    pub function: String,
}

impl Report {
    /// Reads the report of a run.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no report.
    pub fn read(path: &Path) -> Result<Report, String> {
        let at = |problem: String| format!("{}: {problem}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let mut json: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
        let ranks = json["run"]["ranks"].as_u64().unwrap_or(0);
        let findings = serde_json::from_value(json["findings"].take());
        Ok(Report { findings: findings.map_err(|error| at(error.to_string()))?, ranks })
    }

    /// Ranks that were checked.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// The sites of all findings except those that only explain. A site is in the source `file` (a
    /// base name) where its call path has a frame there.
    pub fn sites(&self, file: &str) -> BTreeMap<Seen, Observers> {
        let mut seen: BTreeMap<Seen, Observers> = BTreeMap::new();
        for finding in &self.findings {
            // Of what happens within a kernel, its lines are what is found.
            let within = finding.code.is_within_kernel();
            let explains = |role| role == Role::Completion || role == Role::Cause && !within;
            for site in finding.sites.iter().filter(|site| !explains(site.role)) {
                let observers = seen.entry(Seen::new(finding.code, site, file)).or_default();
                observers.ranks.extend(&finding.ranks);
                observers.count += finding.count;
            }
        }
        seen
    }
}

/// What was expected and is not there, and what is there and was not expected.
pub fn differences(case: &Case, report: &Report) -> Vec<String> {
    let mut problems = Vec::new();
    if report.ranks != u64::from(case.ranks) {
        problems.push(format!("{} of {} ranks were checked", report.ranks, case.ranks));
    }
    let file = base_name(&case.source.to_string_lossy());
    let seen = report.sites(&file);
    for mark in &case.marks {
        let mut all = Observers::default();
        for (_, observers) in seen.iter().filter(|(site, _)| site.file == file && site.is(mark)) {
            all.ranks.extend(&observers.ranks);
            all.count += observers.count;
        }
        let Observers { ranks, count } = all;
        if ranks.is_empty() {
            problems.push(format!("missing: {mark}"));
        } else if mark.ranks.as_ref().is_some_and(|expected| *expected != ranks) {
            problems.push(format!("wrong ranks: {mark}, but {ranks:?} observed it"));
        } else if mark.count.is_some_and(|expected| expected != count) {
            problems.push(format!("wrong count: {mark}, but it was seen {count} times"));
        }
    }
    for (site, Observers { ranks, .. }) in &seen {
        if site.file != file || !case.marks.iter().any(|mark| site.is(mark)) {
            let Seen { code, role, file, line, function } = site;
            let place = format!("{file}:{line} in {function}");
            problems.push(format!("unexpected: {code} {role} at {place}, ranks {ranks:?}"));
        }
    }
    problems
}

impl Seen {
    /// The innermost place in the program's own source: a finding in a header or library is its
    /// caller's.
    fn new(code: Code, site: &Site, file: &str) -> Seen {
        let own = site.stack.iter().find(|frame| match &frame.file {
            Some(path) => base_name(path) == file,
            // What clang adds for exceptions has no line.
            None => frame.module.ends_with("/program") && frame.function.is_some(),
        });
        let (path, line, function) = match own {
            Some(frame) => (Some(file), frame.line, &frame.function),
            None => (site.file.as_deref(), site.line, &site.function),
        };
        Seen {
            code,
            role: role_name(site.role),
            file: path.map_or_else(|| "?".to_owned(), base_name),
            line: line.unwrap_or(0),
            function: function.as_deref().map_or_else(|| "?".to_owned(), plain_name),
        }
    }

    fn is(&self, mark: &Mark) -> bool {
        let place = match &mark.function {
            Some(function) => self.function == *function,
            None => self.line == mark.line,
        };
        self.code == mark.code
            && (self.role == role_name(mark.role) || mark.code.is_symmetric())
            && place
    }
}

/// The last component of a path.
pub fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// A function's own name, without what compilers and demanglers add: `heat::pack(int)`,
/// `__grid_MOD_pack`, `pack_`, `pack.0`.
fn plain_name(name: &str) -> String {
    let name = name.split('(').next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.rsplit("_MOD_").next().unwrap_or(name);
    let name = name.split('.').next().unwrap_or(name);
    name.trim_end_matches('_').to_owned()
}
