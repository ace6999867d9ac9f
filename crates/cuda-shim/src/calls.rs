//! The functions that commsan stands in front of, each with its arguments and what it says.
//!
//! A row is `before` if it speaks before the library does what is asked, `after` if after it has
//! done so with success, `waits` if the host knows then that work is over, by success or since the
//! device has failed, `blocks` if the host waits for that in the call, `touches` if what is asked
//! is a copy or a set, which may be refused, `instead` if it calls the library's function, `real`,
//! itself. The second name of a row is the twin for programs whose default stream is per thread:
//! there, handle 0 means that one.
//!
//! Where CUDA 12 and 13 differ in what a name means, the arguments are words, and the version that
//! is loaded says which is what. All are passed on in either case: those that a function does not
//! have are what happened to be there.

/// A function that is interposed, and the types that its arguments have here.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its symbol.
    pub name: &'static str,
    /// Types of its arguments.
    pub arguments: &'static [&'static str],
}

macro_rules! entries {
    ($(
        fn $name:ident $(, $twin:ident)? ($($args:tt)*) $kind:ident $bound:tt $body:block
    )*) => {
        $(entries!(@row [$name $($twin)?] ($($args)*), $kind, $bound, $body);)*
        pub(super) const ENTRIES: &[&[crate::Entry]] =
            &[$(entries!(@names [$name $($twin)?] ($($args)*))),*];
    };
    (@row [$name:ident] $args:tt, $kind:ident, $bound:tt, $body:block) => {
        entries!(@one $name, $name, Legacy, $args, $kind, $bound, $body);
    };
    (@row [$name:ident $twin:ident] $args:tt, $kind:ident, $bound:tt, $body:block) => {
        entries!(@one $name, $name, Legacy, $args, $kind, $bound, $body);
        entries!(@one $name, $twin, PerThread, $args, $kind, $bound, $body);
    };
    (@names [$($name:ident)*] $args:tt) => { &[$(entries!(@entry $name, $args)),*] };
    (@entry $name:ident, ($($arg:ident: $ty:ty),* $(,)?)) => {
        crate::Entry { name: stringify!($name), arguments: &[$(stringify!($ty)),*] }
    };
    (@one $label:ident, $name:ident, $default:ident, ($($arg:ident: $ty:ty),* $(,)?), $kind:ident,
        $bound:tt, $body:block) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        #[allow(clippy::too_many_arguments, reason = "they are CUDA's")]
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> std::ffi::c_int {
            let real = crate::real::real!(@name $name, fn($($ty),*) -> std::ffi::c_int);
            let Some(real) = real else { return crate::real::NO_LIBRARY };
            let default = crate::call::DefaultStream::$default;
            const NAME: &str = crate::entry::public_name(stringify!($label));
            crate::entry::around(NAME, default, commsan_process::caller!(), |call| {
                entries!(@$kind call, real, ($($arg),*), $bound, $body)
            })
        }
    };
    (@before $call:ident, $real:ident, ($($arg:ident),*), ($bound:pat), $body:block) => {
        // SAFETY: the program's arguments.
        crate::entry::before($call, || unsafe { $real($($arg),*) }, |$bound: &crate::call::Call| $body)
    };
    (@after $call:ident, $real:ident, ($($arg:ident),*), ($bound:pat), $body:block) => {
        // SAFETY: the program's arguments.
        crate::entry::after($call, || unsafe { $real($($arg),*) }, |$bound: &crate::call::Call| $body)
    };
    (@waits $call:ident, $real:ident, ($($arg:ident),*), ($bound:pat), $body:block) => {
        // SAFETY: the program's arguments.
        crate::entry::waits($call, || unsafe { $real($($arg),*) }, |$bound: &crate::call::Call| $body)
    };
    (@blocks $call:ident, $real:ident, ($($arg:ident),*), ($bound:pat, $wait:expr), $body:block) => {
        crate::entry::blocks(
            $call,
            $wait,
            // SAFETY: the program's arguments.
            || unsafe { $real($($arg),*) },
            |$bound: &crate::call::Call| $body,
        )
    };
    (@touches $call:ident, $real:ident, ($($arg:ident),*), ($bound:pat), $body:block) => {
        crate::entry::touches(
            $call,
            // SAFETY: the program's arguments.
            || unsafe { $real($($arg),*) },
            |$bound: &crate::call::Call| $body,
        )
    };
    (@instead $call:ident, $real:ident, $args:tt, ($bound:pat, $bound_real:ident), $body:block) => {{
        let $bound: Option<&crate::call::Call> = $call;
        let $bound_real = $real;
        $body
    }};
}

mod array;
mod copy;
mod device;
mod event;
mod graph;
mod launch;
mod memory;
mod nccl;
mod node;
mod nvshmem;
mod stream;

/// All functions that return an error; those of the compiler's code that do not are not among them.
pub fn entries() -> impl Iterator<Item = Entry> {
    let all = [
        array::ENTRIES,
        copy::ENTRIES,
        device::ENTRIES,
        event::ENTRIES,
        graph::ENTRIES,
        launch::ENTRIES,
        memory::ENTRIES,
        nccl::ENTRIES,
        node::ENTRIES,
        stream::ENTRIES,
    ];
    all.into_iter().flat_map(|family| family.iter().copied().flatten().copied())
}
