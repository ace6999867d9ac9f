//! The options of a rank that concern MPI only.

use super::is_true;
use commsan_mpi::MemoryModel;
use commsan_mpi_calls::Object;

/// Objects that cost more than some memory: libraries have few thousand communicators, what is
/// freed of them is agreed on by all, and other objects keep memory and functions of the program in
/// use. Many good programs leave their groups.
const LASTING: &[Object] = &[Object::Comm, Object::Datatype, Object::Op, Object::Request];

const ALL: &[Object] =
    &[Object::Comm, Object::Datatype, Object::Op, Object::Request, Object::Group];

/// Whether buffers are watched in code without hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// If no module of the program has hooks.
    Auto,
    /// In any program.
    Always,
    /// In any program, memory of windows as well.
    Windows,
    /// In any program, but pages only of what is sent, by write protection.
    Sends,
    /// In none.
    Never,
}

/// Options of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Memory model of windows.
    pub memory_model: MemoryModel,
    /// Standard sends wait for their receives.
    pub strict_sends: bool,
    /// Blocking collectives wait for all ranks.
    pub strict_collectives: bool,
    /// Look at calls of several threads.
    pub thread_checks: bool,
    /// Compare collectives of different ranks.
    pub collective_checks: bool,
    /// Watch buffers in code without hooks.
    pub guards: Guards,
    /// For at most this percentage of the time; 100 for any.
    pub guard_budget: u32,
    /// Blocks of at least this many bytes get pages of their own; 0 for none.
    pub isolate_buffers: usize,
    /// Look for such objects that are never freed.
    pub leaks: &'static [Object],
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory_model: MemoryModel::AsIs,
            strict_sends: false,
            strict_collectives: false,
            thread_checks: true,
            collective_checks: true,
            guards: Guards::Auto,
            guard_budget: 5,
            isolate_buffers: 0,
            leaks: LASTING,
        }
    }
}

impl Options {
    /// Takes an option, unless it is not one of these.
    pub fn set(&mut self, key: &str, value: &str) {
        match key {
            "strict_sends" => self.strict_sends = is_true(value),
            "strict_collectives" => self.strict_collectives = is_true(value),
            "thread_checks" => self.thread_checks = is_true(value),
            "collective_checks" => self.collective_checks = is_true(value),
            "guards" => {
                self.guards = match value {
                    "auto" => Guards::Auto,
                    "sends" => Guards::Sends,
                    "windows" => Guards::Windows,
                    _ if is_true(value) => Guards::Always,
                    _ => Guards::Never,
                }
            }
            "guard_budget" => self.guard_budget = value.parse().unwrap_or(self.guard_budget),
            "isolate_buffers" => {
                self.isolate_buffers = value.parse().unwrap_or(self.isolate_buffers);
            }
            "leaks" => {
                self.leaks = match value {
                    "auto" => LASTING,
                    "all" => ALL,
                    _ if is_true(value) => ALL,
                    _ => &[],
                }
            }
            "memory_model" => {
                self.memory_model = match value {
                    "separate" => MemoryModel::Separate,
                    "unified" => MemoryModel::Unified,
                    _ => MemoryModel::AsIs,
                }
            }
            _ => {}
        }
    }
}
