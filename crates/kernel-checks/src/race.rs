//! What is said of a race.

use crate::mistake::Spot;
use crate::site::Info;
use commsan_ptx::{Module, Site as Place};

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What the instruction does.
    pub info: Info,
    /// Where it is, and which thread has executed it.
    pub spot: Spot,
    /// Whether other threads of its block have done the same.
    pub several: bool,
}

/// Where the memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// In shared memory: in an array, if that is not dynamic shared memory, at an offset.
    Shared(Option<String>, u64),
    /// In global memory, with the number of bytes.
    Global(u64, u64),
}

impl Where {
    /// The memory in words, if it is shared memory.
    pub fn shared(&self) -> Option<String> {
        let Where::Shared(array, offset) = self else { return None };
        Some(match array {
            Some(array) => format!("`{}` in shared memory, offset {offset}", plain_name(array)),
            None => format!("dynamic shared memory, offset {offset}"),
        })
    }
}

/// Why the two are not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Both are lanes of one warp at one instruction.
    SameInstruction,
    /// Both are threads of one warp.
    Warp,
    /// Both are threads of one block.
    Barrier,
    /// They are threads of two blocks.
    Blocks,
    /// An asynchronous copy is not known to be complete.
    Copy,
    /// Both are strong, but not of the same size.
    Width,
    /// Both are strong, but the scope of one is its block.
    Scope,
    /// The second thread has read a flag there, but no fence follows.
    NoAcquire(Place),
    /// The flag that was written there has no fence before it.
    NoRelease(Place),
    /// The flag that is accessed there is for threads of one block.
    Narrow(Place),
}

/// Two accesses that race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The access that the simulation executed first.
    pub first: Side,
    /// The other one.
    pub second: Side,
    /// Where.
    pub memory: Where,
    /// Why they are not ordered.
    pub reason: Reason,
    /// Whether both store the same value.
    pub same: bool,
}

impl Side {
    pub(crate) fn does(&self) -> String {
        let what = match &self.info {
            Info { atomic: true, .. } => "atomic",
            Info { copies: true, .. } => "asynchronous copy",
            Info { writes: true, .. } => "store",
            _ => "load",
        };
        let order = if self.info.strong && !self.info.atomic { "volatile or relaxed " } else { "" };
        format!("{}-byte {order}{what}", self.info.width)
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "{} at {} by {}",
            self.does(),
            self.spot.line_or_instruction(),
            self.spot.who(self.several)
        )
    }
}

impl Race {
    /// Both accesses in words, the later one first.
    pub fn problem(&self) -> String {
        let (second, first) = (&self.second, &self.first);
        if first.several && first.spot.is_same_thread(&second.spot) {
            let [x, y, z] = first.spot.block;
            let place = first.spot.line_or_instruction();
            let others = format!("{} at {place} by others of block ({x},{y},{z})", first.does());
            return format!("{}, {others}", second.text());
        }
        format!("{}, {}", second.text(), first.text())
    }

    /// Why the two are not ordered, and what would order them.
    pub fn why(&self, module: &Module) -> String {
        let line = |place: Place| match module.own_line(&[place]) {
            Some((file, line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
            None => format!("instruction {}", place.instruction),
        };
        match self.reason {
            Reason::SameInstruction => {
                "lanes of a warp execute one store to the same address, and which of them is last is \
                 not defined: let one thread store, or use an atomic"
                    .to_owned()
            }
            Reason::Warp => "threads of a warp do not run in lock step: no __syncwarp whose mask has \
                             both lies between the two"
                .to_owned(),
            Reason::Barrier => {
                "no barrier of the block (__syncthreads) lies between the two".to_owned()
            }
            Reason::Blocks => "nothing orders threads of different blocks within a launch, but fences \
                               with atomics or volatile flags, or the barrier of a cooperative grid"
                .to_owned(),
            Reason::Copy => "the asynchronous copy may still be under way: its thread does not wait \
                             for it before (cp.async.wait_group, cuda::pipeline, a barrier object)"
                .to_owned(),
            Reason::Width => {
                "atomics and volatile accesses are atomic only with others of the same size".to_owned()
            }
            Reason::Scope => {
                let narrow = [&self.first, &self.second];
                let narrow = narrow.iter().find(|side| side.info.scope == crate::site::Scope::Block);
                let place = narrow.map_or_else(String::new, |side| side.spot.line_or_instruction());
                format!(
                    "the operation at {place} is atomic only for threads of its own block: another \
                     block needs the scope of the device"
                )
            }
            Reason::NoAcquire(place) => format!(
                "the thread has read a flag at {}, but no fence (__threadfence) follows before the \
                 access",
                line(place)
            ),
            Reason::NoRelease(place) => format!(
                "the flag that is written at {} orders nothing: no fence (__threadfence) comes \
                 before it",
                line(place)
            ),
            Reason::Narrow(place) => format!(
                "the flag at {}, or its fence, is for threads of one block only: another block needs \
                 the scope of the device (__threadfence)",
                line(place)
            ),
        }
    }
}

/// The name of a variable without what mangling has put around it: `tile` for
/// `_ZZ6reducePiE4tile`.
pub fn plain_name(mangled: &str) -> &str {
    let Some(rest) = mangled.strip_prefix("_Z") else { return mangled };
    for (at, _) in rest.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        if at > 0 && rest.as_bytes()[at - 1].is_ascii_digit() {
            continue;
        }
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[at..at + digits].parse::<usize>() else { continue };
        let (start, end) = (at + digits, at + digits + length);
        // Local variables of one name are told apart by a number behind it.
        if rest.get(end..).is_some_and(|behind| behind.is_empty() || behind.starts_with('_')) {
            return &rest[start..end];
        }
    }
    mangled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(plain_name("_ZZ6reducePiE4tile"), "tile");
        assert_eq!(plain_name("_ZZ6reducePiE4tile_0"), "tile");
        assert_eq!(plain_name("_ZZN3one3twoILi16EEEvPfE2As"), "As");
        assert_eq!(plain_name("own"), "own");
        assert_eq!(plain_name("_Z"), "_Z");
    }
}
