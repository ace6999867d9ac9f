//! What the host and work in flight learn by looking at what the other writes.

use super::*;

const FLAG: Range<usize> = MANAGED..MANAGED + 4;
const DATA: Range<usize> = MANAGED + 0x100..MANAGED + 0x200;

/// A store of the flag.
fn flag(strength: Strength) -> KernelAccess {
    KernelAccess { strength, ..kernel_access(Mode::Write, FLAG) }
}

/// A kernel in a stream that nothing waits for, which writes data and the flag.
fn launch(gpu: &mut Gpu, flag: KernelAccess, out: &mut Found) {
    gpu.enqueue(&work(created(3), &[kernel_access(Mode::Write, DATA), flag]), &At(80), out);
}

fn load(gpu: &mut Gpu, bytes: Range<usize>, at: usize, out: &mut Found) {
    gpu.meets("load", None, &access(Mode::Read, bytes), &At(at), out);
}

#[test]
fn who_has_seen_a_flag_has_waited() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    launch(&mut gpu, flag(Strength::System), &mut out);
    load(&mut gpu, FLAG, 81, &mut out);
    load(&mut gpu, DATA, 82, &mut out);
    gpu.meets("MPI_Send", Some("MPI_Send"), &access(Mode::Read, DATA), &At(83), &mut out);
    gpu.enqueue(&work(created(1), &[kernel_access(Mode::Read, DATA)]), &At(84), &mut out);
    assert_eq!(out.0, []);
}

#[test]
fn who_has_not_looked_has_not_waited() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    launch(&mut gpu, flag(Strength::System), &mut out);
    load(&mut gpu, DATA, 81, &mut out);
    // What a store has found is not known.
    gpu.meets("store", None, &access(Mode::Write, FLAG), &At(82), &mut out);
    load(&mut gpu, DATA, 83, &mut out);
    // A call's loads are not atomic.
    gpu.meets("MPI_Send", Some("MPI_Send"), &access(Mode::Read, FLAG), &At(84), &mut out);
    let (host, call) = (Code::WorkMeetsHost, Code::WorkMeetsCall);
    assert_eq!(out.0, [(host, 81, 80), (host, 83, 80), (call, 84, 80)]);
}

#[test]
fn a_flag_that_is_not_for_the_host_tells_it_nothing() {
    for strength in [Strength::Weak, Strength::Device] {
        let (mut gpu, mut out) = (gpu(), Found::default());
        launch(&mut gpu, flag(strength), &mut out);
        load(&mut gpu, FLAG, 81, &mut out);
        load(&mut gpu, DATA, 82, &mut out);
        let code = Code::WorkMeetsHost;
        assert_eq!(out.0, [(code, 81, 80), (code, 82, 80)], "{strength:?}");
    }
}

/// The last block stores the flag, on simulated devices and on others.
#[test]
fn a_flag_may_be_uncertain() {
    for are_observed in [false, true] {
        let (mut gpu, mut out) = (gpu(), Found::default());
        if are_observed {
            gpu.observe_accesses();
        }
        let bytes = Bytes::Within(FLAG.start);
        launch(
            &mut gpu,
            KernelAccess { bytes, certain: false, ..flag(Strength::System) },
            &mut out,
        );
        load(&mut gpu, FLAG, 81, &mut out);
        load(&mut gpu, DATA, 82, &mut out);
        assert_eq!(out.0, [], "{are_observed}");
    }
}

#[test]
fn devices_need_the_systems_scope_for_each_other() {
    for (strength, races) in [(Strength::Device, 1), (Strength::System, 0)] {
        let (mut gpu, mut out) = (gpu(), Found::default());
        gpu.stream_created(4, 1, false);
        gpu.enqueue(&work(created(3), &[flag(strength)]), &At(80), &mut out);
        gpu.enqueue(&work(created(4), &[flag(strength)]), &At(81), &mut out);
        assert_eq!(out.0.len(), races, "{strength:?}");
    }
}

/// A kernel in a stream that nothing waits for, which looks for a flag and reads data, then one
/// that writes them.
fn launch_waiting(gpu: &mut Gpu, strength: Strength, out: &mut Found) {
    let look = KernelAccess { strength, ..kernel_access(Mode::Read, FLAG) };
    gpu.enqueue(&work(created(3), &[kernel_access(Mode::Read, DATA), look]), &At(80), out);
    gpu.enqueue(&work(created(3), &[kernel_access(Mode::Write, DATA)]), &At(81), out);
}

fn store(gpu: &mut Gpu, bytes: Range<usize>, at: usize, out: &mut Found) {
    gpu.meets("store", None, &access(Mode::Write, bytes), &At(at), out);
}

#[test]
fn work_may_wait_for_the_host() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    launch_waiting(&mut gpu, Strength::System, &mut out);
    assert!(gpu.may_wait_for_host(&work(created(3), &[])));
    assert!(!gpu.may_wait_for_host(&work(created(1), &[])));
    store(&mut gpu, DATA, 82, &mut out);
    gpu.meets("MPI_Recv", Some("MPI_Recv"), &access(Mode::Write, DATA), &At(83), &mut out);
    store(&mut gpu, FLAG, 84, &mut out);
    assert_eq!(out.0, []);
    gpu.released("free", &DATA, &At(85), &mut out);
    assert_eq!(out.0, [(Code::WorkMemoryReleased, 85, 81)]);
    gpu.stream_synchronized(created(3), "cudaStreamSynchronize", &At(86), &mut out);
    gpu.enqueue(&work(created(3), &[kernel_access(Mode::Read, DATA)]), &At(87), &mut out);
    store(&mut gpu, DATA, 88, &mut out);
    assert_eq!(out.0[1..], [(Code::WorkMeetsHost, 88, 87)], "that waits no more");
}

#[test]
fn work_that_looks_plainly_or_at_its_own_memory_waits_for_nobody() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    launch_waiting(&mut gpu, Strength::Device, &mut out);
    store(&mut gpu, DATA, 82, &mut out);
    assert_eq!(out.0.len(), 1);

    let of_device = 0x40_0000..0x40_1000;
    allocate(&mut gpu, MemoryKind::Device, of_device.clone(), None);
    let look = KernelAccess { strength: Strength::System, ..kernel_access(Mode::Read, of_device) };
    assert!(!gpu.may_wait_for_host(&work(created(1), &[look])));
}

/// Kernels in two streams: the first stores data and a flag, the second looks for the flag, then
/// touches data.
fn talk(strength: Strength, bytes: Range<usize>) -> Vec<(Code, usize, usize)> {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let data = kernel_access(Mode::Write, DATA);
    gpu.enqueue(&work(created(1), &[data.clone(), flag(strength)]), &At(80), &mut out);
    let look = KernelAccess { strength, ..kernel_access(Mode::Read, bytes) };
    gpu.enqueue(&work(created(2), &[data.clone(), look]), &At(81), &mut out);
    // What comes after the second comes after what it has waited for.
    gpu.enqueue(&work(created(2), &[data]), &At(82), &mut out);
    out.0
}

#[test]
fn kernels_at_the_same_time_may_wait_for_each_other() {
    for strength in [Strength::Device, Strength::System] {
        assert_eq!(talk(strength, FLAG), []);
    }
    let races = [(Code::StreamsRace, 81, 80), (Code::StreamsRace, 82, 80)];
    assert_eq!(talk(Strength::System, FLAG.end..FLAG.end + 4), races, "that is no flag");
    assert_eq!(talk(Strength::Weak, FLAG)[..1], races[..1]);
}

#[test]
fn who_has_waited_for_a_kernel_has_waited_for_what_that_has_waited_for() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let data = kernel_access(Mode::Write, DATA);
    let stores = [data.clone(), flag(Strength::System)];
    gpu.enqueue(&work(created(1), &stores), &At(80), &mut out);
    let look = KernelAccess { strength: Strength::System, ..kernel_access(Mode::Read, FLAG) };
    gpu.enqueue(&work(created(3), &[look]), &At(81), &mut out);
    gpu.stream_synchronized(created(3), "cudaStreamSynchronize", &At(82), &mut out);
    gpu.enqueue(&work(created(2), &[data]), &At(83), &mut out);
    assert_eq!((out.0, gpu.live.iter().count()), (vec![], 1));
}
