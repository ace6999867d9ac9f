//! Stream capture: work submitted to a captured stream becomes nodes of a graph (CUDA C++
//! Programming Guide, "Creating a Graph Using Stream Capture").

use crate::error::{Error, Result};
use crate::events::Record;
use crate::graphs::Body;
use crate::order::{Kind, StreamId};
use crate::runtime::State;
use crate::streams::Joined;
use crate::thread::{self, CaptureMode};

/// A capture in progress.
#[derive(Debug)]
pub struct Capture {
    /// The graph that nodes are added to.
    pub graph: usize,
    /// Whether the program owns that graph.
    pub foreign: bool,
    /// The stream in which it began.
    origin: StreamId,
    mode: CaptureMode,
    /// The thread that began it.
    thread: u64,
    /// Whether a call has invalidated it.
    pub broken: bool,
    /// The last nodes of streams that took part and were destroyed.
    left: Vec<usize>,
    /// The nodes last returned to the program, which has a pointer to this array.
    pub returned: Vec<usize>,
}

impl State {
    /// Begins to capture a stream, into `graph` after its nodes `after`, or into a new graph.
    pub fn begin_capture(
        &mut self,
        stream: StreamId,
        mode: CaptureMode,
        into: Option<(usize, Vec<usize>)>,
    ) -> Result {
        let entry = self.streams.get(stream);
        if entry.kind == Kind::Legacy {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        if entry.capture.is_some() {
            return Err(Error::ILLEGAL_STATE);
        }
        let foreign = into.is_some();
        let (graph, after) = match into {
            Some(into) => into,
            None => {
                let graph = self.new_handle();
                self.graphs.create(graph);
                (graph, Vec::new())
            }
        };
        let number = self.new_handle() as u64;
        let thread = thread::number();
        let (origin, returned, left) = (stream, Vec::new(), Vec::new());
        let capture =
            Capture { graph, foreign, origin, mode, thread, broken: false, left, returned };
        self.graphs.captures.insert(number, capture);
        self.streams.get_mut(stream)?.capture = Some(Joined { capture: number, after });
        Ok(())
    }

    /// Ends a capture; returns its graph.
    pub fn end_capture(&mut self, stream: StreamId) -> Result<usize> {
        let joined = self.streams.get(stream).capture.clone().ok_or(Error::ILLEGAL_STATE)?;
        let capture = self.graphs.captures.get_mut(&joined.capture).ok_or(Error::ILLEGAL_STATE)?;
        if capture.origin != stream {
            // As hardware has it; CUDA's documentation does not say.
            capture.broken = true;
            return Err(Error::STREAM_CAPTURE_UNMATCHED);
        }
        let capture = &self.graphs.captures[&joined.capture];
        if capture.mode != CaptureMode::Relaxed && capture.thread != thread::number() {
            return Err(Error::STREAM_CAPTURE_WRONG_THREAD);
        }
        let (graph, foreign, broken) = (capture.graph, capture.foreign, capture.broken);
        let ancestors = self.graphs.get(graph)?.ancestors(&joined.after);
        let mut unjoined = !capture.left.iter().all(|node| ancestors.contains(node));
        for (_, other) in self.streams.iter_mut() {
            if let Some(part) = other.capture.take_if(|part| part.capture == joined.capture) {
                unjoined |= !part.after.iter().all(|node| ancestors.contains(node));
            }
        }
        self.graphs.captures.remove(&joined.capture);
        self.events.end_capture(joined.capture);
        if broken || unjoined {
            if !foreign {
                let memory = self.graphs.destroy(graph)?;
                self.free_after(None, memory);
            }
            let unjoined = Error::STREAM_CAPTURE_UNJOINED;
            return Err(if broken { Error::STREAM_CAPTURE_INVALIDATED } else { unjoined });
        }
        Ok(graph)
    }

    /// If a stream is being captured, adds a node for the submitted work; returns whether it did.
    pub(crate) fn capture(&mut self, stream: StreamId, body: &Body) -> Result<bool> {
        let Some(joined) = self.joined(stream)? else {
            self.keep_legacy_apart(stream)?;
            return Ok(false);
        };
        let node = self.new_handle();
        let graph = self.graphs.captures[&joined.capture].graph;
        self.graphs.add(graph, node, body.clone(), &joined.after)?;
        self.streams.get_mut(stream)?.capture = Some(Joined { after: vec![node], ..joined });
        Ok(true)
    }

    /// The capture that a stream takes part in; an error if that was invalidated.
    pub(crate) fn joined(&self, stream: StreamId) -> Result<Option<Joined>> {
        let joined = self.streams.get(stream).capture.clone();
        let broken = joined.as_ref().is_some_and(|j| self.graphs.captures[&j.capture].broken);
        if broken { Err(Error::STREAM_CAPTURE_INVALIDATED) } else { Ok(joined) }
    }

    /// A stream waits for an event. Returns whether the wait was captured.
    pub(crate) fn capture_wait(&mut self, stream: StreamId, record: &Record) -> Result<bool> {
        let joined = self.joined(stream)?;
        match (joined, record) {
            (None, Record::Captured(other)) => {
                if self.streams.get(stream).kind == Kind::Legacy {
                    self.break_capture(other.capture);
                    return Err(Error::STREAM_CAPTURE_IMPLICIT);
                }
                self.streams.get_mut(stream)?.capture = Some(other.clone());
                Ok(true)
            }
            (Some(mut joined), Record::Captured(other)) => {
                if joined.capture != other.capture {
                    self.break_capture(joined.capture);
                    self.break_capture(other.capture);
                    return Err(Error::STREAM_CAPTURE_MERGE);
                }
                joined.after.extend(&other.after);
                joined.after.sort_unstable();
                joined.after.dedup();
                self.streams.get_mut(stream)?.capture = Some(joined);
                Ok(true)
            }
            (Some(joined), Record::Op(_)) => {
                self.break_capture(joined.capture);
                Err(Error::STREAM_CAPTURE_ISOLATION)
            }
            (joined, Record::Never) => Ok(joined.is_some()),
            (None, Record::Op(_)) => Ok(false),
        }
    }

    /// Invalidates the capture that a stream takes part in, because a call waits for or queries it.
    pub(crate) fn forbid_in_capture(&mut self, stream: StreamId) -> Result {
        let joined = self.joined(stream)?;
        if let Some(joined) = joined {
            self.break_capture(joined.capture);
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.keep_legacy_apart(stream)
    }

    /// Invalidates captures because of a call that may wait, unless they or the thread are relaxed.
    pub(crate) fn forbid_unsafe(&mut self) -> Result {
        let (thread, mode) = (thread::number(), thread::capture_mode());
        let forbids = |capture: &Capture| match (capture.mode, mode) {
            (CaptureMode::Relaxed, _) | (_, CaptureMode::Relaxed) => false,
            (CaptureMode::ThreadLocal, _) | (_, CaptureMode::ThreadLocal) => {
                capture.thread == thread
            }
            (CaptureMode::Global, CaptureMode::Global) => true,
        };
        let mut forbidden = Ok(());
        for capture in self.graphs.captures.values_mut().filter(|capture| forbids(capture)) {
            capture.broken = true;
            forbidden = Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        forbidden
    }

    /// Prevents the legacy stream from depending on a blocking stream that is being captured.
    fn keep_legacy_apart(&mut self, stream: StreamId) -> Result {
        let entry = self.streams.get(stream);
        if entry.kind != Kind::Legacy {
            return Ok(());
        }
        let device = entry.device;
        let captured = self.streams.iter().find_map(|(_, other)| {
            let blocking = other.device == device && other.kind == Kind::Blocking;
            other.capture.as_ref().filter(|_| blocking).map(|joined| joined.capture)
        });
        match captured {
            None => Ok(()),
            Some(capture) => {
                self.break_capture(capture);
                Err(Error::STREAM_CAPTURE_IMPLICIT)
            }
        }
    }

    /// A stream that takes part in a capture is destroyed. If it is the stream in which the capture
    /// began, the capture is abandoned.
    pub(crate) fn leave_capture(&mut self, stream: StreamId, joined: Joined) {
        let capture = self.graphs.captures.get_mut(&joined.capture);
        match capture.filter(|capture| capture.origin != stream) {
            Some(capture) => capture.left.extend(joined.after),
            None => self.abandon_capture(joined.capture),
        }
    }

    fn abandon_capture(&mut self, capture: u64) {
        for (_, stream) in self.streams.iter_mut() {
            stream.capture.take_if(|joined| joined.capture == capture);
        }
        self.events.end_capture(capture);
        if let Some(capture) = self.graphs.captures.remove(&capture)
            && !capture.foreign
        {
            // The graph is in the table, since only its capture refers to it.
            let memory = self.graphs.destroy(capture.graph).unwrap_or_default();
            self.free_after(None, memory);
        }
    }

    pub(crate) fn break_capture(&mut self, capture: u64) {
        if let Some(capture) = self.graphs.captures.get_mut(&capture) {
            capture.broken = true;
        }
    }
}
