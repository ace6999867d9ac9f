//! Message matching: adds the object and line that receivers have recorded to the transfers of the
//! senders.
//!
//! A sender does not know what object its message arrives in, nor at which line. What targets
//! record fills that in where both have counted the very same messages, by their order, and where
//! only one object, or line, comes into question. Equal amounts prove nothing: messages of one line
//! may be received at two, and add up to another's. No total ever changes.
//!
//! What a target has seen of an object or a line counts for that, unless sources name the same one:
//! these may be the very messages. So figures never count a message twice, but may lack some that
//! are received into an object, or at a line, that others are sent from.

use crate::api::{Amount, PlaceKind};
use crate::model::{End, Model, Row};
use commsan_rundir::traffic::{Kind, Side};
use rustc_hash::{FxHashMap, FxHashSet};

/// What both ends of a transfer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    kind: Kind,
    group: Option<u32>,
    tag: Option<i32>,
    /// Of collectives, which all ranks call alike.
    call: Option<u32>,
    /// No place for a pattern, or where any will do.
    source: Option<u32>,
    target: Option<u32>,
}

/// What is the same in all of them, if anything is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum One {
    /// There is nothing.
    #[default]
    None,
    /// It is this.
    Same(u32),
    /// Different ones, or something unknown among them.
    Many,
}

impl One {
    /// Takes another one with it.
    pub fn add(&mut self, value: Option<u32>) {
        *self = match (*self, value) {
            (One::None, Some(value)) => One::Same(value),
            (One::Same(known), Some(value)) if known == value => One::Same(known),
            _ => One::Many,
        };
    }

    fn and(self, other: One) -> One {
        match (self, other) {
            (One::None, one) | (one, One::None) => one,
            (one, other) if one == other => one,
            _ => One::Many,
        }
    }

    /// What it is.
    pub fn value(self) -> Option<u32> {
        match self {
            One::Same(value) => Some(value),
            _ => None,
        }
    }
}

/// What targets have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    object: One,
    site: One,
    /// Where the object is.
    place: One,
}

/// Objects and lines that sources name.
#[derive(Clone, Debug, Default)]
struct Sent {
    objects: FxHashSet<u32>,
    lines: FxHashSet<u32>,
}

/// Where the other ends of messages are, by row, if that is certain.
pub type FarEnds = FxHashMap<u32, u32>;

/// Fills in what is certain about the targets of all rows that count.
pub fn pair(model: &mut Model) -> FarEnds {
    let mut pairing = Pairing::of(model);
    pairing.the_same();
    pairing.limit();
    pairing.one_to_one();
    pairing.receives_from_anybody();
    pairing.collective();
    pairing.far
}

struct Pairing<'m> {
    model: &'m mut Model,
    sources: Vec<(Key, u32)>,
    targets: Vec<(Key, u32)>,
    far: FarEnds,
}

impl<'m> Pairing<'m> {
    fn of(model: &'m mut Model) -> Pairing<'m> {
        let of_side = |side: Side| {
            let rows = model.rows.iter().zip(0..);
            let rows =
                rows.filter(|(row, _)| row.side == side && !(row.counted && side == Side::Target));
            let mut keys: Vec<(Key, u32)> = rows.map(|(row, n)| (key(model, row), n)).collect();
            keys.sort_unstable();
            keys
        };
        let (sources, targets) = (of_side(Side::Source), of_side(Side::Target));
        Pairing { model, sources, targets, far: FarEnds::default() }
    }

    /// Rows that hold the very same messages. The source's says how much they were.
    fn the_same(&mut self) {
        let rows = &self.model.rows;
        let by_order = |of: &[(Key, u32)]| {
            let mut known: FxHashMap<(Key, u64), Option<u32>> = FxHashMap::default();
            for (key, row) in of {
                let Some(order) = rows[*row as usize].order else { continue };
                // Two rows cannot hold the same.
                known.entry((*key, order)).and_modify(|row| *row = None).or_insert(Some(*row));
            }
            known
        };
        let (sent, received) = (by_order(&self.sources), by_order(&self.targets));
        let pairs =
            sent.iter().filter_map(|(of, source)| Some(((*source)?, (*received.get(of)?)?)));
        let pairs: Vec<(u32, u32)> = pairs.collect();
        for (source, target) in &pairs {
            let mut common = Received::default();
            self.add_received(&mut common, *target);
            self.complete(*source, common);
            self.far_end(*source, common.place);
            let read = self.own_place(*source);
            self.far_end(*target, read.map_or(One::None, One::Same));
            let amount = self.model.rows[*source as usize].amount();
            let target = &mut self.model.rows[*target as usize];
            (target.count, target.bytes) = (amount.count, amount.bytes);
            (target.told_object, target.told_line) = (true, true);
        }
        let settled: FxHashSet<u32> = pairs.into_iter().flat_map(<[u32; 2]>::from).collect();
        self.sources.retain(|(_, row)| !settled.contains(row));
        self.targets.retain(|(_, row)| !settled.contains(row));
    }

    /// Nonblocking receives record the size of their buffers, and cancelled ones record nothing:
    /// together they got no more than was sent. Which of several got how much is not known, so that
    /// they share it by their room.
    fn limit(&mut self) {
        let is_message = |key: &Key| key.kind == Kind::PointToPoint && key.tag.is_some();
        let sum = |rows: &[Row], of: &[(Key, u32)]| {
            let mut sum = Amount::ZERO;
            of.iter().for_each(|(_, row)| sum.add(rows[*row as usize].amount()));
            sum
        };
        let rows = &mut self.model.rows;
        let sent = self.sources.chunk_by(|a, b| a.0 == b.0);
        let sent: FxHashMap<Key, Amount> =
            (sent.filter(|of| is_message(&of[0].0))).map(|of| (of[0].0, sum(rows, of))).collect();
        let places = &self.model.places;
        let knows = |key: &Key| {
            key.source.is_some_and(|place| places[place as usize].kind != PlaceKind::Unknown)
        };
        for of in self.targets.chunk_by(|a, b| a.0 == b.0) {
            let key = of[0].0;
            if !is_message(&key) || !knows(&key) {
                continue;
            }
            let (most, room) = (sent.get(&key).copied().unwrap_or(Amount::ZERO), sum(rows, of));
            for (_, row) in of {
                let row = &mut rows[*row as usize];
                row.count = share(row.count, most.count, room.count);
                row.bytes = share(row.bytes, most.bytes, room.bytes);
            }
        }
    }

    /// Rows with the same two places.
    fn one_to_one(&mut self) {
        let (sources, targets) =
            (std::mem::take(&mut self.sources), std::mem::take(&mut self.targets));
        let mut rest = &targets[..];
        for sent in sources.chunk_by(|a, b| a.0 == b.0) {
            let key = sent[0].0;
            rest = &rest[rest.partition_point(|target| target.0 < key)..];
            let received = &rest[..rest.partition_point(|target| target.0 == key)];
            if key.source.is_some() && key.target.is_some() && !received.is_empty() {
                let rows = |of: &[(Key, u32)]| of.iter().map(|(_, row)| *row).collect::<Vec<_>>();
                self.fill(&rows(sent), &rows(received));
            }
        }
        (self.sources, self.targets) = (sources, targets);
    }

    /// Fills in what all of `received` have in common, and notes which of these `sent` name then.
    fn fill(&mut self, sent: &[u32], received: &[u32]) {
        let mut common = Received::default();
        received.iter().for_each(|row| self.add_received(&mut common, *row));
        let (mut told, mut read) = (Sent::default(), One::None);
        for row in sent {
            self.complete(*row, common);
            self.far_end(*row, common.place);
            self.add_sent(&mut told, *row);
            read.add(self.own_place(*row));
        }
        for row in received {
            self.tell(*row, &told);
            self.far_end(*row, read);
        }
    }

    /// Receives from any source that have not recorded whose message they got: it may be that of
    /// all who send there.
    fn receives_from_anybody(&mut self) {
        let (sources, targets) =
            (std::mem::take(&mut self.sources), std::mem::take(&mut self.targets));
        let anybody = |key: Key| Key { source: None, tag: None, ..key };
        let unknown = |place: u32| self.model.places[place as usize].kind == PlaceKind::Unknown;
        let received: Vec<(Key, u32)> = (targets.iter().copied())
            .filter(|(key, _)| key.source.is_some_and(unknown))
            .map(|(key, row)| (anybody(key), row))
            .collect();
        let mut sent: FxHashMap<Key, Sent> =
            received.iter().map(|(key, _)| (*key, Sent::default())).collect();
        let mut places: FxHashMap<Key, One> =
            received.iter().map(|(key, _)| (*key, One::None)).collect();
        for (key, row) in &targets {
            if let Some(place) = places.get_mut(&anybody(*key)) {
                place.add(self.own_place(*row));
            }
        }
        for (key, row) in &sources {
            if let Some(told) = sent.get_mut(&anybody(*key)) {
                self.add_sent(told, *row);
                self.far_end(*row, places[&anybody(*key)]);
            }
        }
        for (key, row) in received {
            if let Some(told) = sent.get(&key) {
                self.tell(row, told);
            }
        }
        (self.sources, self.targets) = (sources, targets);
    }

    /// Rows of which one is a pattern, or both are.
    fn collective(&mut self) {
        let (sources, targets) =
            (std::mem::take(&mut self.sources), std::mem::take(&mut self.targets));
        let mut received: FxHashMap<Key, Received> = FxHashMap::default();
        for (key, row) in targets.iter().filter(|(key, _)| key.call.is_some()) {
            self.add_received(received.entry(Key { target: None, ..*key }).or_default(), *row);
            if key.source.is_none() {
                self.add_received(received.entry(*key).or_default(), *row);
            }
        }
        let mut sent: FxHashMap<Key, Sent> = FxHashMap::default();
        for (key, row) in sources.iter().filter(|(key, _)| key.call.is_some()) {
            let get = |key: Key| received.get(&key).copied().unwrap_or_default();
            let from_any = get(Key { source: None, ..*key });
            let common = if key.target.is_none() { get(*key).and(from_any) } else { from_any };
            self.complete(*row, common);
            self.add_sent(sent.entry(Key { target: None, ..*key }).or_default(), *row);
            self.add_sent(
                sent.entry(Key { source: None, target: None, ..*key }).or_default(),
                *row,
            );
        }
        for (key, row) in targets.iter().filter(|(key, _)| key.call.is_some()) {
            if let Some(told) = sent.get(&Key { target: None, ..*key }) {
                self.tell(*row, told);
            }
        }
    }

    fn add_received(&self, common: &mut Received, row: u32) {
        let row = &self.model.rows[row as usize];
        common.object.add(row.object.map(|instance| self.model.object_of(instance)));
        common.site.add(Some(row.site));
        common.place.add(self.model.own_place(row));
    }

    fn own_place(&self, row: u32) -> Option<u32> {
        self.model.own_place(&self.model.rows[row as usize])
    }

    /// The other end of a row is in this memory.
    fn far_end(&mut self, row: u32, place: One) {
        if let Some(place) = place.value() {
            self.far.insert(row, place);
        }
    }

    fn add_sent(&self, told: &mut Sent, row: u32) {
        let row = &self.model.rows[row as usize];
        told.objects.extend(self.model.source_object(row).into_iter().chain(row.target_object));
        let sites = std::iter::once(row.site).chain(row.target_site);
        told.lines.extend(sites.filter_map(|site| self.model.line_of_site(site)));
    }

    fn complete(&mut self, row: u32, common: Received) {
        let row = &mut self.model.rows[row as usize];
        row.target_object = row.target_object.or(common.object.value());
        row.target_site = row.target_site.or(common.site.value());
    }

    /// Notes what the sources record of a target, so that it need not count on its own.
    fn tell(&mut self, row: u32, told: &Sent) {
        let of = &self.model.rows[row as usize];
        let object = of.object.map(|instance| self.model.object_of(instance));
        let line = self.model.line_of_site(of.site);
        let of = &mut self.model.rows[row as usize];
        of.told_object |= object.is_some_and(|object| told.objects.contains(&object));
        of.told_line |= line.is_some_and(|line| told.lines.contains(&line));
    }
}

impl Received {
    fn and(self, other: Received) -> Received {
        Received {
            object: self.object.and(other.object),
            site: self.site.and(other.site),
            place: self.place.and(other.place),
        }
    }
}

/// The part of `most` that `part` is of `all`, if that is more.
fn share(part: u64, most: u64, all: u64) -> u64 {
    if all <= most {
        return part;
    }
    let [part, most, all] = [part, most, all].map(u128::from);
    // At most `most`, since `part` is at most `all`, or it is wrong and becomes the largest.
    u64::try_from((part * most + all / 2) / all).unwrap_or(u64::MAX)
}

/// The communicator's group, as both ends know it: those of an intercommunicator know each other's
/// (MPI 4.1 §7.6).
pub fn group_of_both(model: &Model, row: &Row) -> Option<u32> {
    let knows = |group: u32, end: End| {
        end.place().is_none_or(|place| {
            model.groups[group as usize].rank(place).is_some()
                || model.places[place as usize].kind == PlaceKind::Unknown
        })
    };
    let is_message = row.kind == Kind::PointToPoint;
    row.group.filter(|group| !is_message || knows(*group, row.source) && knows(*group, row.target))
}

fn key(model: &Model, row: &Row) -> Key {
    let pattern = |end: End| match end {
        End::Of(_, group) => Some(group),
        End::At(_) => None,
    };
    let call = || model.sites[row.site as usize].call;
    Key {
        kind: row.kind,
        group: group_of_both(model, row).or(pattern(row.source)).or(pattern(row.target)),
        tag: row.tag,
        call: matches!(row.kind, Kind::Collective | Kind::Nvshmem).then(call),
        source: row.source.place(),
        target: row.target.place(),
    }
}
