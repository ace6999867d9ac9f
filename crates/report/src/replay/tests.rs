use super::*;
use proptest::prelude::*;
use proptest::sample::Index;

const WORLD: u32 = 0;
const PAIR: u32 = 1;
const RANKS: u32 = 3;

const STRICT: Rules = Rules { sends: true, collectives: true };
const LOOSE: Rules = Rules { sends: false, collectives: false };

/// Something that ranks do together.
#[derive(Clone, Copy, Debug)]
enum Event {
    Message { from: u32, to: u32, tag: i32, sender: Sender, receiver: Receiver },
    Collective { comm: u32, waits: bool },
}

#[derive(Clone, Copy, Debug)]
enum Sender {
    Blocks,
    WaitsLater,
    Buffers,
}

#[derive(Clone, Copy, Debug)]
enum Receiver {
    Blocks,
    WaitsLater,
    TakesAnyTag,
    Probes,
}

fn message(peer: u32, tag: Option<i32>) -> Message {
    Message { comm: WORLD, peer, tag, place: 0, bytes: None, synchronous: false }
}

/// What belongs together in a rank: something begun, and its end, which may come much later.
type Deed = (Vec<Step>, bool);

impl Event {
    /// What each rank does of it: steps that follow each other, the last of them begun for later or
    /// not.
    fn deeds(self) -> Vec<(u32, Deed)> {
        match self {
            Event::Message { from, to, tag, sender, receiver } => {
                let sent = message(to, Some(tag));
                let send = match sender {
                    Sender::Blocks => (vec![Step::Send(sent)], true),
                    Sender::WaitsLater => (vec![Step::Send(sent)], false),
                    Sender::Buffers => (vec![Step::Kept(sent)], true),
                };
                let wanted = message(from, Some(tag));
                let receive = match receiver {
                    Receiver::Blocks => (vec![Step::Receive(wanted)], true),
                    Receiver::WaitsLater => (vec![Step::Receive(wanted)], false),
                    Receiver::TakesAnyTag => (vec![Step::Receive(message(from, None))], true),
                    Receiver::Probes => (vec![Step::Probe(wanted), Step::Receive(wanted)], true),
                };
                vec![(from, send), (to, receive)]
            }
            Event::Collective { comm, waits } => {
                let members = if comm == WORLD { RANKS } else { 2 };
                let enter = (vec![Step::Enter { comm, place: 0 }], waits);
                (0..members).map(|rank| (rank, enter.clone())).collect()
            }
        }
    }
}

/// The steps of all ranks, of whose deeds some were interchanged.
fn program(events: &[Event], swaps: &[(Index, Index)]) -> Vec<Steps> {
    let mut deeds: Vec<Vec<Deed>> = vec![Vec::new(); RANKS as usize];
    for (rank, deed) in events.iter().flat_map(|event| event.deeds()) {
        deeds[rank as usize].push(deed);
    }
    for (rank, at) in swaps {
        let of = &mut deeds[rank.index(RANKS as usize)];
        if of.len() > 1 {
            let at = at.index(of.len() - 1);
            of.swap(at, at + 1);
        }
    }
    deeds.into_iter().map(|deeds| steps(&deeds)).collect()
}

/// What is not waited for at once is waited for three deeds later.
fn steps(deeds: &[Deed]) -> Steps {
    let mut all = Vec::new();
    let mut later: Vec<(usize, u32)> = Vec::new();
    let finish = |begun| Step::Finish { begun, place: 0 };
    for (nth, (begun, waits)) in deeds.iter().enumerate() {
        all.extend(begun);
        let last = all.len() as u32 - 1;
        if *waits {
            all.push(finish(last))
        } else {
            later.push((nth + 3, last))
        }
        all.extend(later.extract_if(.., |(when, _)| *when <= nth).map(|(_, begun)| finish(begun)));
    }
    all.extend(later.into_iter().map(|(_, begun)| finish(begun)));
    let comm = |name, members: &[u32]| Comm { name, on: String::new(), members: members.to_vec() };
    Steps { comms: vec![comm(9, &[0, 1, 2]), comm(8, &[0, 1])], all, timing: None }
}

fn cycles(program: &[Steps], rules: Rules) -> Vec<Vec<Link>> {
    let ranks: Vec<_> = program.iter().map(Some).collect();
    Replay::new(&ranks).cycles(rules)
}

/// MPI, as it takes one step of some rank after the other.
#[derive(Default)]
struct Mpi {
    at: [usize; RANKS as usize],
    /// Sends that have not been received yet, receives that have got nothing: rank, step, and
    /// message.
    sent: Vec<(u32, usize, Message)>,
    posted: Vec<(u32, usize, Message)>,
    /// What has met its counterpart.
    met: Vec<(u32, usize)>,
    entered: [[u32; RANKS as usize]; 2],
}

impl Mpi {
    /// Goes on by one step, if the rank can.
    fn step(&mut self, program: &[Steps], rank: u32, rules: Rules) -> bool {
        let (at, steps) = (self.at[rank as usize], &program[rank as usize].all);
        let Some(step) = steps.get(at) else { return false };
        let fits = |sent: &(u32, usize, Message), to: u32, wanted: &Message| {
            let (from, _, message) = sent;
            *from == wanted.peer
                && message.peer == to
                && (wanted.tag.is_none() || wanted.tag == message.tag)
        };
        match step {
            Step::Send(message) | Step::Kept(message) => {
                let sent = (rank, at, *message);
                let meets = |posted: &(u32, usize, Message)| fits(&sent, posted.0, &posted.2);
                match self.posted.iter().position(meets) {
                    Some(found) => {
                        let (other, receive, _) = self.posted.remove(found);
                        self.met.extend([(rank, at), (other, receive)]);
                    }
                    None => self.sent.push(sent),
                }
            }
            Step::Receive(wanted) => {
                match self.sent.iter().position(|sent| fits(sent, rank, wanted)) {
                    Some(found) => {
                        let (other, send, _) = self.sent.remove(found);
                        self.met.extend([(rank, at), (other, send)]);
                    }
                    None => self.posted.push((rank, at, *wanted)),
                }
            }
            Step::Probe(wanted) if !self.sent.iter().any(|sent| fits(sent, rank, wanted)) => {
                return false;
            }
            Step::Probe(_) => {}
            Step::Enter { comm, .. } => self.entered[*comm as usize][rank as usize] += 1,
            Step::Finish { begun, .. } => {
                let begun = *begun as usize;
                let has_met = self.met.contains(&(rank, begun));
                let is_over = match steps[begun] {
                    Step::Send(_) => !rules.sends || has_met,
                    Step::Receive(_) => has_met,
                    Step::Enter { comm, .. } => {
                        let is_same = |step: &&Step| matches!(step, Step::Enter { comm: c, .. } if *c == comm);
                        let number = steps[..=begun].iter().filter(is_same).count() as u32;
                        let members = if comm == WORLD { RANKS } else { 2 } as usize;
                        let entered = &self.entered[comm as usize][..members];
                        !rules.collectives || entered.iter().all(|entered| *entered >= number)
                    }
                    _ => true,
                };
                if !is_over {
                    return false;
                }
            }
            _ => {}
        }
        self.at[rank as usize] += 1;
        true
    }

    /// Whether all come to their ends, whoever goes first.
    fn ends(program: &[Steps], rules: Rules, order: &[Index]) -> bool {
        let mut mpi = Mpi::default();
        let turns = order.iter().map(|turn| turn.index(RANKS as usize) as u32);
        turns.for_each(|rank| {
            mpi.step(program, rank, rules);
        });
        while (0..RANKS).any(|rank| mpi.step(program, rank, rules)) {}
        let is_over = |(at, steps): (&usize, &Steps)| *at == steps.all.len();
        mpi.at.iter().zip(program).all(is_over) && mpi.sent.is_empty()
    }
}

fn event() -> impl Strategy<Value = Event> {
    let sender = prop_oneof![
        3 => Just(Sender::Blocks),
        2 => Just(Sender::WaitsLater),
        1 => Just(Sender::Buffers)
    ];
    let receiver = prop_oneof![
        4 => Just(Receiver::Blocks),
        3 => Just(Receiver::WaitsLater),
        1 => Just(Receiver::TakesAnyTag),
        1 => Just(Receiver::Probes)
    ];
    let message = (0..RANKS, 0..RANKS, 0..2, sender, receiver).prop_map(
        |(from, to, tag, sender, receiver)| Event::Message { from, to, tag, sender, receiver },
    );
    let collective = (prop_oneof![Just(WORLD), Just(PAIR)], any::<bool>())
        .prop_map(|(comm, waits)| Event::Collective { comm, waits });
    prop_oneof![3 => message, 1 => collective]
}

fn programs() -> impl Strategy<Value = Vec<Steps>> {
    let swaps = prop::collection::vec((any::<Index>(), any::<Index>()), 0..6);
    (prop::collection::vec(event(), 1..8), swaps)
        .prop_map(|(events, swaps)| program(&events, &swaps))
}

fn rules() -> impl Strategy<Value = Rules> {
    (any::<bool>(), any::<bool>()).prop_map(|(sends, collectives)| Rules { sends, collectives })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Against MPI itself, as far as there is anything to say: all ends if MPI waits nowhere.
    #[test]
    fn circles_are_found_where_there_are_any(
        program in programs(),
        rules in rules(),
        order in prop::collection::vec(any::<Index>(), 60)
    ) {
        prop_assume!(Mpi::ends(&program, LOOSE, &order));
        let ends = Mpi::ends(&program, rules, &order);
        prop_assert_eq!(cycles(&program, rules).is_empty(), ends, "{:?}", program);
    }

    /// From a part of the steps less is found, but nothing wrong.
    #[test]
    fn what_follows_may_save_those_who_wait(
        program in programs(),
        ends in prop::collection::vec(any::<Index>(), RANKS as usize)
    ) {
        let mut parts = program.clone();
        for (part, end) in parts.iter_mut().zip(&ends) {
            part.all.truncate(end.index(part.all.len() + 1));
        }
        let is_safe = Mpi::ends(&program, STRICT, &[]);
        prop_assert!(!is_safe || cycles(&parts, STRICT).is_empty(), "{:?} of {:?}", parts, program);
    }

    /// Each waits for a step of the next that comes after the one where that waits.
    #[test]
    fn a_circle_is_one(program in programs()) {
        for cycle in cycles(&program, STRICT) {
            for (link, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                prop_assert_eq!(link.next, next.rank);
                prop_assert!(link.meets > next.step);
                let steps = &program[link.rank as usize].all;
                let begun = link.begun;
                let waits = match steps[link.step as usize] {
                    Step::Finish { begun: of, .. } => of == begun,
                    step => matches!(step, Step::Probe(_)) && link.step == begun,
                };
                prop_assert!(waits);
            }
        }
    }

    /// Whatever a file says.
    #[test]
    fn steps_that_make_no_sense_say_nothing_worse(
        all in prop::collection::vec(
            (0..5, 0..4_u32, 0..4_u32, prop::option::of(0..2)),
            0..40
        )
    ) {
        let step = |(kind, comm, peer, tag)| {
            let message = Message { comm, ..message(peer, tag) };
            match kind {
                0 => Step::Send(message),
                1 => Step::Receive(message),
                2 => Step::Probe(message),
                3 => Step::Enter { comm, place: 0 },
                _ => Step::Finish { begun: peer * 7, place: 0 },
            }
        };
        let all: Vec<Step> = all.into_iter().map(step).collect();
        let of = |rank: usize| Steps { all: all.iter().skip(rank).copied().collect(), ..steps(&[]) };
        cycles(&[of(0), of(1), of(2)], STRICT);
    }
}

fn send(to: u32) -> Deed {
    (vec![Step::Send(message(to, Some(0)))], true)
}

fn receive(from: u32) -> Deed {
    (vec![Step::Receive(message(from, Some(0)))], true)
}

#[test]
fn two_that_send_first_wait_for_each_other() {
    let both = [steps(&[send(1), receive(1)]), steps(&[send(0), receive(0)])];
    let link = |rank, next| Link { rank, step: 1, begun: 0, next, meets: 2 };
    assert_eq!(cycles(&both, STRICT), [[link(0, 1), link(1, 0)]]);
    assert_eq!(cycles(&both, Rules { sends: false, collectives: true }), [] as [Vec<_>; 0]);
}

/// Some of what has been done is missing.
#[test]
fn nothing_is_said_of_what_cannot_have_been() {
    let both = [steps(&[receive(1), send(1)]), steps(&[receive(0), send(0)])];
    for rules in [LOOSE, STRICT] {
        assert_eq!(cycles(&both, rules), [] as [Vec<_>; 0]);
    }
}

#[test]
fn each_circle_is_told_of() {
    let twice = |other| steps(&[send(other), receive(other), send(other), receive(other)]);
    assert_eq!(cycles(&[twice(1), twice(0)], STRICT).len(), 2);
}

#[test]
fn nobody_is_sure_of_ranks_that_have_told_nothing() {
    let first = steps(&[send(1), receive(1)]);
    let ranks = [Some(&first), None];
    assert_eq!(Replay::new(&ranks).cycles(STRICT), [] as [Vec<Link>; 0]);
}
