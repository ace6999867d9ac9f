//! `MPI_IN_PLACE` for buffers that a collective needs on the rank (CS-ARG-01, MPI 4.1 chapter 6).
//!
//! **Missed**: counts in arrays, and ranks whose root is not known.

use super::Job;
use super::asked::Asked;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{On, Rule};

impl<'p> Job<'_, 'p> {
    /// Reports a buffer that may not be in place.
    pub fn check_in_place(&mut self, asked: &Asked<'p>) {
        for rule in &asked.call.accesses {
            let name = &*asked.call.params[rule.buffer].name;
            let buffer = asked.raw(self, name);
            if self.is_in_place(asked.rank, buffer)
                && let Some(where_allowed) = self.is_misplaced(asked, rule)
            {
                return self.misplaced(
                    asked,
                    asked.call.params[rule.buffer].shown(),
                    where_allowed,
                );
            }
        }
    }

    /// If the access takes place, and its buffer may not be in place here: where it may.
    fn is_misplaced(&mut self, asked: &Asked<'p>, rule: &Rule) -> Option<&'static str> {
        let has_elements = self.elements(asked, rule.extent).is_some_and(|count| count > 0);
        if !has_elements || !self.takes_place(asked, rule.on)? {
            return None;
        }
        match asked.call.in_place_on(rule) {
            None => Some("nowhere"),
            Some(On::Root) if !self.takes_place(asked, On::Root)? => Some("at the root alone"),
            Some(_) => None,
        }
    }

    fn misplaced(&mut self, asked: &Asked<'p>, parameter: &str, where_allowed: &str) {
        let name = &asked.mpi.name;
        let problem = format!("`{parameter}` is MPI_IN_PLACE on rank {}", asked.rank);
        let spots = vec![(asked.rank, asked.place, Role::Operation, problem.clone())];
        let message = format!("`{parameter}` of {name} is MPI_IN_PLACE where it may not be");
        let why = format!(
            "{problem} {}, and {name} takes it {where_allowed} (MPI 4.1 chapter 6)",
            self.with()
        );
        let help = "pass a buffer of this rank; only a rank that both sends and receives in the call can do so in place";
        self.add(Code::InvalidArgument, spots, message, why, help);
        // What becomes of the call depends on the library.
        self.unfit = true;
    }
}
