//! Files of events: what their numbers are in all.

use super::{Merged, Rank, number};
use crate::events::{Channel, Communicator, RankLog, Shape, What};
use commsan_rundir::events::{self as file, Events};
use commsan_rundir::traffic::Place;

impl Merged {
    /// Takes the events of a rank that has left its traffic.
    ///
    /// # Errors
    /// When they are of no such rank, or of one that has left others.
    pub fn add_events(&mut self, events: Events) -> Result<(), String> {
        let Events { mut tables, chunks } = events;
        let of = std::mem::take(&mut tables.of);
        let job = self.jobs.get_index_of(&of.job).ok_or("its job has left no traffic")? as u32;
        let rank = Rank { job, rank: of.rank };
        if !self.ranks.contains_key(&rank) {
            return Err("its rank has left no traffic".to_owned());
        }
        if self.log.ranks.iter().any(|log| log.rank == rank) {
            return Err(format!("it is of rank {}, which has another one", of.rank));
        }
        let mut numbers = self.numbers(&of, job);
        self.groups(&of, &mut numbers);
        let own = |place: &Place| match place {
            Place::Rank(number) => Some(Rank { job, rank: *number }),
            _ => None,
        };
        let root = |shape: &file::Shape, group: Option<u32>| {
            own(of.groups.get(group? as usize)?.get(shape.root? as usize)?)
        };
        let shapes = tables.shapes.iter().map(|shape| {
            let (what, group) = match shape.what {
                file::What::Call(calls) => {
                    let calls = &of.calls[calls as usize];
                    (What::Call(self.site(calls.call, calls.stack, &numbers)), calls.group)
                }
                file::What::Region(name) => {
                    let name = of.strings[name as usize].clone();
                    (What::Region(number(&mut self.log.regions, name)), None)
                }
                file::What::Own => (What::Own, None),
            };
            let file::Shape { thread, begins, flow, .. } = *shape;
            Shape { what, thread, begins, flow, root: root(shape, group) }
        });
        let shapes = shapes.collect();
        let messages = tables.messages.iter().map(|of| {
            let file::Messages { sent, group, peer, tag, ordered } = *of;
            let peer = own(&peer).filter(|_| ordered)?;
            let (source, target) = if sent { (rank, peer) } else { (peer, rank) };
            let group = numbers.groups[group as usize];
            let channel = Channel { source, target, group, tag };
            Some((number(&mut self.log.channels, channel), sent))
        });
        let messages = messages.collect();
        let collectives = tables.collectives.iter().map(|known| {
            let members = &of.groups[known.group as usize];
            // Collectives between two groups have another shape.
            if !members.contains(&Place::Rank(of.rank)) {
                return None;
            }
            let group = numbers.groups[known.group as usize];
            let communicator =
                number(&mut self.log.communicators, Communicator { group, nth: known.nth });
            if communicator as usize == self.log.sizes.len() {
                self.log.sizes.push(members.len() as u32);
            }
            Some(communicator)
        });
        let collectives = collectives.collect();
        (tables.shapes, tables.messages, tables.collectives) = Default::default();
        let log = RankLog {
            rank,
            place: 0,
            host: of.host,
            shapes,
            messages,
            collectives,
            tables,
            chunks,
        };
        self.log.ranks.push(log);
        Ok(())
    }
}
