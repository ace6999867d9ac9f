//! Programs in `tests/programs`, compiled by the toolkit's compilers and run on the library.
//!
//! A program checks itself and exits with 0. Comments in it say how it is run:
//!
//! - `//# nvcc: FLAGS` adds flags to its compiler;
//! - `//# devices: N` gives it N devices (1);
//! - `//# seeds: N` runs it with seeds 0 to N-1 (1), each twice with the same output;
//! - `//# once: WORD` and `//# sometimes: WORD`: it prints the word with seed 0, and with some
//!   other seed.
//!
//! `.cu` files are compiled by nvcc, `.cc` files by the host's compiler with the toolkit's headers:
//! those of `target/cuda`, which `scripts/cuda.sh` installs, or of the nvcc that `NVCC` names; and
//! with CUDA 12's, to run on the library of that version, if `CUDA12_INCLUDE` says where these are.
//! `tests/programs/parts` has further files of some programs.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use support::{Headers, Library, Toolkit, run};

struct Program {
    source: PathBuf,
    flags: Vec<String>,
    devices: String,
    seeds: u64,
    once: Vec<String>,
    sometimes: Vec<String>,
}

/// The compiler of a program.
enum Compiler {
    Nvcc(Toolkit),
    Host(Headers),
}

impl Program {
    fn read(source: PathBuf) -> Program {
        let text = fs::read_to_string(&source).expect("a readable program");
        let mut program = Program {
            source,
            flags: Vec::new(),
            devices: "1".to_owned(),
            seeds: 1,
            once: Vec::new(),
            sometimes: Vec::new(),
        };
        for directive in text.lines().filter_map(|line| line.strip_prefix("//# ")) {
            let (name, value) = directive.split_once(": ").expect("name: value");
            match name {
                "nvcc" => program.flags = value.split(' ').map(str::to_owned).collect(),
                "devices" => program.devices = value.to_owned(),
                "seeds" => program.seeds = value.parse().expect("a number of seeds"),
                "once" => program.once.push(value.to_owned()),
                "sometimes" => program.sometimes.push(value.to_owned()),
                _ => panic!("{}: no directive {name}", program.source.display()),
            }
        }
        program
    }

    fn test(&self, compiler: &Compiler) -> Result<(), Failed> {
        let directory = tempfile::tempdir()?;
        let executable = directory.path().join("program");
        match compiler {
            Compiler::Nvcc(nvcc) => nvcc.compile(&self.source, &executable, &self.flags)?,
            Compiler::Host(headers) => headers.compile(&self.source, &executable, &self.flags)?,
        }
        let library = Library::get()?;
        let mut others = BTreeSet::new();
        for seed in 0..self.seeds {
            let output = self.run(&executable, library, seed)?;
            if self.seeds > 1 && output != self.run(&executable, library, seed)? {
                return Err(format!("seed {seed} does not give the same output again").into());
            }
            if seed > 0 {
                others.extend(output.lines().map(str::to_owned));
                continue;
            }
            let missing = |word: &&String| !output.lines().any(|line| line == *word);
            if let Some(word) = self.once.iter().find(missing) {
                return Err(format!("seed 0 does not print {word}:\n{output}").into());
            }
        }
        match self.sometimes.iter().find(|word| !others.contains(*word)) {
            Some(word) => Err(format!("no other seed prints {word}").into()),
            None => Ok(()),
        }
    }

    fn run(&self, executable: &Path, library: &Library, seed: u64) -> Result<String, Failed> {
        let mut command = Command::new("timeout");
        command
            .arg("20")
            .arg(executable)
            .env("LD_LIBRARY_PATH", library.directory())
            .env("COMMSAN_GPU", format!("sim:{}", self.devices))
            .env("COMMSAN_GPU_SEED", seed.to_string());
        run(&mut command).map_err(|error| format!("seed {seed}: {error}").into())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut sources: Vec<PathBuf> = fs::read_dir(directory)
        .expect("a directory of programs")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.extension().is_some_and(|extension| extension != "h"))
        .collect();
    sources.sort();
    let toolkit = Toolkit::find();
    let mut trials = Vec::new();
    for source in sources {
        let name = source.file_name().expect("a file").to_string_lossy().into_owned();
        let toolkit = match &toolkit {
            Ok(toolkit) => toolkit,
            Err(missing) => {
                let missing = missing.clone();
                trials.push(Trial::test(name, || Err(missing.into())));
                continue;
            }
        };
        let compilers = if name.ends_with(".cu") {
            vec![("nvcc".to_owned(), Compiler::Nvcc(toolkit.clone()))]
        } else {
            let version = |headers: &Headers| format!("CUDA {}", headers.version);
            toolkit.headers().into_iter().map(|h| (version(&h), Compiler::Host(h))).collect()
        };
        for (version, compiler) in compilers {
            let source = source.clone();
            let test = move || Program::read(source).test(&compiler);
            trials.push(Trial::test(format!("{name}, {version}"), test));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
