//! Compiles a plugin, and tries it out: what the compiler then refuses to load, or what has no
//! effect, is never used.

use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Lack, Recipe, sources};
use crate::family::{Compiler, Family};
use crate::plan;

/// Says what takes a few seconds, to people.
pub fn announce(label: &str) {
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        eprintln!("commsan: compiling the plugin for {label}, this once");
    }
}

/// Compiles the plugin in a directory; the first compiler that can do it decides.
///
/// # Errors
/// What the last compiler said; its first line is a sentence.
pub fn compile(recipe: &Recipe, directory: &Path) -> Result<PathBuf, Lack> {
    let label = &recipe.label;
    let mut messages = format!("there is no C++ compiler to compile the plugin for {label} with");
    if let Err(error) = write(recipe, directory) {
        return Err(Lack::new(format!("{}: {error}", directory.display()), ""));
    }
    for compiler in &recipe.compilers {
        match compile_with(compiler, recipe, directory) {
            Ok(plugin) => return Ok(plugin),
            Err(said) => {
                let name = compiler.join(" ".as_ref());
                messages =
                    format!("{} cannot compile the plugin for {label}\n{said}", name.display());
            }
        }
    }
    Err(Lack::new(messages, ""))
}

/// A plugin that is another one by its own path.
///
/// # Errors
/// When the directory cannot be written.
pub fn link_to(installed: &Path, directory: &Path) -> Result<PathBuf, Lack> {
    let plugin = directory.join("plugin.so");
    let linked = std::os::unix::fs::symlink(installed, &plugin);
    linked.map(|()| plugin).map_err(|error| Lack::new(error.to_string(), ""))
}

fn write(recipe: &Recipe, directory: &Path) -> std::io::Result<()> {
    for (path, text) in recipe.sources {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// Compiles the units in parallel, as many at a time as there are processors, and links them.
fn compile_with(
    compiler: &[OsString],
    recipe: &Recipe,
    directory: &Path,
) -> Result<PathBuf, String> {
    let units: Vec<_> = recipe.sources.iter().filter(|source| sources::is_unit(source.0)).collect();
    let objects: Vec<_> =
        (0..units.len()).map(|number| directory.join(format!("{number}.o"))).collect();
    let (next, said) = (AtomicUsize::new(0), Mutex::new(String::new()));
    let work = || {
        while let Some((path, _)) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            let number = units.iter().position(|unit| unit.0 == *path).unwrap_or_default();
            let mut command = quiet(compiler, directory);
            command.args(&recipe.options).args(["-x", "c++", "-c", path, "-o"]);
            if let Err(messages) = run(command.arg(&objects[number])) {
                said.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push_str(&messages);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(units.len());
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let said = said.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !said.is_empty() {
        return Err(said);
    }
    let plugin = directory.join("plugin.so");
    let mut link = quiet(compiler, directory);
    // Of the libraries that an MPI wrapper adds, none is needed.
    link.args(["-shared", "-s", "-Wl,--as-needed"]).args(&objects).args(&recipe.link);
    run(link.arg("-o").arg(&plugin)).map(|()| plugin)
}

fn quiet(compiler: &[OsString], directory: &Path) -> Command {
    // Found from where the user is, not from that directory.
    let mut program = PathBuf::from(&compiler[0]);
    if program.components().count() > 1 {
        program = std::path::absolute(&program).unwrap_or(program);
    }
    let mut command = Command::new(program);
    // `compiler` may be a wrapper of commsan's by another name.
    command.args(&compiler[1..]).current_dir(directory).env(crate::WRAPPER, crate::OFF);
    command.stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said).trim_end().to_owned();
    Err(format!("{said}\n{}: {command:?}\n", output.status))
}

/// Compiles a function with the plugin, as a user's would be, which must then contain a check.
///
/// # Errors
/// That the compiler cannot use the plugin; the first line is a sentence.
pub fn try_out(
    compiler: &[OsString],
    known: Compiler,
    plugin: &Path,
    directory: &Path,
) -> Result<(), Lack> {
    let fails = |messages: String| {
        let name = compiler.join(" ".as_ref());
        Lack::new(format!("{} cannot use its plugin\n{messages}", name.display()), "")
    };
    let (name, text) = match known.family {
        Family::Flang => ("trial.f90", "subroutine f(a)\n  real :: a\n  a = a + 1\nend\n"),
        _ => ("trial.c", "void f(int *p) { *p += 1; }\n"),
    };
    let object = directory.join("trial.o");
    fs::write(directory.join(name), text).map_err(|error| fails(error.to_string()))?;
    let mut command = quiet(compiler, directory);
    command.args(["-O2", "-c", name, "-o"]).arg(&object);
    // The plugin's own path, as it will be used.
    let plugin = plugin.canonicalize().map_err(|error| fails(error.to_string()))?;
    run(command.args(plan::trial(known.family, &plugin))).map_err(fails)?;
    let code = fs::read(object).unwrap_or_default();
    let hook = b"__commsan_write";
    if code.windows(hook.len()).any(|bytes| bytes == hook) {
        return Ok(());
    }
    Err(fails("the compiler accepts it, but it has no effect".into()))
}
