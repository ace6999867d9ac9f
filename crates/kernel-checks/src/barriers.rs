//! How a block uses its barriers, masks and barrier objects: what PTX leaves undefined is told.
//!
//! **What is told** (PTX ISA §9.7.13): a barrier that threads of one warp reach by two
//! instructions, where the instruction is for all threads of a warp (`bar`, `barrier.aligned`);
//! threads that disagree on how many take part; a barrier of the block that is complete without
//! threads which were at it before, since they have exited; a thread that its own member mask
//! leaves out; a barrier object that is used before it is initialised, or after it was invalidated,
//! or by more arrivals than its phase waits for. Each is judged by what was executed, so that
//! nothing is told that a program does not do.
//!
//! **What is missed.** Threads that exit before their first barrier count as arrived, as on
//! hardware since Volta, and always at barriers of clusters and at `barrier` without `.aligned`,
//! which wait for those that have not exited; a barrier that never completes is a failure of the
//! kernel, told elsewhere. Masks that name threads which come by another instruction, a barrier
//! object that is initialised twice, and one in global memory.

use commsan_ptx::Site;
use commsan_simt::Mbarrier;
use rustc_hash::FxHashMap;
use std::mem::{replace, take};

/// A lane at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The instruction.
    pub by: Site,
    /// The warp, by its number in the block.
    pub warp: u32,
    /// The lane.
    pub lane: usize,
}

/// What is wrong with a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Threads of a warp reach one barrier by two instructions.
    Diverged,
    /// Some threads of the block have exited since they were at the barrier before.
    Left,
    /// They disagree on the number of threads; `None` is all of the block.
    Counts([Option<u32>; 2]),
    /// The mask leaves out the thread that names it.
    NotAMember(u32),
    /// Nothing has initialised the barrier object.
    NotInitialised,
    /// The barrier object was invalidated.
    Invalidated,
    /// There are so many arrivals more than the phase waits for.
    Excess(u32),
}

/// Numbers of barriers that programs give to a block; beyond is that of the cluster.
const NUMBERS: u32 = 16;

/// By warp: who came first, and which lanes have come so far.
type Warps = FxHashMap<u32, (Arrived, u32)>;

/// The arrivals at a barrier since it was last complete.
#[derive(Debug)]
struct Meeting {
    generation: u32,
    count: Option<u32>,
    first: Arrived,
    warps: Warps,
    /// Whether all threads of the block must come, and none may have exited.
    of_all: bool,
    /// Arrivals before, if it is of all.
    before: Warps,
    /// Whether it was seen to be complete.
    settled: bool,
}

/// A block's barriers.
#[derive(Debug, Default)]
pub struct Barriers {
    meetings: FxHashMap<u32, Meeting>,
    /// Barrier objects by address, and who has invalidated them.
    objects: FxHashMap<u64, Option<Arrived>>,
}

impl Barriers {
    /// Lanes arrive at a barrier, of which so many threads take part; the other side if that is
    /// wrong.
    pub fn arrive(
        &mut self,
        me: Arrived,
        lanes: u32,
        (barrier, generation): (u32, u32),
        count: Option<u32>,
        aligned: bool,
    ) -> Option<(Wrong, Option<Arrived>)> {
        let of_all = count.is_none() && aligned && barrier < NUMBERS;
        let new = |before| {
            let warps = Warps::default();
            Meeting { generation, count, first: me, warps, of_all, before, settled: false }
        };
        let meeting = self.meetings.entry(barrier).or_insert_with(|| new(Warps::default()));
        if meeting.generation != generation {
            let (mut before, last) = (take(&mut meeting.before), take(&mut meeting.warps));
            for (warp, (arrived, lanes)) in last.into_iter().filter(|_| meeting.of_all) {
                let (by, all) = before.entry(warp).or_insert((arrived, 0));
                (*by, *all) = (arrived, *all | lanes);
            }
            *meeting = new(before);
        }
        if meeting.count != count {
            return Some((Wrong::Counts([count, meeting.count]), Some(meeting.first)));
        }
        let (other, come) = meeting.warps.entry(me.warp).or_insert((me, 0));
        let is_apart = *come & lanes == 0 && other.by != me.by;
        *come |= lanes;
        (aligned && is_apart).then_some((Wrong::Diverged, Some(*other)))
    }

    /// Lanes go on after a barrier, which is complete: who has come first, and what is wrong.
    pub fn pass(
        &mut self,
        (barrier, generation): (u32, u32),
    ) -> Option<(Arrived, (Wrong, Option<Arrived>))> {
        let meeting = self.meetings.get_mut(&barrier)?;
        let is_known = meeting.generation == generation && meeting.of_all;
        if !is_known || replace(&mut meeting.settled, true) {
            return None;
        }
        let gone = meeting.before.iter().find_map(|(warp, (by, lanes))| {
            let come = meeting.warps.get(warp).map_or(0, |(_, lanes)| *lanes);
            let gone = lanes & !come;
            (gone != 0).then(|| Arrived { lane: gone.trailing_zeros() as usize, ..*by })
        });
        gone.map(|gone| (meeting.first, (Wrong::Left, Some(gone))))
    }

    /// A lane uses a barrier object.
    pub fn use_object(
        &mut self,
        me: Arrived,
        address: u64,
        does: Mbarrier,
        excess: u32,
    ) -> Option<(Wrong, Option<Arrived>)> {
        match does {
            Mbarrier::Init => {
                self.objects.insert(address, None);
                None
            }
            Mbarrier::Invalidate if self.objects.contains_key(&address) => {
                self.objects.insert(address, Some(me));
                None
            }
            _ => match self.objects.get(&address) {
                None => Some((Wrong::NotInitialised, None)),
                Some(Some(by)) => Some((Wrong::Invalidated, Some(*by))),
                Some(None) if excess > 0 => Some((Wrong::Excess(excess), None)),
                Some(None) => None,
            },
        }
    }
}

/// The first lane whose mask leaves it out.
pub fn left_out(members: u32, lanes: u32) -> Option<usize> {
    let out = lanes & !members;
    (out != 0).then_some(out.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(instruction: u32, warp: u32) -> Arrived {
        Arrived { by: Site { function: 0, instruction }, warp, lane: 0 }
    }

    #[test]
    fn a_warp_arrives_by_one_instruction() {
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(at(1, 0), 0xffff, (0, 0), None, true), None);
        // Another warp may use another one, and so may lanes of this one that have arrived before.
        assert_eq!(barriers.arrive(at(2, 1), !0, (0, 0), None, true), None);
        assert_eq!(barriers.arrive(at(1, 0), 0xff_0000, (0, 0), None, true), None);
        let wrong = barriers.arrive(at(2, 0), 0xff00_0000, (0, 0), None, true);
        assert_eq!(wrong, Some((Wrong::Diverged, Some(at(1, 0)))));
        assert_eq!(barriers.arrive(at(2, 0), !0, (0, 1), None, true), None);
        assert_eq!(barriers.arrive(at(1, 0), 1, (1, 1), None, false), None);
        assert_eq!(barriers.arrive(at(2, 0), 2, (1, 1), None, false), None);
    }

    #[test]
    fn who_was_there_before_is_missed() {
        let mut barriers = Barriers::default();
        let mut meet = |barrier, generation, lanes, aligned| {
            let wrong = barriers.arrive(at(4, 0), lanes, (barrier, generation), None, aligned);
            assert_eq!(wrong, None);
            barriers.pass((barrier, generation))
        };
        // Lanes that have exited before their first barrier are not missed.
        assert_eq!(meet(0, 0, 0xff, true), None);
        assert_eq!(meet(0, 1, 0xff, true), None);
        let gone = Arrived { lane: 4, ..at(4, 0) };
        assert_eq!(meet(0, 2, 0x0f, true), Some((at(4, 0), (Wrong::Left, Some(gone)))));
        // Barriers that wait for those that have not exited miss nobody.
        for (barrier, aligned) in [(NUMBERS, true), (1, false)] {
            assert_eq!(meet(barrier, 0, 0xff, aligned), None);
            assert_eq!(meet(barrier, 1, 0x0f, aligned), None);
        }
    }

    #[test]
    fn all_name_the_same_number_of_threads() {
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(at(1, 0), !0, (3, 0), Some(64), true), None);
        let wrong = barriers.arrive(at(2, 1), !0, (3, 0), Some(96), true);
        assert_eq!(wrong, Some((Wrong::Counts([Some(96), Some(64)]), Some(at(1, 0)))));
    }

    #[test]
    fn objects_are_initialised_before_and_not_used_after() {
        let mut barriers = Barriers::default();
        let mut does = |does, excess| barriers.use_object(at(7, 0), 8, does, excess);
        assert_eq!(does(Mbarrier::Arrive, 0), Some((Wrong::NotInitialised, None)));
        assert_eq!(does(Mbarrier::Init, 0), None);
        assert_eq!(does(Mbarrier::Arrive, 0), None);
        assert_eq!(does(Mbarrier::Arrive, 2), Some((Wrong::Excess(2), None)));
        assert_eq!(does(Mbarrier::Invalidate, 0), None);
        assert_eq!(does(Mbarrier::Pass, 0), Some((Wrong::Invalidated, Some(at(7, 0)))));
    }

    #[test]
    fn masks_name_the_thread_itself() {
        assert_eq!(left_out(0xff, 0x0f), None);
        assert_eq!(left_out(0xff, 0x1ff), Some(8));
    }
}
