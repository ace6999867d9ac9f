//! What is known about one observation, as phrases for [`crate::wording`].

use crate::merge::Observation;
use commsan_findings::{Code, Frame, Problem, Role};
use commsan_rundir::record::{RawAccess, RawOperation, RawSite};

mod advice;
mod concurrency;
pub mod device;
mod errors;
mod operation;
mod place;
mod threads;
mod window;

use advice::{freeing, longest};
pub(crate) use operation::bytes;
use operation::{buffer, is_lending, operation, overlap, quoted, using};
pub(crate) use place::at;
pub use place::{address, file_name, place};
use place::{function, known_place};

/// Circumstances in which a code needs other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Those that the code's title describes.
    Usual,
    /// Both sides are buffers of the same call.
    WithinOneCall,
    /// The offence lies somewhere before the first site.
    NoticedLater,
    /// Both operations come from one process.
    SameOrigin,
    /// An operation of OpenSHMEM is concerned, on symmetric memory.
    Symmetric,
    /// Both operations on symmetric memory come from one PE.
    SymmetricOrigin,
    /// Both operations are accumulates, but not alike.
    Accumulates,
    /// An epoch is open, and the place that opened it known.
    InEpoch,
    /// A fence says that there are no operations which it completes.
    SaysNone,
    /// Another rank's operation, or this one's own as such.
    FromAfar,
    /// The window is dynamic.
    Unattached,
    /// The two were apart in time, but in threads that do not synchronise.
    Threads,
    /// Another thread than the one of either side has synchronised with the other rank.
    OtherThread,
    /// The memory is not there yet.
    NotYet,
    /// The memory is a function's, which returns.
    Returned,
    /// The main thread calls beside others.
    MainThread,
    /// A split collective on a file, which has no request.
    Split,
    /// An operation on a window, which the end of its epoch completes, too.
    OnWindow,
    /// A session, rather than `MPI_Init`, has initialised MPI.
    Session,
    /// A collective on an intercommunicator.
    BetweenGroups,
    /// Memory for results of a call, besides its buffers.
    Results,
    /// Elements that lie further apart, or closer, than the datatype's.
    OtherExtent,
    /// A call of NVSHMEM, rather than of OpenSHMEM or MPI.
    Nvshmem,
    /// A nonblocking operation of NVSHMEM, which `nvshmem_quiet` completes.
    UntilQuiet,
    /// A kernel that calls NVSHMEM.
    NvshmemInKernel,
}

/// One observation, seen as a source of phrases.
pub struct Facts<'o> {
    observation: &'o Observation,
    /// The place that offends, as opposed to the operation it meets.
    first: Option<usize>,
    operation: Option<usize>,
}

impl<'o> Facts<'o> {
    /// The facts of `observation`.
    pub fn of(observation: &'o Observation) -> Self {
        let sites = &observation.finding.sites;
        // With two operations, the first site is the later one.
        let operation = sites.iter().rposition(|site| site.role == Role::Operation);
        let released = sites.iter().rposition(|site| site.role == Role::Release);
        let operation = match observation.finding.code {
            Code::FreedDeviceMemory => operation.or(released),
            _ => operation,
        };
        let offends = |&index: &usize| Some(index) != operation && sites[index].role != Role::Cause;
        let first = (0..sites.len()).find(offends);
        Facts { observation, first, operation }
    }

    /// Which of the texts of the finding's code fits.
    pub fn case(&self) -> Case {
        let code = self.observation.finding.code;
        if code == Code::OutsideWindow && self.raw_operation().call.contains("dynamic") {
            return Case::Unattached;
        }
        if code == Code::RequestNeverCompleted && self.raw_operation().call.ends_with("_begin") {
            return Case::Split;
        }
        let is_on_window = |call: &str| {
            ["MPI_Rput", "MPI_Rget", "MPI_Raccumulate"].iter().any(|name| call.starts_with(name))
        };
        if code == Code::RequestNeverCompleted && is_on_window(&self.raw_operation().call) {
            return Case::OnWindow;
        }
        if code == Code::NeverFinalized && self.raw_operation().call == "MPI_Session_init" {
            return Case::Session;
        }
        let problem = self.observation.finding.argument.as_ref().and_then(|argument| argument.kind);
        if code == Code::BufferTooShort && problem == Some(Problem::SmallResult) {
            return Case::Results;
        }
        if code == Code::BufferOfOtherType && problem == Some(Problem::OtherExtent) {
            return Case::OtherExtent;
        }
        if let Some(case) = self.case_of_nvshmem() {
            return case;
        }
        if self.observation.finding.threads {
            return Case::Threads;
        }
        if matches!(code, Code::WindowAccessRace | Code::TargetRace) && self.by_thread().is_some() {
            return Case::OtherThread;
        }
        if self.observation.finding.collective.as_ref().is_some_and(|all| all.between_groups) {
            return Case::BetweenGroups;
        }
        let Some((first, operation)) = self.first.zip(self.operation) else { return Case::Usual };
        let sites = &self.observation.finding.sites;
        let (first, operation) = (&sites[first], &sites[operation]);
        match code {
            // The same call may also meet its own operation of an earlier iteration, but then
            // either both read or write, or the operation is completed at some time.
            Code::OperationsOverlap
                if (&first.call, &first.frames) == (&operation.call, &operation.frames)
                    && self.writes() != self.raw_operation().write
                    && self.observation.completed.is_none() =>
            {
                Case::WithinOneCall
            }
            Code::SignaturesDiffer if first.rank == operation.rank => Case::WithinOneCall,
            // Where the function itself is seen to return, no call is involved.
            Code::PendingStackBuffer if first.call.is_some() => Case::NoticedLater,
            Code::WindowAccessRace | Code::TargetRace if self.is_symmetric() => {
                let is_of_one = code == Code::TargetRace && first.rank == operation.rank;
                if is_of_one { Case::SymmetricOrigin } else { Case::Symmetric }
            }
            Code::TargetRace
                if window::is_accumulate(self.call().unwrap_or_default())
                    && window::is_accumulate(&self.raw_operation().call) =>
            {
                Case::Accumulates
            }
            Code::TargetRace if first.rank == operation.rank => Case::SameOrigin,
            Code::ThreadExcluded if first.thread == operation.thread => Case::MainThread,
            Code::FreedDeviceMemory if operation.role == Role::Operation => Case::NotYet,
            Code::WorkMemoryReleased if first.role == Role::Return => Case::Returned,
            // Another epoch that a fence comes into is none of a fence.
            Code::FalseAssertion if first.rank.is_some() => Case::FromAfar,
            Code::EpochMismatch
                if first.call == operation.call
                    && first.call.as_deref() == Some("MPI_Win_fence") =>
            {
                Case::SaysNone
            }
            Code::OutsideEpoch | Code::EpochMismatch | Code::EpochNotClosed => Case::InEpoch,
            _ => Case::Usual,
        }
    }

    /// The case of codes that have other words for NVSHMEM.
    fn case_of_nvshmem(&self) -> Option<Case> {
        let is_its = |call: &str| call.starts_with("nvshmem");
        let operation = &self.raw_operation().call;
        match self.observation.finding.code {
            Code::NotSymmetric | Code::BeyondSymmetric | Code::NoSuchPe
                if self.observation.finding.work.is_some() =>
            {
                Some(Case::NvshmemInKernel)
            }
            Code::NotSymmetric
            | Code::BeyondSymmetric
            | Code::NoSuchPe
            | Code::SymmetricFreedWrongly
            | Code::SymmetricNeverFreed
            | Code::OutsideShmem => is_its(operation).then_some(Case::Nvshmem),
            Code::StreamsRace | Code::WorkMeetsHost | Code::WorkMeetsCall
                if is_its(operation) && operation.contains("_nbi") =>
            {
                Some(Case::UntilQuiet)
            }
            Code::WorkMeetsCall => self.call().is_some_and(is_its).then_some(Case::Nvshmem),
            _ => None,
        }
    }

    /// The phrase called `name`; `None` if there is no such phrase.
    pub fn get(&self, name: &str) -> Option<String> {
        Some(match name {
            "who" => self.who(),
            "by" => self.by(),
            "function" => self.function(),
            "verb" => if self.writes() { "writes" } else { "reads" }.to_owned(),
            "access" => self.access(),
            "range" => self.range(),
            "buffer" => self.buffer(),
            "operation" => operation(self.raw_operation()),
            "starts" => self.starts(),
            "using" => using(self.raw_operation()).to_owned(),
            "use" => if self.raw_operation().write { "write" } else { "read" }.to_owned(),
            "otherwise" => if self.raw_operation().write { "writes" } else { "reads" }.to_owned(),
            "pending" => self.pending(),
            "order" => self.order().to_owned(),
            "complete" => self.complete().to_owned(),
            "other" => self.in_rank(self.operation, self.raw_operation().call.to_string()),
            "part" => self.part(),
            "carries" => self.carries(),
            "unordered" => self.unordered(),
            "window" => window::name(self.raw_operation()),
            "reach" => window::reach(self.raw_access()),
            "size" => bytes(self.raw_operation().size),
            "target" => self.target(),
            "opener" => self.opener(),
            "closer" => window::closer(self.starter()).to_owned(),
            "threads" => self.threads(),
            "bythread" => self.of_thread(),
            "elsewhere" => self.elsewhere().to_owned(),
            "both" => self.both(),
            "missing" => window::opener(self.call().unwrap_or_default()).to_owned(),
            "starter" => self.starter().to_owned(),
            "on" => self.on(),
            "nth" => self.nth(),
            "mine" => self.passed(0),
            "theirs" => self.passed(1),
            "thread" => self.thread(self.first).to_string(),
            "partner" => self.thread(self.operation).to_string(),
            "required" => self.level().0,
            "provided" => self.level().1,
            "argument" => self.argument().0,
            "problem" => self.argument().1,
            "mend" => self.mend(),
            "longest" => longest(&self.raw_operation().call).to_owned(),
            "free" => freeing(&self.raw_operation().call).to_owned(),
            "rule" => self.rule().to_owned(),
            "mywork" => self.my_work(),
            "work" => self.work(),
            "does" => self.does(),
            "works" => self.works(),
            "waited" => self.waited(),
            "within" => self.within(),
            "here" => self.place(self.first),
            "there" => self.place(self.operation),
            "started" => self.place(self.operation),
            name => return self.of_error(name),
        })
    }

    /// Whether the places are in a Fortran source.
    pub fn is_fortran(&self) -> bool {
        let stacks = [self.first, self.operation].into_iter().flatten();
        let mut innermost = stacks.filter_map(|site| self.observation.stacks[site].first());
        innermost.any(|frame| frame.file.as_deref().is_some_and(crate::names::is_fortran))
    }

    /// Whether the access is on the line of the call that starts the operation.
    pub fn is_on_line_of_operation(&self) -> bool {
        let line = |site: Option<usize>| {
            let frame = self.observation.stacks[site?].first()?;
            Some((frame.file.as_deref()?, frame.line?))
        };
        let first = line(self.first);
        first.is_some() && self.first != self.operation && first == line(self.operation)
    }

    /// The index of the operation's site.
    pub fn operation_site(&self) -> Option<usize> {
        self.operation
    }

    /// A parameter, and what is wrong with what it is given.
    fn argument(&self) -> (String, String) {
        match &self.observation.finding.argument {
            Some(argument) => (format!("`{}`", argument.parameter), argument.problem.to_string()),
            None => ("an argument".to_owned(), "is not allowed".to_owned()),
        }
    }

    fn raw_operation(&self) -> &RawOperation<'static> {
        &self.observation.finding.operation
    }

    fn raw_access(&self) -> Option<&RawAccess<'static>> {
        self.observation.finding.access.as_ref()
    }

    fn writes(&self) -> bool {
        self.raw_access().is_some_and(|access| access.write)
    }

    /// The call that accesses; `None` for a load or store of the program itself.
    fn call(&self) -> Option<&str> {
        let of_site =
            self.first.and_then(|site| self.observation.finding.sites[site].call.as_deref());
        let of_access = self.raw_access().map(|access| &*access.by);
        of_site.or(of_access).filter(|by| !["load", "store", ""].contains(by))
    }

    fn frame(&self) -> Option<&Frame> {
        self.first.and_then(|site| self.observation.stacks[site].first())
    }

    fn function(&self) -> String {
        self.frame().map_or_else(|| "the program".to_owned(), function)
    }

    fn who(&self) -> String {
        let who = match (self.call(), self.frame()) {
            (Some(call), Some(_)) => format!("{} in {}", quoted(call), self.function()),
            (Some(call), None) => quoted(call),
            (None, _) => self.function(),
        };
        self.in_rank(self.first, who)
    }

    /// The rank of a site, where there are several.
    fn rank(&self, site: Option<usize>) -> Option<u32> {
        let Observation { rank, finding, .. } = self.observation;
        let rank_of = |site: &RawSite<'_>| site.rank.unwrap_or(*rank);
        let several = finding.sites.iter().any(|site| rank_of(site) != *rank);
        site.filter(|_| several).map(|site| rank_of(&finding.sites[site]))
    }

    /// ``rank 1's `pack` ``, where there are several ranks.
    fn in_rank(&self, site: Option<usize>, what: String) -> String {
        match self.rank(site) {
            Some(rank) => format!("rank {rank}'s {}", what.strip_prefix("the ").unwrap_or(&what)),
            None => what,
        }
    }

    fn by(&self) -> String {
        match self.call() {
            Some(call) => quoted(call),
            None if self.writes() => "the write".to_owned(),
            None => "the read".to_owned(),
        }
    }

    fn access(&self) -> String {
        let size = self.raw_access().map_or(0, |access| access.size);
        match (self.call(), self.writes()) {
            (Some(call), true) => format!("{} writes {}", quoted(call), bytes(size)),
            (Some(call), false) => format!("{} reads {}", quoted(call), bytes(size)),
            (None, true) => format!("{size}-byte write"),
            (None, false) => format!("{size}-byte read"),
        }
    }

    /// What the operation uses: a buffer, or an array that says how.
    fn buffer(&self) -> String {
        let operation = self.raw_operation();
        match &self.observation.finding.argument {
            Some(argument) if argument.problem.is_empty() => {
                format!("{}-byte array `{}`", operation.size, argument.parameter)
            }
            _ => buffer(operation),
        }
    }

    fn range(&self) -> String {
        let operation = self.raw_operation();
        let whole = self.buffer();
        let part = self.raw_access().and_then(|access| overlap(access, operation));
        match part {
            None => format!("part of the {whole}"),
            Some((0, size)) if size == operation.size => format!("the {whole}"),
            Some((offset, size)) => format!("{} at offset {offset} of the {whole}", bytes(size)),
        }
    }

    /// How an operation is completed as far as its local buffers are concerned.
    fn complete(&self) -> &'static str {
        if is_lending(self.raw_operation()) {
            "call MPI_Buffer_detach"
        } else if self.raw_operation().call.ends_with("_begin") {
            "end the split collective (MPI_File_write_all_end or the like)"
        } else if self.raw_operation().call.starts_with("shmem_ctx_") {
            "call shmem_ctx_quiet"
        } else if self.raw_operation().call.starts_with("shmem_") {
            "call shmem_quiet"
        } else if self.raw_operation().window.is_some() {
            "complete the operation at its origin (MPI_Win_flush_local, the end of the epoch, or \
             MPI_Wait for a call that returns a request)"
        } else {
            "complete the request (MPI_Wait, or MPI_Test returning true)"
        }
    }

    fn pending(&self) -> String {
        let started = self.place(self.operation);
        let Some((completion, stack)) = &self.observation.completed else {
            if is_lending(self.raw_operation()) {
                return format!(
                    "the buffer was attached at {started} and MPI_Buffer_detach had not detached it yet"
                );
            }
            return format!("the operation started at {started} and no call had completed it yet");
        };
        let place = known_place(stack.first());
        let by = completion.call.as_deref().unwrap_or("the completing call");
        format!("the operation started at {started} and is complete only after {by} at {place}")
    }

    fn order(&self) -> &'static str {
        match self.observation.completed {
            Some(_) => "comes before that",
            None if is_lending(self.raw_operation()) => "comes before that",
            None => "comes while it is pending",
        }
    }

    /// The call at the operation's site: of a persistent operation, `MPI_Start`.
    fn starter(&self) -> &str {
        let Observation { finding, .. } = self.observation;
        let call = self.operation.and_then(|site| finding.sites[site].call.as_ref());
        call.unwrap_or(&finding.operation.call)
    }

    fn starts(&self) -> String {
        let RawOperation { bytes: touched, size, write, .. } = self.raw_operation();
        let call = self.starter();
        let verb = if *write { "write" } else { "read" };
        match touched {
            _ if is_lending(self.raw_operation()) => {
                format!("{call} attaches {} to MPI", bytes(*size))
            }
            0 => format!("{call} starts the operation"),
            _ if touched < size => {
                format!("{call} starts to {verb} {touched} bytes, spread over {size}")
            }
            _ => format!("{call} starts to {verb} {}", bytes(*touched)),
        }
    }

    fn place(&self, site: Option<usize>) -> String {
        let place = known_place(site.and_then(|site| self.observation.stacks[site].first()));
        match self.rank(site) {
            Some(rank) => format!("{place} in rank {rank}"),
            None => place,
        }
    }

    /// Label of the site that completes the operation.
    pub fn completes(&self, site: &RawSite<'_>) -> String {
        let call = quoted(site.call.as_deref().unwrap_or("this call"));
        match self.observation.finding.code {
            Code::StreamsRace => format!("{call} waits for it"),
            Code::WorkMeetsHost | Code::WorkMeetsCall | Code::WorkMemoryReleased => {
                format!("{call} waits for it, too late")
            }
            // The other side may have come after it, but nothing says so.
            Code::WindowAccessRace
            | Code::TargetRace
            | Code::ViewsDiffer
            | Code::WorkMeetsRemote => {
                format!("{call} completes the operation")
            }
            _ if is_lending(self.raw_operation()) => {
                format!("{call} detaches the buffer, too late")
            }
            _ if self.observation.finding.threads => format!("{call} completes the operation"),
            _ => format!("{call} completes the operation, too late"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
