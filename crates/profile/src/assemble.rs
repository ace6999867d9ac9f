//! From what was merged to a model: everything gets its name and its number.

use crate::events::{Log, What};
use crate::group::Group;
use crate::index;
use crate::merge::{Merged, Rank, Table};
use crate::model::{CallRow, Clock, End, Model, Object, Pattern, RankOf, Row, Site};
use crate::objects::Objects;
use crate::owners;
use crate::packed::List;
use crate::pair::pair;
use crate::places::Places;
use crate::sources::Sources;
use crate::stacks::Stacks;
use crate::{Progress, Stage, api};
use commsan_rundir::traffic::{Extent, Side};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Names, numbers and pairs. Files have numbers if they occur in call paths, or are `more_files`.
pub fn assemble(
    mut merged: Merged,
    sources: &Sources,
    more_files: &BTreeSet<String>,
    progress: &mut dyn FnMut(Progress),
) -> Model {
    progress(Progress { stage: Stage::Naming, done: 0, of: 1 });
    let places = Places::of(&merged);
    let stacks = Stacks::of(&merged, more_files);
    let objects = Objects::of(&merged, &places, &stacks, sources);
    progress(Progress { stage: Stage::Pairing, done: 0, of: 1 });
    let (timeline, bins) = timeline(&merged);
    let numbers = Numbers::of(&merged, &places, &stacks);
    let spans = || merged.ranks.values().map(|present| present.span);
    let first = spans().map(|span| span.0).min().unwrap_or(0);
    let last = spans().map(|span| span.1).max().unwrap_or(0);
    let mut model = Model {
        ranks: ranks(&merged, &places),
        regions: merged.regions.iter().cloned().collect(),
        sites: numbers.sites,
        groups: numbers.groups,
        complete: merged.ranks.len() as u64
            == merged.jobs.values().map(|job| u64::from(job.size)).sum::<u64>()
            && merged.ranks.values().all(|present| present.complete),
        only: only(&merged),
        notes: notes(&merged, &stacks, &objects.objects),
        clocks: merged.clocks.iter().copied().collect(),
        timeline,
        bins,
        span: (first, last),
        ..Model::default()
    };
    let renumber = Renumber {
        places: &places.of_raw,
        groups: &numbers.of_group,
        sites: &numbers.of_site,
        objects: &objects.of_raw,
    };
    renumber.log(&mut merged.log, &model.ranks);
    place_in_variables(&mut merged, &objects.offsets);
    merged.rows.iter_mut().for_each(|row| renumber.row(row, &objects));
    merged.calls.iter_mut().for_each(|calls| renumber.calls(calls));
    (model.places, model.nodes) = (places.places, places.nodes);
    (model.stacks, model.files, model.lines) = (stacks.stacks, stacks.files, stacks.lines);
    model.line_of_stack = stacks.line_of;
    (model.objects, model.instances) = (objects.objects, objects.instances);
    (model.rows, model.calls, model.packed) = (merged.rows, merged.calls, merged.packed);
    model.log = merged.log;
    model.strings = merged.strings.into_iter().collect();
    stand_in(&mut model, &places.absent);
    let far = pair(&mut model);
    owners::settle(&mut model, &far);
    single_out(&mut model, &merged.only);
    sort_objects(&mut model);
    model
}

/// Tells bytes of variables from where these begin, not from the address that was used.
fn place_in_variables(merged: &mut Merged, offsets: &[u64]) {
    let Merged { rows, packed, .. } = merged;
    let mut moved = |object: Option<u32>, list: &mut List| {
        let offset = object.map_or(0, |object| offsets[object as usize]);
        if offset > 0 {
            let from_start = |e: Extent| Extent { start: e.start.saturating_add(offset), ..e };
            let extents: Vec<Extent> = packed.extents(*list).map(from_start).collect();
            *list = packed.add_extents(&extents);
        }
    };
    for row in rows {
        moved(row.object, &mut row.extents);
        moved(row.other, &mut row.other_extents);
    }
}

struct Numbers {
    sites: Vec<Site>,
    of_site: Vec<u32>,
    groups: Vec<Group>,
    of_group: Vec<u32>,
}

impl Numbers {
    fn of(merged: &Merged, places: &Places, stacks: &Stacks) -> Numbers {
        let mut sites = crate::merge::Table::default();
        let site = |site: &Site| Site { stack: stacks.of_raw[site.stack as usize], ..*site };
        let of_site =
            (merged.sites.iter()).map(|raw| sites.insert_full(site(raw)).0 as u32).collect();
        let mut groups: crate::merge::Table<Vec<u32>> = crate::merge::Table::default();
        let place = |raw: &u32| places.of_raw[*raw as usize];
        let group = |raw: &Vec<u32>| raw.iter().map(place).collect::<Vec<_>>();
        let of_group =
            (merged.groups.iter()).map(|raw| groups.insert_full(group(raw)).0 as u32).collect();
        Numbers {
            sites: sites.into_iter().collect(),
            of_site,
            groups: groups.into_iter().map(Group::new).collect(),
            of_group,
        }
    }
}

/// New numbers by old ones.
struct Renumber<'n> {
    places: &'n [u32],
    groups: &'n [u32],
    sites: &'n [u32],
    objects: &'n [u32],
}

impl Renumber<'_> {
    fn end(&self, end: &mut End) {
        match end {
            End::At(place) => *place = self.places[*place as usize],
            End::Of(_, group) => *group = self.groups[*group as usize],
        }
    }

    fn row(&self, row: &mut Row, objects: &Objects) {
        self.end(&mut row.source);
        self.end(&mut row.target);
        row.site = self.sites[row.site as usize];
        row.group = row.group.map(|group| self.groups[group as usize]);
        row.object = row.object.map(|object| self.objects[object as usize]);
        row.other = row.other.map(|object| self.objects[object as usize]);
        row.target_object = row.other.map(|other| objects.instances[other as usize].object);
    }

    fn log(&self, log: &mut Log, ranks: &[RankOf]) {
        for of in &mut log.ranks {
            let at = ranks.binary_search_by_key(&of.rank, |known| known.rank);
            of.place = at.map_or(0, |at| ranks[at].place);
            for shape in &mut of.shapes {
                if let What::Call(site) = &mut shape.what {
                    *site = self.sites[*site as usize];
                }
            }
        }
        log.ranks.sort_by_key(|of| of.rank);
        log.groups = log.communicators.iter().map(|of| self.groups[of.group as usize]).collect();
    }

    fn calls(&self, calls: &mut CallRow) {
        calls.place = self.places[calls.place as usize];
        calls.peer = calls.peer.map(|peer| self.places[peer as usize]);
        calls.group = calls.group.map(|group| self.groups[group as usize]);
        calls.site = self.sites[calls.site as usize];
    }
}

fn ranks(merged: &Merged, places: &Places) -> Vec<RankOf> {
    let rank = |(rank, place): &(Rank, u32)| {
        let present = merged.ranks.get(rank);
        let (began, until) = present.map_or((0, 0), |present| present.span);
        let present = present.is_some();
        RankOf { rank: *rank, place: *place, present, began, time: until - began }
    };
    places.ranks.iter().map(rank).collect()
}

/// What answers divide time into: as fine as the coarsest rank, but not too fine to be shown. It
/// begins with the bin that the first rank begins in; before that, the job was being launched.
fn timeline(merged: &Merged) -> (Clock, u32) {
    let clocks =
        || merged.clocks.iter().zip(&merged.last_bins).filter(|(clock, _)| clock.width > 0);
    let Some(epoch) = clocks().map(|(clock, _)| clock.epoch).min() else {
        return Default::default();
    };
    let began = merged.ranks.values().map(|present| present.span.0).min().unwrap_or(0);
    let mut width = clocks().map(|(clock, _)| clock.width).max().unwrap_or(1);
    let last = clocks().map(|(clock, last)| clock.start(*last) - epoch).max().unwrap_or(0);
    let before = |width: u64| (began.saturating_sub(epoch) / width).min(last / width);
    while last / width - before(width) >= u64::from(api::MAX_BINS) {
        width = width.saturating_mul(2);
    }
    let (before, bins) = (before(width), last / width - before(width) + 1);
    (Clock { epoch: epoch.saturating_add(before.saturating_mul(width)), width }, bins as u32)
}

/// Where ranks have left no file, what others have received from them counts.
fn stand_in(model: &mut Model, absent: &[bool]) {
    if !absent.iter().any(|absent| *absent) {
        return;
    }
    // Of all others, the same for every member; of those above and below, each member's own.
    let mut others: FxHashMap<u32, Option<Split>> = FxHashMap::default();
    let mut more = vec![];
    for row in model.rows.iter_mut().filter(|row| row.side == Side::Target) {
        match (row.source, row.target) {
            (End::At(place), _) => row.counted = absent[place as usize],
            (End::Of(pattern, group), End::At(own)) => {
                let groups = &mut model.groups;
                let parts = match pattern {
                    Pattern::Others => *others
                        .entry(group)
                        .or_insert_with(|| Split::of(groups, absent, (pattern, group), own)),
                    _ => Split::of(groups, absent, (pattern, group), own),
                };
                if let Some(Split { present, missing }) = parts {
                    row.group = row.group.or(Some(group));
                    row.source = End::Of(Pattern::Others, present);
                    let source = End::Of(Pattern::Others, missing);
                    more.push(Row { source, counted: true, ..*row });
                }
            }
            (End::Of(..), End::Of(..)) => {}
        }
    }
    model.rows.append(&mut more);
    for row in model.rows.iter_mut().filter(|row| row.counted && row.side == Side::Target) {
        row.target_site = Some(row.site);
        row.target_object = row.object.map(|i| model.instances[i as usize].object);
    }
}

/// Groups of those members that have left a file, and of those that have not.
#[derive(Clone, Copy)]
struct Split {
    present: u32,
    missing: u32,
}

impl Split {
    fn of(
        groups: &mut Vec<Group>,
        absent: &[bool],
        (pattern, group): (Pattern, u32),
        own: u32,
    ) -> Option<Split> {
        let of = &groups[group as usize];
        let (missing, present): (Vec<u32>, Vec<u32>) = match pattern {
            // Equal for every member: readers of it leave out `own`.
            Pattern::Others => of.places().iter().partition(|place| absent[**place as usize]),
            _ => of.members(pattern, own).partition(|place| absent[*place as usize]),
        };
        if missing.is_empty() {
            return None;
        }
        let number = groups.len() as u32;
        groups.extend([Group::new(present), Group::new(missing)]);
        Some(Split { present: number, missing: number + 1 })
    }
}

/// Leaves out what moves nothing from or to objects of these names, if there are any.
fn single_out(model: &mut Model, names: &Table<String>) {
    if names.is_empty() {
        return;
    }
    let Model { rows, objects, instances, .. } = model;
    let is_wanted = |object: u32| names.contains(&objects[object as usize].name);
    rows.retain(|row| {
        let own = row.object.map(|instance| instances[instance as usize].object);
        own.into_iter().chain(row.target_object).any(is_wanted)
    });
}

/// Objects with most traffic come first.
fn sort_objects(model: &mut Model) {
    let traffic = index::traffic(model, model.objects.len(), index::objects);
    let mut order: Vec<u32> = (0..model.objects.len() as u32).collect();
    order.sort_by_key(|object| {
        let amount = traffic[*object as usize];
        (Reverse(amount.bytes), Reverse(amount.count), *object)
    });
    let mut of = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(old, new)| of[*old as usize] = new);
    model.objects = order.iter().map(|old| model.objects[*old as usize].clone()).collect();
    model.instances.iter_mut().for_each(|i| i.object = of[i.object as usize]);
    for row in &mut model.rows {
        row.target_object = row.target_object.map(|object| of[object as usize]);
    }
}

/// What alone was asked for, in words.
fn only(merged: &Merged) -> Vec<String> {
    let Merged { only, only_regions, only_kernels, .. } = merged;
    let all = [("objects", only), ("regions", only_regions), ("kernels", only_kernels)];
    let named = |names: &Table<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let chosen = all.into_iter().filter(|(_, names)| !names.is_empty());
    chosen.map(|(what, names)| format!("{what} {}", named(names))).collect()
}

fn notes(merged: &Merged, stacks: &Stacks, objects: &[Object]) -> Vec<String> {
    let mut notes = vec![];
    for (job, of) in (0..).zip(merged.jobs.values()) {
        let named = |ranks: &[u32]| {
            let mut text = commsan_report::ranks::named(ranks);
            if job > 0 {
                text.push_str(&format!(" of job {}", job + 1));
            }
            text
        };
        let absent = (0..of.size).filter(|rank| {
            let rank = Rank { job, rank: *rank };
            !merged.ranks.contains_key(&rank)
        });
        let absent: Vec<u32> = absent.take(1 << 20).collect();
        if !absent.is_empty() {
            notes.push(format!(
                "{} left no traffic file: what others received from there counts, the rest is missing",
                named(&absent)
            ));
        }
        let cut = merged.ranks.iter().filter(|(rank, of)| rank.job == job && !of.complete);
        let mut cut: Vec<u32> = cut.map(|(rank, _)| rank.rank).collect();
        cut.sort_unstable();
        if !cut.is_empty() {
            notes.push(format!(
                "{} did not end in order: the last that they did may be missing",
                named(&cut)
            ));
        }
    }
    if merged.meaningless > 0 {
        let number = merged.meaningless;
        notes.push(format!(
            "{number} entries are of this format, but mean nothing, and were left out"
        ));
    }
    let is_known = |name: &&String| objects.iter().any(|object| object.name == **name);
    notes.extend(merged.only.iter().filter(|name| !is_known(name)).map(|name| {
        format!(
            "no object is called `{name}`: a profile without `--only` tells what they are called"
        )
    }));
    if merged.sample > 1 {
        notes.push(format!(
            "which bytes of objects were moved is of one transfer in {}",
            merged.sample
        ));
    }
    notes.extend(merged.notes.iter().map(|(note, (rank, ranks))| match ranks {
        1 => format!("{rank}: {note}"),
        _ => format!("{rank} and {} more: {note}", ranks - 1),
    }));
    notes.extend(stacks.advice.iter().cloned());
    notes
}
