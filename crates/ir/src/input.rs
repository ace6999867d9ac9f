//! Files that contain bitcode: programs, libraries, objects, archives, `.bc` and `.ll`.

use crate::programs::{self, Part};
use crate::trial::{self, Ending};
use crate::{Program, constants, jumps, promote, read, saved};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::path::{Path, PathBuf};

/// Why a file cannot be analysed.
#[derive(Debug)]
pub enum Error {
    /// It cannot be read.
    Unreadable(PathBuf, std::io::Error),
    /// It is nothing that contains code.
    Unknown(PathBuf),
    /// It contains code, but none of it as bitcode.
    NoBitcode(PathBuf),
    /// Its bitcode is damaged.
    Damaged(PathBuf, saved::Damage),
    /// LLVM does not read its bitcode, and why.
    Rejected(PathBuf, String),
    /// LLVM crashes when it reads its bitcode, and how.
    Fatal(PathBuf, Ending),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Unreadable(path, error) => {
                write!(f, "cannot read `{}`: {error}", path.display())
            }
            Error::Unknown(path) => {
                write!(f, "`{}` is no program, library, object or bitcode", path.display())
            }
            Error::NoBitcode(path) => write!(f, "`{}` contains no bitcode", path.display()),
            Error::Damaged(path, damage) => write!(f, "`{}`: {damage}", path.display()),
            Error::Rejected(path, why) => {
                write!(f, "LLVM does not read the bitcode in `{}`: {why}", path.display())
            }
            Error::Fatal(path, ending) => {
                write!(
                    f,
                    "LLVM crashes when it reads the bitcode in `{}` ({ending})",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Unreadable(..) => "check the path and its permissions",
            Error::Unknown(..) => "name what `commsan cc` made: a program, library or object file",
            Error::NoBitcode(..) => {
                "compile with clang or flang through `commsan cc` (OMPI_CC=clang-19 or \
                 MPICH_CC=clang-19 for mpicc); for other compilers, name the sources, or use \
                 `commsan lint -p BUILD`"
            }
            Error::Damaged(..) | Error::Fatal(..) => "it is damaged: compile and link it again",
            Error::Rejected(..) => {
                "it may come from a compiler newer than LLVM 19, which commsan reads; compile it with \
                 clang-19"
            }
        }
    }
}

/// A module, before LLVM has seen it.
struct Module {
    bytes: Vec<u8>,
    /// As text, not as bitcode.
    text: bool,
    /// Whether a compiler has just written it, or its checksum is right.
    trusted: bool,
}

impl Program {
    /// Reads everything in these files as one program: those that the user names, and those that
    /// have just been made for this.
    ///
    /// The process must have one thread.
    ///
    /// # Errors
    /// When a file cannot be read, contains no bitcode, or LLVM rejects it.
    pub fn load(named: &[PathBuf], made: &[PathBuf]) -> Result<Program, Error> {
        let mut program = Program::default();
        let mut linker = read::Linker::default();
        let trusted = std::iter::repeat_n(false, named.len()).chain(std::iter::repeat(true));
        for (path, trusted) in named.iter().chain(made).zip(trusted) {
            for module in modules_of(path)? {
                let add = |program: &mut Program, linker: &mut read::Linker| {
                    read::module(program, linker, &module.bytes, module.text)
                };
                if !(trusted || module.trusted) {
                    let attempt =
                        || drop(add(&mut Program::default(), &mut read::Linker::default()));
                    trial::survives(attempt).map_err(|how| Error::Fatal(path.clone(), how))?;
                }
                add(&mut program, &mut linker).map_err(|why| Error::Rejected(path.clone(), why))?;
            }
        }
        for function in &mut program.functions {
            if let Some(body) = &mut function.body {
                constants::fold(&program.globals, body);
                jumps::shorten(body);
            }
            promote::promote(function);
        }
        Ok(program)
    }

    /// Reads the programs that these files make up: each file with a `main`, and the files without
    /// that it needs, directly or not, as a linker takes members of archives. The first program
    /// also gets the files that none needs.
    ///
    /// The process must have one thread.
    ///
    /// # Errors
    /// As of [`Program::load`].
    pub fn load_each(named: &[PathBuf], made: &[PathBuf]) -> Result<Vec<Program>, Error> {
        let all = Program::load(named, made)?;
        if all.mains.len() < 2 {
            return Ok(vec![all]);
        }
        drop(all);
        let part = |path: &PathBuf, is_made: bool| {
            let path = std::slice::from_ref(path);
            let (named, made) = if is_made { (&[][..], path) } else { (path, &[][..]) };
            Ok(Part::of(&Program::load(named, made)?))
        };
        let parts = named.iter().map(|path| part(path, false));
        let parts = parts.chain(made.iter().map(|path| part(path, true)));
        let parts = parts.collect::<Result<Vec<_>, Error>>()?;
        let load = |chosen: Vec<bool>| {
            let (of_named, of_made) = chosen.split_at(named.len());
            let chosen = |paths: &[PathBuf], chosen: &[bool]| {
                let pairs = paths.iter().zip(chosen).filter(|(_, chosen)| **chosen);
                pairs.map(|(path, _)| path.clone()).collect::<Vec<_>>()
            };
            Program::load(&chosen(named, of_named), &chosen(made, of_made))
        };
        programs::choose(&parts).into_iter().map(load).collect()
    }
}

fn modules_of(path: &Path) -> Result<Vec<Module>, Error> {
    let bytes = std::fs::read(path).map_err(|e| Error::Unreadable(path.to_owned(), e))?;
    let found = match Kind::of(path, &bytes) {
        Kind::Elf => of_elf(path, &bytes)?,
        Kind::Archive => of_archive(path, &bytes)?,
        Kind::Bitcode => of_section(path, &bytes)?,
        Kind::Text => vec![Module { bytes, text: true, trusted: false }],
        Kind::Unknown => return Err(Error::Unknown(path.to_owned())),
    };
    if found.is_empty() { Err(Error::NoBitcode(path.to_owned())) } else { Ok(found) }
}

enum Kind {
    Elf,
    Archive,
    Bitcode,
    Text,
    Unknown,
}

impl Kind {
    fn of(path: &Path, bytes: &[u8]) -> Kind {
        match bytes {
            [0x7f, b'E', b'L', b'F', ..] => Kind::Elf,
            _ if bytes.starts_with(b"!<arch>") || bytes.starts_with(b"!<thin>") => Kind::Archive,
            [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => Kind::Bitcode,
            _ if path.extension().is_some_and(|extension| extension == "ll") => Kind::Text,
            _ => Kind::Unknown,
        }
    }
}

fn of_elf(path: &Path, bytes: &[u8]) -> Result<Vec<Module>, Error> {
    let elf = object::File::parse(bytes).map_err(|_| Error::Unknown(path.to_owned()))?;
    let mut found = Vec::new();
    let kept = |name| matches!(name, Ok(saved::SECTION | saved::EMBEDDED));
    for section in elf.sections().filter(|s| kept(s.name())) {
        let data = section.uncompressed_data().map_err(|_| Error::Unknown(path.to_owned()))?;
        found.extend(of_section(path, &data)?);
    }
    Ok(found)
}

fn of_archive(path: &Path, bytes: &[u8]) -> Result<Vec<Module>, Error> {
    let damaged = |_| Error::Unknown(path.to_owned());
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    let mut found = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        if member.is_thin() {
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let of_member = modules_of(&path.with_file_name(name));
            match of_member {
                Err(Error::NoBitcode(_) | Error::Unknown(_)) => {}
                found_there => found.extend(found_there?),
            }
            continue;
        }
        let data = member.data(bytes).map_err(damaged)?;
        found.extend(match Kind::of(Path::new(""), data) {
            Kind::Elf => of_elf(path, data)?,
            Kind::Bitcode => of_section(path, data)?,
            _ => Vec::new(),
        });
    }
    Ok(found)
}

fn of_section(path: &Path, bytes: &[u8]) -> Result<Vec<Module>, Error> {
    let found = saved::modules(bytes).map_err(|damage| Error::Damaged(path.to_owned(), damage))?;
    let module = |saved: saved::Saved| Module {
        bytes: saved.bitcode.to_vec(),
        text: false,
        trusted: saved.verified,
    };
    Ok(found.into_iter().map(module).collect())
}
