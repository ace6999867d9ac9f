//! Runs that no program has made, as large as one likes: for tests, benchmarks and the viewer.
//!
//! The ranks form a grid and exchange halos with their neighbours, reduce over all, transpose
//! within their row, put to the next rank, copy to and from devices, write a file; and each sends
//! something from lines of its own, so that together they use as many lines and objects as asked
//! for. Everything follows from the shape: equal shapes give equal runs.

use commsan_rundir::traffic::{
    Bin, Calls, End, Extent, Frame, Key, Kind, Memory, Object, Place, Side, Snapshot, Transfer,
};
use commsan_rundir::{RunDirectory, RunInfo};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// How large a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Ranks.
    pub ranks: u32,
    /// Ranks on each host.
    pub per_node: u32,
    /// Devices of each host.
    pub devices: u32,
    /// Allocation sites.
    pub objects: u32,
    /// Lines with traffic, besides those that all ranks share.
    pub lines: u32,
    /// Time bins.
    pub bins: u32,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { ranks: 16, per_node: 4, devices: 2, objects: 12, lines: 64, bins: 64 }
    }
}

/// Lines of a source file.
const FILE_LINES: u32 = 1000;
/// Lines that all ranks share come first.
const SHARED: u32 = 40;
/// Nanoseconds of a bin.
const BIN: u64 = 16_000_000;
/// When the run begins, in nanoseconds since 1970: later than its sources are written.
const EPOCH: u64 = 4_000_000_000_000_000_000;
/// Bytes of an element.
const ELEMENT: u64 = 8;
/// Elements of a halo, and of a row of the grid that it belongs to.
const SIDE: u64 = 64;

/// Writes the run, with sources, into the new directory `path`.
///
/// # Errors
/// When something cannot be written.
pub fn write(path: &Path, shape: &Shape) -> io::Result<()> {
    let other = |error: commsan_rundir::RunError| io::Error::other(error.to_string());
    let run = RunDirectory::create_at(path).map_err(other)?;
    let mut info = RunInfo::new(vec!["mpirun".into(), "./synthetic".into()]);
    info.directory = run.path().to_owned();
    info.end(0);
    run.write_info(&info).map_err(other)?;
    for rank in 0..shape.ranks {
        std::fs::write(run.rank_traffic(rank), snapshot(shape, rank).encode())?;
    }
    for number in 0..=(SHARED + shape.lines) / FILE_LINES {
        std::fs::write(run.path().join(file_name(number)), source(shape, number))?;
    }
    Ok(())
}

fn file_name(number: u32) -> String {
    format!("part{number}.c")
}

/// What `rank` has counted.
pub fn snapshot(shape: &Shape, rank: u32) -> Snapshot {
    let mut writer = Writer::new(shape, rank);
    writer.halos();
    writer.collectives();
    writer.one_sided();
    writer.devices();
    writer.output();
    writer.own_lines();
    writer.snapshot
}

/// Lines of the program that all ranks share.
#[derive(Clone, Copy)]
enum Shared {
    Isend = 10,
    Irecv = 12,
    Wait = 14,
    Allreduce = 18,
    Alltoall = 20,
    Bcast = 22,
    Put = 26,
    ToDevice = 30,
    FromDevice = 32,
    Peer = 34,
    Write = 38,
}

/// The program's text: one statement a line, objects assigned where they are allocated.
fn source(shape: &Shape, number: u32) -> String {
    let mut text = String::new();
    for line in 1..=FILE_LINES {
        let global = number * FILE_LINES + line;
        let _ = match allocated_at(shape, global) {
            Some(object) => writeln!(text, "  double *field{object} = malloc(n * sizeof(double));"),
            None if global < SHARED => writeln!(text, "  shared({global}, buffer, count);"),
            None => writeln!(text, "  MPI_Send(field{}, n, MPI_DOUBLE, next, {global}, comm);", {
                global % shape.objects.max(1)
            }),
        };
    }
    text
}

/// Each object is allocated on an even line behind the shared ones.
fn allocation_line(object: u32) -> u32 {
    SHARED + 2 * object
}

fn allocated_at(shape: &Shape, line: u32) -> Option<u32> {
    let object = line.checked_sub(SHARED)? / 2;
    (allocation_line(object) == line && object < shape.objects).then_some(object)
}

struct Writer<'s> {
    shape: &'s Shape,
    rank: u32,
    random: SmallRng,
    snapshot: Snapshot,
    strings: rustc_hash::FxHashMap<String, u32>,
    stacks: rustc_hash::FxHashMap<Vec<Frame>, u32>,
    objects: rustc_hash::FxHashMap<(u32, u32), u32>,
}

impl<'s> Writer<'s> {
    fn new(shape: &'s Shape, rank: u32) -> Writer<'s> {
        let length = u64::from(shape.bins) * BIN;
        let snapshot = Snapshot {
            rank,
            size: shape.ranks,
            pid: 1000 + rank,
            host: format!("node{}", rank / shape.per_node.max(1)),
            pe: None,
            mpi: "Open MPI 4.1.4".to_owned(),
            program: "/opt/synthetic".to_owned(),
            began: EPOCH,
            until: EPOCH + length,
            complete: true,
            bin: BIN,
            epoch: EPOCH,
            sample: 1,
            stacks: vec![vec![]],
            groups: vec![(0..shape.ranks).map(Place::Rank).collect()],
            ..Snapshot::default()
        };
        let random = SmallRng::seed_from_u64(u64::from(rank));
        let (strings, stacks, objects) = Default::default();
        Writer { shape, rank, random, snapshot, strings, stacks, objects }
    }

    fn string(&mut self, text: &str) -> u32 {
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        let number = self.snapshot.strings.len() as u32;
        self.snapshot.strings.push(text.to_owned());
        self.strings.insert(text.to_owned(), number);
        number
    }

    /// A call path to `line`, counted over all files.
    fn stack(&mut self, line: u32) -> u32 {
        let (number, line) = ((line - 1) / FILE_LINES, (line - 1) % FILE_LINES + 1);
        let file = self.string(&file_name(number));
        let function = self.string(&format!("step{}", line / 50));
        let main = self.string("main");
        let first = self.string(&file_name(0));
        let frames = vec![Frame::Line(function, file, line), Frame::Line(main, first, 5)];
        if let Some(known) = self.stacks.get(&frames) {
            return *known;
        }
        let stack = self.snapshot.stacks.len() as u32;
        self.snapshot.stacks.push(frames.clone());
        self.stacks.insert(frames, stack);
        stack
    }

    /// An object, in host memory or, for devices, there.
    fn object(&mut self, number: u32, place: Place) -> Option<u32> {
        let number = number % self.shape.objects.max(1);
        let (memory, device) = match place {
            Place::Device(device) => (Memory::Device, device + 1),
            _ => (Memory::Heap, 0),
        };
        if let Some(known) = self.objects.get(&(number, device)) {
            return Some(*known);
        }
        let stack = self.stack(allocation_line(number));
        let call = if device > 0 { "cudaMalloc" } else { "malloc" };
        let call = Some(self.string(call));
        let position = self.snapshot.objects.len() as u32;
        self.snapshot.objects.push(Object {
            memory,
            place,
            stack,
            call,
            name: None,
            bytes: SIDE * SIDE * ELEMENT,
            count: 1,
            address: 0x7f00_0000_0000 + (u64::from(number) << 20),
            beside: vec![],
        });
        self.objects.insert((number, device), position);
        Some(position)
    }

    /// `count` in all, spread over bins.
    fn bins(&mut self, count: u64, amount: u64) -> Vec<Bin> {
        let first = self.random.random_range(0..self.shape.bins.max(1) / 2 + 1);
        let number = (u64::from(self.shape.bins.max(2)) / 2).min(count).max(1);
        let each = |of: u64, n: u64| of / number + u64::from(n < of % number);
        let bin = |n| Bin { bin: first + n as u32, count: each(count, n), amount: each(amount, n) };
        (0..number).map(bin).collect()
    }

    fn transfer(
        &mut self,
        line: u32,
        call: &str,
        kind: Kind,
        ends: (End, End),
        side: Side,
    ) -> usize {
        let (count, bytes) = (u64::from(self.shape.bins) * 2, u64::from(self.shape.bins) * 1024);
        let (call, path) = (self.string(call), self.stack(line));
        let key = Key {
            group: matches!(kind, Kind::PointToPoint | Kind::Collective).then_some(0),
            region: Some(self.string(if line < 26 { "solve" } else { "output" })),
            ..Key::new(kind, call, path, side, ends)
        };
        let bins = self.bins(count, bytes);
        let transfer = Transfer { bins, ..Transfer::new(key, count, bytes) };
        self.snapshot.transfers.push(transfer);
        self.snapshot.transfers.len() - 1
    }

    fn called(&mut self, line: u32, call: &str) {
        let (call, stack) = (self.string(call), self.stack(line));
        let (count, time) = (u64::from(self.shape.bins), u64::from(self.shape.bins) * BIN / 20);
        let time = time + u64::from(self.rank % 7) * 1000;
        let bins = self.bins(count, time);
        let (group, peer) = (None, None);
        let longest = time / 2;
        self.snapshot.calls.push(Calls { call, stack, group, peer, count, time, longest, bins });
    }

    fn me(&self) -> End {
        End::At(Place::Rank(self.rank))
    }

    fn width(&self) -> u32 {
        (1..=self.shape.ranks).take_while(|n| n * n <= self.shape.ranks).last().unwrap_or(1)
    }

    fn halos(&mut self) {
        let (width, ranks) = (self.width(), self.shape.ranks);
        let object = self.object(0, Place::Rank(self.rank));
        let (x, y) = (self.rank % width, self.rank / width);
        let neighbours = [
            (x > 0).then(|| self.rank - 1),
            (x + 1 < width).then(|| self.rank + 1),
            (y > 0).then(|| self.rank - width),
            Some(self.rank + width),
        ];
        for (direction, neighbour) in neighbours.into_iter().enumerate() {
            let Some(neighbour) = neighbour.filter(|n| *n < ranks && *n != self.rank) else {
                continue;
            };
            let (me, it) = (self.me(), End::At(Place::Rank(neighbour)));
            let p2p = Kind::PointToPoint;
            let sent =
                self.transfer(Shared::Isend as u32, "MPI_Isend", p2p, (me, it), Side::Source);
            let got = self.transfer(Shared::Irecv as u32, "MPI_Irecv", p2p, (it, me), Side::Target);
            for (row, inner) in [(sent, 1), (got, 0)] {
                let transfer = &mut self.snapshot.transfers[row];
                (transfer.key.object, transfer.key.tag) = (object, Some(0));
                transfer.extents = halo(direction, inner, transfer.count);
            }
        }
        self.called(Shared::Wait as u32, "MPI_Waitall");
    }

    fn collectives(&mut self) {
        if self.shape.ranks < 2 {
            return;
        }
        let (me, kind) = (self.me(), Kind::Collective);
        let object = self.object(1, Place::Rank(self.rank));
        for side in [Side::Source, Side::Target] {
            let ends =
                if side == Side::Source { (me, End::Others(0)) } else { (End::Others(0), me) };
            let row = self.transfer(Shared::Allreduce as u32, "MPI_Allreduce", kind, ends, side);
            let transfer = &mut self.snapshot.transfers[row];
            transfer.key.object = object;
            transfer.extents = vec![Extent { start: 0, bytes: ELEMENT, count: transfer.count }];
        }
        self.called(Shared::Allreduce as u32, "MPI_Allreduce");
        let width = self.width();
        let first = self.rank / width * width;
        let row: Vec<Place> =
            (first..(first + width).min(self.shape.ranks)).map(Place::Rank).collect();
        if row.len() > 1 {
            self.snapshot.groups.push(row);
            let ends = (me, End::Others(1));
            let row =
                self.transfer(Shared::Alltoall as u32, "MPI_Alltoall", kind, ends, Side::Source);
            self.snapshot.transfers[row].key.group = Some(1);
            self.snapshot.transfers[row].key.object = object;
            self.called(Shared::Alltoall as u32, "MPI_Alltoall");
        }
        let root = End::At(Place::Rank(0));
        let (ends, side) = match self.rank {
            0 => ((root, End::Others(0)), Side::Source),
            _ => ((root, me), Side::Target),
        };
        let row = self.transfer(Shared::Bcast as u32, "MPI_Bcast", kind, ends, side);
        self.snapshot.transfers[row].key.object = object;
    }

    fn one_sided(&mut self) {
        let next = (self.rank + 1) % self.shape.ranks;
        if next != self.rank {
            let ends = (self.me(), End::At(Place::Rank(next)));
            let object = self.object(2, Place::Rank(self.rank));
            let row = self.transfer(Shared::Put as u32, "MPI_Put", Kind::Rma, ends, Side::Source);
            self.snapshot.transfers[row].key.object = object;
        }
    }

    fn devices(&mut self) {
        if self.shape.devices == 0 {
            return;
        }
        let number = self.rank % self.shape.per_node.max(1) % self.shape.devices;
        let (here, device) = (Place::Rank(self.rank), Place::Device(number));
        let other = Place::Device((number + 1) % self.shape.devices);
        for (line, call, kind, from, to) in [
            (Shared::ToDevice, "cudaMemcpy", Kind::HostToDevice, here, device),
            (Shared::FromDevice, "cudaMemcpyAsync", Kind::DeviceToHost, device, here),
            (Shared::Peer, "ld.global.f32", Kind::PeerLoad, other, device),
        ] {
            if from == to {
                continue;
            }
            let ends = (End::At(from), End::At(to));
            let (object, target) = (self.object(3, from), self.object(4, to));
            let row = self.transfer(line as u32, call, kind, ends, Side::Both);
            let transfer = &mut self.snapshot.transfers[row];
            (transfer.key.object, transfer.key.other) = (object, target);
            transfer.extents = halo(0, 0, transfer.count);
            transfer.other_extents = halo(2, 0, transfer.count);
        }
    }

    fn output(&mut self) {
        let file = self.string("/scratch/synthetic.out");
        let ends = (self.me(), End::At(Place::File(file)));
        self.transfer(Shared::Write as u32, "MPI_File_write", Kind::FileWrite, ends, Side::Both);
    }

    /// This rank's share of the lines; its successor receives on the line after each.
    fn own_lines(&mut self) {
        let ranks = self.shape.ranks;
        if ranks < 2 {
            return;
        }
        let before = (self.rank + ranks - 1) % ranks;
        let next = End::At(Place::Rank((self.rank + 1) % ranks));
        for line in self.lines_of(self.rank) {
            let ends = (self.me(), next);
            self.message(line, line, "MPI_Send", ends, Side::Source);
        }
        for line in self.lines_of(before) {
            let ends = (End::At(Place::Rank(before)), self.me());
            self.message(line + 1, line, "MPI_Recv", ends, Side::Target);
        }
    }

    fn message(&mut self, line: u32, tag: u32, call: &str, ends: (End, End), side: Side) {
        let object = self.object(line, Place::Rank(self.rank));
        let row = self.transfer(line, call, Kind::PointToPoint, ends, side);
        let transfer = &mut self.snapshot.transfers[row];
        (transfer.key.object, transfer.key.tag) = (object, Some(tag as i32));
        let start = u64::from(line % 32) * SIDE * ELEMENT;
        transfer.extents = vec![Extent { start, bytes: SIDE * ELEMENT, count: transfer.count }];
    }

    /// Odd lines, so that nothing is sent where something is allocated.
    fn lines_of(&self, rank: u32) -> Vec<u32> {
        let (lines, ranks) = (u64::from(self.shape.lines / 2), u64::from(self.shape.ranks));
        let share = |rank: u64| lines * rank / ranks;
        let all = share(rank.into())..share(u64::from(rank) + 1);
        all.map(|line| SHARED + 1 + 2 * line as u32).collect()
    }
}

/// A side of a square of [`SIDE`]² elements: left, right, top, bottom; so far from the edge.
fn halo(direction: usize, inner: u64, count: u64) -> Vec<Extent> {
    let extent = |first: u64, elements: u64| Extent {
        start: first * ELEMENT,
        bytes: elements * ELEMENT,
        count,
    };
    match direction {
        0 => (0..SIDE).map(|row| extent(row * SIDE + inner, 1)).collect(),
        1 => (0..SIDE).map(|row| extent(row * SIDE + SIDE - 1 - inner, 1)).collect(),
        2 => vec![extent(inner * SIDE, SIDE)],
        _ => vec![extent((SIDE - 1 - inner) * SIDE, SIDE)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_what_readers_take() {
        let shape = Shape { ranks: 5, ..Shape::default() };
        for rank in 0..5 {
            let snapshot = snapshot(&shape, rank);
            assert_eq!(Snapshot::decode(&snapshot.encode()).unwrap(), snapshot);
            for transfer in &snapshot.transfers {
                let total = |of: fn(&Bin) -> u64| transfer.bins.iter().map(of).sum::<u64>();
                assert_eq!(total(|bin| bin.count), transfer.count);
                assert_eq!(total(|bin| bin.amount), transfer.bytes);
            }
        }
    }
}
