//! JUnit XML, which most CI services show: a test case for each code, failed by its findings.

use crate::terminal::{frame_text, note_text, seen};
use crate::{Report, ranks};
use commsan_findings::{Code, Finding, Severity};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write;

/// One suite for the run. Codes without finding are passed cases, so that a service shows what
/// was checked, and when a finding is gone; a run in which nothing was checked passes nothing.
pub fn render(report: &Report) -> String {
    let program = report.run.program.as_deref().unwrap_or("commsan");
    let mut suite = TestSuite::new(crate::facts::file_name(program));
    for &code in Code::ALL {
        let mut findings = report.findings.iter().filter(|f| f.code == code).peekable();
        if findings.peek().is_none() && report.run.has_looked() {
            suite.add_test_case(case(code.title().to_owned(), code, TestCaseStatus::success()));
        }
        for finding in findings {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(&*report.message(finding)).set_type(match finding.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
            });
            status.set_description(description(report, finding));
            suite.add_test_case(case(name(report, finding), code, status));
        }
    }
    if !report.run.has_looked() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message("no rank was checked");
        suite.add_test_case(TestCase::new("commsan checks the program", status));
    }
    let notes: Vec<_> = report.run.notes.iter().map(note_text).collect();
    if !notes.is_empty() {
        suite.set_system_out(notes.join("\n"));
    }
    let mut document = quick_junit::Report::new("commsan");
    document.add_test_suite(suite);
    let text = document.to_string();
    text.expect("writing to a string cannot fail, and the library removes what XML forbids")
}

fn case(name: String, code: Code, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(code.id());
    case
}

/// The title and where: two findings of one code have different names.
fn name(report: &Report, finding: &Finding) -> String {
    let place = finding.sites.first().and_then(|site| site.stack.first());
    let name = match place {
        Some(place) => format!("{}: {}", finding.title, frame_text(report, place)),
        None => finding.title.clone(),
    };
    match finding.job {
        Some(job) => format!("{name}, in {}", report.run.job_title(job)),
        None => name,
    }
}

fn description(report: &Report, finding: &Finding) -> String {
    let mut text = format!("why: {}\nhelp: {}\n", finding.why, finding.help);
    for site in &finding.sites {
        // Writing to a string cannot fail.
        let _ = match finding.count {
            0 => writeln!(text, "\n{}:", site.label),
            _ => writeln!(text, "\n{} ({}):", site.label, ranks::named(&[site.rank])),
        };
        for frame in &site.stack {
            let _ = writeln!(text, "  {}", frame_text(report, frame));
        }
    }
    let _ = write!(text, "\n{}", seen(finding));
    text
}
