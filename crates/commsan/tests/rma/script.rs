//! Scripts: what each rank of a job does, step after step, and which bytes a step touches.

/// Bytes of each memory of a rank.
pub const MEMORY: usize = 128;

/// One of the two memories of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Parts of it are windows.
    Window,
    Private,
}

/// A place in the memory of the rank that names it, or, of shared window memory, of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub area: Area,
    pub at: usize,
    pub of: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Byte,
    Int,
}

/// Elements side by side, or with gaps of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub element: Type,
    pub count: usize,
    pub spaced: bool,
}

/// Reduction of an accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Sum,
    Or,
    Replace,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Put,
    Get,
    Accumulate(Reduction),
    GetAccumulate(Reduction),
    FetchAndOp(Reduction),
    CompareAndSwap,
}

/// A one-sided operation.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub kind: Kind,
    pub window: usize,
    pub target: usize,
    /// In the target's window memory, not its window.
    pub at: usize,
    pub far: Layout,
    pub origin: Spot,
    pub result: Spot,
    pub near: Layout,
    pub request: Option<usize>,
}

/// What a fence asserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assertion {
    None,
    NoPrecede,
    NoSucceed,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// More than one element in a loop.
    Load(Spot, Layout),
    Store(Spot, Layout),
    Transfer(Transfer),
    /// For the request of a transfer.
    Wait(usize),
    Fence(usize, Assertion),
    Post(usize, Vec<usize>),
    Start(usize, Vec<usize>),
    Complete(usize),
    WaitExposed(usize),
    /// Window, target, whether exclusive.
    Lock(usize, usize, bool),
    Unlock(usize, usize),
    LockAll(usize),
    UnlockAll(usize),
    /// Window, target or all, whether only local.
    Flush(usize, Option<usize>, bool),
    Barrier,
    NonblockingBarrier,
    Broadcast(usize),
    Reduce(usize),
    ReduceToAll,
    /// Destination, tag, whether synchronous.
    Send(usize, usize, bool),
    /// Source or any, tag.
    Receive(Option<usize>, usize),
}

/// Part of each rank's window memory that is a window.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub at: usize,
    pub bytes: usize,
    /// Of displacements.
    pub unit: usize,
}

#[derive(Clone, Debug)]
pub struct Script {
    pub seed: u64,
    /// Its one window is of shared memory, which all ranks load from and store to.
    pub shared: bool,
    pub windows: Vec<Window>,
    /// Of each rank.
    pub steps: Vec<Vec<Step>>,
}

/// A step of a script: rank and index.
pub type Place = (usize, usize);

/// How one atomic update may combine with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub element: Type,
    /// `None` for a compare-and-swap.
    pub reduction: Option<Reduction>,
}

/// Whose part of a step an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A load or store.
    Plain,
    /// A transfer at its origin.
    Near,
    /// A transfer at its target.
    Far,
}

/// Bytes that a step reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub owner: usize,
    pub area: Area,
    /// A bit for each byte.
    pub bytes: u128,
    pub write: bool,
    pub side: Side,
}

impl Type {
    pub fn size(self) -> usize {
        match self {
            Type::Byte => 1,
            Type::Int => 4,
        }
    }
}

impl Layout {
    /// From the first byte to the last.
    pub fn extent(self) -> usize {
        let gaps = if self.spaced { self.count - 1 } else { 0 };
        self.element.size() * (self.count + gaps)
    }

    fn bytes(self, at: usize) -> u128 {
        let stride = self.element.size() * self.step();
        (0..self.count).map(|i| run(at + i * stride, self.element.size())).fold(0, |a, b| a | b)
    }

    /// From one element to the next.
    pub fn step(self) -> usize {
        if self.spaced { 2 } else { 1 }
    }
}

fn run(at: usize, size: usize) -> u128 {
    assert!(at + size <= MEMORY, "a step stays in the memory");
    ((1 << size) - 1) << at
}

impl Kind {
    pub fn reads_origin(self) -> bool {
        !matches!(self, Kind::Get | Kind::GetAccumulate(Reduction::Nothing))
            && self != Kind::FetchAndOp(Reduction::Nothing)
    }

    pub fn has_result(self) -> bool {
        !matches!(self, Kind::Put | Kind::Accumulate(_))
    }

    /// Whether it changes the target's memory.
    pub fn writes(self) -> bool {
        !matches!(self, Kind::Get | Kind::GetAccumulate(Reduction::Nothing))
            && self != Kind::FetchAndOp(Reduction::Nothing)
    }

    pub fn reduction(self) -> Option<Reduction> {
        match self {
            Kind::Accumulate(r) | Kind::GetAccumulate(r) | Kind::FetchAndOp(r) => Some(r),
            _ => None,
        }
    }
}

impl Atomic {
    /// Same predefined type, same operation or none (MPI 4.1 §12.7.1, §12.2.1).
    pub fn combines_with(self, other: Atomic) -> bool {
        let harmless = |atomic: Atomic| matches!(atomic.reduction, None | Some(Reduction::Nothing));
        self.element == other.element
            && (self.reduction == other.reduction || harmless(self) || harmless(other))
    }
}

impl Transfer {
    pub fn atomic(&self) -> Option<Atomic> {
        match self.kind {
            Kind::Put | Kind::Get => None,
            kind => Some(Atomic { element: self.far.element, reduction: kind.reduction() }),
        }
    }
}

impl Step {
    /// What it touches when `rank` does it.
    pub fn touches(&self, rank: usize) -> Vec<Touch> {
        let at = |spot: Spot, layout: Layout, write, side| {
            let bytes = layout.bytes(spot.at);
            Touch { owner: spot.of.unwrap_or(rank), area: spot.area, bytes, write, side }
        };
        match self {
            Step::Load(spot, layout) => vec![at(*spot, *layout, false, Side::Plain)],
            Step::Store(spot, layout) => vec![at(*spot, *layout, true, Side::Plain)],
            Step::Transfer(t) => {
                let far = t.far.bytes(t.at);
                let write = t.kind.writes();
                let (owner, area, side) = (t.target, Area::Window, Side::Far);
                let mut all = vec![Touch { owner, area, bytes: far, write, side }];
                if t.kind.reads_origin() {
                    all.push(at(t.origin, t.near, false, Side::Near));
                }
                if t.kind.has_result() {
                    all.push(at(t.result, t.near, true, Side::Near));
                }
                all
            }
            _ => Vec::new(),
        }
    }
}

impl Touch {
    /// Whether one of two writes what the other uses.
    pub fn collides(&self, other: &Touch) -> bool {
        (self.owner, self.area) == (other.owner, other.area)
            && self.bytes & other.bytes != 0
            && (self.write || other.write)
    }
}
