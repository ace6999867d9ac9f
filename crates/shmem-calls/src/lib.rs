//! The table of OpenSHMEM calls: `calls.txt`, families expanded.
//!
//! The shim's generator uses it for names and prototypes; `commsan-mpi-calls` puts its rows behind
//! those of MPI, for the checks, and for logs, which know calls by name.

mod parse;
mod types;

pub use parse::each_line;
pub use types::{Element, Passed};

use std::sync::LazyLock;

/// All calls, families expanded.
pub static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    // The table is part of the program: a test parses it.
    parse::parse(include_str!("calls.txt")).expect("calls.txt is well formed")
});

/// One call.
#[derive(Debug)]
pub struct Call {
    /// Its name, `shmem_long_put`.
    pub name: String,
    /// What it does.
    pub kind: Kind,
    /// The type of the elements that it is about, if it is about some.
    pub element: Option<Element>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What it returns; `None` for nothing.
    pub result: Option<Passed>,
}

/// One parameter.
#[derive(Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// How it is passed.
    pub passed: Passed,
    /// Whether all PEs must pass the same value.
    pub alike: bool,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Initialises the library.
    Init,
    /// `shmem_finalize`.
    Finalize,
    /// `shmem_global_exit`.
    Exit,
    /// Asks, while the library is initialised.
    Ask,
    /// Asks, also before and after that.
    AnyTime,
    /// Asks whether something can be accessed: any address may be passed.
    Accessible,
    /// `shmem_ptr`: makes another PE's memory accessible by loads and stores.
    Ptr,
    /// Allocates symmetric memory.
    Malloc,
    /// `shmem_realloc`.
    Realloc,
    /// `shmem_free`.
    Free,
    /// Makes a context.
    CtxCreate,
    /// `shmem_ctx_destroy`.
    CtxDestroy,
    /// Writes memory of another PE; its source may be used when it returns.
    Put,
    /// Writes memory of another PE; its source must not be written until the PE has waited for it.
    PutNbi,
    /// Reads memory of another PE before it returns.
    Get,
    /// Reads memory of another PE some time before the PE has waited for it.
    GetNbi,
    /// Reads an element atomically.
    AtomicRead,
    /// Writes an element atomically.
    AtomicWrite,
    /// Changes an element atomically, and returns what it was.
    AtomicUpdate,
    /// Changes an element atomically, and returns nothing.
    AtomicAdd,
    /// `shmem_barrier_all`.
    BarrierAll,
    /// `shmem_sync_all`.
    SyncAll,
    /// `shmem_barrier` of an active set.
    Barrier,
    /// `shmem_sync` of an active set.
    Sync,
    /// From the root to all others.
    Broadcast,
    /// Concatenates blocks of different sizes.
    Collect,
    /// Concatenates blocks of one size.
    Fcollect,
    /// Exchanges blocks between all.
    Alltoall,
    /// Reduces elements of all.
    Reduce,
    /// Waits until a variable has changed.
    Wait,
    /// Tests whether a variable has changed.
    Test,
    /// Completes operations of this PE.
    Quiet,
    /// Orders operations of this PE.
    Fence,
    /// Waits for a lock.
    SetLock,
    /// Releases a lock.
    ClearLock,
    /// Takes a lock if it is free.
    TestLock,
}

impl Kind {
    /// Whether all PEs, or those of an active set, enter it together.
    pub fn is_collective(self) -> bool {
        use Kind::*;
        self.is_of_memory()
            || matches!(self, BarrierAll | SyncAll | Barrier | Sync | Broadcast | Collect)
            || matches!(self, Fcollect | Alltoall | Reduce)
    }

    /// Whether it is about allocations, which all PEs make and free together.
    pub fn is_of_memory(self) -> bool {
        matches!(self, Kind::Malloc | Kind::Realloc | Kind::Free)
    }

    /// Whether it may wait until other PEs call something.
    pub fn waits(self) -> bool {
        let waits = matches!(self, Kind::Wait | Kind::SetLock | Kind::Finalize);
        waits || self.is_collective()
    }

    /// Whether it accesses memory of another PE.
    pub fn is_remote(self) -> bool {
        use Kind::*;
        matches!(self, Put | PutNbi | Get | GetNbi) || self.is_atomic()
    }

    /// Whether it accesses memory of another PE atomically.
    pub fn is_atomic(self) -> bool {
        use Kind::*;
        matches!(self, AtomicRead | AtomicWrite | AtomicUpdate | AtomicAdd)
    }

    /// Whether something is known only when it has returned: that operations are complete, what
    /// other PEs had done before, or a value.
    pub fn has_outcome(self) -> bool {
        use Kind::*;
        matches!(self, Quiet | CtxDestroy | Ptr | Wait | Test | SetLock | TestLock)
            || matches!(self, AtomicRead | AtomicUpdate)
            || self.is_collective()
    }
}

impl Call {
    /// The position of a parameter.
    pub fn at(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|param| param.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Option<&'static Call> {
        CALLS.iter().find(|call| call.name == name)
    }

    #[test]
    fn families_are_expanded() {
        let mut names: Vec<_> = CALLS.iter().map(|call| &*call.name).collect();
        names.sort_unstable();
        let total = names.len();
        names.dedup();
        assert_eq!(names.len(), total, "a call is described twice");
        let some = "shmem_init start_pes shmem_malloc shmemalign shmem_int_put shmem_ctx_ptrdiff_iget \
                    shmem_putmem shmem_ctx_get128_nbi shmem_iput64 shmem_double_atomic_swap shmem_ctx_quiet \
                    shmem_complexd_prod_to_all shmem_alltoalls64 shmem_short_wait shmem_quiet \
                    shmem_longdouble_put shmem_double_p shmem_int_cswap";
        some.split_whitespace().for_each(|name| assert!(named(name).is_some(), "{name}"));
        let none = "shmem_longdouble_p shmem_ctx_malloc shmem_iputmem shmem_float_atomic_add";
        none.split_whitespace().for_each(|name| assert!(named(name).is_none(), "{name}"));
    }

    #[test]
    fn prototypes_are_those_of_the_standard() {
        let of = |name: &str| {
            let call = named(name).unwrap();
            let params = call.params.iter().map(|param| param.passed.in_rust());
            (params.collect::<Vec<_>>().join(" "), call.result.map(Passed::in_rust))
        };
        let pointer = "*mut c_void";
        let of_two = format!("{pointer} {pointer} usize c_int");
        assert_eq!(of("shmem_long_put"), (of_two.clone(), None));
        assert_eq!(of("shmem_ctx_putmem_nbi"), (format!("{pointer} {of_two}"), None));
        assert_eq!(of("shmem_double_p"), (format!("{pointer} f64 c_int"), None));
        assert_eq!(of("shmem_ushort_g"), (format!("{pointer} c_int"), Some("u16")));
        assert_eq!(of("shmem_malloc"), ("usize".to_owned(), Some(pointer)));
        assert_eq!(of("shmem_int_test"), (format!("{pointer} c_int i32"), Some("c_int")));
        let reduce = of("shmem_int_sum_to_all").0;
        let expected = format!("{pointer} {pointer} c_int c_int c_int c_int {pointer} {pointer}");
        assert_eq!(reduce, expected);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, message) in [
            ("put put", "no parameter list"),
            ("nope put ()", "unknown kind `nope`"),
            ("put put (desk)", "unknown parameter `desk`"),
            ("put *nope_put (dest)", "unknown set of types"),
        ] {
            let error = parse::parse(line).unwrap_err();
            assert!(error.contains(message) && error.starts_with("calls.txt:1:"), "{error}");
        }
    }
}
