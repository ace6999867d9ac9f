//! Tests of the scheduler, with kernels made of closures, on the whole runtime.

use crate::error::{Error, Result};
use crate::grid::{Addresses, Global, Grid, Kernel, Launch, Module, NoLoader, Progress, Reach};
use crate::memory::Kind;
use crate::order::{self, StreamId};
use crate::runtime::{Runtime, Session};
use crate::settings::Settings;
use crate::streams::Which;
use crate::task::{KernelCall, Task};
use crate::thread;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The action of a kernel in a slice.
type Body = Box<dyn FnMut(&dyn Reach) -> Progress + Send>;

/// A module whose one kernel, which can be launched once, is a closure.
struct Once(Mutex<Option<Body>>);

struct Closure(Body);

impl Grid for Closure {
    fn advance(&mut self, _: u64, reach: &dyn Reach) -> Progress {
        (self.0)(reach)
    }
}

impl Module for Once {
    fn kernel(&self, _: &str) -> Option<&Kernel> {
        None
    }

    fn globals(&self) -> &[Global] {
        &[]
    }

    fn initialise(&self, _: &Global, _: &Addresses, _: &mut [u8]) {}

    fn start(
        &self,
        _: &Launch,
        _: &Arc<Addresses>,
        _: crate::grid::Observed,
    ) -> Result<Box<dyn Grid>> {
        let body = self.0.lock().expect("no test panics with it").take();
        Ok(Box::new(Closure(body.ok_or(Error::INVALID_DEVICE_FUNCTION)?)))
    }
}

fn runtime(devices: usize, seed: u64) -> &'static Runtime {
    let settings = Settings { devices, seed, kernel_checks: false };
    Runtime::new(settings, Box::new(NoLoader)).expect("address space")
}

/// A stream that is not ordered with the legacy stream.
fn stream(session: &mut Session, device: usize) -> StreamId {
    let handle = session.new_handle();
    let state = &mut **session;
    let kind = order::Kind::NonBlocking;
    state.streams.create(&mut state.order, handle, device, kind, 0);
    session.stream(Which::legacy(handle)).expect("just made")
}

fn launch(
    session: &mut Session,
    stream: StreamId,
    body: impl FnMut(&dyn Reach) -> Progress + Send + 'static,
) -> Result {
    let module: Arc<dyn Module> = Arc::new(Once(Mutex::new(Some(Box::new(body)))));
    let device = session.streams.get(stream).device;
    let launch = Launch { device, ..Launch::default() };
    let call = KernelCall { module, addresses: Arc::default(), launch, function: 0 };
    session.submit(stream, Task::Kernel(Arc::new(call))).map(drop)
}

/// A kernel that counts its slices and ends after `until` of them.
fn counting(count: &Arc<AtomicU32>, until: u32) -> impl FnMut(&dyn Reach) -> Progress + use<> {
    let count = Arc::clone(count);
    move |_| {
        let slices = count.fetch_add(1, Ordering::Relaxed) + 1;
        if slices < until { Progress::Running } else { Progress::Done }
    }
}

fn wait(session: &mut Session, stream: StreamId) -> Result {
    let past = session.order.past(stream);
    session.wait(&past)
}

#[test]
fn only_what_is_waited_for_runs() {
    let mut session = runtime(1, 0).session();
    let (s, t) = (stream(&mut session, 0), stream(&mut session, 0));
    let counts = [Arc::default(), Arc::default()];
    launch(&mut session, s, counting(&counts[0], 3)).expect("a device");
    launch(&mut session, t, counting(&counts[1], 3)).expect("a device");
    wait(&mut session, s).expect("no fault");
    assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [3, 0]);
}

#[test]
fn a_seed_runs_the_same_early_again() {
    let early = |seed| {
        let mut session = runtime(1, seed).session();
        let count = Arc::default();
        for _ in 0..8 {
            let s = stream(&mut session, 0);
            launch(&mut session, s, counting(&count, u32::MAX)).expect("a device");
        }
        count.load(Ordering::Relaxed)
    };
    let counts: Vec<u32> = (0..16).map(early).collect();
    assert_eq!(counts, (0..16).map(early).collect::<Vec<_>>());
    assert_eq!(counts[0], 0);
    assert!(counts.iter().any(|&count| count > 0));
}

#[test]
fn kernels_that_wait_for_each_other_progress() {
    // Soon if they are seen to spin, and eventually in any case.
    for (spinning, most) in [(Progress::Spinning, 10_000), (Progress::Running, 1_000_000)] {
        ping_pong(spinning, most);
    }
}

fn ping_pong(spinning: Progress, most: u64) {
    let mut session = runtime(2, 0).session();
    thread::set_device(0);
    let (s, t) = (stream(&mut session, 0), stream(&mut session, 1));
    let ball = Arc::new(AtomicU32::new(0));
    for (side, stream) in [(0, s), (1, t)] {
        let ball = Arc::clone(&ball);
        launch(&mut session, stream, move |_| {
            let at = ball.load(Ordering::Relaxed);
            match at {
                100.. => Progress::Done,
                _ if at % 2 == side => {
                    ball.store(at + 1, Ordering::Relaxed);
                    Progress::Running
                }
                _ => spinning,
            }
        })
        .expect("a device");
    }
    // Nothing waits for the second one.
    wait(&mut session, s).expect("no fault");
    assert!(ball.load(Ordering::Relaxed) >= 100);
    assert!(session.turn < most, "{} turns", session.turn);
}

#[test]
fn sleeping_takes_virtual_time_only() {
    let mut session = runtime(1, 0).session();
    let s = stream(&mut session, 0);
    let mut naps = 0;
    let before = session.now;
    launch(&mut session, s, move |_| {
        naps += 1;
        if naps > 50 { Progress::Done } else { Progress::Idle(1_000_000_000) }
    })
    .expect("a device");
    let start = std::time::Instant::now();
    wait(&mut session, s).expect("no fault");
    assert!(session.now - before >= 50_000_000_000);
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn a_fault_spoils_its_device_for_good_and_no_other() {
    let mut session = runtime(2, 0).session();
    thread::set_device(0);
    let (s, other) = (stream(&mut session, 0), stream(&mut session, 1));
    let count = Arc::default();
    launch(&mut session, s, |_| Progress::Fault(Error::ILLEGAL_ADDRESS)).expect("a device");
    launch(&mut session, s, counting(&count, 1)).expect("not known yet");
    launch(&mut session, other, counting(&count, 5)).expect("a device");
    assert_eq!(wait(&mut session, s), Err(Error::ILLEGAL_ADDRESS));
    assert_eq!(count.load(Ordering::Relaxed), 0, "what came after it has run");
    assert_eq!(launch(&mut session, s, counting(&count, 1)), Err(Error::ILLEGAL_ADDRESS));
    thread::set_device(1);
    wait(&mut session, other).expect("another device");
    assert_eq!(count.load(Ordering::Relaxed), 5);
    thread::set_device(0);
}

#[test]
fn a_panic_is_a_fault() {
    let mut session = runtime(1, 0).session();
    thread::set_device(0);
    let s = stream(&mut session, 0);
    launch(&mut session, s, |_| panic!("as a test")).expect("not known yet");
    assert_eq!(wait(&mut session, s), Err(Error::LAUNCH_FAILURE));
}

#[test]
fn kernels_reach_their_memory_their_peers_and_the_hosts() {
    let mut session = runtime(2, 0).session();
    thread::set_device(0);
    let own = session.memory.allocate(Kind::Device, 0, 100).expect("room");
    let peer = session.memory.allocate(Kind::Device, 1, 100).expect("room");
    let pinned = session.memory.allocate(Kind::Pinned, 1, 100).expect("room");
    let s = stream(&mut session, 0);
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    for _ in 0..2 {
        let seen = Arc::clone(&seen);
        launch(&mut session, s, move |reach| {
            let mut seen = seen.lock().expect("no test panics with it");
            for address in [own, own + 99, own + 100, peer, pinned] {
                seen.push(reach.allocation(0, address).is_some_and(|range| range.len() == 100));
            }
            Progress::Done
        })
        .expect("a device");
        wait(&mut session, s).expect("no fault");
        session.devices[0].peers.insert(1);
    }
    let seen = seen.lock().expect("no test panics with it");
    assert_eq!(seen[..5], [true, true, false, false, true]);
    assert_eq!(seen[5..], [true, true, false, true, true]);
}

#[test]
fn others_enqueue_while_one_waits() {
    let runtime = runtime(1, 0);
    let mut session = runtime.session();
    let s = stream(&mut session, 0);
    let enqueued = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&enqueued);
    // Ends when the other thread has had the lock often enough.
    launch(&mut session, s, move |_| {
        if seen.load(Ordering::Relaxed) >= 100 { Progress::Done } else { Progress::Running }
    })
    .expect("a device");
    let other = std::thread::spawn(move || {
        for _ in 0..100 {
            let mut session = runtime.session();
            let s = session.stream(Which::per_thread(0)).expect("a device");
            session.submit(s, Task::Mark).expect("no fault");
            enqueued.fetch_add(1, Ordering::Relaxed);
        }
    });
    wait(&mut session, s).expect("no fault");
    drop(session);
    other.join().expect("it ends");
}
