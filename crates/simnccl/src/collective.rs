//! Maps collectives to kernels: validates arguments, chooses the algorithm, builds the work.

use crate::abi::DataType;
use crate::communicator::Communicator;
use crate::datatype::Reduction;
use crate::error::Result;
use crate::kernels::Kernel;
use crate::schedule::{self, Phase, Place};
use crate::settings::Algorithm;
use crate::work::{Buffers, Scalar, Work};
use std::ffi::c_int;

/// The kind of a collective.
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

/// A collective as the program requests it.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// Its kind.
    pub function: Function,
    /// Address of this rank's input.
    pub input: u64,
    /// Address of this rank's output.
    pub output: u64,
    /// Number of values, as the function defines it.
    pub count: usize,
    /// The type of the values.
    pub datatype: DataType,
    /// The reduction operator, for reductions.
    pub operator: c_int,
    /// The root, for rooted collectives.
    pub root: usize,
}

impl Collective {
    /// The kernel and its work; `None` if there are no values.
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
