//! Which MPI libraries this process has loaded, and which CUDA runtime.

use commsan_mpi_abi::MpiFamily;
use std::ffi::{CStr, c_int, c_void};

/// The MPI libraries among the loaded objects, and the CUDA runtime.
#[derive(Clone, Copy, Default)]
pub struct Loaded {
    /// Different MPI libraries, whatever their kind.
    pub distinct: usize,
    /// The CUDA runtime that a simulated one can replace.
    pub cudart: Option<Cudart>,
    found: [Option<(MpiFamily, &'static CStr)>; 2],
}

impl Loaded {
    /// The kind of MPI, where there is one.
    pub fn mpi(&self) -> Option<MpiFamily> {
        self.found[0].map(|(mpi, _)| mpi)
    }

    /// Path of the library loaded first.
    pub fn first(&self) -> &'static [u8] {
        self.found[0].map_or(b"", |(_, path)| path.to_bytes())
    }

    /// Path of another one.
    pub fn second(&self) -> &'static [u8] {
        self.found[1].map_or(b"", |(_, path)| path.to_bytes())
    }
}

/// Looks at every loaded object's name.
pub fn loaded() -> Loaded {
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid `info`, and `data` is the `Loaded` below.
        let (name, result) = unsafe { ((*info).dlpi_name, &mut *data.cast::<Loaded>()) };
        if name.is_null() {
            return 0;
        }
        // SAFETY: ld.so keeps the name as a C string while the object is loaded, and MPI
        // libraries are not unloaded before we are done.
        let path: &'static CStr = unsafe { CStr::from_ptr(name) };
        result.cudart = result.cudart.or(Cudart::of(base_name(path.to_bytes())));
        if let Some(mpi) = MpiFamily::of_library(base_name(path.to_bytes())) {
            if let Some(slot) = result.found.get_mut(result.distinct) {
                *slot = Some((mpi, path));
            }
            result.distinct += 1;
        }
        0
    }
    let mut result = Loaded::default();
    // SAFETY: `visit` matches the callback's type and `result` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut result).cast()) };
    result
}

/// A version of the CUDA runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cudart {
    /// Of CUDA 12.
    Twelve,
    /// Of CUDA 13.
    Thirteen,
}

impl Cudart {
    /// The name that programs ask ld.so for.
    pub fn soname(self) -> &'static str {
        match self {
            Cudart::Twelve => "libcudart.so.12",
            Cudart::Thirteen => "libcudart.so.13",
        }
    }

    /// The version that a library file is of, by its name.
    fn of(file: &[u8]) -> Option<Cudart> {
        [Cudart::Twelve, Cudart::Thirteen].into_iter().find(|version| {
            let rest = file.strip_prefix(version.soname().as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
        })
    }
}

/// What follows the last slash.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cuda_runtime_is_known_by_its_name() {
        for (file, expected) in [
            ("libcudart.so.13", Some(Cudart::Thirteen)),
            ("libcudart.so.12.9.79", Some(Cudart::Twelve)),
            ("libcudart.so.11.0", None),
            ("libcudart.so.130", None),
            ("libcuda.so.1", None),
        ] {
            assert_eq!(Cudart::of(file.as_bytes()), expected, "{file}");
        }
    }
}
