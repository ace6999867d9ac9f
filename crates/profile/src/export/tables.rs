//! The tables: their columns, and what fills them.

mod time;

use super::{Column, MAX_PAIRS, Sink, Table, Type, Value};
use crate::Profile;
use crate::answer::join;
use crate::api::{Amount, Direction, Frame, PlaceKind};
use crate::merge;
use crate::model::{End, Model, Row};
use crate::objects::memory_name;
use commsan_rundir::traffic::{Extent, Side};
use std::collections::BTreeMap;
use std::io;

const fn column(name: &'static str, kind: Type, about: &'static str) -> Column {
    Column { name, kind, optional: false, about }
}

const fn optional(name: &'static str, kind: Type, about: &'static str) -> Column {
    Column { name, kind, optional: true, about }
}

use Type::{Integer, Real, Text};

/// Tables that are written, in this order.
pub const TABLES: &[Table] = &[
    Table {
        name: "transfers",
        about: "What was moved: a row for everything that has all but `count` and `bytes` in common. Sums \
                over all rows are the run's totals.",
        columns: &[
            column(
                "source",
                Text,
                "place that the data comes from: `rank 0`, `gpu 1`, a file's path",
            ),
            column(
                "target",
                Text,
                "place that it goes to; `N others` where a collective stays whole",
            ),
            column("kind", Text, "`point-to-point`, `collective`, `rma`, `host-to-device`, …"),
            column("count", Integer, "transfers"),
            column("bytes", Integer, "their bytes"),
            optional("object", Text, "name of what is read"),
            optional("file", Text, "source file of the call that sends, or that moves both ways"),
            optional("line", Integer, "the line there"),
            column("call", Text, "call or instruction"),
            optional("function", Text, "function that calls"),
            optional("target_object", Text, "name of what is written, where that is certain"),
            optional(
                "target_file",
                Text,
                "source file of the call that receives, where that is certain",
            ),
            optional("target_line", Integer, "the line there"),
            optional("region", Text, "region of the program"),
            optional("tag", Integer, "message tag"),
            column(
                "seen_by",
                Text,
                "`source`, `both`, or `target` where the source's rank left no file",
            ),
        ],
        fill: transfers,
    },
    Table {
        name: "objects",
        about: "What was allocated, at each place.",
        columns: &[
            column("object", Integer, "number of the object; the one with most traffic is 0"),
            column("name", Text, "variable, or `FUNCTION:LINE`; empty if nothing is known"),
            column(
                "memory",
                Text,
                "`heap`, `global`, `stack`, `device`, `managed`, `pinned`, `window`",
            ),
            column("place", Text, "where it lies"),
            column("bytes", Integer, "size of the largest there; 0 if unknown"),
            column("allocations", Integer, "how many there were"),
            column("address", Integer, "of the first"),
            optional("file", Text, "source file of the allocation"),
            optional("line", Integer, "the line there"),
            column("stack", Text, "call path, innermost first: `function (file:line) < …`"),
        ],
        fill: objects,
    },
    Table {
        name: "sites",
        about: "Call paths that move data.",
        columns: &[
            column("call", Text, "call or instruction"),
            optional("function", Text, "function that calls"),
            optional("file", Text, "source file"),
            optional("line", Integer, "the line there"),
            column("stack", Text, "call path, innermost first: `function (file:line) < …`"),
            column(
                "count",
                Integer,
                "transfers that are seen from there; receivers count theirs, too",
            ),
            column("bytes", Integer, "their bytes"),
        ],
        fill: sites,
    },
    Table {
        name: "calls",
        about: "Time in communication, of each rank, by what calls name: what completes a request names nobody.",
        columns: &[
            column("place", Text, "the rank"),
            column("call", Text, "call"),
            optional("function", Text, "function that calls"),
            optional("file", Text, "source file"),
            optional("line", Integer, "the line there"),
            optional("peer", Text, "the only other end that the call names"),
            optional("communicator", Text, "ranks of the communicator that the call names"),
            column("count", Integer, "how many"),
            column("seconds", Real, "time in all of them"),
            column("longest_seconds", Real, "time in the longest"),
        ],
        fill: time::calls,
    },
    Table {
        name: "waits",
        about: "Time that ranks wait for others, by both ends; empty if no events were recorded.",
        columns: &[
            column(
                "kind",
                Text,
                "`late sender`, `late receiver`, `wrong order`, `wait at barrier`, `wait at NxN`, \
                 `late broadcast`, `early reduce`",
            ),
            column("place", Text, "the rank that waits"),
            column("call", Text, "its call"),
            optional("function", Text, "function that calls"),
            optional("file", Text, "source file"),
            optional("line", Integer, "the line there"),
            column("late_place", Text, "the rank that it waits for"),
            column("late_call", Text, "the call that is late"),
            optional("late_function", Text, "function that calls"),
            optional("late_file", Text, "source file"),
            optional("late_line", Integer, "the line there"),
            column("count", Integer, "how often"),
            column("seconds", Real, "how long in all"),
            column("longest_seconds", Real, "how long the longest"),
            column("longest_start_seconds", Real, "when that begins, from the run's beginning"),
        ],
        fill: time::waits,
    },
    Table {
        name: "wait_pairs",
        about: "Who waits for whom: `waits` by pair of ranks, with the line that is late for most of the time.",
        columns: &[
            column("place", Text, "the rank that waits"),
            column(
                "late_place",
                Text,
                "the rank that it waits for; itself, if it receives in the wrong order",
            ),
            column("kind", Text, "as in `waits`"),
            column("count", Integer, "how often"),
            column("seconds", Real, "how long in all"),
            column("longest_seconds", Real, "how long the longest"),
            column("longest_start_seconds", Real, "when that begins, from the run's beginning"),
            column("late_call", Text, "the call that is late for most of the time"),
            optional("late_function", Text, "function that calls"),
            optional("late_file", Text, "source file"),
            optional("late_line", Integer, "the line there"),
        ],
        fill: time::wait_pairs,
    },
    Table {
        name: "critical_path",
        about: "The critical path part by part, in the order of time; empty if no events were recorded.",
        columns: &[
            column("part", Integer, "its number; the path goes from one part to the next"),
            column("place", Text, "the rank that it is in"),
            column("thread", Integer, "the thread there"),
            column("start_seconds", Real, "when it comes to it, from the run's beginning"),
            column("seconds", Real, "how long it stays"),
        ],
        fill: time::critical_path,
    },
    Table {
        name: "critical_calls",
        about: "What the critical path consists of. Sums of both times over all rows are its length.",
        columns: &[
            column("place", Text, "the rank"),
            optional(
                "call",
                Text,
                "call; `commsan` of its own work; null after the last call, and between calls that were folded",
            ),
            optional("function", Text, "function that calls"),
            optional("file", Text, "source file"),
            optional("line", Integer, "the line there"),
            column("inside_seconds", Real, "time of the path in the call"),
            column("before_seconds", Real, "time of the path outside of calls that leads to it"),
        ],
        fill: time::critical_calls,
    },
    Table {
        name: "timeline",
        about: "What was moved when, by kind and by node that the data comes from.",
        columns: &[
            column("bin", Integer, "number of the time bin"),
            column("start_seconds", Real, "when it begins, from the beginning of the first"),
            column("width_seconds", Real, "how long it is"),
            column("source_node", Text, "host, `files` or `unknown`"),
            column("kind", Text, "as in `transfers`"),
            column("count", Integer, "transfers"),
            column("bytes", Integer, "their bytes"),
        ],
        fill: timeline,
    },
    Table {
        name: "extents",
        about: "Which bytes of objects were touched; with `--sample`, of the sampled transfers.",
        columns: &[
            column("object", Integer, "number of the object, as in `objects`"),
            column("name", Text, "its name"),
            column("place", Text, "where it lies"),
            column("kind", Text, "as in `transfers`"),
            column("call", Text, "call or instruction"),
            optional("file", Text, "source file"),
            optional("line", Integer, "the line there"),
            column("direction", Text, "`read` or `write`"),
            column("start", Integer, "first byte, from the object's beginning"),
            column("bytes", Integer, "how many bytes"),
            column("count", Integer, "how often each of them"),
        ],
        fill: extents,
    },
    Table {
        name: "places",
        about: "Where data is.",
        columns: &[
            column("place", Integer, "number, node by node"),
            column("name", Text, "as in the other tables"),
            column("kind", Text, "`rank`, `device`, `file`, `unknown`"),
            column("node", Text, "host, `files` or `unknown`"),
            optional("rank", Integer, "in `MPI_COMM_WORLD`"),
            optional("present", Integer, "of ranks: 1 if it has left a file, else 0"),
            optional("job", Integer, "of ranks: number of their MPI job, from 1"),
        ],
        fill: places,
    },
];

/// Everything but the amounts of a row of `transfers`. Call paths are given by their callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    source: End,
    target: End,
    kind: usize,
    call: u32,
    /// Position in [`Callers::frames`].
    caller: Option<u32>,
    object: Option<u32>,
    target_object: Option<u32>,
    target_line: Option<crate::model::SourceLine>,
    region: Option<u32>,
    tag: Option<i32>,
    side: Side,
}

/// The frames that call paths consist of, each once.
struct Callers<'m> {
    frames: merge::Table<&'m Frame>,
    of_stack: Vec<Option<u32>>,
}

impl<'m> Callers<'m> {
    fn of(model: &'m Model) -> Callers<'m> {
        let mut frames = merge::Table::default();
        let number = |stack: &'m Vec<Frame>| Some(frames.insert_full(caller(stack)?).0 as u32);
        let of_stack = model.stacks.iter().map(number).collect();
        Callers { frames, of_stack }
    }
}

fn transfers(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let callers = Callers::of(model);
    let whole = stay_whole(model);
    let mut sums: BTreeMap<Key, Amount> = BTreeMap::new();
    for row in model.rows.iter().filter(|row| row.counted) {
        let site = model.sites[row.site as usize];
        let key = Key {
            source: row.source,
            target: row.target,
            kind: profile.kind(row.kind),
            call: site.call,
            caller: callers.of_stack[site.stack as usize].filter(|_| row.side != Side::Target),
            object: model.source_object(row),
            target_object: row.target_object,
            target_line: model.target_line(row),
            region: row.region,
            tag: row.tag,
            side: row.side,
        };
        let mut add = |key, amount| sums.entry(key).or_default().add(amount);
        // Ends that are places stay as they are, too.
        if size_of_group(model, row).is_none_or(|size| size >= whole) {
            add(key, row.amount());
        } else {
            for (source, target) in model.expand(row.source, row.target) {
                let (source, target) = (End::At(source), End::At(target));
                add(Key { source, target, ..key }, row.amount());
            }
        }
    }
    for (key, amount) in &sums {
        let caller = key.caller.map(|caller| callers.frames[caller as usize]);
        transfer(profile, key, caller, *amount, sink)?;
    }
    Ok(())
}

fn transfer(
    profile: &Profile,
    key: &Key,
    caller: Option<&Frame>,
    amount: Amount,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let model = &profile.model;
    let pairs = model.pairs_of(key.source, key.target);
    let amount = amount.times(pairs);
    let end = |end: End| match end {
        End::At(place) => model.places[place as usize].name.clone(),
        End::Of(..) => format!("{pairs} others"),
    };
    let object = |object: Option<u32>| {
        let name = object.map(|object| model.objects[object as usize].name.as_str());
        name.filter(|name| !name.is_empty())
    };
    let file = |file: usize| model.files[file].as_str();
    sink.row(&[
        end(key.source).as_str().into(),
        end(key.target).as_str().into(),
        profile.kinds[key.kind].name().into(),
        amount.count.into(),
        amount.bytes.into(),
        object(key.object).into(),
        caller.and_then(|frame| frame.file).map(file).into(),
        caller.and_then(|frame| frame.line).map(u64::from).into(),
        model.strings[key.call as usize].as_str().into(),
        caller.map(|frame| frame.function.as_str()).into(),
        object(key.target_object).into(),
        key.target_line.map(|line| file(line.file as usize)).into(),
        key.target_line.map(|line| u64::from(line.line)).into(),
        key.region.map(|region| model.regions[region as usize].as_str()).into(),
        key.tag.map_or(Value::Null, |tag| Value::Integer(tag.into())),
        match key.side {
            Side::Source => "source",
            Side::Both => "both",
            Side::Target => "target",
        }
        .into(),
    ])
}

/// Groups with so many members, or more, are not taken apart.
fn stay_whole(model: &Model) -> u64 {
    let mut by_size: BTreeMap<u64, u64> = BTreeMap::new();
    for row in model.rows.iter().filter(|row| row.counted) {
        if let Some(size) = size_of_group(model, row) {
            *by_size.entry(size).or_default() += model.pairs(row);
        }
    }
    let mut sum = 0_u64;
    for (size, pairs) in by_size {
        sum = sum.saturating_add(pairs);
        if sum > MAX_PAIRS {
            return size;
        }
    }
    u64::MAX
}

fn size_of_group(model: &Model, row: &Row) -> Option<u64> {
    match (row.source, row.target) {
        (End::Of(_, group), _) | (_, End::Of(_, group)) => {
            Some(model.groups[group as usize].places().len() as u64)
        }
        _ => None,
    }
}

fn objects(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let mut order: Vec<_> = model.instances.iter().collect();
    order.sort_by_key(|instance| (instance.object, instance.place));
    for instance in order {
        let object = &model.objects[instance.object as usize];
        let line = object.origin;
        sink.row(&[
            u64::from(instance.object).into(),
            object.name.as_str().into(),
            memory_name(object.memory).into(),
            place(model, instance.place),
            instance.bytes.into(),
            instance.count.into(),
            instance.address.into(),
            line.map(|line| model.files[line.file as usize].as_str()).into(),
            line.map(|line| u64::from(line.line)).into(),
            stack(model, object.stack).as_str().into(),
        ])?;
    }
    Ok(())
}

fn sites(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let mut sums = vec![Amount::ZERO; model.sites.len()];
    for row in &model.rows {
        sums[row.site as usize].add(model.total(row));
    }
    for (number, amount) in sums.iter().enumerate().filter(|(_, amount)| **amount != Amount::ZERO) {
        let [call, function, file, line] = site(model, number as u32);
        let stack = stack(model, model.sites[number].stack);
        let (count, bytes) = (amount.count.into(), amount.bytes.into());
        sink.row(&[call, function, file, line, stack.as_str().into(), count, bytes])?;
    }
    Ok(())
}

fn timeline(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let mut sums: BTreeMap<(u32, usize, usize), Amount> = BTreeMap::new();
    for row in model.rows.iter().filter(|row| row.counted) {
        let kind = profile.kind(row.kind);
        let sources: BTreeMap<usize, u64> = match row.source {
            End::At(source) => {
                [(model.places[source as usize].node, model.pairs(row))].into_iter().collect()
            }
            End::Of(..) => model.expand(row.source, row.target).fold(
                BTreeMap::new(),
                |mut nodes, (source, _)| {
                    *nodes.entry(model.places[source as usize].node).or_default() += 1;
                    nodes
                },
            ),
        };
        for bin in model.bins_of(row.clock, row.bins) {
            for (node, times) in &sources {
                let amount = Amount { count: bin.count, bytes: bin.amount };
                sums.entry((bin.bin, *node, kind)).or_default().add(amount.times(*times));
            }
        }
    }
    let width = model.timeline.width as f64 / 1e9;
    for ((bin, node, kind), amount) in sums {
        sink.row(&[
            u64::from(bin).into(),
            Value::Real(width * f64::from(bin)),
            Value::Real(width),
            model.nodes[node].name.as_str().into(),
            profile.kinds[kind].name().into(),
            amount.count.into(),
            amount.bytes.into(),
        ])?;
    }
    Ok(())
}

fn extents(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    for number in 0..model.objects.len() {
        let mut touched: BTreeMap<(u32, usize, u32, Direction), Vec<Extent>> = BTreeMap::new();
        for row in profile.index.accesses.get(number) {
            let row = &model.rows[*row as usize];
            let ends = [(row.object, false, row.extents), (row.other, true, row.other_extents)];
            for (instance, is_other, list) in ends {
                let instance = instance.filter(|i| model.object_of(*i) as usize == number);
                let Some(instance) = instance else { continue };
                let writes = is_other || row.side == Side::Target;
                let direction = if writes { Direction::Write } else { Direction::Read };
                let key = (instance, profile.kind(row.kind), row.site, direction);
                touched.entry(key).or_default().extend(model.packed.extents(list));
            }
        }
        for ((instance, kind, at, direction), extents) in touched {
            let [call, _, file, line] = site(model, at);
            for extent in join(&extents, usize::MAX) {
                sink.row(&[
                    (number as u64).into(),
                    model.objects[number].name.as_str().into(),
                    place(model, model.instances[instance as usize].place),
                    profile.kinds[kind].name().into(),
                    call,
                    file,
                    line,
                    if direction == Direction::Read { "read" } else { "write" }.into(),
                    extent.start.into(),
                    extent.bytes.into(),
                    extent.count.into(),
                ])?;
            }
        }
    }
    Ok(())
}

fn places(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let ranks: BTreeMap<u32, _> = model.ranks.iter().map(|rank| (rank.place, rank)).collect();
    for place in &model.places {
        let rank = ranks.get(&(place.id as u32));
        sink.row(&[
            (place.id as u64).into(),
            place.name.as_str().into(),
            match place.kind {
                PlaceKind::Rank => "rank",
                PlaceKind::Device => "device",
                PlaceKind::File => "file",
                PlaceKind::Unknown => "unknown",
            }
            .into(),
            model.nodes[place.node].name.as_str().into(),
            rank.map(|of| u64::from(of.rank.rank)).into(),
            rank.map(|of| u64::from(of.present)).into(),
            rank.map(|of| u64::from(of.rank.job) + 1).into(),
        ])?;
    }
    Ok(())
}

fn place(model: &Model, place: u32) -> Value<'_> {
    model.places[place as usize].name.as_str().into()
}

/// The frame that identifies a call path: the innermost that has a line, or else the innermost.
fn caller(stack: &[Frame]) -> Option<&Frame> {
    stack.iter().find(|frame| frame.file.is_some() && frame.line.is_some()).or(stack.first())
}

/// Call, function, file and line of a site.
fn site(model: &Model, site: u32) -> [Value<'_>; 4] {
    let caller = caller(&model.stacks[model.sites[site as usize].stack as usize]);
    [
        model.call_of_site(site).into(),
        caller.map(|frame| frame.function.as_str()).into(),
        caller.and_then(|frame| frame.file).map(|file| model.files[file].as_str()).into(),
        caller.and_then(|frame| frame.line).map(u64::from).into(),
    ]
}

/// A call path in one line.
fn stack(model: &Model, stack: u32) -> String {
    let frame = |frame: &Frame| match (frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{} ({}:{line})", frame.function, model.files[file]),
        _ => frame.function.clone(),
    };
    let frames: Vec<String> = model.stacks[stack as usize].iter().map(frame).collect();
    frames.join(" < ")
}
