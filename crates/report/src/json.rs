//! The report for programs: `report.json`, described in `docs/report-json.md`.

use crate::{Report, Run, Statistics};
use commsan_findings::{Finding, Severity};
use serde::{Deserialize, Serialize};

/// Version of the format; a change that readers must know raises it.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    findings: Vec<Written<'r>>,
    run: &'r Run,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'r Statistics>,
}

/// A finding with what follows from its code.
#[derive(Serialize)]
struct Written<'r> {
    severity: Severity,
    #[serde(flatten)]
    finding: &'r Finding,
}

#[derive(Deserialize)]
struct Read {
    findings: Vec<Finding>,
    run: Run,
    #[serde(default)]
    stats: Option<Statistics>,
}

/// The whole report as one JSON object.
pub fn render(report: &Report) -> String {
    let findings = report.findings.iter();
    let findings = findings.map(|finding| Written { severity: finding.severity(), finding });
    let document = Document {
        schema: SCHEMA,
        findings: findings.collect(),
        run: &report.run,
        stats: report.stats.as_ref(),
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("strings, numbers, arrays and structures always have a JSON form") + "\n"
}

/// Reads what [`render`] wrote.
///
/// # Errors
/// Says why `text` is no report of this version.
pub fn parse(text: &str) -> Result<Report, String> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let error = |error: serde_json::Error| format!("not a commsan report: {error}");
    let version: Version = serde_json::from_str(text).map_err(error)?;
    if version.schema > SCHEMA {
        return Err(format!(
            "the report has schema {}, this commsan reads up to {SCHEMA}: use a newer commsan",
            version.schema
        ));
    }
    let Read { findings, run, stats } = serde_json::from_str(text).map_err(error)?;
    Ok(Report { findings, run, stats })
}
