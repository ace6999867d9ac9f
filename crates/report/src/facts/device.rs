//! Phrases about the work of CUDA streams.

use super::{Facts, bytes, known_place, quoted};
use crate::merge::Observation;
use commsan_findings::{Frame, Role, Site};
use commsan_rundir::record::{RawDoing, RawOperation};

impl Facts<'_> {
    /// What the offending side is, if that is work: ``kernel `pack` on stream 1 of device 0``.
    pub(super) fn my_work(&self) -> String {
        match self.my_work_here() {
            Some(work) => self.in_rank(self.first, work),
            None => self.who(),
        }
    }

    fn my_work_here(&self) -> Option<String> {
        let doing = self.observation.finding.work.as_ref()?.access.as_ref()?;
        Some(work_of(doing, self.call().unwrap_or("work")))
    }

    /// What the operation is.
    pub(super) fn work(&self) -> String {
        self.in_rank(self.operation, self.work_there())
    }

    fn work_there(&self) -> String {
        let work = self.observation.finding.work.as_ref();
        match work.and_then(|work| work.operation.as_ref()) {
            Some(doing) => work_of(doing, &self.raw_operation().call),
            None => quoted(&self.raw_operation().call),
        }
    }

    /// What the offending work does with the memory.
    pub(super) fn does(&self) -> String {
        let Some(work) = self.my_work_here() else { return self.access() };
        let size = self.raw_access().map_or(0, |access| access.size);
        let verb = if self.writes() { "writes" } else { "reads" };
        format!("{work} {verb} {}", bytes(size))
    }

    /// What the operation does with it.
    pub(super) fn works(&self) -> String {
        let RawOperation { bytes: touched, size, write, .. } = self.raw_operation();
        let verb = if *write { "writes" } else { "reads" };
        let spread = if touched < size { format!(", spread over {size}") } else { String::new() };
        format!("{} {verb} {}{spread}", self.work_there(), bytes(*touched))
    }

    /// Why threads of a kernel are not ordered.
    pub(super) fn within(&self) -> String {
        let argument = self.observation.finding.argument.as_ref();
        argument.map_or_else(String::new, |argument| argument.parameter.to_string())
    }

    /// Whether the host ever waits for the operation.
    pub(super) fn waited(&self) -> String {
        match &self.observation.completed {
            Some((completion, stack)) => {
                let call = completion.call.as_deref().unwrap_or("a later call");
                format!("the host waits for it only in {call} at {}", known_place(stack.first()))
            }
            None => "the host has not waited for it".to_owned(),
        }
    }
}

/// ``kernel `pack` on stream 1 of device 0``.
fn work_of(doing: &RawDoing, call: &str) -> String {
    let what = match &doing.kernel {
        Some(kernel) => format!("kernel `{}`", short(kernel)),
        None => quoted(call),
    };
    format!("{what} on {}", doing.stream)
}

/// A kernel's name without its parameters.
fn short(kernel: &str) -> &str {
    let named = kernel.strip_prefix("void ").unwrap_or(kernel);
    match named.find('(') {
        Some(at) if at > 0 => &named[..at],
        _ => named,
    }
}

/// The lines inside kernels where the two sides access the memory.
pub fn inside(observation: &Observation) -> impl Iterator<Item = Site> {
    let (facts, rank) = (Facts::of(observation), observation.rank);
    let rank_of = |site: Option<usize>| {
        site.and_then(|site| observation.finding.sites[site].rank).unwrap_or(rank)
    };
    let ranks = [rank_of(facts.first), rank_of(facts.operation)];
    let work = observation.finding.work.as_ref();
    let sides = work.into_iter().flat_map(|work| [&work.access, &work.operation]);
    sides.zip(ranks).filter_map(|(doing, rank)| {
        let doing = doing.as_ref()?;
        let kernel = short(doing.kernel.as_deref()?).to_owned();
        let (file, line) = (doing.file.as_deref()?.to_owned(), doing.line?);
        let frame = Frame {
            function: Some(kernel.clone()),
            file: Some(file.clone()),
            line: Some(line),
            column: None,
            module: String::new(),
            offset: 0,
            inlined: false,
            within: Vec::new(),
        };
        Some(Site {
            role: Role::Cause,
            label: format!("here, in kernel `{kernel}`"),
            file: Some(file),
            line: Some(line),
            column: None,
            function: Some(kernel),
            rank,
            thread: 0,
            stack: vec![frame],
        })
    })
}

/// The lines of a kernel that race with each other, whichever came first.
pub fn lines(observation: &Observation) -> String {
    let work = observation.finding.work.as_ref();
    let sides = work.into_iter().flat_map(|work| [&work.access, &work.operation]).flatten();
    let mut lines: Vec<_> = sides.map(|doing| (doing.file.as_deref(), doing.line)).collect();
    lines.sort_unstable();
    match lines.first() {
        Some((None, _)) | None => {
            let argument = observation.finding.argument.as_ref();
            argument.map_or_else(String::new, |argument| argument.problem.to_string())
        }
        _ => format!("{lines:?}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::facts::Case;
    use commsan_findings::Code;
    use commsan_rundir::record::{RawArgument, RawWork};

    /// A typical finding of a code: the offence is at line 52, the operation at line 40.
    pub(crate) fn observation(code: Code, case: Case) -> Observation {
        let mut observation = crate::facts::tests::observation();
        let doing = |kernel: Option<&'static str>, stream: &'static str, line| RawDoing {
            kernel: kernel.map(Into::into),
            stream: stream.into(),
            file: kernel.map(|_| "/src/heat.cu".into()),
            line: kernel.map(|_| line),
        };
        let kernel = doing(Some("void pack<double>(double*, int)"), "stream 1 of device 0", 7);
        let copy = doing(None, "the default stream of device 0", 0);
        let (by, call, other, work) = match code {
            Code::StreamsRace if case == Case::UntilQuiet => {
                let put = doing(None, "stream 1 of device 0 (until nvshmem_quiet)", 0);
                let work = (Some(kernel), Some(put));
                ("pack", Some("cudaLaunchKernel"), "nvshmemx_putmem_nbi_on_stream", work)
            }
            Code::WorkMeetsHost | Code::WorkMeetsCall if case == Case::UntilQuiet => {
                let put = doing(None, "the host (until nvshmem_quiet)", 0);
                let call = (code == Code::WorkMeetsCall).then_some("MPI_Recv");
                (call.unwrap_or("store"), call, "nvshmem_putmem_nbi", (None, Some(put)))
            }
            Code::WorkMeetsCall if case == Case::Nvshmem => {
                let call = "nvshmem_putmem";
                (call, Some(call), "cudaLaunchKernel", (None, Some(kernel)))
            }
            Code::StreamsRace | Code::ProcessesRace => {
                let work = (Some(kernel), Some(copy));
                ("pack", Some("cudaLaunchKernel"), "cudaMemcpyAsync", work)
            }
            Code::CallMeetsWork | Code::WorkMeetsRemote => {
                ("pack", Some("cudaLaunchKernel"), "MPI_Irecv", (Some(kernel), None))
            }
            Code::FreedDeviceMemory if case == Case::NotYet => {
                ("pack", Some("cudaLaunchKernel"), "cudaMallocAsync", (Some(kernel), None))
            }
            Code::FreedDeviceMemory => {
                ("pack", Some("cudaLaunchKernel"), "cudaFree", (Some(kernel), None))
            }
            Code::WorkMeetsCall => {
                ("MPI_Send", Some("MPI_Send"), "cudaLaunchKernel", (None, Some(kernel)))
            }
            Code::WorkMemoryReleased if case == Case::Returned => {
                ("return", None, "cudaMemcpyAsync", (None, Some(copy)))
            }
            Code::WorkMemoryReleased => ("free", None, "cudaMemcpyAsync", (None, Some(copy))),
            Code::FreedWhileOpen => {
                ("cudaFree", Some("cudaFree"), "cudaIpcOpenMemHandle", (None, None))
            }
            Code::DeviceMemoryOnHost => ("store", None, "cudaMalloc", (None, None)),
            Code::KernelFailed
            | Code::KernelRace
            | Code::KernelStoresSame
            | Code::KernelSynchronisation
            | Code::KernelUninitialised => {
                ("pack", Some("cudaLaunchKernel"), "cudaMalloc", (Some(kernel), None))
            }
            _ => ("store", None, "cudaLaunchKernel", (None, Some(kernel))),
        };
        let finding = &mut observation.finding;
        finding.code = code;
        finding.access.as_mut().unwrap().by = by.into();
        finding.operation.call = other.into();
        if !other.starts_with("MPI") {
            (finding.operation.peer, finding.operation.tag) = (None, None);
        }
        if code == Code::KernelFailed {
            let problem = "out of bounds global store of 8 bytes in block (0,0,0), thread (3,0,0)";
            finding.argument =
                Some(RawArgument { parameter: "".into(), problem: problem.into(), kind: None });
        }
        if code.is_within_kernel() {
            let (problem, why) = match code {
                Code::KernelSynchronisation => (
                    "threads of one warp at two barriers: `bar.sync` at heat.cu:9 by thread (16,0,0) of block (0,0,0), \
                     `bar.sync` at heat.cu:7 by thread (0,0,0) of block (0,0,0)",
                    "all threads of a warp must reach the same __syncthreads",
                ),
                Code::KernelUninitialised => (
                    "offset 96 of the 4096 bytes of cudaMalloc: 8-byte load at heat.cu:7 by thread (12,0,0) of block (0,0,0)",
                    "nothing has written these bytes since they were allocated",
                ),
                _ => (
                    "`tile` in shared memory, offset 12: 4-byte load at heat.cu:7 by thread (2,0,0) of block (0,0,0), \
                     4-byte store at heat.cu:6 by thread (3,0,0) of block (0,0,0)",
                    "no barrier of the block (__syncthreads) lies between the two",
                ),
            };
            finding.argument =
                Some(RawArgument { parameter: why.into(), problem: problem.into(), kind: None });
        }
        finding.work = Some(RawWork { access: work.0, operation: work.1 });
        let [first, second] = &mut finding.sites.to_mut()[..] else { panic!() };
        (first.call, second.call) = (call.map(Into::into), Some(other.into()));
        match code {
            Code::FreedDeviceMemory if case == Case::Usual => second.role = Role::Release,
            Code::WorkMemoryReleased if case == Case::Returned => first.role = Role::Return,
            Code::WorkMemoryReleased => first.role = Role::Release,
            Code::FreedWhileOpen => (first.role, second.rank) = (Role::Release, Some(0)),
            Code::ProcessesRace => second.rank = Some(0),
            _ => {}
        }
        let of_memory =
            matches!(code, Code::FreedDeviceMemory | Code::DeviceMemoryOnHost | Code::KernelFailed)
                || code.is_within_kernel();
        let of_processes = matches!(code, Code::ProcessesRace | Code::FreedWhileOpen);
        if of_memory || of_processes || code == Code::WorkMeetsCall {
            observation.completed = None;
        } else if let Some((site, _)) = &mut observation.completed {
            let mpi = matches!(code, Code::CallMeetsWork | Code::WorkMeetsRemote);
            site.call = Some(if mpi { "MPI_Wait" } else { "cudaStreamSynchronize" }.into());
        }
        observation
    }

    #[test]
    fn kernels_are_named_without_their_parameters() {
        assert_eq!(short("void pack<double>(double*, int)"), "pack<double>");
        assert_eq!(short("saxpy"), "saxpy");
        assert_eq!(short("(anonymous namespace)::f(int)"), "(anonymous namespace)::f(int)");
    }
}
