//! Tables of time: in calls, in waits, on the critical path.

use super::{caller, place, site};
use crate::Profile;
use crate::critical::Share;
use crate::events::What;
use crate::export::{Sink, Value};
use crate::waits::At;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

fn seconds(nanoseconds: u64) -> Value<'static> {
    Value::Real(nanoseconds as f64 / 1e9)
}

pub(super) fn calls(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    for calls in &model.calls {
        let [call, function, file, line] = site(model, calls.site);
        let (time, longest) = (seconds(calls.time), seconds(calls.longest));
        let peer = calls.peer.map_or(Value::Null, |peer| place(model, peer));
        let place = place(model, calls.place);
        let group = calls.group.map(|group| profile.communicator(group));
        let group = group.as_deref().into();
        let count = calls.count.into();
        sink.row(&[place, call, function, file, line, peer, group, count, time, longest])?;
    }
    Ok(())
}

pub(super) fn waits(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let mut all: Vec<_> = profile.waits.sums.iter().collect();
    all.sort_by_key(|(key, sum)| (Reverse(sum.time), **key));
    for (key, sum) in all {
        let at = |at: At| {
            let [call, function, file, line] = site(model, at.site);
            [place(model, model.log.ranks[at.rank].place), call, function, file, line]
        };
        let mut row: Vec<Value> = vec![key.kind.name().into()];
        row.extend(at(key.at));
        row.extend(at(key.by));
        let when = sum.when.saturating_sub(model.span.0);
        row.push(sum.count.into());
        row.extend([sum.time, sum.longest, when].map(seconds));
        sink.row(&row)?;
    }
    Ok(())
}

pub(super) fn wait_pairs(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    for of in profile.wait_pairs() {
        let when = of.sum.when.saturating_sub(model.span.0);
        let [call, function, file, line] = site(model, of.site);
        sink.row(&[
            place(model, of.place),
            place(model, of.late),
            of.kind.name().into(),
            of.sum.count.into(),
            seconds(of.sum.time),
            seconds(of.sum.longest),
            seconds(when),
            call,
            function,
            file,
            line,
        ])?;
    }
    Ok(())
}

pub(super) fn critical_path(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    let model = &profile.model;
    let index = profile.by_lane();
    for (number, part) in (0_u64..).zip(&profile.critical_path().stretches) {
        let lane = &index.lanes[part.lane];
        sink.row(&[
            number.into(),
            place(model, model.log.ranks[lane.rank].place),
            u64::from(lane.thread).into(),
            seconds(profile.since(part.from)),
            seconds(part.to - part.from),
        ])?;
    }
    Ok(())
}

pub(super) fn critical_calls(profile: &Profile, sink: &mut dyn Sink) -> io::Result<()> {
    /// Call, function, file and line; of what is no call, the first or nothing.
    type Named<'m> = (Option<&'m str>, Option<&'m str>, Option<&'m str>, Option<u32>);
    let model = &profile.model;
    let mut sums: BTreeMap<(u32, Named), Share> = BTreeMap::new();
    for ((place, what), share) in &profile.critical_path().by_what {
        let named: Named = match what {
            Some(What::Call(site)) => {
                let caller = caller(&model.stacks[model.sites[*site as usize].stack as usize]);
                (
                    Some(model.call_of_site(*site)),
                    caller.map(|frame| frame.function.as_str()),
                    caller.and_then(|frame| frame.file).map(|file| model.files[file].as_str()),
                    caller.and_then(|frame| frame.line),
                )
            }
            Some(_) => (Some("commsan"), None, None, None),
            None => (None, None, None, None),
        };
        let sum = sums.entry((*place, named)).or_default();
        (sum.inside, sum.before) = (sum.inside + share.inside, sum.before + share.before);
    }
    let mut all: Vec<_> = sums.into_iter().filter(|(_, of)| of.inside + of.before > 0).collect();
    all.sort_by_key(|(key, of)| (Reverse(of.inside + of.before), *key));
    for ((at, (call, function, file, line)), of) in all {
        sink.row(&[
            place(model, at),
            call.into(),
            function.into(),
            file.into(),
            line.map(u64::from).into(),
            seconds(of.inside),
            seconds(of.before),
        ])?;
    }
    Ok(())
}
