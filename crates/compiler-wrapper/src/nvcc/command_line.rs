//! Parses an nvcc command line, as far as it determines what the wrapper adds.
//!
//! Options have a long and a short name, with two dashes or one; a value follows `=` or is the next
//! word. Options also come from two environment variables and from files.

use std::ffi::OsString;

/// Environment variables with options that nvcc reads before and after those of the command line.
pub const VARIABLES: [&str; 2] = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];

/// Options with which nvcc only prints information, or only preprocesses.
const QUERIES: &[&str] = &[
    "preprocess",
    "E",
    "generate-dependencies",
    "M",
    "generate-nonsystem-dependencies",
    "MM",
    "list-gpu-code",
    "code-ls",
    "list-gpu-arch",
    "arch-ls",
    "clean-targets",
    "clean",
    "help",
    "h",
    "version",
    "V",
];

/// Options for other programs: the following word is no option of nvcc's.
const FOR_OTHERS: &[&str] = &[
    "compiler-options",
    "Xcompiler",
    "linker-options",
    "Xlinker",
    "archive-options",
    "Xarchive",
    "ptxas-options",
    "Xptxas",
    "nvlink-options",
    "Xnvlink",
    "nvprune-options",
    "Xnvprune",
    "tileiras-options",
    "Xtileiras",
    "run-args",
    "output-file",
    "o",
];

/// Properties of the command line, and the arguments without the host compiler's name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Arguments, including those of the environment, without `-ccbin`.
    pub args: Vec<OsString>,
    /// Whether nothing is compiled or linked.
    pub is_query: bool,
    /// Whether device code keeps line information.
    pub has_line_info: bool,
    /// Value of `-cudart`.
    pub cudart: Option<String>,
    /// Value of `-ccbin`, the host compiler.
    pub host: Option<String>,
    /// Whether `-lnccl` or `-lnvshmem_host` is given.
    pub links_simulated: bool,
    /// Value of `-arch`.
    architecture: Option<String>,
    /// Targets of device code: `compute_90` is PTX, `sm_90` is not.
    codes: Vec<String>,
    /// Virtual architectures of `-gencode`, for which PTX can be generated.
    virtual_architectures: Vec<String>,
}

impl CommandLine {
    /// Parses a command line and the options that `environment` contains.
    pub fn read(args: &[OsString], environment: impl Fn(&str) -> Option<String>) -> CommandLine {
        let mut line = CommandLine::default();
        let [before, after] = VARIABLES.map(|name| {
            let value = environment(name).unwrap_or_default();
            crate::command_line::split_words(&value).into_iter().map(OsString::from)
        });
        line.is_query = args.is_empty();
        line.args(before.chain(args.iter().cloned()).chain(after).collect(), 0);
        line
    }

    fn args(&mut self, args: Vec<OsString>, depth: usize) {
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy().into_owned();
            let Some(option) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else {
                self.args.push(arg);
                continue;
            };
            let (name, joined) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let mut words = vec![arg];
            let mut value = || {
                joined.clone().or_else(|| {
                    let next = args.next()?;
                    words.push(next.clone());
                    Some(next.to_string_lossy().into_owned())
                })
            };
            match name {
                "compiler-bindir" | "ccbin" => {
                    self.host = value();
                    continue;
                }
                "options-file" | "optf" => {
                    let files = value().unwrap_or_default();
                    if self.options_files(&files, depth) {
                        continue;
                    }
                }
                "cudart" => self.cudart = value(),
                "lnccl" | "lnvshmem_host" => self.links_simulated = true,
                "library" | "l" => {
                    let libraries = value().unwrap_or_default();
                    self.links_simulated |=
                        libraries.split(',').any(|one| matches!(one, "nccl" | "nvshmem_host"));
                }
                "gpu-architecture" | "arch" => self.architecture = value(),
                "gpu-code" | "code" => self.code(&value().unwrap_or_default()),
                "generate-code" | "gencode" => self.generate(&value().unwrap_or_default()),
                "generate-line-info" | "lineinfo" | "device-debug" | "G" => {
                    self.has_line_info = true;
                }
                _ if QUERIES.contains(&name) => self.is_query = true,
                _ if FOR_OTHERS.contains(&name) => drop(value()),
                _ => {}
            }
            self.args.extend(words);
        }
    }

    /// Reads option files. If they name the host compiler, replaces the option by their contents
    /// and returns true; otherwise nvcc reads them itself.
    fn options_files(&mut self, files: &str, depth: usize) -> bool {
        let texts: Option<Vec<String>> =
            files.split(',').map(|file| std::fs::read_to_string(file).ok()).collect();
        let Some(texts) = texts.filter(|_| depth < 8) else { return false };
        let (count, host) = (self.args.len(), self.host.take());
        for text in texts {
            let words = crate::command_line::split_words(&text);
            self.args(words.into_iter().map(OsString::from).collect(), depth + 1);
        }
        if self.host.is_some() {
            return true;
        }
        self.host = host;
        self.args.truncate(count);
        false
    }

    fn code(&mut self, list: &str) {
        let list = list.trim_matches(['[', ']', '"', '\'']);
        self.codes.extend(list.split(',').map(str::to_owned));
    }

    /// Parses the value of `-gencode`, such as `arch=compute_90,code=[sm_90,compute_90]`.
    fn generate(&mut self, specification: &str) {
        let (architecture, codes) =
            specification.split_once(",code=").unwrap_or((specification, ""));
        let architecture = architecture.trim_start_matches("arch=");
        self.virtual_architectures.push(architecture.to_owned());
        // Without `code`, the architecture is the target.
        self.code(if codes.is_empty() { architecture } else { codes });
    }

    /// The newest architecture for which to generate PTX, if the options generate none.
    pub fn missing_ptx(&self) -> Option<String> {
        let has_ptx = |code: &String| code.starts_with("compute_") || code.starts_with("lto_");
        // `-arch=sm_90` alone implies both; only nvcc interprets other words, such as `native`.
        let alone = self.architecture.as_deref().filter(|name| !name.starts_with("compute_"));
        if self.codes.is_empty() || alone.is_some() || self.codes.iter().any(has_ptx) {
            return None;
        }
        let number = |name: &&String| {
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            digits.parse::<u32>().unwrap_or(0)
        };
        let known = self.virtual_architectures.iter().chain(&self.architecture);
        known.filter(|name| name.starts_with("compute_")).max_by_key(number).cloned()
    }
}
