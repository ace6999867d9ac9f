//! Which job has spawned which: ranks know others by an intercommunicator alone, of which each end tells half.

use crate::merge::{Merged, Rank};
use rustc_hash::FxHashMap;

/// Both ends of links, by the number of either.
pub struct Spawned<'m> {
    merged: &'m Merged,
    other_end: FxHashMap<u32, u32>,
}

impl<'m> Spawned<'m> {
    /// Those that are certain: a job of so many ranks, spawned by so many, began while only one call was made that
    /// spawned as many by as many, or there was only one such call.
    pub fn of(merged: &'m Merged) -> Spawned<'m> {
        let links = || merged.links.iter().zip(0..);
        let mut calls_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (child, number) in links().filter(|(link, _)| link.to_parent) {
            let alike = links().filter(|(call, _)| {
                let ends = (call.others as usize, call.own.len());
                !call.to_parent && ends == (child.own.len(), child.others as usize)
            });
            let mut alike: Vec<u32> = alike.map(|(_, call)| call).collect();
            if alike.len() > 1 {
                let of_job = merged.ranks.iter().filter(|(rank, _)| rank.job == child.job);
                let began = of_job.map(|(_, present)| present.span.0).min().unwrap_or(0);
                alike.retain(|call| {
                    merged.spans.get(call).is_some_and(|span| (span.0..=span.1).contains(&began))
                });
            }
            if let [call] = *alike {
                calls_of.entry(call).or_default().push(number);
            }
        }
        let mut other_end = FxHashMap::default();
        for (call, children) in calls_of {
            if let [child] = *children {
                other_end.extend([(call, child), (child, call)]);
            }
        }
        Spawned { merged, other_end }
    }

    /// A rank at the other end of a link.
    pub fn rank(&self, link: u32, rank: u32) -> Option<Rank> {
        let end = &self.merged.links[*self.other_end.get(&link)? as usize];
        Some(Rank { job: end.job, rank: *end.own.get(rank as usize)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_trace::traffic::{Link, Snapshot};

    /// A job that was spawned, or has spawned others, at these times.
    fn job(name: &str, began: u64, size: u32, links: &[(bool, u32, (u64, u64))]) -> Snapshot {
        let link = |(to_parent, others, span): &(bool, u32, (u64, u64))| Link {
            to_parent: *to_parent,
            own: (0..size).collect(),
            others: *others,
            span: *span,
        };
        let links = links.iter().map(link).collect();
        Snapshot { job: name.to_owned(), size, began, until: 100, links, ..Snapshot::default() }
    }

    fn merged(jobs: &[Snapshot]) -> Merged {
        let mut merged = Merged::default();
        jobs.iter().for_each(|job| merged.add(job).unwrap());
        merged
    }

    #[test]
    fn ends_belong_together_by_size_and_else_by_time() {
        let child = |name, began, size| job(name, began, size, &[(true, 2, (began, began))]);
        let spawn = |others, from| (false, others, (from, from + 10));
        // Two of three ranks, of which order tells nothing, and one of four.
        let parent = job("a", 0, 2, &[spawn(3, 10), spawn(4, 30), spawn(3, 50)]);
        let all = merged(&[parent, child("b", 55, 3), child("c", 12, 3), child("d", 99, 4)]);
        let spawned = Spawned::of(&all);
        let ends = [(0, 2), (1, 3), (2, 1)];
        for (link, job) in ends {
            assert_eq!(spawned.rank(link, 2), Some(Rank { job, rank: 2 }));
        }
        // From the other side, where links follow those of the parent.
        assert_eq!(spawned.rank(3, 1), Some(Rank { job: 0, rank: 1 }));
        assert_eq!(spawned.rank(3, 2), None);
    }

    #[test]
    fn what_might_be_either_is_neither() {
        let spawn = |from| (false, 3, (from, from + 10));
        let child = |name, began| job(name, began, 3, &[(true, 2, (began, began))]);
        let parent = job("a", 0, 2, &[spawn(10), spawn(15)]);
        let all = merged(&[parent, child("b", 16), child("c", 17)]);
        let spawned = Spawned::of(&all);
        assert!((0..4).all(|link| spawned.rank(link, 0).is_none()));
        // One call, two jobs: somebody has spawned one of them without being followed.
        let all = merged(&[job("a", 0, 2, &[spawn(10)]), child("b", 16), child("c", 17)]);
        assert!(Spawned::of(&all).rank(0, 0).is_none());
    }
}
