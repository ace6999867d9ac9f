//! SARIF 2.1.0, for code scanning services and editors.
//!
//! The few of the standard's types that a dynamic checker needs; section numbers refer to
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use crate::terminal::{label, note_text, seen};
use crate::{Analysed, Note, Report};
use commsan_findings::{Code, Finding, Frame, Severity, Site};
use serde::Serialize;
use std::collections::BTreeMap;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What relative file names are relative to (SARIF 2.1.0 §3.4.4): the consumer's checkout.
const ROOT: &str = "SRCROOT";

/// The report as a SARIF log with one run.
pub fn render(report: &Report) -> String {
    let rules = report.codes();
    let mut results: Vec<_> =
        report.findings.iter().map(|finding| result(report, finding, &rules)).collect();
    number_equal_fingerprints(&mut results);
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "commsan",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules.iter().map(|&code| rule(code)).collect(),
                },
            },
            invocations: [invocation(report)],
            original_uri_base_ids: BTreeMap::from([(
                ROOT,
                UriBase { description: text("where the program was run") },
            )]),
            // §3.14.27: what columns count.
            column_kind: "unicodeCodePoints",
            results,
        }],
    };
    let text = serde_json::to_string_pretty(&log);
    text.expect("strings, numbers, arrays and structures always have a JSON form") + "\n"
}

fn rule(code: Code) -> Rule {
    Rule {
        id: code.id(),
        short_description: text(code.title()),
        help: Help { text: code.explanation(), markdown: code.explanation() },
        default_configuration: Configuration { level: level(code.severity()) },
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn invocation(report: &Report) -> Invocation<'_> {
    let run = &report.run;
    Invocation {
        command_line: (!run.command.is_empty()).then(|| run.command.join(" ")),
        exit_code: run.exit,
        start_time_utc: (!run.started.is_empty()).then(|| run.started.clone()),
        // §3.20.14: whether the tool worked, not whether it found nothing.
        execution_successful: run.has_looked(),
        tool_execution_notifications: run.notes.iter().map(notification).collect(),
        properties: run.analysed.as_ref().map(|analysed| Looked { analysed }),
    }
}

fn notification(note: &Note) -> Notification {
    Notification { level: note.level.name(), message: text(note_text(note)) }
}

fn result(report: &Report, finding: &Finding, rules: &[Code]) -> ResultObject {
    let (first, others) = match &*finding.sites {
        [first, others @ ..] => (Some(first), others),
        [] => (None, [].as_slice()),
    };
    let related = (1_u32..)
        .zip(others)
        .map(|(id, site)| Location { id: Some(id), ..location(report, finding, site) });
    let stacks = finding.sites.iter().filter(|site| !site.stack.is_empty());
    ResultObject {
        rule_id: finding.code.id(),
        rule_index: rules.binary_search(&finding.code).unwrap_or_default(),
        level: level(finding.severity()),
        message: text(format!("{}; {}", report.message(finding), finding.why)),
        locations: first.map(|site| location(report, finding, site)).into_iter().collect(),
        related_locations: related.collect(),
        stacks: stacks.map(|site| stack(report, finding, site)).collect(),
        occurrence_count: finding.count,
        partial_fingerprints: Fingerprints { place: fingerprint(report, finding) },
        properties: Properties {
            help: finding.help.clone(),
            ranks: finding.ranks.clone(),
            job: finding.job,
            seen: seen(finding),
        },
    }
}

/// Stays the same when lines above a site change, so that services recognise a finding.
pub(crate) fn fingerprint(report: &Report, finding: &Finding) -> String {
    let sites = finding.sites.iter().map(|site| {
        let file = site.file.as_deref().map(|file| report.run.shown(file));
        let function = site.function.as_deref();
        format!("{}:{}", file.unwrap_or_default(), function.unwrap_or_default())
    });
    let mut sites: Vec<_> = sites.collect();
    if finding.code.is_symmetric() {
        sites.sort();
    }
    sites.insert(0, finding.code.id().to_owned());
    sites.join("|")
}

/// Services take results with equal fingerprints for one.
fn number_equal_fingerprints(results: &mut [ResultObject]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for result in results {
        let place = &mut result.partial_fingerprints.place;
        let count = seen.entry(place.clone()).or_default();
        *count += 1;
        if *count > 1 {
            *place += &format!("|{count}");
        }
    }
}

fn location(report: &Report, finding: &Finding, site: &Site) -> Location {
    Location {
        id: None,
        physical_location: physical(report, site.file.as_deref(), site.line, site.column),
        logical_locations: logical(site.function.as_deref()),
        message: Some(text(label(finding, site))),
    }
}

fn stack(report: &Report, finding: &Finding, site: &Site) -> Stack {
    let frame = |frame: &Frame| StackFrame {
        location: Location {
            id: None,
            physical_location: physical(report, frame.file.as_deref(), frame.line, frame.column),
            logical_locations: logical(frame.function.as_deref()),
            message: None,
        },
        module: frame.module.clone(),
        thread_id: site.thread,
    };
    Stack { message: text(label(finding, site)), frames: site.stack.iter().map(frame).collect() }
}

fn logical(function: Option<&str>) -> Vec<LogicalLocation> {
    let known = function
        .map(|name| LogicalLocation { fully_qualified_name: name.to_owned(), kind: "function" });
    known.into_iter().collect()
}

fn physical(
    report: &Report,
    file: Option<&str>,
    line: Option<u32>,
    column: Option<u32>,
) -> Option<PhysicalLocation> {
    let shown = report.run.shown(file?);
    let artifact_location = if shown.starts_with('/') {
        ArtifactLocation { uri: format!("file://{}", encoded(shown)), uri_base_id: None }
    } else {
        ArtifactLocation { uri: encoded(shown), uri_base_id: Some(ROOT) }
    };
    let region = line.map(|start_line| Region { start_line, start_column: column });
    Some(PhysicalLocation { artifact_location, region })
}

/// Percent-encodes what RFC 3986 does not allow in a path.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}

fn text(text: impl Into<String>) -> Message {
    Message { text: text.into() }
}

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool,
    invocations: [Invocation<'r>; 1],
    original_uri_base_ids: BTreeMap<&'static str, UriBase>,
    column_kind: &'static str,
    results: Vec<ResultObject>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
    help: Help,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Help {
    text: &'static str,
    markdown: &'static str,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct UriBase {
    description: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command_line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time_utc: Option<String>,
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Looked<'r>>,
}

/// How much a static analysis has looked at (§3.8: a property bag).
#[derive(Serialize)]
struct Looked<'r> {
    analysed: &'r Analysed,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    related_locations: Vec<Location>,
    stacks: Vec<Stack>,
    occurrence_count: u64,
    partial_fingerprints: Fingerprints,
    properties: Properties,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "sites/v1")]
    place: String,
}

#[derive(Serialize)]
struct Properties {
    help: String,
    ranks: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<u32>,
    seen: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Stack {
    message: Message,
    frames: Vec<StackFrame>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StackFrame {
    location: Location,
    module: String,
    thread_id: u32,
}

#[derive(Serialize)]
struct Message {
    text: String,
}
