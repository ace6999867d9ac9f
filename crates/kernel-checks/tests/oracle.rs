//! Random kernels on few threads, under several schedules: what the detector finds is compared with
//! a search of the whole event graph of the execution, which knows nothing of clocks, floors or
//! stamps.

use commsan_kernel_checks::{Detector, Mistake, Where};
use commsan_ptx::words::{Order, Scope};
use commsan_ptx::{Module, Op, Site};
use commsan_simt::{
    Access, At, Event, Grid, Kind, Launch, Observer, Program, Progress, Reach, Services, Surface,
    Texture,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// Words in global memory, and in the shared memory of each block.
const GLOBAL: usize = 3;
const SHARED: usize = 2;
/// Threads: lanes of warps of blocks.
const LANES: usize = 2;

/// What a thread does.
#[derive(Clone, Debug)]
enum Step {
    /// An instruction, with `{a}` for the address of a word, which is a shared one or not.
    Access(&'static str, usize),
    /// A fence.
    Fence(&'static str),
    /// A while in which others run.
    Pause(u32),
}

/// What comes between the phases of a kernel.
#[derive(Clone, Debug)]
enum Sync {
    Nothing,
    /// `__syncthreads`.
    Block,
    /// `__syncwarp` in each warp, with all lanes or each with its own.
    Warp(bool),
    /// `__syncwarp`, and then a fence of each thread.
    Fenced,
}

#[derive(Clone, Debug)]
struct Plan {
    blocks: usize,
    warps: usize,
    /// Whether warps have no other lanes than those that do something, which end at once.
    small: bool,
    seed: u64,
    /// For each phase, the steps of each thread, and what comes behind.
    phases: Vec<(Vec<Vec<Step>>, Sync)>,
}

const ACCESSES: [&str; 14] = [
    "ld.{s}.u32 %r1, [{a}];",
    "ld.{s}.u32 %r1, [{a}];",
    "st.{s}.u32 [{a}], {v};",
    "st.{s}.u32 [{a}], {v};",
    "ld.volatile.{s}.u32 %r1, [{a}];",
    "st.volatile.{s}.u32 [{a}], {v};",
    "ld.relaxed.cta.{s}.u32 %r1, [{a}];",
    "st.relaxed.cta.{s}.u32 [{a}], {v};",
    "ld.acquire.gpu.{s}.u32 %r1, [{a}];",
    "st.release.gpu.{s}.u32 [{a}], {v};",
    "atom.{s}.add.u32 %r1, [{a}], 1;",
    "atom.relaxed.cta.{s}.add.u32 %r1, [{a}], 1;",
    "atom.acq_rel.gpu.{s}.add.u32 %r1, [{a}], 1;",
    "red.{s}.add.u32 [{a}], 1;",
];

const FENCES: [&str; 3] = ["fence.acq_rel.cta;", "fence.acq_rel.gpu;", "membar.gl;"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..ACCESSES.len(), 0..GLOBAL + SHARED).prop_map(|(n, at)| Step::Access(ACCESSES[n], at)),
        2 => (0..FENCES.len()).prop_map(|n| Step::Fence(FENCES[n])),
        2 => (1..40u32).prop_map(|n| Step::Pause(n * 10)),
    ]
}

fn sync() -> impl Strategy<Value = Sync> {
    prop_oneof![
        Just(Sync::Nothing),
        Just(Sync::Block),
        any::<bool>().prop_map(Sync::Warp),
        Just(Sync::Fenced),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    (1..3usize, 1..3usize, any::<bool>(), 0..3u64).prop_flat_map(|(blocks, warps, small, seed)| {
        let steps =
            prop::collection::vec(prop::collection::vec(step(), 0..4), blocks * warps * LANES);
        let phases = prop::collection::vec((steps, sync()), 1..4);
        phases.prop_map(move |phases| Plan { blocks, warps, small, seed, phases })
    })
}

impl Plan {
    fn ptx(&self) -> String {
        let mut text = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 data) {{\n.reg .b64 %rd<3>; .reg .b32 %r<8>; .reg .pred %p;\n\
             .shared .align 4 .b8 own[{}];\n\
             ld.param.u64 %rd1, [data];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\n\
             mov.u32 %r4, %laneid;\nmov.u32 %r5, own;\n",
            SHARED * 4
        );
        if !self.small || self.warps > 1 {
            writeln!(text, "setp.ge.u32 %p, %r4, {LANES};\n@%p exit;").unwrap();
        }
        let threads: Vec<_> = (0..self.blocks * self.warps * LANES).collect();
        for thread in &threads {
            let (block, warp, lane) = place(*thread, self.warps);
            let id = warp * 32 + lane;
            writeln!(
                text,
                "setp.ne.u32 %p, %r2, {id};\n@%p bra N{thread};\n\
                 setp.eq.u32 %p, %r3, {block};\n@%p bra T{thread};\nN{thread}:"
            )
            .unwrap();
        }
        text.push_str("exit;\n");
        for thread in threads {
            writeln!(text, "T{thread}:").unwrap();
            let (_, _, lane) = place(thread, self.warps);
            for (n, (steps, sync)) in self.phases.iter().enumerate() {
                for step in &steps[thread] {
                    match step {
                        Step::Access(instruction, at) => {
                            let (space, address) = match at.checked_sub(GLOBAL) {
                                None => ("global", format!("%rd1+{}", at * 4)),
                                Some(at) => ("shared", format!("%r5+{}", at * 4)),
                            };
                            let value = (thread * 100 + n + 1).to_string();
                            let instruction = instruction.replace("{s}", space);
                            let instruction = instruction.replace("{a}", &address);
                            writeln!(text, "{}", instruction.replace("{v}", &value)).unwrap();
                        }
                        Step::Fence(fence) => writeln!(text, "{fence}").unwrap(),
                        Step::Pause(time) => writeln!(text, "nanosleep.u32 {time};").unwrap(),
                    }
                }
                match sync {
                    Sync::Nothing => {}
                    Sync::Block => text.push_str("barrier.sync 0;\n"),
                    Sync::Warp(true) => text.push_str("bar.warp.sync 3;\n"),
                    Sync::Warp(false) => writeln!(text, "bar.warp.sync {};", 1 << lane).unwrap(),
                    Sync::Fenced => text.push_str("bar.warp.sync 3;\nfence.acq_rel.cta;\n"),
                }
            }
            text.push_str("exit;\n");
        }
        text.push_str("}\n");
        text
    }
}

/// Block, warp and lane of a thread.
fn place(thread: usize, warps: usize) -> (usize, usize, usize) {
    (thread / (warps * LANES), thread / LANES % warps, thread % LANES)
}

type Thread = (u64, u32, u32);

/// An event of a thread.
#[derive(Clone, Debug)]
enum What {
    Access {
        place: (u64, u64),
        kind: Kind,
        site: Site,
    },
    Fence {
        site: Site,
    },
    Arrive(u64, u32, u32),
    Pass(u64, u32, u32),
    /// The number of the meeting.
    Converge(usize),
}

#[derive(Default)]
struct Trace {
    events: Vec<(Thread, What)>,
    converged: usize,
}

struct Both {
    detector: Detector,
    trace: Trace,
}

impl Both {
    fn access(&mut self, access: &Access<'_>, space: u64) {
        for lane in (0..32).filter(|lane| access.lanes >> lane & 1 == 1) {
            let place = (space, access.addresses[lane as usize]);
            let site = Site { function: access.function, instruction: access.instruction };
            let what = What::Access { place, kind: access.kind, site };
            self.trace.events.push(((access.block, access.warp, lane), what));
        }
    }
}

impl Observer for Both {
    const ORDERED: bool = true;

    fn access(&mut self, access: &Access<'_>) {
        Both::access(self, access, 0);
        self.detector.access(access);
    }

    fn shared(&mut self, access: &Access<'_>) {
        Both::access(self, access, 1 + access.block);
        self.detector.shared(access);
    }

    fn event(&mut self, at: &At, event: Event) {
        self.detector.event(at, event);
        let number = self.trace.converged;
        let what = match event {
            Event::Fence { function, instruction } => {
                What::Fence { site: Site { function, instruction } }
            }
            Event::Arrive { barrier, generation, .. } => {
                What::Arrive(at.block, barrier, generation)
            }
            Event::Pass { barrier, generation } => What::Pass(at.block, barrier, generation),
            Event::Converge => {
                self.trace.converged += 1;
                What::Converge(number)
            }
            _ => return,
        };
        for lane in (0..32).filter(|lane| at.lanes >> lane & 1 == 1) {
            self.trace.events.push(((at.block, at.warp, lane), what.clone()));
        }
    }
}

/// What an instruction promises: whether it is strong, for the device, acquires, releases.
fn promises(module: &Module, site: Site) -> (bool, bool, bool, bool) {
    let instruction = module.instruction(site).unwrap();
    let order = instruction.modifiers.order;
    let atomic = matches!(instruction.op, Op::Atom | Op::Red);
    let strong = atomic || order.is_some_and(|order| order != Order::Weak);
    let wide = instruction.modifiers.scope != Some(Scope::Cta);
    let acquires = matches!(order, Some(Order::Acquire | Order::AcqRel));
    let releases = matches!(order, Some(Order::Release | Order::AcqRel));
    (strong, wide, acquires, releases)
}

/// The places where accesses race, by the axioms.
fn races(trace: &Trace, module: &Module) -> BTreeSet<(u64, u64)> {
    let events = &trace.events;
    let count = events.len();
    let is_fence =
        |site: Site| matches!(module.instruction(site).unwrap().op, Op::Fence | Op::Membar);
    // Program order and barriers; a meeting of a warp is two nodes, so that it is no circle.
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut last: BTreeMap<Thread, usize> = BTreeMap::new();
    for (n, (thread, what)) in events.iter().enumerate() {
        if let Some(before) = last.insert(*thread, n) {
            next[before].push(n);
        }
        for (m, (_, other)) in events.iter().enumerate() {
            match (other, what) {
                (What::Arrive(a, b, c), What::Pass(d, e, f)) if (a, b, c) == (d, e, f) => {
                    next[m].push(n);
                }
                (What::Converge(a), What::Converge(b)) if a == b && m != n => next[m].push(n),
                _ => {}
            }
        }
    }
    let by_barriers = closure(&next);
    let syncs = |what: &What| matches!(what, What::Pass(..) | What::Converge(_));
    // What each read observes: the last strong write, and what atomics have passed on.
    let mut observed: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut chains: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (n, (_, what)) in events.iter().enumerate() {
        let What::Access { place, kind, site } = what else { continue };
        if !promises(module, *site).0 {
            continue;
        }
        let chain = chains.entry(*place).or_default();
        if *kind != Kind::Store {
            observed[n].clone_from(chain);
        }
        match kind {
            Kind::Load => {}
            Kind::Store => *chain = vec![n],
            Kind::Atomic => chain.push(n),
        }
    }
    let reach = |wide: bool, a: Thread, b: Thread| wide || a.0 == b.0;
    let mut edges = next.clone();
    for read in 0..count {
        let What::Access { site: read_site, .. } = events[read].1 else { continue };
        let reader = events[read].0;
        let (_, read_wide, acquires, _) = promises(module, read_site);
        for &write in &observed[read] {
            let What::Access { site: write_site, .. } = events[write].1 else { unreachable!() };
            let writer = events[write].0;
            let (_, write_wide, _, releases) = promises(module, write_site);
            if writer == reader || !reach(read_wide && write_wide, writer, reader) {
                continue;
            }
            let mut sources = Vec::new();
            for (fence, (_, what)) in events.iter().enumerate() {
                let What::Fence { site } = what else { continue };
                if is_fence(*site) && by_barriers[fence][write] {
                    sources.push((fence, promises(module, *site).1));
                }
            }
            if releases {
                sources.push((write, write_wide));
            }
            let mut targets = Vec::new();
            for (after, (thread, what)) in events.iter().enumerate() {
                if *thread != reader || after <= read {
                    continue;
                }
                match what {
                    What::Fence { site } if is_fence(*site) => {
                        targets.push((after, promises(module, *site).1));
                    }
                    // Barriers complete an acquire.
                    what if syncs(what) => targets.push((after, true)),
                    _ => {}
                }
            }
            if acquires {
                targets.push((read, read_wide));
            }
            for (from, from_wide) in &sources {
                for (to, to_wide) in &targets {
                    if reach(*from_wide && *to_wide, writer, reader) {
                        edges[*from].push(*to);
                    }
                }
            }
        }
    }
    let before = closure(&edges);
    let mut racy = BTreeSet::new();
    for (b, (second, what)) in events.iter().enumerate() {
        let What::Access { place, kind, site } = what else { continue };
        let strong = promises(module, *site);
        for (a, (first, what)) in events[..b].iter().enumerate() {
            let What::Access { place: other, kind: other_kind, site: other_site } = what else {
                continue;
            };
            let writes = *kind != Kind::Load || *other_kind != Kind::Load;
            if place != other || first == second || !writes || before[a][b] {
                continue;
            }
            let others = promises(module, *other_site);
            if strong.0 && others.0 && reach(strong.1 && others.1, *first, *second) {
                continue;
            }
            // Causality begins with what is observed.
            let seen = (0..count).any(|read| {
                let What::Access { site, .. } = events[read].1 else { return false };
                observed[read].contains(&a)
                    && before[read][b]
                    && reach(promises(module, site).1 && others.1, *first, events[read].0)
            });
            if !seen {
                racy.insert(*place);
            }
        }
    }
    racy
}

/// Which nodes are reached from which.
fn closure(next: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let reach = |from: usize| {
        let (mut seen, mut todo) = (vec![false; next.len()], next[from].clone());
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                todo.extend(&next[node]);
            }
        }
        seen
    };
    (0..next.len()).map(reach).collect()
}

struct Memory(Range<u64>);

impl Reach for Memory {
    fn allocation(&self, address: u64) -> Option<Range<u64>> {
        self.0.contains(&address).then(|| self.0.clone())
    }

    fn texture(&self, _: u64) -> Option<Arc<Texture>> {
        None
    }

    fn surface(&self, _: u64) -> Option<Arc<Surface>> {
        None
    }
}

/// Executes a plan; returns the racy places by the detector, and by the axioms, and the execution.
type Places = BTreeSet<(u64, u64)>;

fn execute(plan: &Plan) -> (Places, Places, Vec<(Thread, What)>) {
    let text = plan.ptx();
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = Program::new(Arc::new(module));
    let kernel = program.kernel("k").unwrap();
    let mut data = vec![0u32; GLOBAL].into_boxed_slice();
    let start = data.as_mut_ptr().expose_provenance() as u64;
    let threads = if plan.small {
        (plan.warps as u32 - 1) * 32 + LANES as u32
    } else {
        plan.warps as u32 * 32
    };
    let (grid, block) = ([plan.blocks as u32, 1, 1], [threads, 1, 1]);
    let launch = Launch {
        kernel: kernel.clone(),
        arguments: start.to_le_bytes().to_vec(),
        grid,
        block,
        shared: 0,
        cooperative: false,
        seed: plan.seed,
        services: Arc::new(Services::new(|_| ())),
        time: 0,
    };
    let mut running = Grid::new(launch, &|_: &str| None).unwrap();
    let detector = Detector::new(kernel, grid, block).unwrap();
    let mut both = Both { detector, trace: Trace::default() };
    let reach = Memory(start..start + GLOBAL as u64 * 4);
    loop {
        match running.advance(1000, &reach, &mut both) {
            Progress::Done => break,
            Progress::Fault(fault) => panic!("{fault}\n{text}"),
            _ => {}
        }
    }
    let place = |memory: &Where, block: u32| match memory {
        Where::Global(address, _) => (0, *address),
        Where::Shared(_, offset) => (1 + u64::from(block), *offset),
    };
    let (mut found, mut reads, mut racing) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for mistake in both.detector.take(true) {
        match mistake {
            Mistake::Race(race) => {
                racing.extend([&race.first, &race.second].map(|side| side.spot.place.instruction));
                found.insert(place(&race.memory, race.second.spot.block[0]));
            }
            Mistake::Uninitialised { by, memory } => {
                reads.insert((by.spot.place.instruction, place(&memory, by.spot.block[0])));
            }
            Mistake::Synchronisation { .. } => panic!("{}\n{text}", mistake.problem()),
        }
    }
    let unwritten = uninitialised(&both.trace);
    assert!(reads.is_subset(&unwritten), "{reads:x?} of {unwritten:x?}\n{text}");
    // Those that race with who writes there are not told.
    let instructions = |of: &BTreeSet<(u32, _)>| of.iter().map(|(at, _)| *at).collect();
    let (told, all): (BTreeSet<u32>, BTreeSet<u32>) =
        (instructions(&reads), instructions(&unwritten));
    assert!(all.difference(&told).all(|at| racing.contains(at)), "{told:?} of {all:?}\n{text}");
    (found, races(&both.trace, program.module()), both.trace.events)
}

/// Instructions that read words of shared memory which no thread of the block has written, and
/// these.
fn uninitialised(trace: &Trace) -> BTreeSet<(u32, (u64, u64))> {
    let (mut written, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (_, what) in &trace.events {
        let What::Access { place, kind, site } = what else { continue };
        if *kind != Kind::Store && place.0 > 0 && !written.contains(place) {
            found.insert((site.instruction, *place));
        }
        if *kind != Kind::Load {
            written.insert(*place);
        }
    }
    found
}

/// All that is found is a race, whatever the schedule; and nearly all races are found: of accesses
/// that do not race with each other, the detector remembers only some. What reads uninitialised
/// shared memory is found exactly.
#[test]
fn what_is_found_is_what_the_axioms_say() {
    const CASES: u32 = 4000;
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (mut all, mut silent) = (0, 0);
    let (mut missed, mut wrong) = (Examples::default(), Examples::default());
    for _ in 0..CASES {
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let (found, expected, events) = execute(&plan);
        wrong.add(found.difference(&expected), &plan, &events);
        missed.add(expected.difference(&found), &plan, &events);
        all += expected.len();
        silent += usize::from(expected.is_empty());
    }
    assert_eq!(wrong.count, 0, "no race: {}", wrong.smallest());
    println!("{} of {all} races missed; {silent} executions of {CASES} without", missed.count);
    assert!(all > 1000 && silent > 100);
    assert!(missed.count * 30 <= all, "{} of {all} missed: {}", missed.count, missed.smallest());
}

/// Where detector and axioms differ.
#[derive(Default)]
struct Examples {
    count: usize,
    smallest: Option<(usize, String)>,
}

impl Examples {
    fn add<'a>(
        &mut self,
        places: impl Iterator<Item = &'a (u64, u64)>,
        plan: &Plan,
        events: &[(Thread, What)],
    ) {
        let places: Vec<_> = places.collect();
        self.count += places.len();
        let is_smaller = |(size, _): &(usize, String)| events.len() < *size;
        if !places.is_empty() && self.smallest.as_ref().is_none_or(is_smaller) {
            let listed = events.iter().map(|event| format!("{event:?}\n")).collect::<String>();
            self.smallest = Some((events.len(), format!("{places:?}\n{}\n{listed}", plan.ptx())));
        }
    }

    fn smallest(&self) -> &str {
        self.smallest.as_ref().map_or("", |(_, text)| text)
    }
}
