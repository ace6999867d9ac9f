//! Random programs of OpenSHMEM, and which of their steps race.
//!
//! Steps are drawn in one order in which all of them can be executed, so that a program ends:
//! whoever waits for something does so after it was drawn. The model is a graph, as in `model.rs`:
//! each step has a beginning and an end, and so has what it does at another PE (OpenSHMEM 1.4
//! §9.10). commsan claims more order where atomics and fences are concerned; of such edges all are
//! there at once, and a race that only they prevent may be found or not.

use crate::generate::Random;
use crate::model::{Race, Verdict};
use commsan_findings::Code;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Elements of each PE that race.
const ELEMENTS: usize = 4;

/// What a PE does. Elements are its own, or those of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Load(usize),
    Store(usize),
    Put(usize, usize),
    PutNbi(usize, usize),
    Get(usize, usize),
    GetNbi(usize, usize),
    Add(usize, usize),
    Fetch(usize, usize),
    Quiet,
    Fence,
    /// Sets a flag at a target, by a put or by an atomic.
    Signal(usize, usize),
    Set(usize, usize),
    Wait(usize),
    /// A message of MPI with a tag.
    Send(usize, usize),
    Receive(usize, usize),
    Barrier,
    Sync,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    rank: usize,
    act: Act,
}

/// A program's steps, in an order in which they can be executed.
#[derive(Clone, Debug)]
pub struct Script {
    pub seed: u64,
    pub ranks: usize,
    steps: Vec<Step>,
}

impl Script {
    /// The script of a seed.
    pub fn new(seed: u64, ranks: usize) -> Script {
        let mut random = Random::new(seed ^ 0x5e77);
        let mut script = Script { seed, ranks, steps: Vec::new() };
        let mut names = 0;
        for _ in 0..6 + random.below(14) {
            let rank = random.below(ranks);
            let other = (rank + 1 + random.below(ranks - 1)) % ranks;
            let at = random.below(ELEMENTS);
            let far = [
                Act::Put(other, at),
                Act::Put(other, at),
                Act::PutNbi(other, at),
                Act::Get(other, at),
                Act::GetNbi(other, at),
                Act::Add(other, at),
                Act::Fetch(other, at),
            ];
            match random.below(24) {
                0..3 => script.push(rank, Act::Load(at)),
                3..6 => script.push(rank, Act::Store(at)),
                6..13 => {
                    script.push(rank, random.one(&far));
                    if random.chance(40) {
                        script.push(rank, random.one(&[Act::Quiet, Act::Fence]));
                    }
                }
                13 => script.push(rank, Act::Quiet),
                14 => script.push(rank, Act::Fence),
                15..19 => {
                    let signal = random.one(&[Act::Signal(other, names), Act::Set(other, names)]);
                    script.push(rank, signal);
                    script.push(other, Act::Wait(names));
                    names += 1;
                }
                19..21 => {
                    script.push(rank, Act::Send(other, names));
                    script.push(other, Act::Receive(rank, names));
                    names += 1;
                }
                _ => {
                    let act = random.one(&[Act::Barrier, Act::Sync]);
                    (0..ranks).for_each(|rank| script.push(rank, act));
                }
            }
        }
        script
    }

    fn push(&mut self, rank: usize, act: Act) {
        self.steps.push(Step { rank, act });
    }

    /// The races of its steps, each named by 0 and its number.
    pub fn races(&self) -> BTreeMap<Race, Verdict> {
        let [certain, all] = [self.order(false), self.order(true)];
        let uses = self.uses();
        let mut races = BTreeMap::new();
        for (at, a) in uses.iter().enumerate() {
            for b in &uses[at + 1..] {
                let Some(code) = a.collides(b) else { continue };
                let ordered = |order: &[Vec<bool>]| order[a.to][b.from] || order[b.to][a.from];
                if ordered(&certain) {
                    continue;
                }
                // Of several uses that come after each other, the last may stand for all.
                let hidden = |one: &Use| {
                    uses.iter().any(|other| {
                        let same = (one.owner, one.element) == (other.owner, other.element);
                        let after = all[one.to][other.from] || one.rank == other.rank;
                        same && other.step != one.step && after && (other.write || !one.write)
                    })
                };
                let sure = !ordered(&all) && !hidden(a) && !hidden(b);
                let (first, second) = if a.is_far() { (b, a) } else { (a, b) };
                let verdict = if sure { Verdict::Certain } else { Verdict::Possible };
                races.insert(Race::new(code, (0, first.step), (0, second.step)), verdict);
            }
        }
        races
    }

    fn uses(&self) -> Vec<Use> {
        let count = self.steps.len();
        let uses = self.steps.iter().enumerate().filter_map(|(step, Step { rank, act })| {
            let (owner, element, write) = match *act {
                Act::Load(element) => (*rank, element, false),
                Act::Store(element) => (*rank, element, true),
                Act::Get(to, at) | Act::GetNbi(to, at) | Act::Fetch(to, at) => (to, at, false),
                Act::Put(to, at) | Act::PutNbi(to, at) | Act::Add(to, at) => (to, at, true),
                _ => return None,
            };
            let (from, to) = match owner != *rank {
                true => (2 * (count + step), 2 * (count + step) + 1),
                false => (2 * step, 2 * step + 1),
            };
            let atomic = matches!(act, Act::Add(..) | Act::Fetch(..));
            Some(Use { step, rank: *rank, owner, element, write, atomic, from, to })
        });
        uses.collect()
    }

    /// For each two nodes, whether one leads to the other: beginnings and ends of steps, then of
    /// what they do at other PEs.
    fn order(&self, possible: bool) -> Vec<Vec<bool>> {
        let count = self.steps.len();
        let (begin, end) = (|step: usize| 2 * step, |step: usize| 2 * step + 1);
        let (from, to) = (|step: usize| 2 * (count + step), |step: usize| 2 * (count + step) + 1);
        let mut leads = vec![vec![false; 4 * count]; 4 * count];
        for (a, Step { rank, act }) in self.steps.iter().copied().enumerate() {
            leads[begin(a)][end(a)] = true;
            leads[begin(a)][from(a)] = true;
            leads[from(a)][to(a)] = true;
            leads[to(a)][end(a)] = matches!(act, Act::Get(..) | Act::Fetch(..));
            for (b, other) in self.steps.iter().enumerate() {
                let later = a < b && rank == other.rank;
                leads[end(a)][begin(b)] |= later;
                if later && matches!(other.act, Act::Quiet | Act::Barrier) {
                    leads[to(a)][end(b)] = true;
                    // A barrier is left when all have completed what they had started.
                    for c in (0..count).filter(|c| self.meet(b, *c)) {
                        leads[to(a)][end(c)] = true;
                    }
                }
                leads[begin(a)][end(b)] |= self.meet(a, b);
                match (act, other.act) {
                    (Act::Signal(_, name) | Act::Set(_, name), Act::Wait(other)) => {
                        leads[to(a)][end(b)] |= name == other;
                    }
                    (Act::Send(_, name), Act::Receive(_, other)) => {
                        leads[begin(a)][end(b)] |= name == other;
                    }
                    // Whoever fetches is taken to have seen whatever was stored there.
                    (a_act, Act::Fetch(target, at)) if possible && a_act.stores(target, at) => {
                        leads[begin(a)][end(b)] = true;
                    }
                    _ => {}
                }
            }
            self.add_fences(a, possible, &mut leads);
        }
        for middle in 0..leads.len() {
            let onward = leads[middle].clone();
            for row in leads.iter_mut().filter(|row| row[middle]) {
                row.iter_mut().zip(&onward).for_each(|(leads, on)| *leads |= on);
            }
        }
        leads
    }

    /// What a step does at a PE precedes there what the same PE starts there after a fence.
    fn add_fences(&self, a: usize, possible: bool, leads: &mut [Vec<bool>]) {
        let count = self.steps.len();
        let Step { rank, act } = self.steps[a];
        let own = (a + 1..count).filter(|step| self.steps[*step].rank == rank);
        let Some(target) = act.target().filter(|_| !matches!(act, Act::GetNbi(..))) else { return };
        let Some(fence) = own.clone().find(|step| self.steps[*step].act == Act::Fence) else {
            return;
        };
        for c in own.filter(|step| *step > fence && self.steps[*step].act.target() == Some(target))
        {
            leads[2 * (count + a) + 1][2 * (count + c)] = true;
            // Whoever comes after that is taken to have seen it.
            leads[2 * (count + a) + 1][2 * c + 1] |= possible;
        }
    }

    /// Whether two steps are the same collective.
    fn meet(&self, a: usize, b: usize) -> bool {
        let is_collective = |step: &Step| matches!(step.act, Act::Barrier | Act::Sync);
        let number = |at: usize| {
            let before = &self.steps[..at];
            let rank = self.steps[at].rank;
            before.iter().filter(|step| step.rank == rank && is_collective(step)).count()
        };
        a != b
            && is_collective(&self.steps[a])
            && is_collective(&self.steps[b])
            && number(a) == number(b)
    }
}

impl Act {
    fn target(self) -> Option<usize> {
        use Act::*;
        match self {
            Put(to, _) | PutNbi(to, _) | Get(to, _) | GetNbi(to, _) => Some(to),
            Add(to, _) | Fetch(to, _) | Signal(to, _) | Set(to, _) => Some(to),
            _ => None,
        }
    }

    /// Whether it stores to an element of a PE.
    fn stores(self, target: usize, at: usize) -> bool {
        use Act::*;
        matches!(self, Put(to, of) | PutNbi(to, of) | Add(to, of) if (to, of) == (target, at))
    }
}

/// A use of an element of a PE, from a node to a node.
struct Use {
    step: usize,
    rank: usize,
    owner: usize,
    element: usize,
    write: bool,
    atomic: bool,
    from: usize,
    to: usize,
}

impl Use {
    fn is_far(&self) -> bool {
        self.rank != self.owner
    }

    /// What kind of mistake it would be if these two were at the same time.
    fn collides(&self, other: &Use) -> Option<Code> {
        let same = (self.owner, self.element) == (other.owner, other.element);
        let far = usize::from(self.is_far()) + usize::from(other.is_far());
        let harmless = !self.write && !other.write || self.atomic && other.atomic;
        if !same || harmless || far == 0 {
            return None;
        }
        Some(if far == 2 { Code::TargetRace } else { Code::WindowAccessRace })
    }
}

/// Scripts as a C program, in which each step has a line of its own.
pub struct Program {
    pub text: String,
    /// Script and step.
    pub lines: BTreeMap<u32, (usize, (usize, usize))>,
}

const BEGIN: &str = "\
#include <mpi.h>
#include <shmem.h>
static long window[4], flags[32], buffer[128];
static int rank;
// What the compiler knows of memory does not outlast a step.
#define STEP(...) do { __VA_ARGS__; __asm__ volatile(\"\" ::: \"memory\"); } while (0)
";

impl Program {
    pub fn new(scripts: &[Script]) -> Program {
        let mut program = Program { text: BEGIN.to_owned(), lines: BTreeMap::new() };
        for (number, script) in scripts.iter().enumerate() {
            for rank in 0..script.ranks {
                program.add(&format!("static void script_{number}_{rank}(void) {{"));
                for (index, step) in script.steps.iter().enumerate() {
                    if step.rank == rank {
                        program.add(&format!("  STEP({});", statement(step.act, index, number)));
                        let line = program.text.lines().count() as u32;
                        program.lines.insert(line, (number, (0, index)));
                    }
                }
                program.add("}");
            }
        }
        program.add("int main(void) {\n  shmem_init();\n  rank = shmem_my_pe();");
        for (number, script) in scripts.iter().enumerate() {
            program.add(&format!("  // {}", script.seed));
            program.add("  shmem_barrier_all();\n  for (int i = 0; i < 32; i++) flags[i] = 0;");
            program.add("  for (int i = 0; i < 128; i++) buffer[i] = i + 1;");
            program.add("  shmem_barrier_all();");
            for rank in 0..script.ranks {
                program.add(&format!("  if (rank == {rank}) script_{number}_{rank}();"));
            }
            program.add("  shmem_barrier_all();");
        }
        program.add("  shmem_finalize();\n  return 0;\n}");
        program
    }

    fn add(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }
}

fn statement(act: Act, index: usize, number: usize) -> String {
    let buffer = format!("&buffer[{index}]");
    let tag = |name: usize| 100 * number + name;
    let far = |call: &str, to: usize, at: usize| match call.contains("get") {
        true => format!("{call}({buffer}, &window[{at}], 1, {to})"),
        false => format!("{call}(&window[{at}], {buffer}, 1, {to})"),
    };
    match act {
        Act::Load(at) => format!("buffer[{index}] = window[{at}]"),
        Act::Store(at) => format!("window[{at}] = {index}"),
        Act::Put(to, at) => far("shmem_long_put", to, at),
        Act::PutNbi(to, at) => far("shmem_long_put_nbi", to, at),
        Act::Get(to, at) => far("shmem_long_get", to, at),
        Act::GetNbi(to, at) => far("shmem_long_get_nbi", to, at),
        Act::Add(to, at) => format!("shmem_long_atomic_add(&window[{at}], {index}, {to})"),
        Act::Fetch(to, at) => format!("shmem_long_atomic_fetch(&window[{at}], {to})"),
        Act::Quiet => "shmem_quiet()".to_owned(),
        Act::Fence => "shmem_fence()".to_owned(),
        Act::Signal(to, name) => format!("shmem_long_p(&flags[{name}], 1, {to})"),
        Act::Set(to, name) => format!("shmem_long_atomic_set(&flags[{name}], 1, {to})"),
        Act::Wait(name) => format!("shmem_long_wait_until(&flags[{name}], SHMEM_CMP_EQ, 1)"),
        Act::Send(to, name) => {
            format!("MPI_Send({buffer}, 1, MPI_LONG, {to}, {}, MPI_COMM_WORLD)", tag(name))
        }
        Act::Receive(from, name) => {
            let status = "MPI_COMM_WORLD, MPI_STATUS_IGNORE";
            format!("MPI_Recv({buffer}, 1, MPI_LONG, {from}, {}, {status})", tag(name))
        }
        Act::Barrier => "shmem_barrier_all()".to_owned(),
        Act::Sync => "shmem_sync_all()".to_owned(),
    }
}
