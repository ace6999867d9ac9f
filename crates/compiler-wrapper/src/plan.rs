//! Determines what is added to a command line.
//!
//! Compiling: commsan's plugin if the compiler can load one, otherwise ThreadSanitizer's
//! instrumentation, of which commsan uses only the calls. Frame pointers are enabled and sibling
//! calls disabled, so that the hook for function exits still sees the frame of the returning
//! function. Linking: commsan's archive instead of ThreadSanitizer's runtime, and the list of libc
//! functions to wrap. `docs/compile.md` gives the reason for each option.

use std::ffi::OsString;
use std::path::Path;

use crate::command_line::{CommandLine, Input};
use crate::family::Family;

/// Arguments to put in front of and behind the user's own, and a warning for the user.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Arguments that the user's options can override, and that the linker searches first.
    pub front: Vec<OsString>,
    /// Arguments that override the user's options, and that must be linked last.
    pub back: Vec<OsString>,
    /// Why nothing is added; `None` if something is.
    pub warning: Option<String>,
    /// Whether code gets slower calls of hooks, since there is no plugin.
    pub lacks_plugin: bool,
}

/// Enables frame pointers, and keeps the exit hook's call in front of the epilogue.
const FRAMES: &[&str] =
    &["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls"];

/// Prevents merging of calls that differ only in their lines, since a finding names one line.
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

/// Without the plugin, gcc expands these inline after instrumentation if sizes are constant.
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

/// Keeps calls of `memcpy` and `memset` in gfortran's code, which cannot be kept by name: array
/// assignments become copies. The front end also declares that arguments with explicit interfaces
/// do not escape, so that local arrays passed to MPI would get no hooks.
const KEPT_COPIES: &[&str] = &[
    "-mmemcpy-strategy=libcall:-1:noalign",
    "-mmemset-strategy=libcall:-1:noalign",
    "-fno-tree-pta",
];

/// Disables the warning about fences, which commsan supports, and the macro by which the program
/// would detect ThreadSanitizer.
const QUIET: &[&str] = &["-Wno-tsan", "-U__SANITIZE_THREAD__"];

/// Passed to the compiler proper, so that the driver links no runtime. Marks functions to be
/// checked, and prevents the optimizer from introducing accesses.
const CLANG_THREAD: &[&str] = &["-Xclang", "-fsanitize=thread"];

/// Disables the thread pass's own plain accesses, which come from elsewhere. In the driver's
/// options, `-mllvm` would exclude `-fembed-bitcode`.
const CLANG_ACCESSES: &[&str] =
    &["-Xclang", "-mllvm", "-Xclang", "-tsan-instrument-memory-accesses=0"];

/// Disables all other instrumentation by clang's thread pass: the plugin inserts it, too.
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

/// Without the plugin, plain accesses come from the coverage pass, since the thread pass omits
/// arrays on the stack.
const CLANG_HOOKS: &[&str] = &[
    "-Xclang",
    "-fsanitize-coverage-type=1",
    "-Xclang",
    "-fsanitize-coverage-trace-loads",
    "-Xclang",
    "-fsanitize-coverage-trace-stores",
];

/// Without the plugin, vector accesses of more than 16 bytes are not observed.
const NARROW_VECTORS: &[&str] = &["-mprefer-vector-width=128"];
/// Without the plugin, masked and gathered accesses, which the vectorizers use with AVX, are not
/// observed.
const NO_VECTORS: &[&str] = &["-fno-vectorize", "-fno-slp-vectorize"];

/// Determines what to add. `library` is the directory of the archive, `plugin` the plugin that this
/// compiler can load, if there is one.
pub fn plan(
    line: &CommandLine,
    family: Family,
    library: &Path,
    plugin: Option<&Path>,
) -> Result<Plan, String> {
    // If the user requests gcc's own thread pass, the plugin is not added.
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
        plan.lacks_plugin = plugin.is_none() && !line.asks_for_thread;
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

/// What makes a compiler use a plugin in the simplest case.
pub fn trial(family: Family, plugin: &Path) -> Vec<OsString> {
    // A vendor's compiler that is none of a known family is of LLVM.
    let family = if family == Family::Other { Family::Clang } else { family };
    let mut plan = Plan::default();
    compile(&mut plan, &CommandLine::parse(&["-c".into()]), family, Some(plugin));
    [plan.front, plan.back].concat()
}

/// clang compiles device code, too, which must not get hooks. Options restricted to the host cannot
/// have arguments of their own, so the driver's option selects the thread pass, and options behind
/// `-mllvm` disable parts of it.
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
        // With -flto, code is generated only at link time.
        (Family::Gcc | Family::Gfortran, Some(plugin)) if !line.compiles() => {
            add(joined("-fplugin=", plugin));
        }
        (Family::Gcc | Family::Gfortran, Some(_)) => (),
        // gcc links its runtime in front of the objects; commsan provides empty libraries of that
        // name. With -flto, the link needs the option itself, since it generates code.
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
    // As linker options, so that a preceding -x does not make them source files. Initialises hooks
    // before functions that the program runs before its constructors.
    if !line.shared {
        plan.front.push(joined("-Wl,", &library.join("preinit.o")));
    }
    add(joined("-Wl,", &archive));
    // A static libc calls its own functions before hooks can be initialised.
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

/// The new arguments. Words after a lone `--` are inputs, so the added options precede it.
pub fn assemble(front: Vec<OsString>, args: Vec<OsString>, back: Vec<OsString>) -> Vec<OsString> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (options, inputs) = args.split_at(end);
    [&front[..], options, &back[..], inputs].concat()
}

#[cfg(test)]
mod tests;
