//! The timeline in the Trace Event Format, which Perfetto and Chrome's `about:tracing` show: a
//! counter for each kind, and for each place with much traffic; and of each thread its calls and
//! regions, with arrows from sends to receives.

use crate::Profile;

use crate::api::{By, Error, Series, TimelineQuery};
use crate::events::What;
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
    let first = places.series.len() + 1;
    slices(profile, first, &mut events);
    arrows(profile, first, &mut events);
    let command = profile.command.join(" ");
    let document = json!({
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": { "run": profile.name, "command": command },
    });
    Ok(document.to_string())
}

/// Microseconds since the beginning of the timeline.
fn moment(profile: &Profile, time: u64) -> f64 {
    (i128::from(time) - i128::from(profile.model.timeline.epoch)) as f64 / 1e3
}

/// Intervals that a trace holds at most: viewers cannot show more.
const MAX_SLICES: usize = 1 << 21;

/// What each thread did when: a rank is a process here. Intervals that are folded say so; the last
/// of too many are left out.
fn slices(profile: &Profile, first: usize, events: &mut Vec<Value>) {
    let model = &profile.model;
    for (rank, log) in model.log.ranks.iter().enumerate() {
        let pid = first + rank;
        events.push(process(pid, &format!("{}: calls", model.places[log.place as usize].name)));
        for chunk in 0..log.chunks.len() {
            log.chunk(rank, chunk, |interval, parts| {
                if events.len() >= MAX_SLICES {
                    return;
                }
                let shape = &log.shapes[interval.shape as usize];
                let (name, kind, line) = match shape.what {
                    What::Call(site) => (model.call_of_site(site), "call", line(profile, site)),
                    What::Region(name) => (&*model.log.regions[name as usize], "region", None),
                    What::Own => ("commsan", "commsan", None),
                };
                let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
                let name = match interval.folded {
                    Some((count, _)) => format!("{count} × {name} (folded)"),
                    None => name.to_owned(),
                };
                let mut args = json!({ "line": line, "bytes": bytes });
                if let Some((count, time)) = interval.folded {
                    args["folded"] = json!({ "count": count, "seconds": time as f64 / 1e9 });
                }
                events.push(json!({
                    "name": name, "cat": kind, "ph": "X", "pid": pid, "tid": shape.thread,
                    "ts": moment(profile, interval.begin),
                    "dur": (interval.end - interval.begin) as f64 / 1e3, "args": args
                }));
            });
        }
    }
    for wait in &profile.waits.all {
        let by = &model.places[model.log.ranks[wait.by.rank].place as usize].name;
        events.push(json!({
            "name": wait.kind.name(), "cat": "wait", "ph": "X", "pid": first + wait.at.rank,
            "tid": wait.thread, "ts": moment(profile, wait.span.0),
            "dur": (wait.span.1 - wait.span.0) as f64 / 1e3,
            "args": { "late": by, "at": line(profile, wait.by.site) }
        }));
    }
}

/// From each send to its receive.
fn arrows(profile: &Profile, first: usize, events: &mut Vec<Value>) {
    let messages = profile.waits.links.iter().filter(|link| link.meeting.is_none());
    for (number, link) in messages.enumerate() {
        let ends = [("s", link.from, link.threads.0), ("f", link.to, link.threads.1)];
        for ((phase, rank, thread), time) in ends.into_iter().zip([link.span.0, link.span.1]) {
            events.push(json!({
                "name": "message", "cat": "message", "ph": phase, "bp": "e", "id": number,
                "pid": first + rank, "tid": thread, "ts": moment(profile, time)
            }));
        }
    }
}

fn line(profile: &Profile, site: u32) -> Option<String> {
    let line = profile.model.line_of_site(site)?;
    let line = profile.model.lines[line as usize];
    Some(format!("{}:{}", profile.model.files[line.file as usize], line.line))
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
