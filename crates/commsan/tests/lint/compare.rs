//! What lint reports against the marks of a program.

use commsan_findings::{Code, Finding, Role};
use commsan_test_cases::Case;
use commsan_test_cases::annotations::role_name;
use std::collections::BTreeSet;
use std::path::Path;

/// A site as far as marks describe it: code, role, file, line, whether it is only suspected.
type Site = (Code, String, String, u32, bool);

/// What was expected and is not there, and what is there and was not expected.
pub fn differences(files: &[Case], report: &Path) -> Result<Vec<String>, String> {
    let at = |problem: String| format!("{}: {problem}", report.display());
    let text = std::fs::read_to_string(report).map_err(|error| at(error.to_string()))?;
    let mut json: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
    let findings: Vec<Finding> =
        serde_json::from_value(json["findings"].take()).map_err(|error| at(error.to_string()))?;
    let seen: BTreeSet<Site> = findings.iter().flat_map(sites).collect();
    let marked: BTreeSet<Site> = files.iter().flat_map(marks).collect();
    let missing = marked.difference(&seen).map(|site| format!("missing: {}", shown(site)));
    // What led to a finding need not be marked.
    let unexpected = seen.difference(&marked).filter(|site| site.1 != role_name(Role::Cause));
    let unexpected = unexpected.map(|site| format!("unexpected: {}", shown(site)));
    Ok(missing.chain(unexpected).collect())
}

fn sites(finding: &Finding) -> impl Iterator<Item = Site> {
    finding.sites.iter().filter(|site| site.role != Role::Completion).map(|site| {
        let file = site.file.as_deref().map_or_else(String::new, base_name);
        key(finding.code, site.role, file, site.line.unwrap_or(0), finding.possible)
    })
}

fn marks(file: &Case) -> impl Iterator<Item = Site> {
    let name = base_name(&file.source.to_string_lossy());
    file.marks
        .iter()
        .map(move |mark| key(mark.code, mark.role, name.clone(), mark.line, mark.possible))
}

/// Of two calls at once either may be the first.
fn key(code: Code, role: Role, file: String, line: u32, possible: bool) -> Site {
    let alike = code.is_symmetric() && role != Role::Cause;
    (code, if alike { "either".to_owned() } else { role_name(role) }, file, line, possible)
}

fn shown((code, role, file, line, possible): &Site) -> String {
    let possible = if *possible { " possible" } else { "" };
    format!("{code} {role}{possible} at {file}:{line}")
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}
