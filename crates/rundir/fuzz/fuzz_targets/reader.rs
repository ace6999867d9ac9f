//! No log, however damaged, may stop the report: the reader must survive any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = commsan_rundir::RankLog::read(bytes, 0);
});
