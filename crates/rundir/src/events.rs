//! What a rank did when: `rank-N.events`, intervals with what is needed to match both ends.
//!
//! The file is a header of 32 bytes, little endian — `CSEVENTS`, version (4 bytes), CRC-32 of the
//! tables (4), their length packed (8) and unpacked (8) — and [`Tables`] in postcard's encoding, as
//! one LZ4 block. Chunks of records (`events/record.rs`) follow, in the order of time: 24 bytes —
//! the time that the first is relative to (8), length packed (4) and unpacked (4), CRC-32 (4) of
//! these and what follows, zero (4) — and the records as one LZ4 block. A chunk without records is
//! the end.

mod record;

pub use record::{MAX_PARTS, MAX_RECORD, NoRecord, Of, Part, Pen, Record, Records};

use crate::read_error::ReadError;
use crate::traffic::{Place, Snapshot};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Version of the format; readers refuse others.
pub const VERSION: u32 = 1;

/// Bytes of records in a chunk at most.
pub const CHUNK: usize = 1 << 14;

const MAGIC: &[u8; 8] = b"CSEVENTS";
const HEADER: usize = 32;
const CHUNK_HEADER: usize = 24;

/// What is unpacked of tables at most.
const MAX_TABLES: u64 = 1 << 30;

/// What the records refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Who has recorded this, and the tables of its names, groups and calls; without transfers.
    pub of: Snapshot,
    /// Moments in ticks and in nanoseconds since 1970, ascending: between two of them, time is
    /// linear.
    pub clock: Vec<(u64, u64)>,
    /// Nanoseconds by which a time of the system's clock may differ from that.
    pub error: u64,
    /// Kinds of intervals.
    pub shapes: Vec<Shape>,
    /// Messages that both ends count alike.
    pub messages: Vec<Messages>,
    /// Collectives that all members count alike.
    pub collectives: Vec<Collectives>,
    /// Bytes that records may take.
    pub budget: u64,
    /// What was folded: between the first and the last part of the time, which are whole, one in
    /// 2^`level` of equally long windows is whole.
    pub level: u32,
    /// Nanoseconds that a window is long, from `of.epoch` on; 0 if nothing is folded.
    pub window: u64,
    /// Intervals that had no room even folded, and the ticks in them.
    pub lost: (u64, u64),
}

/// What intervals have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// What they are.
    pub what: What,
    /// Number of the thread.
    pub thread: u32,
    /// Whether it only begins what it is part of, which another call completes.
    pub begins: bool,
    /// Of a collective: who waits for whom.
    pub flow: Option<Flow>,
    /// Root of a collective, in its group.
    pub root: Option<u32>,
}

impl Shape {
    /// A shape that is no collective.
    pub fn new(what: What, thread: u32) -> Shape {
        Shape { what, thread, begins: false, flow: None, root: None }
    }
}

/// Who cannot leave a collective before whom has entered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Flow {
    /// All before all.
    All,
    /// All before the root.
    FromRoot,
    /// The root before all.
    ToRoot,
    /// Others: each by its rank or its neighbours.
    Some,
}

/// What an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum What {
    /// A call: one of `calls`.
    Call(u32),
    /// A region of the program: a string.
    Region(u32),
    /// commsan's own work, which the program waits for.
    Own,
}

/// Messages with one tag between two ranks, on communicators of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Messages {
    /// Whether this rank sends them.
    pub sent: bool,
    /// The communicator's group.
    pub group: u32,
    /// The other end.
    pub peer: Place,
    /// The tag.
    pub tag: i32,
    /// Whether their order is known: otherwise numbers mean nothing.
    pub ordered: bool,
}

/// Collectives on a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Collectives {
    /// Its group.
    pub group: u32,
    /// Of communicators with the same members, the how manieth.
    pub nth: u32,
}

/// Records that are decoded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The time that the first is relative to, in ticks.
    pub base: u64,
    /// The records, packed.
    packed: Vec<u8>,
    plain: u32,
}

impl Chunk {
    /// The records' bytes, for [`Records::new`].
    ///
    /// # Errors
    /// If they cannot be unpacked.
    pub fn bytes(&self) -> Result<Vec<u8>, ReadError> {
        let unpacked = lz4_flex::block::decompress(&self.packed, self.plain as usize);
        let bytes = unpacked.map_err(|_| ReadError::Damaged("its events cannot be unpacked"))?;
        match bytes.len() == self.plain as usize {
            true => Ok(bytes),
            false => Err(ReadError::Damaged("its events are not as long as it says")),
        }
    }
}

/// Writes a file, chunk by chunk: a rank need not hold it twice.
pub struct Writer<W> {
    to: W,
    packed: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins with the tables.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn new(mut to: W, tables: &Tables) -> io::Result<Writer<W>> {
        // All of its parts have encodings.
        let plain = postcard::to_allocvec(tables).unwrap_or_default();
        let packed = lz4_flex::block::compress(&plain);
        to.write_all(MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        to.write_all(&crc32fast::hash(&packed).to_le_bytes())?;
        to.write_all(&(packed.len() as u64).to_le_bytes())?;
        to.write_all(&(plain.len() as u64).to_le_bytes())?;
        to.write_all(&packed)?;
        Ok(Writer { to, packed: vec![0; lz4_flex::block::get_maximum_output_size(CHUNK)] })
    }

    /// Appends records.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn chunk(&mut self, base: u64, records: &[u8]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let most = lz4_flex::block::get_maximum_output_size(records.len());
        self.packed.resize(self.packed.len().max(most), 0);
        let length =
            lz4_flex::block::compress_into(records, &mut self.packed).map_err(io::Error::other)?;
        let packed = &self.packed[..length];
        self.to.write_all(&head(base, packed, records.len() as u32))?;
        self.to.write_all(packed)
    }

    /// Says that this is all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.write_all(&head(0, &[], 0))?;
        self.to.flush()
    }
}

/// What precedes a chunk.
fn head(base: u64, packed: &[u8], plain: u32) -> [u8; CHUNK_HEADER] {
    let mut head = [0; CHUNK_HEADER];
    head[..8].copy_from_slice(&base.to_le_bytes());
    head[8..12].copy_from_slice(&(packed.len() as u32).to_le_bytes());
    head[12..16].copy_from_slice(&plain.to_le_bytes());
    let mut sum = crc32fast::Hasher::new();
    sum.update(&head);
    sum.update(packed);
    head[16..20].copy_from_slice(&sum.finalize().to_le_bytes());
    head
}

/// A file of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// What the records refer to.
    pub tables: Tables,
    /// The records, in the order of time, packed.
    pub chunks: Vec<Chunk>,
}

impl Events {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or holds something else.
    pub fn read(path: &Path) -> Result<Events, ReadError> {
        Events::decode(&fs::read(path).map_err(ReadError::Io)?)
    }

    /// Reads what [`Writer`] has written. Records are looked at when they are unpacked.
    ///
    /// # Errors
    /// When these are other bytes.
    pub fn decode(file: &[u8]) -> Result<Events, ReadError> {
        if !file.starts_with(MAGIC) {
            return Err(ReadError::Foreign("file of events"));
        }
        let mut rest = Input(&file[MAGIC.len()..]);
        let version = rest.number("header")?;
        if version != VERSION {
            return Err(ReadError::Version { found: version, read: VERSION });
        }
        let (sum, packed, plain) =
            (rest.number("header")?, rest.long("header")?, rest.long("header")?);
        debug_assert_eq!(file.len() - rest.0.len(), HEADER);
        let tables = rest.take(packed, "it ends within its tables")?;
        if crc32fast::hash(tables) != sum {
            return Err(ReadError::Damaged("the checksum of its tables does not fit"));
        }
        if plain > MAX_TABLES {
            return Err(ReadError::Damaged("it claims to be larger than such files are"));
        }
        let tables = lz4_flex::block::decompress(tables, plain as usize)
            .map_err(|_| ReadError::Damaged("its tables cannot be unpacked"))?;
        if tables.len() as u64 != plain {
            return Err(ReadError::Damaged("its tables are not as long as it says"));
        }
        let tables: Tables = postcard::from_bytes(&tables)
            .map_err(|_| ReadError::Damaged("its tables are not of this format"))?;
        if !tables.is_consistent() {
            return Err(ReadError::Damaged("its tables refer to what they do not hold"));
        }
        let mut chunks = Vec::new();
        loop {
            let head = rest.take(CHUNK_HEADER as u64, "it ends within its events")?;
            let mut fields = Input(head);
            let base = fields.long("events")?;
            let (packed, plain) = (fields.number("events")?, fields.number("events")?);
            let packed = rest.take(packed.into(), "it ends within its events")?;
            if self::head(base, packed, plain) != *head {
                return Err(ReadError::Damaged("the checksum of its events does not fit"));
            }
            if plain == 0 {
                break;
            }
            if plain as usize > CHUNK {
                return Err(ReadError::Damaged("its events are longer than such are"));
            }
            chunks.push(Chunk { base, packed: packed.to_vec(), plain });
        }
        match rest.0 {
            [] => Ok(Events { tables, chunks }),
            _ => Err(ReadError::Damaged("it goes on after its end")),
        }
    }
}

/// What is left to be read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: u64, otherwise: &'static str) -> Result<&'a [u8], ReadError> {
        let length = usize::try_from(length).ok().filter(|length| *length <= self.0.len());
        let (taken, rest) = self.0.split_at(length.ok_or(ReadError::Damaged(otherwise))?);
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, within: &'static str) -> Result<u32, ReadError> {
        self.fixed(within).map(u32::from_le_bytes)
    }

    fn long(&mut self, within: &'static str) -> Result<u64, ReadError> {
        self.fixed(within).map(u64::from_le_bytes)
    }

    fn fixed<const N: usize>(&mut self, within: &'static str) -> Result<[u8; N], ReadError> {
        let how = match within {
            "header" => "it ends within its header",
            _ => "it ends within its events",
        };
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N as u64, how)?);
        Ok(bytes)
    }
}

impl Tables {
    fn is_consistent(&self) -> bool {
        let Snapshot { strings, groups, links, calls, .. } = &self.of;
        let place = |place: Place| match place {
            Place::File(name) => (name as usize) < strings.len(),
            Place::Linked(link, _) => (link as usize) < links.len(),
            _ => true,
        };
        self.of.is_consistent()
            && self.clock.is_sorted()
            && self.shapes.iter().all(|shape| match shape.what {
                What::Call(number) => (number as usize) < calls.len(),
                What::Region(name) => (name as usize) < strings.len(),
                What::Own => true,
            })
            && self.messages.iter().all(|of| (of.group as usize) < groups.len() && place(of.peer))
            && self.collectives.iter().all(|of| (of.group as usize) < groups.len())
    }

    /// Nanoseconds since 1970 at a moment.
    pub fn time(&self, ticks: u64) -> u64 {
        let at = self.clock.partition_point(|(known, _)| *known <= ticks);
        let last = self.clock.len().saturating_sub(2);
        let first = at.saturating_sub(1).min(last);
        match self.clock.get(first..) {
            Some([(t0, n0), (t1, n1), ..]) if t1 > t0 => {
                // As nearly always; wider numbers take ten times as long.
                let product = ticks.checked_sub(*t0).zip(n1.checked_sub(*n0));
                let product = product.and_then(|(since, passed)| since.checked_mul(passed));
                if let Some(time) = product.and_then(|of| n0.checked_add(of / (t1 - t0))) {
                    return time;
                }
                let since = i128::from(ticks) - i128::from(*t0);
                let passed = i128::from(*n1) - i128::from(*n0);
                // Damaged clocks may run as fast as they like.
                let nanoseconds = since.saturating_mul(passed) / i128::from(t1 - t0);
                i128::from(*n0).saturating_add(nanoseconds).clamp(0, u64::MAX.into()) as u64
            }
            Some([(t0, n0), ..]) => n0.saturating_add_signed(ticks.wrapping_sub(*t0) as i64),
            _ => ticks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (Events, Vec<u8>) {
        let tables = Tables {
            of: Snapshot { rank: 3, size: 4, groups: vec![vec![]], ..Snapshot::default() },
            clock: vec![(100, 1000), (200, 2000), (400, 3000)],
            shapes: vec![Shape::new(What::Own, 0)],
            collectives: vec![Collectives { group: 0, nth: 0 }],
            ..Tables::default()
        };
        let mut bytes = vec![];
        let mut writer = Writer::new(&mut bytes, &tables).unwrap();
        let mut chunks = vec![];
        for base in [100, 5000] {
            let mut records = [0; 400];
            let record = Record { shape: 0, begin: base + 3, end: base + 9, folded: None };
            let part = Part { of: Of::Collectives(0), number: 7, completes: false, bytes: 64 };
            let (at, _) = Pen::new(&mut records, 0, base).write(&record, &[part]);
            writer.chunk(base, &records[..at]).unwrap();
            let packed = lz4_flex::block::compress(&records[..at]);
            chunks.push(Chunk { base, packed, plain: at as u32 });
        }
        writer.finish().unwrap();
        (Events { tables, chunks }, bytes)
    }

    #[test]
    fn what_is_written_is_read() {
        let (events, bytes) = file();
        let read = Events::decode(&bytes).unwrap();
        assert_eq!(read, events);
        let plain = read.chunks[1].bytes().unwrap();
        let mut parts = vec![];
        let record = Records::new(&plain, 5000).next(&mut parts).unwrap().unwrap();
        assert_eq!((record.begin, record.end, parts[0].number), (5003, 5009, 7));
    }

    #[test]
    fn every_truncation_is_told_from_other_damage() {
        let (_, bytes) = file();
        for end in 0..bytes.len() {
            let error = Events::decode(&bytes[..end]).unwrap_err().to_string();
            let is_told =
                if end < 8 { error.contains("no file of") } else { error.contains("ends within") };
            assert!(is_told, "{end}: {error}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x11;
            assert!(Events::decode(&changed).is_err(), "{at}");
        }
        assert!(matches!(Events::decode(b"CSTRAFIC...."), Err(ReadError::Foreign(_))));
        let mut other = bytes;
        other[8] = 9;
        assert!(matches!(Events::decode(&other), Err(ReadError::Version { found: 9, .. })));
    }

    #[test]
    fn numbers_beyond_their_tables_are_damage() {
        let (events, _) = file();
        let mut tables = events.tables;
        tables.shapes.push(Shape::new(What::Call(0), 0));
        let mut bytes = vec![];
        Writer::new(&mut bytes, &tables).unwrap().finish().unwrap();
        assert!(matches!(Events::decode(&bytes), Err(ReadError::Damaged(_))));
    }

    #[test]
    fn time_is_linear_between_known_moments() {
        let (events, _) = file();
        let times = [50, 100, 150, 200, 300, 400, 600].map(|ticks| events.tables.time(ticks));
        assert_eq!(times, [500, 1000, 1500, 2000, 2500, 3000, 4000]);
        let fast = Tables { clock: vec![(1, 0), (2, u64::MAX)], ..Tables::default() };
        assert_eq!([0, 2, u64::MAX].map(|ticks| fast.time(ticks)), [0, u64::MAX, u64::MAX]);
    }
}
