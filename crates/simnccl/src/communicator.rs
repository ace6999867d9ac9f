//! Communicators: a rank among others, with its device, its region, and the order of what it does.

use crate::abi::{DataType, FIRST_OWN_OP, NO_COLOR, RedOp, UniqueId};
use crate::board::{Board, message, word};
use crate::cuda::{self, Event, Stream};
use crate::datatype::{Reduction, arithmetic};
use crate::error::{Failure, Result};
use crate::kernels::Kernel;
use crate::peers::Regions;
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
    /// How many there are.
    pub ranks: usize,
    /// Its device.
    pub device: i32,
    /// What the environment said when it was made.
    pub settings: Settings,
    id: UniqueId,
    board: Board,
    regions: Mutex<Regions>,
    order: Mutex<Order>,
    /// All ranks make splits together, one after the other.
    splits: Arc<Turns>,
    /// Shrinkings so far to the same ranks, who alone know of them.
    shrinkings: Mutex<FxHashMap<Vec<usize>, u64>>,
    operators: Mutex<Operators>,
    buffers: Mutex<Buffers>,
    finalized: Mutex<bool>,
}

/// What orders kernels of a communicator that are put into different streams: they use the same
/// queues.
#[derive(Debug)]
struct Order {
    /// For what the library does itself.
    own: Stream,
    /// After the last kernel that was not captured, and the stream it is in.
    last: (Event, Option<usize>),
    /// After the last kernel in a stream capture, and the capture's number and stream.
    captured: (Event, Option<(u64, usize)>),
    /// After what other streams of a group have before it.
    joined: Event,
}

/// Operators that the program has made.
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

    /// What follows in the first stream is after all before it in these streams, and after the
    /// communicator's last kernel. Gives the capture that it is part of.
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

    /// What follows in any of these streams, and in the communicator, is after what is in the
    /// first.
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
    /// Becomes a rank on a device, together with all others.
    pub fn join(id: UniqueId, rank: usize, ranks: usize, device: i32) -> Result<Communicator> {
        let board = Board::join(&id, rank, ranks)?;
        let settings = Settings::from_environment();
        let make = || {
            let order = Order::new()?;
            let regions = Regions::make(&board, rank, ranks, settings.slot, &order.own)?;
            Ok((order, regions))
        };
        let (order, regions) = cuda::on_device(device, || cuda::relaxed(make))?;
        Ok(Communicator {
            rank,
            ranks,
            device,
            settings,
            id,
            board,
            regions: Mutex::new(regions),
            order: Mutex::new(order),
            splits: Arc::default(),
            shrinkings: Mutex::default(),
            operators: Mutex::default(),
            buffers: Mutex::default(),
            finalized: Mutex::default(),
        })
    }

    /// When a split that is asked for now is made.
    pub fn next_split(&self) -> Turn {
        self.splits.take()
    }

    /// A communicator of the ranks of one color, in the order of their keys; none without a color.
    pub fn split(&self, turn: Turn, color: c_int, key: c_int) -> Result<Option<Communicator>> {
        let number = turn.wait();
        let told = self.board.exchange(&message(&[color as u64, key as u64]))?;
        drop(turn);
        if color == NO_COLOR {
            return Ok(None);
        }
        let of_color = |rank: &usize| word(&told[*rank], 0) as c_int == color;
        let mut members: Vec<usize> = (0..self.ranks).filter(of_color).collect();
        members.sort_by_key(|&rank| word(&told[rank], 1) as c_int);
        let rank = members.iter().position(|&member| member == self.rank).unwrap_or(0);
        let id = self.id.child(("split", number, color));
        Communicator::join(id, rank, members.len(), self.device).map(Some)
    }

    /// A communicator of the ranks that are not excluded, which alone take part in making it.
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

    /// Nothing to do yet, with values of a size.
    pub fn work(&self, size: usize, scalar: Scalar) -> Work {
        let regions = self.regions.lock();
        Work::new(regions.layout, regions.own, size, scalar)
    }

    /// Puts launches into the first of some streams, ordered with the others, too.
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

    /// What an operator means for values of a datatype.
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

    /// An operator of the program's own.
    pub fn add_operator(&self, of: DataType, scalar: Scalar) -> c_int {
        self.operators.lock().add((of, scalar))
    }

    /// It is used no more.
    pub fn remove_operator(&self, operator: c_int) -> Result {
        self.operators.lock().remove(operator)
    }

    /// Remembers a buffer. It changes nothing here: all that peers send goes through queues.
    pub fn add_buffer(&self) -> usize {
        let mut buffers = self.buffers.lock();
        buffers.next += 1;
        let handle = buffers.next;
        buffers.known.insert(handle);
        handle
    }

    /// Forgets it.
    pub fn remove_buffer(&self, handle: usize) -> Result {
        match self.buffers.lock().known.remove(&handle) {
            true => Ok(()),
            false => Err(Failure::argument("no such registration")),
        }
    }

    /// Waits until all that was asked of it is done.
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

    /// Whether it does nothing more.
    pub fn is_finalized(&self) -> bool {
        *self.finalized.lock()
    }

    /// Ends its kernels, which may wait for others that will never come.
    pub fn abort(&self) -> Result {
        cuda::on_device(self.device, || self.regions.lock().end_kernels(&self.order.lock().own))
    }

    /// Whether it is the only rank of its process.
    pub fn is_alone(&self) -> bool {
        let own = std::process::id();
        (0..self.ranks).filter(|&rank| self.board.process(rank) == own).count() == 1
    }

    /// Needs the other ranks no more.
    pub fn leave(&self) {
        self.board.leave();
    }

    /// Waits until none needs any.
    pub fn wait_for_all_to_leave(&self) {
        self.board.wait_for_all_to_leave();
    }

    /// Whether none needs any.
    pub fn have_all_left(&self) -> bool {
        self.board.have_all_left()
    }

    /// Bytes of its region.
    pub fn region_size(&self) -> u64 {
        self.regions.lock().layout.size()
    }

    /// Gives back what it has, but for the memory that others may use.
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
