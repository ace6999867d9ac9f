//! What a program says about itself in comments: how to build and run it, what is to be found.

use commsan_findings::{Code, Role, Severity};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Exit code that says that there are findings.
pub const FINDINGS: i32 = 66;

/// Whether the program has findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each of its findings is marked.
    Fail,
    /// It has none.
    Pass,
}

/// One program and its expectations.
#[derive(Clone, Debug)]
pub struct Case {
    /// `fail/p2p/isend_write`.
    pub name: String,
    /// Its source file.
    pub source: PathBuf,
    /// MPI ranks.
    pub ranks: u32,
    /// Nodes that the ranks are on: of `COMMSAN_NODES` if it does not say.
    pub nodes: u32,
    /// Compiler options.
    pub flags: Vec<String>,
    /// Options, such as levels of optimisation, with each of which it is a program of its own.
    pub levels: Vec<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Options of `commsan run`.
    pub options: Vec<String>,
    /// Calls that the MPI library must have.
    pub needs: Vec<String>,
    /// A file of `tests/libraries` that it is linked with, which implements what MPI libraries
    /// lack.
    pub library: Option<String>,
    /// The only MPI library that can build it; `none` if it has nothing to do with MPI.
    pub mpi: Option<String>,
    /// Whether it is about devices alone: of MPI it calls what all programs call.
    pub devices_only: bool,
    /// Whether it is compiled by commsan; what is not shows its accesses by guards alone.
    pub hooks: bool,
    /// The only compiler that it is for, `gcc` or `clang`.
    pub compiler: Option<String>,
    /// Simulated devices of each rank, where it is a CUDA program.
    pub devices: u32,
    /// Seed of their order.
    pub seed: u32,
    /// Exit code of `commsan run`, if it is not that of the findings.
    pub exit: Option<i32>,
    /// What the program prints itself: that its results are wrong.
    pub prints: Option<String>,
    /// Sites of the findings it has.
    pub marks: Vec<Mark>,
}

/// One site of an expected finding: `//~ CS-BUF-01 access ranks=0,2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Code of the finding.
    pub code: Code,
    /// The site's role in it.
    pub role: Role,
    /// The line that the mark is on.
    pub line: u32,
    /// Compared instead of the line.
    pub function: Option<String>,
    /// The ranks that observe it; any if absent.
    pub ranks: Option<BTreeSet<u32>>,
    /// How often it is observed, over all ranks; any number if absent.
    pub count: Option<u64>,
    /// Whether an analysis only suspects it.
    pub possible: bool,
}

/// The number of nodes on which programs run that do not say it.
fn nodes() -> u32 {
    std::env::var("COMMSAN_NODES").ok().and_then(|nodes| nodes.parse().ok()).unwrap_or(1)
}

/// Whether a CUDA program does no more than begin and end MPI.
fn is_about_devices_only(path: &Path, text: &str) -> bool {
    const OF_ALL: [&str; 5] = ["Init(", "Finalize(", "Comm_rank(", "Comm_size(", "COMM_WORLD"];
    let is_cuda = path.extension().is_some_and(|extension| extension == "cu");
    is_cuda
        && text.split("MPI_").skip(1).all(|rest| OF_ALL.iter().any(|name| rest.starts_with(name)))
}

impl Case {
    /// Reads a program below `root`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has a directive or mark that does not exist, or is in the wrong
    /// place.
    pub fn read(root: &Path, path: &Path) -> Result<Case, String> {
        let case = Case::read_part(root, path)?;
        if case.marks.is_empty() == case.name.starts_with(&Kind::Fail.to_string()) {
            let problem = "programs under `fail` have marks, those under `pass` none";
            return Err(format!("{}: {problem}", path.display()));
        }
        Ok(case)
    }

    /// Reads a program, or one file of several.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has a directive or mark that does not exist.
    pub fn read_part(root: &Path, path: &Path) -> Result<Case, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let name = path.strip_prefix(root).unwrap_or(path).with_extension("");
        let mut case = Case {
            name: name.to_string_lossy().into_owned(),
            source: path.to_owned(),
            ranks: 2,
            nodes: nodes(),
            flags: Vec::new(),
            levels: Vec::new(),
            args: Vec::new(),
            options: Vec::new(),
            needs: Vec::new(),
            library: None,
            mpi: None,
            devices_only: is_about_devices_only(path, &text),
            hooks: true,
            compiler: None,
            devices: 1,
            seed: 0,
            exit: None,
            prints: None,
            marks: Vec::new(),
        };
        let fortran = path.extension().is_some_and(|extension| extension == "f90");
        let comment = if fortran { "!" } else { "//" };
        for (line, text) in (1..).zip(text.lines()) {
            let at = |problem: String| format!("{}:{line}: {problem}", path.display());
            if let Some(directive) = text.trim_start().strip_prefix(&format!("{comment}#")) {
                case.direct(directive).map_err(at)?;
            }
            for mark in text.split(&format!("{comment}~")).skip(1) {
                case.marks.push(Mark::parse(mark, line).map_err(at)?);
            }
        }
        Ok(case)
    }

    /// The program with each of its levels, which are in the names then.
    pub fn each_level(self) -> Vec<Case> {
        let with = |level: &String| {
            let mut case = self.clone();
            case.name.push_str(level);
            case.flags.push(level.clone());
            case
        };
        match &*self.levels {
            [] => vec![self],
            levels => levels.iter().map(with).collect(),
        }
    }

    /// Exit code of `commsan run`: errors make it fail, warnings do not.
    pub fn exit(&self) -> i32 {
        let is_error = |mark: &Mark| mark.code.severity() == Severity::Error;
        self.exit.unwrap_or(if self.marks.iter().any(is_error) { FINDINGS } else { 0 })
    }

    fn direct(&mut self, directive: &str) -> Result<(), String> {
        let unknown = || format!("unknown directive `{}`", directive.trim());
        let (key, value) = directive.split_once(':').ok_or_else(unknown)?;
        let value = value.trim();
        let number = |problem| format!("`{value}`: {problem}");
        let words = || value.split_whitespace().map(str::to_owned).collect();
        match key.trim() {
            "np" => self.ranks = value.parse().map_err(|e| number(format!("{e}")))?,
            "nodes" => self.nodes = value.parse().map_err(|e| number(format!("{e}")))?,
            "exit" => self.exit = Some(value.parse().map_err(|e| number(format!("{e}")))?),
            "gpu" => self.devices = value.parse().map_err(|e| number(format!("{e}")))?,
            "seed" => self.seed = value.parse().map_err(|e| number(format!("{e}")))?,
            "prints" => self.prints = Some(value.to_owned()),
            "flags" => self.flags = words(),
            "levels" => self.levels = words(),
            "args" => self.args = words(),
            "needs" => self.needs = words(),
            "library" => self.library = Some(value.to_owned()),
            "options" => self.options = words(),
            "hooks" if value == "none" => self.hooks = false,
            "mpi" if matches!(value, "openmpi" | "mpich" | "openshmem" | "none") => {
                self.mpi = Some(value.to_owned())
            }
            "cc" if matches!(value, "gcc" | "clang") => self.compiler = Some(value.to_owned()),
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

impl Mark {
    fn parse(text: &str, line: u32) -> Result<Mark, String> {
        let mut words = text.split_whitespace();
        let (Some(code), Some(role)) = (words.next(), words.next()) else {
            return Err(format!("a mark is a code and a role, not `{}`", text.trim()));
        };
        let code = code.parse().map_err(|error| format!("{error}"))?;
        let role = serde_json::from_value(role.into()).map_err(|error| format!("{error}"))?;
        let mut mark =
            Mark { code, role, line, function: None, ranks: None, count: None, possible: false };
        for word in words {
            match word.split_once('=') {
                None if word == "possible" => mark.possible = true,
                Some(("func", name)) => mark.function = Some(name.to_owned()),
                Some(("ranks", list)) => {
                    let ranks: Result<_, _> = list.split(',').map(str::parse).collect();
                    mark.ranks = Some(ranks.map_err(|error| format!("`{word}`: {error}"))?);
                }
                Some(("count", number)) => {
                    let count = number.parse().map_err(|error| format!("`{word}`: {error}"))?;
                    mark.count = Some(count);
                }
                _ => {
                    return Err(format!(
                        "`{word}` is no `func=NAME`, `ranks=0,1`, `count=2` or `possible`"
                    ));
                }
            }
        }
        Ok(mark)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Fail => "fail",
            Kind::Pass => "pass",
        })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, role_name(self.role))?;
        match &self.function {
            Some(function) => write!(f, " in function {function}")?,
            None => write!(f, " on line {}", self.line)?,
        }
        if let Some(ranks) = &self.ranks {
            write!(f, ", ranks {ranks:?}")?;
        }
        if self.possible {
            f.write_str(", only suspected")?;
        }
        Ok(())
    }
}

/// A role as marks and reports write it.
pub fn role_name(role: Role) -> String {
    format!("{role:?}").to_lowercase()
}
