//! What is known of a run after merging: tables that refer to each other by position.

use crate::api::{Amount, Place, PlaceKind};
use crate::events::Log;
use crate::group::Group;
use crate::merge::Rank;
use crate::packed::{List, Packed};
use commsan_rundir::traffic::{Bin, Kind, Memory, Side};

/// A run, merged.
#[derive(Debug, Default)]
pub struct Model {
    /// Node by node: ranks, then devices; then files, then the unknown place.
    pub places: Vec<Place>,
    /// Their nodes.
    pub nodes: Vec<crate::api::Node>,
    /// Place of each rank.
    pub ranks: Vec<RankOf>,
    /// Names of regions.
    pub regions: Vec<String>,
    /// Names of calls, among others.
    pub strings: Vec<String>,
    /// Groups of communicators.
    pub groups: Vec<Group>,
    /// Call paths of the user's frames, innermost first; the first is empty.
    pub stacks: Vec<Vec<crate::api::Frame>>,
    /// Paths of source files.
    pub files: Vec<String>,
    /// Source lines that something was moved or allocated by.
    pub lines: Vec<SourceLine>,
    /// Line of each call path.
    pub line_of_stack: Vec<Option<u32>>,
    /// Calls at the end of call paths.
    pub sites: Vec<Site>,
    /// Allocation sites and variables.
    pub objects: Vec<Object>,
    /// Objects at places.
    pub instances: Vec<Instance>,
    /// What was moved.
    pub rows: Vec<Row>,
    /// Time spent in calls.
    pub calls: Vec<CallRow>,
    /// Time bins and extents of rows.
    pub packed: Packed,
    /// What the numbers of time bins mean.
    pub clocks: Vec<Clock>,
    /// What the numbers of time bins of answers mean.
    pub timeline: Clock,
    /// How many there are.
    pub bins: u32,
    /// When the first rank began and the last one ended, in nanoseconds since 1970.
    pub span: (u64, u64),
    /// Whether the file of every rank is complete.
    pub complete: bool,
    /// What ranks did when.
    pub log: Log,
    /// What alone was asked for: `objects u, v`.
    pub only: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A rank, and what its file records of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankOf {
    /// Its number, and its job.
    pub rank: Rank,
    /// Its place.
    pub place: u32,
    /// Whether it has left a file.
    pub present: bool,
    /// When it began to count, in nanoseconds since 1970.
    pub began: u64,
    /// Nanoseconds that it counted for.
    pub time: u64,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// Position of the file.
    pub file: u32,
    /// Counted from 1.
    pub line: u32,
}

/// A call at the end of a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// A string.
    pub call: u32,
    /// The call path.
    pub stack: u32,
}

/// An allocation site, or a variable, of all ranks.
#[derive(Clone, Debug)]
pub struct Object {
    /// The variable's name, or `FUNCTION:LINE`.
    pub name: String,
    /// What kind of memory. The module of globals means nothing here.
    pub memory: Memory,
    /// Call path of the allocation.
    pub stack: u32,
    /// Where that is, for the user: in no library's header.
    pub origin: Option<SourceLine>,
    /// Size of the largest.
    pub bytes: u64,
    /// How many there were.
    pub allocations: u64,
    /// How many places it lies at.
    pub places: u32,
}

/// An object at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The object.
    pub object: u32,
    /// The place.
    pub place: u32,
    /// Size of the largest.
    pub bytes: u64,
    /// How many there were.
    pub count: u64,
    /// Address of the first.
    pub address: u64,
}

/// One end of a row, or a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// One place.
    At(u32),
    /// Members of a group, as seen from the other end.
    Of(Pattern, u32),
}

/// Which members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// All but the other end.
    Others,
    /// Those with a higher rank in the group.
    Above,
    /// Those with a lower one.
    Below,
    /// Each of them, as often as it occurs: the other end is one of them, or is not.
    All,
}

impl End {
    /// The place, if it is one.
    pub fn place(self) -> Option<u32> {
        match self {
            End::At(place) => Some(place),
            End::Of(..) => None,
        }
    }
}

/// Transfers that have everything in common but time.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What kind.
    pub kind: Kind,
    /// Who has seen it.
    pub side: Side,
    /// Whether it counts in totals: what targets have seen does if the source's rank left no file.
    pub counted: bool,
    /// Whether counting rows name the object of this one, which a target has recorded.
    pub told_object: bool,
    /// Whether counting rows name the line of this one, which a target has recorded.
    pub told_line: bool,
    /// From where.
    pub source: End,
    /// To where.
    pub target: End,
    /// Where in the program: at the end that `side` says.
    pub site: u32,
    /// Where the receiver is in the program, if certain.
    pub target_site: Option<u32>,
    /// The object that is read, as an instance; for targets that which is written.
    pub object: Option<u32>,
    /// The instance that is written, where one process sees both.
    pub other: Option<u32>,
    /// The object that is written, if certain.
    pub target_object: Option<u32>,
    /// The region.
    pub region: Option<u32>,
    /// The message tag.
    pub tag: Option<i32>,
    /// The communicator's group.
    pub group: Option<u32>,
    /// How many, for each pair of places.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The clock of `bins`.
    pub clock: u32,
    /// When.
    pub bins: List,
    /// Which bytes of `object`.
    pub extents: List,
    /// Which bytes of `other`.
    pub other_extents: List,
    /// Of messages: the same for the very same ones at both ends.
    pub order: Option<u64>,
}

/// Time in calls of a rank.
#[derive(Clone, Copy, Debug)]
pub struct CallRow {
    /// The rank's place.
    pub place: u32,
    /// The only other end that the call names.
    pub peer: Option<u32>,
    /// The group of the communicator that it names.
    pub group: Option<u32>,
    /// Where in the program.
    pub site: u32,
    /// How many.
    pub count: u64,
    /// Nanoseconds.
    pub time: u64,
    /// Nanoseconds of the longest.
    pub longest: u64,
    /// The clock of `bins`.
    pub clock: u32,
    /// When.
    pub bins: List,
}

/// What the numbers of time bins mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clock {
    /// When bin 0 begins, in nanoseconds since 1970.
    pub epoch: u64,
    /// Nanoseconds.
    pub width: u64,
}

impl Clock {
    /// When a bin begins, in nanoseconds since 1970.
    pub fn start(self, bin: u32) -> u64 {
        self.epoch.saturating_add(self.width.saturating_mul(bin.into()))
    }
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount { count: 0, bytes: 0 };

    /// Adds without ever wrapping: damaged files may hold anything.
    pub fn add(&mut self, more: Amount) {
        self.count = self.count.saturating_add(more.count);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }

    /// What is left without `part`.
    pub fn less(self, part: Amount) -> Amount {
        Amount {
            count: self.count.saturating_sub(part.count),
            bytes: self.bytes.saturating_sub(part.bytes),
        }
    }

    /// So many times that.
    pub fn times(self, factor: u64) -> Amount {
        Amount {
            count: self.count.saturating_mul(factor),
            bytes: self.bytes.saturating_mul(factor),
        }
    }
}

impl Row {
    /// Of each pair of places.
    pub fn amount(&self) -> Amount {
        Amount { count: self.count, bytes: self.bytes }
    }
}

impl Model {
    /// The line that a site stands for.
    pub fn line_of_site(&self, site: u32) -> Option<u32> {
        self.line_of_stack[self.sites[site as usize].stack as usize]
    }

    /// Name of a site's call.
    pub fn call_of_site(&self, site: u32) -> &str {
        &self.strings[self.sites[site as usize].call as usize]
    }

    /// The object of an instance.
    pub fn object_of(&self, instance: u32) -> u32 {
        self.instances[instance as usize].object
    }

    /// The object that a row reads, if it is known.
    pub fn source_object(&self, row: &Row) -> Option<u32> {
        let instance = row.object.filter(|_| row.side != Side::Target);
        instance.map(|instance| self.object_of(instance))
    }

    /// The object at the end that `side` says.
    pub fn seen_object(&self, row: &Row) -> Option<u32> {
        row.object.map(|instance| self.object_of(instance))
    }

    /// The device that an object is on.
    pub fn device_of(&self, instance: Option<u32>) -> Option<u32> {
        let place = self.instances[instance? as usize].place;
        (self.places[place as usize].kind == PlaceKind::Device).then_some(place)
    }

    /// Where the memory is at the end that `side` says: on a device, else in the rank itself.
    pub fn own_place(&self, row: &Row) -> Option<u32> {
        let end = if row.side == Side::Target { row.target } else { row.source };
        self.device_of(row.object).or(end.place())
    }

    /// The line that receives, if it is certain.
    pub fn target_line(&self, row: &Row) -> Option<SourceLine> {
        let line = self.line_of_site(row.target_site?)?;
        Some(self.lines[line as usize])
    }

    /// How many pairs of places a row stands for.
    pub fn pairs(&self, row: &Row) -> u64 {
        self.pairs_of(row.source, row.target)
    }

    /// How many pairs of places there are between two ends.
    pub fn pairs_of(&self, source: End, target: End) -> u64 {
        match (source, target) {
            (End::At(_), End::At(_)) => 1,
            (End::At(place), End::Of(pattern, group))
            | (End::Of(pattern, group), End::At(place)) => {
                self.groups[group as usize].count(pattern, place)
            }
            // Merging lets none of these in.
            (End::Of(..), End::Of(..)) => 0,
        }
    }

    /// All that a row stands for.
    pub fn total(&self, row: &Row) -> Amount {
        row.amount().times(self.pairs(row))
    }

    /// The pairs of places between two ends, as (source, target).
    pub fn expand(&self, source: End, target: End) -> impl Iterator<Item = (u32, u32)> + '_ {
        let members =
            |pattern, group: u32, place| self.groups[group as usize].members(pattern, place);
        let (single, targets, sources) = match (source, target) {
            (End::At(source), End::At(target)) => (Some((source, target)), None, None),
            (End::At(place), End::Of(pattern, group)) => {
                (None, Some(members(pattern, group, place).map(move |m| (place, m))), None)
            }
            (End::Of(pattern, group), End::At(place)) => {
                (None, None, Some(members(pattern, group, place).map(move |m| (m, place))))
            }
            (End::Of(..), End::Of(..)) => (None, None, None),
        };
        let targets = targets.into_iter().flatten();
        single.into_iter().chain(targets).chain(sources.into_iter().flatten())
    }

    /// A row's time bins, in those of answers.
    pub fn bins_of(&self, clock: u32, list: List) -> impl Iterator<Item = Bin> + '_ {
        let clock = self.clocks[clock as usize];
        let (timeline, last) = (self.timeline, self.bins.saturating_sub(1));
        self.packed.bins(list).map(move |bin| {
            let since = clock.start(bin.bin).saturating_sub(timeline.epoch);
            let number = since.checked_div(timeline.width).unwrap_or(0);
            Bin { bin: u32::try_from(number).map_or(last, |number| number.min(last)), ..bin }
        })
    }
}
