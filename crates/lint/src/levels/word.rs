//! Parallelism words: the constructs that surround a place, from the first thread on, and what follows
//! from them (Saillard, Carribault, Barthou: MPI Thread-Level Checking for MPI+OpenMP
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
    /// A team of threads begins.
    Parallel(Spot),
    /// One thread of the team, any of them.
    Single(Spot),
    /// The same, for one of several sections, by its number.
    Section(Spot, usize),
    /// The first thread of the team.
    Master(Spot),
    /// One thread after the other: `critical`, locks; what is locked.
    Lock(Spot, Value),
    /// Every thread does its share: loops.
    Share(Spot),
    /// Some thread, some time: an explicit task; whether `depend` clauses order it.
    Task(Spot, bool),
    /// A thread of its own.
    Thread(Spot),
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
            Letter::Parallel(spot)
            | Letter::Single(spot)
            | Letter::Section(spot, _)
            | Letter::Master(spot)
            | Letter::Lock(spot, _)
            | Letter::Share(spot)
            | Letter::Task(spot, _)
            | Letter::Thread(spot) => spot,
        }
    }

    /// Whether it lets one thread in at a time.
    pub fn serialises(self) -> bool {
        !matches!(self, Letter::Parallel(_) | Letter::Share(_))
    }

    /// Whether it runs beside what comes after it.
    pub fn is_spawned(self) -> bool {
        matches!(self, Letter::Task(..) | Letter::Thread(_))
    }

    /// As OpenMP calls it.
    pub fn name(self) -> &'static str {
        match self {
            Letter::Parallel(_) => "parallel region",
            Letter::Single(_) => "`single` region",
            Letter::Section(..) => "section",
            Letter::Master(_) => "`master` region",
            Letter::Lock(..) => "critical section",
            Letter::Share(_) => "worksharing loop",
            Letter::Task(..) => "task",
            Letter::Thread(_) => "thread",
        }
    }
}

/// Who gets to a place with this word.
pub fn who(word: &[Letter]) -> Who {
    let mut who = Who::Main;
    // Who encountered the innermost parallel region: that is its first thread.
    let mut team: Option<Who> = None;
    for letter in word {
        who = match (letter, team) {
            (Letter::Parallel(_), _) => {
                team = Some(if who == Who::Turns { Who::One } else { who });
                Who::Many
            }
            (Letter::Master(_), Some(first)) => first,
            (Letter::Single(_) | Letter::Section(..), Some(Who::Many)) => Who::Many,
            (Letter::Single(_) | Letter::Section(..), Some(_)) => Who::One,
            (Letter::Lock(..), Some(_)) if who == Who::Many => Who::Turns,
            (Letter::Task(..), Some(_)) if who != Who::Many => Who::One,
            (Letter::Thread(_), _) => {
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
        Who::Main if word.iter().any(|l| matches!(l, Letter::Parallel(_))) => Level::Funneled,
        Who::Main => Level::Single,
    }
}

/// How long the part of a word is that all threads of the team share, and how long that which the
/// others of the team are kept out of; none if nobody is kept out.
pub fn region(word: &[Letter]) -> Option<(usize, usize)> {
    let team = word.iter().rposition(|l| matches!(l, Letter::Parallel(_))).map_or(0, |at| at + 1);
    let region = word[team..].iter().position(|letter| letter.serialises())?;
    Some((team, team + region + 1))
}

/// The construct that a new one may not be nested in so closely (OpenMP 5.2 §17.1): one of the same team.
pub fn forbids(word: &[Letter], inner: Letter) -> Option<Letter> {
    let team = word.iter().rposition(|l| matches!(l, Letter::Parallel(_)))?;
    word[team + 1..].iter().copied().find(|outer| match (inner, outer) {
        (Letter::Single(_) | Letter::Share(_), outer) => !matches!(outer, Letter::Parallel(_)),
        (Letter::Master(_), Letter::Single(_) | Letter::Share(_) | Letter::Task(..)) => true,
        (Letter::Lock(_, inner), Letter::Lock(_, outer)) => {
            inner == *outer && inner != Value::Opaque
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOT: Spot = Spot { function: FunctionId(0), inst: InstId(0) };
    const P: Letter = Letter::Parallel(SPOT);
    const S: Letter = Letter::Single(SPOT);
    const M: Letter = Letter::Master(SPOT);
    const L: Letter = Letter::Lock(SPOT, Value::Int(0));
    const W: Letter = Letter::Share(SPOT);
    const T: Letter = Letter::Task(SPOT, false);

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
    }
}
