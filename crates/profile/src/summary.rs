//! A run on one screen of text.

use crate::Profile;
use crate::answer::Late;
use crate::api::{Amount, Error, Filter, Level, MatrixQuery};
use crate::index::{lines_of, traffic};
use crate::model::End;
use commsan_rundir::traffic::Kind;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

/// Lines of a terminal that has the usual size, but for what follows the summary.
const SCREEN: usize = 21;

/// Characters in a line of such a terminal.
const COLUMNS: usize = 80;

/// Where NCCL's kernels put what they move to another device.
const NCCL: &str = "buffers of NCCL";

/// Maximum number of kinds that are listed one by one.
const MAX_KINDS: usize = 6;

/// Maximum number of kinds in a summary that also lists calls by their time, which takes room.
const MAX_KINDS_WITH_CALLS: usize = 4;

/// Maximum number of places; runs with more are listed node by node.
const MAX_PLACES: usize = 1024;

/// Maximum number of notes that are listed in full.
const MAX_NOTES: usize = 6;

/// The run on one screen.
///
/// # Errors
/// Never for runs that were read.
pub fn render(profile: &Profile) -> Result<String, Error> {
    let total = profile.totals().total();
    let mut text = headline(profile, total);
    if total.count == 0 {
        text.push_str("no call of these ranks has moved anything to another place\n");
    }
    let (kinds, balance) = (list("kind", kinds(profile), total), balance(profile));
    let used: usize = [&text, &kinds, &balance].map(|part| part.lines().count()).iter().sum();
    // These lists, each with a title.
    let late = profile.late();
    let lists = 3 + usize::from(!profile.model.calls.is_empty()) + usize::from(!late.is_empty());
    let top = SCREEN.saturating_sub(used) / lists;
    // Waits take no line from the other lists: few are worth one.
    let least = if late.is_empty() { 2 } else { 1 };
    let top = top.saturating_sub(1).clamp(least, 4);
    text.push_str(&kinds);
    text.push_str(&list("top pairs", top_pairs(profile, top)?, total));
    text.push_str(&list("top objects", top_objects(profile, top), total));
    text.push_str(&list("top lines", top_lines(profile, top), total));
    text.push_str(&top_calls(profile, top));
    text.push_str(&top_waits(profile, &late, top));
    text.push_str(&balance);
    text.push_str(&notes(profile));
    Ok(text)
}

/// What is missing of the run, and what else to know; empty if there is nothing.
pub fn notes(profile: &Profile) -> String {
    let shown = profile.notes.iter().take(MAX_NOTES);
    let mut text: String = shown.map(|note| format!("note: {}\n", printed(note))).collect();
    if let Some(more @ 1..) = profile.notes.len().checked_sub(MAX_NOTES) {
        text.push_str(&format!("note: {more} more notes in the viewer\n"));
    }
    text
}

fn headline(profile: &Profile, total: Amount) -> String {
    let model = &profile.model;
    let ranks = model.ranks.len();
    // Where ranks ran that left no file is not known.
    let present = model.ranks.iter().filter(|of| of.present);
    let hosts: BTreeSet<usize> = present.map(|of| model.places[of.place as usize].node).collect();
    let hosts = hosts.len();
    let seconds = (model.span.1 - model.span.0) as f64 / 1e9;
    let jobs = match model.ranks.iter().map(|of| of.rank.job).max() {
        Some(last @ 1..) => format!(" of {} jobs", last + 1),
        _ => String::new(),
    };
    let only = match &*model.only {
        [] => String::new(),
        only => format!("counted are only {} (--only)\n", printed(&only.join("; "))),
    };
    format!(
        "{}{jobs} on {} moved {} in {} within {seconds:.3} s\n{only}\n",
        number(ranks as u64, "rank"),
        number(hosts as u64, "host"),
        bytes(total.bytes),
        number(total.count, "transfer"),
    )
}

/// The kinds; of many, the smallest together.
fn kinds(profile: &Profile) -> Vec<(String, Amount)> {
    let kinds = profile.totals().by_kind().into_iter();
    let mut kinds: Vec<(String, Amount)> = kinds
        .map(|(kind, count, bytes)| {
            (profile.kinds[kind].name().to_owned(), Amount { count, bytes })
        })
        .collect();
    let has_calls = !profile.model.calls.is_empty();
    let most = if has_calls { MAX_KINDS_WITH_CALLS } else { MAX_KINDS };
    if kinds.len() > most {
        kinds.sort_by_key(|(_, amount)| Reverse((amount.bytes, amount.count)));
        let mut others = Amount::ZERO;
        let rest = kinds.split_off(most - 1);
        rest.iter().for_each(|(_, amount)| others.add(*amount));
        kinds.push((format!("{} others", rest.len()), others));
    }
    kinds
}

/// Characters before a name.
const NUMBERS: usize = 12 + 11 + 8 + 2;

fn list(title: &str, entries: Vec<(String, Amount)>, total: Amount) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut text = match title {
        "kind" => format!("{:>12}{:>11}{:>8}  {title}\n", "transfers", "bytes", "share"),
        _ => format!("{title}\n"),
    };
    for (name, Amount { count, bytes: moved }) in entries {
        let (share, moved) = (percent(moved, total.bytes), bytes(moved));
        text.push_str(&format!("{count:>12}{moved:>11}{share:>8}  {}\n", in_line(&name)));
    }
    text
}

/// A name as it can stand in a line: what is too long lacks its middle, since files and lines stand
/// at its end. Programs may give any, with what moves a terminal's cursor or colours it.
fn in_line(name: &str) -> String {
    const ROOM: usize = COLUMNS - NUMBERS;
    let name = printed(name);
    let length = name.chars().count();
    if length <= ROOM {
        return name;
    }
    let begin = name.chars().take(ROOM / 3);
    let end = name.chars().skip(length - (ROOM - ROOM / 3 - 1));
    begin.chain(['…']).chain(end).collect()
}

fn printed(text: &str) -> String {
    // What turns the direction of text is no control character (Unicode Standard Annex #9 §2).
    const TURNS: [RangeInclusive<char>; 3] =
        ['\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    let moves = |c: char| c.is_control() || TURNS.iter().any(|turns| turns.contains(&c));
    text.chars().map(|c| if moves(c) { '\u{fffd}' } else { c }).collect()
}

fn top_pairs(profile: &Profile, most: usize) -> Result<Vec<(String, Amount)>, Error> {
    let many = profile.model.places.len() > MAX_PLACES;
    let level = if many { Level::Node } else { Level::Place };
    let query = MatrixQuery { level, max: Some(MAX_PLACES), ..MatrixQuery::default() };
    let matrix = profile.matrix(&query)?;
    let pairs = matrix.cells.iter().map(|(row, col, kinds)| {
        let mut amount = Amount::ZERO;
        kinds.iter().for_each(|(_, count, bytes)| {
            amount.add(Amount { count: *count, bytes: *bytes });
        });
        ((*row, *col), amount)
    });
    let name = |(row, col): (usize, usize)| {
        format!("{} → {}", matrix.rows[row].label, matrix.cols[col].label)
    };
    Ok(top(pairs, most, name))
}

fn top_objects(profile: &Profile, most: usize) -> Vec<(String, Amount)> {
    let objects = profile.objects(most).into_iter().map(|object| {
        let mut amount = Amount::ZERO;
        object.by_kind.iter().for_each(|(_, count, bytes)| {
            amount.add(Amount { count: *count, bytes: *bytes });
        });
        let name = match (&*object.name, object.file, object.line) {
            ("", ..) => "(unknown)".to_owned(),
            (name, Some(file), Some(line)) => {
                format!("{name} ({}, {}:{line})", object.memory, profile.shown(file))
            }
            (name, ..) => format!("{name} ({})", object.memory),
        };
        (name, amount)
    });
    let mut top: Vec<_> = objects.filter(|(_, amount)| *amount != Amount::ZERO).collect();
    let counted = profile.model.rows.iter().filter(|row| row.counted);
    let without: Vec<_> =
        counted.filter(|row| [row.object, row.other, row.target_object] == [None; 3]).collect();
    for (name, is_nccl) in [("in no object (see --objects-from)", false), (NCCL, true)] {
        let mut none = Amount::ZERO;
        let of = without.iter().filter(|row| (row.kind == Kind::Nccl) == is_nccl);
        of.for_each(|row| none.add(profile.model.total(row)));
        if none.bytes > 0 {
            let at = top.partition_point(|(_, amount)| amount.bytes >= none.bytes);
            top.insert(at, (name.to_owned(), none));
        }
    }
    top.truncate(most);
    top
}

fn top_lines(profile: &Profile, most: usize) -> Vec<(String, Amount)> {
    let model = &profile.model;
    let lines = traffic(model, model.lines.len(), lines_of).into_iter().zip(0_u32..);
    let name = |number: u32| {
        let line = model.lines[number as usize];
        let calls = profile.file_line(number).map(|line| line.calls.join(", ")).unwrap_or_default();
        format!("{}:{}  {calls}", profile.shown(line.file as usize), line.line)
    };
    top(lines.map(|(amount, number)| (number, amount)), most, name)
}

/// The calls that took the ranks most time, by line: how often, how long, and of all time in calls.
fn top_calls(profile: &Profile, most: usize) -> String {
    let times = profile.spent(&Filter::default());
    let all: u64 = times.iter().fold(0, |sum, of| sum.saturating_add(of.time));
    let calls = times.iter().filter(|of| of.time > 0).take(most).map(|of| {
        let line = of.line.map(|line| profile.model.lines[line as usize]);
        let line =
            line.map(|line| format!("  {}:{}", profile.shown(line.file as usize), line.line));
        let name =
            format!("{}{}", profile.model.strings[of.call as usize], line.unwrap_or_default());
        let (time, share) = (duration(of.time), percent(of.time, all));
        format!("{:>12}{time:>11}{share:>8}  {}\n", of.count, in_line(&name))
    });
    let calls: String = calls.collect();
    if calls.is_empty() { calls } else { format!("top calls by time\n{calls}") }
}

/// Who waits for whom most, by what is late: how often, how long, and of all time in calls.
fn top_waits(profile: &Profile, late: &[Late], most: usize) -> String {
    let model = &profile.model;
    let times = profile.spent(&Filter::default());
    let all: u64 = times.iter().fold(0, |sum, of| sum.saturating_add(of.time));
    let waits = late.iter().take(most).map(|of| {
        let line = model.line_of_site(of.site).map(|line| model.lines[line as usize]);
        let at = match line {
            Some(line) => format!("{}:{}", profile.shown(line.file as usize), line.line),
            None => model.call_of_site(of.site).to_owned(),
        };
        let name = |place: u32| &*model.places[place as usize].name;
        let late = if of.place == of.waiter { "itself" } else { name(of.place) };
        // What is too long lacks its middle: who is late stands at the end.
        let text = match of.ranks {
            0 | 1 => format!("{} waits for {late}  {at}", name(of.waiter)),
            more => format!("{} and {} more wait for {late}  {at}", name(of.waiter), more - 1),
        };
        let (time, share) = (duration(of.sum.time), percent(of.sum.time, all));
        format!("{:>12}{time:>11}{share:>8}  {}\n", of.sum.count, in_line(&text))
    });
    let waits: String = waits.collect();
    if waits.is_empty() { waits } else { format!("top waits\n{waits}") }
}

/// Nanoseconds as people read them.
pub(crate) fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    match nanoseconds {
        0..1_000_000 => format!("{:.1} µs", seconds * 1e6),
        1_000_000..1_000_000_000 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// The largest, with their names.
fn top<K: Ord + Copy>(
    all: impl Iterator<Item = (K, Amount)>,
    most: usize,
    name: impl Fn(K) -> String,
) -> Vec<(String, Amount)> {
    let mut all: Vec<(K, Amount)> = all.filter(|(_, amount)| *amount != Amount::ZERO).collect();
    all.sort_by_key(|(key, amount)| (Reverse(amount.bytes), Reverse(amount.count), *key));
    all.into_iter().take(most).map(|(key, amount)| (name(key), amount)).collect()
}

fn balance(profile: &Profile) -> String {
    let model = &profile.model;
    let mut sent = vec![0.0; model.places.len()];
    for row in model.rows.iter().filter(|row| row.counted) {
        match row.source {
            End::At(source) => sent[source as usize] += model.total(row).bytes as f64,
            End::Of(..) => model
                .expand(row.source, row.target)
                .for_each(|(source, _)| sent[source as usize] += row.bytes as f64),
        }
    }
    let name = |place: u32| &*model.places[place as usize].name;
    let sent = model.ranks.iter().map(|rank| (name(rank.place), sent[rank.place as usize]));
    let communication = profile.communication(&Filter::default());
    let waited = communication.by_rank.iter().map(|rank| (name(rank.place as u32), rank.seconds));
    let mut text = String::new();
    let told = |imbalance: Option<(f64, &str)>| {
        imbalance.map(|(ratio, most)| format!("imbalance {ratio:.2} (max/mean), {most}"))
    };
    if !model.calls.is_empty() {
        let share = communication.share_of_time * 100.0;
        let most = told(imbalance(waited)).map(|most| format!("; {most}")).unwrap_or_default();
        text.push_str(&format!("time in communication  {share:.1} %{most}\n"));
    }
    let waited = profile.waited();
    let sum: u64 = waited.iter().sum();
    if sum > 0 {
        let all: u64 = model.ranks.iter().map(|rank| rank.time).sum();
        let share = sum as f64 * 100.0 / all.max(1) as f64;
        let of =
            model.ranks.iter().map(|rank| (name(rank.place), waited[rank.place as usize] as f64));
        let most = told(imbalance(of)).map(|most| format!("; {most}")).unwrap_or_default();
        text.push_str(&format!("waiting for others     {share:.1} %{most}\n"));
    }
    if let Some(most) = told(imbalance(sent)) {
        text.push_str(&format!("bytes sent by ranks    {most}\n"));
    }
    text
}

/// The largest as a multiple of the mean, and whose it is; nothing where there is nobody to compare
/// with.
fn imbalance<'n>(of: impl Iterator<Item = (&'n str, f64)>) -> Option<(f64, &'n str)> {
    let all: Vec<(&str, f64)> = of.collect();
    let (number, mean) =
        (all.len(), all.iter().map(|(_, value)| value).sum::<f64>() / all.len().max(1) as f64);
    let (name, most) = all.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    (number > 1 && mean > 0.0).then(|| (most / mean, name))
}

impl Profile {
    /// A file as a person names it.
    pub(crate) fn shown(&self, file: usize) -> String {
        let path = &self.model.files[file];
        let directory = &self.sources.directory;
        let below = Path::new(path).strip_prefix(directory).ok();
        let below = below.filter(|_| !directory.as_os_str().is_empty());
        below.map_or_else(|| path.clone(), |below| below.display().to_string())
    }
}

pub(crate) fn number(number: u64, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

pub(crate) fn percent(part: u64, of: u64) -> String {
    if of == 0 { String::new() } else { format!("{:.1} %", part as f64 * 100.0 / of as f64) }
}

/// Bytes in units that people read.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_line() {
        assert_eq!(in_line("u → v"), "u → v");
        assert_eq!(in_line("a\nb\x1b[31m\u{202e}c"), "a\u{fffd}b\u{fffd}[31m\u{fffd}c");
        let long = format!("{}(heap, halo.c:12)", "x".repeat(1000));
        let short = in_line(&long);
        assert!(short.starts_with("xxx") && short.ends_with("x(heap, halo.c:12)"), "{short}");
        assert_eq!(short.chars().count(), 47);
    }

    #[test]
    fn durations_are_told_in_units() {
        for (nanoseconds, text) in
            [(0, "0.0 µs"), (1500, "1.5 µs"), (2_500_000, "2.5 ms"), (61_250_000_000, "61.25 s")]
        {
            assert_eq!(duration(nanoseconds), text);
        }
    }

    #[test]
    fn bytes_are_told_in_units() {
        for (number, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_048_575, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }
}
