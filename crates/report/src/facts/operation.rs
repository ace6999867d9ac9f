//! What an operation is and does, in words.

use super::window;
use commsan_rundir::record::{RawAccess, RawOperation};

/// Calls of MPI and CUDA stand out by themselves.
pub(super) fn quoted(call: &str) -> String {
    if call.starts_with("MPI") || call.starts_with("cuda") {
        call.to_owned()
    } else {
        format!("`{call}`")
    }
}

pub(crate) fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// Offset in the buffer and size of what `access` touches of it.
pub(super) fn overlap(access: &RawAccess<'_>, operation: &RawOperation<'_>) -> Option<(u64, u64)> {
    let start = access.addr.max(operation.addr);
    let end =
        access.addr.saturating_add(access.size).min(operation.addr.saturating_add(operation.size));
    (start < end).then(|| (start - operation.addr, end - start))
}

pub(super) fn buffer(operation: &RawOperation<'_>) -> String {
    format!("{}-byte buffer", operation.size)
}

/// The call with what identifies the message.
pub(super) fn operation(operation: &RawOperation<'_>) -> String {
    let call = &operation.call;
    // Its two messages have an envelope each, the record has one.
    if call.to_ascii_lowercase().contains("sendrecv") {
        return call.to_string();
    }
    let peer = match (operation.peer, is_receive(operation)) {
        (Some(peer), _) if operation.window.is_some() => Some(window::target(call, peer)),
        (Some(peer), true) => Some(format!("from rank {peer}")),
        (Some(peer), false) => Some(format!("to rank {peer}")),
        // A matched receive has a message instead of a source.
        (None, true) if !call.contains("mrecv") => Some("from any rank".to_owned()),
        (None, _) => None,
    };
    let tag = operation.tag.map(|tag| format!("tag {tag}"));
    let window = operation.window.map(|number| format!("window {number}"));
    let details: Vec<_> = peer.into_iter().chain(tag).chain(window).collect();
    if details.is_empty() { call.to_string() } else { format!("{call} ({})", details.join(", ")) }
}

/// Calls that send and receive at once are distinguished by the buffer that is meant.
fn is_receive(operation: &RawOperation<'_>) -> bool {
    let call = operation.call.to_ascii_lowercase();
    call.contains("probe") || call.contains("recv") && (operation.write || !call.contains("send"))
}

fn is_send(operation: &RawOperation<'_>) -> bool {
    let call = operation.call.to_ascii_lowercase();
    ["send", "isend"].iter().any(|send| call.contains(send)) && !operation.write
}

/// Whether memory is lent for buffered sends.
pub(super) fn is_lending(operation: &RawOperation<'_>) -> bool {
    operation.call.eq_ignore_ascii_case("MPI_Buffer_attach")
}

pub(super) fn using(operation: &RawOperation<'_>) -> &'static str {
    match operation.write {
        true if is_lending(operation) => "has lent to MPI",
        true if is_receive(operation) => "is still receiving into",
        true => "is still writing to",
        false if is_send(operation) => "is still sending",
        false => "is still reading",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::observation;

    #[test]
    fn operations_are_named_by_their_message() {
        let mut op = observation().finding.operation;
        assert_eq!(operation(&op), "MPI_Isend (to rank 1, tag 7)");
        op.call = "MPI_Irecv".into();
        (op.write, op.peer, op.tag) = (true, None, None);
        assert_eq!(operation(&op), "MPI_Irecv (from any rank)");
        assert_eq!(using(&op), "is still receiving into");
        op.call = "MPI_Iallreduce".into();
        assert_eq!(operation(&op), "MPI_Iallreduce");
        assert_eq!(using(&op), "is still writing to");
        op.call = "MPI_Isendrecv".into();
        (op.write, op.peer) = (false, Some(2));
        assert_eq!(operation(&op), "MPI_Isendrecv");
        op.call = "MPI_Imrecv".into();
        (op.write, op.peer) = (true, None);
        assert_eq!(operation(&op), "MPI_Imrecv");
    }
}
