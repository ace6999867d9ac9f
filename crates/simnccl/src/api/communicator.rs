//! Communicator management: creation, split, destruction.

use super::entry::{In, Out};
use crate::abi::{Config, MAGIC, NO_COLOR, UNDEFINED, UniqueId};
use crate::communicator::Communicator;
use crate::cuda;
use crate::error::{Failure, Result};
use crate::group::{self, Job};
use crate::registry;
use crate::retired;
use std::ffi::c_int;

/// Whether calls block, according to a configuration.
fn is_blocking(configuration: In<Config>) -> Result<bool> {
    let Some(config) = configuration.get() else { return Ok(true) };
    if config.magic != MAGIC {
        return Err(Failure::argument(
            "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER",
        ));
    }
    let within = |name: &str, value: c_int, least: c_int, most: c_int| {
        if value == UNDEFINED || (least..=most).contains(&value) {
            return Ok(());
        }
        Err(Failure::argument(format!("Invalid config {name} attribute value {value}")))
    };
    within("blocking", config.blocking, 0, 1)?;
    within("cgaClusterSize", config.cgaClusterSize, 0, 8)?;
    within("minCTAs", config.minCTAs, 1, c_int::MAX)?;
    within("maxCTAs", config.maxCTAs, 1, c_int::MAX)?;
    within("splitShare", config.splitShare, 0, 1)?;
    if config.minCTAs != UNDEFINED && config.maxCTAs != UNDEFINED && config.minCTAs > config.maxCTAs
    {
        return Err(Failure::argument("Invalid config minCTAs > maxCTAs"));
    }
    Ok(config.blocking != 0)
}

/// Creates a communicator, at once or at the end of the thread's group, and returns its handle.
fn make(
    place: Out<usize>,
    blocking: bool,
    body: impl FnOnce() -> Result<Communicator> + Send + 'static,
) -> Result {
    let handle = registry::reserve();
    place.put(handle);
    let body = move || {
        let outcome = body();
        let failure = outcome.as_ref().err().cloned();
        registry::complete(handle, outcome);
        match failure {
            None => Ok(()),
            Some(failure) => {
                if blocking {
                    registry::remove(handle)?;
                    place.put(0);
                }
                Err(failure)
            }
        }
    };
    group::ask_for(Job { body: Box::new(body), blocking })
}

fn initialise(
    place: Out<usize>,
    ranks: c_int,
    id: UniqueId,
    rank: c_int,
    device: c_int,
    config: In<Config>,
) -> Result {
    let place = place.required("newcomm")?;
    let blocking = is_blocking(config)?;
    if ranks < 1 || rank < 0 || rank >= ranks {
        return Err(Failure::argument(format!("Invalid rank requested : {rank}/{ranks}")));
    }
    make(place, blocking, move || Communicator::join(id, rank as usize, ranks as usize, device))
}

fn initialise_all(place: Out<usize>, count: c_int, devices: In<c_int>) -> Result {
    let place = place.required("comms")?;
    let total = cuda::devices()?;
    let number = usize::try_from(count)
        .map_err(|_| Failure::argument(format!("Invalid device count requested : {count}")))?;
    let devices = devices.all(number).unwrap_or_else(|| (0..count).collect());
    for (at, device) in devices.iter().enumerate() {
        if !(0..total).contains(device) {
            return Err(Failure::argument(format!("Invalid device {device} (totalnDev={total})")));
        }
        if devices[..at].contains(device) {
            return Err(Failure::usage(format!("device {device} is there twice")));
        }
    }
    let id = UniqueId::new()?;
    group::start();
    let each = |(rank, device): (usize, &c_int)| {
        let (device, ranks) = (*device, number);
        let body = move || Communicator::join(id, rank, ranks, device);
        make(place.after(rank), true, body)
    };
    let asked = devices.iter().enumerate().try_for_each(each);
    asked.and(group::end())
}

calls! {
    fn ncclCommInitRank | pncclCommInitRank (
        comm: Out<usize>, ranks: c_int, id: UniqueId, rank: c_int,
    ) {
        initialise(comm, ranks, id, rank, cuda::device()?, In::nothing())
    }

    fn ncclCommInitRankConfig | pncclCommInitRankConfig (
        comm: Out<usize>, ranks: c_int, id: UniqueId, rank: c_int, config: In<Config>,
    ) {
        initialise(comm, ranks, id, rank, cuda::device()?, config)
    }

    // Several identifiers let large jobs start faster; the first one is used.
    fn ncclCommInitRankScalable | pncclCommInitRankScalable (
        comm: Out<usize>, ranks: c_int, rank: c_int, count: c_int, ids: In<UniqueId>, config: In<Config>,
    ) {
        let id = ids.get().filter(|_| (1..=ranks).contains(&count));
        let id = id.ok_or_else(|| Failure::argument(format!("{count} identifiers for {ranks} ranks")))?;
        initialise(comm, ranks, id, rank, cuda::device()?, config)
    }

    fn ncclCommInitAll | pncclCommInitAll (comms: Out<usize>, count: c_int, devices: In<c_int>) {
        initialise_all(comms, count, devices)
    }

    fn ncclCommSplit | pncclCommSplit (
        comm: usize, color: c_int, key: c_int, new: Out<usize>, config: In<Config>,
    ) {
        let comm = registry::get(comm)?;
        let (new, blocking) = (new.required("newcomm")?, is_blocking(config)?);
        if color < 0 && color != NO_COLOR {
            return Err(Failure::argument(format!("invalid color {color}")));
        }
        let turn = comm.next_split();
        if color == NO_COLOR {
            // The others wait for this rank's arrival, but it gets no communicator.
            new.put(0);
            let body = Box::new(move || comm.split(turn, color, key).map(drop));
            return group::ask_for(Job { body, blocking });
        }
        let none = || Failure::usage("no rank has that color");
        make(new, blocking, move || comm.split(turn, color, key)?.ok_or_else(none))
    }

    fn ncclCommShrink | pncclCommShrink (
        comm: usize, excluded: In<c_int>, count: c_int, new: Out<usize>, config: In<Config>, flags: c_int,
    ) {
        /// `NCCL_SHRINK_ABORT`.
        const ABORT: c_int = 1;
        let comm = registry::get(comm)?;
        let (new, blocking) = (new.required("newcomm")?, is_blocking(config)?);
        let number = usize::try_from(count).ok().filter(|&count| (1..comm.ranks).contains(&count));
        let excluded = number.and_then(|count| excluded.all(count));
        let excluded = excluded.ok_or_else(|| Failure::argument("invalid excludeRanksList"))?;
        let own = comm.rank as c_int;
        if excluded.contains(&own) || excluded.iter().any(|rank| !(0..comm.ranks as c_int).contains(rank)) {
            return Err(Failure::argument("excludeRanksList has this rank, or one that there is not"));
        }
        if flags & ABORT != 0 {
            comm.abort()?;
        }
        make(new, blocking, move || comm.shrink(&excluded))
    }

    fn ncclCommFinalize | pncclCommFinalize (comm: usize) {
        registry::get(comm)?.finalize()
    }

    fn ncclCommDestroy | pncclCommDestroy (comm: usize) {
        if comm == 0 {
            return Ok(());
        }
        let Some(communicator) = registry::remove(comm)? else { return Ok(()) };
        communicator.finish()?;
        retired::add(communicator, true)
    }

    fn ncclCommAbort | pncclCommAbort (comm: usize) {
        if comm == 0 {
            return Ok(());
        }
        let Some(communicator) = registry::remove(comm)? else { return Ok(()) };
        communicator.abort()?;
        communicator.finish()?;
        retired::add(communicator, false)
    }

    fn ncclCommRevoke | pncclCommRevoke (comm: usize, flags: c_int) {
        if flags != 0 {
            return Err(Failure::argument(format!("invalid flags {flags}")));
        }
        let comm = registry::get(comm)?;
        comm.abort()?;
        comm.finalize()
    }
}
