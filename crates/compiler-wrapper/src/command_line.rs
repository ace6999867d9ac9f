//! Parses the command line of a compiler.
//!
//! It only extracts the properties that determine instrumentation, also from response files, and
//! never changes the arguments themselves.

use std::ffi::OsString;
use std::path::Path;

/// Options whose value is the next argument, which is therefore neither an option nor an input.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-T",
    "-u",
    "-z",
    "-e",
    "-J",
    "-B",
    "-A",
    "-F",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-cxx-isystem",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xopenmp-target",
    "-mllvm",
    "-target",
    "-arch",
    "--param",
    "--sysroot",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-specs",
    "-rpath",
    "-soname",
    "-h",
    "-framework",
    "-gcc-toolchain",
    "--output",
];

/// Options that make the compiler print something, or stop before it generates host code.
const QUERIES: &[&str] = &[
    // The compiler proper, as drivers call it.
    "-cc1",
    "-cc1as",
    "-fc1",
    "-E",
    "-M",
    "-MM",
    "-###",
    "-fsyntax-only",
    "--version",
    "-version",
    "--help",
    "-help",
    "-compile_info",
    "-compile-info",
    "-link_info",
    "-link-info",
    "--analyze",
    "-emit-ast",
    // clang: compiles only the device code, for example to inspect its PTX.
    "--cuda-device-only",
    "--offload-device-only",
];
const QUERY_PREFIXES: &[&str] = &[
    "-dumpversion",
    "-dumpmachine",
    "-dumpspecs",
    "-dumpfullversion",
    "-print-",
    "--print-",
    "-show",
    "--show",
    "--help=",
];

/// Sanitizers whose runtime or shadow memory excludes commsan's.
const OTHER_SANITIZERS: &[&str] = &[
    "address",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "memory",
    "leak",
    "dataflow",
    "memtag",
    "realtime",
];

/// The type of an input file, by its name or `-x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// C or C++ source.
    C,
    /// CUDA source.
    Cuda,
    /// Header of C, C++ or CUDA, to be precompiled; then nothing is linked.
    Header,
    /// Fortran source.
    Fortran,
    /// Assembly, which is not instrumented.
    Assembly,
    /// Objects, archives and libraries, which are only linked.
    Object,
}

impl Input {
    /// The type that a file name's suffix indicates.
    pub fn by_suffix(name: &str) -> Option<Input> {
        match Path::new(name).extension()?.to_str()? {
            "c" | "i" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "ii" | "m" | "mm"
            | "cppm" | "bc" | "ll" => Some(Input::C),
            "cu" => Some(Input::Cuda),
            "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" => Some(Input::Header),
            "f" | "for" | "ftn" | "f90" | "f95" | "f03" | "f08" | "f18" | "F" | "FOR" | "FTN"
            | "fpp" | "FPP" | "F90" | "F95" | "F03" | "F08" | "F18" => Some(Input::Fortran),
            "s" | "S" | "sx" => Some(Input::Assembly),
            "o" | "a" | "so" | "lo" | "obj" | "ld" => Some(Input::Object),
            _ => None,
        }
    }

    fn by_language(name: &str) -> Option<Input> {
        match name {
            "none" => None,
            "cuda" => Some(Input::Cuda),
            "assembler" | "assembler-with-cpp" => Some(Input::Assembly),
            _ if name.ends_with("-header") => Some(Input::Header),
            _ if name.starts_with("f77") || name.starts_with("f95") => Some(Input::Fortran),
            _ => Some(Input::C),
        }
    }

    fn is_compiled(self) -> bool {
        !matches!(self, Input::Assembly | Input::Object)
    }
}

/// The properties of a command line; all false or empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Whether the compiler only prints or preprocesses.
    pub is_query: bool,
    /// Whether `-c` or `-S` is given, so that nothing is linked.
    pub stops_before_link: bool,
    /// The types of the input files.
    pub inputs: Vec<Input>,
    /// Whether `-shared` is given.
    pub shared: bool,
    /// Whether `-r` is given.
    pub relocatable: bool,
    /// Whether `-static` or `-static-pie` is given.
    pub is_static: bool,
    /// Whether `-nostdlib` or `-nodefaultlibs` is given, so that libc must be named.
    pub no_default_libraries: bool,
    /// Whether any `-g` option is given, including `-g0`.
    pub debug_chosen: bool,
    /// Whether `-m32` or `-mx32` is given.
    pub other_width: bool,
    /// Whether `-march=…` or a similar option may allow vectors with masks and gathers.
    pub wide_vectors: bool,
    /// Whether the user's own options contain `-fsanitize=thread`.
    pub asks_for_thread: bool,
    /// Whether `-fno-sanitize=thread` or `all` comes last: the user wants no hooks in this file.
    pub declines_thread: bool,
    /// A sanitizer that excludes hooks.
    pub other_sanitizer: Option<String>,
}

impl CommandLine {
    /// Parses a command line, including the response files that it names.
    pub fn parse(args: &[OsString]) -> CommandLine {
        let mut line = CommandLine::default();
        let args = expand(args.iter().map(|a| a.to_string_lossy().into_owned()).collect(), 0);
        let mut language = None;
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "-x" | "--language" => language = args.next().and_then(Input::by_language),
                _ if arg.starts_with("-x") && arg.len() > 2 => {
                    language = Input::by_language(&arg[2..]);
                }
                "-Xlinker" => line.linker_option(args.next().unwrap_or_default()),
                _ if WITH_VALUE.contains(&arg) => drop(args.next()),
                "-" => line.inputs.push(language.unwrap_or(Input::C)),
                _ if arg.starts_with('-') => line.option(arg),
                _ => {
                    let kind = language.or_else(|| Input::by_suffix(arg));
                    line.inputs.push(kind.unwrap_or(Input::Object));
                }
            }
        }
        line
    }

    /// Whether code is generated or linked.
    pub fn builds(&self) -> bool {
        !self.is_query && !self.inputs.is_empty()
    }

    /// Whether code is generated that can be instrumented.
    pub fn compiles(&self) -> bool {
        self.inputs.iter().any(|input| input.is_compiled())
    }

    /// Whether a program or library is linked that must contain the hooks.
    pub fn links(&self) -> bool {
        let only_headers = self.inputs.iter().all(|input| *input == Input::Header);
        !self.stops_before_link && !self.relocatable && !only_headers
    }

    fn option(&mut self, arg: &str) {
        match arg {
            "-c" | "-S" | "-emit-pch" | "--precompile" => self.stops_before_link = true,
            "-shared" | "--shared" => self.shared = true,
            "-r" | "--relocatable" => self.relocatable = true,
            "-static" | "--static" | "-static-pie" => self.is_static = true,
            "-nostdlib" | "-nodefaultlibs" => self.no_default_libraries = true,
            "-m32" | "-mx32" => self.other_width = true,
            _ if QUERIES.contains(&arg) => self.is_query = true,
            _ if QUERY_PREFIXES.iter().any(|prefix| arg.starts_with(prefix)) => {
                self.is_query = true;
            }
            _ => self.option_with_value(arg),
        }
    }

    fn option_with_value(&mut self, arg: &str) {
        if let Some(list) = arg.strip_prefix("-fsanitize=") {
            self.asks_for_thread |= list.split(',').any(|name| name == "thread");
            let excluding = list.split(',').find(|name| OTHER_SANITIZERS.contains(name));
            self.other_sanitizer = excluding.map(str::to_owned).or(self.other_sanitizer.take());
            self.declines_thread &= !self.asks_for_thread;
        } else if let Some(list) = arg.strip_prefix("-fno-sanitize=") {
            let names =
                |name: &str| list.split(',').any(|listed| listed == name || listed == "all");
            self.declines_thread |= names("thread");
            self.other_sanitizer =
                self.other_sanitizer.take().filter(|other| !names(other.as_str()));
        } else if let Some(list) = arg.strip_prefix("-Wl,") {
            list.split(',').for_each(|option| self.linker_option(option));
        } else if arg.starts_with("-march=") || arg.starts_with("-mavx") || arg == "-mf16c" {
            self.wide_vectors = true;
        } else if arg.starts_with("-l") {
            self.inputs.push(Input::Object);
        } else if arg.starts_with("-g") && !arg.starts_with("-gcc-") {
            self.debug_chosen = true;
        }
    }

    fn linker_option(&mut self, option: &str) {
        match option {
            "-r" | "-i" | "--relocatable" => self.relocatable = true,
            "-shared" | "-Bshareable" => self.shared = true,
            _ => (),
        }
    }
}

/// Replaces `@file` by the contents of that file; keeps it if it cannot be read, as gcc does.
fn expand(args: Vec<String>, depth: usize) -> Vec<String> {
    let mut expanded = Vec::with_capacity(args.len());
    for arg in args {
        let file = arg.strip_prefix('@').filter(|_| depth < 8);
        match file.and_then(|path| std::fs::read_to_string(path).ok()) {
            Some(text) => expanded.extend(expand(split_words(&text), depth + 1)),
            None => expanded.push(arg),
        }
    }
    expanded
}

/// Words of a response file: separated by white space, quoted by ' or ", escaped by \.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CommandLine {
        let args: Vec<_> = text.split_whitespace().map(OsString::from).collect();
        CommandLine::parse(&args)
    }

    #[test]
    fn questions_build_nothing() {
        for question in [
            "",
            "-v",
            "-fc1 -emit-obj a.f90",
            "-x cuda --cuda-device-only -S a.cu",
            "--version",
            "-dumpversion",
            "-dumpmachine",
            "-print-search-dirs",
            "--print-prog-name=ld",
            "-E a.c",
            "-M a.c",
            "-MM a.c",
            "-### a.c",
            "-show a.c -c",
            "--showme:compile",
            "-showme a.c",
            "-O2 -Wl,-O1",
            "-o a.c",
            "-I a.c -include b.h",
        ] {
            assert!(!parse(question).builds(), "{question}");
        }
        assert!(parse("-v -c a.c").builds());
        assert!(parse("-MD -MF a.d -c a.c").builds());
        assert!(parse("-E -x c -").is_query);
    }

    #[test]
    fn inputs_are_known_by_suffix_or_language() {
        let inputs = |text| parse(text).inputs;
        assert_eq!(inputs("-c a.c -o b.s"), [Input::C]);
        assert_eq!(inputs("a.F90 b.o"), [Input::Fortran, Input::Object]);
        assert_eq!(inputs("-c start.S"), [Input::Assembly]);
        assert_eq!(inputs("a.cu -x cuda b.cc"), [Input::Cuda, Input::Cuda]);
        assert_eq!(inputs("-x c-header a b.h -o b.h.gch"), [Input::Header, Input::Header]);
        assert!(!parse("a.h").links() && parse("a.h").compiles() && parse("a.c b.h").links());
        assert_eq!(inputs("-xc - -o a.o"), [Input::C]);
        assert_eq!(inputs("-x assembler a.c -x none b.c"), [Input::Assembly, Input::C]);
        assert_eq!(inputs("libx.so.3 -lm"), [Input::Object, Input::Object]);
        assert!(parse("a.o").links() && !parse("a.o").compiles());
    }

    #[test]
    fn kinds_of_links() {
        assert!(!parse("-c a.c").links());
        assert!(!parse("-r a.o -o b.o").links());
        assert!(!parse("a.o -Wl,-r").links());
        assert!(parse("-shared a.o").shared);
        assert!(parse("-Wl,-soname,x -Xlinker -shared a.o").shared);
        assert!(parse("-static-pie a.o").is_static);
        assert!(!parse("-static-libgcc a.o").is_static);
    }

    #[test]
    fn any_debug_option_counts() {
        for option in ["-g", "-g0", "-g3", "-ggdb", "-gdwarf-4", "-gline-tables-only"] {
            assert!(parse(option).debug_chosen, "{option}");
        }
        assert!(!parse("-O2 --gcc-toolchain=/opt a.c").debug_chosen);
    }

    #[test]
    fn sanitizers_of_the_user() {
        assert_eq!(parse("-fsanitize=undefined,address").other_sanitizer.unwrap(), "address");
        assert_eq!(parse("-fsanitize=address -fno-sanitize=all").other_sanitizer, None);
        assert_eq!(parse("-fsanitize=undefined").other_sanitizer, None);
        assert!(parse("-fsanitize=undefined,thread").asks_for_thread);
        assert!(parse("-fno-sanitize=thread").declines_thread);
        assert!(!parse("-fno-sanitize=thread -fsanitize=thread").declines_thread);
        assert!(!parse("-fno-sanitize=undefined").declines_thread);
    }

    #[test]
    fn response_files_are_read() {
        let path = std::env::temp_dir().join(format!("commsan-args-{}", std::process::id()));
        std::fs::write(&path, "-c 'a file.c'\n\"-g\" -o x\\ y.o ''").unwrap();
        let line = parse(&format!("-O2 @{}", path.display()));
        std::fs::remove_file(&path).unwrap();
        assert!(line.stops_before_link && line.debug_chosen);
        assert_eq!(line.inputs[0], Input::C);
        assert_eq!(split_words("a 'b c' \"d\\\"e\" ''"), ["a", "b c", "d\"e", ""]);
        assert_eq!(parse("@/nonexistent").inputs, [Input::Object]);
    }
}
