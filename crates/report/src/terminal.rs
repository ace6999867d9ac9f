//! The report for people at a terminal, in the form of a compiler's diagnostics.

use crate::facts::{address, place as short_place};
use crate::{Note, Report, Sources, ranks, stats};
use annotate_snippets::{
    AnnotationKind, Element, Group, Level, Origin, Padding, Renderer, Snippet,
};
use commsan_findings::{Code, Finding, Frame, Severity, Site};
use std::fmt::Write;

/// Frames shown of one call stack; the rest is in `report.json`.
const MAX_FRAMES: usize = 12;
/// Nodes that are named.
const MAX_HOSTS: usize = 4;
/// Jobs without findings that are named.
const MAX_JOBS: usize = 12;

/// Columns that text has at least, however narrow the terminal is.
const MIN_WIDTH: usize = 30;

/// How the text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colours and links, for terminals that show them.
    pub colour: bool,
    /// Columns.
    pub width: usize,
    /// Whether text is wrapped there: programs that read it want lines whole.
    pub wraps: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { colour: false, width: 100, wraps: false }
    }
}

impl Style {
    /// Text that stands behind so many columns, in lines that fit. What is indented stays so.
    fn wrapped(self, text: &str, behind: usize) -> String {
        if !self.wraps {
            return text.to_owned();
        }
        let width = self.width.saturating_sub(behind).max(MIN_WIDTH);
        let wrap = |line: &str| {
            let own = line.len() - line.trim_start().len();
            let indent = " ".repeat(if own > 0 { own + 2 } else { 0 });
            let options = textwrap::Options::new(width).subsequent_indent(&indent);
            textwrap::fill(line, options.break_words(false))
        };
        text.split('\n').map(wrap).collect::<Vec<_>>().join("\n")
    }
}

/// Findings, notes and the closing summary.
pub fn render(report: &Report, sources: &Sources, style: Style) -> String {
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(style.width.max(MIN_WIDTH + 10));
    let mut text = String::new();
    let mut job = None;
    for finding in &report.findings {
        if finding.job != job {
            text += &heading(report, finding.job, style);
            job = finding.job;
        }
        text += &renderer.render(&[diagnostic(report, finding, sources, style)]);
        text += "\n\n";
    }
    text += &without_findings(report);
    for note in &report.run.notes {
        let level = match note.level {
            crate::Level::Warning => Level::WARNING,
            crate::Level::Note => Level::NOTE,
        };
        let title = level.secondary_title(style.wrapped(&note_text(note), "warning: ".len()));
        text += &renderer.render(&[Group::with_title(title)]);
        text += "\n\n";
    }
    if let Some(statistics) = &report.stats {
        text += &(stats::render(statistics) + "\n");
    }
    text + &summary(report) + "\n"
}

/// The line above the findings of a job.
fn heading(report: &Report, job: Option<u32>, style: Style) -> String {
    let Some(job) = job else { return String::new() };
    let ranks = report.run.jobs.get(job as usize - 1).map_or(0, |job| job.ranks);
    let title = format!("{}, {}:", report.run.job_title(job), number(ranks as usize, "rank"));
    if style.colour { format!("\x1b[1m{title}\x1b[0m\n") } else { title + "\n" }
}

/// The jobs in which nothing was found, if others had findings.
fn without_findings(report: &Report) -> String {
    let has = |job: &u32| report.findings.iter().any(|finding| finding.job == Some(*job));
    let clean: Vec<u32> = (1..=report.run.jobs.len() as u32).filter(|job| !has(job)).collect();
    if clean.is_empty() || report.findings.is_empty() {
        return String::new();
    }
    let shown = clean.iter().take(MAX_JOBS).map(|job| report.run.job_title(*job));
    let mut text = format!("no findings in {}", shown.collect::<Vec<_>>().join(", "));
    if clean.len() > MAX_JOBS {
        let _ = write!(text, " and {} more jobs", clean.len() - MAX_JOBS);
    }
    text + "\n\n"
}

/// The closing line: how much was found, where, and where to read on.
pub fn summary(report: &Report) -> String {
    let found = match report.findings.len() {
        0 => "no findings".to_owned(),
        count => number(count, "finding"),
    };
    let mut details = Vec::new();
    for (severity, name) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        match report.count(severity) {
            0 => {}
            count => details.push(number(count, name)),
        }
    }
    let mut line = format!("commsan: {found}");
    if report.findings.len() > 1 {
        let _ = write!(line, " ({})", details.join(", "));
    }
    line += &match (&report.run.analysed, report.run.ranks) {
        (Some(analysed), _) => {
            let (functions, files) = (analysed.functions, analysed.files);
            format!(" in {} of {}", number(functions, "function"), number(files, "file"))
        }
        (None, ranks) => format!(" in {}", number(ranks as usize, "rank")),
    };
    line += &match report.run.jobs.len() {
        0 => String::new(),
        jobs => format!(" of {}", number(jobs, "job")),
    };
    line += &match &*report.run.hosts {
        [] => String::new(),
        few if few.len() <= MAX_HOSTS => format!(" on {}", few.join(", ")),
        many => format!(" on {} nodes", many.len()),
    };
    if report.run.unchecked > 0 {
        let _ = write!(line, ", {} of them not checked", report.run.unchecked);
    }
    let suppressed: usize = report.run.suppressed.iter().map(|entry| entry.findings).sum();
    if suppressed > 0 {
        let _ = write!(line, ", {suppressed} suppressed");
    }
    let directory = report.run.directory.to_string_lossy();
    if !directory.is_empty() {
        let _ = write!(line, ", report in {}", report.run.named(&directory));
    }
    line
}

/// `1 rank`, `2 ranks`.
fn number(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

/// A note with the ranks it concerns: `ranks 0-3: …`.
pub fn note_text(note: &Note) -> String {
    let jobs = match &*note.jobs {
        [] => String::new(),
        [one] => format!("job {one}"),
        several => format!("jobs {}", ranks::compressed(several)),
    };
    let place = match (&*note.ranks, &*jobs) {
        ([], jobs) => jobs.to_owned(),
        (some, "") => ranks::named(some),
        (some, job) => format!("{} of {job}", ranks::named(some)),
    };
    if place.is_empty() { note.text.clone() } else { format!("{place}: {}", note.text) }
}

/// `seen 12 times, by ranks 0-3, 6`.
pub(crate) fn seen(finding: &Finding) -> String {
    let times = match finding.count {
        0 if finding.possible => return "suspected by analysis, without a run".to_owned(),
        0 => return "found by analysis, without a run".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    format!("seen {times}, by {}", ranks::named(&finding.ranks))
}

fn diagnostic<'r>(
    report: &'r Report,
    finding: &'r Finding,
    sources: &'r Sources,
    style: Style,
) -> Group<'r> {
    let level = match finding.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(&*finding.title)
        .id(Code::id(finding.code))
        .elements(snippets(report, finding, sources));
    group = group.element(Padding);
    // Behind the numbers of the lines, and what kind of note it is.
    let lines = finding.sites.iter().filter_map(|site| site.line);
    let digits = lines.max().unwrap_or(0).max(1).ilog10() as usize + 1;
    let behind = digits + " = note: ".len();
    let note = |level: Level<'static>, text: &str| {
        Element::from(level.message(style.wrapped(text, behind)))
    };
    let mut notes = vec![note(Level::NOTE, &finding.message)];
    notes.push(note(Level::NOTE.with_name("why"), &finding.why));
    notes.push(note(Level::HELP, &finding.help));
    let stacks = within_libraries(report, finding).into_iter().chain(call_stacks(report, finding));
    notes.extend(stacks.map(|stack| note(Level::NOTE, &stack)));
    notes.push(note(Level::NOTE, &seen(finding)));
    group.elements(notes)
}

/// A snippet for each file, the first site's first; sites without source as bare places.
fn snippets<'r>(
    report: &'r Report,
    finding: &'r Finding,
    sources: &'r Sources,
) -> Vec<Element<'r>> {
    let mut elements = Vec::new();
    let mut shown: Vec<&str> = Vec::new();
    for (index, site) in finding.sites.iter().enumerate() {
        let file = site.file.as_deref().unwrap_or_default();
        if let Some((text, _)) = sources.locate(site) {
            if !shown.contains(&file) {
                shown.push(file);
                let sites = finding.sites.iter().enumerate().skip(index);
                let sites = sites.filter(|(_, other)| other.file == site.file);
                let annotations = sites.filter_map(|(index, site)| {
                    let (_, span) = sources.locate(site)?;
                    let kind =
                        if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                    Some(kind.span(span).label(label(finding, site)))
                });
                let snippet = Snippet::source(text).path(report.run.named(file));
                elements.push(snippet.annotations(annotations).into());
            }
        } else {
            elements.extend(bare(report, finding, site));
        }
    }
    elements
}

/// A place whose source cannot be shown.
fn bare<'r>(report: &'r Report, finding: &Finding, site: &'r Site) -> [Element<'r>; 3] {
    let origin = match (&site.file, site.line) {
        (Some(file), line) => {
            let origin = Origin::path(report.run.named(file));
            let origin = match line {
                Some(line) => origin.line(line as usize),
                None => origin,
            };
            match site.column {
                Some(column) => origin.char_column(column as usize),
                None => origin,
            }
        }
        (None, _) => Origin::path(site.stack.first().map_or_else(
            || "unknown place".to_owned(),
            |frame| match &frame.function {
                Some(function) => format!("`{function}` ({})", address(frame)),
                None => address(frame),
            },
        )),
    };
    let label = Level::NOTE.no_name().message(label(finding, site));
    [origin.into(), Padding.into(), label.into()]
}

/// The site's label, with the rank and the thread where there are several.
pub(crate) fn label(finding: &Finding, site: &Site) -> String {
    let mut label = String::new();
    if finding.sites.iter().any(|other| other.rank != site.rank) {
        let _ = write!(label, "{}: ", ranks::named(&[site.rank]));
    }
    label += &site.label;
    if finding.sites.iter().any(|site| site.thread != 0) {
        let _ = write!(label, ", on thread {}", site.thread);
    }
    label
}

/// How `main` came to the sites, one text for all sites that were reached in the same way.
fn call_stacks(report: &Report, finding: &Finding) -> Vec<String> {
    let mut stacks: Vec<(Vec<String>, &[Frame], Option<&str>)> = Vec::new();
    for site in &finding.sites {
        let [place, callers @ ..] = &*site.stack else { continue };
        if callers.is_empty() {
            continue;
        }
        let (name, function) = (short_place(place), place.function.as_deref());
        let same = stacks.iter_mut().find(|(_, known, of)| *known == callers && *of == function);
        match same {
            Some((places, ..)) if places.contains(&name) => {}
            Some((places, ..)) => places.push(name),
            None => stacks.push((vec![name], callers, function)),
        }
    }
    stacks
        .iter()
        .map(|(places, callers, function)| {
            let mut text = places.join(" and ");
            // A place without a line is named by its function.
            if let Some(function) = function.filter(|_| !text.starts_with('`')) {
                let _ = write!(text, " in `{function}`");
            }
            text += ", called by";
            for frame in callers.iter().take(MAX_FRAMES) {
                let _ = write!(text, "\n  {}", frame_text(report, frame));
            }
            if callers.len() > MAX_FRAMES {
                let _ = write!(text, "\n  … {} more", callers.len() - MAX_FRAMES);
            }
            text
        })
        .collect()
}

/// What libraries did where the user's code called them, each text once.
fn within_libraries(report: &Report, finding: &Finding) -> Vec<String> {
    let mut texts = Vec::new();
    for place in finding.sites.iter().filter_map(|site| site.stack.first()) {
        let [innermost, others @ ..] = &*place.within else { continue };
        let mut text = format!("{} is in {}", short_place(place), frame_text(report, innermost));
        for (number, frame) in others.iter().take(MAX_FRAMES).enumerate() {
            let by = if number == 0 { ", called by" } else { "" };
            let _ = write!(text, "{by}\n  {}", frame_text(report, frame));
        }
        if others.len() > MAX_FRAMES {
            let _ = write!(text, "\n  … {} more", others.len() - MAX_FRAMES);
        }
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// `` `pack` at src/halo.c:30 (inlined) ``.
pub(crate) fn frame_text(report: &Report, frame: &Frame) -> String {
    let mut text = match &frame.function {
        Some(function) => format!("`{function}`"),
        None => address(frame),
    };
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => {
            let _ = write!(text, " at {}:{line}", report.run.named(file));
        }
        _ if frame.function.is_some() => {
            let _ = write!(text, " in {}", address(frame));
        }
        _ => {}
    }
    if frame.inlined {
        text += " (inlined)";
    }
    text
}
