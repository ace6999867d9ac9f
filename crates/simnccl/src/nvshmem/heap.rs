//! The symmetric heap: collective allocations, and their addresses at each PE.

use super::World;
use crate::cuda::{self, IpcHandle};
use crate::error::{Failure, Result};
use crate::rendezvous::{MESSAGE_BYTES, message, word};
use std::collections::BTreeMap;
use std::ops::Range;

/// An allocation.
struct Block {
    bytes: usize,
    /// Its address at each PE, as mapped in this process.
    at: Vec<usize>,
}

/// All allocations, by their local address.
#[derive(Default)]
pub struct Heap(BTreeMap<usize, Block>);

impl Heap {
    /// The address of some bytes at a PE, as mapped here; `None` outside of allocations.
    pub fn at(&self, address: usize, bytes: usize, pe: usize) -> Option<usize> {
        let (start, block) = self.0.range(..=address).next_back()?;
        let offset = address - start;
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= block.bytes);
        fits.then(|| block.at[pe] + offset)
    }

    /// The allocation that an address lies in, and where it is mapped here for each PE.
    pub fn block(&self, address: usize) -> Option<(Range<usize>, &[usize])> {
        let (&start, block) = self.0.range(..=address).next_back()?;
        let bytes = start..start + block.bytes;
        bytes.contains(&address).then_some((bytes, &block.at))
    }
}

impl World {
    /// Allocates at all PEs; returns the local address.
    pub fn allocate(&self, bytes: usize) -> Result<usize> {
        if bytes == 0 {
            return Ok(0);
        }
        let rendezvous = self.rendezvous.lock();
        let own = cuda::allocate(bytes)?;
        let mut own_message = message(&[bytes as u64]);
        if self.pes > 1 {
            own_message[MESSAGE_BYTES - 64..].copy_from_slice(&cuda::export(own)?.0);
        }
        let messages = rendezvous.exchange(&own_message)?;
        if let Some(pe) = (0..self.pes).find(|&pe| word(&messages[pe], 0) != bytes as u64) {
            let theirs = word(&messages[pe], 0);
            return Err(Failure::usage(format!(
                "PE {} allocates {bytes} bytes, and PE {pe} {theirs}: symmetric allocations are of one size",
                self.pe
            )));
        }
        let mut at = Vec::new();
        for (pe, message) in messages.iter().enumerate() {
            let handle = || IpcHandle(std::array::from_fn(|at| message[MESSAGE_BYTES - 64 + at]));
            let base = if pe == self.pe { own } else { cuda::open(handle())? };
            at.push(base as usize);
        }
        // No PE may use an allocation that others have not opened yet.
        rendezvous.exchange(&message(&[]))?;
        self.heap.write().0.insert(own as usize, Block { bytes, at });
        Ok(own as usize)
    }

    /// Frees an allocation at all PEs.
    pub fn free(&self, address: usize) -> Result {
        if address == 0 {
            return Ok(());
        }
        let known = self.heap.write().0.remove(&address);
        let unknown = || Failure::argument(format!("{address:#x} is not from nvshmem_malloc"));
        let block = known.ok_or_else(unknown)?;
        let rendezvous = self.rendezvous.lock();
        // Writes of other PEs are complete after this exchange.
        rendezvous.exchange(&message(&[]))?;
        let others = block.at.iter().enumerate().filter(|(pe, _)| *pe != self.pe);
        let closed: Vec<Result> = others.map(|(_, base)| cuda::close(*base as u64)).collect();
        // No PE waits for one whose device has failed.
        rendezvous.exchange(&message(&[]))?;
        let freed = cuda::free(address as u64);
        closed.into_iter().chain([freed]).collect()
    }

    /// Frees all remaining allocations at all PEs.
    pub fn free_all(&self) -> Result {
        // In the order of addresses, which is the same everywhere if the program is symmetric;
        // otherwise they are freed anyway.
        let left: Vec<usize> = self.heap.read().0.keys().copied().collect();
        let freed: Vec<Result> = left.into_iter().map(|address| self.free(address)).collect();
        freed.into_iter().collect()
    }
}
