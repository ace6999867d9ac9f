//! Writes events as the file that the report and the viewer read.

use super::Recorded;
use crate::snapshot::{Origin, Tables, calls};
use crate::{Traffic, now};
use commsan_rundir::events::{self as file, Writer};
use commsan_rundir::traffic::Snapshot;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

impl Traffic {
    /// Bytes that all events take.
    pub fn size_of_events(&self) -> usize {
        self.events.as_ref().map_or(0, super::Events::size)
    }
}

/// Replaces the file of events by those up to now. Readers see the old or the new file, never a
/// part. Nothing is written if none are recorded.
///
/// # Errors
/// If the file cannot be written.
pub fn write_events(
    traffic: &mut Traffic,
    origin: &Origin,
    complete: bool,
    path: &Path,
) -> io::Result<()> {
    let Some(mut events) = traffic.events.take() else { return Ok(()) };
    events.set_clock();
    let tables = tables(traffic, &events.tables(), origin, complete);
    let new = path.with_extension("events.new");
    let written = File::create(&new).and_then(|file| {
        let mut writer = Writer::new(BufWriter::new(file), &tables)?;
        for (base, records) in events.chunks() {
            writer.chunk(base, records)?;
        }
        writer.finish()
    });
    traffic.events = Some(events);
    written.and_then(|()| fs::rename(&new, path)).inspect_err(|_| {
        // A partly written file is useless.
        let _ = fs::remove_file(&new);
    })
}

fn tables(traffic: &Traffic, of: &Recorded, origin: &Origin, complete: bool) -> file::Tables {
    let mut tables = Tables::new(traffic);
    let calls = calls(traffic, &mut tables, |_| Vec::new());
    let (strings, modules, stacks) = tables.finish();
    file::Tables {
        of: Snapshot {
            rank: origin.rank,
            size: origin.size,
            job: origin.job.clone(),
            pid: std::process::id(),
            host: origin.host.clone(),
            mpi: origin.mpi.clone(),
            program: origin.program.clone(),
            began: traffic.began,
            until: now(),
            complete,
            epoch: traffic.bins.epoch(),
            strings,
            modules,
            stacks,
            links: traffic.links.clone(),
            groups: traffic.groups.clone(),
            calls,
            ..Snapshot::default()
        },
        clock: of.clock.to_vec(),
        error: of.error,
        shapes: of.shapes.to_vec(),
        messages: traffic.channels.list().collect(),
        collectives: of.collectives.clone(),
        budget: of.budget,
        level: of.level,
        window: of.window,
        lost: of.lost,
    }
}
