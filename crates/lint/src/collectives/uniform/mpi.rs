//! What calls of MPI make differ between ranks, and what they make the same.

use super::{Analysis, Pass};
use crate::collectives::comm::{Comm, Group, Labels, OTHER, RANK};
use crate::collectives::extent;
use crate::collectives::sources::{rank_results, uniform, writes};
use crate::collectives::stored::Stored;
use crate::mpi::stored;
use commsan_ir::{FunctionId, Inst, InstId};
use commsan_mpi::Role;

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
                let targets = self.targets(function, *arg);
                let targets = self.footprints.extended(&targets, bytes);
                pass.write(memory, &targets, label | control);
                if name == "MPI_Comm_rank" && comm != Comm::Own {
                    self.found.ranks.extend(self.comms.memory.targets(function, *arg));
                }
            }
            return 0;
        }
        if matches!(name, "MPI_Wtime" | "MPI_Get_processor_name") {
            for arg in &inst.args {
                let targets = self.targets(function, *arg);
                pass.write(memory, &targets, OTHER);
            }
            return OTHER;
        }
        let Some(call) = mpi.call else { return 0 };
        if let Some(root) = call.at.root.and_then(|root| labels.get(root)) {
            let at = inst.args[call.at.root.unwrap_or(0)];
            // A constant's copy differs from none, though it is made on some ranks only.
            let constant = stored(self.comms.program, pass.body, at).is_some();
            let stored = match mpi.by_reference && !constant {
                true => {
                    let targets = self.targets(function, at);
                    memory.read(&targets.places)
                }
                false => 0,
            };
            if root | stored != 0 {
                *self.found.roots.entry((function, id)).or_default() |= root | stored;
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
            let targets = self.targets(function, *arg);
            let bytes = extent::written(self.comms, pass.body, inst, (mpi, call), place);
            if label == 0 {
                pass.clear(memory, &targets, bytes);
            } else {
                let targets = self.footprints.extended(&targets, bytes);
                pass.write(memory, &targets, label | control);
            }
        }
        0
    }

    fn everybody(&self, function: FunctionId, comm: Comm) -> bool {
        self.comms.group(function, comm) == Group::All
    }
}
