//! Generates, for one family of MPI libraries and without any library's `mpi.h`: the types and
//! constants of its ABI, the library's own functions (`PMPI_…`), which are looked up at run time,
//! for each row of the call table a C entry point, and the Fortran symbols.

use commsan_mpi_calls::abi::MpiFamily;
use commsan_mpi_calls::abi::handles::HANDLES;
use commsan_mpi_calls::abi::prototypes::{self, Prototype as InC};
use commsan_mpi_calls::{CALLS, Call, Effect};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_mpi)");
    let has = |family: &MpiFamily| {
        env::var_os(format!("CARGO_FEATURE_{}", family.key().to_uppercase())).is_some()
    };
    let families: Vec<_> = MpiFamily::ALL.into_iter().filter(has).collect();
    // Without a family, or with all features, the crate is empty.
    let [family] = *families else { return };
    println!("cargo::rustc-cfg=has_mpi");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let prototypes: BTreeMap<_, _> =
        prototypes::prototypes().map(|c| (c.name, Prototype::of(family, &c))).collect();
    check_makers(&prototypes);
    write(&out.join("bindings.rs"), &bindings(family, &prototypes));
    let library = Library::of(family);
    let (mut entries, mut symmetric) = (String::new(), String::new());
    for (index, call) in CALLS.iter().enumerate() {
        if let Some(of) = call.symmetric {
            if family == MpiFamily::OpenMpi {
                symmetric_entry(&mut symmetric, index, of);
            }
            continue;
        }
        let Some(prototype) = prototypes.get(&*call.name) else {
            // A row stands for more variants than there are.
            let is_variant = call.name.ends_with("_c") || call.name.starts_with("MPIX_");
            assert!(is_variant, "prototypes.txt lacks {}, of calls.txt", call.name);
            continue;
        };
        c_entry(&mut entries, index, call, prototype);
        if call.effect != Effect::Bare {
            fortran_entries(&mut entries, index, call, &library);
        }
    }
    write(&out.join("entries.rs"), &entries);
    write(&out.join("symmetric.rs"), &symmetric);
}

const TO_STRING: &str = "writing to a string";

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("OUT_DIR is writable");
}

/// How the Fortran layers of a family's libraries are made.
struct Library {
    /// Whether there are Fortran symbols that do not end in C entry points.
    fortran: bool,
    /// Fortran symbols beside `mpi_x_` and its spellings, from the lower-case name.
    f08: &'static [&'static str],
    /// Whether `use mpi` has functions of its own, `mpi_x_cptr_`, for calls that return a `C_PTR`.
    cptr: bool,
    /// Whether mpif.h's layer calls `MPI_X`, so that only the caller must be remembered.
    fortran_calls_c: bool,
}

impl Library {
    fn of(family: MpiFamily) -> Library {
        match family {
            MpiFamily::OpenMpi => {
                Library { fortran: true, f08: &["_f08_"], cptr: true, fortran_calls_c: false }
            }
            MpiFamily::Mpich => Library {
                fortran: true,
                f08: &["_f08_", "_f08ts_", "_f08_large_", "_f08ts_large_"],
                cptr: false,
                fortran_calls_c: true,
            },
            // The ABI is that of C: layers for Fortran are made of its functions.
            MpiFamily::Standard => {
                Library { fortran: false, f08: &[], cptr: false, fortran_calls_c: true }
            }
        }
    }
}

/// The prototype of a call in Rust.
struct Prototype {
    /// Parameters as (name, type).
    parameters: Vec<(String, String)>,
    result: String,
}

impl Prototype {
    fn of(family: MpiFamily, c: &InC) -> Prototype {
        let typed = |(index, c): (usize, &'static str)| (format!("a{index}"), in_rust(family, c));
        let parameters = c.parameters().enumerate().map(typed).collect();
        Prototype { parameters, result: in_rust(family, c.result) }
    }

    fn declared(&self) -> String {
        let all = self.parameters.iter().map(|(name, kind)| format!("{name}: {kind}"));
        all.collect::<Vec<_>>().join(", ")
    }

    fn arguments(&self) -> String {
        self.parameters.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ")
    }

    fn types(&self) -> String {
        self.parameters.iter().map(|(_, kind)| &**kind).collect::<Vec<_>>().join(", ")
    }
}

/// The kinds of objects as the standard names their handles' types.
const HANDLE_TYPES: [&str; 12] = [
    "MPI_Comm",
    "MPI_Group",
    "MPI_Datatype",
    "MPI_Op",
    "MPI_Request",
    "MPI_Message",
    "MPI_Win",
    "MPI_File",
    "MPI_Info",
    "MPI_Errhandler",
    "MPI_Session",
    "MPIX_Stream",
];

/// A type of C, as `prototypes.txt` writes it, in Rust.
fn in_rust(family: MpiFamily, c: &str) -> String {
    if c == "fn" {
        return "*mut c_void".to_owned();
    }
    let (c, constant) = c.strip_prefix("const ").map_or((c, false), |c| (c, true));
    let base = c.trim_end_matches('*');
    let name = match base {
        "void" => "c_void",
        "char" => "c_char",
        "int" | "MPI_Fint" => "c_int",
        "double" => "f64",
        "MPI_Aint" | "MPI_Count" | "MPI_Offset" | "MPI_Status" => base,
        handle if HANDLE_TYPES.contains(&handle) => handle,
        other => panic!("{family}: no such type: {other}"),
    };
    let pointers = c.len() - base.len();
    let (last, others) = match (pointers, constant) {
        (0, _) => ("", 0),
        (_, true) => ("*const ", pointers - 1),
        (_, false) => ("*mut ", pointers - 1),
    };
    format!("{}{last}{name}", "*mut ".repeat(others))
}

/// Types, constants and the library's functions.
fn bindings(family: MpiFamily, prototypes: &BTreeMap<&str, Prototype>) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&format!("pub const FAMILY: MpiFamily = MpiFamily::{family:?};"));
    line("use commsan_mpi_calls::abi::MpiFamily;");
    line("use std::ffi::{c_char, c_int, c_void};");
    line("pub type MPI_Aint = isize;\npub type MPI_Count = i64;\npub type MPI_Offset = i64;");
    for handle in HANDLE_TYPES {
        // MPICH's are numbers, but for files, which are ROMIO's.
        if family == MpiFamily::Mpich && handle != "MPI_File" {
            line(&format!("pub type {handle} = c_int;"));
        } else {
            line(&format!("#[repr(C)]\npub struct {handle}_object {{ _opaque: [u8; 0] }}"));
            line(&format!("pub type {handle} = *mut {handle}_object;"));
        }
    }
    let constants = family.constants();
    let (source, all) = (constants.status_source / 4, constants.status_bytes / 4);
    let ints = |count: i64, name: &str| match count {
        0 => String::new(),
        _ => format!("pub {name}: [c_int; {count}], "),
    };
    line(&format!(
        "#[repr(C, align(4))]\n#[derive(Clone, Copy)]\npub struct MPI_Status {{ {}pub MPI_SOURCE: c_int, \
         pub MPI_TAG: c_int, pub MPI_ERROR: c_int, {}}}",
        ints(source, "before"),
        ints(all - source - 3, "after")
    ));
    line(&format!("const _: () = assert!(size_of::<MPI_Status>() == {});", constants.status_bytes));
    for (expression, value) in constants.named() {
        let name = expression.trim_start_matches("(long)");
        if name.starts_with("MPI_") {
            line(&format!("pub const {name}: c_int = {value};"));
        }
    }
    for handle in &HANDLES {
        let name = handle.name;
        let number = match family {
            MpiFamily::OpenMpi => None,
            MpiFamily::Mpich => handle.mpich,
            MpiFamily::Standard => handle.standard,
        };
        let is_null_file = family == MpiFamily::Mpich && handle.name == "MPI_FILE_NULL";
        let body = match (number, handle.open_mpi) {
            _ if is_null_file => "0".to_owned(),
            (Some(number), _) if family == MpiFamily::Mpich => {
                format!("{number:#x}_u32 as c_int as isize as usize")
            }
            (Some(number), _) => format!("{number:#x}"),
            (None, Some(variable)) if family == MpiFamily::OpenMpi => format!(
                "{{\n    use crate::real::Real;\n    static AT: Real = Real::new(c\"{variable}\");\n    \
                     AT.address() as usize\n}}"
            ),
            _ => continue,
        };
        line(&format!("#[inline]\npub fn {name}() -> usize {{ {body} }}"));
    }
    let mut found = String::new();
    for (name, prototype) in prototypes {
        let (declared, result) = (prototype.declared(), &prototype.result);
        let (arguments, types) = (prototype.arguments(), prototype.types());
        // A result that is not an error code: none, if the library lacks the function.
        let absent = match &**result {
            "c_int" => String::new(),
            _ => format!(
                "    if !at::P{name}.exists() {{\n        return unsafe {{ std::mem::zeroed() }};\n    }}\n"
            ),
        };
        writeln!(found, "    pub static P{name}: Real = Real::new(c\"P{name}\");")
            .expect(TO_STRING);
        line(&format!(
            "#[inline]\npub unsafe fn P{name}({declared}) -> {result} {{\n{absent}    \
                 let function: unsafe extern \"C\" fn({types}) -> {result} = \
                     unsafe {{ std::mem::transmute(at::P{name}.address()) }};\n    \
                 unsafe {{ function({arguments}) }}\n}}"
        ));
    }
    line(&format!("pub mod at {{\n    use crate::real::Real;\n{found}}}"));
    out
}

/// Each call that returns a handle must be known: it may be one that was freed before
/// (`objects/freed.rs`). The exceptions return handles that are rarely or never passed to calls of
/// the table while these are checked.
fn check_makers(prototypes: &BTreeMap<&str, Prototype>) {
    const LEFT: [&str; 1] = ["Intercomm_create_from_groups"];
    const KINDS: [&str; 6] =
        ["MPI_Comm", "MPI_Datatype", "MPI_File", "MPI_Group", "MPI_Op", "MPI_Win"];
    let is_variable =
        |(_, kind): &(String, String)| KINDS.iter().any(|h| *kind == format!("*mut {h}"));
    let known = |name: &str| {
        CALLS.iter().any(|call| call.effect != Effect::Bare && call.bare_name() == name)
    };
    let mut unknown: Vec<_> = prototypes
        .iter()
        .filter(|(_, prototype)| prototype.parameters.iter().any(is_variable))
        .filter_map(|(name, _)| name.strip_prefix("MPI_"))
        .filter(|name| !LEFT.contains(name) && !known(name))
        .collect();
    unknown.sort_unstable();
    assert!(unknown.is_empty(), "calls.txt lacks calls that hand out handles: {unknown:?}");
}

fn c_entry(out: &mut String, index: usize, call: &Call, prototype: &Prototype) {
    let name = &call.name;
    // Of some calls only that they are made is looked at.
    let is_bare = call.effect == Effect::Bare && call.params.is_empty();
    let agree = is_bare || prototype.parameters.len() == call.params.len();
    assert!(agree, "{name}: calls.txt and prototypes.txt disagree");
    let words = prototype.parameters.iter().filter(|_| !is_bare);
    let words: Vec<_> = words.map(|(name, _)| format!("{name}.word()")).collect();
    // A receive is checked by what has really arrived: it gets a status if the program does not
    // pass one.
    let status = call.at.status.filter(|_| call.needs_status());
    let own = status.map(|i| {
        format!(
            "    let mut own = ::core::mem::MaybeUninit::<MPI_Status>::uninit();\n    \
                 let a{i} = if a{i}.word() == MPI_STATUS_IGNORE as usize && real::is_ours() {{ own.as_mut_ptr() }} else {{ a{i} }};\n"
        )
    });
    // Which messages receives from any rank have got, if that matters.
    let count = call.params.iter().position(|p| p.name.ends_with("count")).unwrap_or(0);
    let statuses = call.named("statuses").map(|i| {
        format!(
            "    let mut own = [const {{ ::core::mem::MaybeUninit::<MPI_Status>::uninit() }}; OWN_STATUSES];\n    \
                 let a{i} = if needs_statuses(a{count}.word(), a{i}.word()) {{ own.as_mut_ptr().cast() }} else {{ a{i} }};\n"
        )
    });
    // Operations of the program are called by a function of commsan's own.
    let operation = call.named("user_fn").map(|i| {
        let large = call.large;
        format!("    let a{i} = instead_of(a{i}.word(), {large}, false) as *mut c_void;\n")
    });
    let own = own.or(statuses).or(operation);
    let args = prototype.arguments();
    let next = match synchronous(name) {
        Some(strict) => {
            format!("if is_strict() {{ P{strict}({args}) }} else {{ P{name}({args}) }}")
        }
        None => format!("P{name}({args})"),
    };
    writeln!(
        out,
        "/// Entry point of `{name}`.\n\
         #[unsafe(no_mangle)]\n\
         #[inline(never)]\n\
         pub unsafe extern \"C\" fn {name}({}) -> c_int {{\n\
         \x20   let caller = ::commsan_process::caller!();\n\
         {}\
         \x20   let words = [{}];\n\
         \x20   // SAFETY: the program's own arguments, passed on.\n\
         \x20   around({index}, &words, Sum::of(&words), Language::C, caller, &move || unsafe {{ {next} }})\n\
         }}",
        prototype.declared(),
        own.unwrap_or_default(),
        words.join(", "),
    )
    .expect(TO_STRING);
}

/// The synchronous send that a standard send may be: it has the same parameters.
fn synchronous(name: &str) -> Option<String> {
    let (small, large) = match name.strip_suffix("_c") {
        Some(small) => (small, "_c"),
        None => (name, ""),
    };
    let strict = match small {
        "MPI_Send" => "MPI_Ssend",
        "MPI_Isend" => "MPI_Issend",
        "MPI_Send_init" => "MPI_Ssend_init",
        _ => return None,
    };
    Some(format!("{strict}{large}"))
}

/// The Fortran symbols of a call, in an order that all spellings share.
fn fortran_symbols(name: &str, call: &Call, library: &Library) -> Vec<String> {
    let lower = name.to_lowercase();
    if let Some(small) = lower.strip_suffix("_c") {
        // Large counts exist in mpi_f08 only, as overloads of the plain name.
        let large = library.f08.iter().filter(|suffix| suffix.contains("large"));
        return large.map(|suffix| format!("{small}{suffix}")).collect();
    }
    let spellings = |name: &str| {
        [name.to_owned(), format!("{name}_"), format!("{name}__"), name.to_uppercase()]
    };
    let mut symbols = spellings(&lower).to_vec();
    let returns_address = call.name == "MPI_Alloc_mem" || call.named("baseptr").is_some();
    if library.cptr && returns_address {
        symbols.extend(spellings(&format!("{lower}_cptr")));
    }
    let plain = library.f08.iter().filter(|suffix| !suffix.contains("large"));
    symbols.extend(plain.map(|suffix| format!("{lower}{suffix}")));
    symbols
}

/// The entry point of a call of OpenSHMEM, in front of the library that defines it.
fn symmetric_entry(out: &mut String, index: usize, call: &commsan_mpi_calls::shmem::Call) {
    let name = &call.name;
    let types: Vec<_> = call.params.iter().map(|param| param.passed.in_rust()).collect();
    let numbered = (0..).zip(&types);
    let declared: Vec<_> = numbered.map(|(at, kind)| format!("a{at}: {kind}")).collect();
    let arguments: Vec<_> = (0..types.len()).map(|at| format!("a{at}")).collect();
    let words: Vec<_> = arguments.iter().map(|name| format!("{name}.word()")).collect();
    let [types, declared, arguments, words] =
        [types.join(", "), declared.join(", "), arguments.join(", "), words.join(", ")];
    let result = call.result.map(|result| format!(" -> {}", result.in_rust())).unwrap_or_default();
    let (before, bound, store, behind) = match call.result {
        None => ("", "", "0", ""),
        Some(_) => (
            "    let mut result = ::core::mem::MaybeUninit::uninit();\n",
            "let next = ",
            "result.write(next).word()",
            "    // SAFETY: the call above has stored it.\n    unsafe { result.assume_init() }\n",
        ),
    };
    writeln!(
        out,
        "/// Entry point of `{name}`.\n\
         #[unsafe(no_mangle)]\n\
         #[inline(never)]\n\
         pub unsafe extern \"C\" fn {name}({declared}){result} {{\n\
         \x20   static NEXT: Next = Next::new(c\"{name}\");\n\
         \x20   let caller = ::commsan_process::caller!();\n\
         {before}\
         \x20   around({index}, &[{words}], caller, &mut || {{\n\
         \x20       // SAFETY: the library's function, which has this type, with the program's arguments.\n\
         \x20       {bound}unsafe {{\n\
         \x20           let next = NEXT.required_by(caller.pc);\n\
         \x20           ::core::mem::transmute::<*mut c_void, unsafe extern \"C\" fn({types}){result}>(next)(\n\
         \x20               {arguments}\n\
         \x20           )\n\
         \x20       }};\n\
         \x20       {store}\n\
         \x20   }});\n\
         {behind}\
         }}"
    )
    .expect(TO_STRING);
}

fn fortran_entries(out: &mut String, index: usize, call: &Call, library: &Library) {
    if !library.fortran {
        return;
    }
    let symbols = fortran_symbols(&call.name, call, library);
    let strict = synchronous(&call.name).map(|name| fortran_symbols(&name, call, library));
    let (visible, lengths) = call.fortran_arguments();
    let count = visible + lengths;
    let params: Vec<_> = (0..count).map(|i| format!("a{i}: usize")).collect();
    let args: Vec<_> = (0..count).map(|i| format!("a{i}")).collect();
    let (params, args) = (params.join(", "), args.join(", "));
    for (nth, symbol) in symbols.iter().enumerate() {
        // MPICH's mpi_f08 calls PMPI, except where it must unpack a buffer's descriptor.
        let through_c = library.fortran_calls_c && !symbol.ends_with("_f08_");
        let body = match through_c {
            true => "calling(caller, || next(__ARGS__))".replace("__ARGS__", &args),
            false => {
                format!(
                    "fortran({index}, [{args}], {lengths}, caller, &move |[{args}]: [usize; {count}]| next({args}))"
                )
            }
        };
        let types = vec!["usize"; count].join(", ");
        // Otherwise it comes back to the C entry point.
        let strict = strict.as_ref().filter(|_| !through_c).map(|names| &names[nth]);
        let next = match strict {
            Some(strict) => format!(
                "{{\n    static STRICT: Next = Next::new(c\"{strict}\");\n    \
                 if is_strict() {{ STRICT.required_by(caller.pc) }} else {{ NEXT.required_by(caller.pc) }}\n    }}"
            ),
            None => "NEXT.required_by(caller.pc)".to_owned(),
        };
        writeln!(
            out,
            "/// Fortran entry point of `{}`.\n\
             #[unsafe(no_mangle)]\n\
             #[inline(never)]\n\
             pub unsafe extern \"C\" fn {symbol}({params}) {{\n\
             \x20   static NEXT: Next = Next::new(c\"{symbol}\");\n\
             \x20   let caller = ::commsan_process::caller!();\n\
             \x20   // SAFETY: the library's own symbol, with the program's arguments.\n\
             \x20   let next = unsafe {{ ::core::mem::transmute::<*mut c_void, unsafe extern \"C\" fn({types})>({next}) }};\n\
             \x20   // SAFETY: as above.\n\
             \x20   unsafe {{ {body} }}\n\
             }}",
            call.name
        )
        .expect(TO_STRING);
    }
}
