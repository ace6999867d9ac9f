//! Where the ranks of a communicator have their regions, and how each reaches the others'.

use crate::board::{Board, MESSAGE_BYTES, message, word};
use crate::cuda::{self, IpcHandle, Stream};
use crate::error::{Failure, Result};
use crate::region::Layout;
use crate::retired;

/// A rank's region, and those of others where it reaches them.
#[derive(Debug)]
pub struct Regions {
    /// Where things are in each.
    pub layout: Layout,
    /// Its own.
    pub own: u64,
    /// Those of other processes, mapped here.
    opened: Vec<u64>,
}

impl Regions {
    /// Makes this rank's region on the current device, and finds the others'. When it returns, all
    /// are ready.
    pub fn make(
        board: &Board,
        rank: usize,
        ranks: usize,
        slot: u64,
        stream: &Stream,
    ) -> Result<Regions> {
        let device = cuda::device()?;
        let told = board.exchange(&message(&[device as u64, slot]))?;
        let devices: Vec<i32> = told.iter().map(|message| word(message, 0) as i32).collect();
        if let Some(other) = (0..ranks).find(|&r| r != rank && devices[r] == device) {
            return Err(Failure::usage(format!(
                "Duplicate GPU detected : rank {rank} and rank {other} both on CUDA device {device}"
            )));
        }
        // The environments of ranks may differ; the first rank's counts.
        let layout = Layout { ranks, slot: word(&told[0], 1) };
        let own = match retired::take(device, layout.size())? {
            Some(region) => region,
            None => cuda::allocate(layout.size() as usize)?,
        };
        let mut regions = Regions { layout, own, opened: Vec::new() };
        let found = regions.find(board, rank, &devices);
        let bases = found.inspect_err(|_| regions.release_quietly())?;
        stream.write(regions.own, &layout.header_of(rank, &bases))?;
        // Nobody may be told of anything in a region that is not ready.
        board.exchange(&message(&[]))?;
        Ok(regions)
    }

    /// Where this rank reaches all regions.
    fn find(&mut self, board: &Board, rank: usize, devices: &[i32]) -> Result<Vec<u64>> {
        let own_process = std::process::id();
        let is_here = |rank: usize| board.process(rank) == own_process;
        let mut told = message(&[self.own]);
        if (0..devices.len()).any(|rank| !is_here(rank)) {
            told[64..].copy_from_slice(&cuda::export(self.own)?.0);
        }
        let all = board.exchange(&told)?;
        let mut bases = Vec::new();
        for (peer, told) in all.iter().enumerate() {
            bases.push(if peer == rank {
                self.own
            } else if is_here(peer) {
                cuda::reach(devices[peer])?;
                word(told, 0)
            } else {
                let handle = IpcHandle(std::array::from_fn(|at| told[MESSAGE_BYTES - 64 + at]));
                let base = cuda::open(handle)?;
                self.opened.push(base);
                base
            });
        }
        Ok(bases)
    }

    /// Ends kernels that wait in it.
    pub fn end_kernels(&self, stream: &Stream) -> Result {
        stream.set(self.own, 1, size_of::<u32>())
    }

    /// Gives back what it has of other processes; what is left is its own region.
    pub fn close(&mut self) -> Result<u64> {
        for base in self.opened.drain(..) {
            cuda::close(base)?;
        }
        Ok(self.own)
    }

    /// Gives back what there is when something else has failed.
    fn release_quietly(&mut self) {
        let _ = self.close().and_then(cuda::free);
    }
}
