//! Which steps of a script race, by the rules of MPI 4.1 §12 alone.
//!
//! Every step has a beginning, a middle and an end; every use of a buffer by a transfer, at its
//! origin and at its target, has a beginning and an end. What the standard orders is an edge
//! between two of these. Two uses of a byte, one of which writes, race unless there is a path from
//! the end of one to the beginning of the other. Whose order depends on the run is *possible*: of
//! such edges all are there at once, and a race that only they prevent may be found or not.

use crate::script::{Area, Assertion, Atomic, Place, Script, Side, Step, Touch};
use commsan_findings::Code;
use std::collections::BTreeMap;

/// Two steps that race: of an access and a transfer in this order, else sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    pub code: Code,
    pub first: Place,
    pub second: Place,
}

impl Race {
    pub fn new(code: Code, first: Place, second: Place) -> Race {
        use Code::{OperationsOverlap, SharedMemoryRace, TargetRace};
        let alike = matches!(code, TargetRace | OperationsOverlap | SharedMemoryRace);
        match alike && second < first {
            true => Race { code, first: second, second: first },
            false => Race { code, first, second },
        }
    }
}

/// What a finder of races has to say about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Another order of messages or locks would prevent it, or another access hides it.
    Possible,
    Certain,
}

/// The races of a script.
pub fn races(script: &Script) -> BTreeMap<Race, Verdict> {
    let model = Model::new(script);
    let mut races = BTreeMap::new();
    for (index, a) in model.uses.iter().enumerate() {
        for b in &model.uses[index + 1..] {
            if let (Some(race), Some(verdict)) = (model.collision(a, b), model.verdict(a, b)) {
                let known = races.entry(race).or_insert(verdict);
                *known = verdict.max(*known);
            }
        }
    }
    races
}

/// A use of memory, from a node to a node.
struct Use {
    place: Place,
    touch: Touch,
    from: usize,
    to: usize,
    /// The step with which it is over, of its own rank.
    until: usize,
    /// Locks that cover it.
    locks: Vec<Lock>,
    /// Of a transfer at its target.
    far: Option<(usize, Option<Atomic>)>,
}

/// A lock on a target's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    window: usize,
    target: usize,
    exclusive: bool,
    /// Who has it, and since and until which step.
    holder: usize,
    from: usize,
    to: usize,
}

struct Model<'a> {
    script: &'a Script,
    /// Node of the first step of each rank.
    first: Vec<usize>,
    graph: Graph,
    uses: Vec<Use>,
    locks: Vec<Lock>,
}

#[derive(Default)]
struct Graph {
    /// Edges of each node and whether they are only possible.
    edges: Vec<Vec<(usize, bool)>>,
    /// Nodes that can be reached from each, by certain edges and by all.
    reach: Vec<[Vec<bool>; 2]>,
}

impl Graph {
    fn node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.edges[from].push((to, false));
    }

    fn possible(&mut self, from: usize, to: usize) {
        self.edges[from].push((to, true));
    }

    fn close(&mut self) {
        let from = |start: usize, all: bool| {
            let mut seen = vec![false; self.edges.len()];
            let mut left = vec![start];
            while let Some(node) = left.pop() {
                for (to, possible) in &self.edges[node] {
                    if (all || !possible) && !std::mem::replace(&mut seen[*to], true) {
                        left.push(*to);
                    }
                }
            }
            seen
        };
        self.reach = (0..self.edges.len()).map(|n| [from(n, false), from(n, true)]).collect();
    }

    fn leads(&self, from: usize, to: usize, all: bool) -> bool {
        self.reach[from][usize::from(all)][to]
    }
}

impl<'a> Model<'a> {
    fn new(script: &'a Script) -> Model<'a> {
        let mut graph = Graph::default();
        let mut first = Vec::new();
        for steps in &script.steps {
            first.push(graph.edges.len());
            let mut last = graph.node();
            for _ in 0..steps.len() * 3 {
                let next = graph.node();
                graph.edge(last, next);
                last = next;
            }
        }
        let mut model = Model { script, first, graph, uses: Vec::new(), locks: Vec::new() };
        model.find_locks();
        model.order_by_collectives();
        model.order_by_messages();
        model.order_by_epochs();
        model.add_uses();
        model.order_by_atomics();
        model.graph.close();
        model
    }

    fn begin(&self, (rank, step): Place) -> usize {
        self.first[rank] + step * 3
    }

    fn middle(&self, place: Place) -> usize {
        self.begin(place) + 1
    }

    fn end(&self, place: Place) -> usize {
        self.begin(place) + 2
    }

    fn steps(&self) -> impl Iterator<Item = (Place, &'a Step)> + use<'a> {
        let ranks = self.script.steps.iter().enumerate();
        ranks.flat_map(|(r, steps)| steps.iter().enumerate().map(move |(i, s)| ((r, i), s)))
    }

    fn of_rank(&self, rank: usize, wanted: impl Fn(&Step) -> bool) -> Vec<usize> {
        let steps = self.script.steps[rank].iter().enumerate();
        steps.filter(|(_, step)| wanted(step)).map(|(index, _)| index).collect()
    }

    /// The first step after `index` that is wanted.
    fn next(&self, (rank, index): Place, wanted: impl Fn(&Step) -> bool) -> Option<usize> {
        self.of_rank(rank, wanted).into_iter().find(|step| *step > index)
    }

    fn ranks(&self) -> std::ops::Range<usize> {
        0..self.script.steps.len()
    }

    fn find_locks(&mut self) {
        for ((holder, from), step) in self.steps() {
            let (window, targets, exclusive) = match step {
                Step::Lock(window, target, exclusive) => {
                    (*window, *target..*target + 1, *exclusive)
                }
                Step::LockAll(window) => (*window, self.ranks(), false),
                _ => continue,
            };
            for target in targets {
                let to = self.next((holder, from), |step| {
                    match (step, &self.script.steps[holder][from]) {
                        (Step::UnlockAll(w), Step::LockAll(_)) => *w == window,
                        (Step::Unlock(w, t), Step::Lock(..)) => (*w, *t) == (window, target),
                        _ => false,
                    }
                });
                let to = to.expect("a script gives its locks back");
                self.locks.push(Lock { window, target, exclusive, holder, from, to });
            }
        }
        // Whoever comes second comes after whoever came first.
        let mut handovers = Vec::new();
        for a in &self.locks {
            for b in self.locks.iter().filter(|b| a.excludes(b)) {
                handovers.push((self.end((a.holder, a.to)), self.end((b.holder, b.from))));
            }
        }
        handovers.into_iter().for_each(|(from, to)| self.graph.possible(from, to));
    }

    fn order_by_collectives(&mut self) {
        let mut seen: Vec<Vec<(Place, &Step)>> = Vec::new();
        for rank in self.ranks() {
            let collective = |step: &Step| {
                use Step::*;
                matches!(
                    step,
                    Barrier | NonblockingBarrier | Broadcast(_) | Reduce(_) | ReduceToAll
                )
            };
            for (nth, step) in self.of_rank(rank, collective).into_iter().enumerate() {
                seen.resize_with(seen.len().max(nth + 1), Vec::new);
                seen[nth].push(((rank, step), &self.script.steps[rank][step]));
            }
        }
        for members in seen {
            for (a, step) in &members {
                for (b, _) in members.iter().filter(|(b, _)| a != b) {
                    let teaches = match step {
                        Step::Broadcast(root) => a.0 == *root,
                        Step::Reduce(root) => b.0 == *root,
                        _ => true,
                    };
                    if teaches {
                        self.graph.edge(self.begin(*a), self.end(*b));
                    }
                }
            }
        }
        for window in 0..self.script.windows.len() {
            for nth in 0.. {
                let fences: Vec<Place> = self
                    .ranks()
                    .filter_map(|r| Some((r, *self.fences(r, window).get(nth)?)))
                    .collect();
                let Some(one) = fences.first() else { break };
                // It need not wait for others if it ends no epoch (§12.5.1).
                let waits = !matches!(
                    self.script.steps[one.0][one.1],
                    Step::Fence(_, Assertion::NoPrecede)
                );
                for a in &fences {
                    for b in fences.iter().filter(|b| a != *b) {
                        let (from, to) = (self.begin(*a), self.end(*b));
                        match waits {
                            true => self.graph.edge(from, to),
                            false => self.graph.possible(from, to),
                        }
                    }
                }
            }
        }
    }

    fn fences(&self, rank: usize, window: usize) -> Vec<usize> {
        self.of_rank(rank, |step| matches!(step, Step::Fence(w, _) if *w == window))
    }

    /// Messages of a channel do not overtake each other (§3.5); who takes which of several
    /// senders' messages is known only when all are there.
    fn order_by_messages(&mut self) {
        for ((to, index), step) in self.steps() {
            let Step::Receive(source, tag) = step else { continue };
            let receives =
                self.of_rank(to, |s| matches!(s, Step::Receive(f, t) if f == source && t == tag));
            let nth = receives.iter().position(|i| *i == index).unwrap_or(0);
            let last = nth + 1 == receives.len();
            for from in self.ranks().filter(|from| source.is_none_or(|source| source == *from)) {
                let sends = self
                    .of_rank(from, |s| matches!(s, Step::Send(d, t, _) if *d == to && t == tag));
                for (sent, send) in sends.into_iter().enumerate() {
                    let synchronous = matches!(self.script.steps[from][send], Step::Send(.., true));
                    let (sending, sent_all) = (self.begin((from, send)), self.end((from, send)));
                    let (receiving, received) = (self.begin((to, index)), self.end((to, index)));
                    if source.is_some() && sent == nth || source.is_none() && last {
                        self.graph.edge(sending, received);
                    } else if source.is_none() {
                        self.graph.possible(sending, received);
                    }
                    if synchronous && source.is_some() && sent == nth {
                        self.graph.edge(receiving, sent_all);
                        // It may be taken to have learned all that the receiver has done since.
                        let last = self.end((to, self.script.steps[to].len() - 1));
                        self.graph.possible(last, sent_all);
                    }
                }
            }
        }
    }

    /// Exposures and the access epochs that match them (§12.5.2).
    fn order_by_epochs(&mut self) {
        for (start, step) in self.steps() {
            let Step::Start(window, targets) = step else { continue };
            let complete = self.next(start, |s| matches!(s, Step::Complete(w) if w == window));
            let complete = (start.0, complete.expect("a script completes what it starts"));
            for target in targets {
                let (post, wait) = self.exposure(start, *window, *target);
                self.graph.edge(self.begin(complete), self.end(wait));
                // Both calls may wait for the target, but need not.
                self.graph.possible(self.begin(post), self.end(start));
                self.graph.possible(self.begin(post), self.end(complete));
            }
        }
    }

    /// The post and wait of a target that belong to a start.
    fn exposure(&self, start: Place, window: usize, target: usize) -> (Place, Place) {
        let starts = self.of_rank(
            start.0,
            |s| matches!(s, Step::Start(w, ranks) if *w == window && ranks.contains(&target)),
        );
        let nth = starts.iter().position(|index| *index == start.1).unwrap_or(0);
        let posts = self.of_rank(
            target,
            |s| matches!(s, Step::Post(w, ranks) if *w == window && ranks.contains(&start.0)),
        );
        let post = (target, posts[nth]);
        let wait = self.next(post, |s| matches!(s, Step::WaitExposed(w) if *w == window));
        (post, (target, wait.expect("a script waits for what it exposes")))
    }

    fn add_uses(&mut self) {
        for (place, step) in self.steps() {
            for touch in step.touches(place.0) {
                match (step, touch.side) {
                    (Step::Transfer(_), Side::Near) => self.add_near(place, touch),
                    (Step::Transfer(_), Side::Far) => self.add_far(place, touch),
                    _ => {
                        let locks = self.locks_on(touch.owner, place, place.1);
                        let node = self.middle(place);
                        let (from, to, until) = (node, node, place.1);
                        self.uses.push(Use { place, touch, from, to, until, locks, far: None });
                    }
                }
            }
        }
    }

    /// Locks of a rank on an owner's windows, from one of its steps to another.
    fn locks_on(&self, owner: usize, (rank, from): Place, to: usize) -> Vec<Lock> {
        let covers =
            |l: &&Lock| l.holder == rank && l.target == owner && l.from < from && to <= l.to;
        self.locks.iter().filter(covers).copied().collect()
    }

    /// The step of the origin after which a transfer uses no local buffer.
    fn completion(&self, place: Place) -> usize {
        let Step::Transfer(t) = &self.script.steps[place.0][place.1] else { unreachable!() };
        let over = self.next(place, |step| match step {
            Step::Fence(w, _) | Step::Complete(w) | Step::UnlockAll(w) => *w == t.window,
            Step::Unlock(w, target) => (*w, *target) == (t.window, t.target),
            Step::Flush(w, target, _) => {
                *w == t.window && target.is_none_or(|target| target == t.target)
            }
            Step::Wait(request) => Some(*request) == t.request,
            _ => false,
        });
        over.expect("a script completes all transfers")
    }

    fn add_near(&mut self, place: Place, touch: Touch) {
        let until = self.completion(place);
        let (from, to) = (self.graph.node(), self.graph.node());
        self.graph.edge(self.begin(place), from);
        self.graph.edge(from, to);
        self.graph.edge(to, self.end((place.0, until)));
        if matches!(self.script.steps[place.0][until], Step::Fence(..)) {
            // Others who have left the fence may rely on it in practice.
            self.graph.possible(to, self.begin((place.0, until)));
        }
        let locks = self.locks_on(place.0, place, until);
        self.uses.push(Use { place, touch, from, to, until, locks, far: None });
    }

    fn add_far(&mut self, place: Place, touch: Touch) {
        let (rank, index) = place;
        let Step::Transfer(t) = &self.script.steps[rank][index] else { unreachable!() };
        let (from, to) = (self.graph.node(), self.graph.node());
        self.graph.edge(self.begin(place), from);
        self.graph.edge(from, to);
        let until = self.completion(place);
        if !touch.write {
            self.graph.edge(to, self.end((rank, until)));
        }
        let holds = |l: &&Lock| {
            (l.holder, l.window, l.target) == (rank, t.window, t.target)
                && l.from < index
                && index < l.to
        };
        let locks: Vec<Lock> = self.locks.iter().filter(holds).copied().collect();
        let last = |wanted: &dyn Fn(&Step) -> bool| {
            self.of_rank(rank, wanted).into_iter().rfind(|step| *step < index)
        };
        let started =
            last(&|s| matches!(s, Step::Start(w, _) | Step::Complete(w) if *w == t.window))
                .filter(|step| matches!(self.script.steps[rank][*step], Step::Start(..)));
        if !locks.is_empty() {
            let flushed = self.next(place, |step| match step {
                Step::UnlockAll(w) => *w == t.window,
                Step::Unlock(w, target) => (*w, *target) == (t.window, t.target),
                Step::Flush(w, target, false) => {
                    *w == t.window && target.is_none_or(|target| target == t.target)
                }
                _ => false,
            });
            self.graph.edge(to, self.end((rank, flushed.expect("an epoch has an end"))));
        } else if let Some(start) = started {
            let (post, wait) = self.exposure((rank, start), t.window, t.target);
            self.graph.edge(self.begin(post), from);
            self.graph.edge(to, self.end(wait));
        } else {
            // In the target's exposure between the same two fences.
            let own = self.fences(rank, t.window);
            let nth = own.iter().filter(|fence| **fence < index).count();
            let there = self.fences(t.target, t.window);
            self.graph.edge(self.middle((t.target, there[nth - 1])), from);
            self.graph.edge(to, self.middle((t.target, there[nth])));
            // Whether others may rely on the origin's word is not quite clear.
            self.graph.possible(to, self.begin((rank, own[nth])));
        }
        let far = Some((t.window, t.atomic()));
        self.uses.push(Use { place, touch, from, to, until, locks, far });
    }

    /// What is read atomically may have been written by any atomic that started before.
    fn order_by_atomics(&mut self) {
        let mut edges = Vec::new();
        for write in self.uses.iter().filter(|u| u.is_atomic() && u.touch.write) {
            for read in self.uses.iter().filter(|u| u.is_atomic()) {
                if read.place != write.place && read.touch.bytes & write.touch.bytes != 0 {
                    let seen = self.end((read.place.0, read.until));
                    edges.push((self.begin(write.place), seen));
                    if read.place.0 == read.touch.owner {
                        // Who has seen the value in memory of its own need not wait for the writer.
                        edges.push((write.to, seen));
                    }
                }
            }
        }
        edges.into_iter().for_each(|(from, to)| self.graph.possible(from, to));
    }

    /// A load or store of another rank's memory: of transfers there it is known when they start and
    /// when they are complete only.
    fn is_third(&self, a: &Use) -> bool {
        a.touch.side == Side::Plain && a.place.0 != a.touch.owner
    }

    /// What kind of mistake it would be if these two were at the same time.
    fn collision(&self, a: &Use, b: &Use) -> Option<Race> {
        if !a.touch.collides(&b.touch) || a.place == b.place {
            return None;
        }
        let far = a.far.is_some() || b.far.is_some();
        if !far && a.place.0 != b.place.0 {
            return Some(Race::new(Code::SharedMemoryRace, a.place, b.place));
        }
        let (a, b) = match (a.touch.side, b.touch.side) {
            (Side::Plain, Side::Plain) => return None,
            // Third ranks' loads and stores. A rank's own transfers do not meet its own.
            _ if self.is_third(a) || self.is_third(b) => {
                let race = Race::new(Code::SharedMemoryRace, a.place, b.place);
                return (a.place.0 != b.place.0).then_some(race);
            }
            (Side::Far, Side::Plain | Side::Near) | (Side::Near, Side::Plain) => (b, a),
            _ => (a, b),
        };
        let code = match (a.touch.side, b.touch.side) {
            (Side::Plain, Side::Near) if b.touch.write => Code::ResultBufferUsed,
            (Side::Plain, Side::Near) => Code::OriginBufferWritten,
            (Side::Near, Side::Near) => Code::OperationsOverlap,
            (_, Side::Far) if a.touch.side != Side::Far => Code::WindowAccessRace,
            _ => Code::TargetRace,
        };
        Some(Race::new(code, a.place, b.place))
    }

    /// Whether nothing certain keeps the two apart.
    fn may_race(&self, a: &Use, b: &Use) -> bool {
        let apart = a.locks.iter().any(|lock| b.locks.iter().any(|other| lock.excludes(other)));
        !self.are_ordered(a, b, false) && !apart && !a.combines_with(b)
    }

    fn are_ordered(&self, a: &Use, b: &Use, all: bool) -> bool {
        self.graph.leads(a.to, b.from, all) || self.graph.leads(b.to, a.from, all)
    }

    fn verdict(&self, a: &Use, b: &Use) -> Option<Verdict> {
        if !self.may_race(a, b) {
            return None;
        }
        let far = a.far.is_some() || b.far.is_some();
        let sure = !self.are_ordered(a, b, true)
            && !self.is_doubtful(a, b)
            && !self.is_hidden(a, b)
            && !(far && (self.is_third(a) || self.is_third(b)))
            && !self.is_overwritten(a, b)
            && !self.is_overwritten(b, a)
            && !self.is_beside(a, b)
            && !self.is_beside(b, a)
            && !self.is_covered(a, b)
            && !self.is_covered(b, a);
        Some(if sure { Verdict::Certain } else { Verdict::Possible })
    }

    /// The order of one origin's accumulates to one place is kept (§12.7.2), whatever they do.
    fn is_doubtful(&self, a: &Use, b: &Use) -> bool {
        let atomic = |u: &Use| matches!(u.far, Some((_, Some(_))));
        atomic(a) && atomic(b) && a.place.0 == b.place.0
    }

    /// A later operation stands for one that it comes after and covers.
    fn is_covered(&self, far: &Use, other: &Use) -> bool {
        let covers = |later: &&Use| {
            later.far.is_some()
                && later.far == far.far
                && later.touch.owner == far.touch.owner
                && far.touch.bytes & !later.touch.bytes == 0
                && (later.touch.write || !far.touch.write)
                && later.place != far.place
                && later.place != other.place
                && self.graph.leads(far.to, later.from, true)
                && self.may_race(later, other)
        };
        far.far.is_some() && self.uses.iter().any(|later| covers(&later))
    }

    /// An access of a vector to both local buffers of a transfer may be reported for one of them.
    fn is_beside(&self, plain: &Use, near: &Use) -> bool {
        let other = |u: &Use| {
            u.far.is_none()
                && u.place == near.place
                && u.touch.bytes != near.touch.bytes
                && u.touch.collides(&plain.touch)
        };
        plain.touch.side == Side::Plain && near.far.is_none() && self.uses.iter().any(other)
    }

    /// So it is with what a rank does to shared memory; and whether a transfer's local buffer is in
    /// use until its end matters to another rank only if that comes to know of its beginning.
    fn is_overwritten(&self, a: &Use, b: &Use) -> bool {
        if a.place.0 == b.place.0 || a.far.is_some() || b.far.is_some() {
            return false;
        }
        // Its transfers to that memory are remembered in the same place.
        let later = |other: &&Use| {
            (other.touch.owner, other.touch.area, other.touch.write)
                == (a.touch.owner, a.touch.area, a.touch.write)
                && other.place.0 == a.place.0
                && other.until > a.until
                && self.may_race(other, b)
        };
        let hidden = self.uses.iter().filter(later).fold(0, |all, other| all | other.touch.bytes);
        let near = a.touch.side == Side::Near || b.touch.side == Side::Near;
        near || a.touch.bytes & b.touch.bytes & !hidden == 0
    }

    /// Of what the owner does to a byte of a window, only the last read and write are remembered.
    fn is_hidden(&self, a: &Use, b: &Use) -> bool {
        let (own, far) = match (a.far, b.far) {
            (None, Some(_)) => (a, b),
            (Some(_), None) => (b, a),
            _ => return false,
        };
        let later = |other: &&Use| {
            other.far.is_none()
                && (other.touch.owner, other.touch.area, other.touch.write)
                    == (own.touch.owner, Area::Window, own.touch.write)
                && (other.until, other.place) > (own.until, own.place)
                && self.verdict(other, far).is_some()
        };
        let hidden = self.uses.iter().filter(later).fold(0, |all, other| all | other.touch.bytes);
        own.touch.bytes & far.touch.bytes & !hidden == 0
    }
}

impl Use {
    fn is_atomic(&self) -> bool {
        matches!(self.far, Some((_, Some(_))))
    }

    fn combines_with(&self, other: &Use) -> bool {
        let (Some((window, Some(a))), Some((there, Some(b)))) = (self.far, other.far) else {
            return false;
        };
        window == there && a.combines_with(b)
    }
}

impl Lock {
    /// Whether the two cannot be held at the same time.
    fn excludes(&self, other: &Lock) -> bool {
        (self.window, self.target) == (other.window, other.target)
            && self.holder != other.holder
            && (self.exclusive || other.exclusive)
    }
}
