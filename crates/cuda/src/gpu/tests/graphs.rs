//! Graphs: captured, made and changed node by node, launched.

use super::*;
use crate::gpu::NodeKind;

#[test]
fn what_is_captured_happens_at_the_launch() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let write = |stream| work(stream, &[kernel_access(Mode::Write, MANAGED..MANAGED + 8)]);
    gpu.capture_begins(created(1));
    gpu.enqueue(&write(created(1)), &At(50), &mut out);
    gpu.event_recorded(7, created(1), false, &At(0));
    gpu.event_awaited(created(3), 7, false, &At(0));
    gpu.enqueue(&write(created(3)), &At(51), &mut out);
    gpu.event_recorded(8, created(3), false, &At(0));
    gpu.event_awaited(created(1), 8, false, &At(0));
    gpu.capture_ends(created(1), 0xa);
    gpu.graph_instantiated(0xb, 0xa);
    let access = access(Mode::Read, MANAGED..MANAGED + 4);
    gpu.meets("load", None, &access, &At(52), &mut out);
    assert_eq!(out.0, []);
    gpu.graph_launched(0xb, created(2), &At(53), &mut out);
    gpu.graph_launched(0xb, created(3), &At(54), &mut out);
    assert_eq!(out.0, [], "launches of one graph do not overlap");
    gpu.enqueue(&write(created(2)), &At(55), &mut out);
    assert_eq!(out.0.len(), 1, "the second launch was in another stream");
    gpu.stream_synchronized(created(3), "cudaStreamSynchronize", &At(56), &mut out);
    gpu.stream_synchronized(created(2), "cudaStreamSynchronize", &At(57), &mut out);
    gpu.meets("load", None, &access, &At(58), &mut out);
    assert_eq!(out.0.len(), 1);
}

#[test]
fn parallel_parts_of_a_graph_race() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let write = work(created(1), &[kernel_access(Mode::Write, MANAGED..MANAGED + 8)]);
    gpu.graph_created(0xa);
    gpu.graph_node(0xa, 1, &[], NodeKind::Kernel(&write, None), &At(60));
    gpu.graph_node(0xa, 2, &[], NodeKind::Kernel(&write, None), &At(61));
    gpu.graph_instantiated(0xb, 0xa);
    gpu.graph_launched(0xb, created(1), &At(62), &mut out);
    assert_eq!(out.0, [(Code::StreamsRace, 61, 60)]);
    let mut out = Found::default();
    gpu.device_synchronized(0, "cudaDeviceSynchronize", &At(63), &mut out);
    gpu.graph_edges(0xa, &[(1, 2)], true);
    gpu.graph_instantiated(0xc, 0xa);
    gpu.graph_launched(0xc, created(1), &At(64), &mut out);
    assert_eq!(out.0, []);
}

/// A graph of two nodes, one after the other, which write different bytes, and what it is launched
/// by.
fn two_nodes(gpu: &mut Gpu) -> Work {
    let write = |at| work(created(1), &[kernel_access(Mode::Write, at..at + 8)]);
    gpu.graph_created(0xa);
    gpu.graph_node(0xa, 1, &[], NodeKind::Kernel(&write(MANAGED), None), &At(60));
    gpu.graph_node(0xa, 2, &[1], NodeKind::Kernel(&write(MANAGED + 8), None), &At(61));
    gpu.graph_instantiated(0xb, 0xa);
    write(MANAGED + 16)
}

#[test]
fn nodes_change_where_they_are_launched() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let other = two_nodes(&mut gpu);
    gpu.exec_node_changed(0xb, 2, NodeKind::Kernel(&other, None), &At(62));
    gpu.graph_launched(0xb, created(1), &At(63), &mut out);
    let mut load = |at: usize, pc| {
        gpu.meets("load", None, &access(Mode::Read, at..at + 8), &At(pc), &mut out);
        std::mem::take(&mut out.0)
    };
    assert_eq!(load(MANAGED, 64), [(Code::WorkMeetsHost, 64, 60)]);
    assert_eq!(load(MANAGED + 8, 65), []);
    assert_eq!(load(MANAGED + 16, 66), [(Code::WorkMeetsHost, 66, 62)]);
    // Nor has the graph itself changed, of which there may be another.
    gpu.device_synchronized(0, "cudaDeviceSynchronize", &At(67), &mut out);
    gpu.graph_instantiated(0xc, 0xa);
    gpu.graph_launched(0xc, created(1), &At(68), &mut out);
    gpu.meets("load", None, &access(Mode::Read, MANAGED + 8..MANAGED + 16), &At(69), &mut out);
    assert_eq!(out.0, [(Code::WorkMeetsHost, 69, 61)]);
}

/// A captured node, or a graph's in a graph.
#[test]
fn of_nodes_without_names_nothing_is_known_once_one_has_changed() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let other = two_nodes(&mut gpu);
    gpu.graph_created(0xd);
    gpu.graph_node(0xd, 3, &[], NodeKind::Kernel(&other, None), &At(70));
    gpu.graph_node(0xd, 4, &[3], NodeKind::Graph(0xa), &At(71));
    gpu.capture_begins_to(created(1), 0xd, &[4]);
    gpu.enqueue(
        &work(created(1), &[kernel_access(Mode::Write, MANAGED + 24..MANAGED + 32)]),
        &At(72),
        &mut out,
    );
    gpu.capture_ends(created(1), 0xd);
    gpu.graph_instantiated(0xe, 0xd);
    gpu.exec_node_changed(0xe, 0x77, NodeKind::Kernel(&other, None), &At(73));
    gpu.exec_node_changed(0xe, 4, NodeKind::Graph(0xa), &At(74));
    gpu.graph_launched(0xe, created(3), &At(75), &mut out);
    gpu.meets("load", None, &access(Mode::Read, MANAGED..MANAGED + 32), &At(76), &mut out);
    assert_eq!(out.0, [(Code::WorkMeetsHost, 76, 70)]);
}

#[test]
fn what_was_launched_before_an_update_is_over_before_the_next_launch() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    two_nodes(&mut gpu);
    gpu.graph_launched(0xb, created(1), &At(62), &mut out);
    gpu.graph_instantiated(0xb, 0xa);
    gpu.graph_launched(0xb, created(3), &At(63), &mut out);
    assert_eq!(out.0, []);
}

/// Captures two pieces of work of one stream, of which the second comes after other nodes than it
/// would: whether it races with a node that is added after the first.
fn races_captured_after(last: &[usize], after: &[usize], added: bool) -> bool {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let write = work(created(1), &[kernel_access(Mode::Write, MANAGED..MANAGED + 8)]);
    gpu.capture_begins(created(1));
    gpu.enqueue(&write, &At(80), &mut out);
    gpu.capture_named(created(1), 0xa, last);
    gpu.graph_node(0xa, 2, &[1], NodeKind::Kernel(&write, None), &At(81));
    gpu.capture_goes_on(created(1), after, added);
    gpu.enqueue(&write, &At(82), &mut out);
    gpu.capture_ends(created(1), 0xa);
    gpu.graph_instantiated(0xb, 0xa);
    gpu.graph_launched(0xb, created(2), &At(83), &mut out);
    assert!(out.0.iter().all(|found| *found == (Code::StreamsRace, 82, 81)), "{:?}", out.0);
    !out.0.is_empty()
}

#[test]
fn captures_go_on_where_the_program_says() {
    assert!(!races_captured_after(&[1], &[2], false), "one after the other");
    assert!(!races_captured_after(&[1], &[2], true), "after both");
    assert!(races_captured_after(&[1], &[1], false), "both after the first");
    assert!(races_captured_after(&[1], &[], true), "nothing has changed");
    assert!(!races_captured_after(&[1], &[7], false), "after one of them, nobody knows which");
    assert!(!races_captured_after(&[1, 5], &[2], false), "nor which those are that there were");
}
