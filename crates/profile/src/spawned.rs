//! Which job has spawned which, or connected to its port: ranks know others by an intercommunicator
//! alone, of which each end records half.

use crate::merge::{Link, Merged, Rank};
use commsan_rundir::traffic::Tie;
use rustc_hash::FxHashMap;

/// Both ends of links, by the number of either.
pub struct Spawned<'m> {
    merged: &'m Merged,
    other_end: FxHashMap<u32, u32>,
}

impl<'m> Spawned<'m> {
    /// Those that are certain: a job of so many ranks, spawned by so many, began while only one
    /// call was made that spawned as many by as many, or there was only one such call. The same
    /// holds for one that has connected to a port, while only one call that accepted it was made.
    pub fn of(merged: &'m Merged) -> Spawned<'m> {
        let links = || merged.links.iter().zip(0..);
        let mut calls_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (guest, number) in links().filter(|(link, _)| is_guest(link)) {
            let alike = links().filter(|(host, _)| {
                let ends = (host.others as usize, host.own.len());
                host.tie == guest.tie.reverse() && ends == (guest.own.len(), guest.others as usize)
            });
            let mut alike: Vec<u32> = alike.map(|(_, call)| call).collect();
            if alike.len() > 1 {
                let came = came(merged, guest, number);
                let meanwhile = |span: &(u64, u64)| span.0 <= came.1 && came.0 <= span.1;
                alike.retain(|call| merged.spans.get(call).is_some_and(meanwhile));
            }
            if let [call] = *alike {
                calls_of.entry(call).or_default().push(number);
            }
        }
        let mut other_end = FxHashMap::default();
        for (call, guests) in calls_of {
            if let [guest] = *guests {
                other_end.extend([(call, guest), (guest, call)]);
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

/// Whether the job has come to the other one, not that one to it.
fn is_guest(link: &Link) -> bool {
    matches!(link.tie, Tie::Parent | Tie::Server)
}

/// When a job has come: when its first rank began if it was spawned, while it connected else.
fn came(merged: &Merged, guest: &Link, number: u32) -> (u64, u64) {
    if guest.tie == Tie::Server {
        return merged.spans.get(&number).copied().unwrap_or_default();
    }
    let of_job = merged.ranks.iter().filter(|(rank, _)| rank.job == guest.job);
    let began = of_job.map(|(_, present)| present.span.0).min().unwrap_or(0);
    (began, began)
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_rundir::traffic::{Link, Snapshot};

    /// A job that has met others, at these times.
    fn job(name: &str, began: u64, size: u32, links: &[(Tie, u32, (u64, u64))]) -> Snapshot {
        let link = |(tie, others, span): &(Tie, u32, (u64, u64))| Link {
            tie: *tie,
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
        let child = |name, began, size| job(name, began, size, &[(Tie::Parent, 2, (began, began))]);
        let spawn = |others, from| (Tie::Child, others, (from, from + 10));
        // Two of three ranks, of which the order shows nothing, and one of four.
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
        let spawn = |from| (Tie::Child, 3, (from, from + 10));
        let child = |name, began| job(name, began, 3, &[(Tie::Parent, 2, (began, began))]);
        let parent = job("a", 0, 2, &[spawn(10), spawn(15)]);
        let all = merged(&[parent, child("b", 16), child("c", 17)]);
        let spawned = Spawned::of(&all);
        assert!((0..4).all(|link| spawned.rank(link, 0).is_none()));
        // One call, two jobs: somebody has spawned one of them without being followed.
        let all = merged(&[job("a", 0, 2, &[spawn(10)]), child("b", 16), child("c", 17)]);
        assert!(Spawned::of(&all).rank(0, 0).is_none());
    }
    #[test]
    fn ports_join_by_size_and_else_by_time() {
        let connect = |name, span| job(name, 0, 3, &[(Tie::Server, 2, span)]);
        let accept = |span| (Tie::Client, 3, span);
        let server = job("a", 0, 2, &[accept((10, 20)), accept((30, 40)), (Tie::Child, 3, (5, 6))]);
        let all = merged(&[server, connect("b", (35, 41)), connect("c", (12, 21))]);
        let spawned = Spawned::of(&all);
        assert_eq!(spawned.rank(0, 1), Some(Rank { job: 2, rank: 1 }));
        assert_eq!(spawned.rank(1, 1), Some(Rank { job: 1, rank: 1 }));
        assert_eq!(spawned.rank(3, 1), Some(Rank { job: 0, rank: 1 }));
        // Nobody was spawned.
        assert_eq!(spawned.rank(2, 0), None);
        // Both waited for both.
        let server = job("a", 0, 2, &[accept((10, 20)), accept((21, 40))]);
        let all = merged(&[server, connect("b", (5, 41)), connect("c", (5, 21))]);
        assert!((0..4).all(|link| Spawned::of(&all).rank(link, 0).is_none()));
    }
}
