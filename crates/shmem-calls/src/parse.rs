//! From a line of the table to the calls that it stands for.

use crate::types::{self, Element};
use crate::{Call, Kind, Param, Passed};

/// Reads the table.
pub(crate) fn parse(text: &str) -> Result<Vec<Call>, String> {
    each_line(text, parse_line)
}

/// The calls of a table: `parse` adds those of a line, of which some are empty and some, that begin
/// with `#`, are comments.
///
/// # Errors
/// The first problem that `parse` has, with the number of its line.
pub fn each_line<C>(
    text: &str,
    parse: impl Fn(&str, &mut Vec<C>) -> Result<(), String>,
) -> Result<Vec<C>, String> {
    let mut calls = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        parse(line, &mut calls).map_err(|e| format!("calls.txt:{}: {e}", number + 1))?;
    }
    Ok(calls)
}

fn parse_line(line: &str, calls: &mut Vec<Call>) -> Result<(), String> {
    let (head, rest) = line.split_once('(').ok_or("no parameter list")?;
    let (params, result) = rest.split_once(')').ok_or("parameter list not closed")?;
    let params: Vec<&str> = params.split_whitespace().collect();
    let result = result.trim().strip_prefix("-> ");
    let mut words = head.split_whitespace();
    let kind = words.next().ok_or("no kind")?;
    let kind = kind_of(kind).ok_or_else(|| format!("unknown kind `{kind}`"))?;
    for pattern in words {
        let (pattern, has_ctx) = match pattern.strip_prefix("[ctx]") {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        for (name, element) in names(pattern)? {
            for ctx in [false, true] {
                if ctx && !has_ctx {
                    continue;
                }
                let name = match (name.strip_prefix('!'), ctx) {
                    (Some(name), _) => name.to_owned(),
                    (None, false) => format!("shmem_{name}"),
                    (None, true) => format!("shmem_ctx_{name}"),
                };
                let all = ctx.then_some("ctx").into_iter().chain(params.iter().copied());
                let all = all.map(|name| param(name, element)).collect::<Result<Vec<_>, _>>()?;
                let result = result.map(|result| passed_back(result, element)).transpose()?;
                calls.push(Call { name, kind, element, params: all, result });
            }
        }
    }
    Ok(())
}

/// The names that a pattern stands for, each with the type of its elements.
fn names(pattern: &str) -> Result<Vec<(String, Option<Element>)>, String> {
    let Some((before, behind)) = pattern.split_once('*') else {
        return Ok(vec![(pattern.to_owned(), None)]);
    };
    let unknown = || format!("`{pattern}`: unknown set of types");
    let set = types::set_in(behind).ok_or_else(unknown)?;
    let elements = types::set(set).ok_or_else(unknown)?;
    let rest = &behind[set.len()..];
    let named = |element: Element| (format!("{before}{}{rest}", element.name), Some(element));
    Ok(elements.into_iter().map(named).collect())
}

fn param(text: &str, element: Option<Element>) -> Result<Param, String> {
    let (name, alike) = text.strip_suffix('=').map_or((text, false), |name| (name, true));
    let value = Passed::Value(element.unwrap_or(types::long()));
    let all = [
        ("ctx", Passed::Pointer),
        ("dest", Passed::Pointer),
        ("source", Passed::Pointer),
        ("addr", Passed::Pointer),
        ("block", Passed::Pointer),
        ("ivar", Passed::Pointer),
        ("lock", Passed::Pointer),
        ("pWrk", Passed::Pointer),
        ("pSync", Passed::Pointer),
        ("ctx_out", Passed::Pointer),
        ("provided", Passed::Pointer),
        ("major", Passed::Pointer),
        ("minor", Passed::Pointer),
        ("name", Passed::Pointer),
        ("value", value),
        ("cond", value),
        ("nelems", Passed::Size),
        ("size", Passed::Size),
        ("count", Passed::Size),
        ("alignment", Passed::Size),
        ("dst", Passed::Stride),
        ("sst", Passed::Stride),
        ("options", Passed::Long),
        ("pe", Passed::Int),
        ("npes", Passed::Int),
        ("status", Passed::Int),
        ("requested", Passed::Int),
        ("cmp", Passed::Int),
        ("nreduce", Passed::Int),
        ("PE_root", Passed::Int),
        ("PE_start", Passed::Int),
        ("logPE_stride", Passed::Int),
        ("PE_size", Passed::Int),
    ];
    let known = all.iter().find(|(known, _)| *known == name);
    let (name, passed) = known.ok_or_else(|| format!("unknown parameter `{name}`"))?;
    Ok(Param { name, passed: *passed, alike })
}

fn passed_back(text: &str, element: Option<Element>) -> Result<Passed, String> {
    Ok(match text {
        "int" => Passed::Int,
        "pointer" => Passed::Pointer,
        "value" => Passed::Value(element.ok_or("a value of no type")?),
        other => return Err(format!("unknown result `{other}`")),
    })
}

fn kind_of(word: &str) -> Option<Kind> {
    use Kind::*;
    Some(match word {
        "init" => Init,
        "finalize" => Finalize,
        "exit" => Exit,
        "ask" => Ask,
        "anytime" => AnyTime,
        "accessible" => Accessible,
        "ptr" => Ptr,
        "malloc" => Malloc,
        "realloc" => Realloc,
        "free" => Free,
        "ctx_create" => CtxCreate,
        "ctx_destroy" => CtxDestroy,
        "put" => Put,
        "put_nbi" => PutNbi,
        "get" => Get,
        "get_nbi" => GetNbi,
        "atomic_read" => AtomicRead,
        "atomic_write" => AtomicWrite,
        "atomic_update" => AtomicUpdate,
        "atomic_add" => AtomicAdd,
        "barrier_all" => BarrierAll,
        "sync_all" => SyncAll,
        "barrier" => Barrier,
        "sync" => Sync,
        "broadcast" => Broadcast,
        "collect" => Collect,
        "fcollect" => Fcollect,
        "alltoall" => Alltoall,
        "reduce" => Reduce,
        "wait" => Wait,
        "test" => Test,
        "quiet" => Quiet,
        "fence" => Fence,
        "set_lock" => SetLock,
        "clear_lock" => ClearLock,
        "test_lock" => TestLock,
        _ => return None,
    })
}
