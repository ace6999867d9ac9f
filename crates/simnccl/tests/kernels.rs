//! Assembles every kernel that the library can generate with NVIDIA's `ptxas`.

#[path = "../../simgpu/tests/support/mod.rs"]
mod simulation;
mod support;

use commsan_simnccl::abi::DataType;
use commsan_simnccl::datatype::Reduction;
use commsan_simnccl::kernels::Kernel;
use commsan_simnccl::ptx;
use simulation::Toolkit;
use std::fs;

/// Kernels that combine values differ only in the instructions that combine them.
fn all() -> Vec<Kernel> {
    let mut all = vec![Kernel::AllGather, Kernel::Broadcast, Kernel::SendRecv];
    for (of, _) in DataType::ALL {
        let reductions = Reduction::ALL.iter().map(|row| row.0).filter(|by| by.is_of(*of));
        all.extend(reductions.map(|by| Kernel::AllReduceRing(*of, by)));
    }
    all
}

#[test]
fn the_assembler_takes_every_kernel() {
    let toolkit = Toolkit::find().expect("a toolkit");
    let directory = tempfile::tempdir().expect("a directory");
    for kernel in all() {
        let file = directory.path().join("kernel.ptx");
        fs::write(&file, ptx::module(&kernel.name(), kernel.values()))
            .expect("a writable directory");
        support::assemble(&toolkit, &file)
            .unwrap_or_else(|error| panic!("{}: {error}", kernel.name()));
    }
}

#[test]
fn names_tell_what_kernels_do() {
    let kernel = Kernel::AllReduceRing(DataType::F32, Reduction::Sum);
    assert_eq!(kernel.name(), "commsan_nccl_allreduce_ring_f32_sum");
}
