//! `/api/selection`: totals of part of the time, or of a region.

use super::Sums;
use crate::Profile;
use crate::api::{Error, Filter, Selection, Total};
use crate::index::objects;

/// Objects that are listed: those with most traffic.
const MAX_OBJECTS: usize = 100;

impl Profile {
    /// Totals of what a filter lets through.
    ///
    /// # Errors
    /// When the question names what is not there.
    pub fn selection(&self, filter: &Filter) -> Result<Selection, Error> {
        let model = &self.model;
        let mut totals = Sums::default();
        for row in self.rows_of(filter)? {
            totals.add(self.kind(row.kind), self.amount_in(row, filter).times(model.pairs(row)));
        }
        let mut by_object = vec![Sums::default(); model.objects.len()];
        let is_of = |region: Option<u32>| filter.region.is_none_or(|of| region == Some(of as u32));
        for row in model.rows.iter().filter(|row| is_of(row.region)) {
            let amount = self.amount_in(row, filter).times(model.pairs(row));
            let [first, second] = objects(model, row);
            for object in first.into_iter().chain(second.filter(|_| first != second)) {
                by_object[object as usize].add(self.kind(row.kind), amount);
            }
        }
        let mut objects: Vec<_> = by_object.iter().enumerate().collect();
        objects.retain(|(_, sums)| sums.total().count > 0);
        objects.sort_by_key(|(id, sums)| (std::cmp::Reverse(sums.total().bytes), *id));
        let totals = totals.by_kind().into_iter();
        Ok(Selection {
            totals: totals.map(|(kind, count, bytes)| Total { kind, count, bytes }).collect(),
            objects: (objects.into_iter().take(MAX_OBJECTS))
                .map(|(id, sums)| (id, sums.by_kind()))
                .collect(),
            calls: self.communication(filter),
        })
    }
}
