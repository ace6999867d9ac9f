//! `/api/place/ID`: what one place moves to and from others.

use super::sums::known;
use crate::Profile;
use crate::api::{Amount, Direction, Error, Peer, PlaceCall, PlaceDetail, PlaceLine, PlaceObject};
use crate::model::{End, Row};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::hash::Hash;

/// Entries of each list.
const MAX_ROWS: usize = 500;

/// Amounts by something.
struct Shares<K>(IndexMap<K, Amount, FxBuildHasher>);

impl<K: Hash + Eq> Shares<K> {
    fn new() -> Shares<K> {
        Shares(IndexMap::default())
    }

    fn add(&mut self, key: K, amount: Amount) {
        self.0.entry(key).or_default().add(amount);
    }

    /// How many there are beyond those that are listed.
    fn more(&self) -> usize {
        self.0.len().saturating_sub(MAX_ROWS)
    }

    /// Largest first.
    fn largest<T>(self, entry: impl Fn(K, Amount) -> T) -> Vec<T> {
        let mut shares: Vec<(K, Amount)> = self.0.into_iter().collect();
        shares.sort_by_key(|(_, amount)| (Reverse(amount.bytes), Reverse(amount.count)));
        shares.truncate(MAX_ROWS);
        shares.into_iter().map(|(key, amount)| entry(key, amount)).collect()
    }
}

impl Profile {
    /// What a place moves to and from others.
    ///
    /// # Errors
    /// When there is no such place.
    pub fn place(&self, id: usize) -> Result<PlaceDetail, Error> {
        known("place", id, self.model.places.len())?;
        let model = &self.model;
        let place = id as u32;
        let (mut objects, mut calls) = (Shares::new(), Shares::new());
        let (mut lines, mut peers) = (Shares::new(), Shares::new());
        for row in self.rows_at(place) {
            let kind = self.kind(row.kind);
            let shares = self.shares(row, place, |peer, direction| {
                peers.add((peer, direction, kind), row.amount());
            });
            for (direction, number) in shares.into_iter().filter(|(_, number)| *number > 0) {
                let amount = row.amount().times(number);
                if let Some((object, access)) = self.object_elsewhere(row, direction) {
                    objects.add((object, kind, access), amount);
                }
                let call = model.sites[row.site as usize].call;
                calls.add(call, amount);
                if let Some(line) = self.line_here(row, direction) {
                    lines.add((line, call), amount);
                }
            }
        }
        let mut times = self.times_of_place(place);
        let more_times = times.len().saturating_sub(MAX_ROWS);
        times.truncate(MAX_ROWS);
        Ok(PlaceDetail {
            more: [objects.more(), calls.more(), lines.more(), peers.more(), more_times],
            times,
            objects: objects.largest(|(object, kind, direction), amount| PlaceObject {
                object: object as usize,
                kind,
                direction,
                count: amount.count,
                bytes: amount.bytes,
            }),
            instructions: calls.largest(|call, amount| PlaceCall {
                call: model.strings[call as usize].clone(),
                count: amount.count,
                bytes: amount.bytes,
            }),
            lines: lines.largest(|(line, call), amount| PlaceLine {
                file: model.lines[line as usize].file as usize,
                line: model.lines[line as usize].line,
                call: model.strings[call as usize].clone(),
                count: amount.count,
                bytes: amount.bytes,
            }),
            peers: peers.largest(|(peer, direction, kind), amount| Peer {
                place: peer as usize,
                direction,
                kind,
                count: amount.count,
                bytes: amount.bytes,
            }),
        })
    }

    /// Rows that count, which a place may take part in.
    pub(crate) fn rows_at(&self, place: u32) -> Vec<&Row> {
        let at = self.index.at_place.get(place as usize).iter();
        let groups = self.index.groups_of_place.get(place as usize).iter();
        let of_groups = groups.flat_map(|group| self.index.of_group.get(*group as usize));
        let mut rows: Vec<u32> = at.chain(of_groups).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().map(|row| &self.model.rows[row as usize]).collect()
    }

    /// How often a row's amount goes to a place, and from there; passes on each pair's other end.
    fn shares(
        &self,
        row: &Row,
        place: u32,
        mut peer: impl FnMut(u32, Direction),
    ) -> [(Direction, u64); 2] {
        let (mut read, mut written) = (0, 0);
        let mut pair = |source: u32, target: u32| {
            if target == place {
                read += 1;
                peer(source, Direction::Read);
            }
            if source == place {
                written += 1;
                peer(target, Direction::Write);
            }
        };
        match (row.source, row.target) {
            // Of what others send to a group, one part comes here.
            (End::At(other), End::Of(pattern, group)) if other != place => {
                let times = self.model.groups[group as usize].times(pattern, other, place);
                (0..times).for_each(|_| pair(other, place));
            }
            (End::Of(pattern, group), End::At(other)) if other != place => {
                let times = self.model.groups[group as usize].times(pattern, other, place);
                (0..times).for_each(|_| pair(place, other));
            }
            (source, target) => self.model.expand(source, target).for_each(|(s, t)| pair(s, t)),
        }
        [(Direction::Read, read), (Direction::Write, written)]
    }

    /// The object at the other end; where that is not known, the one here; and what happens to it.
    fn object_elsewhere(&self, row: &Row, direction: Direction) -> Option<(u32, Direction)> {
        let read = self.model.source_object(row).map(|object| (object, Direction::Read));
        let written = row.target_object.map(|object| (object, Direction::Write));
        match direction {
            Direction::Read => read.or(written),
            Direction::Write => written.or(read),
        }
    }

    /// The line of this end; where there is none, that of the other.
    fn line_here(&self, row: &Row, direction: Direction) -> Option<u32> {
        let own = self.model.line_of_site(row.site);
        let target = row.target_site.and_then(|site| self.model.line_of_site(site));
        match direction {
            Direction::Read => target.or(own),
            Direction::Write => own.or(target),
        }
    }
}
