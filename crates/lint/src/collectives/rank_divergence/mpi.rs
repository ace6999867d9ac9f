//! Transfer functions of MPI calls: which results diverge between ranks, and which are made
//! uniform.

use super::Analysis;
use super::pass::Pass;
use crate::collectives::absent;
use crate::collectives::comm::{ABSENT, Comm, Group, Labels, OTHER, RANK};
use crate::collectives::extent;
use crate::collectives::signature::{Amount, amounts};
use crate::collectives::sources::{rank_results, uniform, writes};
use crate::collectives::stored::Stored;
use commsan_ir::{FunctionId, Inst, InstId, Value};
use commsan_mpi_calls::{Demand, Object, Role};
use commsan_points_to::mpi::stored;

impl Analysis<'_, '_> {
    /// What a call of MPI does to labels.
    #[expect(clippy::too_many_arguments, reason = "all of them change from call to call")]
    pub(super) fn mpi(
        &mut self,
        pass: &mut Pass,
        id: InstId,
        inst: &Inst,
        mpi: &crate::Mpi,
        labels: &[Labels],
        control: Labels,
        memory: &mut Stored,
    ) -> Labels {
        let function = pass.function;
        let comm = self.comms.of_call(function, inst, mpi);
        let name = &*mpi.name;
        self.given(pass, (id, inst, mpi), labels, control, memory);
        // Results: which argument, and how they differ.
        if let Some((from, to)) = rank_results(name) {
            let comm = self.comms.resolve(function, inst.args[0], mpi.by_reference);
            let label = match name {
                "MPI_Group_rank" => RANK,
                // Everybody is the first of a communicator of its own.
                _ if comm == Comm::Own => 0,
                _ => self.comms.label(function, comm),
            };
            let bytes = extent::of_integers(self.comms, pass.body, inst, mpi);
            for arg in inst.args.iter().take(to + 1).skip(from) {
                let targets = self.targets(pass.at(), *arg);
                let targets = self.mod_ref.extended(&targets, bytes);
                pass.write(memory, &targets, label | control);
                if name == "MPI_Comm_rank" && comm != Comm::Own {
                    self.found.ranks.extend(self.comms.points_to.targets(function, *arg));
                }
            }
            return 0;
        }
        if matches!(name, "MPI_Wtime" | "MPI_Get_processor_name") {
            for arg in &inst.args {
                let targets = self.targets(pass.at(), *arg);
                pass.write(memory, &targets, OTHER);
            }
            return OTHER;
        }
        let Some(call) = mpi.call else { return 0 };
        if let Some((to, color)) = absent::made(name) {
            let color = color.map(|color| self.labels_at(pass, inst, mpi, color, labels, memory));
            let label = absent::label(self.comms, function, id, color);
            let targets = self.targets(pass.at(), inst.args[to]);
            pass.write(memory, &targets, label);
        }
        // Where the buffer, the count or the datatype is another one, too, the amount may be the
        // same.
        let labelled = |place: usize| labels.get(place).is_some_and(|labels| *labels != 0);
        let alone = |amount: &Amount| {
            let count = amount.count.and_then(|count| inst.args.get(count));
            let differs = amount.count.is_some_and(labelled) != labelled(amount.datatype);
            differs && !labelled(amount.buffer) && count != Some(&Value::Int(0))
        };
        let places = |amount: Amount| amount.count.into_iter().chain([amount.datatype]);
        let amounts = amounts(call).filter(alone).flat_map(places);
        let named = [call.at.root, call.at.op].into_iter().flatten();
        for place in named.chain(amounts).filter(|_| call.collective) {
            let (Some(given), Some(at)) = (labels.get(place), inst.args.get(place).copied()) else {
                continue;
            };
            // A constant's copy differs from none, though it is made on some ranks only.
            let constant = stored(self.comms.program, pass.body, at).is_some();
            let stored = match mpi.by_reference && !constant {
                true => {
                    let targets = self.targets(pass.at(), at);
                    memory.read(&targets.places)
                }
                false => 0,
            };
            if given | stored != 0 {
                *self.found.given.entry((function, id, place)).or_default() |= given | stored;
            }
        }
        let everybody = call.collective && comm.is_some_and(|comm| self.everybody(function, comm));
        for (place, param) in call.params.iter().enumerate() {
            let Some(arg) = inst.args.get(place) else { continue };
            let label = match param.role {
                Role::Buffer if writes(call, place) && uniform(name) && everybody => 0,
                Role::Buffer if writes(call, place) => OTHER,
                // Flags and indices are a matter of time: they come to the same in the end.
                Role::Status => OTHER,
                _ => continue,
            };
            let targets = self.targets(pass.at(), *arg);
            let bytes = extent::written(self.comms, pass.body, inst, (mpi, call), place);
            if label == 0 {
                pass.clear(memory, &targets, bytes);
            } else {
                let targets = self.mod_ref.extended(&targets, bytes);
                pass.write(memory, &targets, label | control);
            }
        }
        0
    }

    /// Notes communicators that some ranks do not have, though all of them make the call.
    fn given(
        &mut self,
        pass: &mut Pass,
        (id, inst, mpi): (InstId, &Inst, &crate::Mpi),
        labels: &[Labels],
        control: Labels,
        memory: &Stored,
    ) {
        for (place, demand) in mpi.call.iter().flat_map(|call| &call.demands) {
            let by_address = match demand {
                Demand::Comm => mpi.by_reference,
                Demand::Freeable(Object::Comm) => true,
                _ => continue,
            };
            let Some(arg) = inst.args.get(*place) else { continue };
            let labels = match by_address {
                true => memory.read(&self.targets(pass.at(), *arg).places),
                false => labels[*place],
            };
            let is_absent = control == 0
                && labels & ABSENT != 0
                && absent::maker(self.comms, pass.function, *arg, by_address).is_some();
            if is_absent {
                pass.absent.insert((id, *place));
            } else {
                pass.absent.remove(&(id, *place));
            }
        }
    }

    /// Labels of an argument, of Fortran's variables too.
    fn labels_at(
        &mut self,
        pass: &Pass,
        inst: &Inst,
        mpi: &crate::Mpi,
        place: usize,
        labels: &[Labels],
        memory: &Stored,
    ) -> Labels {
        match inst.args.get(place) {
            Some(at) if mpi.by_reference => memory.read(&self.targets(pass.at(), *at).places),
            _ => labels.get(place).copied().unwrap_or(0),
        }
    }

    fn everybody(&self, function: FunctionId, comm: Comm) -> bool {
        self.comms.group(function, comm) == Group::All
    }
}
