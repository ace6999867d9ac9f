//! The regions of a communicator's ranks, and how each rank accesses the others'.

use crate::cuda::{self, IpcHandle, Stream};
use crate::error::{Failure, Result};
use crate::region::Layout;
use crate::rendezvous::{MESSAGE_BYTES, Rendezvous, message, word};
use crate::retired;

/// A rank's region, and its mappings of the others'.
#[derive(Debug)]
pub struct Regions {
    /// The layout of each region.
    pub layout: Layout,
    /// The address of its own region.
    pub own: u64,
    /// Regions of other processes, mapped here.
    opened: Vec<u64>,
}

impl Regions {
    /// Creates this rank's region on the current device, and finds the others'. All are ready when
    /// it returns.
    pub fn make(
        rendezvous: &Rendezvous,
        rank: usize,
        ranks: usize,
        slot: u64,
        stream: &Stream,
    ) -> Result<Regions> {
        let device = cuda::device()?;
        let messages = rendezvous.exchange(&message(&[device as u64, slot]))?;
        let devices: Vec<i32> = messages.iter().map(|message| word(message, 0) as i32).collect();
        if let Some(other) = (0..ranks).find(|&r| r != rank && devices[r] == device) {
            return Err(Failure::usage(format!(
                "Duplicate GPU detected : rank {rank} and rank {other} both on CUDA device {device}"
            )));
        }
        // The environments of ranks may differ; the first rank's counts.
        let layout = Layout { ranks, slot: word(&messages[0], 1) };
        let own = match retired::take(device, layout.size())? {
            Some(region) => region,
            None => cuda::allocate(layout.size() as usize)?,
        };
        let mut regions = Regions { layout, own, opened: Vec::new() };
        let found = regions.find(rendezvous, rank, &devices);
        let bases = found.inspect_err(|_| regions.release_quietly())?;
        stream.write(regions.own, &layout.header_of(rank, &bases))?;
        // No rank may write into a region that is not ready.
        rendezvous.exchange(&message(&[]))?;
        Ok(regions)
    }

    /// The addresses at which this rank accesses all regions.
    fn find(&mut self, rendezvous: &Rendezvous, rank: usize, devices: &[i32]) -> Result<Vec<u64>> {
        let own_process = std::process::id();
        let is_here = |rank: usize| rendezvous.process(rank) == own_process;
        let mut own = message(&[self.own]);
        if (0..devices.len()).any(|rank| !is_here(rank)) {
            own[64..].copy_from_slice(&cuda::export(self.own)?.0);
        }
        let all = rendezvous.exchange(&own)?;
        let mut bases = Vec::new();
        for (peer, message) in all.iter().enumerate() {
            bases.push(if peer == rank {
                self.own
            } else if is_here(peer) {
                cuda::reach(devices[peer])?;
                word(message, 0)
            } else {
                let handle = IpcHandle(std::array::from_fn(|at| message[MESSAGE_BYTES - 64 + at]));
                let base = cuda::open(handle)?;
                self.opened.push(base);
                base
            });
        }
        Ok(bases)
    }

    /// Ends kernels that wait in the region.
    pub fn end_kernels(&self, stream: &Stream) -> Result {
        stream.set(self.own, 1, size_of::<u32>())
    }

    /// Closes the mappings of other processes' regions; returns the own region.
    pub fn close(&mut self) -> Result<u64> {
        for base in self.opened.drain(..) {
            cuda::close(base)?;
        }
        Ok(self.own)
    }

    /// Releases everything after another failure, ignoring errors.
    fn release_quietly(&mut self) {
        let _ = self.close().and_then(cuda::free);
    }
}
