//! What orders work: streams, events, and what the host waits for.
//!
//! Each stream has a clock, which knows what its next work comes after; an event is a copy of one; the
//! host has one, too. What the CUDA Runtime API says of streams ("Stream synchronization behavior",
//! "API synchronization behavior") becomes a join of clocks:
//!
//! - work of the legacy default stream comes after that of all blocking streams of its device, and
//!   theirs after it; non-blocking streams have nothing to do with it;
//! - recording an event is such work, and so is waiting for one; an event that is recorded again
//!   stands for the new place alone, one that never was for nothing;
//! - `cudaMemcpyPeer` is serialised with all work of its devices, past and future.
//!
//! **Soundness.** Two pieces of work are called unordered only if no chain of these leads from one to
//! the other. Where several host threads wait, each knows what those know that it comes after
//! ([`Actor`]); of more than [`WAITS`] waits that not all threads know of, the oldest count as known.

use crate::clock::{Clock, Moment};
use crate::work::StreamName;
use commsan_shadow::{Actor, Epoch};
use rustc_hash::FxHashMap;

/// Waits of single threads that are told apart.
const WAITS: usize = 64;

/// What stands for the device of other processes' streams.
const AFAR: u32 = u32::MAX;

/// How a stream relates to the legacy default stream of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is the legacy default stream.
    Legacy,
    /// Synchronises with that.
    Blocking,
    /// Does not: `cudaStreamNonBlocking`.
    NonBlocking,
}

/// A stream, or what else has a place among them: parallel parts of a graph.
#[derive(Debug)]
struct Lane {
    device: u32,
    kind: Kind,
    /// What its next work comes after.
    clock: Clock,
    /// Work so far, that of earlier streams with this place included.
    number: u32,
    /// The program has no name for it any more.
    gone: bool,
}

/// Streams, events and the host.
#[derive(Default)]
pub struct Order {
    lanes: Vec<Lane>,
    streams: FxHashMap<StreamName, u32>,
    events: FxHashMap<usize, Clock>,
    /// What all threads of the host have waited for.
    host: Clock,
    /// What single threads have waited for, and when.
    waits: Vec<(Epoch, Clock)>,
    /// What all work of a device comes after, streams that do not exist yet included.
    serial: FxHashMap<u32, Clock>,
}

impl Order {
    /// A stream has been created.
    pub fn create(&mut self, name: StreamName, device: u32, kind: Kind) {
        // The handle may be that of a stream whose end nobody has seen.
        self.destroy(name);
        let lane = self.add_lane(device, kind);
        self.streams.insert(name, lane);
    }

    /// The program has no name for a stream any more. Its work goes on.
    pub fn destroy(&mut self, name: StreamName) {
        if let Some(lane) = self.streams.remove(&name) {
            self.lanes[lane as usize].gone = true;
        }
    }

    /// A place beside the streams of a device, for work that only edges order.
    pub fn add_lane_beside(&mut self, device: u32) -> u32 {
        self.add_lane(device, Kind::NonBlocking)
    }

    /// A place for what a stream of another process does, of no device here.
    pub fn add_afar(&mut self) -> u32 {
        self.add_lane(AFAR, Kind::NonBlocking)
    }

    /// A place is not needed any more.
    pub fn drop_lane(&mut self, lane: u32) {
        self.lanes[lane as usize].gone = true;
    }

    fn add_lane(&mut self, device: u32, kind: Kind) -> u32 {
        let clock = self.serial.get(&device).cloned().unwrap_or_default();
        // Where all know of all work, nothing can be taken for that of the next stream.
        let (host, waits) = (&self.host, &self.waits);
        let mut lanes = self.lanes.iter_mut().enumerate();
        let free = lanes.find(|(_, l)| l.gone && waits.is_empty() && host.covers(&l.clock));
        if let Some((at, lane)) = free {
            *lane = Lane { device, kind, clock, number: lane.number, gone: false };
            return at as u32;
        }
        self.lanes.push(Lane { device, kind, clock, number: 0, gone: false });
        self.lanes.len() as u32 - 1
    }

    /// The place of a stream. One that was made where nobody looked counts as blocking.
    pub fn lane(&mut self, name: StreamName, current: u32) -> u32 {
        if let Some(lane) = self.streams.get(&name) {
            return *lane;
        }
        let (device, kind) = match name {
            StreamName::Legacy { device } => (device, Kind::Legacy),
            StreamName::PerThread { device, .. } => (device, Kind::Blocking),
            StreamName::Created { .. } => (current, Kind::Blocking),
        };
        self.create(name, device, kind);
        self.streams[&name]
    }

    /// The device of a place.
    pub fn device(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].device
    }

    /// What work put into a stream now would come after, but for what the host knows.
    fn past(&self, lane: u32) -> Clock {
        let this = &self.lanes[lane as usize];
        let mut clock = this.clock.clone();
        let other = match this.kind {
            Kind::Legacy => Kind::Blocking,
            Kind::Blocking => Kind::Legacy,
            Kind::NonBlocking => return clock,
        };
        for lane in self.lanes.iter().filter(|l| l.device == this.device && l.kind == other) {
            clock.join(&lane.clock);
        }
        clock
    }

    /// The next work of a stream, put there by whoever acts, and what it comes after.
    pub fn enqueue(&mut self, lane: u32, actor: Option<&Actor>) -> (Moment, Clock) {
        let mut clock = self.past(lane);
        self.add_host(&mut clock, actor);
        (self.number(lane, &clock), clock)
    }

    /// The next work of a place, which comes after this.
    pub fn number(&mut self, lane: u32, clock: &Clock) -> Moment {
        let this = &mut self.lanes[lane as usize];
        this.number += 1;
        let moment = Moment { lane, number: this.number };
        this.clock.clone_from(clock);
        this.clock.see(moment);
        moment
    }

    /// The latest work of a place.
    pub fn latest(&self, lane: u32) -> Moment {
        Moment { lane, number: self.lanes[lane as usize].number }
    }

    /// From now on work of a stream comes after this, too.
    pub fn add(&mut self, lane: u32, clock: &Clock) {
        let mut past = self.past(lane);
        past.join(clock);
        self.lanes[lane as usize].clock = past;
    }

    /// All work of these devices from now on, in whatever stream, comes after this.
    pub fn serialise(&mut self, devices: &[u32], clock: &Clock) {
        for lane in self.lanes.iter_mut().filter(|lane| devices.contains(&lane.device)) {
            lane.clock.join(clock);
        }
        for device in devices {
            self.serial.entry(*device).or_default().join(clock);
        }
    }

    /// What has been put into any stream of a device.
    pub fn of_device(&self, device: u32) -> Clock {
        let mut clock = Clock::default();
        self.lanes.iter().filter(|l| l.device == device).for_each(|l| clock.join(&l.clock));
        clock
    }

    /// All that has been put into any stream so far.
    pub fn of_all(&self) -> Clock {
        let mut clock = Clock::default();
        self.lanes.iter().for_each(|lane| clock.join(&lane.clock));
        clock
    }

    /// What has been put into a stream, and what it waits for: for the legacy default stream, all of
    /// the blocking ones.
    pub fn of_stream(&self, lane: u32) -> Clock {
        self.past(lane)
    }

    /// An event is recorded.
    pub fn record(&mut self, event: usize, lane: u32, actor: Option<&Actor>) {
        let mut clock = self.past(lane);
        // The host's past is of no use to who waits but to other threads of the host.
        self.add_host(&mut clock, actor);
        self.lanes[lane as usize].clock.clone_from(&clock);
        self.events.insert(event, clock);
    }

    /// An event is recorded after this.
    pub fn record_at(&mut self, event: usize, clock: Clock) {
        self.events.insert(event, clock);
    }

    /// What an event stands for; none that was never recorded.
    pub fn event(&self, event: usize) -> Option<&Clock> {
        self.events.get(&event)
    }

    /// An event is no more.
    pub fn forget_event(&mut self, event: usize) {
        self.events.remove(&event);
    }

    /// Whoever acts has waited until all of this was complete.
    pub fn wait(&mut self, clock: &Clock, actor: Option<&Actor>) {
        let Some(actor) = actor else {
            self.host.join(clock);
            return;
        };
        if let Some((_, known)) = self.waits.iter_mut().find(|(when, _)| *when == actor.stamp) {
            known.join(clock);
        } else {
            self.waits.push((actor.stamp, clock.clone()));
        }
        self.tell_all(|when| (actor.known_to_all)(when));
        while self.waits.len() > WAITS {
            let (_, oldest) = self.waits.remove(0);
            self.host.join(&oldest);
        }
    }

    /// There is one thread only, which knows everything.
    pub fn alone(&mut self) {
        self.tell_all(|_| true);
    }

    fn tell_all(&mut self, all_know: impl Fn(Epoch) -> bool) {
        let host = &mut self.host;
        self.waits.retain(|(when, clock)| {
            let known = all_know(*when);
            if known {
                host.join(clock);
            }
            !known
        });
    }

    /// Adds what whoever acts has waited for.
    fn add_host(&self, clock: &mut Clock, actor: Option<&Actor>) {
        clock.join(&self.host);
        let known = |when: Epoch| actor.is_none_or(|actor| when.happens_before(&actor.clock));
        self.waits.iter().filter(|(when, _)| known(*when)).for_each(|(_, wait)| clock.join(wait));
    }

    /// What whoever acts has waited for.
    pub fn host(&self, actor: Option<&Actor>) -> Clock {
        let mut clock = Clock::default();
        self.add_host(&mut clock, actor);
        clock
    }

    /// Whether all threads of the host know that this is complete.
    pub fn is_known_to_all(&self, moment: Moment) -> bool {
        self.host.has_seen(moment)
    }
}

#[cfg(test)]
mod tests;
