//! What is said about how much of a program an analysis has followed.

use commsan_findings::{Followed, Unfollowed, Why};

/// Maximum number of calls that are named for each reason.
const MAX_NAMED: usize = 3;

/// How many operations and requests were followed, then for each reason why others were not.
pub(crate) fn remarks(followed: &Followed) -> Vec<String> {
    if followed.started == 0 {
        return Vec::new();
    }
    let Followed { started, operations, requests, requests_followed, not_followed } = followed;
    let of = |some: usize, all: usize, what: &str| match all {
        1 => format!("{some} of 1 {what}"),
        _ => format!("{some} of {all} {what}s"),
    };
    let counts = match requests {
        0 => of(*operations, *started, "operation"),
        _ => {
            let requests = of(*requests_followed, *requests, "request");
            format!("{} and {requests}", of(*operations, *started, "operation"))
        }
    };
    let mut remarks = vec![format!("followed {counts} from start to completion")];
    for why in Why::ALL {
        let calls: Vec<_> = not_followed.iter().filter(|call| call.why == why).collect();
        let [named @ .., last] = &*calls else { continue };
        let text = match calls.len() {
            1 => shown(last),
            2..=MAX_NAMED => format!("{} and {}", list(named), shown(last)),
            all => format!("{} and {} more", list(&calls[..MAX_NAMED]), all - MAX_NAMED),
        };
        remarks.push(format!("not followed: {text}, as {}", why.text()));
    }
    remarks
}

fn list(calls: &[&Unfollowed]) -> String {
    calls.iter().map(|call| shown(call)).collect::<Vec<_>>().join(", ")
}

fn shown(call: &Unfollowed) -> String {
    let name = &call.call;
    match (&call.file, call.line) {
        (Some(file), Some(line)) => {
            let file = file.rsplit('/').next().unwrap_or(file);
            format!("`{name}` at {file}:{line}")
        }
        _ => format!("`{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: u32, why: Why) -> Unfollowed {
        let file = Some("/src/halo.c".to_owned());
        Unfollowed { file, line: Some(line), call: "MPI_Isend".to_owned(), why }
    }

    #[test]
    fn what_was_not_followed_is_named_by_reason() {
        assert!(remarks(&Followed::default()).is_empty());
        let mut followed = Followed {
            started: 1,
            operations: 1,
            requests: 1,
            requests_followed: 1,
            ..Followed::default()
        };
        let all = "followed 1 of 1 operation and 1 of 1 request from start to completion";
        assert_eq!(remarks(&followed), [all]);
        let calls = [1, 2, 3, 4, 5].map(|line| call(line, Why::UnknownCall));
        followed = Followed { started: 7, requests: 6, not_followed: calls.to_vec(), ..followed };
        followed.not_followed.push(call(9, Why::Buffer));
        assert_eq!(
            remarks(&followed)[1..],
            [
                "not followed: `MPI_Isend` at halo.c:1, `MPI_Isend` at halo.c:2, `MPI_Isend` at \
                 halo.c:3 and 2 more, as a call that is not analysed may complete it",
                "not followed: `MPI_Isend` at halo.c:9, as which bytes its buffer has is not known",
            ]
        );
        followed.not_followed.drain(2..);
        assert_eq!(
            remarks(&followed)[1],
            "not followed: `MPI_Isend` at halo.c:1 and `MPI_Isend` at halo.c:2, as a call that is \
             not analysed may complete it"
        );
    }
}
