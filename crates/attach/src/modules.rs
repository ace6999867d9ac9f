//! The executable and libraries of another process: where they are loaded, and their unwind tables.
//!
//! Tables and code are read from the process itself, so that a file that was deleted or replaced
//! costs names of functions only. Processes of a job share most of their modules: what was read of
//! one is used for all.

use crate::memory::Memory;
use object::read::ReadCache;
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Program headers (`elf.h`).
const PT_LOAD: u32 = 1;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const PF_X: u32 = 1;

/// Bytes of a part of a module that are read, at most.
const LARGEST: u64 = 1 << 30;

/// A line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Addresses.
    pub range: Range<u64>,
    /// Whether it may be written, and executed.
    pub is_writable: bool,
    pub is_executable: bool,
    offset: u64,
    /// Device and number of the file.
    file: (String, u64),
    /// Its path as it was, or a name in brackets; empty for memory without either.
    pub path: String,
    /// Whether the file has been deleted.
    pub is_deleted: bool,
}

impl Mapping {
    fn parse(line: &str) -> Option<Mapping> {
        let mut words = line.splitn(6, ' ');
        let (first, end) = words.next()?.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let rights = words.next()?;
        let offset = number(words.next()?)?;
        let file = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        let path = words.next().unwrap_or("").trim_start();
        let remaining = path.strip_suffix(" (deleted)");
        Some(Mapping {
            range: number(first)?..number(end)?,
            is_writable: rights.contains('w'),
            is_executable: rights.contains('x'),
            offset,
            file,
            path: remaining.unwrap_or(path).to_owned(),
            is_deleted: remaining.is_some(),
        })
    }
}

/// The mappings of a process; empty if it has ended, or may not be looked at.
pub fn mappings(process: libc::pid_t) -> Vec<Mapping> {
    let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    text.lines().filter_map(Mapping::parse).collect()
}

/// What all processes have alike of a module, at addresses as in its file.
pub struct Image {
    /// Addresses of its first byte, and of code.
    first: u64,
    code: Vec<Range<u64>>,
    /// The table that leads to unwind information, and all from there to the end of its part: where
    /// they are, and their bytes.
    pub(crate) header: (u64, Vec<u8>),
    pub(crate) frames: (u64, Vec<u8>),
}

impl Image {
    /// Reads a module that is mapped from `start`, and what is not loaded of it from its file.
    fn read(start: u64, memory: &Memory, file: Option<&Path>) -> Option<Image> {
        let header: [u8; 64] = memory.array(start)?;
        let half = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let is_elf = header.starts_with(b"\x7fELF") && header[4] == 2;
        let (at, size, count) = (half_word(&header, 32)?, half(54), half(56));
        if !is_elf || size < 56 {
            return None;
        }
        let table = memory.bytes(start + at, usize::from(size) * usize::from(count));
        let entries = table.chunks_exact(usize::from(size)).filter_map(|entry| {
            let small = |at: usize| Some(u32::from_ne_bytes(*entry.get(at..)?.first_chunk()?));
            let address = half_word(entry, 16)?;
            let length = half_word(entry, 40)?.min(LARGEST);
            Some((small(0)?, small(4)?, address..address.checked_add(length)?))
        });
        let entries: Vec<(u32, u32, Range<u64>)> = entries.collect();
        let loaded = || entries.iter().filter(|(kind, ..)| *kind == PT_LOAD);
        // The loader maps whole pages.
        let first = loaded().next()?.2.start & !0xfff;
        let is_code = |(_, rights, _): &&(u32, u32, _)| rights & PF_X != 0;
        let code = loaded().filter(is_code).map(|(.., range)| range.clone()).collect();
        let mut image = Image { first, code, header: (0, vec![]), frames: (0, vec![]) };
        let bias = start.wrapping_sub(first);
        let bytes = |range: Range<u64>| {
            let count = usize::try_from(range.end - range.start).unwrap_or(0);
            (range.start, memory.bytes(range.start.wrapping_add(bias), count))
        };
        if let Some((.., range)) = entries.iter().find(|(kind, ..)| *kind == PT_GNU_EH_FRAME) {
            image.header = bytes(range.clone());
            if let Some(frames) = crate::unwind::start_of_frames(&image.header)
                && let Some((.., part)) = loaded().find(|(.., part)| part.contains(&frames))
            {
                image.frames = bytes(frames..part.end);
            }
        } else if let Some(range) = file.and_then(section_of_frames) {
            // Static executables have the information and no table.
            image.frames = bytes(range);
        }
        Some(image)
    }
}

/// Where the unwind information of a file is loaded, by the table of sections.
fn section_of_frames(file: &Path) -> Option<Range<u64>> {
    let data = ReadCache::new(File::open(file).ok()?);
    let file = object::File::parse(&data).ok()?;
    let section = file.section_by_name(".eh_frame")?;
    let start = section.address();
    Some(start..start.checked_add(section.size().min(LARGEST))?)
}

fn half_word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Images by the file that they are of, so that each is read once.
#[derive(Default)]
pub struct Images(HashMap<(String, u64, String), Option<Rc<Image>>>);

/// A module of a process.
#[derive(Clone)]
pub struct Module {
    /// Its path as the process knows it.
    pub path: String,
    /// Where its file can be read now, if it can.
    pub file: Option<PathBuf>,
    /// Whether the file that is loaded was deleted.
    pub is_deleted: bool,
    /// What to add to addresses in the file.
    pub bias: u64,
    pub(crate) image: Rc<Image>,
}

impl Module {
    /// An address of the process, as in the file.
    pub fn offset(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }

    /// Whether an address is in code.
    pub fn is_code(&self, address: u64) -> bool {
        let at = self.offset(address);
        self.image.code.iter().any(|code| code.contains(&at))
    }
}

/// The modules of a process.
pub struct Modules {
    process: libc::pid_t,
    /// All its mappings, by address.
    pub mappings: Vec<Mapping>,
    known: Vec<(Range<u64>, Option<Module>)>,
}

impl Modules {
    /// Those of a process.
    pub fn of(process: libc::pid_t) -> Modules {
        Modules { process, mappings: mappings(process), known: Vec::new() }
    }

    /// The mapping that holds an address.
    pub fn mapping(&self, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|mapping| mapping.range.contains(&address))
    }

    /// The module that holds an address.
    pub fn at(&mut self, address: u64, memory: &Memory, images: &mut Images) -> Option<&Module> {
        let is_it = |(range, _): &(Range<u64>, _)| range.contains(&address);
        let at = match self.known.iter().position(is_it) {
            Some(at) => at,
            None => {
                let mapping = self.mapping(address)?.clone();
                let module = self.module_of(&mapping, memory, images);
                self.known.push((mapping.range, module));
                self.known.len() - 1
            }
        };
        self.known[at].1.as_ref()
    }

    fn module_of(&self, part: &Mapping, memory: &Memory, images: &mut Images) -> Option<Module> {
        if part.path.is_empty() {
            return None;
        }
        let is_same = |other: &&Mapping| (&other.file, &other.path) == (&part.file, &part.path);
        let mut before = self.mappings.iter().filter(is_same).filter(|other| other.offset == 0);
        // A file may be mapped several times.
        let first = before.rfind(|other| other.range.start <= part.range.start)?;
        let start = first.range.start;
        let key = (part.file.0.clone(), part.file.1, part.path.clone());
        let file = self.file_of(part);
        let read = || Image::read(start, memory, file.as_deref()).map(Rc::new);
        let image = images.0.entry(key).or_insert_with(read).clone()?;
        Some(Module {
            path: part.path.clone(),
            file,
            is_deleted: part.is_deleted,
            bias: start.wrapping_sub(image.first),
            image,
        })
    }

    /// Where the file of a mapping can be read: it may be of a container, or deleted.
    fn file_of(&self, part: &Mapping) -> Option<PathBuf> {
        if !part.path.starts_with('/') {
            return None;
        }
        let process = self.process;
        let is_it = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.ino() == part.file.1);
        let range = &part.range;
        let all = [
            PathBuf::from(&part.path),
            PathBuf::from(format!("/proc/{process}/root{}", part.path)),
            PathBuf::from(format!("/proc/{process}/exe")),
            PathBuf::from(format!("/proc/{process}/map_files/{:x}-{:x}", range.start, range.end)),
        ];
        let found = all.into_iter().find(is_it);
        // Some file systems number files otherwise than the kernel does.
        let as_named = || Some(PathBuf::from(&part.path)).filter(|path| path.is_file());
        found.or_else(|| as_named().filter(|_| !part.is_deleted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mappings_are_read() {
        let line =
            "7f12a000-7f12b000 r-xp 00002000 fe:01 4711                   /lib/my lib.so (deleted)";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((mapping.range.start, mapping.offset), (0x7f12_a000, 0x2000));
        assert_eq!((&*mapping.path, mapping.is_deleted), ("/lib/my lib.so", true));
        assert!(mapping.is_executable && !mapping.is_writable);
        assert_eq!(Mapping::parse("1000-2000 rw-p 00000000 00:00 0 ").unwrap().path, "");
    }

    #[test]
    fn this_function_is_in_the_executable() {
        let process = std::process::id().cast_signed();
        let (memory, mut images) = (Memory::new(process, (0, vec![])), Images::default());
        let mut modules = Modules::of(process);
        let here = this_function_is_in_the_executable as *const () as u64;
        let module = modules.at(here, &memory, &mut images).unwrap();
        assert_eq!(module.file, std::env::current_exe().ok());
        assert!(module.is_code(here) && !module.image.frames.1.is_empty());
        assert!(modules.at(8, &memory, &mut images).is_none());
    }
}
