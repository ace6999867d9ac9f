//! Compatibility: what logs of earlier versions lack, derived from what they have instead.

use crate::record::{RawBasics, RawDatatype, RawFinding, RawUse};
use commsan_findings::{Code, Problem};

/// Fills in the kind of a wrong argument, which used to be in its sentence alone.
pub(super) fn complete(finding: &mut RawFinding<'_>) {
    let Some(argument) = finding.argument.as_mut().filter(|argument| argument.kind.is_none())
    else {
        return;
    };
    if finding.code == Code::InvalidArgument {
        argument.kind = Some(kind(&argument.parameter, &argument.problem));
    }
}

/// Describes a datatype of which only the one class of its elements was written.
pub(super) fn describe(used: &mut RawUse<'_>) {
    let Some(elements) = used.elements.take() else { return };
    let extent = elements.bytes.cast_signed();
    let count = used.finding.operation.size.checked_div(elements.bytes).unwrap_or(0);
    let (class, bytes) = (elements.class, elements.bytes);
    let basics = vec![RawBasics { at: 0, class, bytes, count: 1 }].into();
    used.datatype.get_or_insert(RawDatatype { count, extent, derived: false, basics });
}

fn kind(parameter: &str, sentence: &str) -> Problem {
    let has = |words: &str| sentence.contains(words);
    match parameter {
        _ if has("null pointer") => Problem::NullPointer,
        _ if has("freed") => Problem::Freed,
        _ if has("MPI_COMM_NULL") => Problem::NullCommunicator,
        _ if has("topology") => Problem::NoTopology,
        _ if has("NULL") => Problem::NullHandle,
        _ if has("not defined for") || has("swapped") => Problem::UndefinedForType,
        _ if has("at the origin") => Problem::SidesDiffer,
        _ if has("negative") => Problem::Negative,
        "dest" | "source" | "target_rank" => Problem::NoSuchPeer,
        "tag" | "sendtag" | "recvtag" => Problem::TagOutOfRange,
        _ => Problem::Value,
    }
}

#[cfg(test)]
mod tests {
    use crate::RankLog;
    use commsan_findings::Problem;

    #[test]
    fn sentences_of_older_logs_give_the_kind() {
        for (parameter, sentence, kind) in [
            ("dest", "is 5, but the communicator's ranks are 0 to 3", Problem::NoSuchPeer),
            ("root", "is 5, but the communicator's ranks are 0 to 3", Problem::Value),
            ("tag", "is -3, but tags are from 0 to 32767", Problem::TagOutOfRange),
            ("count", "is negative, -4", Problem::Negative),
            ("comm", "is MPI_COMM_NULL", Problem::NullCommunicator),
            ("comm", "has no Cartesian topology", Problem::NoTopology),
            ("datatype", "is MPI_DATATYPE_NULL", Problem::NullHandle),
            ("datatype", "has been freed", Problem::Freed),
            ("request", "is a null pointer", Problem::NullPointer),
            ("op", "is MPI_BAND, which is not defined for MPI_DOUBLE", Problem::UndefinedForType),
        ] {
            let line = format!(
                r#"{{"t":"finding","id":0,"code":"CS-ARG-01","operation":{{"call":"MPI_Send","write":false,"addr":0,"size":0,"bytes":0}},"sites":[],"argument":{{"parameter":"{parameter}","problem":"{sentence}"}}}}"#
            );
            let log = RankLog::read(line.as_bytes(), 0);
            let argument = log.findings[0].finding.argument.clone().unwrap();
            assert_eq!(argument.kind, Some(kind), "{parameter} {sentence}");
        }
    }

    #[test]
    fn elements_of_older_logs_give_the_datatype() {
        let line = r#"{"t":"use","variable":{"static":{"at":[0,64]}},"elements":{"class":"real","bytes":8},"finding":{"id":0,"code":"CS-BUF-07","operation":{"call":"MPI_Send","write":false,"addr":64,"size":80,"bytes":80},"sites":[]}}"#;
        let log = RankLog::read(line.as_bytes(), 0);
        let datatype = log.uses[0].datatype.as_ref().unwrap();
        assert_eq!((datatype.count, datatype.extent, datatype.derived), (10, 8, false));
        let basics = &datatype.basics[0];
        assert_eq!((basics.at, &*basics.class, basics.bytes, basics.count), (0, "real", 8, 1));
    }

    #[test]
    fn a_kind_that_is_there_counts_whatever_the_sentence() {
        let line = r#"{"t":"finding","id":0,"code":"CS-ARG-01","operation":{"call":"MPI_Send","write":false,"addr":0,"size":0,"bytes":0},"sites":[],"argument":{"parameter":"count","problem":"is negative","kind":"value"}}"#;
        let newer = line.replace(r#""value""#, r#""not_known_yet""#);
        for line in [line, &newer] {
            let log = RankLog::read(line.as_bytes(), 0);
            let argument = log.findings[0].finding.argument.clone().unwrap();
            assert_eq!(argument.kind, Some(Problem::Value));
        }
    }
}
