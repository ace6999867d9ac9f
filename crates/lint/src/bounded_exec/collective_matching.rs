//! Collective matching: the n-th collectives of all ranks on a communicator are compared and
//! executed together.

use super::asked::{Asked, Place};
use super::comms::NULL_COMM;
use super::messages::{Awaited, Request, shown};
use super::store::{Datum, Kind};
use super::types::{Elements, fits};
use super::{After, Comm, Job, Need};
use commsan_mpi_calls::{Effect, Flow, Role};
use std::collections::BTreeMap;

/// Ranks that enter the same collective of a communicator together.
#[derive(Clone, Debug, Default)]
pub struct Collective {
    /// By place in the communicator.
    pub entries: Vec<Option<Entry>>,
    done: bool,
}

/// What one of them says.
#[derive(Clone, Debug)]
pub struct Entry {
    pub place: Place,
    /// The call's name.
    pub name: &'static str,
    pub flow: Flow,
    root: Option<i64>,
    op: Datum,
    request: usize,
    input: Datum,
    output: Datum,
    sent: Option<Elements>,
    received: Option<Elements>,
    /// Bytes that it sends in one block.
    bytes: Option<i64>,
    /// Color and key, or the members of a group.
    order: Option<(i64, i64)>,
    group: Option<Vec<usize>>,
    /// Where the handle of what is made goes.
    pub made: Option<Datum>,
    grid: Option<(Vec<i64>, Vec<i64>)>,
    /// What all must pass alike, if it is one number.
    alike: Vec<(&'static str, Option<i64>)>,
    /// Whether it is Fortran's.
    pub by_reference: bool,
}

impl<'p> Job<'_, 'p> {
    /// Calls that ranks enter together.
    pub fn collective(&mut self, asked: &Asked<'p>) -> Option<()> {
        let (rank, call) = (asked.rank, asked.call);
        let scope = self.comm_of(asked, "comm")?;
        if call.effect == Effect::Init {
            return None;
        }
        let place = self.comms[scope].members.iter().position(|member| *member == rank)?;
        let starts = asked.has("request");
        let request = self.new_request(asked, None);
        let entry = self.entry(asked, request)?;
        if let Some(root) = entry.root {
            let size = self.comms[scope].members.len() as i64;
            if !(0..size).contains(&root) {
                self.no_such_rank(asked, "root", root, size);
                return None;
            }
        }
        let own: &mut Request = &mut self.ranks[rank].requests[request];
        own.active = true;
        own.awaits = Awaited::Collective(&call.name);
        let number = self.comms[scope].entered[place];
        self.comms[scope].entered[place] += 1;
        let members = self.comms[scope].members.len();
        let collectives = &mut self.comms[scope].collectives;
        if collectives.len() <= number {
            collectives.push(Collective { entries: vec![None; members], done: false });
        }
        collectives[number].entries[place] = Some(entry);
        self.agree(scope, number, place)?;
        self.settle(scope, number);
        if starts {
            self.answer(asked, "request", Datum::Handle(Kind::Request, request as u32));
            self.go_on(asked);
        } else {
            self.wait(asked, vec![request], Need::All, After::Nothing);
        }
        Some(())
    }

    fn entry(&mut self, asked: &Asked<'p>, request: usize) -> Option<Entry> {
        let made = ["comm_out", "win_out"].iter().find(|name| asked.has(name));
        let made = made.map(|name| asked.raw(self, name));
        let (input, output) = self.buffers(asked);
        let amount = |job: &mut Self, count: &str, of: &str| {
            let of = asked.datum(job, of);
            let count = asked.number(job, count).filter(|count| *count >= 0)?;
            let of = job.datatype(asked.rank, of)?;
            Some((of.amount(count)?, count.checked_mul(of.size)?))
        };
        let simple = if asked.has("datatype") {
            amount(self, "count", "datatype").or_else(|| amount(self, "recvcount", "datatype"))
        } else {
            None
        };
        let in_place = |job: &Self, datum: Datum| job.is_in_place(asked.rank, datum);
        let sent = amount(self, "sendcount", "sendtype").filter(|_| !in_place(self, input));
        let received = amount(self, "recvcount", "recvtype").filter(|_| !in_place(self, output));
        let bytes = sent.as_ref().or(simple.as_ref()).map(|(_, bytes)| *bytes);
        let sent = sent.or_else(|| simple.clone()).map(|(elements, _)| elements);
        let received = received.or(simple).map(|(elements, _)| elements);
        let order = match asked.has("color") {
            true => Some((asked.number(self, "color")?, asked.number(self, "key").unwrap_or(0))),
            false => None,
        };
        let group = match asked.call.bare_name() {
            "Comm_create" => Some(self.group_of(asked, "group")?),
            _ => None,
        };
        let root = match asked.has("root") {
            true => Some(asked.number(self, "root")?),
            false => None,
        };
        let op = if asked.has("op") { asked.datum(self, "op") } else { Datum::Unknown };
        let grid = self.grid(asked);
        let alike = asked.call.alike.iter().map(|index| &*asked.call.params[*index].name);
        let alike =
            alike.collect::<Vec<_>>().into_iter().map(|name| (name, self.alike(asked, name)));
        let alike = alike.collect();
        let name = twin(&asked.call.name);
        let flow = asked.call.flow;
        Some(Entry {
            place: asked.place,
            name,
            flow,
            root,
            op,
            request,
            input,
            output,
            sent,
            received,
            bytes,
            order,
            group,
            made,
            grid,
            alike,
            by_reference: asked.mpi.by_reference,
        })
    }

    fn buffers(&mut self, asked: &Asked<'p>) -> (Datum, Datum) {
        if asked.has("buffer") {
            let buffer = asked.raw(self, "buffer");
            return (buffer, buffer);
        }
        (asked.raw(self, "sendbuf"), asked.raw(self, "recvbuf"))
    }

    /// Compares what the last one has said with what the others have.
    fn agree(&mut self, scope: usize, number: usize, place: usize) -> Option<()> {
        let collective = &self.comms[scope].collectives[number];
        let others = (0..).zip(&collective.entries).filter(|(at, _)| *at != place);
        let other = others.into_iter().find_map(|(at, entry)| Some((at, entry.clone()?)));
        let (Some((other_place, other)), Some(entry)) = (other, collective.entries[place].clone())
        else {
            return Some(());
        };
        let members = &self.comms[scope].members;
        let (one, two) = ((members[place], &entry), (members[other_place], &other));
        if entry.name != other.name {
            self.kinds_differ(one, two);
            return None;
        }
        if entry.root != other.root {
            self.roots_differ(one, two);
            return None;
        }
        let predefined = |datum: Datum| matches!(datum, Datum::Int(_) | Datum::Address(..));
        if entry.op != other.op
            && predefined(entry.op)
            && predefined(other.op)
            && self.op(one.0, entry.op) != self.op(two.0, other.op)
        {
            self.ops_differ(one, two);
        }
        let differs = |(one, other): (&(_, Option<i64>), &(_, Option<i64>))| {
            one.1.zip(other.1).is_some_and(|(one, other)| one != other)
        };
        let pairs = || entry.alike.iter().zip(&other.alike);
        if let Some((parameter, _)) = pairs().find(|pair| differs(*pair)).map(|(one, _)| *one) {
            self.arguments_differ(one, two, parameter);
        }
        self.amounts(scope, number, place);
        Some(())
    }

    /// Whether the data of a collective fits (MPI 4.1 §6.4-6.12).
    fn amounts(&mut self, scope: usize, number: usize, place: usize) {
        let collective = &self.comms[scope].collectives[number];
        let Some(entry) = collective.entries[place].clone() else { return };
        let root = entry.root.and_then(|root| usize::try_from(root).ok());
        let base = base(entry.name);
        let symmetric = matches!(
            base,
            "Bcast" | "Reduce" | "Allreduce" | "Scan" | "Exscan" | "Reduce_scatter_block"
        );
        let members = self.comms[scope].members.clone();
        let others: Vec<_> = (0..).zip(collective.entries.clone()).collect();
        for (at, other) in others {
            let Some(other) = other.filter(|_| at != place) else { continue };
            let pair = match base {
                _ if symmetric => Some((&entry.sent, &other.sent)),
                "Allgather" | "Alltoall" => Some((&entry.sent, &other.received)),
                "Gather" if root == Some(place) => Some((&other.sent, &entry.received)),
                "Gather" if root == Some(at) => Some((&entry.sent, &other.received)),
                "Scatter" if root == Some(place) => Some((&entry.sent, &other.received)),
                "Scatter" if root == Some(at) => Some((&other.sent, &entry.received)),
                _ => None,
            };
            let Some((Some(one), Some(two))) = pair else { continue };
            if !alike(one, two) {
                let (one, two) = (shown(one), shown(two));
                self.amounts_differ((members[place], &entry), (members[at], &other), &one, &two);
                return;
            }
        }
    }

    /// Lets go on whom nothing keeps any more.
    fn settle(&mut self, scope: usize, number: usize) {
        let collective = self.comms[scope].collectives[number].clone();
        let complete = collective.entries.iter().all(Option::is_some);
        let members = self.comms[scope].members.clone();
        for (place, entry) in collective.entries.iter().enumerate() {
            let Some(entry) = entry else { continue };
            let root = entry.root.and_then(|root| usize::try_from(root).ok());
            let there = |place: usize| collective.entries.get(place).is_some_and(Option::is_some);
            let free = complete
                || !self.strict
                    && match entry.flow {
                        Flow::FromRoot => root.is_some_and(there),
                        Flow::ToRoot => root != Some(place),
                        Flow::Upwards => (0..place).all(there),
                        Flow::Neighbours => true,
                        Flow::All | Flow::None => false,
                    };
            let request = &mut self.ranks[members[place]].requests[entry.request];
            if !free || request.done {
                continue;
            }
            request.done = true;
            self.result_of(scope, &collective, place, entry);
        }
        if complete && !self.comms[scope].collectives[number].done {
            self.comms[scope].collectives[number].done = true;
            self.made(scope, &collective);
        }
    }

    /// Stores what a rank gets from a collective.
    fn result_of(&mut self, scope: usize, collective: &Collective, place: usize, entry: &Entry) {
        let members = self.comms[scope].members.clone();
        let rank = members[place];
        let data = |at: usize| {
            let other = collective.entries[at].as_ref()?;
            let store = &self.ranks[members[at]].interpreter.store;
            let bytes = other.bytes.filter(|bytes| *bytes <= 4096)?;
            match other.input {
                Datum::Address(object, from) => Some(store.copy_of((object, from), bytes)),
                _ => None,
            }
        };
        let root = entry.root.and_then(|root| usize::try_from(root).ok());
        let base = base(entry.name);
        let gets = match base {
            "Gather" | "Reduce" | "Gatherv" => root == Some(place),
            "Bcast" => root != Some(place),
            _ => true,
        };
        let Datum::Address(object, to) = entry.output else { return };
        if !gets {
            return;
        }
        let result = match base {
            "Bcast" => root.and_then(data).map(|pieces| vec![pieces]),
            "Allgather" | "Gather" => (0..members.len()).map(data).collect(),
            "Allreduce" | "Reduce" => self.reduced(collective, &members, rank).map(|sum| vec![sum]),
            _ => None,
        };
        let bytes = entry.bytes.filter(|_| self.is_dense(entry));
        let store = &mut self.ranks[rank].interpreter.store;
        match (result, bytes) {
            (Some(parts), Some(bytes)) => {
                for (index, pieces) in (0..).zip(parts) {
                    store.paste((object, to + index * bytes), bytes, &pieces);
                }
            }
            _ => store.forget(object),
        }
    }

    /// Whether the elements of a collective lie one after the other: those of basic types.
    fn is_dense(&self, entry: &Entry) -> bool {
        entry.sent.as_ref().is_some_and(|elements| elements.len() == 1)
    }

    /// The sum, the least or the largest of single integers.
    fn reduced(
        &self,
        collective: &Collective,
        members: &[usize],
        rank: usize,
    ) -> Option<Vec<(i64, i64, Datum)>> {
        let mut all = Vec::new();
        let mut bytes = 0;
        let mut op = None;
        for (at, entry) in collective.entries.iter().enumerate() {
            let entry = entry.as_ref()?;
            let [(name, 1)] = &entry.sent.as_ref()?[..] else { return None };
            if !name.ends_with("integer") {
                return None;
            }
            bytes = entry.bytes?;
            op = self.op(rank, entry.op);
            let Datum::Address(object, from) = entry.input else { return None };
            match self.ranks[members[at]].interpreter.store.load((object, from), bytes) {
                Datum::Int(number) => all.push(number),
                _ => return None,
            }
        }
        let result = match op?.bare_name() {
            "SUM" => all.iter().fold(0i64, |sum, number| sum.wrapping_add(*number)),
            "MAX" => *all.iter().max()?,
            "MIN" => *all.iter().min()?,
            _ => return None,
        };
        Some(vec![(0, bytes, Datum::Int(result))])
    }

    /// Communicators and windows that a collective makes.
    fn made(&mut self, scope: usize, collective: &Collective) {
        let members = self.comms[scope].members.clone();
        let entries: Vec<_> = collective.entries.iter().flatten().cloned().collect();
        let Some(first) = entries.first() else { return };
        if first.made.is_none() {
            return;
        }
        let mut parts: BTreeMap<i64, Vec<(i64, usize)>> = BTreeMap::new();
        let everyone = || members.iter().map(|rank| (0, *rank)).collect();
        match (first.name, &first.grid, &first.group) {
            ("MPI_Comm_split", ..) => {
                for (rank, entry) in members.iter().zip(&entries) {
                    if let Some((color, key)) = entry.order.filter(|(color, _)| *color >= 0) {
                        parts.entry(color).or_default().push((key, *rank));
                    }
                }
            }
            ("MPI_Cart_create", Some((dims, _)), _) => {
                let product = dims.iter().fold(1i64, |all, dim| all.saturating_mul(*dim));
                let inside = members.iter().take(usize::try_from(product).unwrap_or(0));
                parts.insert(0, inside.map(|rank| (0, *rank)).collect());
            }
            ("MPI_Comm_create", _, Some(group)) => {
                parts.insert(0, group.iter().map(|rank| (0, *rank)).collect());
            }
            (
                "MPI_Comm_dup"
                | "MPI_Comm_idup"
                | "MPI_Comm_dup_with_info"
                | "MPI_Comm_idup_with_info",
                ..,
            ) => {
                parts.insert(0, everyone());
            }
            // On one node.
            ("MPI_Comm_split_type", ..) => {
                parts.insert(0, everyone());
            }
            _ => {}
        }
        let mut given = Vec::new();
        let known = !parts.is_empty() || first.name == "MPI_Comm_split";
        for (_, mut part) in parts {
            if first.name != "MPI_Comm_create" {
                part.sort_by_key(|(key, _)| *key);
            }
            let part: Vec<_> = part.into_iter().map(|(_, rank)| rank).collect();
            let new = self.comms.len();
            let grid = first.grid.clone();
            let count = part.len();
            self.comms.push(Comm {
                members: part.clone(),
                entered: vec![0; count],
                collectives: Vec::new(),
                grid,
            });
            for (rank, entry) in
                members.iter().zip(&entries).filter(|(rank, _)| part.contains(rank))
            {
                self.place_handle(*rank, entry, Datum::Handle(Kind::Comm, new as u32));
                given.push(*rank);
            }
        }
        for (rank, entry) in members.iter().zip(&entries).filter(|(rank, _)| !given.contains(rank))
        {
            let null = match known {
                true => self.null_handle(*rank, entry.by_reference, NULL_COMM),
                false => Datum::Unknown,
            };
            self.place_handle(*rank, entry, null);
        }
    }

    /// An argument that is the same on all ranks.
    fn alike(&mut self, asked: &Asked<'p>, name: &str) -> Option<i64> {
        let role = asked.call.params.iter().find(|param| param.name == name)?.role;
        matches!(role, Role::Int | Role::Offset).then(|| asked.number(self, name))?
    }

    /// The dimensions and periods of a grid that is to be made.
    fn grid(&mut self, asked: &Asked<'p>) -> Option<(Vec<i64>, Vec<i64>)> {
        if asked.call.bare_name() != "Cart_create" {
            return None;
        }
        let count = asked.number(self, "ndims").filter(|count| (1..8).contains(count))?;
        let dims: Option<Vec<_>> = (0..count).map(|n| asked.element(self, "dims", n, 4)).collect();
        let periods: Option<Vec<_>> =
            (0..count).map(|n| asked.element(self, "periods", n, 4)).collect();
        let (dims, periods) = (dims?, periods?);
        if let Some(dim) = dims.iter().find(|dim| **dim < 0) {
            self.negative(asked, "dims", *dim);
        }
        dims.iter().all(|dim| *dim > 0).then_some((dims, periods))
    }
}

/// The name of the call whose other kinds match: none but itself.
fn twin(name: &'static str) -> &'static str {
    name.strip_suffix("_c").unwrap_or(name)
}

/// `Bcast` of `MPI_Ibcast`.
pub fn base(name: &'static str) -> &'static str {
    const STARTED: [(&str, &str); 10] = [
        ("Ibarrier", "Barrier"),
        ("Ibcast", "Bcast"),
        ("Igather", "Gather"),
        ("Iscatter", "Scatter"),
        ("Iallgather", "Allgather"),
        ("Ialltoall", "Alltoall"),
        ("Ireduce", "Reduce"),
        ("Iallreduce", "Allreduce"),
        ("Iscan", "Scan"),
        ("Iexscan", "Exscan"),
    ];
    let bare = name.strip_prefix("MPI_").unwrap_or(name);
    STARTED.iter().find(|(started, _)| *started == bare).map_or(bare, |(_, base)| base)
}

/// Whether two amounts are the same; of bytes nobody knows what they are.
fn alike(one: &Elements, two: &Elements) -> bool {
    let raw = |all: &Elements| all.iter().any(|(name, _)| name == "byte");
    let sum = |all: &Elements| all.iter().map(|(_, count)| count).sum::<i64>();
    raw(one) || raw(two) || fits(one, two) && sum(one) == sum(two)
}
