//! Communicators: a rank with its device, its region, and the order of its operations.

use crate::abi::{DataType, FIRST_OWN_OP, NO_COLOR, RedOp, UniqueId};
use crate::cuda::{self, Event, Stream};
use crate::datatype::{Reduction, arithmetic};
use crate::error::{Failure, Result};
use crate::kernels::Kernel;
use crate::peers::Regions;
use crate::rendezvous::{Rendezvous, message, word};
use crate::settings::Settings;
use crate::turns::{Turn, Turns};
use crate::work::{Scalar, Work};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::c_int;
use std::sync::Arc;

/// A rank of a communicator.
#[derive(Debug)]
pub struct Communicator {
    /// Its number.
    pub rank: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// Its device.
    pub device: i32,
    /// The settings at its creation.
    pub settings: Settings,
    id: UniqueId,
    rendezvous: Rendezvous,
    regions: Mutex<Regions>,
    order: Mutex<Order>,
    /// Splits happen in the order of the calls, one after the other.
    splits: Arc<Turns>,
    /// Number of shrinks so far to the same set of ranks, which only these ranks know.
    shrinkings: Mutex<FxHashMap<Vec<usize>, u64>>,
    operators: Mutex<Operators>,
    buffers: Mutex<Buffers>,
    finalized: Mutex<bool>,
}

/// The order of a communicator's kernels in different streams, which must not overlap because they
/// use the same queues.
#[derive(Debug)]
struct Order {
    /// A stream for the library's own operations.
    own: Stream,
    /// Recorded after the last kernel that was not captured, with its stream.
    last: (Event, Option<usize>),
    /// Recorded after the last captured kernel, with the capture's number and the stream.
    captured: (Event, Option<(u64, usize)>),
    /// Recorded after earlier work of the other streams of a group.
    joined: Event,
}

/// User-defined operators.
#[derive(Debug, Default)]
struct Operators(Vec<Option<(DataType, Scalar)>>);

/// Buffers that the program has registered.
#[derive(Debug, Default)]
struct Buffers {
    next: usize,
    known: FxHashSet<usize>,
}

impl Order {
    fn new() -> Result<Order> {
        let (last, captured) = ((Event::new()?, None), (Event::new()?, None));
        Ok(Order { own: Stream::new()?, last, captured, joined: Event::new()? })
    }

    /// Orders the first stream after all earlier work of these streams, and after the
    /// communicator's last kernel. Returns the capture that the streams belong to.
    fn enter(&self, streams: &[usize]) -> Result<u64> {
        let stream = streams[0];
        let capture = cuda::capture_of(stream)?;
        let (event, last) = match (capture, self.captured.1) {
            (0, _) => (&self.last.0, self.last.1),
            (_, Some((number, last))) if number == capture => (&self.captured.0, Some(last)),
            _ => (&self.captured.0, None),
        };
        if last.is_some_and(|last| last != stream) {
            event.hold(stream)?;
        }
        for &other in &streams[1..] {
            self.joined.record(other)?;
            self.joined.hold(stream)?;
        }
        Ok(capture)
    }

    /// Orders later work of these streams, and of the communicator, after the first stream.
    fn leave(&mut self, capture: u64, streams: &[usize]) -> Result {
        let stream = streams[0];
        let event = if capture == 0 { &self.last.0 } else { &self.captured.0 };
        event.record(stream)?;
        for &other in &streams[1..] {
            event.hold(other)?;
        }
        match capture {
            0 => self.last.1 = Some(stream),
            _ => self.captured.1 = Some((capture, stream)),
        }
        Ok(())
    }

    fn destroy(self) -> Result {
        let events = [self.last.0, self.captured.0, self.joined];
        events.into_iter().try_for_each(Event::destroy)?;
        self.own.destroy()
    }
}

impl Communicator {
    /// Joins a communicator as a rank on a device, together with all other ranks.
    pub fn join(id: UniqueId, rank: usize, ranks: usize, device: i32) -> Result<Communicator> {
        let rendezvous = Rendezvous::join(&id, rank, ranks)?;
        let settings = Settings::from_environment();
        let make = || {
            let order = Order::new()?;
            let regions = Regions::make(&rendezvous, rank, ranks, settings.slot, &order.own)?;
            Ok((order, regions))
        };
        let (order, regions) = cuda::on_device(device, || cuda::relaxed(make))?;
        Ok(Communicator {
            rank,
            ranks,
            device,
            settings,
            id,
            rendezvous,
            regions: Mutex::new(regions),
            order: Mutex::new(order),
            splits: Arc::default(),
            shrinkings: Mutex::default(),
            operators: Mutex::default(),
            buffers: Mutex::default(),
            finalized: Mutex::default(),
        })
    }

    /// The turn of a split that is requested now.
    pub fn next_split(&self) -> Turn {
        self.splits.take()
    }

    /// A communicator of the ranks with one color, ordered by key; `None` without a color.
    pub fn split(&self, turn: Turn, color: c_int, key: c_int) -> Result<Option<Communicator>> {
        let number = turn.wait();
        let messages = self.rendezvous.exchange(&message(&[color as u64, key as u64]))?;
        drop(turn);
        if color == NO_COLOR {
            return Ok(None);
        }
        let of_color = |rank: &usize| word(&messages[*rank], 0) as c_int == color;
        let mut members: Vec<usize> = (0..self.ranks).filter(of_color).collect();
        members.sort_by_key(|&rank| word(&messages[rank], 1) as c_int);
        let rank = members.iter().position(|&member| member == self.rank).unwrap_or(0);
        let id = self.id.child(("split", number, color));
        Communicator::join(id, rank, members.len(), self.device).map(Some)
    }

    /// A communicator of the ranks that are not excluded, which alone take part.
    pub fn shrink(&self, excluded: &[c_int]) -> Result<Communicator> {
        let stays = |rank: &usize| !excluded.contains(&(*rank as c_int));
        let members: Vec<usize> = (0..self.ranks).filter(stays).collect();
        let rank = members.iter().position(|&member| member == self.rank).unwrap_or(0);
        let mut shrinkings = self.shrinkings.lock();
        let number = shrinkings.entry(members.clone()).or_default();
        *number += 1;
        let id = self.id.child(("shrink", &members, *number));
        Communicator::join(id, rank, members.len(), self.device)
    }

    /// Empty work for values of `size` bytes.
    pub fn work(&self, size: usize, scalar: Scalar) -> Work {
        let regions = self.regions.lock();
        Work::new(regions.layout, regions.own, size, scalar)
    }

    /// Launches kernels in the first of some streams, ordered with the others, too.
    pub fn submit(&self, streams: &[usize], launches: &[(Kernel, Work)]) -> Result {
        cuda::on_device(self.device, || {
            let mut order = self.order.lock();
            let capture = order.enter(streams)?;
            for (kernel, work) in launches {
                kernel.launch(work.blocks(), &work.bytes(), streams[0])?;
            }
            order.leave(capture, streams)
        })
    }

    /// The reduction of an operator on values of a datatype.
    pub fn reduction(&self, operator: c_int, of: DataType) -> Result<(Reduction, Scalar)> {
        let plain = |reduction| Ok((reduction, Scalar::Value(0)));
        match RedOp::of(operator) {
            Some(RedOp::Sum) => plain(Reduction::Sum),
            Some(RedOp::Prod) => plain(Reduction::Prod),
            Some(RedOp::Max) => plain(Reduction::Max),
            Some(RedOp::Min) => plain(Reduction::Min),
            Some(RedOp::Avg) if arithmetic(of).divide.is_some() => {
                Ok((Reduction::SumPostDiv, Scalar::Value(of.bits(self.ranks as f64))))
            }
            Some(RedOp::Avg) => {
                Ok((Reduction::PreMulSum, Scalar::Value(of.bits(1.0 / self.ranks as f64))))
            }
            None => {
                let (made_for, scalar) = self.operators.lock().get(operator)?;
                if made_for != of {
                    return Err(Failure::argument(
                        "the reduction operation was made for another datatype",
                    ));
                }
                Ok((Reduction::PreMulSum, scalar))
            }
        }
    }

    /// Adds a user-defined operator; returns its number.
    pub fn add_operator(&self, of: DataType, scalar: Scalar) -> c_int {
        self.operators.lock().add((of, scalar))
    }

    /// Removes a user-defined operator.
    pub fn remove_operator(&self, operator: c_int) -> Result {
        self.operators.lock().remove(operator)
    }

    /// Registers a buffer. It has no effect: all that peers send goes through queues.
    pub fn add_buffer(&self) -> usize {
        let mut buffers = self.buffers.lock();
        buffers.next += 1;
        let handle = buffers.next;
        buffers.known.insert(handle);
        handle
    }

    /// Unregisters a buffer.
    pub fn remove_buffer(&self, handle: usize) -> Result {
        match self.buffers.lock().known.remove(&handle) {
            true => Ok(()),
            false => Err(Failure::argument("no such registration")),
        }
    }

    /// Waits until all submitted work is complete.
    pub fn finish(&self) -> Result {
        let order = self.order.lock();
        if order.last.1.is_some() { order.last.0.wait() } else { Ok(()) }
    }

    /// Waits for the communicator's work, then closes it for further calls.
    pub fn finalize(&self) -> Result {
        if std::mem::replace(&mut *self.finalized.lock(), true) {
            return Err(Failure::usage("the communicator was finalized before"));
        }
        self.finish()
    }

    /// Whether it was finalized.
    pub fn is_finalized(&self) -> bool {
        *self.finalized.lock()
    }

    /// Aborts its kernels, which may wait for ranks that never arrive.
    pub fn abort(&self) -> Result {
        cuda::on_device(self.device, || self.regions.lock().end_kernels(&self.order.lock().own))
    }

    /// Whether it is the only rank of its process.
    pub fn is_alone(&self) -> bool {
        let own = std::process::id();
        (0..self.ranks).filter(|&rank| self.rendezvous.process(rank) == own).count() == 1
    }

    /// Declares that this rank no longer needs the others.
    pub fn leave(&self) {
        self.rendezvous.leave();
    }

    /// Waits until every rank has left.
    pub fn wait_for_all_to_leave(&self) {
        self.rendezvous.wait_for_all_to_leave();
    }

    /// Whether every rank has left.
    pub fn have_all_left(&self) -> bool {
        self.rendezvous.have_all_left()
    }

    /// Size of its region, in bytes.
    pub fn region_size(&self) -> u64 {
        self.regions.lock().layout.size()
    }

    /// Releases its resources; returns the memory that other ranks may still access.
    pub fn dismantle(self) -> Result<(i32, Regions)> {
        let order = self.order.into_inner();
        cuda::on_device(self.device, || order.destroy())?;
        Ok((self.device, self.regions.into_inner()))
    }
}

impl Operators {
    fn number(&self, operator: c_int) -> Result<usize> {
        let number = operator.checked_sub(FIRST_OWN_OP).and_then(|at| usize::try_from(at).ok());
        let known = number.filter(|&at| self.0.get(at).is_some_and(Option::is_some));
        let unknown = || format!("reduction operation {operator} unknown to this communicator");
        known.ok_or_else(|| Failure::argument(unknown()))
    }

    fn get(&self, operator: c_int) -> Result<(DataType, Scalar)> {
        let number = self.number(operator)?;
        self.0[number].ok_or_else(|| Failure::argument("no such operator"))
    }

    fn add(&mut self, operator: (DataType, Scalar)) -> c_int {
        let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        self.0.resize(self.0.len().max(free + 1), None);
        self.0[free] = Some(operator);
        FIRST_OWN_OP + free as c_int
    }

    fn remove(&mut self, operator: c_int) -> Result {
        let number = self.number(operator)?;
        self.0[number] = None;
        Ok(())
    }
}
