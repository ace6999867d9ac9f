//! Sets `one_runtime` if exactly one of the features that name a runtime is chosen: without one, or
//! with all, the crate is empty.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(one_runtime)");
    let is_chosen = |name: &&str| std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    if ["OPENMPI", "MPICH", "MPIABI", "SERIAL"].into_iter().filter(is_chosen).count() == 1 {
        println!("cargo::rustc-cfg=one_runtime");
    }
}
