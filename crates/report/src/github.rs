//! Workflow commands, which GitHub Actions shows as annotations on a pull request's lines.
//!
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>

use crate::Report;
use crate::terminal::{note_text, seen, summary};
use commsan_findings::Severity;
use std::fmt::Write;

/// One command a finding, then one for all notes. Files below the working directory are named
/// relative to it, as GitHub expects.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let command = match finding.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut properties = Vec::new();
        // The first site with a line: without one, GitHub shows no annotation in the diff.
        let place = finding.sites.iter().find(|site| site.file.is_some() && site.line.is_some());
        if let Some(place) = place {
            let file = place.file.as_deref().unwrap_or_default();
            properties.push(format!("file={}", property(report.run.shown(file))));
            properties.extend(place.line.map(|line| format!("line={line}")));
            properties.extend(place.column.map(|column| format!("col={column}")));
        }
        let title = format!("{}: {}", finding.code, finding.title);
        properties.push(format!("title={}", property(&title)));
        let body = format!(
            "{}\nwhy: {}\nhelp: {}\n{}",
            report.message(finding),
            finding.why,
            finding.help,
            seen(finding)
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "::{command} {}::{}", properties.join(","), data(&body));
    }
    // Actions keep ten annotations a step of each kind: notes share one.
    if !report.run.notes.is_empty() {
        let notes: Vec<_> = report.run.notes.iter().map(note_text).collect();
        let _ = writeln!(text, "::notice title=commsan::{}", data(&notes.join("\n")));
    }
    // A line that looks like a command would be one.
    text + &data(&summary(report)) + "\n"
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
