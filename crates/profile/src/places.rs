//! Places of a run and their names, node by node.

use crate::api::{Node, Place, PlaceKind};
use crate::merge::{Merged, Rank, RawPlace};
use crate::spawned::Spawned;
use rustc_hash::FxHashMap;

/// Ranks that are listed although nobody mentions them; a larger job's size is no size.
const MAX_RANKS: u32 = 1 << 22;

/// Places in the order of the tree.
pub struct Places {
    /// All of them.
    pub places: Vec<Place>,
    /// Their nodes.
    pub nodes: Vec<Node>,
    /// By position in [`Merged::places`].
    pub of_raw: Vec<u32>,
    /// Ranks with their places, ascending.
    pub ranks: Vec<(Rank, u32)>,
    /// Places of ranks that left no file.
    pub absent: Vec<bool>,
}

/// A place without its number; orders within a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Known {
    Rank(Rank),
    /// Of a host: its number there.
    Device(u32),
    /// Of a rank whose host is not known.
    DeviceOf(Rank, u32),
    /// Of a processing element that has left no file.
    Pe(u32, u32),
    /// A string.
    File(u32),
    Unknown,
}

/// A node: a host (string), or what has none. Hosts come in the order of their first ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum At {
    Host { first: Rank, host: u32 },
    UnknownHost,
    Files,
    Unknown,
}

impl Places {
    /// The places that `merged` mentions, and all ranks of the job.
    pub fn of(merged: &Merged) -> Places {
        let hosts = Hosts::of(merged);
        let mut all: Vec<(At, Known)> = merged.places.iter().map(|raw| hosts.place(*raw)).collect();
        let listed = merged.jobs.values().zip(0..).flat_map(|(of, job)| {
            let listed = if of.size <= MAX_RANKS { of.size } else { 0 };
            (0..listed).map(move |rank| Rank { job, rank })
        });
        let ranks = listed.chain(merged.ranks.keys().copied());
        all.extend(ranks.map(|rank| hosts.place(RawPlace::Rank(rank))));
        all.sort_unstable();
        all.dedup();
        let number: FxHashMap<_, _> =
            all.iter().enumerate().map(|(i, at)| (*at, i as u32)).collect();
        let of_raw = merged.places.iter().map(|raw| number[&hosts.place(*raw)]).collect();
        let (places, nodes) = hosts.named(&all);
        let rank_of = |known: &Known| match known {
            Known::Rank(rank) | Known::DeviceOf(rank, _) => Some(*rank),
            _ => None,
        };
        let is_absent = |(_, known): &(At, Known)| {
            matches!(known, Known::Pe(..))
                || rank_of(known).is_some_and(|rank| !merged.ranks.contains_key(&rank))
        };
        let absent = all.iter().map(is_absent).collect();
        let mut ranks: Vec<(Rank, u32)> = (all.iter().zip(0..))
            .filter_map(|((_, known), place)| match known {
                Known::Rank(rank) => Some((*rank, place)),
                _ => None,
            })
            .collect();
        ranks.sort_unstable();
        Places { places, nodes, of_raw, ranks, absent }
    }
}

struct Hosts<'m> {
    merged: &'m Merged,
    spawned: Spawned<'m>,
    /// First rank of each host.
    first: FxHashMap<u32, Rank>,
}

impl<'m> Hosts<'m> {
    fn of(merged: &'m Merged) -> Hosts<'m> {
        let mut first: FxHashMap<u32, Rank> = FxHashMap::default();
        for (rank, present) in &merged.ranks {
            let known = first.entry(present.host).or_insert(*rank);
            *known = (*known).min(*rank);
        }
        Hosts { merged, spawned: Spawned::of(merged), first }
    }

    fn place(&self, raw: RawPlace) -> (At, Known) {
        let on = |host: u32| At::Host {
            first: self.first.get(&host).copied().unwrap_or_default(),
            host,
        };
        let host_of = |rank: Rank| self.merged.ranks.get(&rank).map(|present| present.host);
        match raw {
            RawPlace::Rank(rank) => (host_of(rank).map_or(At::UnknownHost, on), Known::Rank(rank)),
            RawPlace::Device(host, device) => (on(host), Known::Device(device)),
            RawPlace::DeviceOf(rank, device) => match host_of(rank) {
                Some(host) => (on(host), Known::Device(device)),
                None => (At::UnknownHost, Known::DeviceOf(rank, device)),
            },
            RawPlace::Pe(job, pe) => match self.merged.pes.get(&(job, pe)) {
                Some((host, device)) => (on(*host), Known::Device(*device)),
                None => (At::UnknownHost, Known::Pe(job, pe)),
            },
            RawPlace::Linked(link, rank) => match self.spawned.rank(link, rank) {
                Some(rank) => self.place(RawPlace::Rank(rank)),
                None => (At::Unknown, Known::Unknown),
            },
            RawPlace::File(name) => (At::Files, Known::File(name)),
            RawPlace::Unknown => (At::Unknown, Known::Unknown),
        }
    }

    fn named(&self, all: &[(At, Known)]) -> (Vec<Place>, Vec<Node>) {
        let (mut places, mut nodes): (Vec<Place>, Vec<Node>) = Default::default();
        for (id, (at, known)) in all.iter().enumerate() {
            if id == 0 || all[id - 1].0 != *at {
                nodes.push(Node { name: self.node_name(*at), places: [id, id] });
            }
            let node = nodes.len() - 1;
            nodes[node].places[1] = id;
            let (name, kind) = self.place_name(*at, *known);
            places.push(Place { id, name, kind, node });
        }
        (places, nodes)
    }

    fn node_name(&self, at: At) -> String {
        match at {
            At::Host { host, .. } => self.merged.strings[host as usize].clone(),
            At::UnknownHost => "unknown host".to_owned(),
            At::Files => "files".to_owned(),
            At::Unknown => "unknown".to_owned(),
        }
    }

    fn place_name(&self, at: At, known: Known) -> (String, PlaceKind) {
        let several = self.first.len() > 1;
        match known {
            Known::Rank(rank) => (rank.to_string(), PlaceKind::Rank),
            Known::Device(device) if several => {
                (format!("{} gpu {device}", self.node_name(at)), PlaceKind::Device)
            }
            Known::Device(device) => (format!("gpu {device}"), PlaceKind::Device),
            Known::DeviceOf(rank, device) => (format!("gpu {device} of {rank}"), PlaceKind::Device),
            Known::Pe(_, pe) => (format!("gpu of PE {pe}"), PlaceKind::Device),
            Known::File(name) => (self.merged.strings[name as usize].clone(), PlaceKind::File),
            Known::Unknown => ("unknown".to_owned(), PlaceKind::Unknown),
        }
    }
}
