//! Amounts by kind.

use crate::Profile;
use crate::api::{Amount, Error, Filter, OfKind};
use crate::model::{Model, Row, SourceLine};

/// Amounts by position in [`Profile::kinds`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums(Vec<Amount>);

impl Sums {
    /// Adds to a kind.
    pub fn add(&mut self, kind: usize, amount: Amount) {
        if self.0.len() <= kind {
            self.0.resize(kind + 1, Amount::ZERO);
        }
        self.0[kind].add(amount);
    }

    /// Of all kinds.
    pub fn total(&self) -> Amount {
        let mut total = Amount::ZERO;
        self.0.iter().for_each(|amount| total.add(*amount));
        total
    }

    /// Kinds that occur.
    pub fn by_kind(&self) -> Vec<OfKind> {
        let kinds = self.0.iter().enumerate().filter(|(_, amount)| **amount != Amount::ZERO);
        kinds.map(|(kind, amount)| (kind, amount.count, amount.bytes)).collect()
    }
}

impl Profile {
    /// The rows that a filter lets through, apart from its times.
    pub(crate) fn rows_of(&self, filter: &Filter) -> Result<Vec<&Row>, Error> {
        self.check(filter)?;
        let model = &self.model;
        let lines = filter.file.map(|file| self.lines_of(file, filter.line));
        let all = |list: &[u32]| list.iter().map(|row| &model.rows[*row as usize]).collect();
        let mut rows: Vec<&Row> = match (filter.object, &lines) {
            (Some(object), _) => all(self.index.of_object.get(object)),
            (None, Some(lines)) => {
                let of = lines.iter().flat_map(|line| self.index.of_line.get(*line as usize));
                let mut of: Vec<u32> = of.copied().collect();
                of.sort_unstable();
                of.dedup();
                all(&of)
            }
            (None, None) => model.rows.iter().filter(|row| row.counted).collect(),
        };
        if let (Some(_), Some(lines)) = (filter.object, &lines) {
            let is_of = |row: &Row| {
                let own = Some(row.site).into_iter().chain(row.target_site);
                own.filter_map(|site| model.line_of_site(site)).any(|line| lines.contains(&line))
            };
            rows.retain(|row| is_of(row));
        }
        if let Some(region) = filter.region {
            rows.retain(|row| row.region == Some(region as u32));
        }
        Ok(rows)
    }

    /// What of a row lies in the filter's times, for each pair of places.
    pub(crate) fn amount_in(&self, row: &Row, filter: &Filter) -> Amount {
        if filter.t0.is_none() && filter.t1.is_none() {
            return row.amount();
        }
        let times = filter.t0.unwrap_or(0)..=filter.t1.unwrap_or(u32::MAX);
        let mut amount = Amount::ZERO;
        for bin in self.model.bins_of(row.clock, row.bins).filter(|bin| times.contains(&bin.bin)) {
            amount.add(Amount { count: bin.count, bytes: bin.amount });
        }
        amount
    }

    /// Numbers of the lines with traffic of a file, or of one of them.
    pub(crate) fn lines_of(&self, file: usize, line: Option<u32>) -> Vec<u32> {
        let lines = self.index.lines_of_file.get(file).iter().copied();
        let is_it = |number: &u32| {
            let SourceLine { line: at, .. } = self.model.lines[*number as usize];
            line.is_none_or(|line| line == at)
        };
        lines.filter(is_it).collect()
    }

    fn check(&self, filter: &Filter) -> Result<(), Error> {
        if filter.line.is_some() && filter.file.is_none() {
            return Err(Error::Bad("a line needs its file: add `file=ID`".to_owned()));
        }
        let Model { objects, files, regions, .. } = &self.model;
        for (what, id, length) in [
            ("object", filter.object, objects.len()),
            ("file", filter.file, files.len()),
            ("region", filter.region, regions.len()),
        ] {
            if let Some(id) = id {
                known(what, id, length)?;
            }
        }
        Ok(())
    }
}

/// Whether there is a thing number `id`.
pub fn known(what: &str, id: usize, length: usize) -> Result<(), Error> {
    if id < length {
        return Ok(());
    }
    Err(Error::NotFound(match length {
        0 => format!("there is no {what} {id}: this run has none"),
        _ => format!("there is no {what} {id}: this run has 0 to {}", length - 1),
    }))
}
