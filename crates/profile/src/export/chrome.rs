//! The timeline in the Trace Event Format, which Perfetto and Chrome's `about:tracing` show: a
//! counter for each kind, and for each place with much traffic.

use crate::Profile;
use crate::api::{By, Error, Series, TimelineQuery};
use serde_json::{Value, json};

/// The run as one JSON document.
///
/// # Errors
/// Never for runs that were read.
pub fn chrome_trace(profile: &Profile) -> Result<String, Error> {
    let all = profile.timeline(&TimelineQuery::default())?;
    let places = profile.timeline(&TimelineQuery { by: By::Place, ..TimelineQuery::default() })?;
    let start = |bin: usize| all.width_seconds * 1e6 * bin as f64;
    let mut events = vec![process(0, "all places")];
    for series in &all.series {
        events.extend(counter(0, &series.label, series, &start));
    }
    for (bin, seconds) in all.waiting.iter().enumerate() {
        let args = json!({ "seconds": seconds });
        events.push(json!({
            "name": "time in communication", "ph": "C", "pid": 0, "ts": start(bin), "args": args
        }));
    }
    for (number, series) in places.series.iter().enumerate() {
        events.push(process(number + 1, &series.label));
        events.extend(counter(number + 1, "sent", series, &start));
    }
    let command = profile.command.join(" ");
    let document = json!({
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": { "run": profile.name, "command": command },
    });
    Ok(document.to_string())
}

fn process(pid: usize, name: &str) -> Value {
    json!({ "name": "process_name", "ph": "M", "pid": pid, "args": { "name": name } })
}

fn counter(pid: usize, name: &str, series: &Series, start: &impl Fn(usize) -> f64) -> Vec<Value> {
    let bins = series.bytes.iter().zip(&series.counts).enumerate();
    let event = |(bin, (bytes, count)): (usize, (&u64, &u64))| {
        let args = json!({ "bytes": bytes, "transfers": count });
        json!({ "name": name, "ph": "C", "pid": pid, "ts": start(bin), "args": args })
    };
    bins.map(event).collect()
}
