//! One HTML file with the viewer and the answers that it will ask for.
//!
//! The answers are a JSON object, found by their addresses as `viewer/src/api/answers.ts` spells
//! them: in gzip, in base64, in a script element that no browser runs. The policy lets nothing run
//! but the viewer's code, by its hash, and lets nothing be loaded at all.

use crate::{Runs, assets, question};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use commsan_profile::api::{Block, FileDetail, Run, WaitsQuery};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// What a file holds at most; the rest needs the run and `commsan view`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Objects in detail, those with most traffic.
    pub objects: usize,
    /// Lines in detail, those with most traffic.
    pub lines: usize,
    /// Places in detail.
    pub places: usize,
    /// Pairs of ranks one of which waits for the other in detail, those with most time.
    pub pairs: usize,
    /// Answers in all, in bytes before they are packed; sources and totals always are there.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { objects: 256, lines: 1024, places: 512, pairs: 512, bytes: 64 << 20 }
    }
}

/// Rows and columns of the whole matrix, which is all that can be zoomed into.
const BLOCKS: usize = 1024;

/// Bins of time and rows of the figure of all events.
const EVENT_BINS: usize = 2048;
const EVENT_ROWS: usize = 64;

/// Writes `runs` as an HTML file.
///
/// # Errors
/// When `out` cannot be written, or commsan was built without the viewer.
pub fn export_html(runs: &Runs, limits: Limits, out: &mut impl Write) -> io::Result<()> {
    if !assets::built() {
        let what = "this commsan was built without its viewer; `make build` builds both";
        return Err(io::Error::other(what));
    }
    let run = runs.profile.run();
    // Only the code must not end the element that it is in.
    let script = assets::SCRIPT.replace("</script", "<\\/script");
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(assets::STYLE)
    );
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{} · commsan</title>\n<style>{}</style>\n</head>\n\
         <body>\n<div id=\"app\"></div>\n<script type=\"text/plain\" id=\"commsan-answers\">",
        escaped(&run.name),
        assets::STYLE
    )?;
    let packed = EncoderWriter::new(&mut *out, &STANDARD);
    let mut archive = Archive::new(GzEncoder::new(packed, Compression::best()), runs, limits);
    archive.add_all(&run)?;
    archive.end()?.finish()?.finish()?;
    write!(out, "</script>\n<script type=\"module\">{script}</script>\n</body>\n</html>\n")
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Answers by address, written as they come.
struct Archive<'r, W> {
    out: W,
    runs: &'r Runs,
    limits: Limits,
    written: usize,
}

impl<'r, W: Write> Archive<'r, W> {
    fn new(out: W, runs: &'r Runs, limits: Limits) -> Archive<'r, W> {
        Archive { out, runs, limits, written: 0 }
    }

    fn add_all(&mut self, run: &Run) -> io::Result<()> {
        self.add("run")?;
        self.add("compare")?;
        self.add("names")?;
        self.add_as("matrix", &format!("matrix?max={BLOCKS}"))?;
        self.add("matrix?level=node")?;
        for by in ["timeline", "timeline?by=node", "timeline?by=place"] {
            self.add(by)?;
        }
        if run.waiting.is_some() {
            self.add("lanes")?;
            self.add_as("events", &format!("events?width={EVENT_BINS}&rows={EVENT_ROWS}"))?;
            self.add("happened")?;
            self.add("critical")?;
            self.add_as("waits", &format!("waits?max={BLOCKS}"))?;
            self.add("waits?level=node")?;
            self.add("waits/lines")?;
        }
        for region in 0..run.regions.len() {
            self.add(&format!("matrix?region={region}"))?;
            self.add(&format!("matrix?level=node&region={region}"))?;
            self.add(&format!("selection?region={region}"))?;
        }
        for file in &run.files {
            self.add(&format!("file/{}", file.id))?;
        }
        // From here on it is details, as long as there is room.
        for object in run.objects.iter().take(self.limits.objects) {
            self.add_detail(&format!("object/{}?max=4096", object.id))?;
            self.add_detail(&format!("matrix?max=32&object={}", object.id))?;
            self.add_detail(&format!("timeline?object={}", object.id))?;
        }
        for (file, line) in self.heaviest_lines(run) {
            self.add_detail(&format!("line?file={file}&line={line}"))?;
            self.add_detail(&format!("matrix?file={file}&line={line}&max=32"))?;
            self.add_detail(&format!("timeline?file={file}&line={line}"))?;
        }
        for (row, col) in self.longest_waits() {
            self.add_detail(&format!("waits/lines?cols={col}-{col}&rows={row}-{row}"))?;
        }
        for place in run.places.iter().take(self.limits.places) {
            self.add_detail(&format!("place/{}", place.id))?;
            self.add_detail(&format!("timeline?place={}", place.id))?;
        }
        Ok(())
    }

    /// Pairs of places that wait, and that they wait for, those with most time first.
    fn longest_waits(&self) -> Vec<(usize, usize)> {
        let query = WaitsQuery { max: Some(BLOCKS), ..WaitsQuery::default() };
        let Ok(matrix) = self.runs.profile.wait_matrix(&query) else { return vec![] };
        let cells = matrix.cells.iter().map(|(row, col, states)| {
            let seconds: f64 = states.iter().map(|of| of.2).sum();
            (seconds, &matrix.rows[*row], &matrix.cols[*col])
        });
        // Of ranks that share a row, details are not of one alone.
        let is_pair =
            |(_, row, col): &(f64, &Block, &Block)| row.first == row.last && col.first == col.last;
        let mut pairs: Vec<_> = cells.filter(is_pair).collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        pairs.truncate(self.limits.pairs);
        pairs.into_iter().map(|(_, row, col)| (row.first, col.first)).collect()
    }

    /// Files and lines, those with most traffic first.
    fn heaviest_lines(&self, run: &Run) -> Vec<(usize, u32)> {
        let details = run
            .files
            .iter()
            .filter_map(|file| Some((file.id, self.runs.profile.file(file.id).ok()?)));
        let lines = |(id, detail): (usize, FileDetail)| {
            detail.lines.into_iter().map(move |line| (line.bytes, line.count, id, line.line))
        };
        let mut all: Vec<_> = details.flat_map(lines).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.truncate(self.limits.lines);
        all.into_iter().map(|(_, _, file, line)| (file, line)).collect()
    }

    /// Adds an answer if there is room for it.
    fn add_detail(&mut self, question: &str) -> io::Result<()> {
        if self.written < self.limits.bytes { self.add(question) } else { Ok(()) }
    }

    fn add(&mut self, question: &str) -> io::Result<()> {
        self.add_as(question, question)
    }

    /// Adds the answer to `question` where `address` will look for it. What has no answer is left
    /// out: the viewer says so where somebody asks.
    fn add_as(&mut self, address: &str, question: &str) -> io::Result<()> {
        let (path, query) = question.split_once('?').unwrap_or((question, ""));
        let Ok(answer) = question::answer(self.runs, path, query) else { return Ok(()) };
        let before = if self.written == 0 { '{' } else { ',' };
        write!(self.out, "{before}\"/api/{address}\":")?;
        self.out.write_all(&answer)?;
        self.written += answer.len();
        Ok(())
    }

    fn end(mut self) -> io::Result<W> {
        self.out.write_all(if self.written == 0 { b"{}" } else { b"}" })?;
        Ok(self.out)
    }
}
