use super::*;
use commsan_job_shm::Memory;
use proptest::prelude::*;
use std::cell::RefCell;

const RANKS: usize = 3;
const THREADS: usize = 3;

/// What a thread of a rank does.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Something that others may come to know.
    Work,
    /// Synchronises with another thread of the rank, which comes after.
    Order(usize),
    /// Releases what it knows by a message.
    Send,
    /// Receives a message that was sent before, unless there is none.
    Receive(usize),
    /// All threads of the rank are joined.
    Join,
    /// There are several again, which come after all before.
    Fork,
}

fn steps() -> impl Strategy<Value = Vec<(usize, usize, Step)>> {
    let step = prop_oneof![
        4 => Just(Step::Work),
        3 => (0..THREADS).prop_map(Step::Order),
        3 => Just(Step::Send),
        4 => (0..100usize).prop_map(Step::Receive),
        1 => Just(Step::Join),
        2 => Just(Step::Fork),
    ];
    prop::collection::vec((0..RANKS, 0..THREADS, step), 0..90)
}

/// The set of all work that happens before something: happens-before by its definition.
type History = u128;

thread_local! {
    /// The threads' clocks of the rank that acts, for `known_to_all`.
    static PRESENT: RefCell<Vec<AgentClock>> = const { RefCell::new(Vec::new()) };
}

fn known_to_all(stamp: Epoch) -> bool {
    PRESENT.with(|all| all.borrow().iter().all(|clock| stamp.happens_before(clock)))
}

struct Rank {
    clock: Clock,
    /// Of each thread.
    agents: Vec<AgentClock>,
    histories: Vec<History>,
    alone: bool,
}

impl Rank {
    fn new(memory: Memory, rank: usize) -> Rank {
        let agents = (0..THREADS).map(|thread| {
            let mut clock = AgentClock::new([0; commsan_shadow::AGENTS]);
            clock.advance(thread as u32);
            clock
        });
        let clock = Clock::new(JobShm::new(memory, rank));
        Rank { clock, agents: agents.collect(), histories: vec![0; THREADS], alone: true }
    }

    /// The thread acts; gives the actor that it is.
    fn act(&mut self, thread: usize) -> Option<Actor> {
        PRESENT.with(|all| all.borrow_mut().clone_from(&self.agents));
        let clock = self.agents[thread].clone();
        let stamp = Epoch { agent: thread as u32, time: clock.time(thread as u32) };
        let actor = (!self.alone).then_some(Actor {
            stamp,
            clock,
            known_to_all,
            is_by_mapping: |_, _| false,
            is_by_thread: |_, _| false,
        });
        self.clock.act_as(actor.as_ref(), None, self.alone);
        actor
    }

    /// Everything that any of the threads has done happens before what all do next.
    fn join(&mut self) {
        let all = self.agents.clone();
        for (thread, clock) in self.agents.iter_mut().enumerate() {
            all.iter().for_each(|other| clock.join(other));
            clock.advance(thread as u32);
        }
        let all = self.histories.iter().fold(0, |all, one| all | one);
        self.histories.fill(all);
    }
}

/// Executes steps, and compares, before and after each, all that is known with the histories.
fn execute(steps: &[(usize, usize, Step)]) -> Result<(), TestCaseError> {
    let (memory, _file, _) = Memory::create(RANKS).unwrap();
    let mut ranks: Vec<Rank> = (0..RANKS).map(|rank| Rank::new(memory, rank)).collect();
    let mut work: Vec<Event> = Vec::new();
    let mut messages: Vec<(u32, u32, History)> = Vec::new();
    for (at, thread, step) in steps {
        let rank = &mut ranks[*at];
        let thread = if rank.alone { 0 } else { *thread };
        let actor = rank.act(thread);
        let actor = actor.as_ref();
        match step {
            Step::Work => {
                let stamp = actor.map_or(Epoch::default(), |actor| actor.stamp);
                let segment = rank.clock.segment();
                rank.histories[thread] |= 1 << work.len();
                work.push(Event { rank: *at as u32, segment, stamp });
            }
            Step::Order(other) if !rank.alone => {
                let (clock, history) = (rank.agents[thread].clone(), rank.histories[thread]);
                rank.agents[*other].join(&clock);
                rank.histories[*other] |= history;
                rank.agents[thread].advance(thread as u32);
            }
            Step::Order(_) => {}
            Step::Send => {
                let segment = rank.clock.end_segment(actor, None);
                messages.push((*at as u32, segment, rank.histories[thread]));
                rank.agents[thread].advance(thread as u32);
            }
            Step::Receive(nth) => {
                if let Some(nth) = nth.checked_rem(messages.len())
                    && messages[nth].0 as usize != *at
                {
                    let (from, segment, history) = messages[nth];
                    rank.clock.join(from, segment, actor);
                    rank.clock.end_segment(actor, None);
                    // What this rank's threads have done orders them by their own clocks.
                    let is_own = |event: &Event| event.rank as usize == *at;
                    let own = work.iter().enumerate().filter(|(_, event)| is_own(event));
                    let own = own.fold(0, |own, (index, _)| own | 1 << index);
                    rank.histories[thread] |= history & !own;
                }
            }
            Step::Join => {
                rank.join();
                rank.alone = true;
            }
            Step::Fork => {
                rank.join();
                rank.alone = false;
            }
        }
        let threads = if rank.alone { 1 } else { THREADS };
        for thread in 0..threads {
            let actor = rank.act(thread);
            let actor = actor.as_ref();
            let expected = |index: usize| rank.histories[thread] >> index & 1 == 1;
            for (index, event) in work.iter().enumerate() {
                let known = rank.clock.knows(*event, actor);
                prop_assert_eq!(known, expected(index), "{:?} by {}.{}", event, at, thread);
                let all = rank.histories[..threads].iter().all(|one| one >> index & 1 == 1);
                let all_know = rank.clock.all_know(*event, actor);
                prop_assert!(all || !all_know || event.rank as usize == *at);
            }
            if rank.clock.needs_own_segment(actor, None) {
                rank.clock.begin_segment(actor, None);
            }
            let mut before = Knowledge::default();
            rank.clock.read(*at as u32, rank.clock.segment(), &mut before);
            for (index, event) in work.iter().enumerate() {
                let known = before.covers(*event);
                prop_assert_eq!(known, expected(index), "{:?} to {}.{}", event, at, thread);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// Whatever is known to a thread, and to what it announces, is what happens before.
    #[test]
    fn threads_know_what_happens_before(steps in steps()) {
        execute(&steps)?;
    }
}

#[test]
fn a_rank_orders_its_own_threads_by_their_clocks() {
    use Step::*;
    let all = [
        (1, 0, Fork),
        (0, 0, Send),
        (1, 1, Work),
        (1, 1, Send),
        (0, 0, Send),
        (0, 0, Send),
        (2, 0, Receive(13)),
        (2, 0, Send),
        (1, 2, Receive(34)),
    ];
    execute(&all).unwrap();
}

#[test]
fn who_enters_a_collective_as_one_of_several_threads_is_known() {
    let (memory, _file, _) = Memory::create(2).unwrap();
    let [mut first, mut second] = [0, 1].map(|rank| Rank::new(memory, rank));
    let entered = [true, false, true, false, false, true].into_iter().zip(1..);
    for (alone, key) in entered {
        second.alone = alone;
        let actor = second.act(0);
        let segment = second.clock.end_segment(actor.as_ref(), None);
        second.clock.shm().enter(key, segment);
        assert_eq!(first.clock.gather(key, &[1], None, |_, _| {}), alone, "{key}");
        assert_eq!(second.clock.was_alone(1, segment), alone, "{key}");
    }
    assert!(!first.clock.gather(99, &[1], None, |_, _| {}), "nobody has entered it");
}

#[test]
fn what_one_thread_releases_does_not_include_another() {
    use Step::*;
    let all = [
        (0, 0, Fork),
        (0, 1, Work),
        (0, 2, Send),
        (1, 0, Receive(0)),
        (1, 0, Send),
        (2, 0, Receive(1)),
        (0, 1, Order(2)),
        (0, 2, Send),
        (2, 0, Fork),
        (2, 1, Receive(2)),
        (2, 1, Order(0)),
        (2, 0, Join),
    ];
    execute(&all).unwrap();
}
