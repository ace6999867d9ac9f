//! Generates the MPI entry points: for each row of the call table that this MPI's `mpi.h` has, a
//! C function with the header's own prototype, and the Fortran symbols.

use commsan_mpi_calls::abi::MpiFamily;
use commsan_mpi_calls::{CALLS, Call, Effect};
use std::collections::HashMap;
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/probe.h");
    println!("cargo::rustc-check-cfg=cfg(has_mpi)");
    println!("cargo::rustc-check-cfg=cfg(has_sessions)");
    let openmpi = env::var_os("CARGO_FEATURE_OPENMPI").is_some();
    let mpich = env::var_os("CARGO_FEATURE_MPICH").is_some();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = match (openmpi, mpich) {
        (true, false) => Library::OPEN_MPI,
        (false, true) => Library::MPICH,
        // Without an MPI, or with all features, the crate is empty.
        _ => return,
    };
    println!("cargo::rustc-cfg=has_mpi");
    let flags = library.flags();
    let bindings = bindgen::Builder::default()
        .header("src/probe.h")
        .header_contents("assertions.h", &assertions(library.family))
        .clang_args(&flags)
        .allowlist_function("PMPIX?_.*")
        .allowlist_type("MPI_.*")
        .allowlist_var("COMMSAN_.*")
        .allowlist_var(
            "ompi_mpi_(byte|op_no_op|op_null|info_null|datatype_null|group_null|group_empty|comm_null|win_null|file_null)",
        )
        .allowlist_var("MPI_F_STATUS.*")
        .allowlist_var("MPI_MAX_.*")
        .layout_tests(false)
        .generate_comments(false)
        .generate()
        .unwrap_or_else(|e| panic!("cannot read mpi.h of {}: {e}", library.family))
        .to_string();
    let prototypes = prototypes(&bindings);
    std::fs::write(out.join("bindings.rs"), bindings).expect("OUT_DIR is writable");
    check_makers(&prototypes);
    if prototypes.contains_key("PMPI_Session_init") {
        println!("cargo::rustc-cfg=has_sessions");
    }
    let mut entries = String::new();
    for (index, call) in CALLS.iter().enumerate() {
        if let Some(prototype) = prototypes.get(&call.name.replacen("MPI", "PMPI", 1)) {
            c_entry(&mut entries, index, call, prototype);
            if call.effect != Effect::Bare {
                fortran_entries(&mut entries, index, call, &library);
            }
        }
    }
    write(&out.join("entries.rs"), &entries);
    for name in library.libraries {
        println!("cargo::rustc-link-lib=dylib={name}");
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("OUT_DIR is writable");
}

/// What differs between MPI libraries at build time.
struct Library {
    family: MpiFamily,
    /// Environment variable that names the compiler wrapper, and candidates.
    wrapper: (&'static str, &'static [&'static str]),
    /// Arguments that make the wrapper print its compile command.
    show: &'static [&'static str],
    libraries: &'static [&'static str],
    /// Fortran symbols beside `mpi_x_` and its spellings, from the lower-case name.
    f08: &'static [&'static str],
    /// Whether `use mpi` has functions of their own, `mpi_x_cptr_`, for calls that return a `C_PTR`.
    cptr: bool,
    /// Whether mpif.h's layer calls `MPI_X`, so that only the caller must be remembered.
    fortran_calls_c: bool,
}

impl Library {
    const OPEN_MPI: Library = Library {
        family: MpiFamily::OpenMpi,
        wrapper: ("COMMSAN_OPENMPI_CC", &["mpicc.openmpi", "mpicc"]),
        show: &["--showme:compile"],
        libraries: &["mpi"],
        f08: &["_f08_"],
        cptr: true,
        fortran_calls_c: false,
    };
    const MPICH: Library = Library {
        family: MpiFamily::Mpich,
        wrapper: ("COMMSAN_MPICH_CC", &["mpicc.mpich", "mpicc"]),
        show: &["-show"],
        libraries: &["mpich"],
        f08: &["_f08_", "_f08ts_", "_f08_large_", "_f08ts_large_"],
        cptr: false,
        fortran_calls_c: true,
    };

    /// The wrapper's include paths.
    fn flags(&self) -> Vec<String> {
        let (variable, candidates) = self.wrapper;
        println!("cargo::rerun-if-env-changed={variable}");
        let chosen = env::var(variable).ok();
        let tried: Vec<&str> =
            chosen.iter().map(String::as_str).chain(candidates.iter().copied()).collect();
        for wrapper in &tried {
            if let Ok(output) = Command::new(wrapper).args(self.show).output()
                && output.status.success()
            {
                let text = String::from_utf8_lossy(&output.stdout);
                let is_search = |f: &&str| f.starts_with("-I") || f.starts_with("-L");
                let flags: Vec<_> = text.split_whitespace().filter(is_search).collect();
                for path in flags.iter().filter_map(|f| f.strip_prefix("-L")) {
                    println!("cargo::rustc-link-search=native={path}");
                }
                return flags
                    .iter()
                    .filter(|f| f.starts_with("-I"))
                    .map(|f| f.to_string())
                    .collect();
            }
        }
        panic!("no compiler wrapper of {} found (tried {tried:?}); set {variable}", self.family)
    }
}

/// Static assertions that the table of this family's constants and handles, from which programs are
/// analysed without their `mpi.h`, agrees with this `mpi.h`: if not, it cannot be read.
fn assertions(family: MpiFamily) -> String {
    let mut text = "#include <mpi.h>\n#include <stddef.h>\n".to_owned();
    for (expression, value) in family.claims() {
        writeln!(text, "_Static_assert({expression} == {value}, \"{expression}\");")
            .expect("writing to a string");
    }
    for (handle, number) in family.numbered_handles() {
        // Newer headers lack what the standard has removed.
        let name = handle.name;
        writeln!(text, "#ifdef {name}\n_Static_assert({name} == {number:#x}, \"{name}\");\n#endif")
            .expect("writing to a string");
    }
    text
}

/// A function of the header: parameters as (name, type) in source form.
type Prototype = Vec<(String, String)>;

fn prototypes(bindings: &str) -> HashMap<String, Prototype> {
    let file = syn::parse_file(bindings).expect("bindgen writes valid Rust");
    let mut found = HashMap::new();
    for item in file.items {
        let syn::Item::ForeignMod(block) = item else { continue };
        for function in block.items {
            let syn::ForeignItem::Fn(function) = function else { continue };
            let params =
                function.sig.inputs.iter().enumerate().filter_map(|(i, input)| match input {
                    syn::FnArg::Typed(param) => {
                        use quote::ToTokens;
                        Some((format!("a{i}"), param.ty.to_token_stream().to_string()))
                    }
                    syn::FnArg::Receiver(_) => None,
                });
            found.insert(function.sig.ident.to_string(), params.collect());
        }
    }
    found
}

/// Whoever hands out a handle must be known: it may be one that was freed before (`objects/freed.rs`). Left are calls
/// whose handles no call of the table is given while it is looked at, or hardly ever.
fn check_makers(prototypes: &HashMap<String, Prototype>) {
    const LEFT: [&str; 1] = ["Intercomm_create_from_groups"];
    const HANDLES: [&str; 6] =
        ["MPI_Comm", "MPI_Datatype", "MPI_File", "MPI_Group", "MPI_Op", "MPI_Win"];
    let is_variable =
        |(_, kind): &(String, String)| HANDLES.iter().any(|h| *kind == format!("* mut {h}"));
    let known = |name: &str| {
        CALLS.iter().any(|call| call.effect != Effect::Bare && call.bare_name() == name)
    };
    let mut unknown: Vec<_> = prototypes
        .iter()
        .filter(|(_, prototype)| prototype.iter().any(is_variable))
        .filter_map(|(name, _)| name.strip_prefix("PMPI_"))
        // What the tool interface tells are predefined datatypes.
        .filter(|name| !LEFT.contains(name) && !name.starts_with("T_") && !known(name))
        .collect();
    unknown.sort_unstable();
    assert!(unknown.is_empty(), "calls.txt lacks calls that hand out handles: {unknown:?}");
}

fn c_entry(out: &mut String, index: usize, call: &Call, prototype: &Prototype) {
    let name = &call.name;
    let is_bare = call.effect == Effect::Bare;
    let agree = is_bare || prototype.len() == call.params.len();
    assert!(agree, "{name}: calls.txt and mpi.h disagree");
    let params: Vec<_> = prototype.iter().map(|(n, t)| format!("{n}: {t}")).collect();
    let args: Vec<_> = prototype.iter().map(|(n, _)| n.as_str()).collect();
    let words: Vec<_> = prototype
        .iter()
        .filter(|_| !is_bare)
        .map(|(n, t)| {
            if t.contains("Option") || t.contains("_function") {
                "0".into()
            } else {
                format!("{n}.word()")
            }
        })
        .collect();
    // A receive is checked by what has really arrived: give it a status if the program does not want
    // one.
    let status = call.at.status.filter(|_| call.needs_status());
    let own = status.map(|i| {
        format!(
            "    let mut own = ::core::mem::MaybeUninit::<MPI_Status>::uninit();\n    \
                 let a{i} = if a{i}.word() == COMMSAN_STATUS_IGNORE as usize {{ own.as_mut_ptr() }} else {{ a{i} }};\n"
        )
    });
    // Which messages receives from anybody have got, if that matters.
    let count = call.params.iter().position(|p| p.name.ends_with("count")).unwrap_or(0);
    let statuses = call.named("statuses").map(|i| {
        format!(
            "    let mut own = [const {{ ::core::mem::MaybeUninit::<MPI_Status>::uninit() }}; OWN_STATUSES];\n    \
                 let a{i} = if needs_statuses(a{count}.word(), a{i}.word()) {{ own.as_mut_ptr().cast() }} else {{ a{i} }};\n"
        )
    });
    let own = own.or(statuses);
    let args = args.join(", ");
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
        params.join(", "),
        own.unwrap_or_default(),
        words.join(", "),
    )
    .expect("writing to a string");
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

/// The Fortran symbols of a call, in an order that is the same for all.
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

fn fortran_entries(out: &mut String, index: usize, call: &Call, library: &Library) {
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
        .expect("writing to a string");
    }
}
