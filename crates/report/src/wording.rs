//! What a finding says: one table, a row for each code.
//!
//! Texts hold placeholders in braces; [`Facts`] fills them from one observation.
//!
//! | placeholder | e.g. |
//! |---|---|
//! | `{who}` | `` `pack` ``, `` `memcpy` in `pack` ``, ``MPI_Irecv in `exchange` `` |
//! | `{by}` | `` `free` ``, `MPI_Irecv`, `the write` |
//! | `{function}` | `` `pack` `` |
//! | `{verb}` | `writes`, `reads` |
//! | `{access}` | `8-byte write`, `` `memcpy` writes 64 bytes `` |
//! | `{range}` | `8 bytes at offset 16 of the 8192-byte buffer` |
//! | `{buffer}` | `8192-byte buffer` |
//! | `{operation}` | `MPI_Isend (to rank 1, tag 7)` |
//! | `{starts}` | `MPI_Isend starts to read 8192 bytes` |
//! | `{using}` | `is still sending`, `is still receiving into` |
//! | `{use}` | `read`, `write` |
//! | `{pending}` | `the operation started at heat.c:40 and is complete only after …` |
//! | `{order}` | `comes before that`, `comes while it is pending` |
//! | `{here}`, `{started}` | `heat.c:52`, `heat.c:40` |

use crate::facts::Facts;
use commsan_model::Code;

/// The texts of one code.
pub struct Wording {
    /// The code.
    pub code: Code,
    /// One sentence about the occurrence.
    pub message: &'static str,
    /// Label of the first site, unless that is the operation.
    pub offence: &'static str,
    /// Label of the operation's site.
    pub operation: &'static str,
    /// Why the sites are not ordered.
    pub why: &'static str,
    /// How to fix it.
    pub help: &'static str,
    /// What else to know when the places are in Fortran.
    pub fortran: &'static str,
}

const MOVED_BY_COMPILER: &str = "; if the access stands after the completing call in the source, the compiler moved it: give \
     the buffer the ASYNCHRONOUS attribute";

/// The table.
pub const WORDINGS: &[Wording] = &[
    Wording {
        code: Code::SendBufferWritten,
        message: "{who} writes {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before writing to the \
               buffer, or write to a second buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::ReceiveBufferRead,
        message: "{who} reads {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so it sees old data, new data or a mixture",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before reading the \
               buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::ReceiveBufferWritten,
        message: "{who} writes {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so either may overwrite the other",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before writing to the \
               buffer, or receive into a second buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::OperationsOverlap,
        message: "{who} {verb} {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, and two operations may use the same bytes only \
              if both read them",
        help: "give each operation its own part of the buffer, or complete the first before the \
               second starts",
        fortran: "",
    },
    Wording {
        code: Code::PendingBufferFreed,
        message: "{who} releases the {buffer} that {operation} {using}",
        offence: "{by} releases the buffer",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so MPI goes on to {use} memory that may belong \
              to something else",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before releasing the \
               buffer",
        fortran: "; if the buffer is an array section or expression, the compiler passed a \
                  temporary copy and released it when the call returned: pass a contiguous array \
                  or describe the section by a derived datatype",
    },
    Wording {
        code: Code::PendingStackBuffer,
        message: "{function} returns while {operation} {using} the {buffer} on its stack",
        offence: "{function} returns here",
        operation: "{starts}",
        why: "{pending}; the return at {here} {order}, and the functions called next use the same \
              memory",
        help: "complete the request before the function returns, or use a buffer that lives \
               longer: static, on the heap, or the caller's",
        fortran: "; in Fortran, SAVE or ALLOCATABLE in a module makes a buffer live longer",
    },
    Wording {
        code: Code::RequestNeverCompleted,
        message: "no call completes the request of {operation}",
        offence: "",
        operation: "{starts}",
        why: "the operation started at {started}; it is complete only when MPI_Wait, MPI_Test or \
              a variant of them says so, and none did before the program ended",
        help: "keep the request and complete it before MPI_Finalize, e.g. by MPI_Wait or \
               MPI_Waitall",
        fortran: "",
    },
    Wording {
        code: Code::RequestOverwritten,
        message: "{who} overwrites the request of {operation}, which is still active",
        offence: "{by} stores its own request in the same variable",
        operation: "{starts}",
        why: "the request of the operation started at {started} was kept only in the variable \
              overwritten at {here}, so no call can complete it any more",
        help: "complete the request before its variable is used again, or keep each request in \
               its own element of an array and complete all by MPI_Waitall",
        fortran: "",
    },
    Wording {
        code: Code::ActiveRequestFreed,
        message: "{who} frees the request of {operation}, which is still active",
        offence: "{by} frees the active request",
        operation: "{starts}",
        why: "without the request nothing tells when the operation started at {started} is \
              complete, so its buffer can never be used safely again; requests of nonblocking \
              collectives must not be freed at all",
        help: "complete the request by MPI_Wait or MPI_Test, which free it, too",
        fortran: "",
    },
    Wording {
        code: Code::ActiveRequestStarted,
        message: "{who} starts the persistent request of {operation}, which is still active",
        offence: "{by} starts the active request again",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before starting it \
               again",
        fortran: "",
    },
];

/// The row of `code`.
pub fn wording(code: Code) -> &'static Wording {
    let row = WORDINGS.iter().find(|wording| wording.code == code);
    row.expect("a test checks that every code has a row")
}

/// `template` with its placeholders replaced.
pub fn fill(template: &str, facts: &Facts<'_>) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(before);
        text.push_str(&facts.get(name).unwrap_or_default());
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row_with_known_placeholders() {
        let codes: Vec<_> = WORDINGS.iter().map(|wording| wording.code).collect();
        assert_eq!(codes, Code::ALL);
        let observation = crate::facts::tests::observation();
        let facts = Facts::of(&observation);
        for row in WORDINGS {
            let texts = [row.message, row.offence, row.operation, row.why, row.help, row.fortran];
            for name in texts.iter().flat_map(|text| text.split('{').skip(1)) {
                let name = name.split_once('}').unwrap().0;
                assert!(facts.get(name).is_some_and(|text| !text.is_empty()), "{name}");
            }
        }
    }
    /// What the report says about a typical finding of each code.
    #[test]
    fn texts_of_all_codes() {
        use commsan_model::Role;
        let mut text = String::new();
        for row in WORDINGS {
            let mut observation = crate::facts::tests::observation();
            observation.finding.code = row.code;
            let (role, by, write) = match row.code {
                Code::SendBufferWritten => (Role::Access, "store", true),
                Code::ReceiveBufferRead => (Role::Access, "memcpy", false),
                Code::ReceiveBufferWritten => (Role::Access, "store", true),
                Code::OperationsOverlap => (Role::Access, "MPI_Irecv", true),
                Code::PendingBufferFreed => (Role::Release, "free", true),
                Code::PendingStackBuffer => (Role::Return, "", false),
                Code::RequestNeverCompleted => (Role::Operation, "", false),
                Code::RequestOverwritten => (Role::Overwrite, "MPI_Isend", false),
                Code::ActiveRequestFreed => (Role::Access, "MPI_Request_free", false),
                Code::ActiveRequestStarted => (Role::Access, "MPI_Start", false),
            };
            observation.finding.access.as_mut().unwrap().by = by.into();
            observation.finding.access.as_mut().unwrap().write = write;
            observation.finding.sites.to_mut()[0].role = role;
            if role == Role::Operation {
                observation.finding.sites.to_mut().remove(0);
                observation.stacks.remove(0);
                observation.completed = None;
            }
            if matches!(row.code, Code::ReceiveBufferRead | Code::ReceiveBufferWritten) {
                observation.finding.operation.call = "MPI_Irecv".into();
                observation.finding.operation.write = true;
            }
            if row.code == Code::ActiveRequestStarted {
                observation.finding.operation.call = "MPI_Start of an MPI_Send_init".into();
            }
            for stack in &mut observation.stacks {
                stack[0].file = Some("/src/heat.f90".to_owned());
            }
            for finding in crate::merge::merge([observation]) {
                let labels: Vec<_> = finding.sites.iter().map(|site| &*site.label).collect();
                text += &format!(
                    "{}: {}\n  {}\n  labels: {}\n  why: {}\n  help: {}\n",
                    finding.code,
                    finding.title,
                    finding.message,
                    labels.join(" | "),
                    finding.why,
                    finding.help
                );
            }
        }
        insta::assert_snapshot!(text);
    }
}
