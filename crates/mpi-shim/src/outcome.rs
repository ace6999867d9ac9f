//! What a call that has returned says: whether it succeeded, its requests, and what has arrived.

use crate::handles::{
    comm_from_fortran, datatype_from_fortran, file_from_fortran, handle_at, request_from_fortran,
    request_size, win_from_fortran,
};
use crate::library::received;
use crate::rank::Rank;
use crate::sys;
use commsan_callsite::Findings;
use commsan_mpi::{Args, Token, Tracker};
use commsan_mpi_calls::{Effect, Extent};
use commsan_shadow::Mode;
use commsan_threads::Here;
use smallvec::SmallVec;
use std::ffi::c_int;

/// Request arguments of a call.
pub(crate) type Tokens = SmallVec<[Token; 4]>;

/// A call that has returned.
pub(crate) struct After<'a> {
    pub rank: &'a dyn Rank,
    pub args: &'a Args<'a>,
    pub here: &'a Here<'a>,
    pub ok: bool,
}

impl After<'_> {
    /// Passes something to the semantics.
    #[inline]
    pub(crate) fn with(&self, mut f: impl FnMut(&mut Tracker, &mut dyn Findings)) {
        self.rank.with(self.here.thread, &mut f);
    }
}

/// The handle whose variable the call is given, to free or commit its object; 0 for other calls.
pub(crate) fn by_reference(args: &Args) -> usize {
    let pointer = args.words.first().copied().unwrap_or(0);
    // SAFETY: the first argument of each of these calls is a pointer to a handle of its kind.
    unsafe {
        match args.call.effect {
            Effect::CommFree => {
                handle_at::<sys::MPI_Comm>(pointer, args.fortran, comm_from_fortran)
            }
            Effect::TypeFree | Effect::TypeCommit => {
                handle_at::<sys::MPI_Datatype>(pointer, args.fortran, datatype_from_fortran)
            }
            Effect::WindowFree => {
                handle_at::<sys::MPI_Win>(pointer, args.fortran, win_from_fortran)
            }
            Effect::FileClose => {
                handle_at::<sys::MPI_File>(pointer, args.fortran, file_from_fortran)
            }
            _ => 0,
        }
    }
}

/// The arguments of a call that has received, with the actual count: the rest of the buffer is
/// untouched (MPI 4.1 §3.2.4).
pub(crate) fn arrived(args: &Args) -> SmallVec<[usize; 16]> {
    let mut words: SmallVec<[usize; 16]> = args.words.into();
    let Some(status) = args.call.at.status.map(|index| words[index]) else { return words };
    for rule in args.call.accesses.iter().filter(|rule| rule.mode == Mode::Write) {
        let Extent::Blocks { count, .. } = rule.extent else { continue };
        if args.count(count) == 0 {
            continue; // with any datatype, MPI_DATATYPE_NULL included
        }
        // SAFETY: the entry points ensure that a blocking call has a status, which the library has
        // just filled.
        if let Some(n) = unsafe { received(status, words[rule.datatype]) }
            && (n as usize) < args.count(count)
        {
            words[count] = n as usize;
        }
    }
    words
}

/// Each request argument.
pub(crate) fn tokens(args: &Args, before: u64) -> Tokens {
    let mut tokens = Tokens::new();
    push_tokens(args, before, &mut tokens);
    tokens
}

/// Appends each request argument.
pub(crate) fn push_tokens(args: &Args, before: u64, tokens: &mut Tokens) {
    each_request(args, |key, variable| tokens.push(Token { key, variable, before }));
}

/// Passes each request argument, and the address of its variable if it has one.
#[inline]
pub(crate) fn each_request(args: &Args, mut f: impl FnMut(usize, usize)) {
    let at = &args.call.at;
    // SAFETY: the call's own request, or one of its own array of them.
    let mut pass = |variable| f(unsafe { request_at(variable, args.fortran) }, variable);
    match (at.requests, at.request, at.request_value) {
        (Some(array), _, _) => {
            let count = at.count.map_or(0, |i| args.int(i).max(0) as usize);
            let size = request_size(args.fortran);
            (0..count).for_each(|i| pass(args.words[array] + i * size));
        }
        (None, Some(one), _) => pass(args.words[one]),
        (None, None, Some(value)) => f(args.words[value], 0),
        (None, None, None) => {
            if let Some(file) = at.file.map(|index| args.words[index]) {
                f(file, file);
            }
        }
    }
}

/// Whether a call that has returned says that something has happened; those without a flag do by
/// returning.
pub(crate) fn flag_of(args: &Args) -> bool {
    let flag = args.call.at.flag.map(|index| args.words[index]);
    // SAFETY: a result of the call, which has set it.
    flag.is_none_or(|pointer| unsafe { *(pointer as *const c_int) } != 0)
}

/// The request handle at an address.
///
/// # Safety
///
/// As for [`handle_at`].
#[inline]
pub(crate) unsafe fn request_at(address: usize, fortran: bool) -> usize {
    // SAFETY: by the caller.
    unsafe { handle_at::<sys::MPI_Request>(address, fortran, request_from_fortran) }
}
