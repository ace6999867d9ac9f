//! Rows by what they are about.

use crate::api::Amount;
use crate::model::{End, Model, Row};
use commsan_rundir::traffic::Side;

/// Lists by number, each once, as one array.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Groups (number, item) by number; what is equal and next to each other is taken once.
    fn of(length: usize, mut pairs: Vec<(u32, u32)>) -> Lists {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0_u32; length + 1];
        for (number, _) in &pairs {
            starts[*number as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        Lists { starts, items: pairs.into_iter().map(|(_, item)| item).collect() }
    }

    /// The list of a number.
    pub fn get(&self, number: usize) -> &[u32] {
        let (Some(start), Some(end)) = (self.starts.get(number), self.starts.get(number + 1))
        else {
            return &[];
        };
        &self.items[*start as usize..*end as usize]
    }
}

/// Which rows to look at.
#[derive(Debug, Default)]
pub struct Index {
    /// Transfers that an object takes part in, each once.
    pub of_object: Lists,
    /// Rows that have seen an object themselves: what is known of its bytes.
    pub accesses: Lists,
    /// Transfers that a line takes part in, each once.
    pub of_line: Lists,
    /// Rows with a place at one end.
    pub at_place: Lists,
    /// Rows with a pattern of a group.
    pub of_group: Lists,
    /// Groups that a place belongs to, among those that are patterns.
    pub groups_of_place: Lists,
    /// Lines of a file.
    pub lines_of_file: Lists,
}

impl Index {
    /// The index of a run.
    pub fn of(model: &Model) -> Index {
        let rows = || model.rows.iter().zip(0_u32..);
        let pairs = |keys: &dyn Fn(&Row) -> [Option<u32>; 2]| {
            let pairs = rows().flat_map(|(row, number)| {
                keys(row).into_iter().flatten().map(move |key| (key, number))
            });
            pairs.collect::<Vec<_>>()
        };
        let counted =
            |row: &Row, ends: [Option<u32>; 2]| if row.counted { ends } else { [None; 2] };
        let place = |row: &Row| counted(row, [row.source.place(), row.target.place()]);
        let group = |end: End| match end {
            End::Of(_, group) => Some(group),
            End::At(_) => None,
        };
        let group = |row: &Row| counted(row, [group(row.source), group(row.target)]);
        let of_group = Lists::of(model.groups.len(), pairs(&group));
        let members = (0..model.groups.len()).filter(|group| !of_group.get(*group).is_empty());
        let members = members.flat_map(|group| {
            model.groups[group].places().iter().map(move |place| (*place, group as u32))
        });
        let seen = |row: &Row| {
            [row.object, row.other].map(|instance| instance.map(|i| model.object_of(i)))
        };
        let lines = model.lines.iter().zip(0..).map(|(line, number)| (line.file, number));
        Index {
            of_object: Lists::of(model.objects.len(), pairs(&|row| objects(model, row))),
            accesses: Lists::of(model.objects.len(), pairs(&seen)),
            of_line: Lists::of(model.lines.len(), pairs(&|row| lines_of(model, row))),
            at_place: Lists::of(model.places.len(), pairs(&place)),
            groups_of_place: Lists::of(model.places.len(), members.collect()),
            of_group,
            lines_of_file: Lists::of(model.files.len(), lines.collect()),
        }
    }
}

/// The objects that a row counts for: of a row that only a target has recorded, those that no other
/// row names.
pub fn objects(model: &Model, row: &Row) -> [Option<u32>; 2] {
    if row.counted {
        [model.source_object(row), row.target_object]
    } else {
        let own = row.object.filter(|_| row.side == Side::Target && !row.told_object);
        [own.map(|instance| model.object_of(instance)), None]
    }
}

/// The lines that a row counts for.
pub fn lines_of(model: &Model, row: &Row) -> [Option<u32>; 2] {
    let own = model.line_of_site(row.site);
    if row.counted {
        [own, row.target_site.and_then(|site| model.line_of_site(site))]
    } else {
        [own.filter(|_| !row.told_line), None]
    }
}

/// What each of `length` things takes part in.
pub fn traffic(
    model: &Model,
    length: usize,
    of: impl Fn(&Model, &Row) -> [Option<u32>; 2],
) -> Vec<Amount> {
    let mut amounts = vec![Amount::ZERO; length];
    for row in &model.rows {
        let ([first, second], total) = (of(model, row), model.total(row));
        for number in first.into_iter().chain(second.filter(|_| second != first)) {
            amounts[number as usize].add(total);
        }
    }
    amounts
}
