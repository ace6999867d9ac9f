//! Our arguments against the prototypes of the toolkit's headers.

#[path = "../../simgpu/tests/support/mod.rs"]
mod support;

use commsan_cuda_shim::{Entry, entries};
use object::{Object, ObjectSymbol};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use support::{Headers, Toolkit};

/// What of a type decides how it is passed, for each of ours: what is in a register of its own, by
/// its size, and structures that are not.
fn class(ours: &str) -> &'static str {
    match ours {
        "c_int" | "c_uint" => "Int",
        "Dim3" => "dim3",
        "Extent" => "cudaExtent",
        "PitchedPtr" => "cudaPitchedPtr",
        "IpcHandle" => "cudaIpcMemHandle_t",
        "UniqueId" => "ncclUniqueId",
        _ => {
            let pointer = ["Out <", "In <", "Out<", "In<", "*", "Option"];
            let word = ours == "usize" || ours == "u64";
            assert!(word || pointer.iter().any(|p| ours.starts_with(p)), "what is {ours}?");
            "Word"
        }
    }
}

/// Functions whose arguments are words here, since CUDA 12 and 13 differ in what they are.
const IN_WORDS: &[&str] = &[
    "cudaGraphAddDependencies",
    "cudaGraphAddNode",
    "cudaGraphRemoveDependencies",
    "cudaMemPrefetchAsync",
    "cudaMemcpyBatchAsync",
    "cudaStreamGetCaptureInfo",
    "cudaStreamUpdateCaptureDependencies",
];

/// Functions that CUDA 13's headers do not declare: those of the compiler's code, those that are
/// gone, and what some were called in the library when they were new.
const UNDECLARED: &[&str] = &[
    "__cudaGetKernel",
    "__cudaLaunchKernel",
    "__cudaPopCallConfiguration",
    "cudaEventElapsedTime_v2",
    "cudaGraphAddDependencies_v2",
    "cudaGraphAddNode_v2",
    "cudaGraphRemoveDependencies_v2",
    "cudaMemPrefetchAsync_v2",
    "cudaStreamGetCaptureInfo_v2",
    "cudaStreamGetCaptureInfo_v3",
    "cudaStreamUpdateCaptureDependencies_v2",
    "cudaThreadExit",
    "cudaThreadSynchronize",
];

const PREAMBLE: &str = r#"
#include <cuda_runtime_api.h>
#define __CUDA_RUNTIME_H__ // which overloads what is looked at here
#include <nccl.h>
#include <type_traits>
struct Word; struct Int;
// How an argument of a type is passed.
template <class T, class = void> struct Class { using type = T; };
template <class T> struct Class<T, std::enable_if_t<std::is_pointer_v<T>>> { using type = Word; };
template <class T> struct Class<T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>> {
    using type = std::conditional_t<sizeof(T) == 8, Word, Int>;
};
// A place for devices is as long as a word, and passed as one.
template <> struct Class<cudaMemLocation> { using type = Word; };
// Handles of either kind are as many bytes.
template <> struct Class<cudaIpcEventHandle_t> { using type = cudaIpcMemHandle_t; };
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(cudaIpcMemHandle_t));
template <class...> struct Classes;
template <class T> struct Function;
template <class R, class... A> struct Function<R (*)(A...)> {
    static_assert(sizeof(R) == 4);
    using type = Classes<typename Class<A>::type...>;
    template <class T> static constexpr bool fits = std::is_same_v<T, Word> || std::is_same_v<T, Int>;
    static constexpr bool is_in_words = (fits<typename Class<A>::type> && ...);
    static constexpr int count = sizeof...(A);
};
static_assert(sizeof(cudaMemLocation) == 8);
static_assert(sizeof(cudaGraphNodeParams) == 256);
static_assert(offsetof(cudaGraphNodeParams, host.fn) == 16);
static_assert(offsetof(cudaGraphNodeParams, memcpy.copyParams) == 32);
#define CHECK(name, ...) \
    static_assert(std::is_same_v<Function<decltype(&name)>::type, Classes<__VA_ARGS__>>, #name)
#define CHECK_WORDS(name, most) \
    static_assert(Function<decltype(&name)>::is_in_words, #name); \
    static_assert(Function<decltype(&name)>::count <= most, #name)
"#;

/// The names in the headers.
fn declared(headers: &Headers, directory: &Path) -> HashSet<String> {
    let (source, text) = (directory.join("names.cc"), directory.join("names"));
    fs::write(
        &source,
        "#include <cuda_runtime_api.h>\n#define __CUDA_RUNTIME_H__\n#include <nccl.h>\n",
    )
    .expect("a writable directory");
    headers.compile(&source, &text, &["-E".to_owned()]).expect("headers");
    let text = fs::read_to_string(text).expect("their text");
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

/// A program that does not compile if a declared function has other arguments than ours; and the
/// functions that are not declared.
fn program(declared: &HashSet<String>) -> (String, BTreeSet<&'static str>) {
    let (mut program, mut undeclared) = (PREAMBLE.to_owned(), BTreeSet::new());
    for Entry { name, arguments } in entries() {
        // Twins are declared only where they are meant.
        let name = name.trim_end_matches("_ptsz").trim_end_matches("_ptds");
        if !declared.contains(name) {
            undeclared.insert(name);
            continue;
        }
        let line = if IN_WORDS.contains(&name) {
            format!("CHECK_WORDS({name}, {});", arguments.len())
        } else {
            let classes = arguments.iter().map(|ours| class(ours));
            format!("CHECK({});", [name].into_iter().chain(classes).collect::<Vec<_>>().join(", "))
        };
        program += &(line + "\n");
    }
    (program + "int main() {}\n", undeclared)
}

#[test]
fn arguments_are_those_of_the_headers() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("check.cc");
    for headers in Toolkit::find().expect("a toolkit").headers() {
        let (program, undeclared) = program(&declared(&headers, directory.path()));
        fs::write(&source, program).expect("a writable directory");
        let flags = ["-std=c++20".to_owned()];
        headers.compile(&source, &directory.path().join("check"), &flags).expect("our arguments");
        if headers.version == 13 {
            assert_eq!(undeclared.into_iter().collect::<Vec<_>>(), UNDECLARED);
        }
    }
}

/// Functions of CUDA 12 that CUDA 13 has no more.
const GONE: &[&str] = &[
    "cudaEventElapsedTime_v2",
    "cudaGraphAddDependencies_v2",
    "cudaGraphAddNode_v2",
    "cudaGraphRemoveDependencies_v2",
    "cudaMemPrefetchAsync_v2",
    "cudaMemPrefetchAsync_v2_ptsz",
    "cudaStreamGetCaptureInfo_v2",
    "cudaStreamGetCaptureInfo_v2_ptsz",
    "cudaStreamGetCaptureInfo_v3",
    "cudaStreamGetCaptureInfo_v3_ptsz",
    "cudaStreamUpdateCaptureDependencies_v2",
    "cudaStreamUpdateCaptureDependencies_v2_ptsz",
    "cudaThreadExit",
    "cudaThreadSynchronize",
];

/// What the library has, we are in front of under the very same name.
#[test]
fn functions_are_those_of_the_library() {
    let toolkit = Toolkit::find().expect("a toolkit");
    let Some(library) = toolkit.real_library(13) else { return };
    let data = fs::read(library).expect("a readable library");
    let file = object::File::parse(&*data).expect("an ELF file");
    let theirs: HashSet<&str> =
        file.dynamic_symbols().map(|symbol| symbol.name().expect("a name")).collect();
    let cudas = entries().map(|entry| entry.name).filter(|name| !name.starts_with("nccl"));
    let missing: BTreeSet<_> = cudas.filter(|name| !theirs.contains(name)).collect();
    assert_eq!(missing.into_iter().collect::<Vec<_>>(), GONE);
}
