//! From what a program asks of a collective to a kernel and its work.

use crate::abi::DataType;
use crate::communicator::Communicator;
use crate::datatype::Reduction;
use crate::error::Result;
use crate::kernels::Kernel;
use crate::schedule::{self, Phase, Place};
use crate::settings::Algorithm;
use crate::work::{Buffers, Scalar, Work};
use std::ffi::c_int;

/// Which collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `ncclAllGather`
    AllGather,
    /// `ncclAllReduce`
    AllReduce,
    /// `ncclBroadcast`
    Broadcast,
    /// `ncclReduce`
    Reduce,
    /// `ncclReduceScatter`
    ReduceScatter,
}

/// A collective as the program asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// Which one.
    pub function: Function,
    /// Where this rank's values are.
    pub input: u64,
    /// Where it wants the result.
    pub output: u64,
    /// Values, as the function counts them.
    pub count: usize,
    /// Their type.
    pub datatype: DataType,
    /// How they are reduced, if they are.
    pub operator: c_int,
    /// The rank that has or gets all, if one does.
    pub root: usize,
}

impl Collective {
    /// The kernel that does it, and what that is given; nothing if there are no values.
    pub fn launch(&self, on: &Communicator) -> Result<Option<(Kernel, Work)>> {
        if self.count == 0 {
            return Ok(None);
        }
        let place = Place { rank: on.rank, ranks: on.ranks };
        let (count, of, root) = (self.count, self.datatype, self.root);
        let (kernel, phases, size, scalar) = match self.function {
            Function::AllGather | Function::Broadcast => {
                // Bytes are moved, whatever their type.
                let bytes = count * of.size();
                let (kernel, phases) = match self.function {
                    Function::AllGather => (Kernel::AllGather, schedule::all_gather(place, bytes)),
                    _ => (Kernel::Broadcast, schedule::broadcast(place, bytes, root)),
                };
                (kernel, phases, 1, Scalar::Value(0))
            }
            Function::AllReduce | Function::Reduce | Function::ReduceScatter => {
                let (by, scalar) = on.reduction(self.operator, of)?;
                let (kernel, phases) = self.reduce(on, place, by);
                (kernel, phases, of.size(), scalar)
            }
        };
        let buffers = Buffers { input: self.input, output: self.output, size };
        let mut work = on.work(size, scalar);
        work.add_blocks(&phases[..1], &[buffers]);
        phases[1..].iter().for_each(|phase| work.follow(0, phase, buffers));
        Ok(Some((kernel, work)))
    }

    fn reduce(&self, on: &Communicator, place: Place, by: Reduction) -> (Kernel, Vec<Phase>) {
        let (count, of, root) = (self.count, self.datatype, self.root);
        match self.function {
            Function::Reduce => (Kernel::Reduce(of, by), schedule::reduce(place, count, root)),
            Function::ReduceScatter => {
                (Kernel::ReduceScatter(of, by), schedule::reduce_scatter(place, count))
            }
            _ => match on.settings.algorithm_for(count * of.size()) {
                Algorithm::Ring => (
                    Kernel::AllReduceRing(of, by),
                    schedule::all_reduce_ring(place, count, of.size()),
                ),
                Algorithm::Tree => {
                    (Kernel::AllReduceTree(of, by), schedule::all_reduce_tree(place, count))
                }
            },
        }
    }
}
