//! Constructors of what findings consist of.

use super::{
    RawAccess, RawArgument, RawCollective, RawDoing, RawFinding, RawOperation, RawVariable, RawWork,
};
use crate::{Code, Problem};
use std::borrow::Cow;
use std::ops::Range;

impl<'a, S: Clone> RawFinding<'a, S> {
    /// A finding about an operation without any details. The offending site comes first; the number
    /// is for the recorder to choose.
    pub fn new(code: Code, operation: RawOperation<'a>, sites: impl Into<Vec<S>>) -> Self {
        RawFinding {
            id: 0,
            code,
            access: None,
            operation,
            sites: Cow::Owned(sites.into()),
            threads: false,
            collective: None,
            level: None,
            argument: None,
            work: None,
            time: None,
        }
    }
}

impl<'a> RawAccess<'a> {
    /// An access to these bytes.
    pub fn new(by: &'a str, write: bool, bytes: &Range<usize>) -> RawAccess<'a> {
        let (addr, size) = (bytes.start as u64, bytes.len() as u64);
        RawAccess { by: Cow::Borrowed(by), write, addr, size, peer: None }
    }
}

impl<'a> RawOperation<'a> {
    /// An operation known by its call only.
    pub fn of(call: &'a str) -> RawOperation<'a> {
        RawOperation {
            call: Cow::Borrowed(call),
            write: false,
            addr: 0,
            size: 0,
            bytes: 0,
            peer: None,
            tag: None,
            window: None,
            base: None,
        }
    }

    /// The operation with the access that a finding is about: its span, and how many of these bytes
    /// it touches.
    pub fn with_access(self, write: bool, span: &Range<usize>, bytes: usize) -> RawOperation<'a> {
        let (addr, size, bytes) = (span.start as u64, span.len() as u64, bytes as u64);
        RawOperation { write, addr, size, bytes, ..self }
    }
}

impl<'a> RawCollective<'a> {
    /// What two calls have in common that are no particular collective.
    pub fn on(on: impl Into<Cow<'a, str>>) -> RawCollective<'a> {
        RawCollective { on: on.into(), number: 0, passed: None, between_groups: false }
    }
}

impl<'a> RawArgument<'a> {
    /// An argument, and what is wrong with it in words.
    pub fn new(
        parameter: &'a str,
        problem: impl Into<Cow<'a, str>>,
        kind: Option<Problem>,
    ) -> RawArgument<'a> {
        RawArgument { parameter: Cow::Borrowed(parameter), problem: problem.into(), kind }
    }
}

impl<'a> RawWork<'a> {
    /// What streams do on either side.
    pub fn new<T: AsRef<str>>(
        access: Option<&'a RawDoing<T>>,
        operation: Option<&'a RawDoing<T>>,
    ) -> RawWork<'a> {
        let [access, operation] = [access, operation].map(|side| side.map(RawDoing::borrowed));
        RawWork { access, operation }
    }
}

impl<T: AsRef<str>> RawDoing<T> {
    fn borrowed(&self) -> RawDoing<Cow<'_, str>> {
        fn borrow<T: AsRef<str>>(text: &T) -> Cow<'_, str> {
            Cow::Borrowed(text.as_ref())
        }
        let RawDoing { kernel, stream, file, line } = self;
        RawDoing {
            kernel: kernel.as_ref().map(borrow),
            stream: borrow(stream),
            file: file.as_ref().map(borrow),
            line: *line,
        }
    }
}

impl<A> RawVariable<A> {
    /// The variable with its address as `to` locates it.
    pub fn locate<B>(self, to: impl FnOnce(A) -> Option<B>) -> Option<RawVariable<B>> {
        Some(match self {
            RawVariable::Local { at, offset } => RawVariable::Local { at: to(at)?, offset },
            RawVariable::Static { at } => RawVariable::Static { at: to(at)? },
            RawVariable::Block { at, offset, size, argument } => {
                RawVariable::Block { at: to(at)?, offset, size, argument }
            }
        })
    }

    /// The address that the variable, or the block's allocation, is known by.
    pub fn at(&self) -> &A {
        let (RawVariable::Local { at, .. }
        | RawVariable::Static { at }
        | RawVariable::Block { at, .. }) = self;
        at
    }
}
