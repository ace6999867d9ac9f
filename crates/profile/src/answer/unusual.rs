//! What is unusual in a run: at most three sentences, each with its evidence and what people do
//! about it. Nothing where nothing is.

use super::waits::Late;
use crate::Profile;
use crate::api::{Amount, Picture, PictureUnit, PlaceKind, Unusual};
use crate::index::{objects, traffic};
use crate::model::{End, SourceLine};
use crate::summary::{bytes, duration, number, percent};
use crate::waits::WaitKind;
use commsan_rundir::traffic::Kind;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

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

/// Bars of a picture at most.
const BARS: usize = 48;

/// Objects and lines of a picture: those with most.
const LARGEST: usize = 12;

/// A picture of these, in their order.
fn picture(
    title: String,
    unit: PictureUnit,
    values: &[(String, u64)],
    marked: Option<usize>,
) -> Picture {
    let per_bar = values.len().div_ceil(BARS).max(1);
    let bar = |of: &[(String, u64)]| {
        let name = match of {
            [(name, _)] => name.clone(),
            _ => format!("{} to {}", of[0].0, of[of.len() - 1].0),
        };
        (name, of.iter().map(|(_, value)| *value).max().unwrap_or(0))
    };
    let sum: u128 = values.iter().map(|(_, value)| u128::from(*value)).sum();
    let mean = (sum / values.len().max(1) as u128) as u64;
    let bars = values.chunks(per_bar).map(bar).collect();
    Picture { title, unit, bars, marked: marked.map(|of| of / per_bar), mean }
}

/// The largest of these first, and which of them is `marked`.
fn largest(
    mut values: Vec<(usize, String, u64)>,
    marked: usize,
) -> (Vec<(String, u64)>, Option<usize>) {
    values.sort_by_key(|(number, _, value)| (Reverse(*value), *number));
    values.truncate(LARGEST);
    let at = values.iter().position(|(number, ..)| *number == marked);
    (values.into_iter().map(|(_, name, value)| (name, value)).collect(), at)
}

impl Profile {
    /// Values of ranks, with their names, in the order of places.
    fn of_ranks(&self, value: impl Fn(u32) -> u64) -> Vec<(String, u64)> {
        let ranks = self.model.ranks.iter().filter(|rank| rank.present);
        let mut places: Vec<u32> = ranks.map(|rank| rank.place).collect();
        places.sort_unstable();
        let name = |place: u32| self.model.places[place as usize].name.clone();
        places.into_iter().map(|place| (name(place), value(place))).collect()
    }

    /// Which of [`of_ranks`](Self::of_ranks) a place is.
    fn position_of(&self, place: u32) -> Option<usize> {
        let present = self.model.ranks.iter().filter(|rank| rank.present);
        let is_there = self.model.ranks.iter().any(|rank| rank.present && rank.place == place);
        is_there.then(|| present.filter(|rank| rank.place < place).count())
    }

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
        let mut waited: FxHashMap<u32, u64> = FxHashMap::default();
        for (key, sum) in &self.waits.sums {
            let ranks = &self.model.log.ranks;
            let is_it = key.kind == late.kind
                && ranks[key.by.rank].place == late.place
                && self.line_of(key.by.site).1 == at;
            if is_it {
                *waited.entry(ranks[key.at.rank].place).or_default() += sum.time;
            }
        }
        let picture = picture(
            format!("waiting for {name}, by rank"),
            PictureUnit::Nanoseconds,
            &self.of_ranks(|place| waited.get(&place).copied().unwrap_or(0)),
            self.position_of(late.place),
        );
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
                picture,
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
            let busy: FxHashMap<u32, u64> =
                ranks.iter().map(|rank| (rank.place as u32, (rank.busy * 1e9) as u64)).collect();
            let picture = picture(
                "time outside of calls, by rank".to_owned(),
                PictureUnit::Nanoseconds,
                &self.of_ranks(|place| busy.get(&place).copied().unwrap_or(0)),
                self.position_of(most.place as u32),
            );
            let (place, when) = (Some(most.place), None);
            (score, Unusual { text, evidence, advice, file, line, place, object, when, picture })
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
        let (line, of) = (lines.iter())
            .filter(|(_, of)| is_tiny(of))
            .map(|(line, of)| (*line, *of))
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
        let named = lines.iter().map(|(line, of)| {
            let at = model.lines[*line as usize];
            let file = self.shown(at.file as usize);
            let file = file.rsplit('/').next().unwrap_or_default();
            (*line as usize, format!("{file}:{}", at.line), of.count)
        });
        let (values, marked) = largest(named.collect(), line as usize);
        let title = "messages, by line".to_owned();
        let picture = picture(title, PictureUnit::Count, &values, marked);
        let (file, line) = (Some(at.file as usize), Some(at.line));
        let (place, object, when) = (None, None, None);
        Some((share, Unusual { text, evidence, advice, file, line, place, object, when, picture }))
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
        let named = sums.iter().enumerate().filter(|(_, of)| of.bytes > 0);
        let named =
            named.map(|(number, of)| (number, model.objects[number].name.clone(), of.bytes));
        let (values, marked) = largest(named.collect(), object);
        let title = "bytes, by object".to_owned();
        let picture = picture(title, PictureUnit::Bytes, &values, marked);
        let (file, line, place, object, when) = (None, None, None, Some(object), None);
        let score = 0.1 * share;
        Some((score, Unusual { text, evidence, advice, file, line, place, object, when, picture }))
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
        let picture = picture(
            "bytes received, by rank".to_owned(),
            PictureUnit::Bytes,
            &self.of_ranks(|place| received[place as usize]),
            self.position_of(place),
        );
        let (file, line, place, object, when) = (None, None, Some(place as usize), None, None);
        let score = 0.1 * share;
        Some((score, Unusual { text, evidence, advice, file, line, place, object, when, picture }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_bar_where_there_are_many() {
        let values: Vec<(String, u64)> = (0..100).map(|at| (format!("rank {at}"), at)).collect();
        let of = picture("time".to_owned(), PictureUnit::Nanoseconds, &values, Some(7));
        assert_eq!((of.bars.len(), of.marked, of.mean), (34, Some(2), 49));
        assert_eq!(of.bars[2], ("rank 6 to rank 8".to_owned(), 8));
        assert_eq!(of.bars[33], ("rank 99".to_owned(), 99));
        assert!(of.bars.len() <= BARS);
    }

    #[test]
    fn the_largest_are_shown_and_know_which_is_marked() {
        let values = (0..30).map(|at| (at, at.to_string(), at as u64 % 20)).collect();
        let (shown, marked) = largest(values, 19);
        assert_eq!((shown.len(), marked), (LARGEST, Some(0)));
        assert_eq!(shown[1], ("18".to_owned(), 18));
    }
}
