//! Phrases about windows: their memory, their targets, the calls that open and close epochs.

use super::{Facts, bytes, known_place, overlap};
use commsan_findings::Code;
use commsan_rundir::record::{RawAccess, RawOperation};

impl Facts<'_> {
    /// What an access touches of window memory.
    pub(super) fn part(&self) -> String {
        let operation = self.raw_operation();
        let whose = match self.observation.finding.code {
            Code::WindowAccessRace | Code::ViewsDiffer => "its".to_owned(),
            Code::SharedMemoryRace => {
                let owner = operation.peer.unwrap_or(self.observation.rank as i32);
                format!("rank {owner}'s part of")
            }
            _ if self.observation.finding.threads => {
                let target = operation.peer.unwrap_or(self.observation.rank as i32);
                format!("rank {target}'s")
            }
            _ => format!("rank {}'s", self.observation.rank),
        };
        let window = name(operation);
        let window = match self.is_symmetric() {
            // Offsets are those in one allocation.
            true if operation.base.is_some() => "symmetric allocation",
            true => "symmetric memory",
            false => window.strip_prefix("the ").unwrap_or(&window),
        };
        let overlap = self.raw_access().and_then(|access| overlap(access, operation));
        let base = operation.base.filter(|&base| base <= operation.addr);
        match (overlap, base) {
            (None, _) => format!("part of {whose} {window}"),
            (Some((_, size)), None) => format!("{} of {whose} {window}", bytes(size)),
            (Some((start, size)), Some(base)) => {
                let offset = operation.addr - base + start;
                format!("{} at offset {offset} of {whose} {window}", bytes(size))
            }
        }
    }

    /// Whether the operation is one of OpenSHMEM.
    pub(super) fn is_symmetric(&self) -> bool {
        self.raw_operation().call.starts_with("shmem")
    }

    /// What the operation does at its target.
    pub(super) fn carries(&self) -> String {
        let RawOperation { call, bytes: touched, write, .. } = self.raw_operation();
        let verb = if *write { "writes" } else { "reads" };
        let of = if self.is_symmetric() { "symmetric memory" } else { "the window" };
        format!("{call} {verb} {} of {of}", bytes(*touched))
    }

    pub(super) fn unordered(&self) -> String {
        let (by, here) = (self.by(), self.place(self.first));
        let started = self.place(self.operation);
        match &self.observation.completed {
            Some((completion, stack)) => {
                let call = completion.call.as_deref().unwrap_or("the completing call");
                let place = known_place(stack.first());
                format!(
                    "nothing orders {by} at {here} before the operation starts at {started}, or \
                     after {call} at {place} completes it"
                )
            }
            None => format!(
                "nothing orders {by} at {here} before the operation starts at {started}, or after \
                 it is complete at the target"
            ),
        }
    }

    /// The target of the offending call.
    pub(super) fn target(&self) -> String {
        let peer = self.raw_access().and_then(|access| access.peer);
        let peer = peer.or(self.raw_operation().peer);
        peer.map_or_else(|| "the target".to_owned(), |rank| format!("rank {rank}"))
    }

    /// The call that opened the epoch.
    pub(super) fn opener(&self) -> String {
        match self.raw_operation().peer {
            Some(rank) if self.starter() != "MPI_Win_fence" => {
                format!("{} (rank {rank})", self.starter())
            }
            _ => self.starter().to_owned(),
        }
    }
}

/// Calls that open an epoch, what closes it, and the calls that need it open.
struct Epoch {
    opens: &'static str,
    closes: &'static str,
    needed_by: &'static [&'static str],
}

const EPOCHS: &[Epoch] = &[
    Epoch { opens: "MPI_Win_lock", closes: "MPI_Win_unlock", needed_by: &["MPI_Win_unlock"] },
    Epoch {
        opens: "MPI_Win_lock_all",
        closes: "MPI_Win_unlock_all",
        needed_by: &["MPI_Win_unlock_all"],
    },
    Epoch { opens: "MPI_Win_start", closes: "MPI_Win_complete", needed_by: &["MPI_Win_complete"] },
    Epoch {
        opens: "MPI_Win_post",
        closes: "MPI_Win_wait",
        needed_by: &["MPI_Win_wait", "MPI_Win_test"],
    },
    Epoch { opens: "MPI_Win_fence", closes: "MPI_Win_fence", needed_by: &[] },
];

/// The call that closes the epoch that `call` opens.
pub fn closer(call: &str) -> &'static str {
    let epoch = EPOCHS.iter().find(|epoch| epoch.opens == call);
    epoch.map_or("the call that closes it", |epoch| epoch.closes)
}

/// The call that opens the epoch which `call` needs.
pub fn opener(call: &str) -> &'static str {
    let needs = |epoch: &&Epoch| epoch.needed_by.contains(&call);
    match EPOCHS.iter().find(needs) {
        Some(epoch) => epoch.opens,
        None if call.starts_with("MPI_Win_flush") => "MPI_Win_lock or MPI_Win_lock_all",
        None => "the call that opens its epoch",
    }
}

/// Whether `call` updates its target atomically.
pub fn is_accumulate(call: &str) -> bool {
    let call = call.to_ascii_lowercase();
    ["accumulate", "fetch_and_op", "compare_and_swap"].iter().any(|name| call.contains(name))
}

/// `to rank 1`, as seen from the origin of an operation.
pub fn target(call: &str, rank: i32) -> String {
    let call = call.to_ascii_lowercase();
    let ends_with = |names: &[&str]| names.iter().any(|name| call.ends_with(name));
    let direction = if ends_with(&["get"]) {
        "from"
    } else if ends_with(&["get_accumulate", "fetch_and_op", "compare_and_swap"]) {
        "at"
    } else {
        "to"
    };
    format!("{direction} rank {rank}")
}

/// `window 0`.
pub fn name(operation: &RawOperation<'_>) -> String {
    operation.window.map_or_else(|| "the window".to_owned(), |number| format!("window {number}"))
}

/// `bytes 4096-4103`, counted from the base of the target's window.
pub fn reach(access: Option<&RawAccess<'_>>) -> String {
    match access {
        Some(&RawAccess { addr, size: 1, .. }) => format!("byte {}", addr as i64),
        Some(&RawAccess { addr, size, .. }) if size > 0 => {
            // Displacements may be negative.
            let first = addr as i64;
            match first.checked_add_unsigned(size - 1) {
                Some(last) if first >= 0 => format!("bytes {first}-{last}"),
                _ => format!("{size} bytes at offset {first}"),
            }
        }
        _ => "bytes".to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::Case;
    use super::*;
    use crate::merge::Observation;
    use commsan_findings::Role;
    use commsan_rundir::record::RawSite;

    /// What rank 1 writes about `code`: rank 0's side is at line 40, its own at line 52.
    pub(crate) fn observation(code: Code, case: Case) -> Observation {
        let (by, write, call) = match (code, case) {
            (Code::OriginBufferWritten, _) => ("store", true, "MPI_Put"),
            (Code::ResultBufferUsed, _) => ("load", false, "MPI_Fetch_and_op"),
            (Code::WindowAccessRace, Case::Symmetric) => ("load", false, "shmem_long_put"),
            (Code::TargetRace, Case::Symmetric) => ("shmem_long_g", false, "shmem_long_put"),
            (Code::TargetRace, Case::SymmetricOrigin) => ("shmem_long_p", true, "shmem_long_put"),
            (Code::WindowAccessRace, _) => ("load", false, "MPI_Put"),
            (Code::SharedMemoryRace, _) => ("load", false, "store"),
            (Code::FalseAssertion, Case::FromAfar) => ("MPI_Put", true, "MPI_Win_post"),
            (Code::FalseAssertion, _) => ("store", true, "MPI_Win_fence"),
            (Code::ViewsDiffer, _) => ("store", true, "MPI_Put"),
            (Code::TargetRace, Case::Accumulates) => ("MPI_Fetch_and_op", true, "MPI_Accumulate"),
            (Code::TargetRace, _) => ("MPI_Get", false, "MPI_Put"),
            (Code::OutsideEpoch, Case::Usual) => ("MPI_Put", true, "MPI_Put"),
            (Code::OutsideEpoch, _) => ("MPI_Rput", true, "MPI_Win_fence"),
            (Code::OutsideWindow, Case::Usual) => ("MPI_Put", true, "MPI_Win_create"),
            (Code::OutsideWindow, _) => ("MPI_Put", true, "MPI_Win_create_dynamic"),
            (Code::EpochMismatch, Case::Usual) => ("MPI_Win_unlock", false, "MPI_Win_unlock"),
            (Code::EpochMismatch, Case::SaysNone) => ("MPI_Win_fence", false, "MPI_Win_fence"),
            (Code::EpochMismatch, _) => ("MPI_Win_fence", false, "MPI_Win_lock"),
            (Code::EpochNotClosed, _) => ("MPI_Win_free", false, "MPI_Win_start"),
            _ => ("", false, "MPI_Win_allocate"),
        };
        let mut observation = crate::facts::tests::observation();
        let finding = &mut observation.finding;
        (observation.rank, finding.code) = (1, code);
        let access = finding.access.as_mut().unwrap();
        (access.by, access.write, access.peer) = (by.into(), write, Some(2));
        if code == Code::OutsideWindow {
            access.addr = 8192;
        }
        let operation = &mut finding.operation;
        (operation.call, operation.window, operation.tag) = (call.into(), Some(0), None);
        use Code::{SharedMemoryRace, TargetRace, ViewsDiffer, WindowAccessRace};
        let remote = matches!(code, WindowAccessRace | SharedMemoryRace | TargetRace | ViewsDiffer);
        operation.write = remote || code == Code::ResultBufferUsed;
        let is_memory = remote || code == Code::FalseAssertion;
        operation.base = is_memory.then_some(4000);
        let [first, other] = &mut finding.sites.to_mut()[..] else { panic!() };
        let is_call = by.starts_with("MPI") || by.starts_with("shmem");
        first.call = is_call.then(|| by.into());
        let is_there = matches!(case, Case::SameOrigin | Case::SymmetricOrigin | Case::FromAfar);
        first.rank = is_there.then_some(0);
        other.call = Some(call.into());
        other.rank = remote.then_some(0);
        let completed = |(site, stack): (RawSite<'static>, Vec<_>)| {
            let call = Some("MPI_Win_unlock".into());
            (RawSite { call, rank: remote.then_some(0), ..site }, stack)
        };
        observation.completed =
            observation.completed.map(completed).filter(|_| code.id() < "CS-WIN");
        keep(&mut observation, case);
        observation
    }

    /// Takes off the site that the case has not.
    fn keep(observation: &mut Observation, case: Case) {
        let without = match (observation.finding.code, case) {
            (Code::EpochNotClosed, Case::Usual) | (Code::WindowNotFreed, _) => Role::Access,
            (Code::OutsideEpoch | Code::EpochMismatch, Case::Usual) => Role::Operation,
            _ => return,
        };
        let sites = observation.finding.sites.to_mut();
        let index = sites.iter().position(|site| site.role == without).unwrap();
        sites.remove(index);
        observation.stacks.remove(index);
    }

    #[test]
    fn targets_are_named_by_the_way_the_data_go() {
        for (call, named) in [
            ("MPI_Put", "to rank 1"),
            ("MPI_Rput", "to rank 1"),
            ("MPI_Raccumulate", "to rank 1"),
            ("MPI_Rget", "from rank 1"),
            ("MPI_Get_accumulate", "at rank 1"),
            ("MPI_Rget_accumulate", "at rank 1"),
            ("MPI_Compare_and_swap", "at rank 1"),
        ] {
            assert_eq!(target(call, 1), named, "{call}");
        }
    }

    #[test]
    fn memory_is_named_by_its_place_in_the_window() {
        let mut observation = observation(Code::TargetRace, Case::Usual);
        assert_eq!(Facts::of(&observation).part(), "8 bytes at offset 112 of rank 1's window 0");
        observation.finding.operation.base = None;
        observation.finding.operation.window = None;
        assert_eq!(Facts::of(&observation).part(), "8 bytes of rank 1's window");
        observation.finding.access = None;
        assert_eq!(Facts::of(&observation).part(), "part of rank 1's window");
    }

    #[test]
    fn displacements_may_be_negative_or_anything() {
        let reach = |addr: i64, size| {
            let by = "MPI_Put".into();
            reach(Some(&RawAccess { by, write: true, addr: addr as u64, size, peer: None }))
        };
        assert_eq!(reach(4096, 8), "bytes 4096-4103");
        assert_eq!(reach(4096, 1), "byte 4096");
        assert_eq!(reach(-8, 16), "16 bytes at offset -8");
        assert_eq!(reach(-1, u64::MAX), format!("{} bytes at offset -1", u64::MAX));
    }

    #[test]
    fn unknown_places_are_said_to_be_in_their_rank() {
        let mut observation = observation(Code::WindowAccessRace, Case::Usual);
        observation.completed = None;
        observation.stacks[1].clear();
        assert_eq!(
            Facts::of(&observation).unordered(),
            "nothing orders the read at heat.c:52 in rank 1 before the operation starts at an \
             unknown place in rank 0, or after it is complete at the target"
        );
    }
}
