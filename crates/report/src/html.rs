//! The report as one HTML file that loads nothing: no network, no other file. Its script, inline,
//! only filters findings by code; without it everything is shown.
//!
//! Markup is in `html/*.html`; what is here gathers what these templates show.

use crate::terminal::{frame_text, label, note_text, seen, summary};
use crate::{Report, Sources, Suppressed, ranks};
use askama::Template;
use askama::filters::Escaper;
use commsan_findings::{Code, Finding, Severity, Site};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Write};
use std::ops::Range;

/// Lines shown around a place.
const CONTEXT: usize = 2;

/// The whole document.
pub fn render(report: &Report, sources: &Sources) -> String {
    let page = Page::new(report, sources).render();
    // Nothing that the templates write fails, nor does writing to a string.
    page.unwrap_or_default()
}

/// Makes text safe for element content and quoted attributes; every `{{ … }}` of the templates
/// goes through it, as `askama.toml` says.
#[derive(Clone, Copy)]
struct Text;

impl Escaper for Text {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                // Not allowed in HTML, and nothing to see.
                c if c.is_control() && !matches!(c, '\n' | '\t') => out.write_char('\u{fffd}')?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Markup of text in which backquotes mark code.
struct Prose<T>(T);

impl<T: AsRef<str>> Display for Prose<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<_> = self.0.as_ref().split('`').collect();
        for (index, part) in parts.iter().enumerate() {
            let is_code = index % 2 == 1;
            let is_closed = index + 1 < parts.len();
            f.write_str(match (is_code, is_closed) {
                (true, true) => "<code>",
                (true, false) => "`",
                (false, _) => "",
            })?;
            Text.write_escaped_str(&mut *f, part)?;
            if is_code && is_closed {
                f.write_str("</code>")?;
            }
        }
        Ok(())
    }
}

/// Prose that begins with a capital letter.
struct Sentence<T>(T);

impl<T: AsRef<str>> Display for Sentence<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Prose(capitalised(self.0.as_ref())).fmt(f)
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).collect()
}

/// What `report.html` shows.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    report: &'r Report,
    program: &'r str,
    /// Terms and their values.
    header: Vec<(&'static str, String)>,
    /// Each code that occurs, and how often.
    codes: Vec<(Code, usize)>,
    articles: Vec<Article<'r>>,
    notes: Vec<String>,
    /// Suppressions that match something.
    suppressed: Vec<&'r Suppressed>,
    version: &'static str,
    style: &'static str,
    script: &'static str,
}

impl<'r> Page<'r> {
    fn new(report: &'r Report, sources: &'r Sources) -> Self {
        let run = &report.run;
        let count = |code| report.findings.iter().filter(|finding| finding.code == code).count();
        let articles = (1..)
            .zip(&report.findings)
            .map(|(number, finding)| Article::new(report, sources, number, finding));
        Page {
            report,
            program: run.program.as_deref().map_or("run", crate::facts::file_name),
            header: header(report),
            codes: report.codes().into_iter().map(|code| (code, count(code))).collect(),
            articles: articles.collect(),
            notes: run.notes.iter().map(note_text).collect(),
            suppressed: run.suppressed.iter().filter(|entry| entry.findings > 0).collect(),
            version: env!("CARGO_PKG_VERSION"),
            style: include_str!("html/style.css"),
            script: include_str!("html/script.js"),
        }
    }
}

fn header(report: &Report) -> Vec<(&'static str, String)> {
    let run = &report.run;
    let terms = [
        ("Result", summary(report).trim_start_matches("commsan: ").to_owned()),
        ("Command", run.command.join(" ")),
        ("MPI", run.mpi.clone().unwrap_or_default()),
        ("Started", run.started.clone()),
        ("Exit code", run.exit.map(|exit| exit.to_string()).unwrap_or_default()),
    ];
    terms.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// What `finding.html` shows.
struct Article<'r> {
    number: usize,
    finding: &'r Finding,
    class: &'static str,
    /// How often and by whom.
    seen: String,
    /// Of which job it is, if the run had several.
    job: Option<String>,
    listings: Vec<Listing<'r>>,
}

impl<'r> Article<'r> {
    fn new(report: &'r Report, sources: &'r Sources, number: usize, finding: &'r Finding) -> Self {
        let class = match finding.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let listings = by_file(finding)
            .into_iter()
            .map(|(file, sites)| Listing::new(report, sources, finding, file, &sites))
            .collect();
        let job = finding.job.map(|job| report.run.job_title(job));
        Article { number, finding, class, seen: capitalised(&seen(finding)), job, listings }
    }
}

/// A file and its sites, each with whether it is the offending one.
type FileSites<'f> = (Option<&'f str>, Vec<(bool, &'f Site)>);

/// The sites of each file, in the order of their first site; the first site is marked.
fn by_file(finding: &Finding) -> Vec<FileSites<'_>> {
    let mut files: Vec<FileSites<'_>> = Vec::new();
    for (index, site) in finding.sites.iter().enumerate() {
        let item = (index == 0, site);
        match files.iter_mut().find(|(file, _)| *file == site.file.as_deref()) {
            Some((_, sites)) => sites.push(item),
            None => files.push((site.file.as_deref(), vec![item])),
        }
    }
    files
}

/// The lines of one file around its sites; what cannot be shown is a list of places.
struct Listing<'r> {
    file: &'r str,
    rows: Vec<Row<'r>>,
    /// Place and label.
    bare: Vec<(String, String)>,
}

/// A row of a listing.
enum Row<'r> {
    /// Lines are left out.
    Gap,
    Line {
        number: usize,
        text: &'r str,
        mark: Option<Mark>,
        labels: Vec<String>,
    },
}

/// Bytes of a line that take part, and whether they offend.
struct Mark {
    span: Range<usize>,
    offends: bool,
}

impl<'r> Listing<'r> {
    fn new(
        report: &'r Report,
        sources: &'r Sources,
        finding: &Finding,
        file: Option<&'r str>,
        sites: &[(bool, &Site)],
    ) -> Self {
        let mut marks: BTreeMap<usize, Vec<(Mark, String)>> = BTreeMap::new();
        let mut bare = Vec::new();
        let mut text = "";
        for &(offends, site) in sites {
            match sources.locate(site) {
                Some((source, span)) => {
                    text = source;
                    let before = &source[..span.start];
                    let line = before.bytes().filter(|&byte| byte == b'\n').count();
                    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
                    let span = span.start - start..span.end - start;
                    let mark = (Mark { span, offends }, label(finding, site));
                    marks.entry(line).or_default().push(mark);
                }
                None => {
                    let place = site.stack.first().map(|frame| frame_text(report, frame));
                    let place = place.unwrap_or_else(|| "unknown place".to_owned());
                    bare.push((place, label(finding, site)));
                }
            }
        }
        match file {
            Some(file) => Listing { file: report.run.shown(file), rows: rows(text, marks), bare },
            None => Listing { file: "", rows: Vec::new(), bare },
        }
    }
}

/// The marked lines of `text` with those around them.
fn rows(text: &str, mut marks: BTreeMap<usize, Vec<(Mark, String)>>) -> Vec<Row<'_>> {
    let near = |line: &usize| line.saturating_sub(CONTEXT)..=line + CONTEXT;
    let shown: BTreeSet<usize> = marks.keys().flat_map(near).collect();
    let mut rows = Vec::new();
    let mut last = None;
    for (line, text) in text.lines().enumerate().filter(|(line, _)| shown.contains(line)) {
        if last.is_some_and(|last| last + 1 != line) {
            rows.push(Row::Gap);
        }
        last = Some(line);
        let (marks, labels): (Vec<_>, _) =
            marks.remove(&line).unwrap_or_default().into_iter().unzip();
        rows.push(Row::Line { number: line + 1, text, mark: widest(marks), labels });
    }
    rows
}

/// Marks of one line overlap when a call takes part twice; the widest shows both.
fn widest(marks: Vec<Mark>) -> Option<Mark> {
    let both = marks.into_iter().reduce(|one, other| Mark {
        span: one.span.start.min(other.span.start)..one.span.end.max(other.span.end),
        offends: one.offends || other.offends,
    });
    both.filter(|mark| !mark.span.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_program_is_markup() {
        let mut escaped = String::new();
        Text.write_escaped_str(&mut escaped, "<a href='x\u{7}'>&\"").unwrap();
        assert_eq!(escaped, "&lt;a href=&#39;x\u{fffd}&#39;&gt;&amp;&quot;");
        assert_eq!(Prose("a `b<c>` d").to_string(), "a <code>b&lt;c&gt;</code> d");
        assert_eq!(Prose("a `b").to_string(), "a `b");
        assert_eq!(Sentence("a `b`").to_string(), "A <code>b</code>");
    }
}
