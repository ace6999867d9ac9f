//! From a line of the table to the calls that it stands for.

use crate::{
    Call, Demand, Effect, Extent, Fit, Flow, Message, Object, On, Param, Pointee, Positions, Role,
    Rule, Times,
};
use commsan_shadow::Mode;

/// Reads the table.
pub(crate) fn parse(text: &str) -> Result<Vec<Call>, String> {
    commsan_shmem_calls::each_line(text, parse_line)
}

fn parse_line(line: &str, calls: &mut Vec<Call>) -> Result<(), String> {
    let (head, rest) = line.split_once('(').ok_or("no parameter list")?;
    let (params, accesses) = rest.split_once(')').ok_or("parameter list not closed")?;
    let params: Vec<&str> = params.split_whitespace().collect();
    let mut words = head.split_whitespace();
    let kind = words.next().ok_or("no kind")?;
    for name in words {
        // What Open MPI 4 has in <mpi-ext.h>, and MPICH's and Intel's own calls.
        const EXTENSION: &str = "MPIX_";
        const MPI: &str = "MPI_";
        let (family, prefix) = match name.strip_prefix(EXTENSION) {
            Some(family) => (family, EXTENSION),
            None => (name, MPI),
        };
        let name = family;
        let nonblocking = format!("I{}", name.to_lowercase());
        let persistent = format!("{name}_init");
        let add = |extra: &[&'static str]| -> Vec<&str> {
            params.iter().copied().chain(extra.iter().copied()).collect()
        };
        let receives = params.contains(&"source");
        let variants: Vec<(&str, String, Vec<&str>, Effect)> = match kind {
            "p2p" => vec![
                (MPI, name.into(), add(if receives { &["status"] } else { &[] }), Effect::Block),
                (MPI, nonblocking, add(&["request"]), Effect::Start),
                (MPI, persistent, add(&["request"]), Effect::Init),
            ],
            "coll" => vec![
                (MPI, name.into(), add(&[]), Effect::Block),
                (MPI, nonblocking, add(&["request"]), Effect::Start),
                (MPI, persistent.clone(), add(&["info", "request"]), Effect::Init),
                (EXTENSION, persistent, add(&["info", "request"]), Effect::Init),
            ],
            "rma" => vec![
                (MPI, name.into(), add(&[]), Effect::Rma),
                (MPI, format!("R{}", name.to_lowercase()), add(&["request"]), Effect::Rma),
            ],
            other => vec![(prefix, name.into(), add(&[]), effect(other)?)],
        };
        for (prefix, name, params, effect) in variants {
            for large in [false, true] {
                let params: Vec<Param> =
                    params.iter().map(|p| param(p)).collect::<Result<_, _>>()?;
                let counted = |p: &Param| {
                    matches!(p.role, Role::Count | Role::Counts) || p.name == "disp_unit"
                };
                let completes = params.iter().any(|p| p.role == Role::Requests);
                let is_copy = kind == "coll" && prefix == EXTENSION;
                let has_no_twin = is_copy || completes || !params.iter().any(counted);
                if large && has_no_twin {
                    continue;
                }
                let rules = accesses.split(',').map(str::trim).filter(|a| !a.is_empty());
                let accesses = rules.map(|a| rule(a, &params)).collect::<Result<Vec<_>, _>>()?;
                let name = format!("{prefix}{name}{}", if large { "_c" } else { "" });
                let collective = matches!(kind, "coll" | "meet" | "imeet");
                let on_file = matches!(effect, Effect::SplitBegin | Effect::SplitEnd)
                    || matches!(kind, "fopen" | "fclose" | "fmeet" | "fstart");
                let flow = if collective { Flow::of(family) } else { Flow::None };
                let at = Positions::of(&params);
                let demands = Demand::of(family, &params);
                let pointees = Pointee::of(&params);
                let (makes, frees) =
                    (Object::made(effect, &params), Object::freed(effect, &params));
                let row = calls.len() as u32;
                let enters = collective
                    || on_file
                    || matches!(
                        effect,
                        Effect::Window | Effect::WindowFree | Effect::Fence | Effect::CommFree
                    );
                let simple = matches!(
                    &*accesses,
                    [Rule { extent: Extent::Blocks { times: Times::Once, .. }, on: On::All, .. }]
                );
                let buffer = |mode: Mode| accesses.iter().find(|rule| rule.mode == mode);
                let message = |peer: Option<usize>, buffer: Option<&Rule>| {
                    let is_one = effect != Effect::InitPartitioned && !collective;
                    Message::of(at.comm, peer, buffer).filter(|_| is_one)
                };
                // MPI_Sendrecv_replace sends what it overwrites.
                let sends = buffer(Mode::Read).or_else(|| buffer(Mode::Write));
                let sent = message(at.dest, sends);
                let received = message(at.source, buffer(Mode::Write));
                let waits = waits(kind, effect, &at, enters);
                // Some have a line of their own.
                let counts_are_large = name.ends_with("_c");
                let alike = (0..).zip(&params).filter(|(_, param)| param.alike);
                let alike = alike.map(|(index, _)| index).collect();
                let has_arrays = collective
                    && params
                        .iter()
                        .any(|param| matches!(param.role, Role::Counts | Role::Datatypes));
                calls.push(Call {
                    name,
                    params,
                    effect,
                    accesses,
                    large: counts_are_large,
                    collective,
                    flow,
                    synchronous: family == "Ssend",
                    row,
                    kind: if large { row - 1 } else { row },
                    enters,
                    waits,
                    fit: if collective { Fit::of(family) } else { Fit::Nothing },
                    parts: collective && !matches!(effect, Effect::Init) && has_parts(family),
                    at,
                    simple,
                    sent,
                    received,
                    demands,
                    pointees,
                    alike,
                    makes,
                    frees,
                    calls_back: calls_back(family, effect),
                    has_arrays,
                    makes_handler: family.ends_with("reate_errhandler")
                        || family == "Errhandler_create",
                    sets_handler: family.ends_with("_set_errhandler"),
                    explains_errors: matches!(family, "Error_class" | "Error_string"),
                    symmetric: None,
                });
            }
        }
    }
    Ok(())
}

fn param(text: &str) -> Result<Param, String> {
    let (name, alike) = text.strip_suffix('=').map_or((text, false), |name| (name, true));
    let role = Role::of(name).ok_or_else(|| format!("parameter `{name}` has no role"))?;
    Ok(Param { name: name.to_owned(), role, alike })
}

fn effect(kind: &str) -> Result<Effect, String> {
    Ok(match kind {
        "block" | "meet" | "fmeet" => Effect::Block,
        "local" => Effect::Local,
        "start" | "imeet" | "fstart" => Effect::Start,
        "fopen" => Effect::FileOpen,
        "fclose" => Effect::FileClose,
        "fbegin" => Effect::SplitBegin,
        "fend" => Effect::SplitEnd,
        "psend" | "precv" => Effect::InitPartitioned,
        "pready" => Effect::Pready,
        "pready_range" => Effect::PreadyRange,
        "pready_list" => Effect::PreadyList,
        "parrived" => Effect::Parrived,
        "go" => Effect::Go,
        "goall" => Effect::GoAll,
        "wait" => Effect::Wait,
        "test" => Effect::Test,
        "waitall" => Effect::WaitAll,
        "testall" => Effect::TestAll,
        "waitany" => Effect::WaitAny,
        "testany" => Effect::TestAny,
        "waitsome" | "testsome" => Effect::Some,
        "status" => Effect::GetStatus,
        "free" => Effect::Free,
        "cancel" => Effect::Cancel,
        "pack" => Effect::Pack,
        "unpack" => Effect::Unpack,
        "begin" => Effect::Begin,
        "finalize" => Effect::Finalize,
        "abort" => Effect::Abort,
        "typefree" => Effect::TypeFree,
        "contents" => Effect::TypeContents,
        "commit" => Effect::TypeCommit,
        "commfree" => Effect::CommFree,
        "fetch" => Effect::Rma,
        "window" => Effect::Window,
        "winfree" => Effect::WindowFree,
        "attach" => Effect::Attach,
        "detach" => Effect::Detach,
        "wininfo" => Effect::WindowInfo,
        "fence" => Effect::Fence,
        "epoch" => Effect::EpochBegin,
        "epochend" => Effect::EpochEnd,
        "expose" => Effect::ExposureBegin,
        "exposed" => Effect::ExposureEnd,
        "lock" => Effect::Lock,
        "unlock" => Effect::Unlock,
        "flush" => Effect::Flush,
        "flushlocal" => Effect::FlushLocal,
        "winsync" => Effect::WindowSync,
        "notified" => Effect::Notified,
        "mkstream" => Effect::Stream,
        "enqueue" => Effect::Enqueue,
        "session" => Effect::Session,
        "sessionend" => Effect::SessionEnd,
        "ask" => Effect::Ask,
        "keymake" => Effect::KeyvalMake,
        "keyfree" => Effect::KeyvalFree,
        "greqdone" => Effect::GrequestComplete,
        "bare" => Effect::Bare,
        "bufattach" => Effect::BufferAttach,
        "bufdetach" => Effect::BufferDetach,
        "memalloc" => Effect::MemAlloc,
        "memfree" => Effect::MemFree,
        other => return Err(format!("unknown kind `{other}`")),
    })
}

/// Whether a call of this kind may wait for calls of other ranks.
fn waits(kind: &str, effect: Effect, at: &Positions, enters: bool) -> bool {
    use Effect::*;
    match effect {
        Wait | WaitAll | WaitAny | Finalize | SessionEnd | CommFree => true,
        FileOpen | FileClose | SplitBegin | SplitEnd => true,
        Some => kind == "waitsome",
        Window | WindowFree | Fence | EpochBegin | EpochEnd => true,
        Lock | Unlock | Flush | FlushLocal => true,
        // MPI_Win_test, MPI_Iprobe and the like have a flag instead.
        ExposureEnd => at.flag.is_none(),
        Block => {
            let has_others = at.comm.is_some() || at.group.is_some() || at.message.is_some();
            enters || at.flag.is_none() && has_others
        }
        _ => false,
    }
}

/// Whether each pair of ranks has amounts of its own.
fn has_parts(family: &str) -> bool {
    matches!(family, "Gatherv" | "Scatterv" | "Alltoallv" | "Alltoallw")
        || family.starts_with("Neighbor_")
}

/// Whether a call copies or deletes attributes.
fn calls_back(family: &str, effect: Effect) -> bool {
    use Effect::{CommFree, Finalize, TypeFree, WindowFree};
    matches!(
        family,
        "Comm_dup" | "Comm_dup_with_info" | "Comm_idup" | "Comm_idup_with_info" | "Type_dup"
    ) || family.ends_with("_set_attr")
        || family.ends_with("_delete_attr")
        || matches!(family, "Attr_put" | "Attr_delete")
        || matches!(effect, CommFree | Finalize | TypeFree | WindowFree)
}

fn rule(text: &str, params: &[Param]) -> Result<Rule, String> {
    let index = |name: &str| {
        let found = params.iter().position(|p| p.name == name);
        found.ok_or_else(|| format!("`{text}`: no parameter `{name}`"))
    };
    let times = |name: &str| {
        Ok::<_, String>(match name {
            "size" => Times::Size,
            "local" => Times::Local,
            "in" => Times::In,
            "out" => Times::Out,
            other => Times::Param(index(other)?),
        })
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let [mode, buffer, extent, datatype, conditions @ ..] = words.as_slice() else {
        return Err(format!("`{text}`: an access is `r|w buffer count type`"));
    };
    let mode = match *mode {
        "r" => Mode::Read,
        "w" => Mode::Write,
        other => return Err(format!("`{text}`: mode `{other}`")),
    };
    let (buffer, in_place) = match buffer.split_once('|') {
        Some((buffer, other)) => (index(buffer)?, Some(index(other)?)),
        None => (index(buffer)?, None),
    };
    let extent = match (extent.split_once('@'), extent.split_once(':'), extent.split_once('*')) {
        (Some((counts, place)), _, _) => {
            let (displs, repeat) = place.split_once('*').unwrap_or((place, "size"));
            Extent::Placed { counts: index(counts)?, displs: index(displs)?, times: times(repeat)? }
        }
        (_, Some((counts, "sum")), _) => Extent::Sum(index(counts)?),
        (_, Some((counts, "own")), _) => Extent::Own(index(counts)?),
        (_, _, Some((count, repeat))) => {
            Extent::Blocks { count: index(count)?, times: times(repeat)? }
        }
        _ if *extent == "1" => Extent::One,
        _ => Extent::Blocks { count: index(extent)?, times: Times::Once },
    };
    let (mut peer, mut op, mut on) = (None, None, On::All);
    for condition in conditions {
        match condition.split_at(1) {
            ("?", rank) => peer = Some(index(rank)?),
            ("!", reduction) => op = Some(index(reduction)?),
            ("@", "root") => on = On::Root,
            ("@", "other") => on = On::Other,
            ("@", "later") => on = On::Later,
            _ => return Err(format!("`{text}`: condition `{condition}`")),
        }
    }
    Ok(Rule { mode, buffer, in_place, extent, datatype: index(datatype)?, peer, op, on })
}
