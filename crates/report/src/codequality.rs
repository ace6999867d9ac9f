//! Code Quality, the JSON that GitLab shows in merge requests.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use crate::Report;
use crate::sarif::fingerprint;
use commsan_findings::{Finding, Severity};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Violation<'a> {
    description: Cow<'a, str>,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// One violation a finding, at its first site with a line. GitLab shows none without a place: one
/// that has no line is at line 1 of the program.
pub fn render(report: &Report) -> String {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let violations: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            let place = fingerprint(report, finding);
            // GitLab takes violations with equal fingerprints for one.
            let count = seen.entry(place.clone()).or_default();
            *count += 1;
            let number = *count;
            Violation {
                description: report.message(finding),
                check_name: finding.code.id(),
                fingerprint: format!("{place}|{number}"),
                severity: match finding.severity() {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                },
                location: location(report, finding),
            }
        })
        .collect();
    // Strings and numbers are always JSON.
    serde_json::to_string_pretty(&violations).unwrap_or_default() + "\n"
}

fn location<'a>(report: &'a Report, finding: &'a Finding) -> Location<'a> {
    let place = finding.sites.iter().find_map(|site| Some((site.file.as_deref()?, site.line?)));
    let program = report.run.program.as_deref().unwrap_or("commsan");
    let (file, begin) = place.unwrap_or((program, 1));
    Location { path: report.run.shown(file), lines: Lines { begin } }
}
