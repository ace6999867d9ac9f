//! Buffers that are shorter than what calls use of them (CS-BUF-07, docs/bounds.md), as far as an
//! execution knows the memory, the count and the datatype.
//!
//! A receive counts with what it has asked for, whatever arrives. **Missed**: what ends within the
//! same variable or block, counts in arrays, neighbours.

use super::Job;
use super::asked::Asked;
use super::store::{Datum, Origin, UNKNOWN_SIZE_BYTES};
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{Extent, On, Rule, Times};

impl<'p> Job<'_, 'p> {
    /// Compares what a call uses with what is there.
    pub fn check_bounds(&mut self, asked: &Asked<'p>) {
        for rule in &asked.call.accesses {
            if let Some((used, available)) = self.used(asked, rule)
                && used > available
            {
                return self.too_short(
                    asked,
                    asked.call.params[rule.buffer].shown(),
                    used,
                    available,
                );
            }
        }
    }

    /// The bytes that a call uses of a buffer, and those that are there.
    fn used(&mut self, asked: &Asked<'p>, rule: &Rule) -> Option<(i64, i64)> {
        let name = |index: usize| &*asked.call.params[index].name;
        if rule.op.is_some() || !self.takes_place(asked, rule.on)? {
            return None;
        }
        if let Some(peer) = rule.peer
            && asked.number(self, name(peer))? == self.constants.proc_null
        {
            return None;
        }
        let buffer = asked.raw(self, name(rule.buffer));
        let Datum::Address(object, at) = buffer else { return None };
        if self.is_in_place(asked.rank, buffer) {
            return None;
        }
        let object = self.ranks[asked.rank].interpreter.store.get(object);
        let is_own = match object.origin {
            Origin::Global(id) => {
                let global = &self.text.program[id];
                // Fortran's `MPI_BOTTOM` is a variable.
                global.defined && !global.name.contains("bottom")
            }
            Origin::Made(..) => true,
            Origin::System => false,
        };
        let available =
            object.size.checked_sub(at).filter(|_| at >= 0 && object.size < UNKNOWN_SIZE_BYTES)?;
        let handle = asked.datum(self, name(rule.datatype));
        let of = self.datatype(asked.rank, handle)?;
        let first = of.pieces.iter().map(|(begin, _)| *begin).min()?;
        let last = of.pieces.iter().map(|(begin, length)| begin + length).max()?;
        let count = self.elements(asked, rule.extent).filter(|count| *count > 0)?;
        let used = (count - 1).checked_mul(of.extent)?.checked_add(last)?;
        (is_own && first >= 0 && of.extent >= 0).then_some((used, available))
    }

    /// How many elements an access has, if they lie in a row.
    pub(super) fn elements(&mut self, asked: &Asked<'p>, extent: Extent) -> Option<i64> {
        let Extent::Blocks { count, times } = extent else {
            return matches!(extent, Extent::One).then_some(1);
        };
        let number =
            |job: &mut Self, index: usize| asked.number(job, &asked.call.params[index].name);
        let times = match times {
            Times::Once => 1,
            Times::Size | Times::Local => {
                let comm = self.comm_of(asked, "comm")?;
                self.comms[comm].members.len() as i64
            }
            Times::Param(index) => number(self, index)?,
            Times::In | Times::Out => return None,
        };
        number(self, count)?.checked_mul(times)
    }

    /// Whether an access takes place on the rank that makes the call.
    pub(super) fn takes_place(&mut self, asked: &Asked<'p>, on: On) -> Option<bool> {
        if on == On::All {
            return Some(true);
        }
        let comm = self.comm_of(asked, "comm")?;
        let own = self.comms[comm].members.iter().position(|member| *member == asked.rank)?;
        if on == On::Later {
            return Some(own > 0);
        }
        let is_root = asked.number(self, "root")? == own as i64;
        Some(is_root == (on == On::Root))
    }

    fn too_short(&mut self, asked: &Asked<'p>, parameter: &str, used: i64, room: i64) {
        let name = &asked.mpi.name;
        let spot = format!("uses {used} bytes from `{parameter}` on");
        let spots = vec![(asked.rank, asked.place, Role::Operation, spot)];
        let message =
            format!("{name} uses {used} bytes from `{parameter}` on, and {room} are there");
        let why = format!(
            "the count and the datatype say so {}; what lies behind the variable or block is not the buffer's",
            self.with()
        );
        let help = "check the count and the datatype, or make the buffer larger";
        self.add(Code::BufferTooShort, spots, message, why, help);
    }
}
