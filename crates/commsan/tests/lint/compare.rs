//! What lint reports against the marks of a program.

use crate::annotations::{Case, role_name};
use commsan_model::{Code, Finding, Role};
use std::collections::BTreeSet;
use std::path::Path;

/// A site as far as marks describe it: code, role, file, line, and whether it is only suspected.
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
    let unexpected = seen.difference(&marked).map(|site| format!("unexpected: {}", shown(site)));
    Ok(missing.chain(unexpected).collect())
}

/// Those that take part; what led to it is not marked.
fn sites(finding: &Finding) -> impl Iterator<Item = Site> {
    let part = |role: Role| !matches!(role, Role::Completion | Role::Cause);
    finding.sites.iter().filter(move |site| part(site.role)).map(|site| {
        let file = site.file.as_deref().map_or_else(String::new, base_name);
        key(finding.code, site.role, file, site.line.unwrap_or(0), finding.possible)
    })
}

fn marks(file: &Case) -> impl Iterator<Item = Site> {
    let name = base_name(&file.source.to_string_lossy());
    let marks = file.marks.iter();
    marks.map(move |mark| key(mark.code, mark.role, name.clone(), mark.line, mark.possible))
}

/// Of two calls at once either may be the first.
fn key(code: Code, role: Role, file: String, line: u32, possible: bool) -> Site {
    let alike =
        code.is_symmetric() || matches!(code, Code::CallsConcurrent | Code::CollectivesConcurrent);
    (code, if alike { "either".to_owned() } else { role_name(role) }, file, line, possible)
}

fn shown((code, role, file, line, possible): &Site) -> String {
    let suspected = if *possible { ", suspected" } else { "" };
    format!("{code} {role} at {file}:{line}{suspected}")
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}
