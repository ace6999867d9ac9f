//! Three ranks share a rendezvous and enter collectives in whatever order the schedule has it: what
//! the standard allows is silent, and what it does not is found, in every schedule.

use commsan_callsite::testing::At;
use commsan_callsite::{Findings, Placed, Report, Stacks, Use};
use commsan_findings::Code;
use commsan_findings::record::Record;
use commsan_job_shm::Memory;
use commsan_mpi::collective::communicators::On;
use commsan_mpi::collective::entry::{Asserted, Root};
use commsan_mpi::collective::signature::Signature;
use commsan_mpi::rma::Group;
use commsan_mpi::{Entering, Tracker};
use commsan_mpi_calls::named;
use commsan_shadow::Pages;
use proptest::prelude::*;
use std::collections::BTreeSet;

const RANKS: usize = 3;
/// Handles of the world and of two duplicates.
const COMMS: [usize; 3] = [1, 2, 3];

#[derive(Default)]
struct Codes(BTreeSet<Code>);

impl Findings for Codes {
    fn again(&mut self, _: Code, _: usize, _: usize) -> bool {
        false
    }

    fn report(&mut self, report: Report<'_>, _: usize, _: &Stacks) -> u32 {
        self.0.insert(report.code);
        0
    }

    fn emit(&mut self, _: Record<'_, Placed>, _: &Stacks) {}

    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

/// One call, identical on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    comm: usize,
    call: &'static str,
    root: Option<u32>,
    op: u32,
    count: u64,
    none_precede: bool,
    alike: u64,
}

impl Call {
    fn entering(&self) -> Entering {
        let call = named(self.call).expect("a call of the table");
        Entering {
            call,
            on: On::Comm(COMMS[self.comm]),
            blocking: call.blocks(),
            parallel: false,
            root: self.root.map_or(Root::Unknown, Root::Rank),
            op: self.op,
            data: Some(Signature::predefined("MPI_INT", 4).repeat(self.count)),
            asserted: Asserted { none_precede: self.none_precede, none_succeed: false },
            alike: [self.alike, 0, 0],
            received: None,
        }
    }
}

fn step() -> impl Strategy<Value = Call> {
    let calls = ["MPI_Bcast", "MPI_Ibcast", "MPI_Reduce", "MPI_Ireduce"];
    (0..3_usize, prop::sample::select(calls.to_vec()), 0..3_u32, 1..4_u32, 0..9_u64).prop_map(
        |(comm, call, root, op, count)| {
            let op = if call.ends_with("educe") { op } else { 0 };
            let alike = count % 3;
            Call { comm, call, root: Some(root), op, count, none_precede: count > 4, alike }
        },
    )
}

/// Runs what each rank does, one step of the rank that comes next in the schedule at a time.
fn run(programs: &[Vec<Call>; RANKS], schedule: &[usize]) -> BTreeSet<Code> {
    let (memory, _file, _) = Memory::create(RANKS).expect("memory for three ranks");
    let mut codes = Codes::default();
    let mut ranks: Vec<Tracker> = (0..RANKS as u32)
        .map(|me| {
            let mut tracker = Tracker::new(Pages::leaked(4));
            tracker.together.connect(memory.rendezvous(), me);
            tracker.together.name_world(COMMS[0], RANKS, (0, 0));
            let dup = named("MPI_Comm_dup").expect("a call of the table");
            for child in &COMMS[1..] {
                let (root, none_precede) = (None, false);
                let dup = Call {
                    comm: 0,
                    call: &dup.name,
                    root,
                    op: 0,
                    count: 0,
                    none_precede,
                    alike: 0,
                };
                tracker.enter(&dup.entering(), &At(9000), &mut codes);
                tracker.together.made(COMMS[0], On::Comm(*child), &Group::new(vec![0, 1, 2]));
            }
            tracker
        })
        .collect();
    let mut next = [0; RANKS];
    for &rank in
        schedule.iter().chain((0..RANKS).cycle().take(RANKS * 64).collect::<Vec<_>>().iter())
    {
        if let Some(step) = programs[rank].get(next[rank]) {
            next[rank] += 1;
            ranks[rank].enter(&step.entering(), &At(100 * (rank + 1) + next[rank]), &mut codes);
        }
    }
    for (rank, tracker) in ranks.iter_mut().enumerate() {
        tracker.finalize(&At(9100 + rank), &mut codes);
    }
    codes.0
}

/// Whether two ranks enter blocking collectives of two communicators in different orders.
fn crosses(one: &[Call], other: &[Call]) -> bool {
    let numbered = |steps: &[Call]| {
        let mut counts = [0; 3];
        let mut all = Vec::new();
        for step in steps {
            counts[step.comm] += 1;
            all.push((step.comm, counts[step.comm], step.entering().blocking));
        }
        all
    };
    let (one, other) = (numbered(one), numbered(other));
    let place = |of: &[(usize, u32, bool)], what| of.iter().position(|at| *at == what);
    let blocking = || one.iter().filter(|at| at.2);
    blocking().any(|a| {
        blocking()
            .any(|b| place(&one, *a) < place(&one, *b) && place(&other, *a) > place(&other, *b))
    })
}

fn schedule() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..RANKS, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn equal_programs_are_silent_in_every_schedule(
        steps in prop::collection::vec(step(), 0..20), schedule in schedule(),
    ) {
        let programs = [steps.clone(), steps.clone(), steps];
        prop_assert_eq!(run(&programs, &schedule), BTreeSet::new());
    }

    #[test]
    fn one_difference_is_found_in_every_schedule(
        steps in prop::collection::vec(step(), 1..20),
        (rank, at, what) in (0..RANKS, any::<prop::sample::Index>(), 0..6_u32),
        schedule in schedule(),
    ) {
        let mut programs = [steps.clone(), steps.clone(), steps];
        let at = at.index(programs[rank].len());
        let step = &mut programs[rank][at];
        let code = match what {
            0 => {
                step.call = "MPI_Barrier";
                Code::CollectivesDiffer
            }
            1 => {
                step.root = step.root.map(|root| (root + 1) % 3);
                Code::RootsDiffer
            }
            2 => {
                step.count += 1;
                Code::SignaturesDiffer
            }
            3 => {
                step.none_precede = !step.none_precede;
                Code::AssertionsDiffer
            }
            4 => {
                step.alike += 1;
                Code::ArgumentsDiffer
            }
            _ if step.op != 0 => {
                step.op += 1;
                Code::ReductionsDiffer
            }
            _ => {
                let comm = step.comm;
                // What is left out shifts all that follows; at the end it is not entered.
                let last = programs[rank].iter().rposition(|step| step.comm == comm).unwrap();
                programs[rank].remove(last);
                Code::CollectiveNotEntered
            }
        };
        let found = run(&programs, &schedule);
        prop_assert!(found.contains(&code), "{:?}", found);
    }

    #[test]
    fn crossing_orders_are_found_and_allowed_ones_are_not(
        steps in prop::collection::vec(step(), 2..8),
        order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
        schedule in schedule(),
    ) {
        // One rank calls in another order, but each communicator's collectives in their own.
        let order: Vec<usize> = order.into_iter().filter(|at| *at < steps.len()).collect();
        let mut queues = [0; 3].map(|_| Vec::new());
        steps.iter().rev().for_each(|step| queues[step.comm].push(*step));
        let shuffled = order.iter().filter_map(|at| queues[steps[*at].comm].pop()).collect();
        let programs = [steps.clone(), shuffled, steps];
        let expected = match crosses(&programs[0], &programs[1]) {
            true => BTreeSet::from([Code::CollectivesCross]),
            false => BTreeSet::new(),
        };
        prop_assert_eq!(run(&programs, &schedule), expected);
    }
}
