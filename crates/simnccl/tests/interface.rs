//! Our exported names and values against NCCL's header.

#[path = "../../simgpu/tests/support/mod.rs"]
mod simulation;
mod support;

use commsan_simnccl::abi::{self, Code, DataType, RedOp, Residence};
use object::{Object, ObjectSymbol};
use simulation::{Toolkit, run};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

fn toolkit() -> Toolkit {
    Toolkit::find().expect("a toolkit")
}

/// The functions that the header declares, without those that it omits on Linux.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(toolkit().header("nccl.h")).expect("NCCL's header");
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for line in header.lines().map(str::trim_start) {
        let is_function =
            ["ncclResult_t ", "const char* ", "void "].iter().any(|ty| line.starts_with(ty));
        let Some(before) = line.split('(').next().filter(|_| is_function && line.contains('('))
        else {
            continue;
        };
        let name = before.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        if name.trim_start_matches('p').starts_with("nccl") {
            names.insert(name.to_owned());
        }
    }
    names
}

fn exported() -> BTreeSet<String> {
    let data = fs::read(support::library().expect("a library")).expect("a readable library");
    let file = object::File::parse(&*data).expect("an ELF file");
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.map(|symbol| symbol.name().expect("a name").to_owned()).collect()
}

#[test]
fn what_the_header_declares_is_exported_and_nothing_else() {
    let (declared, exported) = (declared(), exported());
    assert!(declared.contains("ncclAllReduce") && declared.contains("pncclGroupEnd"));
    assert_eq!(declared.difference(&exported).collect::<Vec<_>>(), [""; 0]);
    // The library is NVSHMEM's, too.
    let more = exported.difference(&declared).filter(|name| !name.contains("nvshmem"));
    assert_eq!(more.collect::<Vec<_>>(), [""; 0]);
}

/// The values of expressions with the real header.
fn theirs(expressions: &[String]) -> Vec<(String, i64)> {
    let mut program =
        String::from("#include <nccl.h>\n#include <cstddef>\n#include <cstdio>\nint main() {\n");
    for expression in expressions {
        writeln!(program, "printf(\"%lld\\n\", (long long)({expression}));").expect("a string");
    }
    program.push_str("}\n");
    let directory = tempfile::tempdir().expect("a directory");
    let (source, executable) =
        (directory.path().join("values.cc"), directory.path().join("values"));
    fs::write(&source, program).expect("a writable directory");
    toolkit().headers()[0].compile(&source, &executable, &[]).expect("a program that compiles");
    let output = run(&mut Command::new(executable)).expect("it runs");
    let values = output.lines().map(|line| line.parse().expect("a number"));
    expressions.iter().cloned().zip(values).collect()
}

#[test]
fn values_and_layouts_are_those_of_the_header() {
    let mut ours: Vec<(String, i64)> = Vec::new();
    let mut same = |name: &str, value: i64| ours.push((name.to_owned(), value));
    Code::ALL.iter().for_each(|(one, name)| same(name, *one as i64));
    DataType::ALL.iter().for_each(|(one, name)| same(name, *one as i64));
    RedOp::ALL.iter().for_each(|(one, name)| same(name, *one as i64));
    Residence::ALL.iter().for_each(|(one, name)| same(name, *one as i64));
    same("ncclNumResults", Code::ALL.len() as i64);
    same("ncclNumTypes", DataType::ALL.len() as i64);
    same("ncclNumOps", i64::from(abi::FIRST_OWN_OP));
    same("NCCL_VERSION_CODE", i64::from(abi::VERSION));
    same("NCCL_UNIQUE_ID_BYTES", abi::ID_BYTES as i64);
    same("NCCL_SPLIT_NOCOLOR", i64::from(abi::NO_COLOR));
    same("NCCL_CONFIG_UNDEF_INT", i64::from(abi::UNDEFINED));
    same("NCCL_API_MAGIC", i64::from(abi::MAGIC));
    same("sizeof(ncclUniqueId)", size_of::<abi::UniqueId>() as i64);
    same("sizeof(ncclSimInfo_t)", size_of::<abi::SimInfo>() as i64);
    macro_rules! fields {
        ($ours:ident $theirs:literal: $($field:ident)*) => { $(
            same(
                concat!("offsetof(", $theirs, ", ", stringify!($field), ")"),
                offset_of!(abi::$ours, $field) as i64,
            );
        )* };
    }
    fields!(Config "ncclConfig_t": size magic version blocking cgaClusterSize minCTAs maxCTAs netName splitShare);
    fields!(SimInfo "ncclSimInfo_t": size magic version estimatedTime);
    let expressions: Vec<_> = ours.iter().map(|(expression, _)| expression.clone()).collect();
    assert_eq!(theirs(&expressions), ours);
}
