//! Baselines: findings of an earlier lint of an existing program, which are not reported again.

use crate::exit_code;
use crate::failure::Failure;
use commsan_findings::{Code, Finding};
use std::collections::HashMap;
use std::path::Path;

/// Findings of an earlier report, which are not reported again.
#[derive(Default)]
pub struct Baseline {
    /// Number of known findings by key.
    known: HashMap<(Code, Vec<Key>), usize>,
}

/// A site without its line number, which changes with any edit above it.
type Key = (Option<String>, Option<String>, String);

impl Baseline {
    /// Whether a finding is known: compares its code, and files, functions and labels of all sites.
    /// One more equal finding than in the baseline is new.
    pub fn takes(&mut self, finding: &Finding) -> bool {
        match self.known.get_mut(&key(finding)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

fn key(finding: &Finding) -> (Code, Vec<Key>) {
    let file = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let site = |site: &commsan_findings::Site| {
        (site.file.as_deref().map(file), site.function.clone(), without_numbers(&site.label))
    };
    (finding.code, finding.sites.iter().map(site).collect())
}

/// Labels contain line numbers, too.
fn without_numbers(label: &str) -> String {
    label.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Reads the JSON report of an earlier lint.
pub fn read(path: &Path) -> Result<Baseline, Failure> {
    #[derive(serde::Deserialize)]
    struct Report {
        findings: Vec<Finding>,
    }
    let unusable = |what: String| {
        let what = format!("cannot use the baseline `{}`: {what}", path.display());
        Failure::new(exit_code::USAGE, what).help("write one by `commsan lint --json FILE …`")
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
    let report: Report = serde_json::from_str(&text).map_err(|e| unusable(e.to_string()))?;
    let mut baseline = Baseline::default();
    for finding in &report.findings {
        *baseline.known.entry(key(finding)).or_default() += 1;
    }
    Ok(baseline)
}
