//! Models of library functions, as far as a rank's values depend on them.

use super::interpreter::{Interpreter, Stop};
use super::store::{Datum, Origin};
use crate::library::Library;
use commsan_ir::{Inst, InstId};

impl Interpreter<'_, '_> {
    /// A function of a library.
    pub(super) fn library(&mut self, id: InstId, inst: &Inst, name: &str) -> Result<Datum, Stop> {
        let args: Vec<_> = inst.args.iter().map(|value| self.value(*value)).collect();
        let arg = |index: usize| args.get(index).copied().unwrap_or(Datum::Unknown);
        let number = |index: usize| match arg(index) {
            Datum::Int(number) => Some(number),
            _ => None,
        };
        let origin = Origin::Made(self.frame().function, id);
        Ok(match name {
            "exit" | "_exit" | "quick_exit" => return Err(Stop::Ended(arg(0))),
            "_FortranAStopStatement" => return Err(Stop::Ended(arg(0))),
            "_FortranAProgramEndStatement" => return Err(Stop::Ended(Datum::Int(0))),
            "abort" | "__assert_fail" | "_FortranAAbort" => return Err(Stop::Ended(Datum::Int(1))),
            "malloc" | "_Znwm" | "_Znam" | "valloc" => {
                Datum::Address(self.store.make(origin, number(0), Datum::Unknown), 0)
            }
            "aligned_alloc" | "memalign" => {
                Datum::Address(self.store.make(origin, number(1), Datum::Unknown), 0)
            }
            "calloc" => {
                let size = number(0).zip(number(1)).map(|(one, other)| one.wrapping_mul(other));
                Datum::Address(self.store.make(origin, size, Datum::Int(0)), 0)
            }
            "realloc" => {
                let new = self.store.make(origin, number(1), Datum::Unknown);
                if let Datum::Address(old, _) = arg(0) {
                    let length = self.store.get(old).size.min(self.store.get(new).size);
                    self.copy(Datum::Address(new, 0), arg(0), Datum::Int(length))?;
                }
                self.release(arg(0));
                Datum::Address(new, 0)
            }
            "posix_memalign" => {
                let new = self.store.make(origin, number(2), Datum::Unknown);
                self.put(arg(0), 8, Datum::Address(new, 0))?;
                Datum::Int(0)
            }
            "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => {
                self.copy(arg(0), arg(1), arg(2))?;
                arg(0)
            }
            "memset" | "__memset_chk" => {
                self.fill(arg(0), arg(1), arg(2))?;
                arg(0)
            }
            _ if Library::of(name) == Library::Releases => {
                self.release(arg(0));
                Datum::Unknown
            }
            "getenv" => Datum::Int(0),
            "abs" | "labs" => {
                number(0).map_or(Datum::Unknown, |number| Datum::Int(number.wrapping_abs()))
            }
            _ if self.text.starts_threads(name) => return Err(Stop::Lost),
            _ => {
                if Library::of(name) != Library::Nothing {
                    self.forget_reached(&args);
                }
                Datum::Unknown
            }
        })
    }

    /// Forgets what a function may change that is given this.
    pub fn forget_reached(&mut self, args: &[Datum]) {
        let objects = args.iter().filter_map(|arg| match arg {
            Datum::Address(object, _) => Some(*object),
            _ => None,
        });
        for object in self.store.reached(objects.collect::<Vec<_>>()) {
            let constant = match self.store.get(object).origin {
                Origin::Global(id) => self.text.program[id].constant,
                _ => false,
            };
            if !constant {
                self.store.forget(object);
            }
        }
    }
}
