//! Results as a table, and what of them counts as a failure.

use crate::kit::{self, CaseResult, ProgramResult, Results, TimingResult, Verdict};
use std::path::Path;
use std::process::ExitCode;

/// Prints the table of a result file.
///
/// # Errors
///
/// The file cannot be read.
pub fn of_file(file: &Path) -> Result<ExitCode, String> {
    Ok(print(&kit::read(file)?))
}

/// Prints the table; the exit code is 1 if something was found that should not be, or less than
/// should be.
pub fn print(results: &Results) -> ExitCode {
    println!("{} ({}), {:.0} s", results.machine, results.gpu, results.seconds);
    let count = |kind: &str, verdict| {
        let of = |case: &&CaseResult| case.name.starts_with(kind) && case.verdict == verdict;
        results.cases.iter().filter(of).count()
    };
    println!("\n{:<44} {:>6} {:>6}", "annotated programs", "fail/", "pass/");
    let rows = [
        (Verdict::Same, "findings as on simulated devices"),
        (Verdict::Fewer, "findings missing"),
        (Verdict::More, "findings that are new"),
        (Verdict::Unchecked, "not checked"),
        (Verdict::Native, "the program itself fails here"),
        (Verdict::Skipped, "skipped: more devices or time needed"),
    ];
    for (verdict, text) in rows {
        println!("  {text:<42} {:>6} {:>6}", count("fail/", verdict), count("pass/", verdict));
    }
    let failed: Vec<_> = results.cases.iter().filter(|case| is_failure(case)).collect();
    for case in &failed {
        let (missing, extra) = (case.missing.join(", "), case.extra.join(", "));
        println!(
            "  {:?}: {} (native {}, checked {})",
            case.verdict, case.name, case.native, case.checked
        );
        println!("    missing: [{missing}] new: [{extra}]");
    }
    let is_skipped = |program: &&ProgramResult| program.ended == "skipped";
    let (skipped, run): (Vec<_>, Vec<_>) = results.programs.iter().partition(is_skipped);
    let wrong: Vec<_> = run.iter().filter(|program| program.ended != "0").collect();
    let (right, skipped) = (run.len() - wrong.len(), skipped.len());
    println!("\nself-checking programs: {right} of {} right, {skipped} skipped", run.len());
    for program in &wrong {
        println!("  {} ends with {}", program.name, program.ended);
    }
    let differences = match &results.instructions {
        Some(instructions) => {
            let differences = instructions.differences.len();
            println!(
                "\nPTX instructions: {} executed, {differences} differences",
                instructions.executed
            );
            instructions.differences.iter().for_each(|line| println!("  {line}"));
            differences
        }
        None => {
            println!("\nPTX instructions: not executed");
            0
        }
    };
    println!("\n{:<24} {:>12} {:>12} {:>7}", "least times", "native", "checked", "ratio");
    for timing in &results.timings {
        println!("  {}", line(timing));
    }
    ExitCode::from(u8::from(!failed.is_empty() || !wrong.is_empty() || differences > 0))
}

fn is_failure(case: &CaseResult) -> bool {
    let changed = case.name.starts_with("pass/") && case.native == "0" && case.checked != "0";
    changed || matches!(case.verdict, Verdict::Fewer | Verdict::More | Verdict::Unchecked)
}

fn line(timing: &TimingResult) -> String {
    let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    let (native, checked) = (least(&timing.native), least(&timing.checked));
    if !native.is_finite() || !checked.is_finite() {
        return format!("{}: no time: {}", timing.name, timing.output.lines().next().unwrap_or(""));
    }
    let shown = |seconds: f64| {
        if seconds < 1e-3 { format!("{:.2} µs", seconds * 1e6) } else { format!("{seconds:.3} s") }
    };
    format!(
        "{:<22} {:>12} {:>12} {:>7.2}",
        timing.name,
        shown(native),
        shown(checked),
        checked / native
    )
}
