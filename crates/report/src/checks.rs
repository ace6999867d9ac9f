//! The calls that a static analysis has flagged, to which a run limits its checks of threads and of
//! collectives (`commsan lint --emit-checks`, `commsan run --checks`).
//!
//! **What can be missed.** Whatever the analysis misses, and what it cannot see: sizes of data,
//! roots and reductions that the input says, levels that MPI does not provide. A finding counts if
//! one of its places was flagged.

use commsan_findings::{Code, Finding, Role, Site};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Calls by what is to be checked of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    schema: u32,
    threads: Vec<Call>,
    collectives: Vec<Call>,
}

/// A line with a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    file: PathBuf,
    line: u32,
}

/// Version of the file format.
const SCHEMA: u32 = 1;

/// Which checks a finding is of, if it is one that can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Threads,
    Collectives,
}

/// A file of checks cannot be used.
#[derive(Debug)]
pub struct ChecksError {
    file: PathBuf,
    problem: String,
}

impl fmt::Display for ChecksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.problem)
    }
}

impl std::error::Error for ChecksError {}

impl Kind {
    fn of(code: Code) -> Option<Kind> {
        let id = code.id();
        match () {
            () if id.starts_with("CS-THR-") || id.starts_with("CS-OMP-") => Some(Kind::Threads),
            () if id.starts_with("CS-COL-") => Some(Kind::Collectives),
            () => None,
        }
    }
}

impl Checks {
    /// The calls that findings name.
    pub fn of(findings: &[Finding]) -> Checks {
        let calls = |kind: Kind| {
            let findings = findings.iter().filter(|finding| Kind::of(finding.code) == Some(kind));
            let sites = findings.flat_map(|finding| &finding.sites);
            let calls = sites.filter(|site| matches!(site.role, Role::Access | Role::Operation));
            let mut calls: Vec<_> = calls.filter_map(Call::of).collect();
            calls.sort();
            calls.dedup();
            calls
        };
        Checks {
            schema: SCHEMA,
            threads: calls(Kind::Threads),
            collectives: calls(Kind::Collectives),
        }
    }

    /// The text of a file that [`load`](Self::load) reads.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string(self).unwrap_or_default();
        format!(
            "# Calls that `commsan run --checks` looks at, of those by threads and of collectives, as \
             `commsan lint` has flagged them.\n{text}"
        )
    }

    /// Reads a file that [`to_toml`](Self::to_toml) has written.
    ///
    /// # Errors
    /// When the file cannot be read, or has another format.
    pub fn load(file: &Path) -> Result<Checks, ChecksError> {
        let error = |problem: String| ChecksError { file: file.to_owned(), problem };
        let text = std::fs::read_to_string(file).map_err(|e| error(e.to_string()))?;
        let checks: Checks = toml::from_str(&text).map_err(|e| {
            error(format!("no file of `commsan lint --emit-checks`: {}", e.message().trim_end()))
        })?;
        match checks.schema {
            SCHEMA => Ok(checks),
            other => Err(error(format!("schema {other} is not known, only {SCHEMA}"))),
        }
    }

    /// Whether any call is flagged for a check of threads.
    pub fn has_threads(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether any call is flagged for a check of collectives.
    pub fn has_collectives(&self) -> bool {
        !self.collectives.is_empty()
    }

    /// Whether a finding of a run counts.
    pub fn keep(&self, finding: &Finding) -> bool {
        let flagged = match Kind::of(finding.code) {
            None => return true,
            Some(Kind::Threads) => &self.threads,
            Some(Kind::Collectives) => &self.collectives,
        };
        finding.sites.iter().any(|site| flagged.iter().any(|call| call.is_at(site)))
    }
}

impl Call {
    fn of(site: &Site) -> Option<Call> {
        Some(Call { file: site.file.as_ref()?.into(), line: site.line? })
    }

    /// Whether the site is on this line; compilers name a file relative to different directories.
    fn is_at(&self, site: &Site) -> bool {
        let Some(file) = site.file.as_ref().map(Path::new) else { return false };
        site.line == Some(self.line) && (file.ends_with(&self.file) || self.file.ends_with(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(code: Code, sites: &[(Role, &str, u32)]) -> Finding {
        let site = |(role, file, line): &(Role, &str, u32)| Site {
            role: *role,
            label: String::new(),
            file: Some((*file).to_owned()),
            line: Some(*line),
            column: None,
            function: None,
            rank: 0,
            thread: 0,
            stack: Vec::new(),
        };
        Finding {
            job: None,
            moments: vec![],
            code,
            title: String::new(),
            message: String::new(),
            count: 1,
            ranks: vec![0],
            possible: false,
            sites: sites.iter().map(site).collect(),
            why: String::new(),
            help: String::new(),
        }
    }

    #[test]
    fn findings_at_flagged_calls_are_kept() {
        let flagged = [
            finding(
                Code::CollectivesDiffer,
                &[(Role::Access, "src/a.c", 7), (Role::Cause, "src/a.c", 6)],
            ),
            finding(Code::SendBufferWritten, &[(Role::Access, "src/a.c", 3)]),
        ];
        let checks = Checks::of(&flagged);
        assert!(checks.has_collectives() && !checks.has_threads());
        let at = |code, file, line| checks.keep(&finding(code, &[(Role::Operation, file, line)]));
        assert!(at(Code::CollectivesDiffer, "/home/me/src/a.c", 7));
        assert!(at(Code::RootsDiffer, "a.c", 7));
        assert!(!at(Code::CollectivesDiffer, "/home/me/src/a.c", 6), "a condition is no call");
        assert!(!at(Code::CollectivesDiffer, "/home/me/src/aa.c", 7));
        assert!(!at(Code::CallsConcurrent, "src/a.c", 7), "flagged for something else");
        assert!(at(Code::SendBufferWritten, "b.c", 1), "not limited");
    }

    #[test]
    fn files_are_read_as_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let checks = Checks::of(&[finding(Code::CallsConcurrent, &[(Role::Access, "a b.c", 12)])]);
        std::fs::write(file.path(), checks.to_toml()).unwrap();
        assert_eq!(Checks::load(file.path()).unwrap(), checks);
        for (text, problem) in [
            ("", "missing field `schema`"),
            ("schema = 2\nthreads = []\ncollectives = []", "schema 2 is not known"),
            ("schema = 1\nthreads = 3", "invalid type"),
            ("[[suppress]]\ncode = 'CS-COL-01'", "unknown field `suppress`"),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let error = Checks::load(file.path()).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
