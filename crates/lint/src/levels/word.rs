//! Parallelism words: the constructs that surround a place, from the first thread on, and what
//! follows from them (Saillard, Carribault, Barthou: MPI Thread-Level Checking for MPI+OpenMP
//! Applications, Euro-Par 2015, §3; locks, tasks and threads are ours).

use super::Level;
use commsan_ir::{FunctionId, InstId, Value};

/// An instruction of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Spot {
    pub function: FunctionId,
    pub inst: InstId,
}

/// A construct, by where it begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Letter {
    /// A team of threads begins; how many, if that is constant.
    Parallel(Spot, Option<i64>),
    /// One thread of the team, any of them.
    Single(Spot),
    /// One thread of the team executes one of several sections, given by its number.
    Section(Spot, usize),
    /// The first thread of the team.
    Master(Spot),
    /// The thread of the team that a test lets in: its number, if that is known.
    Numbered(Spot, Option<i64>),
    /// All threads of the team but the one with this number.
    Others(Spot, i64),
    /// The thread that MPI calls the main one.
    MainThread(Spot),
    /// Only in a parallel region, or only outside.
    InParallel(Spot, bool),
    /// One thread after the other: `critical`, `ordered`; what is locked.
    Critical(Spot, Value),
    /// One thread after the other, serialized by a lock.
    Lock(Spot, Value),
    /// What comes after the thread has looked at what another may have done: something unknown
    /// orders it.
    Guard(Spot),
    /// Every thread does its share: loops.
    Share(Spot),
    /// Some thread, some time: an explicit task; whether `depend` clauses order it.
    Task(Spot, bool),
    /// A thread of its own; the function that it runs, where it may be one of several.
    Thread(Spot, Option<FunctionId>),
}

/// Which threads of a process get to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// The thread that `main` runs in.
    Main,
    /// One thread, not always the same.
    One,
    /// Many threads, one at a time.
    Turns,
    /// Many threads at once.
    Many,
}

impl Letter {
    /// Where it begins.
    pub fn spot(self) -> Spot {
        match self {
            Letter::Parallel(spot, _)
            | Letter::Single(spot)
            | Letter::Section(spot, _)
            | Letter::Master(spot)
            | Letter::Numbered(spot, _)
            | Letter::Others(spot, _)
            | Letter::MainThread(spot)
            | Letter::InParallel(spot, _)
            | Letter::Critical(spot, _)
            | Letter::Lock(spot, _)
            | Letter::Guard(spot)
            | Letter::Share(spot)
            | Letter::Task(spot, _)
            | Letter::Thread(spot, _) => spot,
        }
    }

    /// Whether it lets one thread in at a time.
    pub fn serialises(self) -> bool {
        !matches!(
            self,
            Letter::Parallel(..) | Letter::Share(_) | Letter::Others(..) | Letter::InParallel(..)
        )
    }

    /// Whether it runs beside what comes after it.
    pub fn is_spawned(self) -> bool {
        matches!(self, Letter::Task(..) | Letter::Thread(..))
    }

    /// Whether it begins threads that know nothing of constructs around them.
    fn is_team(self) -> bool {
        matches!(self, Letter::Parallel(..) | Letter::Thread(..))
    }

    /// What is locked.
    pub fn lock(self) -> Option<Value> {
        match self {
            Letter::Critical(_, what) | Letter::Lock(_, what) => Some(what),
            _ => None,
        }
    }

    /// As OpenMP calls it.
    pub fn name(self) -> &'static str {
        match self {
            Letter::Parallel(..) => "parallel region",
            Letter::Single(_) => "`single` region",
            Letter::Section(..) => "section",
            Letter::Master(_) => "`master` region",
            Letter::Numbered(..) | Letter::Others(..) => "test of the thread's number",
            Letter::MainThread(_) => "test for the main thread",
            Letter::InParallel(..) => "test for a parallel region",
            Letter::Critical(..) => "critical section",
            Letter::Lock(..) => "lock",
            Letter::Guard(_) => "wait",
            Letter::Share(_) => "worksharing loop",
            Letter::Task(..) => "task",
            Letter::Thread(..) => "thread",
        }
    }
}

/// A word in which every letter means something: tests that decide nothing, or what is decided
/// already, are left out. None if nobody can be there.
pub fn settled(word: impl Iterator<Item = Letter>) -> Option<Vec<Letter>> {
    let mut settled: Vec<Letter> = Vec::new();
    let mut threads = None;
    for letter in word {
        match letter {
            Letter::Parallel(_, size) => threads = size,
            Letter::InParallel(_, inside) => {
                if settled.iter().any(|l| matches!(l, Letter::Parallel(..))) != inside {
                    return None;
                }
                continue;
            }
            Letter::Others(spot, number) => {
                if threads == Some(2) && (0..2).contains(&number) {
                    settled.push(Letter::Numbered(spot, Some(1 - number)));
                }
                continue;
            }
            // Outside parallel regions there is one thread for it.
            Letter::Task(..) if settled.iter().all(|l| !matches!(l, Letter::Parallel(..))) => {
                continue;
            }
            Letter::Task(..) => {
                let team = settled.iter().rposition(|letter| letter.is_team());
                let team = team.map_or(0, |at| at + 1);
                // A task's task is a task, and holds no lock of its maker.
                let task = settled[team..].iter().position(|l| matches!(l, Letter::Task(..)));
                settled.truncate(task.map_or(settled.len(), |at| team + at));
                let mut at = 0..settled.len();
                settled.retain(|l| at.next().is_some_and(|at| at < team) || l.lock().is_none());
            }
            Letter::Thread(..) => settled.retain(|letter| letter.lock().is_none()),
            _ => {}
        }
        if letter.is_team()
            && let Some(before) = settled.iter().position(|known| *known == letter)
        {
            // Recursion: what has begun already begins again.
            settled.truncate(before);
        }
        settled.push(letter);
    }
    Some(settled)
}

/// Who gets to a place with this word.
pub fn who(word: &[Letter]) -> Who {
    let mut who = Who::Main;
    // Who encountered the innermost parallel region: that is its first thread.
    let mut team: Option<Who> = None;
    for letter in word {
        who = match (letter, team) {
            (Letter::Parallel(..), _) => {
                team = Some(if who == Who::Turns { Who::One } else { who });
                Who::Many
            }
            (Letter::MainThread(_), _) => Who::Main,
            // A number that is not known may be the first thread's.
            (Letter::Master(_) | Letter::Numbered(_, Some(0) | None), Some(first)) => first,
            (Letter::Single(_) | Letter::Section(..) | Letter::Numbered(..), Some(Who::Many)) => {
                Who::Many
            }
            (Letter::Single(_) | Letter::Section(..) | Letter::Numbered(..), Some(_)) => Who::One,
            (Letter::Critical(..) | Letter::Lock(..) | Letter::Guard(_), Some(_))
                if who == Who::Many =>
            {
                Who::Turns
            }
            (Letter::Task(..), Some(_)) if who != Who::Many => Who::One,
            (Letter::Thread(..), _) => {
                team = None;
                if who == Who::Many { Who::Many } else { Who::One }
            }
            _ => who,
        };
    }
    who
}

/// The level that a call at a place with this word needs, on its own.
pub fn needed(word: &[Letter]) -> Level {
    match who(word) {
        Who::Many => Level::Multiple,
        Who::One | Who::Turns => Level::Serialized,
        Who::Main if word.iter().any(|l| matches!(l, Letter::Parallel(..))) => Level::Funneled,
        Who::Main => Level::Single,
    }
}

/// How long the part of a word is that all threads of the team share, and how long that which the
/// others of the team are kept out of; none if nobody is kept out.
pub fn region(word: &[Letter]) -> Option<(usize, usize)> {
    let team = word.iter().rposition(|l| matches!(l, Letter::Parallel(..))).map_or(0, |at| at + 1);
    let region = word[team..].iter().position(|letter| letter.serialises())?;
    Some((team, team + region + 1))
}

/// The construct that a new one may not be nested in so closely (OpenMP 5.2 §17.1): one of the same
/// team.
pub fn forbids(word: &[Letter], inner: Letter) -> Option<Letter> {
    let team = word.iter().rposition(|letter| letter.is_team())?;
    if !matches!(word[team], Letter::Parallel(..)) {
        return None;
    }
    word[team + 1..].iter().copied().find(|outer| match (inner, outer) {
        (Letter::Single(_) | Letter::Share(_), outer) => matches!(
            outer,
            Letter::Single(_)
                | Letter::Section(..)
                | Letter::Master(_)
                | Letter::Critical(..)
                | Letter::Share(_)
                | Letter::Task(..)
        ),
        (Letter::Master(_), outer) => matches!(
            outer,
            Letter::Single(_) | Letter::Section(..) | Letter::Share(_) | Letter::Task(..)
        ),
        (Letter::Critical(_, inner), Letter::Critical(_, outer)) => {
            inner == *outer && inner != Value::Opaque
        }
        _ => false,
    })
}

/// What lets only some threads of a team in, so that no barrier may be there: all must come to it
/// (OpenMP 5.2 §15.3.1).
pub fn forbids_barrier(word: &[Letter]) -> Option<Letter> {
    let team = word.iter().rposition(|letter| letter.is_team())?;
    let chosen = |outer: &Letter| {
        matches!(outer, Letter::Numbered(..) | Letter::Others(..) | Letter::MainThread(_))
    };
    let inner = &word[team + 1..];
    let by_test = || inner.iter().copied().find(chosen);
    // The construct stands for any that all threads come to.
    let construct = forbids(word, Letter::Share(word[team].spot()));
    construct.or_else(|| by_test().filter(|_| matches!(word[team], Letter::Parallel(..))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOT: Spot = Spot { function: FunctionId(0), inst: InstId(0) };
    const P: Letter = Letter::Parallel(SPOT, None);
    const S: Letter = Letter::Single(SPOT);
    const M: Letter = Letter::Master(SPOT);
    const L: Letter = Letter::Critical(SPOT, Value::Int(0));
    const W: Letter = Letter::Share(SPOT);
    const T: Letter = Letter::Task(SPOT, false);
    const THREAD: Letter = Letter::Thread(SPOT, None);

    fn number(number: Option<i64>) -> Letter {
        Letter::Numbered(SPOT, number)
    }

    /// The languages of the paper's §4, and what it leaves open.
    #[test]
    fn words_need_the_levels_of_the_paper() {
        for (word, level) in [
            (&[][..], Level::Single),
            (&[M], Level::Single),
            (&[S], Level::Single),
            (&[T], Level::Single),
            (&[P, M], Level::Funneled),
            (&[P, M, P, M], Level::Funneled),
            (&[P, S], Level::Serialized),
            (&[P, M, P, S], Level::Serialized),
            (&[P, S, P, M], Level::Serialized),
            (&[P, S, P, S], Level::Serialized),
            (&[P], Level::Multiple),
            (&[P, W], Level::Multiple),
            (&[P, P, S], Level::Multiple),
            (&[P, P, M], Level::Multiple),
            (&[P, S, P], Level::Multiple),
            (&[P, L], Level::Serialized),
            (&[P, W, L], Level::Serialized),
            (&[P, L, M], Level::Funneled),
            (&[P, P, L], Level::Serialized),
            (&[P, S, T], Level::Serialized),
            (&[P, M, T], Level::Serialized),
            (&[P, T], Level::Multiple),
            (&[P, number(Some(0))], Level::Funneled),
            (&[P, number(Some(1))], Level::Serialized),
            (&[P, number(None)], Level::Funneled),
            (&[P, S, P, number(None)], Level::Serialized),
            (&[P, Letter::MainThread(SPOT)], Level::Funneled),
            (&[P, Letter::Guard(SPOT)], Level::Serialized),
            (&[THREAD], Level::Serialized),
            (&[P, THREAD], Level::Multiple),
        ] {
            assert_eq!(needed(word), level, "{word:?}");
        }
    }

    #[test]
    fn constructs_of_one_team_do_not_nest() {
        assert_eq!(forbids(&[P, S], S), Some(S));
        assert_eq!(forbids(&[P, S], M), Some(S));
        assert_eq!(forbids(&[P, L], W), Some(L));
        assert_eq!(forbids(&[P, L], L), Some(L));
        assert_eq!(forbids(&[P, M], L), None);
        assert_eq!(forbids(&[P, S, P], S), None);
        assert_eq!(forbids(&[S], S), None);
        assert_eq!(forbids(&[P, S, THREAD], S), None);
        assert_eq!(forbids(&[P, Letter::Lock(SPOT, Value::Int(0))], S), None);
        assert_eq!(forbids(&[P, number(Some(0))], S), None);
    }

    #[test]
    fn barriers_where_not_all_threads_get_are_forbidden() {
        assert_eq!(forbids_barrier(&[P, M]), Some(M));
        assert_eq!(forbids_barrier(&[P, number(Some(0))]), Some(number(Some(0))));
        assert_eq!(forbids_barrier(&[P, Letter::Lock(SPOT, Value::Int(0))]), None);
        assert_eq!(forbids_barrier(&[P, number(Some(0)), P]), None);
        assert_eq!(forbids_barrier(&[number(Some(0))]), None);
        assert_eq!(forbids_barrier(&[P, number(Some(0)), THREAD]), None);
    }

    #[test]
    fn tests_that_cannot_be_true_lead_nowhere() {
        let inside = Letter::InParallel(SPOT, true);
        let outside = Letter::InParallel(SPOT, false);
        let settle = |word: &[Letter]| settled(word.iter().copied());
        assert_eq!(settle(&[inside]), None);
        assert_eq!(settle(&[P, outside]), None);
        assert_eq!(settle(&[P, inside]), Some(vec![P]));
        assert_eq!(settle(&[outside, P]), Some(vec![P]));
    }

    #[test]
    fn all_but_one_of_two_are_one() {
        let team = |size| Letter::Parallel(SPOT, size);
        let others = Letter::Others(SPOT, 0);
        let settle = |word: &[Letter]| settled(word.iter().copied());
        assert_eq!(settle(&[team(Some(2)), others]), Some(vec![team(Some(2)), number(Some(1))]));
        assert_eq!(settle(&[team(Some(3)), others]), Some(vec![team(Some(3))]));
        assert_eq!(settle(&[P, others]), Some(vec![P]));
    }

    #[test]
    fn recursion_makes_no_longer_words() {
        let spot = Spot { function: FunctionId(0), inst: InstId(1) };
        let (task, team) = (Letter::Task(spot, false), Letter::Parallel(spot, None));
        let settle = |word: &[Letter]| settled(word.iter().copied());
        assert_eq!(settle(&[P, S, T, task, T]), Some(vec![P, S, T]));
        assert_eq!(settle(&[P, S, P, S]), Some(vec![P, S]));
        assert_eq!(settle(&[P, T, team, task]), Some(vec![P, T, team, task]));
        assert_eq!(settle(&[THREAD, THREAD]), Some(vec![THREAD]));
    }

    #[test]
    fn tasks_hold_no_lock_of_their_maker() {
        let settle = |word: &[Letter]| settled(word.iter().copied());
        assert_eq!(settle(&[P, L, T]), Some(vec![P, T]));
        assert_eq!(settle(&[P, T, L]), Some(vec![P, T, L]));
        assert_eq!(settle(&[L, T]), Some(vec![L]));
    }
}
