//! What PEs call together, as they must agree on it, and how two calls differ.
//!
//! **Soundness.** What is compared must be equal by NVSHMEM's documentation ("Collective
//! Communication": all PEs of the team call the same routine, with the same number of elements and
//! the same root; "Memory Management": the same size). The host's variant of a call and that of a
//! stream count as the same, and so do `nvshmem_barrier_all` and `nvshmem_barrier` of all PEs.
//! Where values are only moved, integers of one size are one type, with or without sign, and
//! `nvshmem_broadcastmem` and the like are compared with others by bytes.

use commsan_cuda_abi::nvshmem::{ANY, Collective, Kind, collectives, number_of};

/// What one PE passes to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Among the calls that PEs make together.
    call: u16,
    /// Elements, bytes to allocate, or the number of the allocation to free; 0 where there are
    /// none.
    pub count: u64,
    /// The root, by its number in the team.
    pub root: Option<i32>,
}

impl Operation {
    /// A call by its name, without a root; `None` if PEs do not make it together.
    pub fn new(name: &str, count: u64) -> Option<Operation> {
        Some(Operation { call: number_of(name)?, count, root: None })
    }

    /// The call with this root.
    #[must_use]
    pub fn from(self, root: i32) -> Operation {
        Operation { root: Some(root), ..self }
    }

    fn row(&self) -> &'static Collective {
        &collectives()[usize::from(self.call)]
    }

    /// The name of the call.
    pub fn name(&self) -> &'static str {
        self.row().name
    }

    /// What it does.
    pub fn kind(&self) -> Kind {
        self.row().kind
    }

    /// Whether the sizes of what PEs allocate or free are its only argument.
    pub fn is_of_memory(&self) -> bool {
        matches!(self.kind(), Kind::Allocate | Kind::Free)
    }

    fn same_data(&self, other: &Operation) -> bool {
        let (own, others) = (self.row(), other.row());
        if [own, others].iter().any(|row| row.values == ANY) {
            let bytes = |of: &Operation| of.count.wrapping_mul(of.row().size as u64);
            return bytes(self) == bytes(other);
        }
        let reduces = matches!(own.kind, Kind::Reduce | Kind::ReduceScatter);
        let values = |row: &Collective| match reduces {
            true => row.values,
            false => row.values.trim_start_matches(['i', 'u']),
        };
        (self.count, own.op, values(own)) == (other.count, others.op, values(others))
    }

    /// Whether two PEs' n-th calls on a team are one.
    pub fn matches(&self, other: &Operation) -> bool {
        self.kind() == other.kind() && self.root == other.root && self.same_data(other)
    }

    /// The call in words: `nvshmem_int_broadcast of 32 elements from PE 1`.
    pub fn describe(&self) -> String {
        let (name, count) = (self.name(), self.count);
        match self.kind() {
            Kind::Finalize => format!("{name}, and no further call"),
            Kind::DestroyTeam => format!("{name}, and no further call on the team"),
            Kind::Allocate => format!("{name} of {count} bytes"),
            Kind::Free if count == 0 => format!("{name} of an unknown allocation"),
            Kind::Free => format!("{name} of allocation {count}"),
            _ if self.row().size == 0 => name.to_owned(),
            _ => {
                let what = if self.row().values == ANY { "bytes" } else { "elements" };
                let root = self.root.map_or(String::new(), |root| format!(" from PE {root}"));
                format!("{name} of {count} {what}{root}")
            }
        }
    }

    /// The operation as words, for [`from_words`](Self::from_words).
    pub fn to_words(self) -> [u64; 2] {
        let root = self.root.map_or(0, |root| 1 << 32 | u64::from(root as u32));
        [u64::from(self.call) | root << 16, self.count]
    }

    /// The operation that [`to_words`](Self::to_words) turned into these words.
    pub fn from_words([call, count]: [u64; 2]) -> Option<Operation> {
        let (call, root) = (call as u16, call >> 16);
        let root = (root >> 32 != 0).then_some(root as i32);
        (usize::from(call) < collectives().len()).then_some(Operation { call, count, root })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, count: u64) -> Operation {
        Operation::new(name, count).unwrap()
    }

    #[test]
    fn all_that_pes_must_pass_alike_is_compared() {
        let broadcast = of("nvshmem_int_broadcast", 64).from(0);
        assert!(broadcast.matches(&of("nvshmemx_uint_broadcast_on_stream", 64).from(0)));
        for other in [
            of("nvshmem_int_broadcast", 65).from(0),
            of("nvshmem_int_broadcast", 64).from(1),
            of("nvshmem_float_broadcast", 64).from(0),
            of("nvshmem_int_fcollect", 64),
            of("nvshmem_barrier_all", 0),
        ] {
            assert!(!broadcast.matches(&other) && !other.matches(&broadcast), "{other:?}");
            assert_eq!(Operation::from_words(other.to_words()), Some(other));
        }
        assert!(of("nvshmem_barrier", 0).matches(&of("nvshmemx_barrier_all_on_stream", 0)));
        assert!(!of("nvshmem_barrier", 0).matches(&of("nvshmem_team_sync", 0)));
    }

    #[test]
    fn reductions_have_their_operator_and_type() {
        let sum = of("nvshmem_int_sum_reduce", 8);
        assert!(sum.matches(&of("nvshmem_int32_sum_reduce", 8)));
        for other in
            ["nvshmem_uint_sum_reduce", "nvshmem_int_max_reduce", "nvshmem_float_sum_reduce"]
        {
            assert!(!sum.matches(&of(other, 8)), "{other}");
        }
    }

    #[test]
    fn bytes_are_of_any_type() {
        let bytes = of("nvshmem_fcollectmem", 64);
        assert!(bytes.matches(&of("nvshmem_double_fcollect", 8)));
        assert!(!bytes.matches(&of("nvshmem_double_fcollect", 64)));
    }

    #[test]
    fn operations_are_described_by_what_they_pass() {
        let broadcast = of("nvshmem_int_broadcast", 32).from(1);
        assert_eq!(broadcast.describe(), "nvshmem_int_broadcast of 32 elements from PE 1");
        assert_eq!(of("nvshmem_malloc", 64).describe(), "nvshmem_malloc of 64 bytes");
        assert_eq!(of("nvshmem_barrier_all", 0).describe(), "nvshmem_barrier_all");
    }
}
