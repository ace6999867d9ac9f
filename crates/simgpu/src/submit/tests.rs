//! Random programs whose conflicting operations are ordered by events give, with every seed, the
//! same result as sequential execution.

use crate::copy::{Copy, Extent, Place, Set};
use crate::events::{Event, Record};
use crate::grid::NoLoader;
use crate::host_sync::Call;
use crate::memory::Kind;
use crate::order;
use crate::runtime::{Runtime, Session};
use crate::settings::{Choices, Settings};
use crate::streams::Which;
use crate::thread;
use proptest::prelude::*;
use std::sync::LazyLock;

const DEVICES: usize = 2;
const STREAMS: usize = 4;
const BUFFERS: usize = 6;
const SIZE: usize = 16;

#[derive(Clone, Debug)]
enum Act {
    Copy {
        stream: usize,
        to: usize,
        from: usize,
        at: usize,
    },
    Set {
        stream: usize,
        to: usize,
        value: u8,
    },
    /// A `cudaMemcpyPeer`, which needs no events.
    Serial {
        to: usize,
        from: usize,
    },
    Synchronise {
        stream: usize,
    },
    Query {
        stream: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let (stream, buffer) = (0..STREAMS, 0..BUFFERS);
    prop_oneof![
        6 => (stream.clone(), buffer.clone(), buffer.clone(), 0..SIZE)
            .prop_map(|(stream, to, from, at)| Act::Copy { stream, to, from, at }),
        4 => (stream.clone(), buffer.clone(), any::<u8>())
            .prop_map(|(stream, to, value)| Act::Set { stream, to, value }),
        1 => (buffer.clone(), buffer).prop_map(|(to, from)| Act::Serial { to, from }),
        1 => stream.clone().prop_map(|stream| Act::Synchronise { stream }),
        1 => stream.prop_map(|stream| Act::Query { stream }),
    ]
}

/// A runtime with buffers of every kind, and streams of both kinds on both devices.
struct Machine {
    session: Session,
    streams: [usize; STREAMS],
    buffers: [usize; BUFFERS],
    /// The event after the last operation on each buffer.
    last: [Option<usize>; BUFFERS],
    ordered: bool,
}

impl Machine {
    fn new(seed: u64, ordered: bool) -> Machine {
        // Each runtime reserves addresses forever, so all programs run on one.
        static RUNTIME: LazyLock<&'static Runtime> = LazyLock::new(|| {
            let settings = Settings { devices: DEVICES, seed: 0, kernel_checks: false };
            Runtime::new(settings, Box::new(NoLoader)).expect("address space")
        });
        let mut session = RUNTIME.session();
        session.choices = Choices::new(seed);
        thread::set_device(0);
        let streams = std::array::from_fn(|at| {
            let handle = session.new_handle();
            let state = &mut *session;
            let kind = if at < 2 { order::Kind::NonBlocking } else { order::Kind::Blocking };
            state.streams.create(&mut state.order, handle, at % DEVICES, kind, 0);
            handle
        });
        let kinds = [Kind::Device, Kind::Device, Kind::Managed, Kind::Pinned];
        let buffers = std::array::from_fn(|at| {
            let kind = kinds[at % kinds.len()];
            session.memory.allocate(kind, at % DEVICES, SIZE).expect("room")
        });
        Machine { session, streams, buffers, last: [None; BUFFERS], ordered }
    }

    /// Makes a stream wait for the last operations on the buffers, in an ordered program.
    fn order(&mut self, stream: order::StreamId, buffers: &[usize]) {
        for &buffer in buffers {
            if let Some(event) = self.last[buffer].filter(|_| self.ordered) {
                self.session.wait_event(stream, event).expect("an event");
            }
        }
    }

    /// Records an event after an operation on the buffers.
    fn record(&mut self, stream: order::StreamId, buffers: &[usize]) {
        let handle = self.session.new_handle();
        let device = self.session.streams.get(stream).device;
        let (record, time, slot) = (Record::Never, None, None);
        self.session.events.insert(handle, Event { device, flags: 0, record, time, slot });
        self.session.record(handle, stream).expect("a new event");
        buffers.iter().for_each(|&buffer| self.last[buffer] = Some(handle));
    }

    fn stream(&mut self, stream: usize) -> order::StreamId {
        self.session.stream(Which::legacy(self.streams[stream])).expect("it was made")
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Copy { stream, to, from, at } => {
                let stream = self.stream(stream);
                self.order(stream, &[to, from]);
                let extent = Extent::flat(SIZE - at);
                let to_place = Place::flat(self.buffers[to] + at);
                let from_place = Place::flat(self.buffers[from]);
                let copy = Copy { to: to_place, from: from_place, extent };
                self.session.copy(Call::CopyAsync, stream, copy).expect("no fault");
                self.record(stream, &[to, from]);
            }
            Act::Set { stream, to, value } => {
                let stream = self.stream(stream);
                self.order(stream, &[to]);
                let (to_place, extent) = (Place::flat(self.buffers[to]), Extent::flat(SIZE));
                let set = Set { to: to_place, extent, value: value.into(), element: 1 };
                self.session.set(Call::SetAsync, stream, set).expect("no fault");
                self.record(stream, &[to]);
            }
            Act::Serial { to, from } => {
                let copy = Copy::flat(self.buffers[to], self.buffers[from], SIZE);
                self.session.copy_serial(copy, &[0, 1]).expect("no fault");
            }
            Act::Synchronise { stream } => {
                let stream = self.stream(stream);
                let past = self.session.order.past(stream);
                self.session.wait(&past).expect("no fault");
            }
            Act::Query { stream } => {
                let stream = self.stream(stream);
                let past = self.session.order.past(stream);
                // Either answer is right.
                let _ = self.session.query(&past);
            }
        }
    }

    /// The contents of the buffers when everything is complete.
    fn finish(mut self) -> Vec<u8> {
        for device in 0..DEVICES {
            self.session.wait_for_device(device).expect("no fault");
        }
        let read = |&buffer: &usize| {
            // SAFETY: allocated with this size, and nothing runs any more.
            unsafe { std::slice::from_raw_parts(buffer as *const u8, SIZE) }.to_vec()
        };
        let contents = self.buffers.iter().flat_map(read).collect();
        for buffer in self.buffers {
            self.session.memory.release(buffer);
        }
        for stream in self.streams {
            let state = &mut *self.session;
            state.streams.destroy(&mut state.order, stream).expect("it was made");
        }
        contents
    }
}

fn run(acts: &[Act], seed: u64, ordered: bool) -> Vec<u8> {
    let mut machine = Machine::new(seed, ordered);
    acts.iter().for_each(|act| machine.act(act));
    machine.finish()
}

/// Runs the operations one after the other.
fn sequential(acts: &[Act]) -> Vec<u8> {
    let mut buffers = [[0_u8; SIZE]; BUFFERS];
    for act in acts {
        match *act {
            Act::Copy { to, from, at, .. } => {
                let source = buffers[from];
                buffers[to][at..].copy_from_slice(&source[..SIZE - at]);
            }
            Act::Set { to, value, .. } => buffers[to] = [value; SIZE],
            Act::Serial { to, from } => buffers[to] = buffers[from],
            Act::Synchronise { .. } | Act::Query { .. } => {}
        }
    }
    buffers.concat()
}

proptest! {
    #[test]
    fn ordered_programs_give_the_same_with_every_seed(
        acts in prop::collection::vec(act(), 1..40),
        seed in 0..1000_u64,
    ) {
        prop_assert_eq!(run(&acts, 0, true), sequential(&acts));
        prop_assert_eq!(run(&acts, seed, true), sequential(&acts));
    }
}

#[test]
fn a_program_without_order_gives_something_else_with_some_seed() {
    let set = |stream, value| Act::Set { stream, to: 0, value };
    let acts = [set(0, 1), set(1, 2), set(0, 3), set(1, 4)];
    let results: std::collections::BTreeSet<_> =
        (0..20).map(|seed| run(&acts, seed, false)[0]).collect();
    assert!(results.len() > 1, "{results:?}");
    assert!(results.iter().all(|value| [3, 4].contains(value)), "streams are not in order");
}
