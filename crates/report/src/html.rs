//! The report as one HTML file that needs nothing else: no network, no other file, no script.

use crate::terminal::{frame_text, label, note_text, seen, summary};
use crate::{Report, Sources, ranks};
use commsan_model::{Finding, Severity, Site};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Write};
use std::ops::Range;

/// Lines shown around a place.
const CONTEXT: usize = 2;

/// The whole document.
pub fn render(report: &Report, sources: &Sources) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = document(&mut page, report, sources);
    page
}

/// Text made safe for element content and quoted attributes.
struct Escaped<T>(T);

impl<T: AsRef<str>> Display for Escaped<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for c in self.0.as_ref().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Not allowed in HTML, and nothing to see.
                c if c.is_control() && !matches!(c, '\n' | '\t') => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Text in which backquotes mark code.
struct Prose<'t>(&'t str);

impl Display for Prose<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<_> = self.0.split('`').collect();
        for (index, part) in parts.iter().enumerate() {
            match index % 2 {
                1 if index + 1 < parts.len() => write!(f, "<code>{}</code>", Escaped(part))?,
                1 => write!(f, "`{}", Escaped(part))?,
                _ => write!(f, "{}", Escaped(part))?,
            }
        }
        Ok(())
    }
}

fn document(page: &mut String, report: &Report, sources: &Sources) -> std::fmt::Result {
    let program = report.run.program.as_deref().map_or("run", crate::facts::file_name);
    write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>commsan: {}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        Escaped(program),
        include_str!("html/style.css"),
    )?;
    header(page, report, program)?;
    writeln!(page, "<main>")?;
    filter(page, report)?;
    for (number, finding) in (1..).zip(&report.findings) {
        article(page, report, sources, number, finding)?;
    }
    notes(page, report)?;
    write!(
        page,
        "</main>\n<footer>commsan {}. <code>commsan explain CODE</code> tells more about a \
         finding.</footer>\n<script>\n{}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        include_str!("html/script.js"),
    )
}

fn header(page: &mut String, report: &Report, program: &str) -> std::fmt::Result {
    let run = &report.run;
    write!(page, "<header>\n<h1>commsan: {}</h1>\n<dl>\n", Escaped(program))?;
    let exit = run.exit.map(|exit| exit.to_string());
    for (term, value) in [
        ("Result", summary(report).trim_start_matches("commsan: ")),
        ("Command", &run.command.join(" ")),
        ("MPI", run.mpi.as_deref().unwrap_or_default()),
        ("Started", &run.started),
        ("Exit code", exit.as_deref().unwrap_or_default()),
    ] {
        if !value.is_empty() {
            writeln!(page, "<dt>{term}</dt><dd>{}</dd>", Escaped(value))?;
        }
    }
    writeln!(page, "</dl>\n</header>")
}

fn filter(page: &mut String, report: &Report) -> std::fmt::Result {
    if report.findings.len() < 2 {
        return Ok(());
    }
    // Hidden until the script, without which it would do nothing, shows it.
    writeln!(page, "<fieldset id=\"filter\" hidden>\n<legend>Show</legend>")?;
    for code in report.codes() {
        let count = report.findings.iter().filter(|finding| finding.code == code).count();
        writeln!(
            page,
            "<label title=\"{}\"><input type=\"checkbox\" value=\"{code}\" checked> {code} \
             ({count})</label>",
            Escaped(code.title())
        )?;
    }
    writeln!(page, "<span id=\"shown\" role=\"status\"></span>\n</fieldset>")
}

fn article(
    page: &mut String,
    report: &Report,
    sources: &Sources,
    number: usize,
    finding: &Finding,
) -> std::fmt::Result {
    let (code, title) = (finding.code, Escaped(&finding.title));
    let class = match finding.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    write!(
        page,
        "<article id=\"finding-{number}\" class=\"{class}\" data-code=\"{code}\" \
         aria-labelledby=\"title-{number}\">\n<h2 id=\"title-{number}\"><a class=\"code\" \
         href=\"#finding-{number}\">{class} {code}</a> {title}</h2>\n<p class=\"seen\">{}.</p>\n\
         <p>{}.</p>\n",
        Escaped(capitalised(&seen(finding))),
        Prose(&capitalised(&finding.message)),
    )?;
    for (file, sites) in by_file(finding) {
        listing(page, report, sources, finding, file, &sites)?;
    }
    write!(
        page,
        "<h3>Why</h3>\n<p>{}.</p>\n<h3>Help</h3>\n<p>{}.</p>\n",
        Prose(&capitalised(&finding.why)),
        Prose(&capitalised(&finding.help)),
    )?;
    writeln!(page, "<details>\n<summary>Call stacks</summary>")?;
    for site in &finding.sites {
        write!(page, "<h3>{}", Prose(&site.label))?;
        if finding.count > 0 {
            write!(page, " ({}, thread {})", ranks::named(&[site.rank]), site.thread)?;
        }
        writeln!(page, "</h3>\n<ol>")?;
        for frame in &site.stack {
            writeln!(page, "<li>{}</li>", Prose(&frame_text(report, frame)))?;
        }
        writeln!(page, "</ol>")?;
    }
    writeln!(page, "</details>\n</article>")
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).collect()
}

/// A file and its sites, each with whether it is the offending one.
type FileSites<'f> = (Option<&'f str>, Vec<(bool, &'f Site)>);

/// Bytes of a line, whether they offend, and what to say about them.
type Mark = (Range<usize>, bool, String);

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

/// The lines of one file around its sites; what cannot be shown becomes a list of places.
fn listing(
    page: &mut String,
    report: &Report,
    sources: &Sources,
    finding: &Finding,
    file: Option<&str>,
    sites: &[(bool, &Site)],
) -> std::fmt::Result {
    let mut marks: BTreeMap<usize, Vec<Mark>> = BTreeMap::new();
    let mut bare = Vec::new();
    let mut text = "";
    for (offends, site) in sites {
        match sources.locate(site) {
            Some((source, span)) => {
                text = source;
                let before = &source[..span.start];
                let line = before.bytes().filter(|&byte| byte == b'\n').count();
                let start = before.rfind('\n').map_or(0, |newline| newline + 1);
                let span = span.start - start..span.end - start;
                let mark = (span, *offends, label(finding, site));
                marks.entry(line).or_default().push(mark);
            }
            None => bare.push(site),
        }
    }
    if let Some(file) = file.filter(|_| !marks.is_empty()) {
        writeln!(page, "<h3>{}</h3>\n<div class=\"listing\">", Escaped(report.run.shown(file)))?;
        let near = |line: &usize| line.saturating_sub(CONTEXT)..=line + CONTEXT;
        let shown: BTreeSet<usize> = marks.keys().flat_map(near).collect();
        let mut last = None;
        for (line, code) in text.lines().enumerate().filter(|(line, _)| shown.contains(line)) {
            if last.is_some_and(|last| last + 1 != line) {
                writeln!(page, "<div class=\"gap\">⋯</div>")?;
            }
            last = Some(line);
            source_line(page, line + 1, code, marks.get(&line).map_or(&[], Vec::as_slice))?;
        }
        writeln!(page, "</div>")?;
    }
    if !bare.is_empty() {
        writeln!(page, "<ul>")?;
        for site in bare {
            let place = site.stack.first().map(|frame| frame_text(report, frame));
            let place = place.as_deref().unwrap_or("unknown place");
            writeln!(page, "<li>{}: {}</li>", Prose(place), Prose(&label(finding, site)))?;
        }
        writeln!(page, "</ul>")?;
    }
    Ok(())
}

fn source_line(page: &mut String, number: usize, code: &str, marks: &[Mark]) -> std::fmt::Result {
    write!(page, "<div><span class=\"number\">{number}</span>")?;
    // Marks of one line overlap when a call takes part twice; the widest shows both.
    let span = marks
        .iter()
        .map(|(span, ..)| span.clone())
        .reduce(|all, span| all.start.min(span.start)..all.end.max(span.end));
    let class =
        if marks.iter().any(|(_, offends, _)| *offends) { " class=\"offence\"" } else { "" };
    match span.filter(|span| !span.is_empty()) {
        Some(span) => writeln!(
            page,
            "{}<mark{class}>{}</mark>{}</div>",
            Escaped(&code[..span.start]),
            Escaped(&code[span.clone()]),
            Escaped(&code[span.end..])
        )?,
        None => writeln!(page, "{}</div>", Escaped(code))?,
    }
    for (_, _, label) in marks {
        writeln!(page, "<div class=\"label\">{}</div>", Prose(label))?;
    }
    Ok(())
}

fn notes(page: &mut String, report: &Report) -> std::fmt::Result {
    let suppressed = report.run.suppressed.iter().filter(|entry| entry.findings > 0);
    let suppressed: Vec<_> = suppressed.collect();
    if !report.run.notes.is_empty() {
        writeln!(page, "<section>\n<h2>Notes</h2>\n<ul>")?;
        for note in &report.run.notes {
            writeln!(page, "<li>{}</li>", Prose(&note_text(note)))?;
        }
        writeln!(page, "</ul>\n</section>")?;
    }
    if !suppressed.is_empty() {
        writeln!(page, "<section>\n<h2>Suppressed</h2>\n<ul>")?;
        for entry in suppressed {
            let (code, file) = (Escaped(&entry.code), Escaped(&entry.file));
            writeln!(
                page,
                "<li>{code}, {} findings by {file}:{}: {}</li>",
                entry.findings,
                entry.line,
                Escaped(&entry.reason)
            )?;
        }
        writeln!(page, "</ul>\n</section>")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_program_is_markup() {
        assert_eq!(
            Escaped("<a href='x\u{7}'>&\"").to_string(),
            "&lt;a href=&#39;x\u{fffd}&#39;&gt;&amp;&quot;"
        );
        assert_eq!(Prose("a `b<c>` d").to_string(), "a <code>b&lt;c&gt;</code> d");
        assert_eq!(Prose("a `b").to_string(), "a `b");
    }
}
