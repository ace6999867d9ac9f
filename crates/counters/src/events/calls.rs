//! Events of calls: which messages and collectives they are, as counters number them.

use super::EventOf;
use crate::Traffic;
use commsan_rundir::events::{Flow, Of, Part, Shape, What};

/// A collective, as a call names it.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The communicator's handle.
    pub communicator: usize,
    /// Its group.
    pub group: u32,
    /// Who waits for whom.
    pub flow: Flow,
    /// The root, in the group.
    pub root: Option<u32>,
}

impl Traffic {
    /// Whether events are recorded.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// What the events of a call are: one of `calls`, of a thread; whether it only begins what
    /// another completes.
    pub fn event_of(
        &mut self,
        calls: u32,
        thread: u32,
        begins: bool,
        meeting: Option<Meeting>,
    ) -> Option<EventOf> {
        let events = self.events.as_mut()?;
        let mut shape = Shape { begins, ..Shape::new(What::Call(calls), thread) };
        let mut collective = None;
        if let Some(Meeting { communicator, group, flow, root }) = meeting {
            (shape.flow, shape.root) = (Some(flow), root);
            collective = events.collectives(communicator, group);
        }
        Some(EventOf { shape: events.shape(shape)?, collective })
    }

    /// Records a call that ran from the first to the second of `times`, in ticks.
    #[inline]
    pub fn record_event(&mut self, of: EventOf, times: (u64, u64), parts: &[Part]) {
        let Some(events) = &mut self.events else { return };
        match of.collective {
            Some(collective) => {
                let bytes = parts.iter().map(|part| part.bytes).max().unwrap_or(0);
                let part = events.collective(collective, bytes);
                events.record(of.shape, times, &[part], &self.clock);
            }
            None => events.record(of.shape, times, parts, &self.clock),
        }
    }

    /// A request stands for what the calling thread's last call has begun: its message, or
    /// collective.
    #[inline]
    pub fn begun(&mut self, of: EventOf, request: usize, parts: &[Part]) {
        let Some(events) = &mut self.events else { return };
        let part = match of.collective {
            Some(collective) => {
                let number = events.collectives[collective as usize].1;
                Some(Part { of: Of::Collectives(collective), number, ..Part::default() })
            }
            None => parts.iter().find(|part| part.of != Of::Nothing).copied(),
        };
        if let Some(part) = part {
            events.begun(request, part);
        }
    }

    /// What a request that is complete now, or is freed, has stood for.
    #[inline]
    pub fn completed(&mut self, request: usize) -> Option<Part> {
        self.events.as_mut()?.completed(request)
    }

    /// A message of a channel, the last that was counted; without a channel only its bytes.
    #[inline]
    pub fn part_of(&self, channel: Option<u32>, bytes: u64) -> Part {
        match channel {
            Some(channel) => {
                let number = self.channels.counted(channel);
                Part { of: Of::Messages(channel), number, completes: false, bytes }
            }
            None => Part { bytes, ..Part::default() },
        }
    }

    /// commsan has worked since `begin`, in ticks, while the program waited.
    pub fn record_own(&mut self, begin: u64, thread: u32) {
        if let Some(events) = &mut self.events {
            events.record_own(begin, thread, &self.clock);
        }
    }
}
