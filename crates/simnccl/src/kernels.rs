//! The kernels: each is generated and registered when it is first launched.

use crate::abi::DataType;
use crate::cuda;
use crate::datatype::{Reduction, arithmetic};
use crate::error::Result;
use crate::fatbin::{self, Wrapper};
use crate::ptx::{self, Values};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::CString;
use std::sync::LazyLock;

/// A kernel, by function and algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `ncclAllGather`
    AllGather,
    /// `ncclAllReduce` by ring.
    AllReduceRing(DataType, Reduction),
    /// `ncclAllReduce` by tree.
    AllReduceTree(DataType, Reduction),
    /// `ncclBroadcast`
    Broadcast,
    /// `ncclReduce`
    Reduce(DataType, Reduction),
    /// `ncclReduceScatter`
    ReduceScatter(DataType, Reduction),
    /// `ncclSend`, `ncclRecv`, and collectives made of them.
    SendRecv,
}

impl Kernel {
    /// The kernel's name, which profilers show.
    pub fn name(self) -> String {
        let reduction = |name: &str, of, reduction: Reduction| {
            format!("commsan_nccl_{name}_{}_{}", arithmetic(of).name, reduction.name())
        };
        match self {
            Kernel::AllGather => "commsan_nccl_allgather_ring".to_owned(),
            Kernel::AllReduceRing(of, by) => reduction("allreduce_ring", of, by),
            Kernel::AllReduceTree(of, by) => reduction("allreduce_tree", of, by),
            Kernel::Broadcast => "commsan_nccl_broadcast_ring".to_owned(),
            Kernel::Reduce(of, by) => reduction("reduce_ring", of, by),
            Kernel::ReduceScatter(of, by) => reduction("reducescatter_ring", of, by),
            Kernel::SendRecv => "commsan_nccl_sendrecv".to_owned(),
        }
    }

    /// What it does with values.
    pub fn values(self) -> Values {
        match self {
            Kernel::AllGather | Kernel::Broadcast | Kernel::SendRecv => Values::Move,
            Kernel::AllReduceRing(of, by)
            | Kernel::AllReduceTree(of, by)
            | Kernel::Reduce(of, by)
            | Kernel::ReduceScatter(of, by) => Values::Reduce(of, by),
        }
    }

    /// The key under which the runtime knows it.
    fn key(self) -> Result<usize> {
        static KEYS: LazyLock<Mutex<FxHashMap<Kernel, usize>>> = LazyLock::new(Mutex::default);
        let mut keys = KEYS.lock();
        if let Some(&key) = keys.get(&self) {
            return Ok(key);
        }
        let key = self.register()?;
        keys.insert(self, key);
        Ok(key)
    }

    /// Registers its module, forever.
    fn register(self) -> Result<usize> {
        let name = self.name();
        let text = ptx::module(&name, self.values());
        let fatbin = fatbin::with_ptx(&text, ptx::ARCHITECTURE, ptx::VERSION).leak();
        let name: &'static CString = Box::leak(Box::new(CString::new(name).unwrap_or_default()));
        cuda::register(Box::leak(Box::new(Wrapper::of(fatbin))), name)
    }

    /// Launches it on the current device.
    pub fn launch(self, blocks: u32, parameter: &[u8], stream: usize) -> Result {
        cuda::launch(self.key()?, blocks, ptx::THREADS, parameter, stream)
    }
}
