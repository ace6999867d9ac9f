//! Buffered sends and the buffer space that they need (MPI 4.1 §3.6): Open MPI needs none for small
//! messages.
//!
//! **Soundness.** A message needs its own size and `MPI_BSEND_OVERHEAD` bytes of the attached
//! buffer, whatever else is in it. Missed is what several messages need together.

use crate::datatypes;
use crate::library;
use commsan_mpi::Args;
use commsan_mpi_calls::{Effect, Extent};
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// One more than the bytes that are attached, 0 without.
static ATTACHED: AtomicUsize = AtomicUsize::new(0);

/// Libraries of MPI 4.1 also attach buffers to single communicators and sessions, which is not
/// seen.
static HAS_OTHERS: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: a lookup by name.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Comm_attach_buffer".as_ptr()) }.is_null()
});

/// The program has attached so many bytes.
pub(crate) fn attached(bytes: usize) {
    ATTACHED.store(bytes.saturating_add(1), Relaxed);
}

/// The program has detached the buffer.
pub(crate) fn detached() {
    ATTACHED.store(0, Relaxed);
}

/// What a message lacks that is to be buffered.
pub(super) fn room_problem(args: &Args) -> Option<String> {
    let rule = args.call.accesses.first()?;
    let Extent::Blocks { count, .. } = rule.extent else { return None };
    let count = args.count(count);
    if args.call.effect == Effect::Init || count == 0 || *HAS_OTHERS || !super::has_peer(args) {
        return None;
    }
    let bytes = datatypes::signature(args.words[rule.datatype]).bytes as usize * count;
    let needed = bytes.checked_add(library::bsend_overhead()).filter(|_| bytes > 0)?;
    match ATTACHED.load(Relaxed).checked_sub(1) {
        None => Some("is to be buffered, but no memory is attached for that".to_owned()),
        Some(attached) => (attached < needed).then(|| {
            format!("needs {needed} bytes of attached memory, but {attached} are attached")
        }),
    }
}

/// What is wrong with memory that comes besides other memory.
pub(super) fn attached_problem() -> Option<&'static str> {
    (ATTACHED.load(Relaxed) != 0 && !*HAS_OTHERS)
        .then_some("comes besides memory that is attached already")
}
