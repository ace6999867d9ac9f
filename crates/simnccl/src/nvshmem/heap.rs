//! Symmetric memory: what is allocated together, and where each PE has it.

use super::World;
use crate::board::{MESSAGE_BYTES, message, word};
use crate::cuda::{self, IpcHandle};
use crate::error::{Failure, Result};
use std::collections::BTreeMap;

/// An allocation.
struct Block {
    bytes: usize,
    /// Where it is at each PE, as this process reaches it.
    at: Vec<usize>,
}

/// All of them, by where they are here.
#[derive(Default)]
pub struct Heap(BTreeMap<usize, Block>);

impl Heap {
    /// Where some bytes are at a PE.
    pub fn at(&self, address: usize, bytes: usize, pe: usize) -> Option<usize> {
        let (start, block) = self.0.range(..=address).next_back()?;
        let offset = address - start;
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= block.bytes);
        fits.then(|| block.at[pe] + offset)
    }
}

impl World {
    /// All PEs allocate so much; gives where it is here.
    pub fn allocate(&self, bytes: usize) -> Result<usize> {
        if bytes == 0 {
            return Ok(0);
        }
        let board = self.board.lock();
        let own = cuda::allocate(bytes)?;
        let mut told = message(&[bytes as u64]);
        if self.pes > 1 {
            told[MESSAGE_BYTES - 64..].copy_from_slice(&cuda::export(own)?.0);
        }
        let told = board.exchange(&told)?;
        if let Some(pe) = (0..self.pes).find(|&pe| word(&told[pe], 0) != bytes as u64) {
            let theirs = word(&told[pe], 0);
            return Err(Failure::usage(format!(
                "PE {} allocates {bytes} bytes, and PE {pe} {theirs}: symmetric allocations are of one size",
                self.pe
            )));
        }
        let mut at = Vec::new();
        for (pe, told) in told.iter().enumerate() {
            let handle = || IpcHandle(std::array::from_fn(|at| told[MESSAGE_BYTES - 64 + at]));
            let base = if pe == self.pe { own } else { cuda::open(handle())? };
            at.push(base as usize);
        }
        // Nobody may use what others have not opened yet.
        board.exchange(&message(&[]))?;
        self.heap.write().0.insert(own as usize, Block { bytes, at });
        Ok(own as usize)
    }

    /// All PEs give an allocation back.
    pub fn free(&self, address: usize) -> Result {
        if address == 0 {
            return Ok(());
        }
        let known = self.heap.write().0.remove(&address);
        let unknown = || Failure::argument(format!("{address:#x} is not from nvshmem_malloc"));
        let block = known.ok_or_else(unknown)?;
        let board = self.board.lock();
        // Whoever writes there has done so.
        board.exchange(&message(&[]))?;
        let others = block.at.iter().enumerate().filter(|(pe, _)| *pe != self.pe);
        let closed: Vec<Result> = others.map(|(_, base)| cuda::close(*base as u64)).collect();
        // Nobody waits for one whose device has failed.
        board.exchange(&message(&[]))?;
        let freed = cuda::free(address as u64);
        closed.into_iter().chain([freed]).collect()
    }

    /// All PEs give back what is left.
    pub fn free_all(&self) -> Result {
        // In the order of their addresses, which is the same everywhere if the program is; and if
        // not, they go anyway.
        let left: Vec<usize> = self.heap.read().0.keys().copied().collect();
        let freed: Vec<Result> = left.into_iter().map(|address| self.free(address)).collect();
        freed.into_iter().collect()
    }
}
