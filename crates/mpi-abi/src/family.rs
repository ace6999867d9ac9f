//! Families of MPI libraries, and which library belongs to which.

use crate::constants::{self, Constants};
use crate::handles::{self, HANDLES, Handle, HandleKind};

/// MPI libraries that share an application binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MpiFamily {
    /// Open MPI.
    OpenMpi,
    /// MPICH, and the libraries of the MPICH ABI compatibility initiative: Intel MPI, MVAPICH,
    /// Cray MPICH.
    Mpich,
    /// Libraries that implement the ABI of the standard (MPI 5.0 chapter 20), `libmpi_abi.so`.
    Standard,
}

impl MpiFamily {
    /// All families.
    pub const ALL: [MpiFamily; 3] = [MpiFamily::OpenMpi, MpiFamily::Mpich, MpiFamily::Standard];

    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            MpiFamily::OpenMpi => "Open MPI",
            MpiFamily::Mpich => "MPICH",
            MpiFamily::Standard => "the MPI standard ABI",
        }
    }

    /// The name in options, file names and Debian's alternatives (`mpicc.mpich`).
    pub const fn key(self) -> &'static str {
        match self {
            MpiFamily::OpenMpi => "openmpi",
            MpiFamily::Mpich => "mpich",
            MpiFamily::Standard => "mpiabi",
        }
    }

    /// The family with this name in options.
    pub fn from_key(key: &[u8]) -> Option<MpiFamily> {
        MpiFamily::ALL.into_iter().find(|family| family.key().as_bytes() == key)
    }

    /// The file name of commsan's runtime for programs of this family.
    pub const fn runtime(self) -> &'static str {
        match self {
            MpiFamily::OpenMpi => "libcommsan_openmpi.so",
            MpiFamily::Mpich => "libcommsan_mpich.so",
            MpiFamily::Standard => "libcommsan_mpiabi.so",
        }
    }

    /// The integer constants and the layout of `MPI_Status`.
    pub const fn constants(self) -> &'static Constants {
        match self {
            MpiFamily::OpenMpi => &constants::OPEN_MPI,
            MpiFamily::Mpich => &constants::MPICH,
            MpiFamily::Standard => &constants::STANDARD,
        }
    }

    /// Bytes of a handle in C; in Fortran a handle is an `INTEGER`.
    pub const fn handle_bytes(self) -> i64 {
        match self {
            // A pointer.
            MpiFamily::OpenMpi | MpiFamily::Standard => 8,
            // An `int`.
            MpiFamily::Mpich => 4,
        }
    }

    /// The family that a library belongs to, by its file name.
    ///
    /// `libmpi.so.12` is the name that the MPICH ABI compatibility initiative fixed (MPICH, Intel
    /// MPI, MVAPICH; Cray's is `libmpi_gnu.so.12` or the like); Debian's MPICH is
    /// `libmpich.so.12`; other versions of `libmpi.so` are Open MPI's; `libmpi_abi.so` is the name
    /// that the standard fixed (MPI 5.0 §20.2). Fortran and C++ bindings need the C library, so
    /// that their names do not matter.
    pub fn of_library(file: &[u8]) -> Option<MpiFamily> {
        if file.starts_with(b"libmpi_abi.so") {
            return Some(MpiFamily::Standard);
        }
        if file.starts_with(b"libmpich.so") {
            return Some(MpiFamily::Mpich);
        }
        if let Some(version) = file.strip_prefix(b"libmpi.so") {
            let major = version.strip_prefix(b".").and_then(|v| v.split(|b| *b == b'.').next());
            let is_mpich = major == Some(b"12");
            return Some(if is_mpich { MpiFamily::Mpich } else { MpiFamily::OpenMpi });
        }
        const VENDORS: [&[u8]; 5] = [b"cray", b"gnu", b"intel", b"amd", b"nvidia"];
        let of_vendor = file.strip_prefix(b"libmpi_")?;
        let is_cray = VENDORS.iter().any(|vendor| of_vendor.starts_with(vendor))
            && of_vendor.windows(6).any(|window| window == b".so.12");
        is_cray.then_some(MpiFamily::Mpich)
    }

    /// The family whose libraries define a global variable of this name.
    pub fn of_variable(name: &str) -> Option<MpiFamily> {
        const OPEN_MPI: [&str; 3] = ["ompi_mpi_", "ompi_request_", "mpi_fortran_"];
        OPEN_MPI.iter().any(|prefix| name.starts_with(prefix)).then_some(MpiFamily::OpenMpi)
    }

    /// The predefined handle of a kind that a number is in this family: Open MPI has numbers in
    /// Fortran only.
    pub fn handle(self, kind: HandleKind, number: i64) -> Option<&'static Handle> {
        match self {
            MpiFamily::OpenMpi => handles::of_open_mpi_fortran(kind, i32::try_from(number).ok()?),
            // With a sign or without: the numbers of pairs are negative as an `int`.
            MpiFamily::Mpich => handles::of_mpich(kind, number as u32),
            MpiFamily::Standard => handles::of_standard(kind, u32::try_from(number).ok()?),
        }
    }

    /// The number that a predefined handle is in this family, unless it is an address or missing.
    pub fn number(self, handle: &Handle, in_fortran: bool) -> Option<i64> {
        match self {
            MpiFamily::OpenMpi if in_fortran => handle.open_mpi_fortran.map(i64::from),
            MpiFamily::Mpich => handle.mpich.map(i64::from),
            MpiFamily::Standard if in_fortran => handle.standard.map(i64::from),
            MpiFamily::OpenMpi | MpiFamily::Standard => None,
        }
    }

    /// Integer constant expressions of C with their values in this family: what a program that
    /// includes the family's `mpi.h` and `stddef.h` can assert.
    pub fn claims(self) -> impl Iterator<Item = (&'static str, i64)> {
        let constants = self.constants();
        let count = match self {
            MpiFamily::OpenMpi => "offsetof(MPI_Status, _ucount)",
            MpiFamily::Mpich => "offsetof(MPI_Status, count_lo)",
            MpiFamily::Standard => "offsetof(MPI_Status, MPI_internal)",
        };
        let layout = [(count, constants.status_count), ("sizeof(MPI_Comm)", self.handle_bytes())];
        constants.named().into_iter().chain(layout)
    }

    /// The predefined handles that are integers in this family's `mpi.h`, with their values.
    pub fn numbered_handles(self) -> impl Iterator<Item = (&'static Handle, u32)> {
        let number = move |handle: &'static Handle| match self {
            MpiFamily::OpenMpi => None,
            MpiFamily::Mpich => Some((handle, handle.mpich?)),
            MpiFamily::Standard => Some((handle, handle.standard?)),
        };
        HANDLES.iter().filter_map(number)
    }
}

impl core::fmt::Display for MpiFamily {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::MpiFamily::{self, Mpich, OpenMpi, Standard};
    use super::{HANDLES, HandleKind, handles};

    #[test]
    fn libraries_belong_to_families_by_name() {
        let cases: [(&str, Option<MpiFamily>); 15] = [
            ("libmpi.so", Some(OpenMpi)),
            ("libmpi.so.40", Some(OpenMpi)),
            ("libmpi.so.40.30.4", Some(OpenMpi)),
            ("libmpi.so.20", Some(OpenMpi)),
            ("libmpi.so.12", Some(Mpich)),
            ("libmpi.so.12.1.8", Some(Mpich)),
            ("libmpi.so.120", Some(OpenMpi)),
            ("libmpich.so.12", Some(Mpich)),
            ("libmpi_gnu_112.so.12", Some(Mpich)),
            ("libmpi_gnu_112.so.40", None),
            ("libmpi_abi.so.1", Some(Standard)),
            ("libmpi_mpifh.so.40", None),
            ("libmpichfort.so.12", None),
            ("libopen-pal.so.40", None),
            ("libc.so.6", None),
        ];
        for (file, expected) in cases {
            assert_eq!(MpiFamily::of_library(file.as_bytes()), expected, "{file}");
        }
    }

    #[test]
    fn families_have_keys() {
        for family in MpiFamily::ALL {
            assert_eq!(MpiFamily::from_key(family.key().as_bytes()), Some(family));
            assert_eq!(family.runtime(), format!("libcommsan_{}.so", family.key()));
        }
        assert_eq!(MpiFamily::from_key(b"auto"), None);
        assert_eq!(MpiFamily::of_variable("ompi_mpi_comm_world"), Some(OpenMpi));
        assert_eq!(MpiFamily::of_variable("environ"), None);
    }

    #[test]
    fn numbers_are_handles_of_a_kind_and_a_family() {
        let name = |family: MpiFamily, kind, number| family.handle(kind, number).map(|h| h.name);
        assert_eq!(name(OpenMpi, HandleKind::Comm, 0), Some("MPI_COMM_WORLD"));
        assert_eq!(name(Mpich, HandleKind::Comm, 0x4400_0000), Some("MPI_COMM_WORLD"));
        assert_eq!(name(Standard, HandleKind::Comm, 0x101), Some("MPI_COMM_WORLD"));
        assert_eq!(name(Standard, HandleKind::Datatype, 0x101), None);
        assert_eq!(name(Standard, HandleKind::Comm, (1 << 32) + 0x101), None);
        for handle in &HANDLES {
            for family in MpiFamily::ALL {
                let Some(number) = family.number(handle, true) else { continue };
                let known = family.handle(handle.kind, number).map(|known| known.is_null());
                assert_eq!(known, Some(handle.is_null()), "{family}: {}", handle.name);
            }
        }
        assert_eq!(Standard.number(handles::named("MPI_INT"), false), None, "an address");
        let pair = i64::from(0x8c00_0000_u32 as i32);
        assert_eq!(name(Mpich, HandleKind::Datatype, pair), Some("MPI_FLOAT_INT"));
    }
}
