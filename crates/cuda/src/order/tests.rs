//! Clocks against an oracle that knows no clocks: every call is a node of a graph, what the CUDA
//! Runtime API orders an edge, and what a path leads to comes after.

use super::{Kind, Order};
use crate::clock::Epoch;
use crate::work::StreamName;
use proptest::prelude::*;

const STREAMS: usize = 5;
const EVENTS: usize = 3;
const DEVICES: u32 = 2;

#[derive(Clone, Debug)]
enum Step {
    Create(usize, u32, bool),
    Enqueue(Stream),
    Record(usize, Stream),
    Wait(Stream, usize),
    SyncStream(Stream),
    SyncDevice(u32),
    SyncEvent(usize),
    Peer(Stream, Vec<u32>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    Legacy(u32),
    Created(usize),
}

impl Stream {
    fn name(self) -> StreamName {
        match self {
            Stream::Legacy(device) => StreamName::Legacy { device },
            Stream::Created(at) => StreamName::Created { handle: 0x1000 + at },
        }
    }
}

fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![
        (0..DEVICES).prop_map(Stream::Legacy),
        (0..STREAMS).prop_map(Stream::Created),
        (0..STREAMS).prop_map(Stream::Created),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0..STREAMS, 0..DEVICES, any::<bool>()).prop_map(|(s, d, b)| Step::Create(s, d, b)),
        8 => stream().prop_map(Step::Enqueue),
        3 => (0..EVENTS, stream()).prop_map(|(e, s)| Step::Record(e, s)),
        3 => (stream(), 0..EVENTS).prop_map(|(s, e)| Step::Wait(s, e)),
        1 => stream().prop_map(Step::SyncStream),
        1 => (0..DEVICES).prop_map(Step::SyncDevice),
        1 => (0..EVENTS).prop_map(Step::SyncEvent),
        1 => (stream(), proptest::collection::vec(0..DEVICES, 1..3))
            .prop_map(|(s, d)| Step::Peer(s, d)),
    ]
}

/// What a node is.
#[derive(Clone, Debug)]
struct Node {
    /// The stream it is in, by its number among all there ever were; none for the host.
    stream: Option<usize>,
    /// All it comes after.
    after: Vec<bool>,
    /// Work, as the clocks know it.
    epoch: Option<Epoch>,
}

/// A stream of the oracle.
#[derive(Clone, Copy, Debug)]
struct Known {
    device: u32,
    kind: Kind,
}

#[derive(Default)]
struct Oracle {
    nodes: Vec<Node>,
    streams: Vec<Known>,
    host: Option<usize>,
    events: [Option<usize>; EVENTS],
    /// Work that is serialised with all of some devices.
    serial: Vec<(usize, Vec<u32>)>,
}

impl Oracle {
    fn add(&mut self, stream: Option<usize>, before: Vec<usize>) -> usize {
        let mut after = vec![false; self.nodes.len()];
        for node in before {
            after[node] = true;
            for (all, theirs) in after.iter_mut().zip(&self.nodes[node].after) {
                *all |= theirs;
            }
        }
        self.nodes.push(Node { stream, after, epoch: None });
        self.nodes.len() - 1
    }

    fn of(&self, wanted: impl Fn(usize, Known) -> bool) -> Vec<usize> {
        let in_stream = |node: &Node| node.stream.is_some_and(|s| wanted(s, self.streams[s]));
        (0..self.nodes.len()).filter(|node| in_stream(&self.nodes[*node])).collect()
    }

    /// What a call that concerns a stream comes after in it, by the rules.
    fn past(&self, stream: usize) -> Vec<usize> {
        let own = self.streams[stream];
        let mut past = self.of(|other, known| {
            let pair = match own.kind {
                Kind::Legacy => known.kind == Kind::Blocking,
                Kind::Blocking => known.kind == Kind::Legacy,
                Kind::NonBlocking => false,
            };
            other == stream || pair && known.device == own.device
        });
        past.extend(self.serial_of(own.device));
        past
    }

    /// Work that is serialised with all of a device.
    fn serial_of(&self, device: u32) -> impl Iterator<Item = usize> {
        let serial = self.serial.iter().filter(move |(_, devices)| devices.contains(&device));
        serial.map(|(node, _)| *node)
    }

    /// A call that puts something into a stream.
    fn put(&mut self, stream: usize, also: Option<usize>) -> usize {
        let mut before = self.past(stream);
        before.extend(self.host);
        before.extend(also);
        self.add(Some(stream), before)
    }

    fn wait(&mut self, mut before: Vec<usize>) {
        before.extend(self.host);
        let node = self.add(None, before);
        self.host = Some(node);
    }
}

/// Runs steps in both, comparing after each.
fn compare(steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut order, mut oracle) = (Order::default(), Oracle::default());
    let mut names: Vec<(Stream, usize)> = Vec::new();
    for device in 0..DEVICES {
        order.slot(StreamName::Legacy { device }, 0);
        names.push((Stream::Legacy(device), oracle.streams.len()));
        oracle.streams.push(Known { device, kind: Kind::Legacy });
    }
    for step in steps {
        let find = |names: &[(Stream, usize)], stream: Stream| {
            names.iter().rev().find(|(name, _)| *name == stream).map(|(_, number)| *number)
        };
        match step {
            Step::Create(at, device, blocking) => {
                let kind = if *blocking { Kind::Blocking } else { Kind::NonBlocking };
                order.create(Stream::Created(*at).name(), *device, kind);
                names.push((Stream::Created(*at), oracle.streams.len()));
                oracle.streams.push(Known { device: *device, kind });
            }
            Step::Enqueue(stream) => {
                let Some(number) = find(&names, *stream) else { continue };
                let slot = order.slot(stream.name(), 0);
                let (epoch, clock) = order.enqueue(slot, None);
                let node = oracle.put(number, None);
                for (earlier, after) in oracle.nodes.iter().zip(oracle.nodes[node].after.clone()) {
                    if let Some(epoch) = earlier.epoch {
                        prop_assert_eq!(epoch.happens_before(&clock), after, "{:?}", epoch);
                    }
                }
                oracle.nodes[node].epoch = Some(epoch);
            }
            Step::Record(event, stream) => {
                let Some(number) = find(&names, *stream) else { continue };
                let slot = order.slot(stream.name(), 0);
                order.record(*event, slot, None);
                oracle.events[*event] = Some(oracle.put(number, None));
            }
            Step::Wait(stream, event) => {
                let Some(number) = find(&names, *stream) else { continue };
                let slot = order.slot(stream.name(), 0);
                if let Some(clock) = order.event(*event).cloned() {
                    order.add(slot, &clock);
                }
                if let Some(recorded) = oracle.events[*event] {
                    oracle.put(number, Some(recorded));
                }
            }
            Step::SyncStream(stream) => {
                let Some(number) = find(&names, *stream) else { continue };
                let slot = order.slot(stream.name(), 0);
                let clock = order.of_stream(slot);
                order.wait(&clock, None);
                let past = oracle.past(number);
                oracle.wait(past);
            }
            Step::SyncDevice(device) => {
                let clock = order.of_device(*device);
                order.wait(&clock, None);
                let mut past = oracle.of(|_, known| known.device == *device);
                past.extend(oracle.serial_of(*device));
                oracle.wait(past);
            }
            Step::SyncEvent(event) => {
                if let Some(clock) = order.event(*event).cloned() {
                    order.wait(&clock, None);
                }
                if let Some(recorded) = oracle.events[*event] {
                    oracle.wait(vec![recorded]);
                }
            }
            Step::Peer(stream, devices) => {
                let Some(number) = find(&names, *stream) else { continue };
                let slot = order.slot(stream.name(), 0);
                let mut clock = order.of_stream(slot);
                devices.iter().for_each(|device| clock.join(&order.of_device(*device)));
                order.serialise(devices, &clock);
                let mut before = oracle.past(number);
                before.extend(oracle.of(|_, known| devices.contains(&known.device)));
                let node = oracle.add(None, before);
                oracle.serial.push((node, devices.clone()));
            }
        }
        let host = order.host(None);
        for (at, node) in oracle.nodes.iter().enumerate() {
            let Some(epoch) = node.epoch else { continue };
            let known =
                oracle.host.is_some_and(|host| oracle.nodes[host].after.get(at) == Some(&true));
            prop_assert_eq!(epoch.happens_before(&host), known, "{:?} by the host", epoch);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn clocks_agree_with_paths(steps in proptest::collection::vec(step(), 1..60)) {
        compare(&steps)?;
    }
}
