//! Windows and one-sided operations: from handles and arguments to what they mean.

use crate::datatypes;
use crate::effects::After;
use crate::entry::{Here, Word};
use crate::groups;
use crate::library::{Mpi, info_value, is_separate, op_number, type_number, win_from_fortran};
use crate::rank::Rank;
use crate::sys;
use commsan_engine::Mode;
use commsan_mpi::buffers::resolve;
use commsan_mpi::rma::{Atomic, Made, Part, Rules};
use commsan_mpi::{Args, Effect, Library, Synchronisation, Transfer, combine};
use std::ffi::c_int;

/// What must be known or done before the call.
pub(crate) fn before(rank: &dyn Rank, args: &Args, here: &Here) -> Synchronisation {
    if args.call.effect == Effect::Rma {
        let transfer = transfer(args);
        rank.with(here.thread, &mut |tracker, out| {
            tracker.look_at_transfer(args, &transfer, here, out);
        });
        return Synchronisation::default();
    }
    let sync = synchronisation(args);
    match args.call.effect {
        Effect::Window => {
            let comm = args.call.at.comm.map_or(0, |index| args.words[index]);
            let (group, part) = (groups::of_comm(comm), part(args));
            rank.with(here.thread, &mut |tracker, _| tracker.before_window_made(&group, part));
        }
        Effect::Attach | Effect::Detach | Effect::WindowInfo => {}
        Effect::WindowFree => {
            // SAFETY: the call's argument, a pointer to a handle.
            let window = unsafe { window_at(args.words[0], args.fortran) };
            rank.with(here.thread, &mut |tracker, out| {
                tracker.before_window_free(args, window, here, out);
            });
        }
        _ => rank.with(here.thread, &mut |tracker, out| {
            tracker.before_sync(args, &sync, here, out);
        }),
    }
    sync
}

fn synchronisation(args: &Args) -> Synchronisation {
    let int = |name| args.call.named(name).map(|index| args.int(index));
    let group = args.call.named("group").map(|index| groups::of_group(args.words[index]));
    Synchronisation {
        ranks: group.unwrap_or_default(),
        // Without a check, nobody is kept away.
        exclusive: int("lock_type") == Some(sys::COMMSAN_LOCK_EXCLUSIVE as c_int)
            && int("assert").is_none_or(|assert| assert & sys::COMMSAN_NOCHECK as c_int == 0),
        last: int("assert").is_some_and(|assert| assert & sys::COMMSAN_NOSUCCEED as c_int != 0),
        info: info(args),
    }
}

impl After<'_> {
    /// A call about a window has returned. `freed` is the handle it has freed.
    pub(crate) fn window(&self, sync: &Synchronisation, freed: usize) {
        let args = self.args;
        match args.call.effect {
            Effect::Window => self.made(&sync.info),
            Effect::WindowFree => {
                self.with(|tracker, out| tracker.window_freed(freed, self.here, out));
            }
            Effect::Attach => {
                let (window, base, size) = (args.words[0], args.words[1], args.words[2]);
                self.with(|tracker, _| tracker.attach(window, base..base + size));
            }
            Effect::Detach => {
                self.with(|tracker, _| tracker.detach(args.words[0], args.words[1]));
            }
            Effect::WindowInfo => {
                self.with(|tracker, _| tracker.set_window_info(args.words[0], &sync.info));
            }
            Effect::Rma => {
                let mut accesses = resolve(args, &Mpi);
                let (transfer, request) = (transfer(args), args.call.at.request);
                let request = request.map(|_| self.request());
                self.with(|tracker, out| {
                    tracker.transfer(args, &mut accesses, &transfer, request, self.here, out);
                });
            }
            Effect::ExposureEnd if !self.flag() => {}
            _ => self.with(|tracker, out| tracker.after_sync(args, sync, self.here, out)),
        }
    }

    fn made(&self, info: &[(&str, String)]) {
        let args = self.args;
        let word = |name| args.call.named(name).map(|index| args.words[index]);
        let comm = word("comm").unwrap_or(0);
        let dynamic = word("size").is_none();
        let base = match (word("base"), word("baseptr")) {
            (Some(base), _) => base,
            // SAFETY: the call has stored an address there.
            (None, Some(pointer)) => unsafe { *(pointer as *const usize) },
            (None, None) => 0,
        };
        let group = groups::of_comm(comm);
        let rank = Mpi.rank(comm);
        let mut rules = Rules::default();
        info.iter().for_each(|(key, value)| rules.set(key, value));
        // SAFETY: the call has stored a handle there.
        let handle = unsafe { window_at(word("win_out").unwrap_or(0), args.fortran) };
        let made = Made {
            handle,
            part: part(args),
            parts: Vec::new(),
            own: usize::try_from(rank).ok(),
            group,
            base,
            dynamic,
            rules,
            separate: is_separate(handle),
        };
        self.with(|tracker, out| tracker.window_made(args, made.clone(), self.here, out));
    }
}

/// This process's part of the window that a call makes.
fn part(args: &Args) -> Part {
    let unit = args.call.named("disp_unit").map_or(1, |index| args.int(index).max(1) as u64);
    let size = args.call.named("size").map(|index| args.words[index] as u64);
    Part { size: size.unwrap_or(u64::MAX), unit }
}

/// What the info argument says that matters here: before the call, for MPICH 4.0 cuts lists in it.
fn info(args: &Args) -> Vec<(&'static str, String)> {
    let Some(info) = args.call.named("info").map(|index| args.words[index]) else {
        return Vec::new();
    };
    [c"accumulate_ops", c"accumulate_ordering"]
        .into_iter()
        .filter_map(|key| Some((key.to_str().ok()?, info_value(info, key)?)))
        .collect()
}

fn transfer(args: &Args) -> Transfer {
    let at = &args.call.at;
    let word = |index: Option<usize>| index.map_or(0, |index| args.words[index]);
    let count = at.target_count.map_or(1, |index| args.count(index));
    let datatype = word(at.target_datatype);
    let pattern = match count {
        0 => commsan_engine::Pattern::empty(),
        _ => {
            let element = datatypes::describe(datatype);
            element.pattern.repeat(count, element.extent)
        }
    };
    let plain = at.op.is_none() && !args.call.name.contains("Compare_and_swap");
    let no_op = at.op.is_some_and(|index| Mpi.is_no_op(args.words[index]));
    let reads = no_op || plain && args.call.accesses.iter().all(|rule| rule.mode == Mode::Write);
    let atomic = (!plain).then(|| Atomic {
        datatype: if count == 0 { 0 } else { type_number(datatype) },
        op: combine(args.call, no_op, at.op.map_or(0, |index| op_number(args.words[index]))),
        rules: Rules::default(),
    });
    Transfer {
        window: word(at.win),
        target: at.peer.map_or(-1, |index| args.int(index)),
        displacement: word(at.displacement) as i64,
        pattern,
        mode: if reads { Mode::Read } else { Mode::Write },
        atomic,
    }
}

/// The window handle at an address.
///
/// # Safety
/// `address` is a pointer to a handle.
pub(crate) unsafe fn window_at(address: usize, fortran: bool) -> usize {
    // SAFETY: by the caller.
    unsafe {
        match fortran {
            true => win_from_fortran(*(address as *const c_int)),
            false => (*(address as *const sys::MPI_Win)).word(),
        }
    }
}
