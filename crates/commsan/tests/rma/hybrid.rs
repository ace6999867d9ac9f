//! Random programs with one-sided communication of ranks with two threads, and which of their steps
//! race. In every third program the two are sections, in another third tasks of OpenMP, which one
//! thread may happen to run one after the other: they are as unordered as threads.
//!
//! Steps are drawn in one order in which all of them can be executed, so that a program ends:
//! whoever waits for something does so after it was drawn. The model is a graph, as in `model.rs`:
//! what synchronises is an edge from the beginning of one step to the end of another. commsan
//! claims more order in places that `docs/threads.md` names; of such edges all are there at once,
//! and a race that only they prevent may be found or not.

use crate::generate::Random;
use crate::model::{Race, Verdict};
use commsan_findings::Code;
use std::collections::BTreeMap;
use std::fmt::Write;

const THREADS: usize = 2;
/// Elements of a rank's window.
const ELEMENTS: usize = 4;

/// What the two are that a rank does at the same time; called threads everywhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strands {
    Threads,
    Sections,
    Tasks,
}

/// What a thread does. Elements are of the own window, or of the target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Load(usize),
    Store(usize),
    Put(usize, usize),
    Get(usize, usize),
    Flush(usize),
    /// To another thread of the rank, by a semaphore.
    Post(usize),
    Wait(usize),
    /// To a rank, with a tag.
    Send(usize, usize),
    Receive(usize, usize),
    Barrier,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    rank: usize,
    thread: usize,
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
        let mut random = Random::new(seed ^ 0x4b1d);
        let mut script = Script { seed, ranks, steps: Vec::new() };
        let (mut names, mut has_met) = (0, false);
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        for _ in 0..6 + random.below(12) {
            let (rank, thread) = (random.below(ranks), random.below(THREADS));
            let other = (rank + 1 + random.below(ranks - 1)) % ranks;
            let element = random.below(ELEMENTS);
            names += 1;
            match random.below(20) {
                0..3 => script.push(rank, thread, Act::Load(element)),
                3..6 => script.push(rank, thread, Act::Store(element)),
                6..12 => {
                    let act = random.one(&[Act::Put(other, element), Act::Get(other, element)]);
                    script.push(rank, thread, act);
                    match random.chance(80) {
                        true => script.push(rank, thread, Act::Flush(other)),
                        false => open.push((rank, thread, other)),
                    }
                }
                12..15 => {
                    script.push(rank, thread, Act::Post(names));
                    script.push(rank, 1 - thread, Act::Wait(names));
                }
                15 if !has_met => {
                    has_met = true;
                    for rank in 0..ranks {
                        script.push(rank, random.below(THREADS), Act::Barrier);
                    }
                }
                _ => {
                    script.push(rank, thread, Act::Send(other, names));
                    script.push(other, random.below(THREADS), Act::Receive(rank, names));
                }
            }
        }
        for (rank, thread, target) in open {
            script.push(rank, thread, Act::Flush(target));
        }
        script
    }

    fn strands(&self) -> Strands {
        match self.seed % 3 {
            0 => Strands::Threads,
            1 => Strands::Sections,
            _ => Strands::Tasks,
        }
    }

    fn push(&mut self, rank: usize, thread: usize, act: Act) {
        self.steps.push(Step { rank, thread, act });
    }

    /// The races of its steps, each named by 0 and its number.
    pub fn races(&self) -> BTreeMap<Race, Verdict> {
        let [certain, all] = [self.order(false), self.order(true)];
        let uses = self.uses();
        let mut races = BTreeMap::new();
        for (at, a) in uses.iter().enumerate() {
            for b in &uses[at + 1..] {
                let Some(code) = a.collides(b) else { continue };
                let is_before = |order: &[Vec<bool>], a: &Use, b: &Use| order[a.to][b.from];
                let ordered =
                    |order: &[Vec<bool>]| is_before(order, a, b) || is_before(order, b, a);
                if ordered(&certain) {
                    continue;
                }
                // Of several like it the last stands for all; the threads of one origin are
                // compared as far as they are remembered.
                let hidden = |one: &Use| uses.iter().filter(|other| other.is_like(one)).count() > 1;
                let sure = !ordered(&all) && !hidden(a) && !hidden(b) && a.rank != b.rank;
                let (first, second) = if a.is_far() { (b, a) } else { (a, b) };
                let verdict = if sure { Verdict::Certain } else { Verdict::Possible };
                races.insert(Race::new(code, (0, first.step), (0, second.step)), verdict);
            }
        }
        races
    }

    /// All uses of window memory.
    fn uses(&self) -> Vec<Use> {
        let count = self.steps.len();
        let uses = self.steps.iter().enumerate().filter_map(|(step, Step { rank, act, .. })| {
            let (owner, element, write) = match *act {
                Act::Load(element) => (*rank, element, false),
                Act::Store(element) => (*rank, element, true),
                Act::Get(target, element) => (target, element, false),
                Act::Put(target, element) => (target, element, true),
                _ => return None,
            };
            let is_far = owner != *rank;
            let (from, to) = if is_far {
                (2 * count + 2 * step, 2 * count + 2 * step + 1)
            } else {
                (2 * step, 2 * step + 1)
            };
            Some(Use { step, rank: *rank, owner, element, write, from, to })
        });
        uses.collect()
    }

    /// For each two nodes, whether one leads to the other: beginnings and ends of steps, then of
    /// the operations that they start.
    fn order(&self, possible: bool) -> Vec<Vec<bool>> {
        let count = self.steps.len();
        let (begin, end) = (|step: usize| 2 * step, |step: usize| 2 * step + 1);
        let (from, to) = (|step: usize| 2 * (count + step), |step: usize| 2 * (count + step) + 1);
        let mut leads = vec![vec![false; 4 * count]; 4 * count];
        for (a, one) in self.steps.iter().enumerate() {
            leads[begin(a)][end(a)] = true;
            leads[begin(a)][from(a)] = true;
            leads[from(a)][to(a)] = true;
            for (b, other) in self.steps.iter().enumerate().filter(|(b, _)| *b != a) {
                let same_rank = one.rank == other.rank;
                let same_thread = same_rank && one.thread == other.thread;
                leads[end(a)][begin(b)] |= same_thread && a < b;
                leads[begin(a)][end(b)] |= match (one.act, other.act) {
                    (Act::Post(name), Act::Wait(other)) => name == other,
                    (Act::Send(_, name), Act::Receive(_, other)) => name == other,
                    (Act::Barrier, Act::Barrier) => true,
                    // Threads may synchronise by way of other ranks.
                    (a, b) => possible && same_rank && a.releases() && b.acquires(),
                };
                // What one thread has happened to do before it sends, others take to be before it.
                if possible && same_rank && self.strands() != Strands::Threads {
                    leads[end(a)][begin(b)] |= a < b && other.act.releases();
                }
                if let (Some(target), Act::Flush(flushed)) = (one.act.target(), other.act)
                    && target == flushed
                    && same_rank
                    && (same_thread && a < b || possible)
                {
                    leads[to(a)][end(b)] = true;
                }
            }
        }
        for middle in 0..leads.len() {
            let onward = leads[middle].clone();
            for row in leads.iter_mut().filter(|row| row[middle]) {
                row.iter_mut().zip(&onward).for_each(|(leads, on)| *leads |= on);
            }
        }
        leads
    }
}

impl Act {
    fn target(self) -> Option<usize> {
        match self {
            Act::Put(target, _) | Act::Get(target, _) => Some(target),
            _ => None,
        }
    }

    fn releases(self) -> bool {
        matches!(self, Act::Put(..) | Act::Get(..) | Act::Flush(_) | Act::Send(..) | Act::Barrier)
    }

    fn acquires(self) -> bool {
        matches!(self, Act::Flush(_) | Act::Receive(..) | Act::Barrier)
    }
}

/// A use of an element of a rank's window, from a node to a node.
struct Use {
    step: usize,
    rank: usize,
    owner: usize,
    element: usize,
    write: bool,
    from: usize,
    to: usize,
}

impl Use {
    fn is_far(&self) -> bool {
        self.rank != self.owner
    }

    fn is_like(&self, other: &Use) -> bool {
        (self.rank, self.owner, self.element) == (other.rank, other.owner, other.element)
    }

    /// What kind of mistake it would be if these two were at the same time.
    fn collides(&self, other: &Use) -> Option<Code> {
        let same = (self.owner, self.element) == (other.owner, other.element);
        let far = usize::from(self.is_far()) + usize::from(other.is_far());
        if !same || !self.write && !other.write || far == 0 {
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
#include <omp.h>
#include <semaphore.h>
#include <unistd.h>
static int window[4], buffer[128];
static sem_t semaphores[64];
static MPI_Win win;
static int rank;
// What the compiler knows of memory does not outlast a step.
#define STEP(...) do { __VA_ARGS__; __asm__ volatile(\"\" ::: \"memory\"); } while (0)
";

impl Program {
    pub fn new(scripts: &[Script]) -> Program {
        let mut program = Program { text: BEGIN.to_owned(), lines: BTreeMap::new() };
        for (number, script) in scripts.iter().enumerate() {
            for (rank, thread) in (0..script.ranks * THREADS).map(|n| (n / THREADS, n % THREADS)) {
                program.add(&format!("static void script_{number}_{rank}_{thread}(void) {{"));
                for (index, step) in script.steps.iter().enumerate() {
                    if (step.rank, step.thread) == (rank, thread) {
                        program.add(&format!("  STEP({});", statement(step.act, index, number)));
                        let line = program.text.lines().count() as u32;
                        program.lines.insert(line, (number, (0, index)));
                    }
                }
                program.add("}");
            }
        }
        program.add("int main(int argc, char **argv) {\n  int provided;");
        program.add("  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);");
        program.add("  MPI_Comm_rank(MPI_COMM_WORLD, &rank);");
        for (number, script) in scripts.iter().enumerate() {
            program.call(number, script);
        }
        program.add("  MPI_Finalize();\n  return 0;\n}");
        program
    }

    /// Opens the window of a script, has each thread, section or task do its part, and closes it.
    fn call(&mut self, number: usize, script: &Script) {
        self.add(&format!("  // {}", script.seed));
        self.add("  for (int i = 0; i < 64; i++) sem_init(&semaphores[i], 0, 0);");
        self.add("  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);");
        self.add("  MPI_Win_lock_all(0, win);\n  MPI_Barrier(MPI_COMM_WORLD);");
        self.add("#pragma omp parallel num_threads(2)");
        let parts = |program: &mut Program, before: &str| {
            for thread in 0..THREADS {
                program.add(&before.replace("THREAD", &thread.to_string()));
                program.add("  switch (rank) {");
                for rank in 0..script.ranks {
                    program
                        .add(&format!("  case {rank}: script_{number}_{rank}_{thread}(); break;"));
                }
                program.add("  }");
            }
        };
        // A thread that comes late finds that the other one has begun both parts, unless that
        // waits.
        let late = "  {\n  if (omp_get_thread_num() == 1) usleep(1000);";
        match script.strands() {
            Strands::Threads => {
                self.add("  {");
                parts(self, "  if (omp_get_thread_num() == THREAD)");
            }
            Strands::Sections => {
                self.add(&format!("{late}\n#pragma omp sections\n  {{"));
                parts(self, "#pragma omp section");
                self.add("  }");
            }
            Strands::Tasks => {
                self.add(&format!("{late}\n#pragma omp single\n  {{"));
                parts(self, "#pragma omp task");
                self.add("  }");
            }
        }
        self.add("  }\n  MPI_Barrier(MPI_COMM_WORLD);");
        self.add("  MPI_Win_unlock_all(win);\n  MPI_Win_free(&win);");
    }

    fn add(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }
}

fn statement(act: Act, index: usize, number: usize) -> String {
    let tag = |name: usize| 100 * number + name;
    let buffer = format!("&buffer[{index}], 1, MPI_INT");
    match act {
        Act::Load(element) => format!("buffer[{index}] = window[{element}]"),
        Act::Store(element) => format!("window[{element}] = {index}"),
        Act::Put(to, at) => format!("MPI_Put({buffer}, {to}, {at}, 1, MPI_INT, win)"),
        Act::Get(from, at) => format!("MPI_Get({buffer}, {from}, {at}, 1, MPI_INT, win)"),
        Act::Flush(target) => format!("MPI_Win_flush({target}, win)"),
        Act::Post(name) => format!("sem_post(&semaphores[{name}])"),
        Act::Wait(name) => format!("sem_wait(&semaphores[{name}])"),
        Act::Send(to, name) => format!("MPI_Send({buffer}, {to}, {}, MPI_COMM_WORLD)", tag(name)),
        Act::Receive(from, name) => {
            let status = "MPI_COMM_WORLD, MPI_STATUS_IGNORE";
            format!("MPI_Recv({buffer}, {from}, {}, {status})", tag(name))
        }
        Act::Barrier => "MPI_Barrier(MPI_COMM_WORLD)".to_owned(),
    }
}
