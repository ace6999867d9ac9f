//! A roll call as text.

use super::{Entered, MAX_ROWS, Need, Open, Outside, Place, RollCall, Row, State};
use crate::ranks;
use commsan_findings::{Doing, NeedKind};

/// Characters of a list of ranks, at most.
const MAX_RANKS: usize = 28;
/// Callers that are shown.
const MAX_CALLERS: usize = 4;
/// Communicators that are shown, and groups of ranks on each.
const MAX_COMMUNICATORS: usize = 8;
const MAX_GROUPS: usize = 4;
/// Ranks that are named in a sentence, with what they do.
const MAX_AWAITED: usize = 6;

impl RollCall {
    /// The roll call for a terminal.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let answered = match (self.answered, self.ranks) {
            (1, 1) if self.outside.is_some() => "1 rank, seen from outside".to_owned(),
            (seen, ranks) if self.outside.is_some() && seen == ranks => {
                format!("{ranks} ranks, all seen from outside")
            }
            (seen, ranks) if self.outside.is_some() => {
                format!("{}, {seen} of them seen from outside", plural(ranks, "rank"))
            }
            (1, 1) => "1 rank, which has answered".to_owned(),
            (answered, ranks) if answered == ranks => format!("{ranks} ranks, all have answered"),
            (answered, ranks) => format!("{}, {answered} of them answered", plural(ranks, "rank")),
        };
        let program = self.program.as_deref().map(|path| path.rsplit('/').next().unwrap_or(path));
        text.push_str(&format!("{}: {answered}\n", program.unwrap_or("job")));
        let rows: Vec<[String; 5]> = self.rows.iter().take(MAX_ROWS).map(cells).collect();
        // From outside nobody knows for how long.
        let time = if self.outside.is_some() { "" } else { "for" };
        let heads = ["ranks", "where", "at", time, ""].map(str::to_owned);
        lay_out(&mut text, std::iter::once(heads).chain(rows));
        if self.rows.len() > MAX_ROWS {
            text.push_str(&format!("  and {} more\n", plural(self.rows.len() - MAX_ROWS, "place")));
        }
        if !self.awaited.is_empty() {
            text.push_str(&format!("others wait for {}\n", self.awaited_in_words()));
        }
        self.add_collectives(&mut text);
        self.add_open(&mut text);
        if let Some(outside) = &self.outside {
            self.add_outside(&mut text, outside);
        }
        text
    }

    fn add_outside(&self, text: &mut String, outside: &Outside) {
        if !outside.together.is_empty() {
            text.push_str("collective calls that ranks are in\n");
        }
        let rows = outside.together.iter().take(MAX_COMMUNICATORS).map(|one| {
            let on = one.on.as_ref().map_or_else(String::new, |on| format!(" ({on})"));
            let lines = match one.places {
                0..2 => String::new(),
                lines => format!("at {lines} lines; "),
            };
            let absent = match (&*one.absent, &one.on) {
                ([], _) => String::new(),
                (absent, Some(_)) => format!("without {}", self.in_words(absent)),
                (absent, None) => {
                    format!("if it is of all ranks, without {}", self.in_words(absent))
                }
            };
            [format!("{}{on}", one.call), counted(&one.ranks), lines + &absent]
        });
        lay_out(text, rows);
        if outside.together.len() > MAX_COMMUNICATORS {
            let more = plural(outside.together.len() - MAX_COMMUNICATORS, "call");
            text.push_str(&format!("  and {more} more\n"));
        }
        for note in &outside.notes {
            text.push_str(&format!("{note}\n"));
        }
    }

    fn awaited_in_words(&self) -> String {
        self.in_words(&self.awaited)
    }

    /// Ranks with what they do.
    fn in_words(&self, ranks: &[u32]) -> String {
        let what = |rank: &u32| {
            let row = self.rows.iter().find(|row| row.threads == 0 && row.ranks.contains(rank));
            row.map_or_else(String::new, doing)
        };
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        for rank in ranks {
            let what = what(rank);
            match groups.iter_mut().find(|(other, _)| *other == what) {
                Some((_, ranks)) => ranks.push(*rank),
                None => groups.push((what, vec![*rank])),
            }
        }
        let more = groups.len().saturating_sub(MAX_AWAITED);
        let shown = groups.iter().take(MAX_AWAITED).map(|(what, all)| match all.len() {
            1 => format!("rank {} ({what})", all[0]),
            _ => format!("ranks {} ({what})", named(all)),
        });
        let mut shown: Vec<String> = shown.collect();
        if more > 0 {
            shown.push("others".to_owned());
        }
        shown.join(", ")
    }

    fn add_collectives(&self, text: &mut String) {
        if self.collectives.is_empty() {
            return;
        }
        text.push_str("last collectives\n");
        let differ = self.collectives.iter().filter(|one| one.entered.len() > 1).count();
        // Those on which nobody is ahead say little; one of them shows how far the job is.
        let shown = differ.clamp(1, MAX_COMMUNICATORS);
        let mut rows: Vec<[String; 3]> = Vec::new();
        for progress in &self.collectives[..shown] {
            for (index, entered) in progress.entered.iter().take(MAX_GROUPS).enumerate() {
                let on = if index == 0 { progress.on.clone() } else { String::new() };
                rows.push([on, collective(entered), counted(&entered.ranks)]);
            }
            if progress.entered.len() > MAX_GROUPS {
                let more = progress.entered[MAX_GROUPS..].iter().map(|entered| entered.ranks.len());
                let more = format!("{} further behind", plural(more.sum::<usize>(), "rank"));
                rows.push([String::new(), "…".to_owned(), more]);
            }
        }
        lay_out(text, rows);
        let more = self.collectives.len() - shown;
        if more > 0 && differ > shown {
            text.push_str(&format!("  and {more} more communicators, windows and files\n"));
        } else if more > 0 {
            let all = "on which all have entered as many";
            text.push_str(&format!("  and {more} more, {all}\n"));
        }
    }

    fn add_open(&self, text: &mut String) {
        if self.open.is_empty() {
            return;
        }
        text.push_str("oldest open operations that their ranks do not wait for\n");
        let rows = self.open.iter().take(MAX_COMMUNICATORS).map(|Open { ranks, place, need }| {
            let place = place.as_ref().map_or_else(String::new, shown_place);
            [counted(ranks), need.call.clone(), place, need_in_words(need)]
        });
        lay_out(text, rows);
        if self.open.len() > MAX_COMMUNICATORS {
            let more = plural(self.open.len() - MAX_COMMUNICATORS, "place");
            text.push_str(&format!("  and from {more} more\n"));
        }
    }
}

fn collective(entered: &Entered) -> String {
    match (entered.number, &entered.call) {
        (0, _) => "none".to_owned(),
        (number, Some(call)) => format!("#{number} {call}"),
        (number, None) => format!("#{number}"),
    }
}

fn cells(row: &Row) -> [String; 5] {
    let ranks = match row.threads {
        0 => counted(&row.ranks),
        threads => format!("{} of {}", plural(threads, "thread"), counted(&row.ranks)),
    };
    let place = row.place.as_ref().map_or_else(String::new, shown_place);
    [ranks, doing(row), place, row.seconds.map_or_else(String::new, time), details(row)]
}

/// What the ranks of a row do.
fn doing(row: &Row) -> String {
    let call = row.call.as_deref().unwrap_or("a call");
    match row.state {
        State::Waits => {
            let number = row.number.map_or_else(String::new, |number| format!(" #{number}"));
            let on = row.on.as_ref().map_or_else(String::new, |on| format!(" ({on})"));
            // One that was looked at from outside may be stopped there.
            let doing = row.doing.map_or_else(String::new, |doing| format!(", {}", doing.words()));
            format!("{call}{number}{on}{doing}")
        }
        State::Polls if only_asks(call) => format!("polls {call}"),
        State::Polls => format!("moves on, in {call}"),
        State::Outside => {
            let doing = row.doing.map_or("is outside of MPI", Doing::words);
            let file = row.file.as_ref().map_or_else(String::new, |file| format!(" {file}"));
            format!("{doing}{file}")
        }
        State::Silent => match row.doing {
            Some(doing) => doing.words().to_owned(),
            None => "does not answer".to_owned(),
        },
        State::Absent => "has not initialised MPI".to_owned(),
        State::Ended => "has ended".to_owned(),
    }
}

/// Whether a call never waits, so that a program that makes it again and again waits by itself.
fn only_asks(call: &str) -> bool {
    const ASKING: [&str; 4] = ["MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status"];
    ASKING.iter().any(|name| call.starts_with(name))
}

fn details(row: &Row) -> String {
    let mut parts = Vec::new();
    if let Some(need) = &row.need {
        let words = need_in_words(need);
        parts.push(format!("for {words}"));
    }
    if row.state != State::Waits {
        let function = row.place.as_ref().and_then(|place| place.function.as_deref());
        let callers = row.callers.iter().take(MAX_CALLERS).map(|caller| {
            let name = caller.function.as_deref().unwrap_or("?");
            caller.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"))
        });
        let chain: Vec<String> = function.map(str::to_owned).into_iter().chain(callers).collect();
        // The place may be that function already.
        let has_line = row.place.as_ref().is_some_and(|place| place.line.is_some());
        if !chain.is_empty() && row.state != State::Polls && has_line || chain.len() > 1 {
            parts.push(format!("in {}", chain.join(" < ")));
        }
    }
    if row.state == State::Outside
        && let Some(call) = row.call.as_ref().filter(|_| row.threads == 0)
    {
        let at =
            row.after.as_ref().map_or_else(String::new, |at| format!(" at {}", shown_place(at)));
        parts.push(format!("after {call}{at}"));
    }
    parts.join("; ")
}

/// What is needed, the end of a sentence that begins with `for`.
fn need_in_words(need: &Need) -> String {
    let which = match (need.offset, &*need.ranks) {
        _ if need.any => "any rank".to_owned(),
        (Some(1), _) => "the next rank".to_owned(),
        (Some(-1), _) => "the previous rank".to_owned(),
        (Some(offset @ 1..), _) => format!("the rank {offset} further on"),
        (Some(offset), _) => format!("the rank {} before", -offset),
        (None, [rank]) => format!("rank {rank}"),
        (None, ranks) => format!("ranks {}", named(ranks)),
    };
    let tag = need.tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
    let what = match need.kind {
        NeedKind::Collective if need.ranks.is_empty() => "nobody: all have entered it".to_owned(),
        NeedKind::Send => format!("{which} to receive{tag}"),
        NeedKind::Receive => format!("a message from {which}{tag}"),
        NeedKind::Window => format!("{which} to synchronise the window"),
        NeedKind::Lock => format!("{which} to release a lock"),
        NeedKind::Exposure => format!("{which} to expose the window"),
        NeedKind::Collective | NeedKind::Other => which,
    };
    match need.more {
        0 => what,
        more => format!("{what}, and {more} more"),
    }
}

/// A place by its file's name and line, or its function.
fn shown_place(place: &Place) -> String {
    let file = place.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    match (file, place.line, &place.function) {
        (Some(file), Some(line), _) => format!("{file}:{line}"),
        (Some(file), None, Some(function)) => format!("{file}, {function}"),
        (_, _, Some(function)) => format!("in {function}"),
        (Some(file), None, None) => file.to_owned(),
        (None, _, None) => String::new(),
    }
}

/// A list of ranks that fits, and how many they are if that is not obvious.
fn counted(ranks: &[u32]) -> String {
    match ranks.len() {
        0..3 => named(ranks),
        count => format!("{} ({count})", named(ranks)),
    }
}

/// A list of ranks that fits.
fn named(all: &[u32]) -> String {
    let whole = ranks::compressed(all);
    if whole.len() <= MAX_RANKS {
        return whole;
    }
    let cut = whole[..MAX_RANKS].rfind(", ").map_or(&whole[..MAX_RANKS], |at| &whole[..at]);
    format!("{cut}, …")
}

/// A time in words.
fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn plural(count: impl TryInto<u64>, what: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Appends rows, in columns.
fn lay_out<const N: usize>(text: &mut String, rows: impl IntoIterator<Item = [String; N]>) {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    for row in &rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(widths) {
            if width > 0 {
                line.push(' ');
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 1));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}
