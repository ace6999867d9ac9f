//! Whether an MPI library is linked into the program itself, where nothing can come between.

use std::ffi::CStr;
use std::ops::Range;

/// A function that every MPI library defines, as tables of names have it.
const DEFINED: &[u8] = b"\0PMPI_Init\0";

/// Whether the program defines a function of an MPI library, unless its symbols were removed.
pub fn has_mpi() -> bool {
    look(c"/proc/self/exe", defines_mpi).unwrap_or(false)
}

/// Shows a file's content, without reading more of it than is looked at.
fn look<T>(path: &CStr, at: impl FnOnce(&[u8]) -> T) -> Option<T> {
    // SAFETY: `path` is a C string, and the content is only looked at while it is mapped. A program
    // that runs is not written to.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let end = libc::lseek(file, 0, libc::SEEK_END);
        let length = usize::try_from(end).unwrap_or(0);
        let start =
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file, 0);
        libc::close(file);
        if start == libc::MAP_FAILED {
            return None;
        }
        let result = at(std::slice::from_raw_parts(start.cast(), length));
        libc::munmap(start, length);
        Some(result)
    }
}

fn defines_mpi(file: &[u8]) -> bool {
    names(file).into_iter().flatten().any(|names| contains(names, DEFINED))
}

/// The tables of names of a 64-bit program.
fn names(file: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    const TABLE: [u8; 4] = [3, 0, 0, 0];
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let start = number(file, 0x28..0x30)?;
    let (size, count) = (number(file, 0x3a..0x3c)?, number(file, 0x3c..0x3e)?);
    let sections = (0..count).map_while(move |index| {
        let start = start.checked_add(index.checked_mul(size)?)?;
        file.get(start..start.checked_add(size)?)
    });
    Some(sections.filter_map(move |section| {
        if section.get(4..8)? != TABLE {
            return None;
        }
        let start = number(section, 0x18..0x20)?;
        file.get(start..start.checked_add(number(section, 0x20..0x28)?)?)
    }))
}

fn number(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let mut number = [0; 8];
    let bytes = bytes.get(range)?;
    number[..bytes.len()].copy_from_slice(bytes);
    Some(usize::from_le_bytes(number))
}

fn contains(names: &[u8], name: &[u8]) -> bool {
    let (start, length) = (names.as_ptr().cast(), names.len());
    // SAFETY: both are readable for their lengths.
    unsafe { !libc::memmem(start, length, name.as_ptr().cast(), name.len()).is_null() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_program_are_found() {
        // This one has tests.
        let own = look(c"/proc/self/exe", |file| {
            let all: Vec<_> = names(file).unwrap().collect();
            assert!(all.iter().any(|names| contains(names, b"\0main\0")));
            defines_mpi(file)
        });
        assert_eq!(own, Some(false));
        assert_eq!(look(c"/nonexistent", defines_mpi), None);
        // A table of names behind its header.
        let mut file = [0; 0x90];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (file[0x28], file[0x3a], file[0x3c]) = (0x40, 0x40, 1);
        (file[0x44], file[0x58], file[0x60]) = (3, 0x80, 0x10);
        assert!(!defines_mpi(&file));
        file[0x80..0x80 + DEFINED.len()].copy_from_slice(DEFINED);
        assert!(defines_mpi(&file));
        // What is damaged has none.
        file[0x60] = 0x11;
        assert!(!defines_mpi(&file));
        assert!(!defines_mpi(&file[..0x3d]));
    }
}
