//! `commsan nvcc`: builds are as without it, with hooks in the host's code and none in the
//! device's.

use crate::setup::{Place, everything, installed, nvcc, simulated};

/// Host compilers, alone and behind MPI's wrappers.
const HOSTS: &[&str] = &["g++", "clang++-19", "mpicxx.openmpi", "mpicxx.mpich"];

/// `command` with the toolkit's nvcc for `TOOL`.
fn with_nvcc(command: &str) -> String {
    format!("export LD_LIBRARY_PATH={}; ", simulated().display())
        + &command.replace("TOOL", &nvcc().display().to_string())
}

#[track_caller]
fn is_instrumented(place: &Place, program: &str) {
    let symbols = place.ok(&format!("nm {program}"));
    let hooked = symbols.contains("commsan_report") && symbols.contains("__tsan_init");
    assert!(hooked && !symbols.contains(" U __tsan"), "{symbols}");
    assert!(place.ok(&format!("ldd {program}; true")).contains("libcudart.so"));
}

#[test]
fn programs_run_as_ever_with_every_host_compiler() {
    for host in installed(HOSTS) {
        let place = Place::new();
        let command = format!("@nvcc TOOL -ccbin {host} -O2 -arch=sm_90 SRC/program.cu -o wrapped");
        assert_eq!(place.ok(&with_nvcc(&command)), "", "{host}");
        assert_eq!(place.ok(&with_nvcc("./wrapped")), "85344 85344\n", "{host}");
        is_instrumented(&place, "wrapped");
        // Lines of host code, of device code, and PTX.
        assert!(place.ok("readelf -S wrapped").contains(".debug_line"));
    }
}

#[test]
fn steps_of_their_own_and_mixed_languages() {
    let place = Place::new();
    let c = "int twice(int *p) { return *p += *p; }\n";
    let cu = "extern \"C\" int twice(int *);\n__global__ void k(int *p) { *p = 21; }\n\
              int main() { int *p; cudaMallocManaged(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize(); \
              return twice(p) != 42; }\n";
    std::fs::write(place.0.join("twice.c"), c).unwrap();
    std::fs::write(place.0.join("main.cu"), cu).unwrap();
    std::fs::copy(place.0.join("main.cu"), place.0.join("main.cpp")).unwrap();
    std::fs::write(place.0.join("options"), "-O1 -ccbin g++").unwrap();
    for build in [
        "@nvcc TOOL -c main.cu twice.c && @nvcc TOOL main.o twice.o -o all",
        "@nvcc TOOL main.cu twice.c -o all",
        "@nvcc TOOL -x cu -c main.cpp -o m.o && @nvcc TOOL m.o twice.c -o all",
        "@nvcc TOOL -optf options main.cu twice.c -o all",
        "@nvcc TOOL -dc main.cu -o m.o && @nvcc TOOL m.o twice.c -o all",
        "@nvcc TOOL -lib twice.c -o twice.a && @nvcc TOOL main.cu twice.a -o all",
        "@nvcc TOOL -shared -Xcompiler -fPIC twice.c -o libtwice.so && \
         @nvcc TOOL main.cu -L. -ltwice -Xlinker -rpath=. -o all",
        "NVCC_PREPEND_FLAGS='-ccbin g++' NVCC_APPEND_FLAGS=-G @nvcc TOOL main.cu twice.c -o all",
        "export CUDA_HOME=$(dirname $(dirname TOOL)); @nvcc main.cu twice.c -o all",
    ] {
        place.ok(&with_nvcc(&format!("rm -f *.o all; {build}")));
        place.ok(&with_nvcc("./all"));
        is_instrumented(&place, "all");
    }
}

#[test]
fn questions_and_errors_are_nvccs() {
    let place = Place::new();
    for question in [
        "--version",
        "-E -arch=sm_90 SRC/program.cu",
        "-M SRC/program.cu",
        "--list-gpu-arch",
        "-arch=none SRC/program.cu",
        "-arch=sm_90 -c missing.cu",
    ] {
        let plain = place.sh(&with_nvcc(&format!("TOOL {question}")));
        let wrapped = place.sh(&with_nvcc(&format!("@nvcc TOOL {question}")));
        assert_eq!(plain.status.code(), wrapped.status.code(), "{question}");
        assert_eq!(everything(&plain), everything(&wrapped), "{question}");
    }
}

#[test]
fn device_code_keeps_its_lines_and_its_ptx() {
    let place = Place::new();
    let ptx = place.ok(&with_nvcc("@nvcc TOOL -arch=sm_90 -ptx SRC/program.cu -o - "));
    assert!(ptx.contains(".loc") && !ptx.contains("tsan") && !ptx.contains("commsan_"), "{ptx}");
    // With machine code alone, kernels do not run on simulated devices.
    let machine_code = "-gencode arch=compute_90,code=sm_90";
    place.ok(&with_nvcc(&format!("@nvcc TOOL {machine_code} SRC/program.cu -o all")));
    assert_eq!(place.ok(&with_nvcc("./all")), "85344 85344\n");
}

#[test]
fn what_cannot_be_checked_is_said() {
    let place = Place::new();
    let said = place.ok(&with_nvcc("@nvcc TOOL -cudart static -c SRC/program.cu"));
    assert!(said.contains("link with -cudart shared"), "{said}");
    std::fs::write(place.0.join("a.cu"), "int main() { return 0; }\n").unwrap();
    // Without the plugin for its version, clang would put hooks into kernels, too.
    let said = everything(&place.sh("COMMSAN_LIB=BARE @cxx clang++-19 -c a.cu"));
    assert!(said.contains("use `commsan nvcc`"), "{said}");
    let said = everything(&place.sh("@cxx clang++-19 -c a.cu"));
    assert!(!said.contains("use `commsan nvcc`"), "{said}");
    let said = place.ok(&with_nvcc("COMMSAN_WRAPPER=off @nvcc TOOL -c a.cu && nm a.o"));
    assert!(!said.contains("san"), "{said}");
}
