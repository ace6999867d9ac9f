//! No file of events, however damaged, may stop the profile: its reader must survive any bytes, and
//! so must what decodes its records and tells their times.
//!
//! Checksums would stop nearly every change before it is looked at. So the bytes are read three
//! times: as a file; as the tables and records of a file whose lengths and checksums are right; and
//! as records alone.
#![no_main]

use commsan_rundir::events::{CHUNK, Events, Records, Tables, VERSION, Writer};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // The first two bytes say how long the tables are.
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (tables, records) = rest.split_at(length);
    read(&file(tables, records));
    walk(&Tables::default(), records);
    // Tables that are right lead to the records, whatever these are.
    let whole = written(records);
    Events::decode(&whole).expect("what is written is read");
    read(&whole);
});

fn read(file: &[u8]) {
    let Ok(events) = Events::decode(file) else { return };
    for chunk in &events.chunks {
        if let Ok(plain) = chunk.bytes() {
            walk(&events.tables, &plain);
        }
    }
}

fn walk(tables: &Tables, bytes: &[u8]) {
    let (mut records, mut parts) = (Records::new(bytes, 0), Vec::new());
    while let Ok(Some(record)) = records.next(&mut parts) {
        let _ = [record.begin, record.end].map(|ticks| tables.time(ticks));
    }
}

/// A file of records, with tables that are empty.
fn written(records: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let written = Writer::new(&mut file, &Tables::default()).and_then(|mut writer| {
        records.chunks(CHUNK).try_for_each(|chunk| writer.chunk(0, chunk))?;
        writer.finish()
    });
    written.expect("memory takes all that is written");
    file
}

/// A file whose tables are these bytes in postcard's encoding, if that is what they are.
fn file(tables: &[u8], records: &[u8]) -> Vec<u8> {
    let packed = lz4_flex::block::compress(tables);
    let mut file = b"CSEVENTS".to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(crc32fast::hash(&packed).to_le_bytes());
    file.extend((packed.len() as u64).to_le_bytes());
    file.extend((tables.len() as u64).to_le_bytes());
    file.extend(packed);
    // What follows the tables is the same in every file.
    let begin = written(&[]).len() - HEAD;
    file.extend(&written(records)[begin..]);
    file
}

/// Bytes of what ends a file: the head of a chunk without records.
const HEAD: usize = 24;
