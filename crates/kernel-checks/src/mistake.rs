//! Mistakes within a kernel, and what is said of each.

use crate::barriers::Wrong;
use crate::race::{Race, Side, Where};
use commsan_ptx::{Module, Site};

/// An instruction, and a thread that has executed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The instruction.
    pub place: Site,
    /// The source line, if the module has line information.
    pub line: Option<(String, u32)>,
    /// The instruction's name.
    pub instruction: String,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
}

/// Something that threads of a launch do wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Two accesses race.
    Race(Race),
    /// A barrier, mask or barrier object is used in a way that is undefined.
    Synchronisation {
        /// What is wrong.
        wrong: Wrong,
        /// Who does it.
        at: Spot,
        /// The use that it contradicts.
        other: Option<Spot>,
    },
    /// A thread reads what nobody has written.
    Uninitialised {
        /// The access.
        by: Side,
        /// What it reads.
        memory: Where,
    },
}

impl Spot {
    pub(crate) fn line_or_instruction(&self) -> String {
        match &self.line {
            Some((file, line)) => {
                let file = file.rsplit('/').next().unwrap_or(file);
                format!("{file}:{line}")
            }
            None => format!("instruction {} (`{}`)", self.place.instruction, self.instruction),
        }
    }

    pub(crate) fn who(&self, several: bool) -> String {
        let ([x, y, z], [a, b, c]) = (self.thread, self.block);
        let others = if several { " and others" } else { "" };
        format!("thread ({x},{y},{z}){others} of block ({a},{b},{c})")
    }

    pub(crate) fn is_same_thread(&self, other: &Spot) -> bool {
        (self.block, self.thread) == (other.block, other.thread)
    }

    fn text(&self) -> String {
        format!("`{}` at {} by {}", self.instruction, self.line_or_instruction(), self.who(false))
    }
}

impl Mistake {
    /// What happens, in words; of two sides the later one first.
    pub fn problem(&self) -> String {
        match self {
            Mistake::Race(race) => race.problem(),
            Mistake::Uninitialised { by, .. } => by.text(),
            Mistake::Synchronisation { wrong, at, other } => {
                let other =
                    other.as_ref().map_or_else(String::new, |other| format!(", {}", other.text()));
                let threads = |count: &Option<u32>| match count {
                    Some(count) => format!("{count} threads"),
                    None => "all threads of the block".to_owned(),
                };
                let what = match wrong {
                    Wrong::Diverged => "threads of one warp at two barriers".to_owned(),
                    Wrong::Counts([own, theirs]) => {
                        format!("one barrier for {}, then for {}", threads(theirs), threads(own))
                    }
                    Wrong::NotAMember(members) => {
                        format!("mask {members:#x}, which leaves out the thread itself")
                    }
                    Wrong::NotInitialised => "a barrier object that is not initialised".to_owned(),
                    Wrong::Invalidated => "a barrier object that was invalidated before".to_owned(),
                    Wrong::Excess(more) => {
                        let arrivals = if *more == 1 { "arrival" } else { "arrivals" };
                        format!(
                            "{more} {arrivals} more than the phase of a barrier object waits for"
                        )
                    }
                };
                format!("{what}: {}{other}", at.text())
            }
        }
    }

    /// Why that is wrong, in words.
    pub fn why(&self, module: &Module) -> String {
        let why = match self {
            Mistake::Race(race) => return race.why(module),
            Mistake::Uninitialised { memory: Where::Shared(..), .. } => {
                "no thread of the block has written these bytes: shared memory holds what earlier blocks \
                 have left there"
            }
            Mistake::Uninitialised { .. } => {
                "nothing has written these bytes since they were allocated, neither a kernel nor a copy"
            }
            Mistake::Synchronisation { wrong, .. } => match wrong {
                Wrong::Diverged => {
                    "all threads of a warp must reach the same __syncthreads: in conditional code only if \
                     the condition is the same for all threads of the block"
                }
                Wrong::Counts(_) => {
                    "all who use a barrier must agree on how many threads take part"
                }
                Wrong::NotAMember(_) => {
                    "a thread may only name masks that it is part of; others do not wait for it, nor get \
                     its value"
                }
                Wrong::NotInitialised => {
                    "one thread must initialise it (init, mbarrier.init), and a barrier follow, before \
                     any thread uses it"
                }
                Wrong::Invalidated => "after mbarrier.inval the object must be initialised again",
                Wrong::Excess(_) => {
                    "the number given at initialisation is how many arrivals complete a phase; what more \
                     of them do is undefined"
                }
            },
        };
        why.to_owned()
    }

    /// The memory, if the mistake is about memory.
    pub fn memory(&self) -> Option<&Where> {
        match self {
            Mistake::Race(Race { memory, .. }) | Mistake::Uninitialised { memory, .. } => {
                Some(memory)
            }
            Mistake::Synchronisation { .. } => None,
        }
    }

    /// Both sides, the later one first; one alone is both.
    pub fn sides(&self) -> [&Spot; 2] {
        match self {
            Mistake::Race(race) => [&race.second.spot, &race.first.spot],
            Mistake::Uninitialised { by, .. } => [&by.spot, &by.spot],
            Mistake::Synchronisation { at, other, .. } => [at, other.as_ref().unwrap_or(at)],
        }
    }

    /// Whether the later side writes memory.
    pub fn writes(&self) -> bool {
        matches!(self, Mistake::Race(race) if race.second.info.writes)
    }
}
