//! Prints a program as text, for debugging analyses.

use crate::{Body, Callee, Inst, InstId, Op, Program, Value};
use std::fmt::{Display, Formatter, Result};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (_, function, body) in self.defined() {
            writeln!(f, "{}({}):", function.name, function.params)?;
            for block in body.block_ids() {
                writeln!(f, " b{}:", block.0)?;
                for (id, inst) in body.instructions(block) {
                    write!(f, "  {:4} ", inst.at.line)?;
                    self.instruction(f, body, id, inst)?;
                    writeln!(f)?;
                }
                let next: Vec<_> = body[block].next.iter().map(|b| format!("b{}", b.0)).collect();
                if !next.is_empty() {
                    writeln!(f, "       -> {}", next.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

impl Program {
    fn instruction(&self, f: &mut Formatter<'_>, body: &Body, id: InstId, inst: &Inst) -> Result {
        write!(f, "%{}", id.0)?;
        if let Some(name) = body.names.get(&id) {
            write!(f, " ({name})")?;
        }
        match &inst.op {
            Op::Call(Callee::Direct(callee)) => write!(f, " = {}", self[*callee].name)?,
            op => write!(f, " = {op:?}")?,
        }
        for arg in &inst.args {
            match arg {
                Value::Int(number) => write!(f, " {number}")?,
                Value::Inst(id) => write!(f, " %{}", id.0)?,
                Value::Param(number) => write!(f, " p{number}")?,
                Value::Global(id, at) => write!(f, " @{}+{at}", self[*id].name)?,
                Value::Function(id) => write!(f, " &{}", self[*id].name)?,
                Value::Opaque => write!(f, " ?")?,
            }
        }
        Ok(())
    }
}
