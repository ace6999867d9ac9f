//! Happens-before between the threads of this very test, followed through the functions that
//! synchronise them. One test, since agents belong to the process.

use commsan_process::abi;
use commsan_shadow::Epoch;
use commsan_threads::{Observer, agents};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};

static SEQUENTIAL: AtomicUsize = AtomicUsize::new(0);

fn knows(stamp: Epoch) -> bool {
    stamp.happens_before(&agents::actor().expect("there are several").clock)
}

/// Runs both closures concurrently, each on a thread and agent of its own, after everything done
/// before.
fn together(one: impl FnOnce() + Send, two: impl FnOnce() + Send) {
    let id = agents::new_id();
    agents::enter_parallel();
    agents::expect(2);
    agents::release(agents::cell(agents::Kind::Begin, id));
    let end = agents::cell(agents::Kind::End, id);
    let run = |work: &mut dyn FnMut()| {
        let suspended = agents::begin(agents::cell(agents::Kind::Begin, id));
        work();
        agents::end(&[end], suspended);
    };
    let (mut one, mut two) = (Some(one), Some(two));
    std::thread::scope(|scope| {
        scope.spawn(|| run(&mut || one.take().expect("once")()));
        scope.spawn(|| run(&mut || two.take().expect("once")()));
    });
    agents::acquire(end);
    agents::leave_parallel();
}

#[test]
fn agents_know_of_each_other_as_far_as_they_synchronise() {
    abi::map().expect("nothing else is at the address");
    commsan_threads::connect(Observer {
        popped: |_| {},
        sequential: || {
            SEQUENTIAL.fetch_add(1, Ordering::Relaxed);
        },
        lock: |_, _| {},
    });
    assert!(agents::actor().is_none(), "alone, nobody asks");
    // The test's thread is not the process's initial one, so it begins as an agent.
    let root = agents::new_id();
    agents::expect(1);
    let suspended = agents::begin(agents::cell(agents::Kind::Begin, root));
    let before = agents::stamp();

    let seen = Arc::new((Mutex::new(None::<Epoch>), Condvar::new()));
    let meeting = Barrier::new(2);
    let lock = agents::cell(agents::Kind::Lock, 4096);
    together(
        || {
            assert!(knows(before), "who begins comes after who made it");
            let stamp = agents::stamp();
            *seen.0.lock().unwrap() = Some(stamp);
            seen.1.notify_all();
            meeting.wait();
            agents::release(lock);
            assert_ne!(agents::stamp(), stamp, "what follows is another epoch");
            meeting.wait();
        },
        || {
            let guard = seen.0.lock().unwrap();
            let stamp = seen.1.wait_while(guard, |stamp| stamp.is_none()).unwrap().unwrap();
            assert!(!knows(stamp), "time alone orders nothing");
            assert!(!(agents::actor().unwrap().known_to_all)(stamp));
            meeting.wait();
            meeting.wait();
            assert!(!knows(stamp), "nor does a release");
            agents::acquire(lock);
            assert!(knows(stamp), "an acquisition after it does");
        },
    );
    assert_eq!(SEQUENTIAL.load(Ordering::Relaxed), 1);
    assert!(!agents::is_parallel());

    // A release to all reaches agents that begin later.
    let told = Mutex::new(None::<Epoch>);
    together(
        || {
            *told.lock().unwrap() = Some(agents::stamp());
            agents::acquire_release_all();
        },
        || {
            while told.lock().unwrap().is_none() {
                std::thread::yield_now();
            }
        },
    );
    let told = told.into_inner().unwrap().unwrap();
    agents::enter_parallel();
    assert!(knows(told), "who waits for threads comes after them");
    agents::leave_parallel();

    // More agents than numbers: those without a number are ordered with everything.
    let crowd = agents::new_id();
    agents::enter_parallel();
    let nested: Vec<_> = (0..2 * commsan_shadow::AGENTS)
        .map(|_| {
            agents::expect(1);
            agents::begin(agents::cell(agents::Kind::Begin, crowd))
        })
        .collect();
    assert!(agents::current().is_none() && agents::actor().is_none());
    nested.into_iter().rev().for_each(|suspended| agents::end(&[], suspended));
    assert!(agents::current().is_some());
    agents::leave_parallel();
    agents::end(&[], suspended);
}
