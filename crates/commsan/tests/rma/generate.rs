//! Random scripts that end, whatever the order in which things happen, and err only by races.
//!
//! A script is a row of phases, each one way to synchronise, in which ranks do random accesses. In
//! a careful script an access is left out if it would race with one since the last time that all
//! ranks have come together with all complete; others are careful most of the time or not at all.

use crate::script::*;

/// A sequence of numbers that look random (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn some(&mut self, from: usize) -> Vec<usize> {
        (0..from).filter(|_| self.chance(60)).collect()
    }
}

/// The script of a seed.
pub fn script(seed: u64, ranks: usize, shared: bool) -> Script {
    let mut random = Random::new(seed);
    let span = random.one(&[16, 16, 32, 64]);
    let mut windows = vec![Window { at: 0, bytes: span, unit: random.one(&[1, 4]) }];
    if !shared && random.chance(30) {
        let at = random.one(&[0, 16, span]);
        windows.push(Window { at, bytes: 16.max(span - at), unit: 1 });
    }
    let script = Script { seed, shared, windows, steps: vec![Vec::new(); ranks] };
    let care = random.one(&[100, 90, 50, 0]);
    let mut generator =
        Generator { random, script, care, touched: Vec::new(), requests: 0, tags: 0 };
    let mut last = None;
    for _ in 0..generator.random.below(3) + 1 {
        let window = generator.random.below(generator.script.windows.len());
        let phase = generator.random.one(&PHASES);
        // A window is not in active and passive epochs at the same time, and nobody waits for a
        // lock that is given back only after all have met. MPICH 4.0 can wait for ever in a start
        // when a post for a later one, by another rank, is there already.
        match last.replace(phase) {
            Some(before)
                if before == phase && phase != Phase::Exposures && generator.random.chance(50) =>
            {
                generator.some_order();
            }
            Some(_) => generator.meet(),
            None => {}
        }
        match phase {
            Phase::Fences => generator.fences(window),
            Phase::Exposures => generator.exposures(window),
            Phase::LockAll => generator.lock_all(window),
            Phase::Locks => generator.locks(window),
        }
    }
    generator.script
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fences,
    Exposures,
    LockAll,
    Locks,
}

const PHASES: [Phase; 4] = [Phase::Fences, Phase::Exposures, Phase::LockAll, Phase::Locks];

struct Generator {
    random: Random,
    script: Script,
    /// Of a hundred accesses, those that must not race.
    care: usize,
    /// What was done since all ranks met, by whom.
    touched: Vec<(usize, Touch, Option<Atomic>)>,
    requests: usize,
    tags: usize,
}

impl Generator {
    fn ranks(&self) -> usize {
        self.script.steps.len()
    }

    fn push(&mut self, rank: usize, step: Step) {
        self.script.steps[rank].push(step);
    }

    fn all(&mut self, step: &Step) {
        (0..self.ranks()).for_each(|rank| self.push(rank, step.clone()));
    }

    // Phases.

    fn fences(&mut self, window: usize) {
        let first = self.random.one(&[Assertion::None, Assertion::NoPrecede]);
        self.all(&Step::Fence(window, first));
        let epochs = self.random.below(3) + 1;
        for epoch in 1..=epochs {
            for rank in 0..self.ranks() {
                let targets: Vec<usize> = (0..self.ranks()).collect();
                self.accesses(rank, window, &targets, false);
            }
            if self.random.chance(25) {
                self.some_order();
                let rank = self.random.below(self.ranks());
                let targets: Vec<usize> = (0..self.ranks()).collect();
                self.accesses(rank, window, &targets, false);
            }
            let last = if epoch == epochs { Assertion::NoSucceed } else { Assertion::None };
            let assertion = self.random.one(&[Assertion::None, last]);
            self.all(&Step::Fence(window, assertion));
            self.touched.clear();
        }
    }

    fn exposures(&mut self, window: usize) {
        for round in 0..self.random.below(2) + 1 {
            if round > 0 {
                self.meet();
            }
            let (origins, targets) =
                (self.random.some(self.ranks()), self.random.some(self.ranks()));
            if origins.is_empty() || targets.is_empty() {
                continue;
            }
            for rank in 0..self.ranks() {
                let (exposes, starts) = (targets.contains(&rank), origins.contains(&rank));
                if exposes {
                    self.push(rank, Step::Post(window, origins.clone()));
                }
                if starts {
                    self.push(rank, Step::Start(window, targets.clone()));
                    self.accesses(rank, window, &targets, false);
                    self.push(rank, Step::Complete(window));
                }
                if self.random.chance(40) {
                    self.accesses(rank, window, &[], false);
                }
                if exposes {
                    self.push(rank, Step::WaitExposed(window));
                }
                if self.random.chance(30) {
                    self.accesses(rank, window, &[], false);
                }
            }
        }
    }

    fn lock_all(&mut self, window: usize) {
        let all: Vec<usize> = (0..self.ranks()).collect();
        self.all(&Step::LockAll(window));
        for _ in 0..self.random.below(3) + 1 {
            for rank in 0..self.ranks() {
                self.accesses(rank, window, &all, true);
                if self.random.chance(40) {
                    let target = self.random.chance(50).then_some(self.random.below(self.ranks()));
                    let local = self.random.chance(40);
                    self.push(rank, Step::Flush(window, target, local));
                    self.accesses(rank, window, &all, true);
                }
            }
            match self.random.below(3) {
                0 => self.some_order(),
                1 => {
                    self.all(&Step::Flush(window, None, false));
                    self.meet();
                }
                _ => {}
            }
        }
        self.all(&Step::UnlockAll(window));
    }

    /// A rank has one lock at a time, so nobody waits for ever.
    fn locks(&mut self, window: usize) {
        let exclusive = self.random.one(&[0, 50, 100]);
        for rank in 0..self.ranks() {
            for _ in 0..self.random.below(3) {
                let target = self.random.below(self.ranks());
                let exclusive = self.random.chance(exclusive);
                self.push(rank, Step::Lock(window, target, exclusive));
                self.accesses(rank, window, &[target], true);
                if self.random.chance(30) {
                    let local = self.random.chance(40);
                    self.push(rank, Step::Flush(window, Some(target), local));
                    self.accesses(rank, window, &[target], true);
                }
                self.push(rank, Step::Unlock(window, target));
                if self.random.chance(30) {
                    self.accesses(rank, window, &[], false);
                }
            }
        }
    }

    // Order.

    /// All come after what all have done; what was to be complete is.
    fn meet(&mut self) {
        match self.random.below(5) {
            0 => self.all(&Step::NonblockingBarrier),
            1 => self.all(&Step::ReduceToAll),
            2 => {
                self.all(&Step::Reduce(0));
                self.all(&Step::Broadcast(0));
            }
            3 => self.around(),
            _ => self.all(&Step::Barrier),
        }
        self.touched.clear();
    }

    /// A token goes round twice.
    fn around(&mut self) {
        let last = self.ranks() - 1;
        let (up, down) = (self.tag(), self.tag());
        for rank in 0..=last {
            if rank > 0 {
                self.push(rank, Step::Receive(Some(rank - 1), up));
            }
            if rank < last {
                self.push(rank, Step::Send(rank + 1, up, false));
                self.push(rank, Step::Receive(Some(rank + 1), down));
            }
            if rank > 0 {
                self.push(rank, Step::Send(rank - 1, down, false));
            }
        }
    }

    /// Some come after what some have done.
    fn some_order(&mut self) {
        let root = self.random.below(self.ranks());
        match self.random.below(5) {
            0 => self.all(&Step::Broadcast(root)),
            1 => self.all(&Step::Reduce(root)),
            2 => self.gather(root),
            3 => self.all(&Step::Barrier),
            _ => {
                let to = (root + 1) % self.ranks();
                let (tag, synchronous) = (self.tag(), self.random.chance(40));
                self.push(root, Step::Send(to, tag, synchronous));
                self.push(to, Step::Receive(Some(root), tag));
            }
        }
    }

    /// Messages from all to one that takes them as they come.
    fn gather(&mut self, root: usize) {
        let tag = self.tag();
        for rank in (0..self.ranks()).filter(|rank| *rank != root) {
            self.push(rank, Step::Send(root, tag, false));
            self.push(root, Step::Receive(None, tag));
        }
    }

    fn tag(&mut self) -> usize {
        self.tags += 1;
        self.tags
    }

    // Accesses.

    /// Some accesses of a rank, to its own memory and by transfers to targets that it may access.
    fn accesses(&mut self, rank: usize, window: usize, targets: &[usize], requests: bool) {
        let mut open = Vec::new();
        for _ in 0..self.random.below(5) {
            let careful = self.random.chance(self.care);
            for _ in 0..6 {
                let step = self.access(rank, window, targets, requests);
                if careful && self.would_race(rank, &step) || overlaps_itself(&step, rank) {
                    continue;
                }
                let atomic = match &step {
                    Step::Transfer(transfer) => transfer.atomic(),
                    _ => None,
                };
                self.touched.extend(step.touches(rank).into_iter().map(|t| (rank, t, atomic)));
                if let Step::Transfer(Transfer { request: Some(request), .. }) = step {
                    open.push(request);
                    self.requests = request + 1;
                }
                self.push(rank, step);
                break;
            }
            if !open.is_empty() && self.random.chance(30) {
                self.push(rank, Step::Wait(open.remove(0)));
            }
        }
        open.into_iter().for_each(|request| self.push(rank, Step::Wait(request)));
    }

    fn access(&mut self, rank: usize, window: usize, targets: &[usize], requests: bool) -> Step {
        if targets.is_empty() || self.random.chance(40) {
            let element = self.random.one(&[Type::Int, Type::Int, Type::Byte]);
            let count = match element {
                Type::Int => self.random.one(&[1, 1, 2, 4]),
                Type::Byte => self.random.one(&[1, 1, 3, 8]),
            };
            let all = Layout { element, count, spaced: false };
            let every_other = Layout { spaced: true, ..all };
            let fits = every_other.extent() <= 16 && self.random.chance(30);
            let layout = if fits { every_other } else { all };
            let private = if targets.is_empty() { 0 } else { 30 };
            let mut spot = self.spot(layout, private);
            if self.script.shared && spot.area == Area::Window && self.random.chance(60) {
                spot.of = Some(self.random.below(self.ranks()));
            }
            return match self.random.below(2) {
                0 => Step::Load(spot, layout),
                _ => Step::Store(spot, layout),
            };
        }
        let target = self.random.one(targets);
        let target = if target == rank && self.random.chance(50) {
            self.random.one(targets)
        } else {
            target
        };
        Step::Transfer(self.transfer(window, target, requests))
    }

    fn transfer(&mut self, window: usize, target: usize, requests: bool) -> Transfer {
        let element = self.random.one(&[Type::Int, Type::Int, Type::Byte]);
        let reduction = match element {
            Type::Int => self.random.one(&[
                Reduction::Sum,
                Reduction::Sum,
                Reduction::Or,
                Reduction::Replace,
                Reduction::Nothing,
            ]),
            Type::Byte => self.random.one(&[Reduction::Or, Reduction::Replace, Reduction::Nothing]),
        };
        let kind = match self.random.below(10) {
            0..3 => Kind::Put,
            3..6 => Kind::Get,
            6 if reduction != Reduction::Nothing => Kind::Accumulate(reduction),
            6 | 7 => Kind::GetAccumulate(reduction),
            8 => Kind::FetchAndOp(reduction),
            _ => Kind::CompareAndSwap,
        };
        let single = matches!(kind, Kind::FetchAndOp(_) | Kind::CompareAndSwap);
        let count = if single { 1 } else { self.random.one(&[1, 1, 2, 3]) };
        let layout = |spaced| Layout { element, count, spaced: spaced && count == 2 };
        let (far, near) = (layout(self.random.chance(50)), layout(self.random.chance(30)));
        let Window { at, bytes, unit } = self.script.windows[window];
        let step = unit.max(element.size());
        let at = at + self.random.below((bytes - far.extent()) / step + 1) * step;
        let request = (requests && !single && self.random.chance(30)).then_some(self.requests);
        let (origin, result) = (self.spot(near, 75), self.spot(near, 75));
        Transfer { kind, window, target, at, far, origin, result, near, request }
    }

    /// A place in own memory, private with this chance.
    fn spot(&mut self, layout: Layout, private: usize) -> Spot {
        let area = if self.random.chance(private) { Area::Private } else { Area::Window };
        let span = match area {
            Area::Private => MEMORY,
            Area::Window => self.script.windows.iter().map(|w| w.at + w.bytes).max().unwrap_or(0),
        };
        let size = layout.element.size();
        Spot { area, at: self.random.below((span - layout.extent()) / size + 1) * size, of: None }
    }

    fn would_race(&self, rank: usize, step: &Step) -> bool {
        let atomic = match step {
            Step::Transfer(transfer) => transfer.atomic(),
            _ => None,
        };
        step.touches(rank).iter().any(|new| {
            self.touched.iter().any(|(by, old, other)| {
                let own = *by == rank && new.side == Side::Plain && old.side == Side::Plain;
                let both =
                    atomic.zip(*other).filter(|_| new.side == Side::Far && old.side == Side::Far);
                !own && new.collides(old) && !both.is_some_and(|(a, b)| a.combines_with(b))
            })
        })
    }
}

/// Buffers of one transfer are different memory, and not interleaved either: MPICH ends programs
/// that put to themselves so.
fn overlaps_itself(step: &Step, rank: usize) -> bool {
    let mut touches = step.touches(rank);
    for touch in &mut touches {
        let (first, last) = (touch.bytes.trailing_zeros(), 127 - touch.bytes.leading_zeros());
        touch.bytes = u128::MAX >> (127 - (last - first)) << first;
    }
    (1..touches.len()).any(|i| touches[..i].iter().any(|other| other.collides(&touches[i])))
}
