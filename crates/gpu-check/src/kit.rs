//! What a kit and a result file contain.

use commsan_test_cases::Seen;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// Name of the list of a kit's programs, in its directory.
pub const MANIFEST: &str = "manifest.json";
/// Name of the list of PTX instructions with operands and results, in the kit's directory.
/// Optional.
pub const INSTRUCTIONS: &str = "instructions.json";

/// The programs of a kit.
#[derive(Serialize, Deserialize)]
pub struct Manifest {
    /// Version of commsan.
    pub commsan: String,
    /// Programs of `tests/cases`.
    pub cases: Vec<Case>,
    /// Programs that check themselves, run without commsan.
    pub programs: Vec<Program>,
    /// Programs that are timed alone and under commsan.
    pub timings: Vec<Timing>,
}

/// An annotated program.
#[derive(Clone, Serialize, Deserialize)]
pub struct Case {
    /// As `fail/cuda/host_write`; its executable is `cases/NAME/program`.
    pub name: String,
    /// MPI ranks; without MPI, 1.
    pub ranks: u32,
    /// Devices that each rank uses.
    pub devices: u32,
    /// Whether a launcher of MPI starts it.
    pub mpi: bool,
    /// Whether it may hand device memory to MPI.
    pub device_messages: bool,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Options of `commsan run`.
    pub options: Vec<String>,
    /// Base name of its source file.
    pub file: String,
    /// Findings on simulated devices that do not report what kernels access.
    pub expected: BTreeSet<Seen>,
    /// Findings on simulated devices.
    pub simulated: BTreeSet<Seen>,
}

/// A program that ends with 0 if all it checks is right.
#[derive(Clone, Serialize, Deserialize)]
pub struct Program {
    /// Its executable is `programs/NAME`.
    pub name: String,
    /// Devices that it needs.
    pub devices: u32,
}

/// A program that prints `measured SECONDS s`.
#[derive(Clone, Serialize, Deserialize)]
pub struct Timing {
    /// What is measured.
    pub name: String,
    /// Its executable is `timings/PROGRAM`.
    pub program: String,
    /// MPI ranks.
    pub ranks: u32,
    /// Whether it hands device memory to MPI.
    pub device_messages: bool,
    /// Arguments of the program.
    pub args: Vec<String>,
}

/// A PTX instruction, with operands and the results of simulated devices.
#[derive(Serialize, Deserialize)]
pub struct Instruction {
    /// Name of the kernel in `ptx`.
    pub name: String,
    /// A module with the kernel `NAME(in, out)`: each thread of a block reads three words and
    /// writes one.
    pub ptx: String,
    /// Operands of each thread.
    pub input: Vec<[u64; 3]>,
    /// Result of each thread.
    pub output: Vec<u64>,
}

/// Reads a JSON file.
///
/// # Errors
///
/// It cannot be read, or is not what is expected there.
pub fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a JSON file.
///
/// # Errors
///
/// It cannot be written.
pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
    std::fs::write(path, text + "\n").map_err(|e| format!("{}: {e}", path.display()))
}

/// What `run` has found.
#[derive(Serialize, Deserialize, Default)]
pub struct Results {
    /// `real` or `sim:N`.
    pub gpu: String,
    /// Name of the first device, driver and runtime versions, multiprocessors, devices.
    pub machine: String,
    /// Seconds that everything took.
    pub seconds: f64,
    /// Annotated programs.
    pub cases: Vec<CaseResult>,
    /// Programs that check themselves.
    pub programs: Vec<ProgramResult>,
    /// Instructions with other results than on simulated devices; `None` if they were not run.
    pub instructions: Option<InstructionResults>,
    /// Measured times.
    pub timings: Vec<TimingResult>,
}

/// How what was found compares with what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// What was expected was found, and nothing else.
    Same,
    /// Findings are missing, none is new.
    Fewer,
    /// Findings are new.
    More,
    /// Commsan's run wrote no report, or did not check all ranks.
    Unchecked,
    /// The program does not run here without commsan; nothing new was found.
    Native,
    /// Not run: too few devices, or no time left.
    Skipped,
}

/// An annotated program that ran.
#[derive(Serialize, Deserialize)]
pub struct CaseResult {
    /// Name of the case.
    pub name: String,
    /// How findings compare.
    pub verdict: Verdict,
    /// How the program ended without commsan: exit code, `signal N`, `limit`.
    pub native: String,
    /// How `commsan run` ended.
    pub checked: String,
    /// Seconds without and with commsan.
    pub seconds: [f64; 2],
    /// Findings that were expected and are not there.
    pub missing: Vec<String>,
    /// Findings that were not expected.
    pub extra: Vec<String>,
    /// The end of the output of a run that went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// A self-checking program that ran.
#[derive(Serialize, Deserialize)]
pub struct ProgramResult {
    /// Name of the program.
    pub name: String,
    /// How it ended.
    pub ended: String,
    /// The end of its output if it did not end with 0.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// What executing instructions showed.
#[derive(Default, Serialize, Deserialize)]
pub struct InstructionResults {
    /// Instructions that were executed.
    pub executed: usize,
    /// Lines that say what differs.
    pub differences: Vec<String>,
}

/// A timed program.
#[derive(Serialize, Deserialize)]
pub struct TimingResult {
    /// What was measured.
    pub name: String,
    /// Seconds without commsan, of each repetition.
    pub native: Vec<f64>,
    /// Seconds under `commsan run`.
    pub checked: Vec<f64>,
    /// The end of the output of a run that printed no time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}
