//! Random hybrid programs with worksharing constructs, on both MPI libraries, against a model whose
//! tasks are logical: sections and iterations, whichever threads take them.
//!
//! A program consists of regions of two threads. Each region is one construct over some arrays; each
//! of its pieces makes one access, by a call of MPI or without, perhaps in a critical section, and
//! takes a random time, so that threads share the pieces out differently in each run. The model does
//! not know how: what it expects, it expects of all.
//!
//! Expected is a finding for each two pieces of which one is a call, one writes to what the other one
//! accesses, and nothing orders them. commsan may take them for ordered where further pieces that
//! synchronise carry what a thread did before: [`Model::Possible`].

#[path = "cases/tools.rs"]
#[allow(dead_code, reason = "only the distribution's libraries are used")]
mod tools;

use commsan_test_cases::Case;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tools::{Mpi, Tools};

const PROGRAMS: u64 = 3;
const REGIONS: usize = 40;
const THREADS: usize = 2;

/// What distributes the pieces of a region, or whose memory they use.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sections,
    Dynamic,
    Guided,
    Runtime,
    /// Piece `i` is thread `i % THREADS`'s.
    Static,
    /// Each thread has arrays of its own, by its number.
    ByNumber,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Access {
    Load,
    Store,
    Send,
    Receive,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    access: Access,
    array: usize,
    is_critical: bool,
    microseconds: u64,
}

#[derive(Debug)]
struct Region {
    kind: Kind,
    pieces: Vec<Piece>,
}

/// What is expected of two pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Ordered,
    Possible,
    Certain,
}

/// Numbers that look random (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn region(&mut self) -> Region {
        let kinds = [
            Kind::Sections,
            Kind::Dynamic,
            Kind::Guided,
            Kind::Runtime,
            Kind::Static,
            Kind::ByNumber,
        ];
        let kind = kinds[self.below(6) as usize];
        let pieces = (0..3 + self.below(3)).map(|_| self.piece()).collect();
        Region { kind, pieces }
    }

    fn piece(&mut self) -> Piece {
        let accesses = [
            Access::Load,
            Access::Store,
            Access::Load,
            Access::Store,
            Access::Send,
            Access::Receive,
        ];
        Piece {
            access: accesses[self.below(6) as usize],
            array: self.below(2) as usize,
            is_critical: self.below(4) == 0,
            microseconds: self.below(4) * 150,
        }
    }
}

impl Piece {
    fn is_call(&self) -> bool {
        matches!(self.access, Access::Send | Access::Receive)
    }

    fn writes(&self) -> bool {
        matches!(self.access, Access::Store | Access::Receive)
    }

    /// The piece as one line of C; `array` says where arrays are.
    fn line(&self, number: usize, array: &str) -> String {
        let at = format!("{array}{}", self.array);
        let call = |from: &str, to: &str| {
            format!(
                "MPI_Sendrecv({from}, N, MPI_INT, 0, {number}, {to}, N, MPI_INT, 0, {number}, \
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);"
            )
        };
        // Plain accesses to different granules, so that none hides another.
        let action = match self.access {
            Access::Load => format!("other[0] += {at}[{}];", 4 * number),
            Access::Store => format!("{at}[{}] = 1;", 4 * number),
            Access::Send => call(&at, "other"),
            Access::Receive => call("zeros", &at),
        };
        let pause = format!("usleep({}); ", self.microseconds);
        match self.is_critical {
            true => format!("_Pragma(\"omp critical\") {{ {action} }} {pause}"),
            false => format!("{action} {pause}"),
        }
    }
}

impl Region {
    fn model(&self, first: usize, second: usize) -> Model {
        let (a, b) = (self.pieces[first], self.pieces[second]);
        let conflict =
            a.array == b.array && (a.writes() || b.writes()) && (a.is_call() || b.is_call());
        let by_program = match self.kind {
            Kind::ByNumber => true,
            Kind::Static => first % THREADS == second % THREADS,
            _ => false,
        };
        if !conflict || by_program || a.is_critical && b.is_critical {
            return Model::Ordered;
        }
        // A message orders threads, too.
        let others = self.pieces.iter().enumerate().filter(|(i, _)| *i != first && *i != second);
        let linking = others.filter(|(_, piece)| piece.is_critical || piece.is_call()).count();
        match linking {
            0 => Model::Certain,
            1 if !a.is_critical && !b.is_critical => Model::Certain,
            _ => Model::Possible,
        }
    }
}

/// The program, and for each line that is a piece its region and number.
fn program(regions: &[Region]) -> (String, BTreeMap<u32, (usize, usize)>) {
    let mut text = String::from(
        "#include <mpi.h>\n#include <omp.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         enum { N = 64 };\nstatic int zeros[N];\nvolatile int sink;\n",
    );
    let mut lines = BTreeMap::new();
    for (index, region) in regions.iter().enumerate() {
        let (each, array) = match region.kind {
            Kind::ByNumber => ("[2]", "own"),
            _ => ("", "array"),
        };
        // Variables of modules, blocks, and variables of the function that opens the region.
        let memory = match (index % 3, region.kind) {
            (0, _) | (_, Kind::ByNumber) => format!("static int array0{each}[N], array1{each}[N];"),
            (1, _) => "int *array0 = calloc(N, 4), *array1 = calloc(N, 4);".to_owned(),
            _ => "int array0[N] = {0}, array1[N] = {0};".to_owned(),
        };
        let own = match region.kind {
            Kind::ByNumber => {
                "int *own0 = array0[omp_get_thread_num()], *own1 = array1[omp_get_thread_num()]; \
                 (void)own0, (void)own1;"
            }
            _ => "",
        };
        let schedule = match region.kind {
            Kind::Guided => "guided",
            Kind::Runtime => "runtime",
            Kind::Static => "static, 1",
            _ => "dynamic",
        };
        let is_sections = region.kind == Kind::Sections;
        let construct = match is_sections {
            true => "#pragma omp parallel sections num_threads(2)\n{".to_owned(),
            false => format!(
                "#pragma omp parallel for schedule({schedule}) num_threads(2)\n\
                 for (int i = 0; i < {}; i++) {{ int other[N] = {{0}}; {own}",
                region.pieces.len()
            ),
        };
        let _ = write!(text, "static void region{index}(void) {{\n{memory}\n{construct}\n");
        for (number, piece) in region.pieces.iter().enumerate() {
            let line = piece.line(number, array);
            if is_sections {
                text += "#pragma omp section\n";
            }
            lines.insert(text.lines().count() as u32 + 1, (index, number));
            let _ = match is_sections {
                true => writeln!(text, "{{ int other[N] = {{0}}; {line} sink = other[0]; }}"),
                false => writeln!(text, "if (i == {number}) {{ {line} sink = other[0]; }}"),
            };
        }
        text += "}\nsink = array0[0] + array1[0];\n}\n";
        if region.kind == Kind::ByNumber {
            text =
                text.replace("sink = array0[0] + array1[0]", "sink = array0[0][0] + array1[0][0]");
        }
    }
    text += "int main(int argc, char **argv) {\nint provided;\n\
             MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);\n\
             omp_set_schedule(omp_sched_dynamic, 1);\n";
    (0..regions.len()).for_each(|index| _ = writeln!(text, "region{index}();"));
    text += "MPI_Finalize();\nreturn 0;\n}\n";
    (text, lines)
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = Arc::new(repository.canonicalize().unwrap_or(repository));
    let tools = match Tools::find(&repository, &Mpi::DISTRIBUTED) {
        Ok(tools) => Arc::new(tools),
        Err(missing) => {
            let trial = Trial::test("tools", move || Err(missing.into()));
            return libtest_mimic::run(&arguments, vec![trial]).exit_code();
        }
    };
    let mut trials = Vec::new();
    for seed in 0..PROGRAMS {
        for mpi in Mpi::DISTRIBUTED {
            let (tools, repository) = (Arc::clone(&tools), Arc::clone(&repository));
            let trial = move || check(&tools, &repository, mpi, seed);
            trials.push(Trial::test(format!("program {seed} [{}]", mpi.name()), trial));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs a program and compares its findings with the model.
fn check(tools: &Tools, repository: &Path, mpi: Mpi, seed: u64) -> Result<(), Failed> {
    let mut random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let regions: Vec<Region> = (0..REGIONS).map(|_| random.region()).collect();
    let (text, lines) = program(&regions);
    let name = format!("worksharing/{seed}");
    let directory = repository.join("target/cases").join(&name);
    std::fs::create_dir_all(&directory)?;
    let case = Case {
        nodes: 1,
        name,
        source: directory.join(format!("{}.c", mpi.name())),
        ranks: 1,
        flags: vec!["-fopenmp".to_owned()],
        levels: Vec::new(),
        args: Vec::new(),
        options: Vec::new(),
        mpi: None,
        devices_only: false,
        compiler: None,
        devices: 1,
        seed: 0,
        exit: None,
        prints: None,
        marks: Vec::new(),
    };
    std::fs::write(&case.source, &text)?;
    let built = tools.build(&case, mpi)?;
    let run = tools.run(&case, mpi, &built)?;
    if !matches!(run.exit, Some(0 | 66)) {
        return Err(format!("exit {:?}\n$ {}\n{}", run.exit, run.command, run.output).into());
    }
    let found = pairs(&run.directory.join("report.json"), &lines)?;
    let mut problems = Vec::new();
    let mut certain = 0;
    for (index, region) in regions.iter().enumerate() {
        for second in 0..region.pieces.len() {
            for first in 0..second {
                let model = region.model(first, second);
                let is_found = found.contains(&(index, first, second));
                certain += usize::from(model == Model::Certain);
                if is_found && model == Model::Ordered || !is_found && model == Model::Certain {
                    problems.push(format!(
                        "region {index}, pieces {first} and {second}: {model:?}, found: {is_found}\n{region:?}"
                    ));
                }
            }
        }
    }
    if certain < REGIONS / 4 {
        problems.push(format!("only {certain} races are certain"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// The pieces that findings name, as region and numbers in ascending order.
fn pairs(
    report: &Path,
    lines: &BTreeMap<u32, (usize, usize)>,
) -> Result<Vec<(usize, usize, usize)>, String> {
    let text = std::fs::read_to_string(report).map_err(|error| error.to_string())?;
    let mut json: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let findings: Vec<commsan_findings::Finding> =
        serde_json::from_value(json["findings"].take()).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for finding in findings {
        let piece = |site: &commsan_findings::Site| {
            site.stack
                .iter()
                .filter_map(|frame| frame.line)
                .find_map(|line| lines.get(&line))
                .copied()
        };
        let wanted = [commsan_findings::Role::Access, commsan_findings::Role::Operation];
        let sites = finding.sites.iter().filter(|site| wanted.contains(&site.role));
        match sites.map(piece).collect::<Vec<_>>()[..] {
            [Some((region, a)), Some((same, b))] if region == same => {
                found.push((region, a.min(b), a.max(b)));
            }
            _ => return Err(format!("a finding of no two pieces: {finding:?}")),
        }
    }
    Ok(found)
}
