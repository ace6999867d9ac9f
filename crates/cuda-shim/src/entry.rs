//! What every entry point does: note who calls, call the library, and say what that means.

use crate::call::{Call, DefaultStream};
use crate::process::{process, quietly};
use crate::real::{INVALID_VALUE, SUCCESS};
use crate::symbols;
use commsan_cuda::waiting::HostWait;
use commsan_cuda_abi::is_sticky;
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_threads::Here;
use std::ffi::c_int;

/// What a function is called where users see it: `<<<>>>` becomes a call of `__cudaLaunchKernel`.
pub(crate) const fn public_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'_', b'_', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Runs `body` with the call if it is to be looked at.
#[inline]
pub(crate) fn around(
    name: &'static str,
    default: DefaultStream,
    caller: Caller,
    body: impl FnOnce(Option<&Call>) -> c_int,
) -> c_int {
    let Some(process) = process() else { return body(None) };
    let Some(inside) = Inside::enter() else { return body(None) };
    let here = Here::new(caller, &inside);
    let call = Call::of(process, here, name, default);
    symbols::meet_managed(&call);
    body(Some(&call))
}

/// Calls the library, and says before what it is about to do.
#[inline]
pub(crate) fn before(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    says: impl FnOnce(&Call),
) -> c_int {
    if let Some(call) = call {
        quietly(|| says(call));
    }
    real()
}

/// Calls the library, and says what it has done.
#[inline]
pub(crate) fn after(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    says: impl FnOnce(&Call),
) -> c_int {
    let code = real();
    if let Some(call) = call.filter(|_| code == SUCCESS) {
        quietly(|| says(call));
    }
    code
}

/// Calls the library, and says what the host has waited for. A device that has failed has nothing
/// left to do, so that nobody need wait for it who knows that.
#[inline]
pub(crate) fn waits(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    says: impl FnOnce(&Call),
) -> c_int {
    let code = real();
    if let Some(call) = call.filter(|_| code == SUCCESS || is_sticky(code)) {
        let call = Call { failed: code != SUCCESS, ..*call };
        quietly(|| {
            says(&call);
            if call.failed {
                call.device_synchronized();
            }
        });
    }
    code
}

/// Calls the library to wait for work, which may need other ranks, and says what the host has
/// waited for.
pub(crate) fn blocks(
    call: Option<&Call>,
    wait: impl FnOnce(&Call) -> HostWait,
    real: impl FnOnce() -> c_int,
    says: impl FnOnce(&Call),
) -> c_int {
    let shown = call.filter(|call| {
        let shows = || {
            let wait = wait(call);
            call.with(|streams, place, _| streams.host_waits(wait, call.name, place))
        };
        quietly(shows).flatten() == Some(true)
    });
    let Some(shown) = shown else { return waits(call, real, says) };
    let (mut real, mut code) = (Some(real), INVALID_VALUE);
    shown.process.waits(shown.here.thread, &mut || {
        if let Some(real) = real.take() {
            code = real();
        }
    });
    quietly(|| shown.with(|streams, _, _| streams.host_goes_on()));
    waits(call, || code, says)
}

/// Calls the library, and says what accesses memory. So does a refusal: the memory may be gone.
#[inline]
pub(crate) fn touches(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    says: impl FnOnce(&Call),
) -> c_int {
    let code = real();
    if let Some(call) = call.filter(|_| matches!(code, SUCCESS | INVALID_VALUE)) {
        quietly(|| says(&Call { refused: code != SUCCESS, ..*call }));
    } else if let Some(call) = call.filter(|_| is_sticky(code)) {
        quietly(|| call.device_synchronized());
    }
    code
}
