//! What a call moves: how many bytes from whom to whom, out of which memory.
//!
//! Each process tells what it sends, and where it receives. Collectives are told in their logical shape:
//! what each process must get from each other one, whatever algorithm the library takes (MPI 4.1 §6). A
//! process sends nothing to itself there. What a reduction combines moves whole: from everybody to the
//! root, or to everybody.

use crate::buffers::{Args, Library, resolve, takes_place};
use commsan_mpi_calls::{Call, Extent, Flow, Role, Rule, Times};
use commsan_shadow::{Footprint, Mode, Pattern};
use smallvec::SmallVec;

/// Between whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// One member of the group, by its rank in that.
    One(i32),
    /// Somebody: a receive from any source.
    Any,
    /// Each other member.
    Others,
    /// Each member of higher rank.
    Above,
    /// Each member of lower rank.
    Below,
    /// A file.
    File,
}

/// What one call moves in one direction.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// From this process, or to it.
    pub sends: bool,
    /// To whom, or from whom.
    pub peers: Peers,
    /// Bytes to, or from, each of them. What is received at most, where the call does not tell how much.
    pub bytes: u64,
    /// The tag; `None` for any or none.
    pub tag: Option<i32>,
    /// The memory of this process.
    pub footprint: Footprint,
}

impl Transfer {
    /// What has been received is known by now to be of this source and tag.
    pub fn comes_from(&mut self, source: i32, tag: i32) {
        if source >= 0 {
            self.peers = Peers::One(source);
        }
        self.tag = Some(tag).filter(|tag| *tag >= 0);
    }

    /// Only so many bytes have moved, the first of them.
    pub fn shorten(&mut self, bytes: u64) {
        if bytes >= self.bytes {
            return;
        }
        self.bytes = bytes;
        if let Footprint::Dense(range) = &mut self.footprint {
            range.end = range.start + bytes as usize;
        }
    }
}

/// All that one call moves.
pub type Transfers = SmallVec<[Transfer; 2]>;

/// By what means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// Messages.
    PointToPoint,
    /// Collectives.
    Collective,
    /// Windows.
    OneSided,
    /// Files.
    File,
}

impl TransferKind {
    /// By which means a call, or the operation it starts, moves data, if it does.
    pub fn of(call: &Call) -> Option<TransferKind> {
        let at = &call.at;
        let has = |role| call.params.iter().any(|param| param.role == role);
        if call.accesses.is_empty() {
            None
        } else if at.win.is_some() {
            Some(TransferKind::OneSided)
        } else if call.collective {
            Some(TransferKind::Collective)
        } else if at.dest.is_some() || at.source.is_some() || at.message.is_some() {
            Some(TransferKind::PointToPoint)
        } else {
            has(Role::File).then_some(TransferKind::File)
        }
    }
}

/// What the call moves, or the operation that it starts or describes.
pub fn transfers<L: Library>(args: &Args, library: &L) -> Transfers {
    match TransferKind::of(args.call) {
        None => Transfers::new(),
        Some(TransferKind::Collective) => collective(args, library),
        Some(kind) => plain(args, library, kind),
    }
}

/// A move for each buffer.
fn plain<L: Library>(args: &Args, library: &L, kind: TransferKind) -> Transfers {
    let (call, at) = (args.call, &args.call.at);
    let peer = |index: Option<usize>| match index.map(|index| args.int(index)) {
        Some(rank) if rank == L::PROC_NULL => None,
        Some(rank) if rank >= 0 => Some(Peers::One(rank)),
        Some(_) | None => Some(Peers::Any),
    };
    let sent = |footprint: Footprint| {
        let peers = match kind {
            TransferKind::File => Some(Peers::File),
            TransferKind::OneSided => peer(at.peer),
            _ => peer(at.dest),
        };
        let tag = at.tag.map(|index| args.int(index));
        Some(Transfer {
            sends: true,
            peers: peers?,
            bytes: footprint.bytes() as u64,
            tag,
            footprint,
        })
    };
    let received = |footprint: Footprint| {
        let peers = match kind {
            TransferKind::File => Some(Peers::File),
            TransferKind::OneSided => peer(at.peer),
            _ => peer(at.source),
        };
        let tag = at.received_tag.map(|index| args.int(index)).filter(|tag| *tag >= 0);
        Some(Transfer {
            sends: false,
            peers: peers?,
            bytes: footprint.bytes() as u64,
            tag,
            footprint,
        })
    };
    let mut transfers = Transfers::new();
    // One buffer is sent and received into, and the table has it as written.
    let replaces = kind == TransferKind::PointToPoint
        && at.dest.is_some()
        && call.accesses.iter().all(|rule| rule.mode == Mode::Write);
    for (rule, access) in call.accesses.iter().zip(resolve(args, library)) {
        // A message may be empty, and is one.
        let empty = || Footprint::Dense(args.words[rule.buffer]..args.words[rule.buffer]);
        let is_message = kind == TransferKind::PointToPoint;
        let footprint = access.map(|access| access.footprint).or_else(|| is_message.then(empty));
        let Some(footprint) = footprint else { continue };
        if rule.mode == Mode::Read || replaces {
            transfers.extend(sent(footprint.clone()));
        }
        if rule.mode == Mode::Write {
            transfers.extend(received(footprint));
        }
    }
    transfers
}

/// What this process sends, and where it receives.
fn collective<L: Library>(args: &Args, library: &L) -> Transfers {
    let part = |mode| {
        let mut rules = args.call.accesses.iter().filter(move |rule| rule.mode == mode);
        rules.find(|rule| takes_place(args, rule, library))
    };
    let of = |sends, rule| Collective { args, library, sends, rule };
    let mut transfers = Transfers::new();
    if let Some(rule) = part(Mode::Read) {
        transfers.extend(of(true, rule).transfers());
    }
    if let Some(rule) = part(Mode::Write) {
        transfers.extend(of(false, rule).transfers());
    }
    transfers
}

/// One direction of a collective.
struct Collective<'a, L> {
    args: &'a Args<'a>,
    library: &'a L,
    sends: bool,
    rule: &'a Rule,
}

impl<L: Library> Collective<'_, L> {
    fn transfers(&self) -> Transfers {
        let Some((base, rule)) = self.buffer() else { return Transfers::new() };
        match self.peers() {
            Some(peers) => match rule.extent {
                Extent::Placed { .. } | Extent::Sum(_) => self.each(base, rule, peers),
                Extent::Blocks { .. } | Extent::Own(_) | Extent::One => {
                    self.alike(base, rule, peers)
                }
            },
            None if self.args.call.flow == Flow::Neighbours => self.neighbours(base, rule),
            None => Transfers::new(),
        }
    }

    /// Where the data is, and the rule that says how much.
    fn buffer(&self) -> Option<(usize, &Rule)> {
        let (args, rule) = (self.args, self.rule);
        let base = args.words[rule.buffer];
        if base != L::IN_PLACE {
            return Some((base, rule));
        }
        if let Some(buffer) = rule.in_place {
            return Some((args.words[buffer], rule));
        }
        // What is sent lies where it will be received.
        let received = args.call.accesses.iter().find(|other| other.mode != rule.mode)?;
        Some((args.words[received.buffer], received))
            .filter(|_| self.sends && self.root().is_none())
    }

    fn root(&self) -> Option<i32> {
        self.args.call.at.root.map(|index| self.args.int(index))
    }

    fn comm(&self) -> usize {
        self.args.call.at.comm.map_or(0, |index| self.args.words[index])
    }

    /// With whom, but for neighbours.
    fn peers(&self) -> Option<Peers> {
        let root = self.root();
        let is_root = root.is_some_and(|root| {
            root == L::ROOT
                || !self.library.is_inter(self.comm()) && self.library.rank(self.comm()) == root
        });
        let at_root = if is_root { Some(Peers::Others) } else { root.map(Peers::One) };
        match (self.args.call.flow, self.sends) {
            (Flow::All, _) => Some(Peers::Others),
            // Whose buffer is the root's takes part in one direction only.
            (Flow::FromRoot, sends) | (Flow::ToRoot, sends) => {
                let from_root = self.args.call.flow == Flow::FromRoot;
                at_root.filter(|_| is_root == (from_root == sends))
            }
            (Flow::Upwards, true) => Some(Peers::Above),
            (Flow::Upwards, false) => Some(Peers::Below),
            (Flow::Neighbours | Flow::None, _) => None,
        }
    }

    fn transfer(&self, peers: Peers, bytes: usize, footprint: Footprint) -> Transfer {
        Transfer { sends: self.sends, peers, bytes: bytes as u64, tag: None, footprint }
    }

    /// The same number of bytes with each.
    fn alike(&self, base: usize, rule: &Rule, peers: Peers) -> Transfers {
        let element = |index: usize| self.library.datatype(self.args.words[index]);
        let (count, blocks) = match rule.extent {
            Extent::Blocks { count, times } => (self.args.count(count), self.times(times)),
            Extent::Own(counts) => {
                let rank = self.library.rank(self.comm()).max(0) as usize;
                (self.count_at(counts, rank), 1)
            }
            _ => (1, 1),
        };
        if count == 0 {
            return Transfers::new();
        }
        let element = element(rule.datatype);
        let (mut base, mut elements) = (base, count * blocks);
        if self.sends && rule.mode == Mode::Write && self.is_gather() && blocks > 1 {
            // In place, an all-gather sends its own part of what it receives.
            let me = self.library.rank(self.comm()).max(0) as usize;
            base = base.wrapping_add_signed((me * count) as isize * element.extent);
            elements = count;
        }
        let all = Footprint::elements(base, &element.pattern, elements, element.extent);
        let mut bytes = element.pattern.bytes() * count;
        match rule.extent {
            // Reductions receive one result that everybody has contributed to.
            Extent::Own(_) => bytes = all.bytes(),
            // What is reduced is cut into as many blocks as there are members to get one: those of the other group.
            Extent::Blocks { times: Times::Local, .. } => {
                bytes = all.bytes() / self.library.size(self.comm()).max(1);
            }
            _ => {}
        }
        Transfers::from_iter([self.transfer(peers, bytes, all)].into_iter().filter(|m| m.bytes > 0))
    }

    fn times(&self, times: Times) -> usize {
        match times {
            Times::Size => self.library.size(self.comm()),
            Times::Local => self.library.local_size(self.comm()),
            Times::Once | Times::In | Times::Out | Times::Param(_) => 1,
        }
    }

    fn count_at(&self, counts: usize, index: usize) -> usize {
        let counts = self.args.words[counts];
        self.library.int_at(counts, index, self.args.call.large).max(0) as usize
    }

    /// A number of bytes for each: those of other members, by their ranks.
    fn each(&self, base: usize, rule: &Rule, peers: Peers) -> Transfers {
        if let Peers::One(_) = peers {
            return Transfers::new();
        }
        let inter = self.library.is_inter(self.comm());
        let me = self.library.rank(self.comm()).max(0) as usize;
        let members = match rule.extent {
            Extent::Sum(_) => self.library.local_size(self.comm()),
            _ => self.library.size(self.comm()),
        };
        // In place, an all-gather sends its own part of what it receives.
        let own = self.sends && rule.mode == Mode::Write && self.is_gather();
        if own {
            let footprint = self.block(base, rule, me);
            let bytes = footprint.bytes();
            return Transfers::from_iter(
                (bytes > 0).then(|| self.transfer(peers, bytes, footprint)),
            );
        }
        if let (Extent::Sum(counts), true) = (rule.extent, inter) {
            return self.shared_out(base, rule, counts, peers);
        }
        let others = (0..members).filter(|member| inter || *member != me);
        let transfers = others.map(|member| {
            let footprint = self.block(base, rule, member);
            self.transfer(Peers::One(member as i32), footprint.bytes(), footprint)
        });
        transfers.filter(|transfer| transfer.bytes > 0).collect()
    }

    /// What the other group's members get of what this one reduces: the counts are those of this group's own blocks,
    /// their sum is that of the others, which are told as equal.
    fn shared_out(&self, base: usize, rule: &Rule, counts: usize, peers: Peers) -> Transfers {
        let own = self.library.local_size(self.comm());
        let elements: usize = (0..own).map(|member| self.count_at(counts, member)).sum();
        let others = self.library.size(self.comm()).max(1);
        let element = self.library.datatype(self.args.words[rule.datatype]);
        let block = |from: usize, count: usize| {
            let base = base.wrapping_add_signed(from as isize * element.extent);
            Footprint::elements(base, &element.pattern, count, element.extent)
        };
        if elements.is_multiple_of(others) {
            let all = block(0, elements);
            let bytes = all.bytes() / others;
            return (bytes > 0).then(|| self.transfer(peers, bytes, all)).into_iter().collect();
        }
        let transfers = (0..others).map(|member| {
            let (from, to) = (elements * member / others, elements * (member + 1) / others);
            let footprint = block(from, to - from);
            self.transfer(Peers::One(member as i32), footprint.bytes(), footprint)
        });
        transfers.filter(|transfer| transfer.bytes > 0).collect()
    }

    /// Whether each process sends one and the same block to all.
    fn is_gather(&self) -> bool {
        matches!(self.rule.extent, Extent::Blocks { times: Times::Once, .. })
    }

    /// The block for the n-th member.
    fn block(&self, base: usize, rule: &Rule, n: usize) -> Footprint {
        let (args, call) = (self.args, self.args.call);
        let empty = || Footprint::new(base, Pattern::empty());
        let many_types = call.params[rule.datatype].role == Role::Datatypes;
        let element = || match many_types {
            true => {
                let types = args.words[rule.datatype];
                self.library.datatype(self.library.handle_at(types, n, args.fortran))
            }
            false => self.library.datatype(args.words[rule.datatype]),
        };
        let (counts, displacement) = match rule.extent {
            Extent::Placed { counts, displs, .. } => {
                let wide = call.large || call.params[displs].role == Role::ByteDispls;
                (counts, Some(self.library.int_at(args.words[displs], n, wide) as isize))
            }
            Extent::Sum(counts) => (counts, None),
            _ => return empty(),
        };
        let count = self.count_at(counts, n);
        if count == 0 {
            return empty();
        }
        let element = element();
        let offset = match displacement {
            Some(bytes) if many_types => bytes,
            Some(elements) => elements * element.extent,
            None => {
                let before: usize = (0..n).map(|n| self.count_at(counts, n)).sum();
                before as isize * element.extent
            }
        };
        let base = base.wrapping_add_signed(offset);
        Footprint::elements(base, &element.pattern, count, element.extent)
    }

    /// With each neighbour in the topology.
    fn neighbours(&self, base: usize, rule: &Rule) -> Transfers {
        let (sources, destinations) = self.library.neighbours(self.comm());
        let neighbours = if self.sends { destinations } else { sources };
        let present = neighbours.iter().enumerate().filter(|(_, rank)| **rank != L::PROC_NULL);
        let transfers = present.map(|(n, rank)| {
            let footprint = match rule.extent {
                Extent::Blocks { count, times } => {
                    let count = self.args.count(count);
                    if count == 0 {
                        return self.transfer(Peers::One(*rank), 0, Footprint::Dense(base..base));
                    }
                    let element = self.library.datatype(self.args.words[rule.datatype]);
                    let skipped = if times == Times::Once { 0 } else { n * count };
                    let base = base.wrapping_add_signed(skipped as isize * element.extent);
                    Footprint::elements(base, &element.pattern, count, element.extent)
                }
                _ => self.block(base, rule, n),
            };
            self.transfer(Peers::One(*rank), footprint.bytes(), footprint)
        });
        transfers.filter(|transfer| transfer.bytes > 0).collect()
    }
}
