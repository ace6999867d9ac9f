//! No file of events, however damaged, may stop the profile: its reader must survive any bytes, and
//! so must what decodes its records. Checksums that would stop every change are set right first.
#![no_main]

use commsan_rundir::events::{Events, Records, Tables, Writer};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(events) = Events::decode(bytes) {
        events.chunks.iter().filter_map(|chunk| chunk.bytes().ok()).for_each(|plain| walk(&plain));
    }
    walk(bytes);
    let mut file = Vec::new();
    let written = Writer::new(&mut file, &Tables::default()).and_then(|mut writer| {
        bytes.chunks(1 << 14).try_for_each(|chunk| writer.chunk(0, chunk))?;
        writer.finish()
    });
    written.expect("memory takes all that is written");
    Events::decode(&file).expect("what is written is read");
});

fn walk(bytes: &[u8]) {
    let (mut records, mut parts) = (Records::new(bytes, 0), Vec::new());
    while let Ok(Some(_)) = records.next(&mut parts) {}
}
