//! Our types against the toolkit's headers, and our exported names against its library.

mod support;

use commsan_simgpu::abi;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use support::{Headers, Library, Toolkit, run};

/// The names of our types in the headers, and the version; 0 stands for any version.
const TYPES: &[(&str, &str, u32)] = &[
    ("Dim3", "dim3", 0),
    ("Extent", "cudaExtent", 0),
    ("Pos", "cudaPos", 0),
    ("PitchedPtr", "cudaPitchedPtr", 0),
    ("Memcpy3DParms", "cudaMemcpy3DParms", 0),
    ("Memcpy3DPeerParms", "cudaMemcpy3DPeerParms", 0),
    ("MemsetParams", "cudaMemsetParams", 0),
    ("HostNodeParams", "cudaHostNodeParams", 0),
    ("KernelNodeParams", "cudaKernelNodeParams", 0),
    ("MemLocation", "cudaMemLocation", 0),
    ("MemcpyAttributes", "cudaMemcpyAttributes", 0),
    ("MemAccessDesc", "cudaMemAccessDesc", 0),
    ("MemPoolProps", "cudaMemPoolProps", 0),
    ("MemAllocNodeParams", "cudaMemAllocNodeParams", 0),
    ("LaunchAttribute", "cudaLaunchAttribute", 0),
    ("LaunchConfig", "cudaLaunchConfig_t", 0),
    ("FuncAttributes", "cudaFuncAttributes", 0),
    ("ChannelFormatDesc", "cudaChannelFormatDesc", 0),
    ("ResourceDesc", "cudaResourceDesc", 12),
    ("TextureDesc", "cudaTextureDesc", 0),
    ("GraphInstantiateParams", "cudaGraphInstantiateParams", 0),
    ("GraphExecUpdateResultInfo", "cudaGraphExecUpdateResultInfo", 0),
    ("GraphEdgeData", "cudaGraphEdgeData", 0),
    ("IpcHandle", "cudaIpcMemHandle_t", 0),
    ("PointerAttributes12", "cudaPointerAttributes", 12),
    ("PointerAttributes13", "cudaPointerAttributes", 13),
    ("DeviceProp12", "cudaDeviceProp", 12),
    ("DeviceProp13", "cudaDeviceProp", 13),
];

/// Fields whose names in C are keywords of Rust.
const FIELDS: &[(&str, &str, &str)] = &[
    ("MemLocation", "kind", "type"),
    ("PointerAttributes12", "kind", "type"),
    ("PointerAttributes13", "kind", "type"),
    ("GraphEdgeData", "kind", "type"),
    ("HostNodeParams", "func", "fn"),
];

/// Fields that stand for several fields, which some versions name.
const UNNAMED: &[(&str, &str)] = &[("FuncAttributes", "reserved"), ("MemPoolProps", "reserved")];

/// A line for each type and field, with size or offset.
fn ours(version: u32) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, size, fields) in of_version(version) {
        lines.push(format!("{name} {size}"));
        for (field, offset) in fields {
            if !UNNAMED.contains(&(name, field)) {
                lines.push(format!("{name}.{field} {offset}"));
            }
        }
    }
    lines
}

/// A program that prints these lines from the headers.
fn theirs(version: u32) -> String {
    let mut program = String::from("#include <cuda_runtime.h>\n#include <cstdio>\nint main() {\n");
    for (name, _, fields) in of_version(version) {
        let (_, theirs, _) = TYPES.iter().find(|row| row.0 == name).expect("a row for each type");
        writeln!(program, "printf(\"{name} %zu\\n\", sizeof({theirs}));").expect("a string");
        for (field, _) in fields {
            if UNNAMED.contains(&(name, field)) {
                continue;
            }
            let renamed = FIELDS.iter().find(|row| (row.0, row.1) == (name, field));
            let theirs_field = renamed.map_or(field, |row| row.2);
            let print = format!("printf(\"{name}.{field} %zu\\n\", ");
            writeln!(program, "{print}__builtin_offsetof({theirs}, {theirs_field}));")
                .expect("a string");
        }
    }
    program.push_str("}\n");
    program
}

type Layout = (&'static str, usize, Vec<(&'static str, usize)>);

fn of_version(version: u32) -> impl Iterator<Item = Layout> {
    abi::layout().into_iter().filter(move |(name, ..)| {
        let row = TYPES.iter().find(|row| row.0 == *name).expect("a row for each type");
        row.2 == 0 || row.2 == version
    })
}

fn compare(headers: &Headers) {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, executable) =
        (directory.path().join("layout.cc"), directory.path().join("layout"));
    fs::write(&source, theirs(headers.version)).expect("a writable directory");
    headers.compile(&source, &executable, &[]).expect("a program that compiles");
    let theirs = run(&mut std::process::Command::new(executable)).expect("it runs");
    assert_eq!(theirs.lines().map(str::to_owned).collect::<Vec<_>>(), ours(headers.version));
}

#[test]
fn types_are_laid_out_as_in_the_headers() {
    for headers in Toolkit::find().expect("a toolkit").headers() {
        compare(&headers);
    }
}

fn names(library: &Path) -> BTreeSet<String> {
    let data = fs::read(library).expect("a readable library");
    let file = object::File::parse(&*data).expect("an ELF file");
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.map(|symbol| symbol.name().expect("a name").to_owned()).collect()
}

#[test]
fn every_name_of_the_real_library_is_there_and_none_but_cudas() {
    let library = Library::get().expect("libraries");
    for version in [12, 13] {
        let ours = names(&library.directory().join(format!("libcudart.so.{version}")));
        assert!(ours.contains("cudaMalloc") && ours.contains("__cudaRegisterFatBinary"));
        let node = format!("libcudart.so.{version}");
        let foreign = ours.iter().filter(|n| !n.trim_start_matches('_').starts_with("cuda"));
        // Functions that MPI libraries and commsan itself call on the simulated device.
        let own = [
            "MPIX_GPU_query_support",
            "MPIX_Query_cuda_support",
            "commsan_simgpu_array",
            "commsan_simgpu_execute",
            "commsan_simgpu_failures",
            "commsan_simgpu_mistakes",
            "commsan_simgpu_origin",
            "commsan_simgpu_peers",
            "commsan_simgpu_profile",
            "commsan_simgpu_tag",
            "commsan_simgpu_variable",
            "commsan_simgpu_watch",
        ];
        assert_eq!(foreign.filter(|name| **name != node).collect::<Vec<_>>(), own);
        if let Some(real) = Toolkit::find().expect("a toolkit").real_library(version) {
            let missing: Vec<_> = names(&real).difference(&ours).cloned().collect();
            assert_eq!(missing, [""; 0]);
        }
    }
}
