//! Host synchronisation of copies, sets and frees ("API synchronization behavior" and "Stream
//! synchronization behavior" of the CUDA Runtime API).
//!
//! Where the documentation leaves it open, the seed decides for asynchronous calls. Synchronous
//! calls wait, since programs rely on it without knowing: also for the last step of a copy from
//! pageable memory, and where memory is managed.

use crate::memory::Place;

/// A call that may make the host wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `cudaMemcpy`, `cudaMemcpy2D`, `cudaMemcpyToSymbol` and similar.
    Copy,
    /// `cudaMemcpyAsync` and similar.
    CopyAsync,
    /// A copy whose source is read before the call returns:
    /// `cudaMemcpySrcAccessOrderDuringApiCall`.
    CopyDuringCall,
    /// `cudaMemset` and similar.
    Set,
    /// `cudaMemsetAsync` and similar.
    SetAsync,
    /// `cudaFree`, `cudaFreeHost`.
    Free,
}

/// What the host waits for before the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing: the operation is enqueued.
    Nothing,
    /// All earlier work of the stream; then the source is read, and the operation is enqueued.
    Staging,
    /// The operation.
    Operation,
    /// All work of the device.
    Device,
    /// Undocumented: nothing, or [`Wait::Staging`].
    PerhapsStaging,
    /// Undocumented: nothing, or [`Wait::Operation`].
    PerhapsOperation,
}

/// Memory locations that a rule applies to.
type Places = &'static [Place];

const DEVICE: Places = &[Place::Device];
const PAGEABLE: Places = &[Place::Pageable];
const HOST: Places = &[Place::Pinned, Place::Pageable];
const NOT_HOST: Places = &[Place::Device, Place::Managed];
const ANY: Places = &[Place::Device, Place::Managed, Place::Pinned, Place::Pageable];

/// Call, source, destination, wait; the first matching row applies. Sets and frees have no source.
#[rustfmt::skip]
const TABLE: &[(Call, Places, Places, Wait)] = &[
    (Call::Copy,      DEVICE,   DEVICE,   Wait::Nothing),
    (Call::Copy,      ANY,      ANY,      Wait::Operation),
    (Call::CopyAsync, HOST,     HOST,     Wait::Operation),
    (Call::CopyAsync, NOT_HOST, PAGEABLE, Wait::PerhapsOperation),
    (Call::CopyAsync, PAGEABLE, NOT_HOST, Wait::PerhapsStaging),
    (Call::CopyAsync, ANY,      ANY,      Wait::Nothing),
    (Call::CopyDuringCall, ANY, ANY,      Wait::Staging),
    (Call::Set,       ANY,      DEVICE,   Wait::Nothing),
    (Call::Set,       ANY,      ANY,      Wait::Operation),
    (Call::SetAsync,  ANY,      ANY,      Wait::Nothing),
    (Call::Free,      ANY,      ANY,      Wait::Device),
];

/// What the host waits for in a call.
pub fn wait(call: Call, from: Place, to: Place) -> Wait {
    TABLE
        .iter()
        .find(|row| row.0 == call && row.1.contains(&from) && row.2.contains(&to))
        .map_or(Wait::Nothing, |row| row.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_row_and_every_row_a_case() {
        let mut used = vec![false; TABLE.len()];
        let copies = [Call::Copy, Call::CopyAsync, Call::CopyDuringCall];
        let others = [Call::Set, Call::SetAsync, Call::Free];
        for call in copies.into_iter().chain(others) {
            for &from in ANY {
                for &to in ANY {
                    let fits = |row: &(Call, Places, Places, Wait)| {
                        row.0 == call && row.1.contains(&from) && row.2.contains(&to)
                    };
                    used[TABLE.iter().position(fits).expect("a row")] = true;
                }
            }
        }
        assert!(used.iter().all(|used| *used), "{used:?}");
    }

    #[test]
    fn as_documented() {
        use Place::{Device, Pageable, Pinned};
        assert_eq!(wait(Call::Copy, Device, Device), Wait::Nothing);
        assert_eq!(wait(Call::Copy, Pageable, Device), Wait::Operation);
        assert_eq!(wait(Call::Copy, Device, Pinned), Wait::Operation);
        assert_eq!(wait(Call::CopyAsync, Device, Pinned), Wait::Nothing);
        assert_eq!(wait(Call::CopyAsync, Pageable, Pageable), Wait::Operation);
        assert_eq!(wait(Call::Set, Device, Device), Wait::Nothing);
        assert_eq!(wait(Call::Set, Pinned, Pinned), Wait::Operation);
    }
}
