use super::*;
use crate::merge::Observation;
use commsan_findings::{Problem, Role};
use commsan_rundir::record::{RawArgument, RawSite};

#[test]
fn every_code_has_one_row_with_known_placeholders() {
    let usual = wordings().filter(|wording| wording.case == Case::Usual);
    let codes: Vec<_> = usual.map(|wording| wording.code).collect();
    assert_eq!(codes, Code::ALL);
    let observation = crate::facts::tests::observation();
    let facts = Facts::of(&observation);
    for row in wordings() {
        let texts = [row.message, row.offence, row.operation, row.why, row.help, row.fortran];
        for name in texts.iter().flat_map(|text| text.split('{').skip(1)) {
            let name = name.split_once('}').unwrap().0;
            assert!(facts.get(name).is_some_and(|text| !text.is_empty()), "{name}");
        }
    }
}

/// A typical finding about requests and their buffers.
fn of_requests(row: &Wording) -> Observation {
    let mut observation = crate::facts::tests::observation();
    observation.finding.code = row.code;
    let (role, by, write) = match row.code {
        Code::SendBufferWritten => (Role::Access, "store", true),
        Code::ReceiveBufferRead => (Role::Access, "memcpy", false),
        Code::ReceiveBufferWritten => (Role::Access, "store", true),
        Code::OperationsOverlap if row.case == Case::WithinOneCall => {
            (Role::Access, "MPI_Sendrecv", true)
        }
        Code::OperationsOverlap => (Role::Access, "MPI_Irecv", true),
        Code::PendingBufferFreed => (Role::Release, "free", true),
        Code::PendingStackBuffer if row.case == Case::NoticedLater => {
            (Role::Return, "MPI_Waitall", false)
        }
        Code::PendingStackBuffer => (Role::Return, "", false),
        Code::RequestNeverCompleted => (Role::Operation, "", false),
        Code::RequestOverwritten => (Role::Overwrite, "MPI_Isend", false),
        Code::ActiveRequestFreed => (Role::Access, "MPI_Request_free", false),
        _ => (Role::Access, "MPI_Start", false),
    };
    observation.finding.access.as_mut().unwrap().by = by.into();
    observation.finding.access.as_mut().unwrap().write = write;
    observation.finding.sites.to_mut()[0].role = role;
    if by.starts_with("MPI") {
        observation.finding.sites.to_mut()[0].call = Some(by.into());
    }
    if role == Role::Operation {
        observation.finding.sites.to_mut().remove(0);
        observation.stacks.remove(0);
        observation.completed = None;
    }
    if matches!(row.code, Code::ReceiveBufferRead | Code::ReceiveBufferWritten) {
        observation.finding.operation.call = "MPI_Irecv".into();
        observation.finding.operation.write = true;
        observation.finding.sites.to_mut()[1].call = Some("MPI_Irecv".into());
    }
    if row.case == Case::OnWindow {
        observation.finding.operation.call = "MPI_Rput".into();
        observation.finding.sites.to_mut()[0].call = Some("MPI_Rput".into());
    }
    if row.case == Case::Session {
        observation.finding.operation.call = "MPI_Session_init".into();
        observation.finding.sites.to_mut()[0].call = Some("MPI_Session_init".into());
    }
    if row.case == Case::Results {
        observation.finding.argument = Some(RawArgument {
            parameter: "status".into(),
            problem: "is the variable `status` of 4 bytes".into(),
            kind: Some(Problem::SmallResult),
        });
    }
    let problem = match row.code {
        Code::OperationOversteps => {
            "memory behind the 500 elements (2000 bytes) that MPI_Allreduce gave it as `inoutvec`"
        }
        Code::CallFailed | Code::ErrorIgnored => {
            "MPI_ERR_TRUNCATE: rank 1's message of 800 bytes (tag 3) does not fit into the 400 bytes that \
             MPI_Irecv has room for"
        }
        _ => "",
    };
    if !problem.is_empty() {
        observation.finding.argument = Some(RawArgument::new("", problem, None));
    }
    if matches!(row.code, Code::CallFailed | Code::ErrorIgnored) {
        sent_by_another_rank(&mut observation);
    }
    if row.case == Case::OtherExtent {
        observation.finding.argument = Some(RawArgument {
            parameter: "buf".into(),
            problem: "with a datatype whose extent is 24 bytes, but the variable `p` has elements of 32 bytes"
                .into(),
            kind: Some(Problem::OtherExtent),
        });
    }
    if row.case == Case::Split {
        observation.finding.operation.call = "MPI_File_write_all_begin".into();
        observation.finding.sites.to_mut()[0].call = Some("MPI_File_write_all_begin".into());
    }
    if row.code == Code::ActiveRequestStarted {
        observation.finding.operation.call = "MPI_Send_init".into();
        observation.finding.sites.to_mut()[1].call = Some("MPI_Start".into());
    }
    if row.case == Case::Threads {
        between_sites_of_threads(&mut observation, row.code);
    }
    if row.case == Case::WithinOneCall {
        observation.finding.operation.call = by.into();
        observation.finding.sites.to_mut()[1].call = Some(by.into());
        observation.completed = None;
    }
    observation
}

/// A typical finding about symmetric memory.
fn of_symmetric(row: &Wording) -> Observation {
    let mut observation = crate::facts::tests::observation();
    observation.finding.code = row.code;
    let (call, by, parameter, problem) = match row.code {
        Code::NotSymmetric if row.case == Case::Nvshmem => {
            ("nvshmem_long_put", "nvshmem_free", "dest", "points to memory that was freed")
        }
        Code::BeyondSymmetric if row.case == Case::Nvshmem => {
            let problem = "leaves its allocation of 96 bytes: the call accesses bytes 64 to 127";
            ("nvshmem_long_put", "nvshmem_malloc", "dest", problem)
        }
        Code::NoSuchPe if row.case == Case::Nvshmem => {
            ("nvshmem_long_p", "", "pe", "is 4, but PEs are 0 to 3")
        }
        Code::SymmetricFreedWrongly if row.case == Case::Nvshmem => {
            ("nvshmem_free", "nvshmem_free", "ptr", "was freed before")
        }
        Code::SymmetricNeverFreed if row.case == Case::Nvshmem => {
            ("nvshmem_malloc", "", "", "3 allocations of this place are left")
        }
        Code::OutsideShmem if row.case == Case::Nvshmem => {
            ("nvshmem_my_pe", "", "", "after nvshmem_finalize")
        }
        Code::NotSymmetric => {
            ("shmem_long_put", "shmem_free", "dest", "points to memory that was freed")
        }
        Code::BeyondSymmetric => {
            let problem = "leaves its allocation of 96 bytes: the call accesses bytes 64 to 127";
            ("shmem_long_put", "shmem_malloc", "dest", problem)
        }
        Code::NoSuchPe => ("shmem_long_p", "", "pe", "is 4, but PEs are 0 to 3"),
        Code::SymmetricFreedWrongly => ("shmem_free", "shmem_free", "block", "was freed before"),
        Code::SymmetricFreedPending => ("shmem_ctx_putmem_nbi", "shmem_free", "", ""),
        Code::SymmetricNeverFreed => {
            ("shmem_malloc", "", "", "3 allocations of this place are left")
        }
        Code::WorkArrayReused => {
            let problem =
                "may be in use at PE 2, which is not known to have returned from its last use";
            ("shmem_broadcast64", "shmem_long_sum_to_all", "pSync", problem)
        }
        Code::DestinationNotReady => ("shmem_broadcast64", "", "dest", "PE 2"),
        _ => ("shmem_my_pe", "", "", "after shmem_finalize"),
    };
    observation.finding.operation.call = call.into();
    observation.finding.sites.to_mut()[1].call = Some(call.into());
    if row.code == Code::DestinationNotReady {
        observation.finding.argument = Some(RawArgument::new(parameter, problem, None));
        observation.completed = None;
        return observation;
    }
    observation.finding.sites.to_mut()[0].call = Some(by.into());
    if row.code != Code::SymmetricFreedPending {
        observation.finding.argument = Some(RawArgument::new(parameter, problem, None));
        observation.finding.sites.to_mut()[0].role = Role::Release;
        observation.completed = None;
        observation.finding.access = None;
    }
    if by.is_empty() {
        observation.finding.sites.to_mut().remove(0);
        observation.stacks.remove(0);
    }
    observation
}

/// A typical finding about what a kernel accesses at other PEs.
fn of_kernel_at_pe(code: Code) -> Observation {
    let mut observation = crate::facts::tests::device(Code::KernelFailed, Case::Usual);
    let (call, problem) = match code {
        Code::NotSymmetric => {
            let by = "an address of memory of cudaMalloc, which is not symmetric";
            ("cudaMalloc", format!("writes 8 bytes at PE 1 by {by}"))
        }
        Code::BeyondSymmetric => {
            let of = "a symmetric allocation of 96 bytes";
            ("nvshmem_malloc", format!("writes bytes 96 to 103 at PE 1 of {of}"))
        }
        _ => ("", "writes 8 bytes at PE 4, but PEs are 0 to 3".to_owned()),
    };
    let finding = &mut observation.finding;
    finding.code = code;
    finding.argument = Some(RawArgument::new("", problem, None));
    finding.operation.call = call.into();
    if call.is_empty() {
        finding.operation.call = "cudaLaunchKernel".into();
        finding.sites.to_mut().truncate(1);
        observation.stacks.truncate(1);
    } else {
        finding.sites.to_mut()[1].call = Some(call.into());
    }
    observation
}

/// Of some codes the other thread came later, of some earlier.
fn between_sites_of_threads(observation: &mut Observation, code: Code) {
    observation.finding.threads = true;
    observation.finding.sites.to_mut()[0].thread = 2;
    if code == Code::ReceiveBufferRead {
        observation.completed = None;
    }
}

/// The message that an error is about: who has posted the receive, which rank has sent it.
fn sent_by_another_rank(observation: &mut Observation) {
    for (call, rank) in [("MPI_Irecv", None), ("MPI_Isend", Some(observation.rank + 1))] {
        let place = observation.finding.sites[0].clone();
        let site = RawSite { role: Role::Cause, call: Some(call.into()), rank, ..place };
        observation.finding.sites.to_mut().push(site);
        observation.stacks.push(observation.stacks[0].clone());
    }
}

/// Another thread of the operation's rank has called the barrier.
fn by_another_thread(observation: &mut Observation) {
    let operation = &observation.finding.sites[1];
    let rank = operation.rank.or(Some(observation.rank));
    let call = Some("MPI_Barrier".into());
    let barrier = RawSite { role: Role::Cause, call, thread: 3, rank, ..operation.clone() };
    observation.finding.sites.to_mut().push(barrier);
    observation.stacks.push(observation.stacks[1].clone());
}

/// What the report says about a typical finding of each code.
#[test]
fn texts_of_all_codes() {
    let mut text = String::new();
    for row in wordings() {
        let is_together =
            matches!(row.code, Code::AllocationsDiffer | Code::NvshmemCollectivesDiffer);
        let mut observation = if is_together {
            crate::facts::tests::together(row.code, row.case)
        } else if row.case == Case::NvshmemInKernel {
            of_kernel_at_pe(row.code)
        } else if row.code >= Code::NotSymmetric {
            of_symmetric(row)
        } else if row.code >= Code::NcclCollectivesDiffer {
            crate::facts::tests::together(row.code, row.case)
        } else if row.code >= Code::StreamsRace {
            crate::facts::tests::device(row.code, row.case)
        } else if row.code >= Code::CollectivesDiffer {
            crate::facts::tests::together(row.code, row.case)
        } else if row.code >= Code::OriginBufferWritten {
            let mut observation = crate::facts::tests::one_sided(row.code, row.case);
            if row.case == Case::Threads {
                between_sites_of_threads(&mut observation, row.code);
            }
            if row.case == Case::OtherThread {
                by_another_thread(&mut observation);
            }
            observation
        } else {
            of_requests(row)
        };
        assert_eq!(Facts::of(&observation).case(), row.case, "{}", row.code);
        for stack in &mut observation.stacks {
            stack[0].file = Some("/src/heat.f90".to_owned());
        }
        for finding in crate::merge::merge([observation]) {
            let labels: Vec<_> = finding.sites.iter().map(|site| &*site.label).collect();
            text += &format!(
                "{}: {}\n  {}\n  labels: {}\n  why: {}\n  help: {}\n",
                finding.code,
                finding.title,
                finding.message,
                labels.join(" | "),
                finding.why,
                finding.help
            );
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn help_fits_the_argument() {
    for (parameter, kind, help) in [
        ("dest", Problem::NoSuchPeer, "MPI_PROC_NULL"),
        ("root", Problem::Value, "check how `root`"),
        ("tag", Problem::TagOutOfRange, "MPI_TAG_UB"),
        ("count", Problem::Negative, "overflows"),
        ("comm", Problem::NullCommunicator, "MPI_Comm_split"),
        ("datatype", Problem::NullHandle, "been made on this rank"),
        ("request", Problem::NullPointer, "address of a variable"),
    ] {
        let mut observation = crate::facts::tests::observation();
        let argument = observation.finding.argument.as_mut().unwrap();
        (argument.parameter, argument.kind) = (parameter.into(), Some(kind));
        let text = fill("{mend}", &Facts::of(&observation));
        assert!(text.contains(help), "{parameter}: {text}");
        assert_eq!(text.contains("MPI_PROC_NULL"), parameter == "dest");
    }
}

#[test]
fn what_is_done_on_the_line_of_the_call_is_done_by_the_compiler() {
    let mut observation = crate::facts::tests::observation();
    let help = |observation: &Observation| {
        let finding = crate::merge::merge([observation.clone()]).pop();
        finding.map(|finding| finding.help).unwrap_or_default()
    };
    for stack in &mut observation.stacks {
        stack[0].file = Some("/src/heat.f90".to_owned());
    }
    assert!(help(&observation).ends_with(MOVED_BY_COMPILER));
    for stack in &mut observation.stacks {
        stack[0].line = Some(40);
    }
    assert!(help(&observation).ends_with(COPIED_BY_COMPILER));
    for stack in &mut observation.stacks {
        stack[0].file = Some("/src/heat.c".to_owned());
    }
    assert!(!help(&observation).contains("compiler"));
}
