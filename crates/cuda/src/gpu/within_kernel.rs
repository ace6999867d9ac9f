//! What threads of one kernel do wrong, as a simulated device finds it: races with each other,
//! misuse of barriers, reads of memory that nobody has written. **Soundness.** All of it has been
//! executed; what is a mistake, and what is missed, `commsan-kernel-checks` says.

use super::check::allocation;
use super::{Gpu, Ticket};
use crate::memory::Block;
use crate::work::Line;
use commsan_callsite::{Findings, Report};
use commsan_findings::record::{RawAccess, RawArgument, RawOperation, RawWork};
use commsan_findings::{Code, Role};
use commsan_shadow::Mode;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// One or two instructions of a kernel that do something wrong.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Of which kind.
    pub code: Code,
    /// What they do, in words; of two the later one first.
    pub what: String,
    /// The memory in words, if it is shared memory.
    pub shared: Option<String>,
    /// Why that is wrong.
    pub why: String,
    /// Where in the source they are, the later one first.
    pub lines: [Option<Line>; 2],
    /// Their instructions, where no line is known.
    pub instructions: [u32; 2],
    /// What the later one does to which bytes, if that is global memory.
    pub access: Option<(Mode, Range<usize>)>,
}

impl Gpu {
    /// Threads of a kernel do something wrong.
    pub fn mistaken(&self, ticket: Ticket, mistake: &Mistake, out: &mut dyn Findings) {
        let Some(launched) = self.launches.get(ticket) else { return };
        let code = mistake.code;
        let block = mistake.access.as_ref().and_then(|(_, bytes)| self.memory.around(bytes.start));
        let site = launched.site;
        // A variable of the program is allocated by no call.
        let is_variable = |block: &&Block| block.site.call.is_none_or(|call| call.starts_with('_'));
        let allocated = block.filter(|block| !is_variable(block));
        let offender = if allocated.is_some() { site.pc } else { 0 };
        let key = mistake.key(site.pc);
        if out.again(code, offender, key) {
            return;
        }
        let mut sites = vec![(Role::Access, site)];
        let operation = match allocated {
            Some(block) => {
                sites.push((Role::Operation, block.site));
                allocation(block.site, &block.bytes)
            }
            None => RawOperation::of(launched.call),
        };
        let memory = match (&mistake.shared, &mistake.access, block) {
            (Some(shared), ..) => shared.clone(),
            (None, Some((_, bytes)), Some(block)) => {
                let (offset, size) = (bytes.start - block.bytes.start, block.bytes.len());
                let call = block.site.call.unwrap_or("an allocation");
                let of = if is_variable(&block) { "a __device__ variable" } else { call };
                format!("offset {offset} of the {size} bytes of {of}")
            }
            (None, Some(_), None) => "global memory".to_owned(),
            (None, None, _) => String::new(),
        };
        let colon = if memory.is_empty() { "" } else { ": " };
        let [later, earlier] = &mistake.lines;
        let (access, other) = (launched.at(later.as_ref()), launched.at(earlier.as_ref()));
        let is_two = mistake.lines[0] != mistake.lines[1];
        let report = Report {
            access: mistake
                .access
                .as_ref()
                .map(|(mode, bytes)| RawAccess::new(&launched.kernel, mode.is_write(), bytes)),
            argument: Some(RawArgument::new(
                &mistake.why,
                format!("{memory}{colon}{}", mistake.what),
                None,
            )),
            work: Some(RawWork::new(Some(&access), is_two.then_some(&other))),
            ..Report::new(code, operation, sites)
        };
        out.report(report, key, &self.stacks);
    }
}

impl Mistake {
    /// Tells mistakes of a launch apart, as the source does.
    fn key(&self, launch: usize) -> usize {
        let mut hasher = rustc_hash::FxHasher::default();
        launch.hash(&mut hasher);
        for (line, instruction) in self.lines.iter().zip(self.instructions) {
            match line {
                Some(Line { file, line }) => (file, line).hash(&mut hasher),
                None => instruction.hash(&mut hasher),
            }
        }
        hasher.finish() as usize
    }
}
