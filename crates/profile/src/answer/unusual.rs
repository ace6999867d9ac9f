//! What is unusual in a run: at most three sentences, each with its evidence and what people do
//! about it. Nothing where nothing is.

use super::waits::Late;
use crate::Profile;
use crate::api::{Amount, PlaceKind, Unusual};
use crate::index::{objects, traffic};
use crate::model::{End, SourceLine};
use crate::summary::{bytes, duration, number, percent};
use crate::waits::WaitKind;
use commsan_rundir::traffic::Kind;
use rustc_hash::FxHashMap;

/// Sentences at most.
const MOST: usize = 3;

/// Of all ranks' time, what is worth a sentence.
const SHARE_OF_TIME: f64 = 0.05;

/// Nanoseconds that are too few to be worth one.
const SHORT: u64 = 10_000_000;

/// Messages between ranks at a line that are many, and their mean size that is tiny.
const MANY: u64 = 10_000;
const TINY: u64 = 256;

/// Bytes of a run below which nobody asks where they go.
const LITTLE: u64 = 1 << 20;

/// Of all bytes, what one of several objects, or places, must have to be unusual.
const SHARE_OF_BYTES: f64 = 0.75;

/// Objects, or ranks, among which one can stand out.
const SEVERAL: usize = 4;

impl Profile {
    /// What is unusual; that first which costs most.
    pub(crate) fn unusual(&self) -> Vec<Unusual> {
        let late = self.late();
        let mut all: Vec<(f64, Unusual)> = [
            late.first().and_then(|late| self.largest_wait(late)),
            self.imbalance(),
            self.tiny_messages(),
            self.hot_object(),
            self.hot_place(),
        ]
        .into_iter()
        .flatten()
        .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().take(MOST).map(|(_, unusual)| unusual).collect()
    }

    /// Nanoseconds of all ranks.
    fn time_of_ranks(&self) -> u64 {
        self.model.ranks.iter().map(|rank| rank.time).sum()
    }

    /// The line of a call, and how a sentence names it: a link leads to the file.
    fn line_of(&self, site: u32) -> (Option<SourceLine>, String) {
        let line = self.model.line_of_site(site).map(|line| self.model.lines[line as usize]);
        let text = match line {
            Some(line) => {
                let file = self.shown(line.file as usize);
                format!("{}:{}", file.rsplit('/').next().unwrap_or_default(), line.line)
            }
            None => self.model.call_of_site(site).to_owned(),
        };
        (line, text)
    }

    fn largest_wait(&self, late: &Late) -> Option<(f64, Unusual)> {
        let all = self.time_of_ranks();
        let share = late.sum.time as f64 / all.max(1) as f64;
        if share < SHARE_OF_TIME || late.sum.time < SHORT {
            return None;
        }
        let (line, at) = self.line_of(late.site);
        let (_, waiting) = self.line_of(late.waiting);
        let name = &self.model.places[late.place as usize].name;
        let wait = if late.ranks == 1 { "waits" } else { "wait" };
        let text = format!(
            "{name} is up to {} late at {at}; {} {wait} {} for it",
            duration(late.sum.longest),
            number(late.ranks as u64, "rank"),
            duration(late.sum.time),
        );
        let evidence = format!(
            "{}, {} times, mostly at {waiting}: {} of all ranks' time",
            late.kind.name(),
            late.sum.count,
            percent(late.sum.time, all),
        );
        let advice = match late.kind {
            WaitKind::LateSender => {
                "Send earlier, or let the receiver do other work first: MPI_Irecv early, MPI_Wait where the data \
                 is needed."
            }
            WaitKind::LateReceiver => {
                "Post the receive earlier, before the work that delays it; or send with MPI_Isend and wait later."
            }
            WaitKind::WrongOrder => {
                "Receive in the order of sending, or post all receives first and complete them as they arrive \
                 (MPI_Waitany)."
            }
            WaitKind::Barrier => {
                "Divide the work before the barrier more evenly; and see whether the program needs the barrier at \
                 all."
            }
            WaitKind::AllToAll => {
                "Divide the work before this call more evenly, or begin a nonblocking collective and work meanwhile."
            }
            WaitKind::LateBroadcast => {
                "Take work from the root before it sends, as input; or let others work meanwhile (MPI_Ibcast)."
            }
            WaitKind::EarlyReduce => {
                "Divide the work before this call more evenly, or let the root work meanwhile (MPI_Ireduce)."
            }
        };
        let (file, line) = (line.map(|line| line.file as usize), line.map(|line| line.line));
        let place = Some(late.place as usize);
        let begin = self.since(late.sum.when);
        let when = Some([begin, begin + late.sum.longest]);
        Some((
            share,
            Unusual {
                text,
                evidence,
                advice: advice.to_owned(),
                file,
                line,
                place,
                object: None,
                when,
            },
        ))
    }

    /// A rank that works much longer than others, outside of calls.
    fn imbalance(&self) -> Option<(f64, Unusual)> {
        let ranks = self.communication(&crate::api::Filter::default()).by_rank;
        let most = ranks.iter().max_by(|a, b| a.busy.total_cmp(&b.busy))?;
        let mean = ranks.iter().map(|rank| rank.busy).sum::<f64>() / ranks.len() as f64;
        let longest = self.model.ranks.iter().map(|rank| rank.time).max()? as f64 / 1e9;
        let more = most.busy - mean;
        let is_unusual = mean > 0.0
            && most.busy > 1.25 * mean
            && more > 2.0 * SHARE_OF_TIME * longest
            && more * 1e9 > SHORT as f64;
        is_unusual.then(|| {
            let name = &self.model.places[most.place].name;
            let text = format!("{name} works {:.1} times as long as the average rank", most.busy / mean);
            let told = |seconds: f64| duration((seconds * 1e9) as u64);
            let evidence = format!(
                "{} outside of MPI calls, {} on average: the others wait for the difference",
                told(most.busy),
                told(mean)
            );
            let advice = "Give it less to do, or less that others do not do: input, output, a larger part of the \
                          domain."
                .to_owned();
            let (file, line, object) = (None, None, None);
            // Waits for it, which say where, come first.
            let score = 0.5 * more / longest;
            (score, Unusual { text, evidence, advice, file, line, place: Some(most.place), object, when: None })
        })
    }

    /// A line with many messages of few bytes, which could be one.
    fn tiny_messages(&self) -> Option<(f64, Unusual)> {
        let model = &self.model;
        let mut lines: FxHashMap<u32, Amount> = FxHashMap::default();
        let is_message = |kind| kind == Kind::PointToPoint;
        for row in model.rows.iter().filter(|row| row.counted && is_message(row.kind)) {
            if let Some(line) = model.line_of_site(row.site) {
                lines.entry(line).or_insert(Amount::ZERO).add(model.total(row));
            }
        }
        let is_tiny = |of: &Amount| {
            of.count >= MANY * model.ranks.len().max(1) as u64 && of.bytes / of.count <= TINY
        };
        let (line, of) = lines
            .into_iter()
            .filter(|(_, of)| is_tiny(of))
            .max_by_key(|(line, of)| (of.count, *line))?;
        let time: u64 = (self.spent(&crate::api::Filter::default()).iter())
            .filter(|spent| spent.line == Some(line))
            .map(|spent| spent.time)
            .sum();
        let all = self.time_of_ranks();
        let share = time as f64 / all.max(1) as f64;
        if share < SHARE_OF_TIME {
            return None;
        }
        let at = model.lines[line as usize];
        let text = format!(
            "{}:{} sends {} messages of {} on average",
            self.shown(at.file as usize),
            at.line,
            of.count,
            bytes(of.bytes / of.count)
        );
        let evidence = format!("{} of all ranks' time is in these calls", percent(time, all));
        let advice = "Send what goes to one rank together: collect it in a buffer, or describe it by a datatype."
            .to_owned();
        let (file, line) = (Some(at.file as usize), Some(at.line));
        Some((
            share,
            Unusual { text, evidence, advice, file, line, place: None, object: None, when: None },
        ))
    }

    /// An object, of several, that nearly all bytes are of.
    fn hot_object(&self) -> Option<(f64, Unusual)> {
        let model = &self.model;
        let all = self.totals().total().bytes;
        let sums = traffic(model, model.objects.len(), objects);
        let moved = sums.iter().filter(|of| of.bytes > 0).count();
        let (object, of) = sums.iter().enumerate().max_by_key(|(_, of)| of.bytes)?;
        let share = of.bytes as f64 / all.max(1) as f64;
        if moved < SEVERAL || all < LITTLE || share < SHARE_OF_BYTES {
            return None;
        }
        let known = &model.objects[object];
        let name = if known.name.is_empty() { "One object" } else { &known.name };
        let text = format!("{name} is in {} of all bytes that move", percent(of.bytes, all));
        let evidence = format!(
            "{} in {} transfers; {moved} objects take part in any",
            bytes(of.bytes),
            of.count
        );
        let advice =
            "See which bytes of it move, and whether others need all of them each time.".to_owned();
        let (file, line) = (None, None);
        Some((
            0.1 * share,
            Unusual {
                text,
                evidence,
                advice,
                file,
                line,
                place: None,
                object: Some(object),
                when: None,
            },
        ))
    }

    /// A rank that nearly all bytes go to.
    fn hot_place(&self) -> Option<(f64, Unusual)> {
        let model = &self.model;
        let is_rank = |place: u32| model.places[place as usize].kind == PlaceKind::Rank;
        let ranks = model.ranks.len();
        let mut received = vec![0_u64; model.places.len()];
        for row in model.rows.iter().filter(|row| row.counted) {
            match (row.source, row.target) {
                (End::At(source), End::At(target)) if source != target => {
                    received[target as usize] = received[target as usize].saturating_add(row.bytes);
                }
                (End::At(_), End::At(_)) => {}
                _ => model.expand(row.source, row.target).for_each(|(_, target)| {
                    received[target as usize] = received[target as usize].saturating_add(row.bytes);
                }),
            }
        }
        let to_ranks = received.iter().zip(0..).filter(|(_, place)| is_rank(*place));
        let all: u64 = to_ranks.clone().map(|(bytes, _)| *bytes).sum();
        let (most, place) = to_ranks.max_by_key(|(bytes, _)| **bytes)?;
        let share = *most as f64 / all.max(1) as f64;
        if ranks < SEVERAL || all < LITTLE || share < SHARE_OF_BYTES {
            return None;
        }
        let name = &model.places[place as usize].name;
        let text = format!("{name} receives {} of all bytes that go to ranks", percent(*most, all));
        let evidence = format!("{} of {}, with {ranks} ranks", bytes(*most), bytes(all));
        let advice = "Let ranks reduce, or write to files, together (MPI_Reduce, MPI_File_write_all), rather than \
                      send all to one."
            .to_owned();
        let (file, line, object) = (None, None, None);
        Some((
            0.1 * share,
            Unusual {
                text,
                evidence,
                advice,
                file,
                line,
                place: Some(place as usize),
                object,
                when: None,
            },
        ))
    }
}
