//! Whose memory it is: what ranks move with MPI begins and ends at the devices that own the memory.
//!
//! Ranks record each other; where the memory is, each knows of its own end. Of messages, the
//! pairing says where the other end is. Of collectives, each member has recorded in what memory it
//! sends and receives at a line, or else in all of the calls of that name. Where one rank does that
//! sometimes in a device's memory and sometimes in the host's, and nothing tells which, the rank
//! stands for both. No total ever changes.

use crate::group::Group;
use crate::model::{End, Model, Pattern, Row};
use crate::pair::{FarEnds, One, group_of_both};
use commsan_rundir::traffic::{Kind, Side};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Members of all groups that are made for rows that fit no other, at most.
const MAX_MEMBERS: usize = 1 << 22;

/// Groups that have been made, by their members.
type Known = indexmap::IndexMap<Vec<u32>, u32, FxBuildHasher>;

/// Calls of a collective that belong together: group, call, line, and whether members send there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Calls {
    group: Option<u32>,
    call: u32,
    /// None stands for all.
    line: Option<u32>,
    sends: bool,
}

/// Moves the ends of rows to the devices that own the memory.
pub fn settle(model: &mut Model, far: &FarEnds) {
    let moves = |row: &Row| {
        of_mpi(row)
            && (model.device_of(row.object).is_some() || model.device_of(row.other).is_some())
    };
    if !model.rows.iter().any(moves) {
        return;
    }
    let mut owners = Owners {
        members: members(model),
        wholes: FxHashMap::default(),
        known: Known::default(),
        room: MAX_MEMBERS,
        left: 0,
    };
    // Those that count come first, where there is not room for all.
    for counted in [true, false] {
        for number in 0..model.rows.len() {
            let row = model.rows[number];
            if row.counted == counted && of_mpi(&row) {
                let (source, target) = owners.ends(model, &row, far.get(&(number as u32)).copied());
                let row = &mut model.rows[number];
                (row.source, row.target) = (source, target);
            }
        }
    }
    if owners.left > 0 {
        model.notes.push(format!(
            "{} entries of collectives in memory of devices are shown between ranks: there are too \
             many different ones",
            owners.left
        ));
    }
}

/// Whether this is MPI's, which knows ranks only. All others record devices themselves.
fn of_mpi(row: &Row) -> bool {
    matches!(
        row.kind,
        Kind::PointToPoint | Kind::Collective | Kind::Rma | Kind::FileRead | Kind::FileWrite
    )
}

/// Where members of collectives have the memory that they send from, or receive into.
fn members(model: &Model) -> FxHashMap<(Calls, u32), One> {
    let mut members: FxHashMap<(Calls, u32), One> = FxHashMap::default();
    for row in model.rows.iter().filter(|row| row.kind == Kind::Collective) {
        let sends = row.side != Side::Target;
        let End::At(rank) = (if sends { row.source } else { row.target }) else { continue };
        let of = calls(model, row, sends);
        for of in [of, Calls { line: None, ..of }] {
            members.entry((of, rank)).or_default().add(model.own_place(row));
        }
    }
    members
}

fn calls(model: &Model, row: &Row, sends: bool) -> Calls {
    let pattern = |end: End| match end {
        End::Of(_, group) => Some(group),
        End::At(_) => None,
    };
    let group = group_of_both(model, row).or(pattern(row.source)).or(pattern(row.target));
    let line = model.line_of_site(row.site);
    Calls { group, call: model.sites[row.site as usize].call, line, sends }
}

struct Owners {
    members: FxHashMap<(Calls, u32), One>,
    /// All members of a group, where their memory is.
    wholes: FxHashMap<(Calls, u32), u32>,
    known: Known,
    /// How many more members groups may have.
    room: usize,
    /// Rows that there was no room for.
    left: u64,
}

impl Owners {
    /// The ends of a row.
    fn ends(&mut self, model: &mut Model, row: &Row, far: Option<u32>) -> (End, End) {
        let owner = |model: &Model, end: End, instance: Option<u32>| match model.device_of(instance)
        {
            Some(device) if end.place().is_some() => End::At(device),
            _ => end,
        };
        if row.side == Side::Both {
            return (owner(model, row.source, row.object), owner(model, row.target, row.other));
        }
        let sends = row.side == Side::Source;
        let (own, other) = if sends { (row.source, row.target) } else { (row.target, row.source) };
        let moved = owner(model, own, row.object);
        let (own, other) = match (own, other, moved) {
            (End::At(rank), End::Of(pattern, group), End::At(place)) => {
                let of = calls(model, row, !sends);
                match self.pattern(model, of, (pattern, group), (rank, place)) {
                    Some(pattern) => (moved, pattern),
                    None => (own, other),
                }
            }
            (_, End::At(rank), _) if row.kind == Kind::Collective => {
                let of = calls(model, row, !sends);
                (moved, End::At(self.member(of, rank)))
            }
            // What pairing knows of the unknown place is not who that is.
            (_, End::At(_), _) => (moved, far.map_or(other, End::At)),
            _ => (own, other),
        };
        if sends { (own, other) } else { (other, own) }
    }

    /// Where a member of a collective has its memory.
    fn member(&self, of: Calls, rank: u32) -> u32 {
        let one = |of: Calls| self.members.get(&(of, rank)).and_then(|place| place.value());
        one(of).or_else(|| one(Calls { line: None, ..of })).unwrap_or(rank)
    }

    /// A pattern as seen from `rank`, whose own memory is at `place`; nothing if there is no room.
    fn pattern(
        &mut self,
        model: &mut Model,
        of: Calls,
        (pattern, group): (Pattern, u32),
        (rank, place): (u32, u32),
    ) -> Option<End> {
        let whole = self.whole(model, of, group);
        let (ranks, places) = (&model.groups[group as usize], &model.groups[whole as usize]);
        let fits = match ranks.rank(rank) {
            Some(member) => places.places()[member] == place,
            None => places.rank(place).is_none(),
        };
        if whole == group && place == rank || ranks.is_plain() && places.is_plain() && fits {
            return Some(End::Of(pattern, whole));
        }
        let members: Vec<u32> =
            ranks.members(pattern, rank).map(|rank| self.member(of, rank)).collect();
        Some(End::Of(Pattern::All, self.group(model, members)?))
    }

    /// The group with the places of all members' memory.
    fn whole(&mut self, model: &mut Model, of: Calls, group: u32) -> u32 {
        if let Some(known) = self.wholes.get(&(of, group)) {
            return *known;
        }
        let ranks = model.groups[group as usize].places();
        let places: Vec<u32> = ranks.iter().map(|rank| self.member(of, *rank)).collect();
        let whole = match places == ranks {
            true => group,
            false => self.group(model, places).unwrap_or(group),
        };
        self.wholes.insert((of, group), whole);
        whole
    }

    fn group(&mut self, model: &mut Model, members: Vec<u32>) -> Option<u32> {
        if let Some(known) = self.known.get(&members) {
            return Some(*known);
        }
        let Some(room) = self.room.checked_sub(members.len()) else {
            self.left += 1;
            return None;
        };
        self.room = room;
        let number = model.groups.len() as u32;
        model.groups.push(Group::new(members.clone()));
        self.known.insert(members, number);
        Some(number)
    }
}
