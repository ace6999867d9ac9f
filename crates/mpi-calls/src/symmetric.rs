//! The calls of OpenSHMEM as rows behind those of MPI.

use crate::{Call, Effect, Fit, Flow, Param, Positions, Role};
use commsan_shmem_calls::{CALLS, Kind, Passed};

/// All of them; the first has this row.
pub(crate) fn calls(first: u32) -> impl Iterator<Item = Call> {
    (first..).zip(&*CALLS).map(|(row, of)| Call {
        name: of.name.clone(),
        params: of.params.iter().map(param).collect(),
        effect: Effect::Symmetric,
        accesses: Vec::new(),
        large: false,
        collective: false,
        flow: Flow::None,
        synchronous: false,
        row,
        kind: row,
        enters: of.kind.is_collective(),
        waits: of.kind.waits(),
        fit: Fit::Nothing,
        parts: false,
        // Parameters with names that MPI has are others.
        at: Positions::of(&[]),
        simple: false,
        sent: None,
        received: None,
        demands: Vec::new(),
        pointees: Vec::new(),
        alike: (0..of.params.len()).filter(|at| of.params[*at].alike).collect(),
        makes: None,
        frees: None,
        calls_back: false,
        has_arrays: false,
        makes_handler: false,
        sets_handler: false,
        explains_errors: false,
        symmetric: Some(of),
    })
}

fn param(of: &commsan_shmem_calls::Param) -> Param {
    let role = match of.passed {
        Passed::Int => Role::Int,
        Passed::Long | Passed::Size | Passed::Stride | Passed::Value(_) => Role::Offset,
        Passed::Pointer => Role::Handle,
    };
    Param { name: of.name.to_owned(), role, alike: of.alike }
}

impl Call {
    /// What a call of OpenSHMEM does.
    pub fn symmetric_kind(&self) -> Option<Kind> {
        self.symmetric.map(|call| call.kind)
    }
}
