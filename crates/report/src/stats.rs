//! Statistics of a run: what ranks have counted, summed up, as JSON and as a table for people.

use crate::ranks;
use commsan_findings::stats::{self, CUDA_CALLS, MPI_CALLS, Row, TABLE, Total, Unit};
use commsan_rundir::RankLog;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Numbers by key, as [`commsan_findings::stats`] has keys. Where a program has used MPI or CUDA at
/// all, each counter of it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, u64>);

/// What all ranks have counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Of all ranks: sums, and of what are peaks the largest.
    pub total: Counts,
    /// Of each rank, by job and rank.
    pub ranks: Vec<OfRank>,
    /// Ranks that have left none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// What one rank has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfRank {
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The job, counted from 1, if the run had several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// Whether it has counted to its end. One that was killed has written its counts some time
    /// before.
    pub complete: bool,
    /// The counts.
    pub counts: Counts,
}

/// A rank that has left no statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The job, counted from 1, if the run had several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
}

impl Counts {
    /// The number under a key; 0 if it is not there.
    pub fn get(&self, key: &str) -> u64 {
        self.0.get(key).copied().unwrap_or(0)
    }

    /// The keys below `prefix`, without it, and their numbers.
    fn below<'c>(&'c self, prefix: &'c str) -> impl Iterator<Item = (&'c str, u64)> {
        let of = move |key: &'c str| key.strip_prefix(prefix)?.strip_prefix('.');
        self.0.iter().filter_map(move |(key, count)| Some((of(key)?, *count)))
    }
}

/// As objects in objects, a level for each word of a key.
impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tree = Map::new();
        for (key, count) in &self.0 {
            add(&mut tree, key, *count);
        }
        tree.serialize(serializer)
    }
}

/// Adds a number below as many objects as its key has words. What is a number cannot have others
/// below it: of keys that a damaged log may have, such a one is left out.
fn add(tree: &mut Map<String, Value>, key: &str, count: u64) {
    match key.split_once('.') {
        None => _ = tree.entry(key).or_insert_with(|| count.into()),
        Some((first, rest)) => {
            if let Value::Object(below) = tree.entry(first).or_insert_with(|| Map::new().into()) {
                add(below, rest, count);
            }
        }
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        let mut counts = BTreeMap::new();
        collect(&Map::deserialize(deserializer)?, "", &mut counts);
        Ok(Counts(counts))
    }
}

fn collect(tree: &Map<String, Value>, above: &str, counts: &mut BTreeMap<String, u64>) {
    for (word, value) in tree {
        let key = if above.is_empty() { word.clone() } else { format!("{above}.{word}") };
        match value {
            Value::Object(below) => collect(below, &key, counts),
            // Later versions may have other values.
            value => counts.extend(value.as_u64().map(|count| (key, count))),
        }
    }
}

impl Statistics {
    /// What the logs of all jobs have; `None` if no rank was asked to count.
    pub(crate) fn of(jobs: &[Vec<RankLog>]) -> Option<Statistics> {
        let mut statistics = Statistics::default();
        for (number, logs) in (1..).zip(jobs) {
            let job = (jobs.len() > 1).then_some(number);
            let size = logs.iter().filter_map(|log| log.start.as_ref()).map(|start| start.size);
            // Without MPI, each process knows of itself only.
            let logged = logs.iter().map(|log| log.rank);
            let all: BTreeSet<u32> = logged.chain(0..size.max().unwrap_or(0)).collect();
            for rank in all {
                let log = logs.iter().find(|log| log.rank == rank);
                match log.and_then(|log| Some((log, log.stats.as_ref()?))) {
                    Some((log, counts)) => statistics.ranks.push(OfRank {
                        rank,
                        job,
                        complete: log.end.is_some(),
                        counts: Counts(counts.clone()),
                    }),
                    None => statistics.missing.push(Missing { rank, job }),
                }
            }
        }
        if statistics.ranks.is_empty() {
            return None;
        }
        statistics.sum_up();
        Some(statistics)
    }

    /// Adds the counters that are 0, and the totals.
    fn sum_up(&mut self) {
        for row in TABLE {
            let root = row.key.split('.').next().unwrap_or_default();
            let of_library = matches!(root, "mpi" | "cuda");
            let is_used = self.ranks.iter().any(|of| of.counts.below(root).next().is_some());
            if is_used || !of_library {
                for of in &mut self.ranks {
                    of.counts.0.entry(row.key.to_owned()).or_default();
                }
            }
        }
        for (key, count) in self.ranks.iter().flat_map(|of| &of.counts.0) {
            let sum = self.total.0.entry(key.clone()).or_default();
            *sum = match stats::total(key) {
                Total::Sum => sum.saturating_add(*count),
                Total::Largest => *count.max(sum),
            };
        }
    }

    /// The least and the most that a rank has under a key.
    fn spread(&self, key: &str) -> (u64, u64) {
        let of_ranks = || self.ranks.iter().map(|of| of.counts.get(key));
        (of_ranks().min().unwrap_or(0), of_ranks().max().unwrap_or(0))
    }
}

/// Columns of the table.
const LABEL: usize = 44;
const NUMBER: usize = 12;
const EACH: usize = 22;
/// Calls that are named in a line; `report.json` has all.
const NAMES: usize = 4;

/// The table for people: what is not 0, with the least and the most that a rank has.
pub fn render(statistics: &Statistics) -> String {
    let several = statistics.ranks.len() > 1;
    let title = match statistics.ranks.len() {
        1 => "what was watched, in 1 rank".to_owned(),
        count => format!("what was watched, in {count} ranks"),
    };
    let each = if several { "each rank" } else { "" };
    let mut text = line(&title, "total", each, "");
    for (prefix, title) in [(MPI_CALLS, "MPI calls"), (CUDA_CALLS, "CUDA calls")] {
        calls(statistics, prefix, title, several, &mut text);
    }
    let mut section = "";
    let mut rows = TABLE.iter().filter(|row| statistics.total.get(row.key) != 0).peekable();
    while let Some(row) = rows.next() {
        if section != row.section {
            section = row.section;
            let _ = writeln!(text, "  {section}");
        }
        // What is said of the same things stands beside their number.
        let mut details = Vec::new();
        while let Some(detail) = rows.next_if(|next| is_detail(next, row)) {
            let total = number(statistics.total.get(detail.key), detail.unit);
            details.push(match detail.unit {
                Unit::Bytes => total,
                Unit::Count => format!("{total} completed by another call"),
            });
        }
        let spread = statistics.spread(row.key);
        let each = if several { range(spread, row.unit) } else { String::new() };
        let (label, total) = (format!("    {}", row.label), statistics.total.get(row.key));
        text += &line(&label, &number(total, row.unit), &each, &details.join(", "));
    }
    text + &incomplete(statistics)
}

/// Whether a counter says more of what another one counts: their keys differ in the last word.
fn is_detail(detail: &Row, of: &Row) -> bool {
    let parts = |row: &Row| row.key.rsplit_once('.');
    let (Some((stem, last)), Some((other, first))) = (parts(detail), parts(of)) else {
        return false;
    };
    stem == other && matches!(first, "started" | "count") && matches!(last, "nonblocking" | "bytes")
}

/// A line for each group of calls.
fn calls(statistics: &Statistics, prefix: &str, title: &str, several: bool, text: &mut String) {
    let mut groups: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for (key, count) in statistics.total.below(prefix) {
        if let Some((group, name)) = key.split_once('.') {
            groups.entry(group).or_default().push((name, count));
        }
    }
    if !groups.is_empty() {
        let _ = writeln!(text, "  {title}");
    }
    for (group, mut names) in groups {
        names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let total: u64 = names.iter().map(|(_, count)| count).sum();
        let prefix = format!("{prefix}.{group}");
        let of = |rank: &OfRank| rank.counts.below(&prefix).map(|(_, count)| count).sum::<u64>();
        let of_ranks = || statistics.ranks.iter().map(of);
        let spread = (of_ranks().min().unwrap_or(0), of_ranks().max().unwrap_or(0));
        let each = if several { range(spread, Unit::Count) } else { String::new() };
        let more = names.len().saturating_sub(NAMES);
        let shown = names.iter().take(NAMES).map(|(name, count)| format!("{name} {count}"));
        let more = (more > 0).then(|| format!("… {more} more"));
        let names: Vec<_> = shown.chain(more).collect();
        let label = format!("    {}", group.replace('_', "-"));
        *text += &line(&label, &total.to_string(), &each, &names.join(", "));
    }
}

fn line(label: &str, total: &str, each: &str, more: &str) -> String {
    let text = format!("{label:LABEL$}{total:>NUMBER$}{each:>EACH$}  {more}");
    text.trim_end().to_owned() + "\n"
}

/// `4`, or `3–5` where ranks differ.
fn range((least, most): (u64, u64), unit: Unit) -> String {
    match least == most {
        true => number(most, unit),
        false => format!("{}–{}", number(least, unit), number(most, unit)),
    }
}

/// A count, or bytes in a unit in which they have at most four digits.
pub(crate) fn number(value: u64, unit: Unit) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if unit == Unit::Count {
        return value.to_string();
    }
    if value < 10_000 {
        return format!("{value} B");
    }
    let (mut scaled, mut name) = (value as f64 / 1024.0, UNITS[0]);
    for next in &UNITS[1..] {
        if scaled < 10_000.0 {
            break;
        }
        (scaled, name) = (scaled / 1024.0, next);
    }
    if scaled < 100.0 { format!("{scaled:.1} {name}") } else { format!("{scaled:.0} {name}") }
}

/// Which ranks have counted less than all.
fn incomplete(statistics: &Statistics) -> String {
    let mut text = String::new();
    let mut say = |of: Vec<(Option<u32>, u32)>, what: &str| {
        let jobs: BTreeSet<_> = of.iter().map(|(job, _)| *job).collect();
        for job in jobs {
            let of_job = of.iter().filter(|(of, _)| *of == job).map(|(_, rank)| *rank);
            let of_job: Vec<_> = of_job.collect();
            let job = job.map_or(String::new(), |job| format!(" of job {job}"));
            let _ = writeln!(text, "  {}{job} {what}", ranks::named(&of_job));
        }
    };
    let cut = statistics.ranks.iter().filter(|of| !of.complete).map(|of| (of.job, of.rank));
    say(cut.collect(), "did not come to an end: counts are those of up to a minute before");
    let missing = statistics.missing.iter().map(|missing| (missing.job, missing.rank));
    say(missing.collect(), "left no statistics");
    text
}

/// The table of counters in the documentation.
pub fn documentation() -> String {
    let mut text = "| key | unit | total | what is counted |\n|---|---|---|---|\n".to_owned();
    for Row { key, unit, total, meaning, .. } in TABLE {
        let unit = if *unit == Unit::Bytes { "bytes" } else { "" };
        let total = if *total == Total::Largest { "largest" } else { "sum" };
        let _ = writeln!(text, "| `{key}` | {unit} | {total} | {meaning} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_rundir::record::{End, Ending, Start};

    fn log(rank: u32, size: u32, counts: Option<&[(&str, u64)]>, ended: bool) -> RankLog {
        let start = Start {
            version: 1,
            rank,
            size,
            pid: 1,
            host: "h".into(),
            mpi: "".into(),
            program: "".into(),
            instrumented: true,
            job: "".into(),
            arguments: vec![],
            name: "".into(),
        };
        let counts = counts
            .map(|counts| counts.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect());
        let end = ended.then_some(End { how: Ending::Finalized, dropped: 0 });
        RankLog { rank, start: Some(start), stats: counts, end, ..RankLog::default() }
    }

    const SENDS: &str = "mpi.operations.sends.started";
    const LIVE: &str = "memory.live_ranges";

    fn of_three() -> Statistics {
        let first = [
            ("mpi.calls.point_to_point.MPI_Send", 3),
            ("mpi.calls.point_to_point.MPI_Isend", 40),
            ("mpi.calls.other.MPI_Init", 1),
            (SENDS, 43),
            ("mpi.operations.sends.bytes", 43 << 20),
            (LIVE, 40),
            ("memory.peak_rss_bytes", 9_999),
        ];
        let second = [("mpi.calls.other.MPI_Init", 1), (SENDS, 1), (LIVE, 50)];
        let logs = [
            log(0, 3, Some(&first), true),
            log(1, 3, Some(&second), false),
            log(2, 3, None, false),
        ];
        Statistics::of(&[logs.into()]).unwrap()
    }

    #[test]
    fn counts_are_summed_up_and_peaks_are_not() {
        let all = of_three();
        assert_eq!((all.total.get(SENDS), all.total.get(LIVE)), (44, 50));
        assert_eq!(all.total.get("mpi.calls.other.MPI_Init"), 2);
        assert_eq!(all.missing, [Missing { rank: 2, job: None }]);
        assert_eq!(all.ranks.iter().map(|of| of.complete).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn counters_of_what_is_used_are_there_and_of_nothing_else() {
        let all = of_three();
        let has = |key: &str| all.total.0.contains_key(key);
        assert!(has("mpi.epochs.lock") && has("accesses.checked.count"));
        assert!(!has("cuda.kernels.launched"));
    }

    #[test]
    fn json_has_a_level_for_each_word_and_is_read_again() {
        let all = of_three();
        let text = serde_json::to_string(&all).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["total"]["mpi"]["operations"]["sends"]["started"], 44);
        assert_eq!(value["ranks"][1]["counts"]["memory"]["live_ranges"], 50);
        assert_eq!(serde_json::from_str::<Statistics>(&text).unwrap(), all);
        // A log may have been damaged.
        let odd = [("a", 1), ("a.b", 2), ("", 3)].map(|(key, n)| (key.to_owned(), n));
        serde_json::to_string(&Counts(BTreeMap::from(odd))).unwrap();
    }

    #[test]
    fn without_counts_there_are_no_statistics() {
        assert_eq!(Statistics::of(&[vec![log(0, 1, None, true)]]), None);
        assert_eq!(Statistics::of(&[]), None);
    }

    #[test]
    fn ranks_of_several_jobs_are_told_apart() {
        let job = || vec![log(0, 1, Some(&[(SENDS, 2)]), true)];
        let all = Statistics::of(&[job(), job()]).unwrap();
        assert_eq!(all.total.get(SENDS), 4);
        assert_eq!(all.ranks.iter().map(|of| of.job).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }

    #[test]
    fn the_table_names_what_is_there() {
        insta::assert_snapshot!(render(&of_three()), @r"
what was watched, in 2 ranks                       total             each rank
  MPI calls
    other                                              2                     1  MPI_Init 2
    point-to-point                                    43                  0–43  MPI_Isend 40, MPI_Send 3
  MPI operations
    sends                                             44                  1–43  43.0 MiB
  memory
    live ranges at most                               50                 40–50
    memory of the process at most                 9999 B            0 B–9999 B
  rank 1 did not come to an end: counts are those of up to a minute before
  rank 2 left no statistics
");
    }

    #[test]
    fn numbers_have_few_digits() {
        let bytes = |value| number(value, Unit::Bytes);
        assert_eq!(bytes(9_999), "9999 B");
        assert_eq!(bytes(10_000), "9.8 KiB");
        assert_eq!(bytes(10 << 20), "10.0 MiB");
        assert_eq!(bytes(u64::MAX), "16384 PiB");
        assert_eq!(number(1 << 30, Unit::Count), "1073741824");
    }
}
