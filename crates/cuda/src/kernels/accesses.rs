//! From the effects of a kernel's accesses to those of its launch: as few as say the same.

use super::join;
use crate::{Bytes, KernelAccess, Line};
use commsan_ptx::{Access, AccessKind, Effect, Module, Origin, Strength};
use commsan_shadow::{Footprint, Mode, Pattern};
use std::ops::Range;

/// What findings say of an access, whatever the launch.
#[derive(Clone, Debug)]
pub(super) struct Told {
    mode: Mode,
    strength: Strength,
    line: Option<Line>,
    /// Whether what is written is looked for as well: an atomic that takes a lock.
    looks: bool,
}

impl Told {
    pub(super) fn of(module: &Module, access: &Access) -> Told {
        let sites = std::iter::once(access.site).chain(access.calls.iter().rev().copied());
        let line = module.own_line(&sites.collect::<Vec<_>>());
        Told {
            mode: if access.kind == AccessKind::Read { Mode::Read } else { Mode::Write },
            strength: module
                .instruction(access.site)
                .map_or(Strength::Weak, |instruction| instruction.strength()),
            line: line.map(|(file, line)| Line { file: file.into(), line }),
            looks: access.kind == AccessKind::Atomic && module.may_poll(access.site),
        }
    }
}

/// More accesses than these are not kept apart.
const MAX_ACCESSES: usize = 24;

/// What is bounded by no more than the type of an index is said to be somewhere in its allocation.
const MAX_UNCERTAIN: u64 = 1 << 31;

/// A touch in the making.
#[derive(Clone, Debug)]
struct Piece {
    told: Told,
    certain: bool,
    extent: Extent,
    /// What all of it is reached by, if that is one.
    base: Option<Base>,
}

/// What leads to memory. Its bytes are of one allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    /// A pointer that is an argument.
    Pointer(usize),
    /// A variable of the module, by its number.
    Variable(u32),
}

#[derive(Clone, Debug, PartialEq)]
enum Extent {
    Exactly(commsan_ptx::Footprint),
    Within(usize),
    Anywhere,
}

/// The accesses of a launch. `variable` says where a variable of the module is: none if nobody else
/// knows of it, and nothing in that if nobody knows where it is.
pub(super) fn of(
    effects: &[Effect],
    told: &[Told],
    arguments: &[u8],
    variable: &dyn Fn(u32) -> Option<Option<Range<u64>>>,
) -> Vec<KernelAccess> {
    let mut pieces = Vec::new();
    for effect in effects {
        let told = &told[effect.access];
        let looks = told.looks.then(|| Told { mode: Mode::Read, ..told.clone() });
        for (extent, base) in extents(effect, arguments, variable) {
            for told in std::iter::once(told).chain(&looks) {
                let (told, extent) = (told.clone(), extent.clone());
                add(&mut pieces, Piece { told, certain: effect.certain, extent, base });
            }
        }
    }
    settle(&mut pieces);
    limit(&mut pieces);
    pieces.into_iter().map(kernel_access).collect()
}

/// What an effect covers, and what it is reached by.
fn extents(
    effect: &Effect,
    arguments: &[u8],
    variable: &dyn Fn(u32) -> Option<Option<Range<u64>>>,
) -> Vec<(Extent, Option<Base>)> {
    let argument = |at: u64| {
        let bytes = arguments.get(at as usize..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes) as usize)
    };
    let base = match effect.origins[..] {
        [Origin::Argument(at)] => argument(at).map(Base::Pointer),
        [Origin::Variable(index)] => Some(Base::Variable(index)),
        _ => None,
    };
    if let Some(bytes) = &effect.bytes {
        let bytes = join::normal(bytes);
        let vague = !effect.certain && bytes.end() - bytes.start >= MAX_UNCERTAIN;
        if !vague || effect.origins.is_empty() {
            return vec![(Extent::Exactly(bytes), base)];
        }
    }
    let one = |origin: &Origin| match *origin {
        Origin::Own => None,
        Origin::Argument(at) => {
            let pointer = argument(at);
            Some((pointer.map_or(Extent::Anywhere, Extent::Within), pointer.map(Base::Pointer)))
        }
        Origin::Variable(index) => {
            let range = variable(index)?;
            let whole = |range: Range<u64>| {
                let run = range.end - range.start;
                commsan_ptx::Footprint { start: range.start, run, repeats: Vec::new() }
            };
            let extent = range.map_or(Extent::Anywhere, |range| Extent::Exactly(whole(range)));
            Some((extent, Some(Base::Variable(index))))
        }
        Origin::ThroughArgument(_) | Origin::ThroughVariable(_) | Origin::Unknown => {
            Some((Extent::Anywhere, None))
        }
    };
    effect.origins.iter().filter_map(one).collect()
}

/// Adds a piece to others, or to one of them.
fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    if pieces.iter().any(|known| known.makes_needless(&piece)) {
        return;
    }
    pieces.retain(|known| !piece.makes_needless(known));
    let joined = pieces.iter_mut().find_map(|known| Some((known.joined(&piece)?, known)));
    match joined {
        Some((extent, known)) => known.extent = extent,
        None => pieces.push(piece),
    }
}

/// Joins until nothing can be joined any more.
fn settle(pieces: &mut Vec<Piece>) {
    loop {
        let before = std::mem::take(pieces);
        let count = before.len();
        before.into_iter().for_each(|piece| add(pieces, piece));
        if pieces.len() == count {
            return;
        }
    }
}

/// Leaves the largest pieces, and takes of the rest no more than what pointers lead to it.
fn limit(pieces: &mut Vec<Piece>) {
    if pieces.len() <= MAX_ACCESSES {
        return;
    }
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.weight()));
    for mut piece in pieces.split_off(MAX_ACCESSES) {
        piece.certain = false;
        piece.extent = match piece.base {
            Some(Base::Pointer(pointer)) => Extent::Within(pointer),
            _ => Extent::Anywhere,
        };
        add(pieces, piece);
    }
}

impl Piece {
    /// Whether another says nothing that this one does not.
    fn makes_needless(&self, other: &Piece) -> bool {
        // What is only possible is compared with what the execution shows, where a write is no
        // read; nor is it where others may be waited for.
        let covers_reads = self.certain && other.told.strength == Strength::Weak;
        let does_as_much =
            self.told.mode == other.told.mode || self.told.mode == Mode::Write && covers_reads;
        let worse = self.certain >= other.certain
            && does_as_much
            && match other.told.strength {
                // What the host may wait by stays apart.
                Strength::System => self.told.strength == Strength::System,
                strength => self.told.strength <= strength,
            };
        worse
            && match (&self.extent, &other.extent) {
                (Extent::Exactly(a), Extent::Exactly(b)) => join::covers(a, b),
                (Extent::Within(a), _) => other.base == Some(Base::Pointer(*a)),
                (a, b) => a == b,
            }
    }

    /// What both cover, if they are the same but for that. Allocations may lie side by side: each
    /// keeps its own.
    fn joined(&self, other: &Piece) -> Option<Extent> {
        let class =
            |piece: &Piece| (piece.told.mode, piece.told.strength, piece.certain, piece.base);
        match (&self.extent, &other.extent) {
            (Extent::Exactly(a), Extent::Exactly(b)) if class(self) == class(other) => {
                join::union(a, b).map(Extent::Exactly)
            }
            _ => None,
        }
    }

    /// How much is lost without it.
    fn weight(&self) -> (bool, u64) {
        let bytes = match &self.extent {
            Extent::Exactly(footprint) => footprint.end() - footprint.start,
            // These stay as they are.
            _ => u64::MAX,
        };
        (self.certain, bytes)
    }
}

fn kernel_access(piece: Piece) -> KernelAccess {
    let Told { mode, strength, line, .. } = piece.told;
    let bytes = match piece.extent {
        Extent::Exactly(footprint) => Bytes::Exactly(engine_footprint(&footprint)),
        Extent::Within(pointer) => Bytes::Within(pointer),
        Extent::Anywhere => Bytes::Anywhere,
    };
    KernelAccess { mode, strength, bytes, certain: piece.certain, line }
}

fn engine_footprint(footprint: &commsan_ptx::Footprint) -> Footprint {
    let run = Pattern::dense(0, footprint.run as isize);
    let repeated = footprint.repeats.iter().fold(run, |pattern, (distance, count)| {
        pattern.repeat(*count as usize, *distance as isize)
    });
    Footprint::new(footprint.start as usize, repeated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;
    use std::ops::ControlFlow;

    /// What one byte is known for: written or read, how strongly, for certain or not.
    type Fact = (usize, Mode, Strength, bool);

    const STRENGTHS: [Strength; 3] = [Strength::Weak, Strength::Device, Strength::System];

    fn effects() -> impl Strategy<Value = (Vec<Effect>, Vec<Told>)> {
        let repeats = prop::collection::vec((1u64..40, 1u64..5), 0..3);
        let footprint = (100u64..160, 1u64..9, repeats)
            .prop_map(|(start, run, repeats)| commsan_ptx::Footprint { start, run, repeats });
        let strength = prop::sample::select(&STRENGTHS[..]);
        let one = (footprint, any::<bool>(), strength, any::<bool>());
        prop::collection::vec(one, 1..40).prop_map(|all| {
            let parts =
                all.into_iter().enumerate().map(|(access, (bytes, write, strength, certain))| {
                    let mode = if write { Mode::Write } else { Mode::Read };
                    let origins = vec![Origin::Argument(0)];
                    let effect = Effect { access, origins, bytes: Some(bytes), certain };
                    (effect, Told { mode, strength, line: None, looks: false })
                });
            parts.unzip()
        })
    }

    fn bytes_of(access: &KernelAccess) -> HashSet<usize> {
        let mut all = HashSet::new();
        match &access.bytes {
            Bytes::Exactly(footprint) => {
                let _ = footprint.visit::<()>(&footprint.span(), &mut |run| {
                    all.extend(run);
                    ControlFlow::Continue(())
                });
            }
            // All that there is in this test.
            Bytes::Within(100) => all.extend(0..1000),
            other => panic!("{other:?}"),
        }
        all
    }

    #[test]
    fn what_two_pointers_lead_to_stays_apart() {
        let told = Told { mode: Mode::Write, strength: Strength::Weak, line: None, looks: false };
        let effect = |at, start| Effect {
            access: 0,
            origins: vec![Origin::Argument(at)],
            bytes: Some(commsan_ptx::Footprint { start, run: 16, repeats: Vec::new() }),
            certain: true,
        };
        let arguments: Vec<u8> = [100u64, 116].iter().flat_map(|at| at.to_le_bytes()).collect();
        let count = |effects: &[Effect]| {
            of(effects, std::slice::from_ref(&told), &arguments, &|_| None).len()
        };
        assert_eq!(count(&[effect(0, 100), effect(8, 116)]), 2);
        assert_eq!(count(&[effect(0, 100), effect(0, 116)]), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn accesses_say_what_effects_say((effects, told) in effects()) {
            let accesses = of(&effects, &told, &100u64.to_le_bytes(), &|_| None);
            prop_assert!(accesses.len() <= MAX_ACCESSES + 4);
            let fact = |byte, mode, strength, certain| -> Fact { (byte, mode, strength, certain) };
            let mut from_effects = HashSet::new();
            for (effect, told) in effects.iter().zip(&told) {
                let bytes = effect.bytes.iter().flat_map(|footprint| footprint.runs()).flatten();
                let fact = |b| fact(b as usize, told.mode, told.strength, effect.certain);
                from_effects.extend(bytes.map(fact));
            }
            let mut from_accesses = HashSet::new();
            for access in &accesses {
                let fact = |b| fact(b, access.mode, access.strength, access.certain);
                from_accesses.extend(bytes_of(access).into_iter().map(fact));
            }
            // What is certain is so by an effect.
            for known in from_accesses.iter().filter(|(.., certain)| *certain) {
                prop_assert!(from_effects.contains(known), "{known:?}");
            }
            // What an effect does, an access says, or more than that; that it is certain may be
            // lost only where there are too many.
            let few = accesses.len() < MAX_ACCESSES;
            for &(byte, mode, strength, certain) in &from_effects {
                let weaker = STRENGTHS.iter().filter(|weaker| match strength {
                    Strength::System => **weaker == strength,
                    _ => **weaker <= strength,
                });
                let surer = if certain && few { vec![true] } else { vec![true, false] };
                let said = weaker.clone().any(|strength| surer.iter().any(|c| {
                    let as_write = *c && from_accesses.contains(&fact(byte, Mode::Write, *strength, true));
                    as_write || from_accesses.contains(&fact(byte, mode, *strength, *c))
                }));
                prop_assert!(said, "{:?}", (byte, mode, strength, certain));
            }
        }
    }
}
