//! Phrases about collectives, and about threads that call MPI.

use super::Facts;

impl Facts<'_> {
    /// What the collective was called on.
    pub(super) fn on(&self) -> String {
        let collective = self.observation.finding.collective.as_ref();
        collective.map_or_else(|| "the communicator".to_owned(), |known| known.on.to_string())
    }

    /// Which collective of that.
    pub(super) fn nth(&self) -> String {
        let number = self.observation.finding.collective.as_ref().map_or(0, |known| known.number);
        match number {
            0 => "same".to_owned(),
            _ => ordinal(number),
        }
    }

    /// What one of the sides has passed.
    pub(super) fn passed(&self, side: usize) -> String {
        let collective = self.observation.finding.collective.as_ref();
        let passed = collective.and_then(|known| known.passed.as_ref());
        passed.map_or_else(|| "something else".to_owned(), |both| both[side].to_string())
    }

    /// The thread level that was asked for, and the one that was given.
    pub(super) fn level(&self) -> (String, String) {
        match &self.observation.finding.level {
            Some(level) => (level.required.to_string(), level.provided.to_string()),
            None => ("a higher level".to_owned(), "its thread level".to_owned()),
        }
    }

    /// What the level that was given allows.
    pub(super) fn rule(&self) -> &'static str {
        match &*self.level().1 {
            "MPI_THREAD_SINGLE" => {
                "with MPI_THREAD_SINGLE, which MPI_Init asks for, one thread alone may call MPI: the \
                 library is built upon there being no other"
            }
            "MPI_THREAD_FUNNELED" => {
                "with MPI_THREAD_FUNNELED, only the main thread, which initialised MPI, may call it"
            }
            _ => "with MPI_THREAD_SERIALIZED, threads must not call MPI at once",
        }
    }
}

/// `1st`, `2nd`, `11th`.
fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::facts::Case;
    use crate::merge::Observation;
    use commsan_findings::Code;
    use commsan_rundir::record::{RawCollective, RawLevel};

    /// What rank 1 writes about `code`: its own side is at line 52, the other at line 40.
    pub(crate) fn observation(code: Code, case: Case) -> Observation {
        let mut observation = crate::facts::tests::observation();
        let (by, other, passed) = match code {
            Code::CollectivesDiffer => ("MPI_Barrier", "MPI_Bcast", None),
            Code::RootsDiffer => ("MPI_Bcast", "MPI_Bcast", Some(["rank 1", "rank 0"])),
            Code::ReductionsDiffer => ("MPI_Reduce", "MPI_Reduce", Some(["MPI_MAX", "MPI_SUM"])),
            Code::SignaturesDiffer => {
                let data = ["32 reals of 8 bytes", "64 reals of 8 bytes"];
                ("MPI_Bcast", "MPI_Bcast", Some(data))
            }
            Code::CollectivesCross => {
                let on = ["a communicator of 2 ranks", "MPI_COMM_WORLD"];
                ("MPI_Barrier", "MPI_Allreduce", Some(on))
            }
            Code::AssertionsDiffer => {
                let passed = ["MPI_MODE_NOPRECEDE", "MPI_MODE_NOSUCCEED"];
                ("MPI_Win_fence", "MPI_Win_fence", Some(passed))
            }
            Code::ArgumentsDiffer => {
                let passed = ["`size` = 0", "`size` = 4096"];
                ("MPI_File_set_size", "MPI_File_set_size", Some(passed))
            }
            Code::CollectiveNotEntered => ("MPI_Finalize", "MPI_Barrier", None),
            Code::ThreadExcluded | Code::LevelNotProvided => ("MPI_Send", "MPI_Init_thread", None),
            Code::CallsConcurrent => ("MPI_Send", "MPI_Recv", None),
            Code::CollectivesConcurrent => ("MPI_Barrier", "MPI_Allreduce", None),
            Code::NcclCollectivesDiffer => {
                let passed = [
                    "ncclReduce of 64 ncclFloat32 by ncclSum to rank 0 as its rank 1",
                    "ncclAllGather of 64 ncclFloat32 as its rank 0",
                ];
                ("ncclReduce", "ncclAllGather", Some(passed))
            }
            Code::NcclMessagesDiffer => {
                let passed = [
                    "ncclRecv of 128 ncclFloat64 from rank 0 as its rank 1",
                    "ncclSend of 64 ncclFloat64 to rank 1 as its rank 0",
                ];
                ("ncclRecv", "ncclSend", Some(passed))
            }
            Code::NcclGroupUnbalanced => ("ncclGroupEnd", "ncclGroupEnd", None),
            Code::NcclDestroyedUsed => ("ncclAllReduce", "ncclCommDestroy", None),
            Code::NcclIdReused => ("ncclCommInitRank", "ncclCommInitRank", None),
            Code::NcclNotDestroyed => ("ncclCommInitAll", "ncclCommInitAll", None),
            Code::AllocationsDiffer => {
                let passed = ["`size` = 128", "`size` = 64"];
                ("shmem_malloc", "shmem_malloc", Some(passed))
            }
            Code::NvshmemCollectivesDiffer => {
                let passed = [
                    "nvshmem_int_sum_reduce of 32 elements as PE 1",
                    "nvshmem_barrier_all as PE 0",
                ];
                ("nvshmem_int_sum_reduce", "nvshmem_barrier_all", Some(passed))
            }
            Code::FinalizedElsewhere => ("MPI_Finalize", "MPI_Init_thread", None),
            _ => ("MPI_Wait", "MPI_Waitall", None),
        };
        let on = match code {
            Code::AllocationsDiffer | Code::NvshmemCollectivesDiffer => "all PEs",
            _ if code >= Code::NcclCollectivesDiffer => "an NCCL communicator of 2 ranks",
            _ => "MPI_COMM_WORLD",
        };
        let ranks = code.is_between_ranks() || code < Code::ThreadExcluded;
        let finding = &mut observation.finding;
        (finding.code, finding.access) = (code, None);
        let [first, second] = &mut finding.sites.to_mut()[..] else { panic!() };
        (first.call, second.call) = (Some(by.into()), Some(other.into()));
        finding.operation.call = other.into();
        finding.collective = Some(RawCollective {
            on: on.into(),
            number: 3,
            passed: passed.map(|both| both.map(Into::into)),
            between_groups: case == Case::BetweenGroups,
        });
        if ranks {
            (observation.rank, second.rank) = (1, Some(0));
        } else if code < Code::NcclCollectivesDiffer {
            first.thread = u32::from(case != Case::MainThread);
            finding.level = Some(RawLevel {
                required: "MPI_THREAD_MULTIPLE".into(),
                provided: match code {
                    _ if case == Case::MainThread => "MPI_THREAD_SINGLE".into(),
                    Code::ThreadExcluded => "MPI_THREAD_FUNNELED".into(),
                    _ => "MPI_THREAD_SERIALIZED".into(),
                },
            });
        }
        if case == Case::WithinOneCall {
            finding_within_one_call(&mut observation);
        }
        observation.completed = None;
        observation
    }

    fn finding_within_one_call(observation: &mut Observation) {
        let [first, second] = &mut observation.finding.sites.to_mut()[..] else { panic!() };
        (first.call, second.call) = (Some("MPI_Alltoall".into()), Some("MPI_Alltoall".into()));
        second.rank = None;
    }

    #[test]
    fn numbers_are_spoken() {
        let all = [1, 2, 3, 4, 11, 12, 13, 21, 101, 112].map(ordinal);
        let expected =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "112th"];
        assert_eq!(all, expected);
    }
}
