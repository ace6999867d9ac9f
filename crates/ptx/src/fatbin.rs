//! Fatbins: the containers in which nvcc embeds device code.
//!
//! A program registers each of its fatbins at start-up through a [`Wrapper`]. The fatbin holds
//! *images* of the same code: PTX and machine code (cubins), for one architecture each. NVIDIA
//! documents none of this; the layout was found by taking apart what nvcc 13.5 writes, and
//! agrees with what `cuobjdump` extracts (`tests/fatbin.rs`).
//!
//! ```text
//! fatbin   u32 0xBA55ED50  u16 version  u16 header size  u64 size of what follows
//! image    u16 kind  u16 0x0101  u32 header size  u64 padded size  u32 compressed size
//!          u32 options  u16 minor  u16 major  u32 architecture  u32 name  u32 name length
//!          u64 flags  u64 0  u64 uncompressed size  … payload
//! ```
//! `options` and `name` are offsets within the image's header; at `options` stand the offset and
//! the length of a text. With `nvcc -Xfatbin --concat`, several images are compressed as one: an
//! image of kind 0x100 whose header goes on with their number, their headers' size, and these
//! headers, which have an offset within the common payload in place of their own size.

use std::borrow::Cow;
use std::ffi::c_void;
use std::fmt;
use std::io::Read;

/// The argument of the registration function (`__fatBinC_Wrapper_t`, section `.nvFatBinSegment`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Address of the fatbin; if there are [`Wrapper::parts`], it holds linked machine code only.
    pub fatbin: u64,
    /// Address of a zero-terminated list of addresses of fatbins with relocatable code
    /// (`-rdc=true`), one for each translation unit.
    pub parts: Option<u64>,
}

impl Wrapper {
    /// Size of the structure, in bytes.
    pub const SIZE: usize = 24;
    const MAGIC: u32 = 0x4662_43B1;

    /// Reads a wrapper.
    ///
    /// # Errors
    /// If the magic number or the version is unknown, or bytes are missing.
    pub fn read(bytes: &[u8]) -> Result<Wrapper, Error> {
        let fields = Fields(bytes);
        match (fields.u32(0)?, fields.u32(4)?) {
            (Self::MAGIC, 1) => Ok(Wrapper { fatbin: fields.u64(8)?, parts: None }),
            (Self::MAGIC, 2) => {
                Ok(Wrapper { fatbin: fields.u64(8)?, parts: Some(fields.u64(16)?) })
            }
            (Self::MAGIC, version) => Err(Error::Version(version)),
            _ => Err(Error::NoFatbin),
        }
    }
}

/// The fatbins of a wrapper in the memory of this process: one, or one for each translation unit of
/// a program with relocatable code.
///
/// # Safety
/// `wrapper` points to a wrapper that a compiler made for the registration function; it and the
/// fatbins stay mapped and unchanged.
pub unsafe fn embedded(wrapper: *const c_void) -> Result<Vec<&'static [u8]>, Error> {
    // SAFETY: by the contract, wrappers have this size, and fatbins lie in the program's image, as
    // long as their headers say.
    unsafe {
        let wrapper = Wrapper::read(std::slice::from_raw_parts(wrapper.cast(), Wrapper::SIZE))?;
        let whole = |address: u64| {
            let begin = std::ptr::with_exposed_provenance(address as usize);
            let size = size(std::slice::from_raw_parts(begin, HEADER))?;
            Ok(std::slice::from_raw_parts(begin, size))
        };
        let Some(parts) = wrapper.parts else { return Ok(vec![whole(wrapper.fatbin)?]) };
        let parts: *const u64 = std::ptr::with_exposed_provenance(parts as usize);
        let addresses = (0..).map(|at| *parts.add(at)).take_while(|address| *address != 0);
        addresses.map(whole).collect()
    }
}

/// Size of a fatbin's header, in bytes.
pub const HEADER: usize = 16;
const MAGIC: u32 = 0xBA55_ED50;

/// Size in bytes of the fatbin that begins with these [`HEADER`] bytes, including the header.
pub fn size(header: &[u8]) -> Result<usize, Error> {
    let fields = Fields(header);
    if fields.u32(0)? != MAGIC {
        return Err(Error::NoFatbin);
    }
    if fields.u16(4)? != 1 {
        return Err(Error::Version(fields.u16(4)?.into()));
    }
    let body = usize::try_from(fields.u64(8)?).map_err(|_| Error::Truncated)?;
    body.checked_add(fields.u16(6)?.into()).ok_or(Error::Truncated)
}

/// All images of one or more consecutive fatbins, as sections of object files hold them.
pub fn read(mut bytes: &[u8]) -> Result<Vec<Image<'_>>, Error> {
    let mut images = Vec::new();
    loop {
        let size = size(bytes)?;
        let fatbin = bytes.get(..size).ok_or(Error::Truncated)?;
        let mut rest = fatbin.get(Fields(fatbin).u16(6)?.into()..).ok_or(Error::Truncated)?;
        while !rest.is_empty() {
            rest = read_image(rest, &mut images)?;
        }
        bytes = &bytes[size..];
        let padding = bytes.iter().take_while(|b| **b == 0).count();
        bytes = &bytes[padding..];
        if bytes.is_empty() {
            return Ok(images);
        }
    }
}

/// The kind of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// Machine code.
    Cubin,
    /// Another kind, by its number.
    Other(u16),
}

/// One image of a fatbin: the code for one architecture.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The kind of its contents.
    pub kind: Kind,
    /// Architecture, such as 90 for `sm_90`.
    pub arch: u32,
    /// Whether it runs on exactly that architecture (`sm_90a`) or its family (`sm_100f`) only.
    pub specific: bool,
    /// Major and minor version of PTX, or of a cubin's format.
    pub version: (u16, u16),
    /// The path of the source file, if the compiler kept debug information.
    pub name: Option<String>,
    /// The options it is to be compiled with.
    pub options: String,
    /// Whether it was compiled with debug information (`-G`).
    pub debug: bool,
    compression: Compression,
    payload: Cow<'a, [u8]>,
    unpacked: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Lz4,
    Zstd,
}

/// Bits of an image's flags.
mod flag {
    pub(super) const DEBUG: u64 = 0x2;
    pub(super) const LZ4: u64 = 0x2000;
    pub(super) const ZSTD: u64 = 0x8000;
    pub(super) const ARCH_SPECIFIC: u64 = 0x10_0000;
    pub(super) const FAMILY_SPECIFIC: u64 = 0x20_0000;
}

const CONCAT: u16 = 0x100;
const IMAGE_HEADER: usize = 64;

impl Image<'_> {
    /// Whether it is relocatable code, still to be linked with other images (`-rdc=true`).
    pub fn is_relocatable(&self) -> bool {
        self.options.split_whitespace().any(|o| o == "--compile-only")
    }

    /// The contents, decompressed.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, Error> {
        unpack(self.compression, &self.payload, self.unpacked)
    }

    /// The PTX text of a PTX image, or the copy that a cubin compiled with `-lineinfo` keeps for
    /// debuggers; that copy lacks the source lines.
    pub fn ptx(&self) -> Result<Option<String>, Error> {
        let bytes = self.bytes()?;
        match self.kind {
            Kind::Ptx => Ok(Some(text(bytes.split(|b| *b == 0).next().unwrap_or_default()))),
            Kind::Cubin => Ok(debug_ptx(&bytes)),
            Kind::Other(_) => Ok(None),
        }
    }

    /// Whether the driver could compile this PTX for a device of that architecture: PTX is forward
    /// compatible, unless it is specific to one architecture.
    fn fits(&self, device: u32) -> bool {
        let same = self.arch == device;
        self.kind == Kind::Ptx && (same || self.arch < device && !self.specific)
    }
}

/// The PTX that a device of an architecture such as 90 would run: the newest that fits it, or else
/// the copy that a cubin keeps for debuggers.
pub fn ptx_for(images: &[Image<'_>], device: u32) -> Result<String, Error> {
    let best = images.iter().filter(|i| i.fits(device)).max_by_key(|i| (i.arch, i.specific));
    if let Some(ptx) = best.map(Image::ptx).transpose()?.flatten() {
        return Ok(ptx);
    }
    let kept = images.iter().filter(|i| i.kind == Kind::Cubin).max_by_key(|i| i.arch);
    if let Some(ptx) = kept.map(Image::ptx).transpose()?.flatten() {
        return Ok(ptx);
    }
    let archs = |kind| images.iter().filter(|i| i.kind == kind).map(|i| i.arch).collect();
    Err(Error::NoPtx { device, ptx: archs(Kind::Ptx), cubins: archs(Kind::Cubin) })
}

/// Reads the image at the beginning of `bytes`; returns the bytes after it.
fn read_image<'a>(bytes: &'a [u8], images: &mut Vec<Image<'a>>) -> Result<&'a [u8], Error> {
    let fields = Fields(bytes);
    let header_size = fields.u32(4)? as usize;
    let padded = usize::try_from(fields.u64(8)?).map_err(|_| Error::Truncated)?;
    if header_size < IMAGE_HEADER {
        return Err(Error::Damaged("an image's header is too short"));
    }
    let (header, rest) = bytes.split_at_checked(header_size).ok_or(Error::Truncated)?;
    let (payload, rest) = rest.split_at_checked(padded).ok_or(Error::Truncated)?;
    let mut image = describe(header)?;
    image.payload = match (image.compression, fields.u32(16)? as usize) {
        (Compression::None, _) => payload,
        (_, packed) => payload.get(..packed).ok_or(Error::Truncated)?,
    }
    .into();
    match fields.u16(0)? {
        CONCAT => split(&image, header, images)?,
        _ => images.push(image),
    }
    Ok(rest)
}

/// The image that a header describes, with an empty payload.
fn describe(header: &[u8]) -> Result<Image<'static>, Error> {
    let fields = Fields(header);
    let flags = fields.u64(40)?;
    // An uncompressed image has no decompressed size.
    let unpacked = fields.u64(56)?;
    let compression = match (flags & (flag::LZ4 | flag::ZSTD), unpacked) {
        (0, 0) => Compression::None,
        (flag::LZ4, _) => Compression::Lz4,
        (flag::ZSTD, _) => Compression::Zstd,
        _ => return Err(Error::Compression(flags)),
    };
    let kind = match fields.u16(0)? {
        1 => Kind::Ptx,
        2 => Kind::Cubin,
        other => Kind::Other(other),
    };
    let name = fields.text(fields.u32(32)?, fields.u32(36)?)?;
    let options = match (kind, fields.u32(20)?) {
        (Kind::Other(_), _) | (_, 0) => String::new(),
        (_, at) => fields.text(fields.u32(at as usize)?, fields.u32(at as usize + 4)?)?,
    };
    Ok(Image {
        kind,
        arch: fields.u32(28)?,
        specific: flags & (flag::ARCH_SPECIFIC | flag::FAMILY_SPECIFIC) != 0,
        version: (fields.u16(26)?, fields.u16(24)?),
        name: (!name.is_empty()).then_some(name),
        options: options.trim().to_owned(),
        debug: flags & flag::DEBUG != 0,
        compression,
        payload: Cow::default(),
        unpacked,
    })
}

/// Splits a common payload into its images.
fn split(common: &Image<'_>, header: &[u8], images: &mut Vec<Image<'_>>) -> Result<(), Error> {
    let blob = common.bytes()?;
    let start = Fields(header).u32(20)? as usize;
    let listed = Fields(header.get(start..).ok_or(Error::Truncated)?);
    let (count, size) = (listed.u32(0)?, listed.u32(4)? as usize);
    let mut headers = listed.0.get(8..size).ok_or(Error::Truncated)?;
    for _ in 0..count {
        let fields = Fields(headers);
        let mut image = describe(headers)?;
        let at = fields.u32(4)? as usize;
        let len = usize::try_from(fields.u64(8)?).map_err(|_| Error::Truncated)?;
        let payload = blob.get(at..).and_then(|b| b.get(..len)).ok_or(Error::Truncated)?;
        image.payload = payload.to_vec().into();
        images.push(image);
        headers = headers.get(fields.extent()?..).ok_or(Error::Truncated)?;
    }
    Ok(())
}

fn unpack(how: Compression, packed: &[u8], size: u64) -> Result<Cow<'_, [u8]>, Error> {
    let unpacked = match how {
        Compression::None => return Ok(packed.into()),
        // LZ4 compresses at most 255 to 1, so a larger size is damage and is not allocated.
        Compression::Lz4 if size > packed.len() as u64 * 255 + 64 => {
            return Err(Error::Damaged("LZ4 data of an impossible size"));
        }
        Compression::Lz4 => lz4_flex::block::decompress(packed, size as usize)
            .map_err(|_| Error::Damaged("LZ4 data"))?,
        Compression::Zstd => unpack_zstd(packed, size)?,
    };
    match unpacked.len() as u64 == size {
        true => Ok(unpacked.into()),
        false => Err(Error::Damaged("the size after decompression")),
    }
}

fn unpack_zstd(packed: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let damaged = |_| Error::Damaged("Zstandard data");
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed)
        .map_err(|_| Error::Damaged("Zstandard header"))?;
    let mut unpacked = Vec::new();
    decoder.take(size.saturating_add(1)).read_to_end(&mut unpacked).map_err(damaged)?;
    Ok(unpacked)
}

/// The copy of the PTX text in a cubin's debug section: lines separated by NUL.
fn debug_ptx(cubin: &[u8]) -> Option<String> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(cubin).ok()?;
    let data = file.section_by_name(".nv_debug_ptx_txt")?.data().ok()?;
    let lines: Vec<u8> = data.iter().map(|b| if *b == 0 { b'\n' } else { *b }).collect();
    Some(text(&lines)).filter(|t| t.contains(".version"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Little-endian numbers at offsets.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn at<const N: usize>(&self, at: usize) -> Result<[u8; N], Error> {
        self.0.get(at..).and_then(|b| b.first_chunk()).copied().ok_or(Error::Truncated)
    }

    fn u16(&self, at: usize) -> Result<u16, Error> {
        self.at(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Result<u32, Error> {
        self.at(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Result<u64, Error> {
        self.at(at).map(u64::from_le_bytes)
    }

    fn text(&self, at: u32, len: u32) -> Result<String, Error> {
        let bytes = self.0.get(at as usize..).and_then(|b| b.get(..len as usize));
        Ok(text(bytes.ok_or(Error::Truncated)?).trim_end_matches('\0').to_owned())
    }

    /// Size of the image header that begins here, with its name and options, in bytes.
    fn extent(&self) -> Result<usize, Error> {
        let name = self.u32(32)? as usize + self.u32(36)? as usize;
        let options = match self.u32(20)? as usize {
            0 => 0,
            at => (at + 8).max(self.u32(at)? as usize + self.u32(at + 4)? as usize),
        };
        Ok(IMAGE_HEADER.max(name).max(options).next_multiple_of(8))
    }
}

/// Why a fatbin could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It does not begin with a fatbin's magic number.
    NoFatbin,
    /// A format of an unknown version.
    Version(u32),
    /// It ends too early.
    Truncated,
    /// It is inconsistent.
    Damaged(&'static str),
    /// Unknown compression; the value is the image's flags.
    Compression(u64),
    /// It has no PTX for the device.
    NoPtx {
        /// The device's architecture.
        device: u32,
        /// Architectures that there is PTX for.
        ptx: Vec<u32>,
        /// Architectures that there is machine code for.
        cubins: Vec<u32>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoFatbin => write!(f, "not a fatbin"),
            Error::Version(v) => write!(f, "fatbin format {v} is not known; nvcc 13 writes 1"),
            Error::Truncated => write!(f, "the fatbin ends too early"),
            Error::Damaged(what) => write!(f, "the fatbin is damaged: {what}"),
            Error::Compression(flags) => write!(
                f,
                "the fatbin is compressed in an unknown way (flags {flags:#x}); \
                 build with `nvcc -Xfatbin --compress-mode=default`, or `--no-compress`"
            ),
            Error::NoPtx { device, ptx, cubins } if ptx.is_empty() => {
                write!(f, "the program holds no PTX")?;
                list(f, " (only machine code for", cubins)?;
                write!(
                    f,
                    "; build with `nvcc -arch=sm_{device}`, or add \
                     `-gencode arch=compute_{device},code=compute_{device}`"
                )
            }
            Error::NoPtx { device, ptx, .. } => {
                write!(f, "the program holds no PTX for sm_{device}")?;
                list(f, " (only for", ptx)?;
                write!(
                    f,
                    "; add `-gencode arch=compute_{device},code=compute_{device}`, \
                     or simulate a newer device"
                )
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, what: &str, archs: &[u32]) -> fmt::Result {
    if archs.is_empty() {
        return Ok(());
    }
    let mut archs = archs.to_vec();
    archs.sort_unstable();
    archs.dedup();
    let archs: Vec<_> = archs.iter().map(|a| format!("sm_{a}")).collect();
    write!(f, "{what} {})", archs.join(", "))
}

impl std::error::Error for Error {}
