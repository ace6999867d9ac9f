//! The nursery is an optimisation: findings must be equal with and without it.
//!
//! Random programs of simple and strided operations, completions, accesses, releases and freed
//! requests, with handles and request variables that collide, run through two trackers, one of
//! which never uses its nursery. Their findings must be equal, one by one.

use commsan_callsite::{DEPTH, Findings, Place, Placed, Report, Site, Stacks, Use};
use commsan_findings::Code;
use commsan_findings::record::Record;
use commsan_mpi::buffers::resolve;
use commsan_mpi::collective::signature::Signature;
use commsan_mpi::{Args, Datatype, Library, Token, Tracker};
use commsan_mpi_calls::{CALLS, Call};
use commsan_shadow::{Mode, Pages, Pattern};
use proptest::prelude::*;

/// An MPI with two datatypes: 1 is a byte, 2 every other byte of eight.
struct Mpi;

impl Library for Mpi {
    const IN_PLACE: usize = 1;
    const PROC_NULL: i32 = -1;
    const ROOT: i32 = -3;

    fn dense(&self, handle: usize) -> Option<usize> {
        (handle == 1).then_some(1)
    }

    fn datatype(&self, handle: usize) -> Datatype {
        match handle {
            1 => Datatype { pattern: Pattern::dense(0, 1), extent: 1 },
            _ => Datatype { pattern: Pattern::dense(0, 1).repeat(4, 2), extent: 8 },
        }
    }

    fn rank(&self, _: usize) -> i32 {
        0
    }

    fn size(&self, _: usize) -> usize {
        2
    }

    fn local_size(&self, _: usize) -> usize {
        2
    }

    fn is_no_op(&self, _: usize) -> bool {
        false
    }

    fn is_inter(&self, _: usize) -> bool {
        false
    }

    fn neighbours(&self, _: usize) -> (Vec<i32>, Vec<i32>) {
        (Vec::new(), Vec::new())
    }

    fn int_at(&self, _: usize, _: usize, _: bool) -> i64 {
        0
    }

    fn handle_at(&self, _: usize, _: usize, _: bool) -> usize {
        1
    }

    fn signature(&self, _: usize) -> Signature {
        Signature::vague(1)
    }

    fn lasting_signature(&self, _: usize) -> Signature {
        Signature::vague(1)
    }
}

/// The n-th step of the program; addresses below 0x11_0000 are its stack, frames 256 bytes long.
struct Step(usize);

impl Place for Step {
    fn pc(&self) -> usize {
        self.0
    }

    fn thread(&self) -> u32 {
        0
    }

    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        frames[0] = self.0;
        1
    }

    fn name_at(&self, _: usize) -> Option<&'static str> {
        None
    }

    fn thread_of(&self, _: commsan_shadow::Epoch) -> u32 {
        0
    }

    fn frame_of(&self, address: usize) -> Option<usize> {
        (address < 0x11_0000).then_some(address | 0xff)
    }

    fn is_popped(&self, _: usize) -> bool {
        false
    }
}

#[derive(Default)]
struct Log {
    lines: Vec<String>,
    seen: Vec<(Code, usize, usize)>,
    next: u32,
}

impl Findings for Log {
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool {
        let known = self.seen.contains(&(code, offender, operation));
        if known {
            self.lines.push(format!("again {code} {offender} {operation}"));
        }
        known
    }

    fn report(&mut self, report: Report<'_>, operation: usize, stacks: &Stacks) -> u32 {
        let site = |(role, site): &(_, Site)| {
            let frames = stacks.frames(site.stack).to_vec();
            format!("{role:?} {} {frames:?}", site.pc)
        };
        let sites: Vec<_> = report.sites.iter().map(site).collect();
        self.lines.push(format!("{} {:?} {sites:?}", report.code, report.operation));
        let offender = if sites.len() > 1 { report.sites[0].1.pc } else { 0 };
        self.seen.push((report.code, offender, operation));
        self.next += 1;
        self.next - 1
    }

    fn emit(&mut self, record: Record<'_, Placed>, _: &Stacks) {
        if let Record::Completed { id: finding, site: (_, site) } = record {
            self.lines.push(format!("completed {finding} at {}", site.pc));
        }
    }

    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

#[derive(Clone, Debug)]
enum Event {
    Start { receive: bool, base: usize, count: usize, datatype: usize, key: usize, variable: usize },
    Complete { key: usize, variable: usize },
    GetStatus { key: usize, variable: usize },
    Free { key: usize, variable: usize },
    Access { write: bool, at: usize, len: usize },
    Release { at: usize, len: usize },
    Leave { frame: usize },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let base = || 0x10_ff00usize..0x11_0100;
    let (keys, variables) = (|| 1usize..7, || (0usize..6).prop_map(|v| 0x20_0000 + v * 8));
    let start = (any::<bool>(), base(), 0usize..40, 1usize..3, keys(), variables()).prop_map(
        |(receive, base, count, datatype, key, variable)| Event::Start {
            receive,
            base,
            count,
            datatype,
            key,
            variable,
        },
    );
    let event = prop_oneof![
        6 => start,
        6 => (keys(), variables()).prop_map(|(key, variable)| Event::Complete { key, variable }),
        1 => (keys(), variables()).prop_map(|(key, variable)| Event::GetStatus { key, variable }),
        1 => (keys(), variables()).prop_map(|(key, variable)| Event::Free { key, variable }),
        4 => (any::<bool>(), base(), 1usize..9)
            .prop_map(|(write, at, len)| Event::Access { write, at, len }),
        1 => (base(), 1usize..200).prop_map(|(at, len)| Event::Release { at, len }),
        1 => base().prop_map(|at| Event::Leave { frame: at | 0xff }),
    ];
    prop::collection::vec(event, 0..60)
}

fn call(name: &str) -> &'static Call {
    CALLS.iter().find(|call| call.name == name).expect("a call of the table")
}

fn run(mut tracker: Tracker, events: &[Event]) -> Vec<String> {
    let mut log = Log::default();
    for (n, event) in events.iter().enumerate() {
        let (step, out) = (Step(n + 1), &mut log);
        match *event {
            Event::Start { receive, base, count, datatype, key, variable } => {
                let call = call(if receive { "MPI_Irecv" } else { "MPI_Isend" });
                let words = [base, count, datatype, 1, 0, 0, variable];
                let args = Args::new(call, &words, false);
                let mut accesses = resolve(&args, &Mpi);
                tracker.start(&args, &mut accesses, (key, variable), &step, out);
            }
            Event::Complete { key, variable } => {
                let token = Token { key, variable, before: tracker.now() };
                tracker.complete(token, "MPI_Wait", &step, out);
            }
            Event::GetStatus { key, variable } => {
                let token = Token { key, variable, before: tracker.now() };
                tracker.status_true(token, "MPI_Request_get_status", &step, out);
            }
            Event::Free { key, variable } => {
                let token = Token { key, variable, before: tracker.now() };
                tracker.free(token, "MPI_Request_free", &step, out);
            }
            Event::Access { write, at, len } => {
                let mode = if write { Mode::Write } else { Mode::Read };
                tracker.access("store", mode, at..at + len, &step, out);
            }
            Event::Release { at, len } => tracker.released("free", None, at..at + len, &step, out),
            Event::Leave { frame } => tracker.leave(frame, &step, out),
        }
        let (ranges, on_stack) = tracker.load();
        log.lines.push(format!("{ranges} {on_stack}"));
    }
    tracker.finalize(&Step(events.len() + 1), &mut log);
    assert_eq!(tracker.load(), (0, 0), "nothing outlives MPI_Finalize");
    log.lines.sort();
    log.lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_nursery_changes_nothing(events in events()) {
        let with = run(Tracker::new(Pages::leaked(4)), &events);
        let without = run(Tracker::without_nursery(Pages::leaked(4)), &events);
        prop_assert_eq!(with, without);
    }
}
