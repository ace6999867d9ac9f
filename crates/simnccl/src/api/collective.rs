//! Collectives, sends and receives.

use super::entry::{datatype, rank};
use crate::collective::{Collective, Function};
use crate::communicator::Communicator;
use crate::cuda;
use crate::error::{Failure, Result};
use crate::group::{self, Task};
use crate::p2p::{Direction, Operation};
use crate::registry;
use std::ffi::c_int;
use std::sync::Arc;

/// The operator number of operations without a reduction.
const NO_OPERATOR: c_int = 0;
/// The root of operations without one.
const NO_ROOT: c_int = 0;

/// A collective's arguments.
struct Arguments {
    function: Function,
    input: u64,
    output: u64,
    count: usize,
    datatype: c_int,
    operator: c_int,
    root: c_int,
    comm: usize,
    stream: usize,
}

/// Accepts and ignores a per-call configuration: nothing that it controls is simulated.
fn unconfigured(configuration: usize) -> Result {
    if configuration == 0 {
        return Ok(());
    }
    Err(Failure::usage("configurations of single calls are not simulated"))
}

/// The communicator of a handle, if it may still be used.
fn usable(comm: usize) -> Result<Arc<Communicator>> {
    let comm = registry::get(comm)?;
    if comm.is_finalized() {
        return Err(Failure::argument("the communicator was finalized"));
    }
    Ok(comm)
}

/// Checks a pointer if `NCCL_CHECK_POINTERS` asks for it.
fn check_pointer(comm: &Communicator, name: &str, address: u64) -> Result {
    if comm.settings.checks_pointers && cuda::is_foreign(address, comm.device)? {
        let what = format!("{name} {address:#x} is not memory of device {}", comm.device);
        return Err(Failure::argument(what));
    }
    Ok(())
}

fn collective(arguments: Arguments) -> Result {
    let Arguments { function, input, output, count, operator, stream, .. } = arguments;
    let comm = usable(arguments.comm)?;
    let root = rank(arguments.root, comm.ranks)?;
    let datatype = datatype(arguments.datatype)?;
    comm.reduction(operator, datatype)?;
    if function != Function::Broadcast || comm.rank == root {
        check_pointer(&comm, "sendbuff", input)?;
    }
    if function != Function::Reduce || comm.rank == root {
        check_pointer(&comm, "recvbuff", output)?;
    }
    let task = Collective { function, input, output, count, datatype, operator, root };
    group::ask(comm, stream, Task::Collective(task))
}

/// A send or receive's arguments.
#[derive(Clone, Copy)]
struct Message {
    way: Direction,
    buffer: u64,
    count: usize,
    datatype: c_int,
    peer: c_int,
    comm: usize,
    stream: usize,
}

fn message(message: Message) -> Result {
    let Message { way, buffer, count, stream, .. } = message;
    let comm = usable(message.comm)?;
    let peer = rank(message.peer, comm.ranks)?;
    let bytes = count * datatype(message.datatype)?.size();
    if bytes > 0 {
        check_pointer(&comm, "buff", buffer)?;
    }
    group::ask(comm, stream, Task::Message(Operation { way, peer, buffer, bytes }))
}

/// A collective made of sends and receives: for each peer in turn, what this rank sends to it and
/// receives from it, in blocks of `count` values.
struct Exchange {
    count: usize,
    datatype: c_int,
    comm: usize,
    stream: usize,
}

impl Exchange {
    /// `sends` and `receives` return, for each peer, the buffer's address and the block in it.
    fn ask(
        &self,
        sends: impl Fn(usize, usize) -> Option<(u64, usize)>,
        receives: impl Fn(usize, usize) -> Option<(u64, usize)>,
    ) -> Result {
        let Exchange { count, datatype: of, comm, stream } = *self;
        let (own, size) = (usable(comm)?, datatype(of)?.size());
        group::start();
        let each = |peer: usize| {
            let ask = |way: Direction, place: Option<(u64, usize)>| {
                let Some((buffer, block)) = place else { return Ok(()) };
                let buffer = buffer + (block * count * size) as u64;
                message(Message {
                    way,
                    buffer,
                    count,
                    datatype: of,
                    peer: peer as c_int,
                    comm,
                    stream,
                })
            };
            ask(Direction::Send, sends(own.rank, peer))?;
            ask(Direction::Receive, receives(own.rank, peer))
        };
        let asked = (0..own.ranks).try_for_each(each);
        asked.and(group::end())
    }
}

fn all_to_all(send: u64, receive: u64, exchange: &Exchange) -> Result {
    exchange.ask(|_, peer| Some((send, peer)), |_, peer| Some((receive, peer)))
}

fn gather(send: u64, receive: u64, root: c_int, exchange: &Exchange) -> Result {
    let root = rank(root, usable(exchange.comm)?.ranks)?;
    exchange.ask(
        |_, peer| (peer == root).then_some((send, 0)),
        |own, peer| (own == root).then_some((receive, peer)),
    )
}

fn scatter(send: u64, receive: u64, root: c_int, exchange: &Exchange) -> Result {
    let root = rank(root, usable(exchange.comm)?.ranks)?;
    exchange.ask(
        |own, peer| (own == root).then_some((send, peer)),
        |_, peer| (peer == root).then_some((receive, 0)),
    )
}

/// Defines a function and its variant with a configuration, each under both names.
macro_rules! collectives {
    ($( fn $name:ident | $twin:ident, $configured:ident | $configured_twin:ident
        ($($arg:ident: $ty:ty),* $(,)?) $body:block )*) => { $(
        calls! {
            fn $name | $twin ($($arg: $ty),*) $body
            fn $configured | $configured_twin ($($arg: $ty,)* configuration: usize) {
                unconfigured(configuration)?;
                $body
            }
        }
    )* };
}

collectives! {
    fn ncclAllReduce | pncclAllReduce, ncclAllReduceConfig | pncclAllReduceConfig (
        input: u64, output: u64, count: usize, datatype: c_int, operator: c_int, comm: usize, stream: usize,
    ) {
        let (function, root) = (Function::AllReduce, NO_ROOT);
        collective(Arguments { function, input, output, count, datatype, operator, root, comm, stream })
    }

    fn ncclReduce | pncclReduce, ncclReduceConfig | pncclReduceConfig (
        input: u64, output: u64, count: usize, datatype: c_int, operator: c_int, root: c_int,
        comm: usize, stream: usize,
    ) {
        let function = Function::Reduce;
        collective(Arguments { function, input, output, count, datatype, operator, root, comm, stream })
    }

    fn ncclReduceScatter | pncclReduceScatter, ncclReduceScatterConfig | pncclReduceScatterConfig (
        input: u64, output: u64, count: usize, datatype: c_int, operator: c_int, comm: usize, stream: usize,
    ) {
        let (function, root) = (Function::ReduceScatter, NO_ROOT);
        collective(Arguments { function, input, output, count, datatype, operator, root, comm, stream })
    }

    fn ncclBroadcast | pncclBroadcast, ncclBroadcastConfig | pncclBroadcastConfig (
        input: u64, output: u64, count: usize, datatype: c_int, root: c_int, comm: usize, stream: usize,
    ) {
        let (function, operator) = (Function::Broadcast, NO_OPERATOR);
        collective(Arguments { function, input, output, count, datatype, operator, root, comm, stream })
    }

    fn ncclAllGather | pncclAllGather, ncclAllGatherConfig | pncclAllGatherConfig (
        input: u64, output: u64, count: usize, datatype: c_int, comm: usize, stream: usize,
    ) {
        let (function, operator, root) = (Function::AllGather, NO_OPERATOR, NO_ROOT);
        collective(Arguments { function, input, output, count, datatype, operator, root, comm, stream })
    }

    fn ncclAlltoAll | pncclAlltoAll, ncclAlltoAllConfig | pncclAlltoAllConfig (
        input: u64, output: u64, count: usize, datatype: c_int, comm: usize, stream: usize,
    ) {
        all_to_all(input, output, &Exchange { count, datatype, comm, stream })
    }

    fn ncclGather | pncclGather, ncclGatherConfig | pncclGatherConfig (
        input: u64, output: u64, count: usize, datatype: c_int, root: c_int, comm: usize, stream: usize,
    ) {
        gather(input, output, root, &Exchange { count, datatype, comm, stream })
    }

    fn ncclScatter | pncclScatter, ncclScatterConfig | pncclScatterConfig (
        input: u64, output: u64, count: usize, datatype: c_int, root: c_int, comm: usize, stream: usize,
    ) {
        scatter(input, output, root, &Exchange { count, datatype, comm, stream })
    }
}

calls! {
    fn ncclBcast | pncclBcast (
        buffer: u64, count: usize, datatype: c_int, root: c_int, comm: usize, stream: usize,
    ) {
        let (function, operator) = (Function::Broadcast, NO_OPERATOR);
        let (input, output) = (buffer, buffer);
        collective(Arguments { function, input, output, count, datatype, operator, root, comm, stream })
    }

    fn ncclSend | pncclSend (
        buffer: u64, count: usize, datatype: c_int, peer: c_int, comm: usize, stream: usize,
    ) {
        message(Message { way: Direction::Send, buffer, count, datatype, peer, comm, stream })
    }

    fn ncclRecv | pncclRecv (
        buffer: u64, count: usize, datatype: c_int, peer: c_int, comm: usize, stream: usize,
    ) {
        message(Message { way: Direction::Receive, buffer, count, datatype, peer, comm, stream })
    }
}
