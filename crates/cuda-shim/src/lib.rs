//! The CUDA runtime's entry points: every call of the program that means something to commsan comes
//! through here, on its way to NVIDIA's libcudart or to the simulated one.
//!
//! [`calls`] lists the functions, each with what it says; all of them go through [`entry`]. What a
//! call *says* is known here: which argument is what, what it is called in either version of CUDA's
//! ABI. What it *means* is decided in `commsan-cuda`, whose
//! [`StreamChecker`](commsan_cuda::StreamChecker) the runtime hands to each call
//! ([`Process::with`]).
//!
//! It promises the program: calls reach the library with the program's arguments and in its order,
//! no lock is held meanwhile, and what commsan asks the library itself leaves the last error as it
//! is. Calls made inside MPI or inside libcudart are not the program's and pass untouched; so does
//! every function that is not listed, and all of them where nothing is checked.
//!
//! **Order.** What happens to a stream is handed over after the library has done it, what ends
//! something (freeing memory, destroying streams) before. Calls of threads at the same time for the
//! same stream may be handed over in another order than the library saw: then the program does not
//! say either.

mod arguments;
mod arrays;
mod ask;
mod call;
mod calls;
mod copies;
mod entry;
mod graphs;
mod host;
mod launch;
mod memory;
mod nccl;
mod nvshmem;
mod process;
mod real;
mod sites;
mod stats;
mod streams;
mod symbols;
mod traffic;
mod watch;

pub use calls::{Entry, entries};
pub use process::{Process, connect, stream_of};
pub use stats::each_call;
pub use watch::execute_suspects;
