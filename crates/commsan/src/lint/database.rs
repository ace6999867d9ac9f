//! Reads the sources of a build, and how it compiles them, from compile_commands.json.

use super::compile::{Language, Unit};
use crate::exit_code;
use crate::failure::Failure;
use commsan_compiler_wrapper::command_line::Input;
use commsan_compiler_wrapper::invocation;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// An entry (Clang's "JSON Compilation Database Format Specification").
#[derive(serde::Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

/// All sources that the build's file names.
pub fn read(build: &Path) -> Result<Vec<Unit>, Failure> {
    let path = build.join("compile_commands.json");
    let unusable = |what: String| {
        Failure::new(exit_code::REPORT, format!("cannot use `{}`: {what}", path.display())).help(
            "have it written by `cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, `meson`, or `bear -- make`",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unusable(error.to_string()))?;
    let mut entries: Vec<Entry> =
        serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    for entry in &mut entries {
        entry.directory = build.join(&entry.directory);
    }
    Ok(units(entries))
}

/// The sources of all entries: those that the entries are for, and those that only other entries'
/// commands name.
fn units(entries: Vec<Entry>) -> Vec<Unit> {
    let path = |entry: &Entry, source: &Path| entry.directory.join(source);
    let mut named: HashSet<_> = entries.iter().map(|entry| path(entry, &entry.file)).collect();
    let mut units = Vec::new();
    for entry in entries {
        let words = entry.arguments.clone().or_else(|| shlex::split(entry.command.as_deref()?));
        let words = words.unwrap_or_default();
        // Precompiled headers are compiled with each source that includes them.
        if makes_header(&words) {
            continue;
        }
        let (command, inputs) = plain(words);
        let others = inputs.into_iter().filter(|source| named.insert(path(&entry, source)));
        for source in [entry.file.clone()].into_iter().chain(others) {
            if let Some(language) = Language::of(&source) {
                let command = without_launchers(command.clone(), language);
                units.push(Unit { directory: entry.directory.clone(), source, command });
            }
        }
    }
    units
}

/// Whether a command precompiles a header, also under a source name, as with CMake.
fn makes_header(words: &[String]) -> bool {
    let mut languages = words.iter().zip(words.iter().skip(1)).filter_map(|(option, value)| {
        option.strip_prefix("-x").map(|joined| if joined.is_empty() { &**value } else { joined })
    });
    languages.any(|language| language.ends_with("-header"))
}

/// A command without its inputs and outputs, and the sources among the inputs.
fn plain(words: Vec<String>) -> (Vec<OsString>, Vec<PathBuf>) {
    const NO_VALUE: [&str; 6] = ["-c", "-S", "-E", "-MD", "-MMD", "-MP"];
    const WITH_VALUE: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "-MJ"];
    // Options whose values look like inputs, and are kept.
    const KEPT: [&str; 11] = [
        "-I",
        "-D",
        "-U",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-Xlinker",
        "-Xclang",
        "-T",
    ];
    const BEGINS: [&str; 4] = ["-O", "-flto", "-save-temps", "--save-temps"];
    let (mut kept, mut sources) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&&*word) {
            words.next();
        } else if KEPT.contains(&&*word) {
            kept.extend([Some(word), words.next()].into_iter().flatten().map(OsString::from));
        } else if NO_VALUE.contains(&&*word) || BEGINS.iter().any(|with| word.starts_with(with)) {
            continue;
        } else if word.starts_with('-') || Input::by_suffix(&word).is_none() {
            kept.push(word.into());
        } else {
            sources.push(PathBuf::from(word));
        }
    }
    sources.retain(|source| Language::of(source).is_some());
    (kept, sources)
}

/// A command without launchers and commsan's wrappers in front of the compiler.
fn without_launchers(command: Vec<OsString>, language: Language) -> Vec<OsString> {
    if command.is_empty() {
        return command;
    }
    let split = |words| invocation::split(words, language.wrapper().into(), |_: &OsStr| true);
    let mut invoked = split(command);
    loop {
        let compiler = invoked.compiler.pop().unwrap_or_else(|| language.wrapper().into());
        let words: Vec<_> = [compiler].into_iter().chain(invoked.args).collect();
        match crate::compile::invocation(&words) {
            Some((_, wrapped)) => invoked = split(wrapped),
            None => return words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str, command: &str) -> Entry {
        let (directory, command) = (PathBuf::from("/build"), Some(command.to_owned()));
        Entry { directory, file: file.into(), arguments: None, command }
    }

    #[track_caller]
    fn check(command: &str, expected: &str) {
        let units = units(vec![entry("a.c", command)]);
        let words: Vec<_> = expected.split(' ').map(OsString::from).collect();
        assert_eq!(units[0].command, words, "{command}");
    }

    #[test]
    fn a_command_of_the_build_keeps_what_the_source_needs() {
        check(
            "mpicc -DX=1 -I ../x.c -O3 -MD -MF a.d -save-temps=obj -o a.o -c ../src/a.c",
            "mpicc -DX=1 -I ../x.c",
        );
        check("gcc -std=c11 a.c util.o -lm -o app", "gcc -std=c11 -lm");
    }

    #[test]
    fn launchers_and_our_own_wrappers_are_left_out() {
        for front in ["ccache ", "/opt/bin/commsan-cc ", "commsan cc ", "ccache commsan cc "] {
            check(&format!("{front}mpicc.mpich -g -c a.c"), "mpicc.mpich -g");
        }
        check("commsan-cc -g -c a.c", "mpicc -g");
    }

    #[test]
    fn precompiled_headers_are_no_sources() {
        for command in ["g++ -x c++-header -c pch.hxx.cxx", "gcc -xc-header -c pch.h.c"] {
            assert_eq!(units(vec![entry("pch.hxx.cxx", command)]).len(), 0, "{command}");
        }
        assert_eq!(units(vec![entry("a.c", "gcc -x c -Winvalid-pch -c a.c")]).len(), 1);
    }

    #[test]
    fn all_sources_of_a_command_are_read_once() {
        let command = "mpicc a.c b.c -o app";
        let all = units(vec![entry("a.c", command), entry("c.c", "mpicc -c c.c")]);
        let sources: Vec<_> = all.iter().map(|unit| unit.source.clone()).collect();
        assert_eq!(sources, ["a.c", "b.c", "c.c"].map(PathBuf::from));
        assert_eq!(units(vec![entry("a.c", command), entry("b.c", command)]).len(), 2);
    }
}
