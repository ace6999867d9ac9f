//! Converts violations along the paths of an operation into findings.

use super::effects::{Called, View};
use super::found::{Found, Overlap, Violation};
use super::operation::Operation;
use super::walk::Walker;
use crate::places;
use commsan_findings::{Code, Finding, Role, Site};
use commsan_ir::{BlockId, InstId, Op, Place, Value};
use commsan_mpi_calls::Effect;
use rustc_hash::FxHashSet;

/// Findings about an operation.
pub fn findings(walker: &Walker, operation: &Operation, found: &Found) -> Vec<Finding> {
    let reporter = Reporter { walker, view: walker.view, operation, found };
    let mut violation: Vec<_> =
        found.violations.iter().map(|(at, overlap)| (*at, *overlap)).collect();
    violation.sort_unstable_by_key(|((violation, id), _)| (*id, *violation));
    let found = violation.into_iter().filter_map(|((violation, id), overlap)| {
        if violation == Violation::Ends { None } else { reporter.finding(violation, id, overlap) }
    });
    found.chain(reporter.never_completed()).collect()
}

/// Maximum number of conditions that a finding names.
const MAX_CAUSES: usize = 3;

struct Reporter<'r, 'w, 'p> {
    walker: &'r Walker<'w, 'p>,
    view: &'w View<'p>,
    operation: &'r Operation,
    found: &'r Found,
}

/// What is said of a kind of finding.
struct Words {
    code: Code,
    role: Role,
    /// What happens there: `writes`, …
    message: String,
    label: String,
    consequence: &'static str,
    help: &'static str,
}

impl Reporter<'_, '_, '_> {
    fn finding(&self, violation: Violation, id: InstId, overlap: Overlap) -> Option<Finding> {
        if violation == Violation::Overwrites && self.operation.copied
            || !self.is_credible(violation, id)
        {
            return None;
        }
        let sure = overlap == Overlap::Certain && !self.found.complete.contains(&id);
        let causes = if sure { Vec::new() } else { self.causes(id)? };
        if overlap == Overlap::Perhaps && (causes.is_empty() || !matters(violation)) {
            return None;
        }
        let words = self.words(violation, id);
        let mut sites = vec![self.site(id, words.role, words.label)];
        sites.push(self.operation_site(violation));
        sites.extend(causes.iter().map(|id| self.cause(*id)));
        let why = self.why(id, words.consequence, &causes);
        let help = words.help.to_owned();
        let finding = places::finding(words.code, words.message, sites, why, help);
        Some(Finding { possible: !sure, ..finding })
    }

    /// The start of the operation.
    fn operation_site(&self, violation: Violation) -> Site {
        let (verb, call) = (self.verb(violation), self.call());
        let label = format!("{call} starts to {verb} the buffer");
        self.site(self.operation.start, Role::Operation, label)
    }

    fn verb(&self, violation: Violation) -> &'static str {
        let buffers = &self.operation.buffers;
        let partial = match violation {
            Violation::Reads(n) | Violation::Writes(n) => {
                Some(&buffers[n]).filter(|buffer| buffer.partial)
            }
            _ => None,
        };
        let writes = match partial {
            Some(buffer) => buffer.writes,
            None => buffers.iter().any(|buffer| buffer.writes && !buffer.partial),
        };
        if writes { "write" } else { "read" }
    }

    fn call(&self) -> &str {
        self.name(self.operation.described)
    }

    fn name(&self, id: InstId) -> &str {
        match (self.view.called(id), &self.view.flat.body[id].op) {
            (Some(Called::Mpi(mpi)), _) => &mpi.name,
            (_, Op::Call(commsan_ir::Callee::Direct(callee))) => &self.view.program[*callee].name,
            (_, Op::Copy) => "memcpy",
            (_, Op::Fill) => "memset",
            (_, Op::Load(_)) => "the read",
            _ => "the write",
        }
    }

    fn words(&self, violation: Violation, id: InstId) -> Words {
        let call = self.call();
        let function = &self.view.program[self.view.function(id)].shown;
        let using = self.using(violation);
        let name = self.name(id);
        let who = match self.view.called(id) {
            Some(_) => format!("{name} in `{function}`"),
            None => format!("`{function}`"),
        };
        let access = |verb: &str| match self.view.flat.body[id].op {
            Op::Load(size) | Op::Store(size) | Op::Atomic(size) => format!("{size}-byte {verb}"),
            _ => format!("{name}, {verb}"),
        };
        let (code, complete) = (self.code(violation), self.complete());
        let words = |role, message, label, consequence, help| Words {
            code,
            role,
            message,
            label,
            consequence,
            help,
        };
        match violation {
            Violation::Reads(_) => words(
                Role::Access,
                format!("{who} reads the buffer that {call} {using}"),
                access("read"),
                ", so it sees old data, new data or a mixture",
                complete,
            ),
            Violation::Writes(_) => words(
                Role::Access,
                format!("{who} writes the buffer that {call} {using}"),
                access("write"),
                "",
                complete,
            ),
            Violation::Call(_, writes) => words(
                Role::Access,
                format!(
                    "{who} {} the buffer that {call} {using}",
                    if writes { "writes" } else { "reads" }
                ),
                format!("{name} {} the buffer", if writes { "writes" } else { "reads" }),
                ", and two operations may use the same bytes only if both read them",
                "give each operation its own part of the buffer, or complete the first before the \
                 second starts",
            ),
            Violation::Releases(_) => words(
                Role::Release,
                format!("{who} releases the buffer that {call} {using}"),
                format!("{name} releases the buffer"),
                ", so MPI continues to access memory that may be reused",
                complete,
            ),
            Violation::Returns(_) => words(
                Role::Return,
                format!("`{function}` returns while {call} {using} a buffer on its stack"),
                format!("`{function}` returns here"),
                ", and the functions called next use the same memory",
                "complete the operation before the function returns, or use a buffer that lives \
                 longer: static, on the heap, or the caller's",
            ),
            Violation::Overwrites => words(
                Role::Overwrite,
                format!("{who} overwrites the request of {call}, which is still active"),
                format!("{name} stores its own request in the same variable"),
                ", and then no call can complete the first operation any more",
                "complete the request before its variable is used again, or keep each request in \
                 its own element of an array and complete all by MPI_Waitall",
            ),
            Violation::Starts | Violation::Ends => words(
                Role::Access,
                format!("{who} starts the persistent request of {call}, which is still active"),
                format!("{name} starts the active request again"),
                "",
                "complete the request (MPI_Wait, or MPI_Test returning true) before starting it \
                 again",
            ),
        }
    }

    fn code(&self, violation: Violation) -> Code {
        let one_sided = self.operation.one_sided;
        let written = |number: usize| self.operation.buffers[number].writes;
        match violation {
            Violation::Reads(buffer) | Violation::Writes(buffer) if one_sided => {
                match written(buffer) {
                    true => Code::ResultBufferUsed,
                    false => Code::OriginBufferWritten,
                }
            }
            Violation::Reads(_) => Code::ReceiveBufferRead,
            Violation::Writes(buffer) => match written(buffer) {
                true => Code::ReceiveBufferWritten,
                false => Code::SendBufferWritten,
            },
            Violation::Call(..) => Code::OperationsOverlap,
            Violation::Releases(_) => Code::PendingBufferFreed,
            Violation::Returns(_) => Code::PendingStackBuffer,
            Violation::Overwrites => Code::RequestOverwritten,
            Violation::Starts => Code::ActiveRequestStarted,
            Violation::Ends => Code::RequestNeverCompleted,
        }
    }

    fn using(&self, violation: Violation) -> &'static str {
        let buffer = match violation {
            Violation::Reads(n) | Violation::Writes(n) | Violation::Call(n, _) => Some(n),
            Violation::Releases(n) | Violation::Returns(n) => Some(n),
            _ => None,
        };
        let writes = buffer.is_some_and(|buffer| self.operation.buffers[buffer].writes);
        match (writes, self.operation.one_sided) {
            (true, true) => "is still writing to",
            (true, false) => "is still receiving into",
            (false, true) => "is still reading",
            (false, false) => "is still sending",
        }
    }

    fn complete(&self) -> &'static str {
        let described = self.view.row(self.operation.described);
        if described.is_some_and(|(_, call)| call.effect == Effect::SplitBegin) {
            return "end the operation before (the call that ends in `_end`), or use a second buffer";
        }
        match self.operation.one_sided {
            true => {
                "complete the operation before (MPI_Win_flush_local, MPI_Win_flush, or the end of the \
                 epoch), or use a second buffer"
            }
            false => {
                "complete the request before (MPI_Wait, or MPI_Test returning true), or use a second \
                 buffer"
            }
        }
    }

    fn why(&self, id: InstId, consequence: &str, causes: &[InstId]) -> String {
        let started = self.at(self.operation.start);
        let start = places::line(self.view.program, started, None);
        let here = places::line(self.view.program, self.at(id), Some(started));
        let which = match causes {
            [] => "on every way from there to".to_owned(),
            [only] if self.is_test(*only) => {
                let line = places::line(self.view.program, self.at(*only), Some(started));
                format!("unless {} at {line} has returned true, on the way to", self.name(*only))
            }
            conditions => {
                let line =
                    |id: &InstId| places::line(self.view.program, self.at(*id), Some(started));
                let mut lines: Vec<_> = conditions.iter().map(line).collect();
                lines.dedup();
                format!(
                    "where the condition at {} skips its completion, on the way to",
                    lines.join(", ")
                )
            }
        };
        let what = match self.operation.one_sided {
            true => "no flush and no end of the epoch completes it",
            false => "no call completes its request",
        };
        format!("the operation starts at {start}, and {which} {here} {what}{consequence}")
    }

    fn is_test(&self, id: InstId) -> bool {
        self.found.tests.contains(&id)
    }

    /// What decides that the operation is complete at a place, or not. None if that may depend on
    /// the operation itself, so that the program may know what it does.
    fn causes(&self, id: InstId) -> Option<Vec<InstId>> {
        let mut causes = Vec::new();
        for call in self.found.by.iter().chain(&self.found.tests) {
            if !self.leads_to(*call, id) {
                continue;
            }
            let Some(branch) = self.decides(*call, id) else { continue };
            if !self.is_independent(branch, id) {
                return None;
            }
            causes.push(branch);
        }
        if causes.is_empty() {
            let tests = self.found.tests.iter().copied();
            causes.extend(tests.filter(|test| self.leads_to(*test, id)));
        }
        causes.sort_unstable();
        causes.dedup();
        causes.truncate(MAX_CAUSES);
        (!causes.is_empty()).then_some(causes)
    }

    /// Whether a place is reached after a call without the operation being started again.
    fn leads_to(&self, call: InstId, id: InstId) -> bool {
        let body = &self.view.flat.body;
        let (from, to) = (self.block(call), self.block(id));
        let start = self.block(self.operation.start);
        let place = |id: InstId| body[self.block(id)].code.iter().position(|other| *other == id);
        if from == to && place(call) < place(id) {
            return true;
        }
        let mut open = body[from].next.to_vec();
        let mut seen = FxHashSet::default();
        while let Some(block) = open.pop() {
            let again = block == start && place(self.operation.start) < place(id);
            if block == to && !again {
                return true;
            }
            if block != start && seen.insert(block) {
                open.extend(&body[block].next);
            }
        }
        false
    }

    /// Whether the place is reached by conditions that were understood: not by what is in memory
    /// that could not be followed, since that may say that the operation is pending. Memory is
    /// released on conditions that belong to who manages it; these are never understood.
    fn is_credible(&self, violation: Violation, id: InstId) -> bool {
        let ways = self.walker.ways;
        let (block, start) = (self.block(id), self.block(self.operation.start));
        let releases = matches!(violation, Violation::Releases(_));
        let mut at = Some(block);
        while let Some(below) = at {
            at = ways.dominators[below.0 as usize];
            let Some(branch) = at.filter(|at| !ways.post_dominates(block, *at)) else { continue };
            if branch != start && ways.dominates(branch, start) {
                break;
            }
            let next = &self.view.flat.body[branch].next;
            let leaves = ways.around(branch).any(|l| next.iter().any(|n| !l.blocks.contains(n)));
            if next.len() > 1 && !leaves && (releases || !self.is_understood(branch)) {
                return false;
            }
        }
        true
    }

    fn is_understood(&self, branch: BlockId) -> bool {
        let body = &self.view.flat.body;
        let mut open = body.end(branch).map(|end| end.args.to_vec()).unwrap_or_default();
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            let Value::Inst(id) = value else { continue };
            if !seen.insert(id) {
                continue;
            }
            match body[id].op {
                Op::Load(_) if !self.view.made_up.contains(&id) => return false,
                Op::Cast | Op::Compare(_) | Op::Binary(_) | Op::Select => {
                    open.extend(&body[id].args);
                }
                _ => {}
            }
        }
        true
    }

    /// The condition after the start that decides whether a call is reached.
    fn decides(&self, call: InstId, _: InstId) -> Option<InstId> {
        let ways = self.walker.ways;
        let block = self.block(call);
        let start = self.block(self.operation.start);
        let mut at = ways.dominators[block.0 as usize];
        while let Some(branch) = at {
            let end = self.view.flat.body[branch].code.last().copied()?;
            let splits = self.view.flat.body[branch].next.len() > 1;
            if splits && !ways.post_dominates(block, branch) {
                // Before the start it has let both happen.
                let after = branch == start || !ways.dominates(branch, start);
                return after.then_some(end);
            }
            at = ways.dominators[branch.0 as usize];
        }
        None
    }

    /// Whether a condition depends on nothing that happens after the start, calls of others
    /// excepted.
    fn is_independent(&self, branch: InstId, access: InstId) -> bool {
        let mut open = self.view.flat.body[branch].args.to_vec();
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            let Value::Inst(id) = value else { continue };
            if !seen.insert(id) || self.is_settled(id, access) {
                continue;
            }
            let inst = &self.view.flat.body[id];
            match inst.op {
                Op::Cast | Op::Compare(_) | Op::Binary(_) | Op::Select => open.extend(&inst.args),
                // Of several returns of a function.
                Op::Phi(_) if self.is_result(id) => {
                    let conditions = self.conditions_of(id);
                    open.extend(inst.args.iter().copied().chain(conditions));
                }
                Op::Call(_) if self.view.row(id).is_none() => {}
                _ => return false,
            }
        }
        true
    }

    /// Whether a value is computed before the start and stays so up to the access.
    fn is_settled(&self, id: InstId, access: InstId) -> bool {
        let ways = self.walker.ways;
        let (block, start) = (self.block(id), self.block(self.operation.start));
        if block.0 == u32::MAX || !ways.dominates(block, start) {
            return false;
        }
        let access = self.block(access);
        let both = ways.around(start).filter(|around| around.blocks.contains(&access));
        let mut again = both.filter(|around| around.blocks.contains(&block));
        !matches!(self.view.flat.body[id].op, Op::Load(_)) && again.next().is_none()
    }

    /// Whether a phi joins what a called function returns, or the sides of `&&` and `||`.
    fn is_result(&self, id: InstId) -> bool {
        let body = &self.view.flat.body;
        let block = self.block(id);
        // No loop begins there.
        !self.walker.ways.loops.iter().any(|around| around.header == block)
            && matches!(body[id].op, Op::Phi(_))
    }

    /// What decides which way a phi is reached.
    fn conditions_of(&self, id: InstId) -> Vec<Value> {
        let body = &self.view.flat.body;
        let Op::Phi(from) = &body[id].op else { return Vec::new() };
        let Some(top) = self.walker.ways.dominators[self.block(id).0 as usize] else {
            return Vec::new();
        };
        let mut conditions = Vec::new();
        for block in from {
            let mut at = Some(*block);
            while let Some(block) = at {
                let branch =
                    body.end(block).filter(|end| matches!(end.op, Op::Branch | Op::Switch(_)));
                conditions.extend(branch.and_then(|end| end.args.first()).copied());
                at = self.walker.ways.dominators[block.0 as usize].filter(|_| block != top);
            }
        }
        conditions
    }

    fn block(&self, id: InstId) -> BlockId {
        self.walker.blocks.get(id.0 as usize).copied().unwrap_or(BlockId(u32::MAX))
    }

    /// The request that is never completed, or only on one side of a condition.
    fn never_completed(&self) -> Option<Finding> {
        let found = self.found;
        let (_, call) = self.view.row(self.operation.described)?;
        let has_request = call.at.request.is_some() && !self.operation.one_sided;
        let ends = found.violations.keys().filter(|(violation, _)| *violation == Violation::Ends);
        let end = ends.map(|(_, id)| *id).min()?;
        let ever = !found.by.is_empty() || !found.tests.is_empty();
        let other = |(violation, _): &(Violation, InstId)| match violation {
            Violation::Overwrites | Violation::Starts => true,
            violation => ever && *violation != Violation::Ends,
        };
        if !has_request
            || found.lost
            || found.violations.keys().any(other)
            || call.effect == Effect::Rma
        {
            return None;
        }
        if !self.view.is_own_request(self.operation) || self.operation.copied {
            return None;
        }
        let causes = if ever { self.left_out(end)? } else { Vec::new() };
        let name = self.call();
        let start = self.at(self.operation.start);
        let started = places::line(self.view.program, start, None);
        let line = |id: &InstId| places::line(self.view.program, self.at(*id), Some(start));
        let which = match causes.iter().map(line).collect::<Vec<_>>() {
            lines if lines.is_empty() => "none does on any way to the end".to_owned(),
            lines => format!(
                "none does where the condition at {} skips its completion",
                lines.join(", ")
            ),
        };
        let why = format!(
            "the operation starts at {started}; it is complete only when MPI_Wait, MPI_Test or a \
             variant of them says so, and {which}"
        );
        let message = match ever {
            true => format!("on some ways no call completes the request of {name}"),
            false => format!("no call completes the request of {name}"),
        };
        let mut sites = vec![self.operation_site(Violation::Ends)];
        sites.extend(causes.iter().map(|id| self.cause(*id)));
        let finding = places::finding(
            Code::RequestNeverCompleted,
            message,
            sites,
            why,
            "keep the request and complete it before MPI_Finalize, e.g. by MPI_Wait or MPI_Waitall"
                .to_owned(),
        );
        Some(Finding { possible: ever, ..finding })
    }

    /// Conditions that leave out the completion of an operation which always starts, once, and that
    /// are settled when it does. What a test says is none of them.
    fn left_out(&self, end: InstId) -> Option<Vec<InstId>> {
        let ways = self.walker.ways;
        let start = self.block(self.operation.start);
        let once = ways.post_dominates(start, BlockId(0)) && ways.around(start).next().is_none();
        let causes = self.causes(end).filter(|_| once && self.found.tests.is_empty())?;
        // What other functions say may be why.
        (!causes.iter().any(|id| self.asks_others(*id))).then_some(causes)
    }

    /// Whether a condition depends on the result of a call.
    fn asks_others(&self, branch: InstId) -> bool {
        let body = &self.view.flat.body;
        let mut open = body[branch].args.to_vec();
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            let Value::Inst(id) = value else { continue };
            match body[id].op {
                Op::Call(_) => return true,
                _ if seen.insert(id) => open.extend(&body[id].args),
                _ => {}
            }
        }
        false
    }

    fn cause(&self, id: InstId) -> Site {
        let label = match self.is_test(id) {
            true => format!("{} may return false", self.name(id)),
            false => "this condition skips the completion".to_owned(),
        };
        self.site(id, Role::Cause, label)
    }

    fn at(&self, id: InstId) -> Place {
        self.view.flat.body[id].at
    }

    /// A site with the calls that lead there.
    fn site(&self, id: InstId, role: Role, label: String) -> Site {
        let program = self.view.program;
        let mut site = places::at(program, self.view.function(id), self.at(id), role, label);
        let mut frame = self.view.flat.origin(id).map_or(0, |(frame, _)| frame);
        while let Some((caller, place)) = self.view.flat.frames[frame].caller {
            let function = self.view.flat.frames[caller].function;
            if places::is_around_program(program, function) {
                break;
            }
            site.stack.push(places::frame(program, function, place));
            frame = caller;
        }
        site
    }
}

/// Whether an access somewhere in the same object is worth a suspicion.
fn matters(violation: Violation) -> bool {
    matches!(violation, Violation::Reads(_) | Violation::Writes(_))
}
