//! How much of a program's communication a static analysis has followed.

use serde::{Deserialize, Serialize};

/// How many of the calls that start operations an analysis has followed: without this, no findings
/// may mean that there was nothing to find, or that nothing was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followed {
    /// Calls that start nonblocking, persistent or one-sided operations.
    pub started: usize,
    /// Those whose buffers were compared with all accesses up to the completion.
    pub operations: usize,
    /// Those whose operations have requests.
    pub requests: usize,
    /// Those whose requests were followed to the calls that complete them.
    pub requests_followed: usize,
    /// Those of which something was not followed, by their places.
    pub not_followed: Vec<Unfollowed>,
}

/// A call whose operation was not followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unfollowed {
    /// Its file, as the debug information names it.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// Its name.
    pub call: String,
    /// Why not.
    pub why: Why,
}

/// Why an operation was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The budget for different paths is spent.
    TooManyPaths,
    /// A call that is not analysed may complete it.
    UnknownCall,
    /// It is not known where its request is.
    Request,
    /// It is not known which bytes its buffer has.
    Buffer,
    /// It is not known which call has made its persistent request.
    Persistent,
    /// The program handles errors of the call, so that there may be no operation.
    Errors,
}

impl Why {
    /// All reasons.
    pub const ALL: [Why; 6] = [
        Why::TooManyPaths,
        Why::UnknownCall,
        Why::Request,
        Why::Buffer,
        Why::Persistent,
        Why::Errors,
    ];

    /// The reason as a clause.
    pub fn text(self) -> &'static str {
        match self {
            Why::TooManyPaths => "there are too many paths from it",
            Why::UnknownCall => "a call that is not analysed may complete it",
            Why::Request => "where its request is kept is not known",
            Why::Buffer => "which bytes its buffer has is not known",
            Why::Persistent => "which call has made its request is not known",
            Why::Errors => "the program handles its errors",
        }
    }
}

impl Followed {
    /// Adds what was followed in another program; calls that both contain are counted in each.
    pub fn add(&mut self, other: Followed) {
        self.started += other.started;
        self.operations += other.operations;
        self.requests += other.requests;
        self.requests_followed += other.requests_followed;
        self.not_followed.extend(other.not_followed);
        self.not_followed.sort();
        self.not_followed.dedup();
    }
}
