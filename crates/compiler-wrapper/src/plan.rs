//! What is added to a command line.
//!
//! Compiling: commsan's plugin where the compiler can load one, else ThreadSanitizer's
//! instrumentation, of which only the calls are wanted; with frame pointers and without sibling
//! calls, so that the hook that reports a return still sees the frame of the function that returns.
//! Linking: commsan's archive instead of ThreadSanitizer's runtime, and the list of libc functions
//! to wrap. `docs/compile.md` says why each option is there.

use std::ffi::OsString;
use std::path::Path;

use crate::command_line::{CommandLine, Input};
use crate::family::Family;

/// Arguments to put before and after the user's own, and a remark for the user.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Where the user's options still win, and where the linker searches first.
    pub front: Vec<OsString>,
    /// What must hold whatever the user says, and what must be linked last.
    pub back: Vec<OsString>,
    /// Why nothing is added, if so.
    pub warning: Option<String>,
}

/// Frame pointers everywhere; the exit hook called before the frame is gone.
const FRAMES: &[&str] =
    &["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls"];

/// Calls that differ only in their lines are not merged: a finding has to name one of them.
const GNU_LINES: &[&str] = &["-fno-tree-tail-merge", "-fno-crossjumping"];
const CLANG_LINES: &[&str] = &[
    "-Xclang",
    "-mllvm",
    "-Xclang",
    "-sink-common-insts=0",
    "-Xclang",
    "-mllvm",
    "-Xclang",
    "-hoist-common-insts=0",
    "-Xclang",
    "-mllvm",
    "-Xclang",
    "-enable-tail-merge=0",
];

/// Without the plugin, gcc expands these inline, when sizes are constant, after instrumentation.
const KEPT_CALLS: &[&str] = &[
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-mempcpy",
    "-fno-builtin-memset",
    "-fno-builtin-bzero",
    "-fno-builtin-bcopy",
    "-fno-builtin-strcpy",
    "-fno-builtin-stpcpy",
    "-fno-builtin-strncpy",
    "-fno-builtin-stpncpy",
    "-fno-builtin-strcat",
    "-fno-builtin-strncat",
    "-fno-builtin-sprintf",
    "-fno-builtin-snprintf",
];

/// Keeps calls of `memcpy` and `memset` in gfortran's code, which has no names to keep: array
/// assignments become copies. Its front end also declares that arguments with explicit interfaces
/// do not escape, which would leave local arrays that are passed to MPI without hooks.
const KEPT_COPIES: &[&str] = &[
    "-mmemcpy-strategy=libcall:-1:noalign",
    "-mmemset-strategy=libcall:-1:noalign",
    "-fno-tree-pta",
];

/// No warning about fences, which commsan does support; no pretence towards the program that
/// ThreadSanitizer is there.
const QUIET: &[&str] = &["-Wno-tsan", "-U__SANITIZE_THREAD__"];

/// Passed to the compiler proper, so that the driver adds no runtime to links. It marks functions
/// to be checked, and keeps the optimizer from accesses that the program does not make.
const CLANG_THREAD: &[&str] = &["-Xclang", "-fsanitize=thread"];

/// The accesses that the thread pass itself would report come from elsewhere. Passed to the driver,
/// `-mllvm` would exclude `-fembed-bitcode`.
const CLANG_ACCESSES: &[&str] =
    &["-Xclang", "-mllvm", "-Xclang", "-tsan-instrument-memory-accesses=0"];

/// Switches off what else clang's thread pass inserts: the plugin inserts it, too.
const CLANG_PLUGIN: &[&str] = &[
    "-Xclang",
    "-mllvm",
    "-Xclang",
    "-tsan-instrument-func-entry-exit=0",
    "-Xclang",
    "-mllvm",
    "-Xclang",
    "-tsan-instrument-atomics=0",
    "-Xclang",
    "-mllvm",
    "-Xclang",
    "-tsan-instrument-memintrinsics=0",
];

/// Without the plugin, plain accesses come from the coverage pass, since the thread pass overlooks
/// arrays on the stack.
const CLANG_HOOKS: &[&str] = &[
    "-Xclang",
    "-fsanitize-coverage-type=1",
    "-Xclang",
    "-fsanitize-coverage-trace-loads",
    "-Xclang",
    "-fsanitize-coverage-trace-stores",
];

/// Without the plugin, vector accesses above 16 bytes are not seen.
const NARROW_VECTORS: &[&str] = &["-mprefer-vector-width=128"];
/// Without the plugin, masked and gathered accesses are not seen, which AVX offers to the
/// vectorizers.
const NO_VECTORS: &[&str] = &["-fno-vectorize", "-fno-slp-vectorize"];

/// Decides what to add; `library` is the directory that holds the archive, `plugin` the one
/// that this very compiler can load, if there is one.
pub fn plan(
    line: &CommandLine,
    family: Family,
    library: &Path,
    plugin: Option<&Path>,
) -> Result<Plan, String> {
    // Someone who asks for gcc's own pass does not get two.
    let plugin = plugin.filter(|_| !family.is_gnu() || !line.asks_for_thread);
    if !line.compiles() && !line.links() {
        return Ok(Plan::default());
    }
    if let Some(reason) = reason_to_leave_alone(line, family, plugin) {
        let warning = line.compiles().then(|| format!("{reason}; passed on unchanged"));
        return Ok(Plan { warning, ..Plan::default() });
    }
    let mut plan = Plan::default();
    if line.compiles() && !line.declines_thread {
        compile(&mut plan, line, family, plugin);
    }
    if line.links() {
        link(&mut plan, line, family, library, plugin)?;
    }
    Ok(plan)
}

fn reason_to_leave_alone(
    line: &CommandLine,
    family: Family,
    plugin: Option<&Path>,
) -> Option<String> {
    if family == Family::Other || (family == Family::Flang && plugin.is_none()) {
        return Some("this compiler is none that commsan can instrument with".into());
    }
    if let Some(other) = &line.other_sanitizer {
        return Some(format!("-fsanitize={other} excludes commsan's hooks"));
    }
    if line.inputs.contains(&Input::Cuda) && (family != Family::Clang || plugin.is_none()) {
        return Some("this compiler would put hooks into device code; use `commsan nvcc`".into());
    }
    if line.other_width {
        return Some("commsan's hooks are for 64-bit programs".into());
    }
    if line.is_static && line.no_default_libraries && line.compiles() && line.links() {
        return Some("hooks need the C library, which this static program does without".into());
    }
    let by_thread = family.is_gnu() && plugin.is_none();
    if by_thread && line.is_static && line.compiles() && line.links() {
        return Some("gcc cannot instrument and link a static program in one step".into());
    }
    None
}

fn compile(plan: &mut Plan, line: &CommandLine, family: Family, plugin: Option<&Path>) {
    let speaks = |kind| line.inputs.contains(&kind);
    if !line.debug_chosen {
        plan.front.push("-g".into());
    }
    if speaks(Input::Cuda)
        && let Some(plugin) = plugin
    {
        return compile_cuda(plan, plugin);
    }
    if let Some(plugin) = plugin {
        let option = if family.is_gnu() { "-fplugin=" } else { "-fpass-plugin=" };
        plan.back.push(joined(option, plugin));
    }
    let mut add = |options: &[&str]| plan.back.extend(options.iter().map(OsString::from));
    if family == Family::Flang {
        return; // the plugin sees to frames
    }
    add(FRAMES);
    if family == Family::Clang {
        add(CLANG_THREAD);
        add(CLANG_ACCESSES);
        if plugin.is_some() {
            add(CLANG_LINES); // others may be of an LLVM that does not know them
            return add(CLANG_PLUGIN);
        }
        add(CLANG_HOOKS);
        add(NARROW_VECTORS);
        if line.wide_vectors {
            add(NO_VECTORS);
        }
        return;
    }
    add(GNU_LINES);
    if plugin.is_some() {
        return;
    }
    add(&["-fsanitize=thread"]);
    if speaks(Input::C) || speaks(Input::Header) {
        add(QUIET);
        add(KEPT_CALLS);
    }
    if speaks(Input::Fortran) {
        add(KEPT_COPIES);
    }
}

/// clang compiles device code, too, which must not get hooks. Options for the host alone take no
/// arguments of their own, so that the driver's option selects the thread pass; those behind
/// `-mllvm` say what it leaves out.
fn compile_cuda(plan: &mut Plan, plugin: &Path) {
    let thread = ["-fsanitize=thread"].iter().chain(FRAMES).map(OsString::from);
    for option in thread.chain([joined("-fpass-plugin=", plugin)]) {
        plan.back.extend(["-Xarch_host".into(), option]);
    }
    plan.back.extend(CLANG_ACCESSES.iter().chain(CLANG_PLUGIN).map(OsString::from));
}

fn link(
    plan: &mut Plan,
    line: &CommandLine,
    family: Family,
    library: &Path,
    plugin: Option<&Path>,
) -> Result<(), String> {
    let archive = library.join("libcommsan_hooks.a");
    if !archive.is_file() {
        return Err(format!(
            "{} is missing; set COMMSAN_LIB to the directory that has it, or reinstall commsan",
            archive.display()
        ));
    }
    if library.as_os_str().as_encoded_bytes().contains(&b',') {
        return Err(format!(
            "{}: a linker option cannot name a path with a comma",
            library.display()
        ));
    }
    let mut add = |option: OsString| plan.back.push(option);
    match (family, plugin) {
        // Code may be generated only now (-flto).
        (Family::Gcc | Family::Gfortran, Some(plugin)) if !line.compiles() => {
            add(joined("-fplugin=", plugin));
        }
        (Family::Gcc | Family::Gfortran, Some(_)) => (),
        // gcc puts its runtime before the objects; ours of that name are empty. The option itself
        // is needed at link time where code is generated then (-flto).
        (Family::Gcc | Family::Gfortran, _) if !line.is_static => {
            let decoys = library.join("gcc");
            plan.front.extend([joined("-B", &decoys), joined("-L", &decoys)]);
            if !line.compiles() || line.declines_thread {
                add("-fsanitize=thread".into());
            }
        }
        (Family::Clang, _) if line.asks_for_thread || line.inputs.contains(&Input::Cuda) => {
            add("-fno-sanitize-link-runtime".into());
        }
        _ => (),
    }
    // As linker options, so that a preceding -x does not make source files of them. Hooks are set
    // up before what the program itself has run before constructors.
    if !line.shared {
        plan.front.push(joined("-Wl,", &library.join("preinit.o")));
    }
    add(joined("-Wl,", &archive));
    // A static libc calls its own functions before anything of ours can be set up.
    if !line.is_static {
        add(joined("-Wl,@", &library.join("wraps.ld-options")));
        if family == Family::Gfortran {
            add("-Wl,--undefined=__wrap__gfortran_compare_string".into());
        }
    }
    if line.no_default_libraries {
        add("-lc".into());
    }
    Ok(())
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut joined = OsString::from(option);
    joined.push(path);
    joined
}

/// The new arguments. What follows a lone `--` are inputs, so ours go before it.
pub fn assemble(front: Vec<OsString>, args: Vec<OsString>, back: Vec<OsString>) -> Vec<OsString> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (options, inputs) = args.split_at(end);
    [&front[..], options, &back[..], inputs].concat()
}

#[cfg(test)]
mod tests;
