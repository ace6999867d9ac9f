//! Which calls of PEs are found to differ, and what is wrong with their arguments.

use super::operation::Operation;
use super::{Act, Members, Nvshmem, Uses, WORLD};
use crate::waiting::{Job, Meeting};
use commsan_callsite::testing::At;
use commsan_callsite::{Findings, Placed, Report, Stacks, Use};
use commsan_findings::Code;
use commsan_findings::record::Record;
use commsan_job_shm::Memory;

/// Codes of findings, and how many sites were written for others.
#[derive(Default)]
struct Found(Vec<Code>);

impl Findings for Found {
    fn again(&mut self, _: Code, _: usize, _: usize) -> bool {
        false
    }
    fn report(&mut self, report: Report<'_>, _: usize, _: &Stacks) -> u32 {
        self.0.push(report.code);
        self.0.len() as u32 - 1
    }
    fn emit(&mut self, _: Record<'_, Placed>, _: &Stacks) {}
    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

/// A PE that is a rank of a job.
struct Pe {
    nvshmem: Nvshmem,
    stacks: Stacks,
    found: Found,
    job: Job,
    all: Members,
}

impl Pe {
    fn act(&mut self, act: Act<'_>, at: usize) -> Option<Meeting> {
        self.nvshmem.act(act, &At(at), &mut self.stacks, self.job, &mut self.found)
    }

    fn call(&mut self, name: &'static str, count: u64) -> Option<Meeting> {
        let all = Members::clone(&self.all);
        self.call_in(WORLD, &all, name, count)
    }

    fn call_in(
        &mut self,
        team: i32,
        members: &Members,
        name: &'static str,
        count: u64,
    ) -> Option<Meeting> {
        let operation = Operation::new(name, count).unwrap();
        self.act(Act::Together(team, members, operation, None, name), 10)
    }

    fn begin(&mut self, pe: u32, pes: u32) {
        self.act(Act::Begins { pe, pes, id: None, followed: true }, 1);
    }

    fn entered(&self, meeting: &Meeting) -> u32 {
        let all = self.nvshmem.entered().unwrap();
        all.iter().find(|(name, _)| *name == meeting.name).map_or(0, |(_, number)| *number)
    }
}

/// So many ranks, which are all PEs.
fn job(pes: u32) -> Vec<Pe> {
    let (memory, _file, _) = Memory::create(pes as usize).unwrap();
    let pe = |number| {
        let mut pe = Pe {
            nvshmem: Nvshmem::default(),
            stacks: Stacks::new(),
            found: Found::default(),
            job: Some((memory.rendezvous(), number)),
            all: (0..pes).collect(),
        };
        pe.begin(number, pes);
        pe
    };
    (0..pes).map(pe).collect()
}

#[test]
fn the_nth_calls_are_compared_whoever_is_ahead() {
    let mut pes = job(2);
    let first = pes[0].call("nvshmem_barrier_all", 0).unwrap();
    pes[0].call("nvshmem_int_sum_reduce", 4);
    pes[0].call("nvshmem_int_sum_reduce", 4);
    assert_eq!((pes[0].entered(&first), pes[1].entered(&first)), (3, 0));
    pes[1].call("nvshmemx_barrier_all_on_stream", 0);
    pes[1].call("nvshmem_int_sum_reduce", 5);
    pes[1].call("nvshmemx_int_sum_reduce_on_stream", 4);
    assert_eq!(pes[1].found.0, [Code::NvshmemCollectivesDiffer]);
    assert_eq!(pes[1].entered(&first), 3);
}

#[test]
fn after_other_calls_nothing_is_compared() {
    let mut pes = job(2);
    for name in ["nvshmem_sync_all", "nvshmem_barrier_all"] {
        pes[0].call(name, 0);
    }
    for name in ["nvshmem_barrier_all", "nvshmem_sync_all"] {
        pes[1].call(name, 0);
    }
    assert_eq!(pes[1].found.0, [Code::NvshmemCollectivesDiffer]);
    assert!(pes[1].nvshmem.entered().is_none(), "who is where is not known any more");
}

#[test]
fn allocations_have_a_code_of_their_own() {
    let mut pes = job(2);
    pes[0].call("nvshmem_malloc", 64);
    pes[1].call("nvshmem_calloc", 128);
    assert_eq!(pes[1].found.0, [Code::AllocationsDiffer]);
    pes[0].call("nvshmem_free", 1);
    pes[1].call("nvshmem_finalize", 0);
    assert_eq!(pes[1].found.0.last(), Some(&Code::NvshmemCollectivesDiffer));
}

#[test]
fn teams_have_names_by_parent_turn_and_members() {
    let mut pes = job(3);
    let split = |pe: &mut Pe, members: &Members, team: Option<i32>| {
        pe.call("nvshmem_team_split_strided", 0);
        if let Some(team) = team {
            pe.act(Act::Split { parent: WORLD, team, members, part: 0 }, 2);
        }
    };
    let (ends, first): (Members, Members) = ([0, 2].into(), [0, 1].into());
    for (pe, [ends_as, first_as]) in
        pes.iter_mut().zip([[Some(6), Some(7)], [None, Some(6)], [Some(6), None]])
    {
        split(pe, &ends, ends_as);
        split(pe, &first, first_as);
    }
    pes[0].call_in(6, &ends, "nvshmem_team_sync", 0);
    pes[0].call_in(7, &first, "nvshmem_barrier", 0);
    let meeting = pes[1].call_in(6, &first, "nvshmem_barrier", 0).unwrap();
    pes[2].call_in(6, &ends, "nvshmem_barrier", 0);
    assert_eq!((&pes[1].found.0[..], pes[2].found.0.len()), (&[][..], 1));
    assert_eq!(meeting.on.describe(meeting.members), "an NVSHMEM team of 2 PEs");
    pes[1].call_in(6, &first, "nvshmem_team_destroy", 0);
    assert_eq!(pes[1].entered(&meeting), 2, "what was called on it counts for ever");
}

#[test]
fn pes_that_are_not_all_ranks_are_not_compared() {
    let mut pes = job(2);
    for (number, pe) in pes.iter_mut().enumerate() {
        pe.call("nvshmem_finalize", 0);
        pe.begin(0, 1);
        pe.all = [0].into();
        pe.call(["nvshmem_barrier_all", "nvshmem_sync_all"][number], 0);
        assert!(pe.nvshmem.entered().is_none());
        assert_eq!(pe.found.0, []);
    }
}

#[test]
fn arguments_are_right_or_have_a_problem() {
    let mut pes = job(2);
    let pe = &mut pes[0];
    pe.act(Act::Allocated(4096, 64, "nvshmem_malloc"), 5);
    let wrong = |pe: &Pe, uses: Uses| pe.nvshmem.wrong(&uses).map(|wrong| wrong.code);
    for (uses, code) in [
        (Uses::Pe(1), None),
        (Uses::Pe(2), Some(Code::NoSuchPe)),
        (Uses::Pe(-1), Some(Code::NoSuchPe)),
        (Uses::Root(1, 2), None),
        (Uses::Root(1, 1), Some(Code::NoSuchPe)),
        (Uses::NoTeam(-1), Some(Code::NoSuchPe)),
        (Uses::Symmetric("dest", 4096, 4096..4160), None),
        (Uses::Symmetric("dest", 4104, 4104..4168), Some(Code::BeyondSymmetric)),
        (Uses::Symmetric("dest", 0, 0..8), Some(Code::NotSymmetric)),
        (Uses::Block(4096), None),
        (Uses::Block(4100), Some(Code::SymmetricFreedWrongly)),
    ] {
        assert_eq!(wrong(pe, uses.clone()), code, "{uses:?}");
    }
    let elsewhere = pe.nvshmem.wrong(&Uses::Symmetric("dest", 8192, 8192..8200)).unwrap();
    assert_eq!(elsewhere.unless, Some(8192), "the library may know better");
    pe.act(Act::Freed(4096, "nvshmem_free"), 6);
    assert_eq!(wrong(pe, Uses::Block(4096)), Some(Code::SymmetricFreedWrongly));
    pe.call("nvshmem_finalize", 0);
    let after = pe.nvshmem.wrong(&Uses::Outside).unwrap();
    assert_eq!((after.code, &*after.problem), (Code::OutsideShmem, "after nvshmem_finalize"));
    assert_eq!(wrong(pe, Uses::Pe(7)), None, "nothing is known of others then");
}
