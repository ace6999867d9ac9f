//! Transfer functions of calls in the rank-divergence analysis.
//!
//! Calls of functions of the program, which are looked at with what they are given, and of
//! libraries.

use super::Analysis;
use super::context::Call;
use super::pass::{Pass, value};
use crate::collectives::comm::{Labels, OTHER};
use crate::collectives::mod_ref::digested;
use crate::collectives::sources::{DIFFERS, tells_of_file};
use crate::collectives::stored::Stored;
use crate::library::Library;
use crate::openmp::{Runtime, runtime};
use commsan_ir::{Callee, Inst, InstId, Op, Value};

impl Analysis<'_, '_> {
    /// What a call of anything but MPI does to labels.
    pub(super) fn call(
        &mut self,
        pass: &mut Pass,
        id: InstId,
        inst: &Inst,
        control: Labels,
        params: &[Labels],
        memory: &mut Stored,
    ) -> Labels {
        let labels: Vec<_> =
            inst.args.iter().map(|arg| value(*arg, &pass.values, params)).collect();
        let calls = self.comms.calls;
        if let Some(mpi) = calls.at(inst) {
            return self.mpi(pass, id, inst, mpi, &labels, control, memory);
        }
        let together = labels.iter().fold(0, |a, b| a | b);
        let args = inst.args.to_vec();
        let asked = runtime(self.comms.program, inst);
        let is_region = matches!(asked, Some(Runtime::Fork(_)));
        let (callees, labels, args) = match asked {
            // The thread's numbers come first; they are the same on all ranks.
            Some(Runtime::Fork(Some(callee))) => {
                let passed = labels.iter().skip(3).copied();
                let numbers = [Value::Opaque; 2].into_iter();
                let args = numbers.chain(args.into_iter().skip(3)).collect();
                (vec![callee], [0, 0].into_iter().chain(passed).collect(), args)
            }
            Some(_) => return 0,
            None => match self.comms.points_to.callees(pass.function, inst) {
                Some(callees) => (callees, labels, args),
                None => (Vec::new(), labels, args),
            },
        };
        let program = self.comms.program;
        let mut defined = callees;
        defined.retain(|callee| program[*callee].body.is_some());
        let known = !defined.is_empty();
        // Where nothing differs, nothing changes.
        defined.retain(|callee| self.relevant.contains(callee));
        if known && defined.is_empty() {
            return 0;
        }
        if defined.is_empty() {
            // Somebody else's: what it returns follows from what it is given; what it stores is
            // taken not to, but to be stored on some ranks only.
            let name = match inst.op {
                Op::Call(Callee::Direct(callee)) => &*program[callee].name,
                _ => "",
            };
            if control != 0 {
                for arg in Library::of(name).written(&inst.args) {
                    let targets = self.targets(pass.at(), *arg);
                    pass.add(memory, &targets, control);
                }
            }
            let mut content = 0;
            for array in digested(program, inst) {
                content |= memory.read(&self.mod_ref.arrays(self.comms, pass.function, *array));
            }
            if tells_of_file(name) {
                return 0;
            }
            return together | content | if DIFFERS.contains(&name) { OTHER } else { 0 };
        }
        let mut result = 0;
        let before = memory.clone();
        for (place, callee) in defined.iter().enumerate() {
            let mut params = labels.clone();
            params.resize(program[*callee].params as usize, 0);
            let pointed = self.pointed(pass.at(), &args, *callee);
            let handed = if is_region { self.handed(pass.at(), &args) } else { Vec::new() };
            let number = self.context(*callee, Call { control, params, pointed, handed });
            let context = &mut self.contexts[number];
            context.callers.insert(pass.number);
            if !context.entered.is_of(&before) {
                context.entered = before.version();
                let footprint = self.mod_ref.get(*callee);
                if context.entry.join(&before.within(&footprint)) {
                    self.queue(number);
                }
            }
            self.settle(number);
            let context = &self.contexts[number];
            result |= context.result;
            for object in &context.touched {
                pass.touched.insert(*object);
                if place == 0 {
                    memory.take(*object, &context.exit);
                } else {
                    memory.take_also(*object, &context.exit);
                }
            }
        }
        result
    }
}
