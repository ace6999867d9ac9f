//! The order of operations against an oracle that applies the rules literally to every pair.

use commsan_simgpu::order::{Kind, OpId, Order, StreamId};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Act {
    Stream { device: usize, blocking: bool },
    Enqueue { stream: usize },
    Record { stream: usize, event: usize },
    Wait { stream: usize, event: usize },
    Serial { stream: usize, other: usize },
    Graph { stream: usize, nodes: usize, edges: u8 },
    Retire { stream: usize },
    Complete { choice: usize },
}

fn act() -> impl Strategy<Value = Act> {
    let stream = 0..6_usize;
    let event = 0..3_usize;
    prop_oneof![
        1 => (0..2_usize, any::<bool>())
            .prop_map(|(device, blocking)| Act::Stream { device, blocking }),
        4 => stream.clone().prop_map(|stream| Act::Enqueue { stream }),
        2 => (stream.clone(), event.clone())
            .prop_map(|(stream, event)| Act::Record { stream, event }),
        2 => (stream.clone(), event).prop_map(|(stream, event)| Act::Wait { stream, event }),
        1 => (stream.clone(), 0..2_usize).prop_map(|(stream, other)| Act::Serial { stream, other }),
        1 => (stream.clone(), 1..4_usize, any::<u8>())
            .prop_map(|(stream, nodes, edges)| Act::Graph { stream, nodes, edges }),
        1 => stream.prop_map(|stream| Act::Retire { stream }),
        3 => any::<usize>().prop_map(|choice| Act::Complete { choice }),
    ]
}

/// One operation as the oracle remembers it.
struct Past {
    id: OpId,
    stream: usize,
    /// Whether it is a node inside a graph, which is in no stream's order; only the graph's ends
    /// are.
    inside: bool,
    /// Operations it was ordered after by an event or an edge of a graph.
    explicit: Vec<usize>,
    serial: Option<[usize; 2]>,
    done: bool,
}

struct Made {
    id: StreamId,
    device: usize,
    kind: Kind,
    retired: bool,
}

/// The whole history, from which the order is computed anew each time.
#[derive(Default)]
struct Oracle {
    streams: Vec<Made>,
    ops: Vec<Past>,
    events: [Option<usize>; 3],
}

impl Oracle {
    fn directly(&self, early: usize, late: usize) -> bool {
        let (a, b) = (&self.ops[early], &self.ops[late]);
        if b.explicit.contains(&early) {
            return true;
        }
        if a.inside || b.inside {
            return false;
        }
        let (s, t) = (&self.streams[a.stream], &self.streams[b.stream]);
        let with_legacy = s.device == t.device
            && matches!(
                (s.kind, t.kind),
                (Kind::Legacy, Kind::Blocking) | (Kind::Blocking, Kind::Legacy)
            );
        let touches = |devices: Option<[usize; 2]>, device| {
            devices.is_some_and(|devices| devices.contains(&device))
        };
        a.stream == b.stream
            || with_legacy
            || touches(a.serial, t.device)
            || touches(b.serial, s.device)
    }

    /// The pending operations that `goal` needs, including itself.
    fn needed(&self, goal: usize) -> BTreeSet<OpId> {
        let mut reached = vec![false; goal + 1];
        reached[goal] = true;
        for late in (0..=goal).rev().filter(|&op| !self.ops[op].done) {
            if reached[late] {
                for (early, reached) in reached[..late].iter_mut().enumerate() {
                    *reached |= !self.ops[early].done && self.directly(early, late);
                }
            }
        }
        (0..=goal)
            .filter(|&op| reached[op] && !self.ops[op].done)
            .map(|op| self.ops[op].id)
            .collect()
    }

    fn push(&mut self, id: OpId, stream: usize, explicit: Vec<usize>) -> usize {
        self.ops.push(Past { id, stream, inside: false, explicit, serial: None, done: false });
        self.ops.len() - 1
    }
}

fn run(order: &mut Order, oracle: &mut Oracle, act: &Act) {
    let usable: Vec<usize> =
        (0..oracle.streams.len()).filter(|&s| !oracle.streams[s].retired).collect();
    let pick = |stream: usize| usable[stream % usable.len()];
    match *act {
        Act::Stream { device, blocking } => {
            let kind = if blocking { Kind::Blocking } else { Kind::NonBlocking };
            let id = order.add_stream(device, kind);
            oracle.streams.push(Made { id, device, kind, retired: false });
        }
        Act::Enqueue { stream } => {
            let stream = pick(stream);
            let id = order.enqueue(oracle.streams[stream].id, &[]);
            oracle.push(id, stream, Vec::new());
        }
        Act::Record { stream, event } => {
            let stream = pick(stream);
            let id = order.enqueue(oracle.streams[stream].id, &[]);
            oracle.events[event] = Some(oracle.push(id, stream, Vec::new()));
        }
        Act::Wait { stream, event } => {
            let stream = pick(stream);
            if let Some(recorded) = oracle.events[event] {
                let snapshot = oracle.ops[recorded].id;
                let id = order.enqueue(oracle.streams[stream].id, &[snapshot]);
                oracle.push(id, stream, vec![recorded]);
            }
        }
        Act::Serial { stream, other } => {
            let stream = pick(stream);
            let devices = [oracle.streams[stream].device, other];
            let id = order.enqueue_serial(oracle.streams[stream].id, &devices);
            let op = oracle.push(id, stream, Vec::new());
            oracle.ops[op].serial = Some(devices);
        }
        Act::Graph { stream, nodes, edges } => graph(order, oracle, pick(stream), nodes, edges),
        Act::Retire { stream } => {
            let stream = pick(stream);
            if oracle.streams[stream].kind != Kind::Legacy {
                order.retire_stream(oracle.streams[stream].id);
                oracle.streams[stream].retired = true;
            }
        }
        Act::Complete { choice } => {
            let ready: Vec<OpId> = order.ready().collect();
            if !ready.is_empty() {
                let op = ready[choice % ready.len()];
                order.start(op);
                order.complete(op);
                oracle
                    .ops
                    .iter_mut()
                    .filter(|past| past.id == op)
                    .for_each(|past| past.done = true);
            }
        }
    }
}

/// A launch of a graph: a start, nodes with edges from earlier ones, an end after all.
fn graph(order: &mut Order, oracle: &mut Oracle, stream: usize, nodes: usize, edges: u8) {
    let id = oracle.streams[stream].id;
    let start = order.enqueue(id, &[]);
    let start = oracle.push(start, stream, Vec::new());
    let first = oracle.ops.len();
    for node in 0..nodes {
        let mut explicit = vec![start];
        explicit.extend((0..node).filter(|edge| edges >> edge & 1 == 1).map(|edge| first + edge));
        let before: Vec<OpId> = explicit.iter().map(|&op| oracle.ops[op].id).collect();
        let op = order.enqueue_beside(&before);
        let op = oracle.push(op, stream, explicit);
        oracle.ops[op].inside = true;
    }
    let all: Vec<usize> = (first..oracle.ops.len()).collect();
    let before: Vec<OpId> = all.iter().map(|&op| oracle.ops[op].id).collect();
    let end = order.enqueue(id, &before);
    oracle.push(end, stream, all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn order_agrees_with_the_oracle(acts in prop::collection::vec(act(), 1..60)) {
        let (mut order, mut oracle) = (Order::default(), Oracle::default());
        for device in 0..2 {
            let id = order.add_stream(device, Kind::Legacy);
            oracle.streams.push(Made { id, device, kind: Kind::Legacy, retired: false });
        }
        for act in &acts {
            run(&mut order, &mut oracle, act);
            for goal in 0..oracle.ops.len() {
                let needed: BTreeSet<OpId> =
                    order.needed(&[oracle.ops[goal].id]).into_iter().collect();
                prop_assert_eq!(needed, oracle.needed(goal));
            }
            let alone = (0..oracle.ops.len()).filter(|&op| oracle.needed(op).len() == 1);
            let ready: Vec<OpId> = alone.map(|op| oracle.ops[op].id).collect();
            prop_assert_eq!(order.ready().collect::<Vec<_>>(), ready);
        }
    }
}
