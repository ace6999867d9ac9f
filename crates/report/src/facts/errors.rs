//! Errors that MPI finds: their classes (MPI 4.1 §9.4), and what to do about each.

use super::Facts;

impl Facts<'_> {
    /// What is known of the error that a call has found: its class first.
    fn failure(&self) -> &str {
        let argument = self.observation.finding.argument.as_ref();
        argument.map_or("", |argument| &argument.problem)
    }

    /// The phrase called `name`, about an error.
    pub(super) fn of_error(&self, name: &str) -> Option<String> {
        let failure = self.failure();
        Some(match name {
            "failure" if failure.is_empty() => String::new(),
            "failure" => format!(": {failure}"),
            "class" => class(failure).unwrap_or("an error").to_owned(),
            "remedy" => match failure.contains("communicators that it has not freed") {
                true => TOO_MANY.to_owned(),
                false => remedy(class(failure).unwrap_or_default()).to_owned(),
            },
            _ => return None,
        })
    }
}

/// The class that a description begins with.
fn class(failure: &str) -> Option<&str> {
    let class = failure.split(':').next()?;
    class.starts_with("MPI_ERR").then_some(class)
}

const TOO_MANY: &str = "free each communicator by MPI_Comm_free when it is no longer needed, or make it once and keep \
                        it: libraries have room for some thousands at a time";

/// What to do about errors of a class.
fn remedy(class: &str) -> &'static str {
    let row = REMEDIES.iter().find(|(name, _)| *name == class);
    row.map_or("read the library's message, and check the arguments that it names", |row| row.1)
}

const REMEDIES: &[(&str, &str)] = &[
    (
        "MPI_ERR_TRUNCATE",
        "give the receive room for the longest message that may match it: MPI_Probe and MPI_Get_count tell how long \
         it is; and check that sender and receiver agree on count, datatype and tag",
    ),
    (
        "MPI_ERR_BUFFER",
        "pass memory that this rank has allocated: null is allowed only where the count is 0, and two buffers of one \
         call must not be the same (MPI_IN_PLACE is there for that)",
    ),
    (
        "MPI_ERR_COUNT",
        "check how the count is computed: it must not be negative, nor overflow an int",
    ),
    (
        "MPI_ERR_TYPE",
        "commit the datatype before, by MPI_Type_commit, and free it after its last use",
    ),
    (
        "MPI_ERR_TAG",
        "use tags from 0 to MPI_TAG_UB, an attribute of MPI_COMM_WORLD; MPI_ANY_TAG is for receives alone",
    ),
    (
        "MPI_ERR_COMM",
        "check that the communicator was made, has not been freed, and has this rank as a member: on others it is \
         MPI_COMM_NULL",
    ),
    (
        "MPI_ERR_RANK",
        "ranks are those of the call's communicator, from 0 to its size minus 1: check how the peer is computed",
    ),
    (
        "MPI_ERR_REQUEST",
        "check that the request was started and has been neither completed nor freed",
    ),
    ("MPI_ERR_ROOT", "the root is a rank of the call's communicator, the same on all of them"),
    ("MPI_ERR_GROUP", "check that the group was made and has not been freed"),
    (
        "MPI_ERR_OP",
        "use an operation that the datatype allows, or one of MPI_Op_create that has not been freed",
    ),
    (
        "MPI_ERR_TOPOLOGY",
        "use a communicator that MPI_Cart_create, MPI_Graph_create or MPI_Dist_graph_create has made",
    ),
    ("MPI_ERR_DIMS", "check the number of dimensions, and each of their sizes"),
    (
        "MPI_ERR_OTHER",
        "read the library's message: often there is no room for more communicators, windows or requests, so free what \
         is no longer needed; or another rank has failed",
    ),
    (
        "MPI_ERR_INTERN",
        "read the library's message: often it has no room for more communicators, windows or requests, so free what is \
         no longer needed",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_first() {
        assert_eq!(class("MPI_ERR_TRUNCATE: rank 1's message"), Some("MPI_ERR_TRUNCATE"));
        assert_eq!((class(""), class("the program has made")), (None, None));
        assert!(REMEDIES.iter().all(|(name, _)| class(name) == Some(name)));
    }
}
