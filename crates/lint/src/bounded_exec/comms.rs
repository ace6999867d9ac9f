//! Communicators, groups and Cartesian grids of the executed ranks.

use super::asked::Asked;
use super::collective_matching::Entry;
use super::store::{Datum, Kind, Origin};
use super::{Comm, Job};
use crate::environment::{predefined, variable};
use commsan_mpi_calls::abi::handles::{self, Handle, HandleKind};

/// `MPI_COMM_NULL`.
pub const NULL_COMM: &Handle = handles::named("MPI_COMM_NULL");

impl Job<'_, '_> {
    /// The communicator of a handle.
    pub fn comm(&self, rank: usize, handle: Datum) -> Option<usize> {
        let known = match handle {
            Datum::Handle(Kind::Comm, id) => return Some(id as usize),
            Datum::Int(number) => self.environment.handle(HandleKind::Comm, number),
            Datum::Address(..) => predefined(self.named(rank, handle)?),
            _ => None,
        };
        match known?.bare_name() {
            "COMM_WORLD" => Some(0),
            // One of its own for each rank.
            "COMM_SELF" => Some(1 + rank),
            _ => None,
        }
    }

    pub fn comm_of(&mut self, asked: &Asked, name: &str) -> Option<usize> {
        let handle = asked.datum(self, name);
        self.comm(asked.rank, handle)
    }

    /// The name of the global variable that an address is of.
    pub fn named(&self, rank: usize, address: Datum) -> Option<&str> {
        let Datum::Address(object, 0) = address else { return None };
        match self.ranks[rank].interpreter.store.get(object).origin {
            Origin::Global(id) => Some(&*self.text.program[id].name),
            _ => None,
        }
    }

    /// The predefined reduction. Numbers of Open MPI are not known: they are those of Fortran.
    pub fn op(&self, rank: usize, op: Datum) -> Option<&'static Handle> {
        let handle = match op {
            Datum::Int(number) => self.environment.certain_handle(HandleKind::Op, number),
            Datum::Address(..) => predefined(self.named(rank, op)?),
            _ => None,
        };
        handle.filter(|handle| handle.kind == HandleKind::Op && !handle.is_null())
    }

    pub fn null_request(&mut self, asked: &Asked) -> Datum {
        const NULL: &Handle = handles::named("MPI_REQUEST_NULL");
        self.null_handle(asked.rank, asked.mpi.by_reference, NULL)
    }

    /// The null handle: a number, or the address of a variable.
    pub fn null_handle(&mut self, rank: usize, by_reference: bool, handle: &Handle) -> Datum {
        if let Some(number) = self.environment.number(handle, by_reference) {
            return Datum::Int(number);
        }
        match variable(self.text.program, handle) {
            Some(id) => Datum::Address(self.ranks[rank].interpreter.global(id), 0),
            // The program never asks for it.
            None => Datum::Handle(Kind::Other, u32::MAX),
        }
    }

    /// Bytes of a handle in memory.
    pub fn handle_size(&self, asked: &Asked) -> i64 {
        self.width(asked.mpi.by_reference)
    }

    fn width(&self, by_reference: bool) -> i64 {
        self.environment.handle_bytes(by_reference)
    }

    /// Stores the handle of what a collective has made.
    pub fn place_handle(&mut self, rank: usize, entry: &Entry, handle: Datum) {
        let size = self.width(entry.by_reference);
        if let Some(Datum::Address(object, at)) = entry.made {
            self.ranks[rank].interpreter.store.store((object, at), size, handle);
        }
    }

    /// Whether a buffer is `MPI_IN_PLACE`.
    pub fn is_in_place(&self, rank: usize, buffer: Datum) -> bool {
        match buffer {
            Datum::Int(number) => number == self.constants.in_place,
            Datum::Address(..) => self
                .named(rank, buffer)
                .is_some_and(|name| name.contains("in_place") || name.starts_with("mpipriv")),
            _ => false,
        }
    }

    /// The ranks of a group.
    pub fn group_of(&mut self, asked: &Asked, name: &str) -> Option<Vec<usize>> {
        match asked.datum(self, name) {
            Datum::Handle(Kind::Group, id) => self.groups.get(id as usize).cloned(),
            _ => None,
        }
    }

    fn make_group(&mut self, asked: &Asked, group: Option<Vec<usize>>) {
        let handle = match group {
            Some(group) => {
                self.groups.push(group);
                Datum::Handle(Kind::Group, self.groups.len() as u32 - 1)
            }
            None => Datum::Unknown,
        };
        self.answer(asked, "group_out", handle);
    }

    /// Calls that ask about communicators, groups and grids. Says whether it knows the call.
    pub fn about_comm(&mut self, asked: &Asked) -> Option<bool> {
        let rank = asked.rank;
        match asked.call.bare_name() {
            name @ ("Comm_rank" | "Comm_size") => {
                let comm = self.comm_of(asked, "comm");
                let answer = comm.and_then(|comm| {
                    let members = &self.comms[comm].members;
                    match name {
                        "Comm_size" => Some(members.len()),
                        _ => members.iter().position(|member| *member == rank),
                    }
                });
                let answer = answer.map_or(Datum::Unknown, |answer| Datum::Int(answer as i64));
                self.answer(asked, "rank_out", answer);
            }
            "Comm_group" => {
                let comm = self.comm_of(asked, "comm");
                let group = comm.map(|comm| self.comms[comm].members.clone());
                self.make_group(asked, group);
            }
            "Win_get_group" => self.make_group(asked, None),
            name @ ("Group_incl" | "Group_excl") => {
                let group = self.some_of(asked, name == "Group_incl");
                self.make_group(asked, group);
            }
            name @ ("Group_size" | "Group_rank") => {
                let group = self.group_of(asked, "group");
                let undefined = self.constants.undefined;
                let answer = group.map(|group| match name {
                    "Group_size" => group.len() as i64,
                    _ => group.iter().position(|r| *r == rank).map_or(undefined, |at| at as i64),
                });
                self.answer(asked, "size_out", answer.map_or(Datum::Unknown, Datum::Int));
            }
            "Cart_coords" | "Cart_get" => {
                let of = match asked.has("rank") {
                    true => asked.number(self, "rank"),
                    false => None,
                };
                self.coordinates(asked, of)?;
            }
            "Cart_rank" => {
                let answer = self.cart_rank(asked);
                self.answer(asked, "rank_out", answer.map_or(Datum::Unknown, Datum::Int));
            }
            "Cart_shift" => {
                let shift = self.shift(asked);
                let datum = |rank: Option<i64>| rank.map_or(Datum::Unknown, Datum::Int);
                let (from, to) = shift.map_or((None, None), |(from, to)| (Some(from), Some(to)));
                self.answer(asked, "rank_source", datum(from));
                self.answer(asked, "rank_dest", datum(to));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn some_of(&mut self, asked: &Asked, included: bool) -> Option<Vec<usize>> {
        let group = self.group_of(asked, "group")?;
        let mut chosen = Vec::new();
        for index in 0..asked.number(self, "n")? {
            let place = usize::try_from(asked.element(self, "ranks", index, 4)?).ok()?;
            chosen.push(*group.get(place)?);
        }
        match included {
            true => Some(chosen),
            false => Some(group.into_iter().filter(|rank| !chosen.contains(rank)).collect()),
        }
    }

    fn own_place(&self, comm: &Comm, rank: usize) -> Option<i64> {
        comm.members.iter().position(|member| *member == rank).map(|at| at as i64)
    }

    fn coordinates(&mut self, asked: &Asked, of: Option<i64>) -> Option<()> {
        let comm = self.comm_of(asked, "comm")?;
        let comm = self.comms[comm].clone();
        let (dims, periods) = comm.grid.clone()?;
        let of = match asked.has("rank") {
            true => of?,
            false => self.own_place(&comm, asked.rank)?,
        };
        let coords = coordinates(of, &dims);
        let sets = [("dims", &dims), ("periods", &periods), ("coords", &coords)];
        for (name, values) in sets.into_iter().filter(|(name, _)| asked.has(name)) {
            let Datum::Address(object, at) = asked.raw(self, name) else { continue };
            for (index, value) in (0..).zip(values) {
                let store = &mut self.ranks[asked.rank].interpreter.store;
                store.store((object, at + 4 * index), 4, Datum::Int(*value));
            }
        }
        Some(())
    }

    fn cart_rank(&mut self, asked: &Asked) -> Option<i64> {
        let comm = self.comm_of(asked, "comm")?;
        let (dims, periods) = self.comms[comm].grid.clone()?;
        let coords: Option<Vec<_>> =
            (0..dims.len() as i64).map(|n| asked.element(self, "coords", n, 4)).collect();
        place_at(&coords?, &dims, &periods)
    }

    /// The neighbours in a direction.
    fn shift(&mut self, asked: &Asked) -> Option<(i64, i64)> {
        let comm = self.comm_of(asked, "comm")?;
        let comm = self.comms[comm].clone();
        let (dims, periods) = comm.grid.clone()?;
        let direction = usize::try_from(asked.number(self, "direction")?).ok()?;
        let by = asked.number(self, "disp")?;
        let own = coordinates(self.own_place(&comm, asked.rank)?, &dims);
        let towards = |by: i64| {
            let mut coords = own.clone();
            *coords.get_mut(direction)? += by;
            Some(place_at(&coords, &dims, &periods).unwrap_or(self.constants.proc_null))
        };
        Some((towards(-by)?, towards(by)?))
    }
}

/// The coordinates of a rank, the last dimension fastest (MPI 4.1 §8.2).
fn coordinates(mut rank: i64, dims: &[i64]) -> Vec<i64> {
    let mut coords: Vec<_> = dims
        .iter()
        .rev()
        .map(|dim| {
            let at = rank % dim;
            rank /= dim;
            at
        })
        .collect();
    coords.reverse();
    coords
}

/// The rank at coordinates; none beyond a border.
fn place_at(coords: &[i64], dims: &[i64], periods: &[i64]) -> Option<i64> {
    coords.iter().zip(dims).zip(periods).try_fold(0, |rank, ((at, dim), periodic)| {
        let at = if *periodic != 0 { at.rem_euclid(*dim) } else { *at };
        (0..*dim).contains(&at).then_some(rank * dim + at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_numbered_along_their_last_dimension() {
        assert_eq!(coordinates(5, &[2, 3]), [1, 2]);
        assert_eq!(place_at(&[1, 2], &[2, 3], &[0, 0]), Some(5));
        assert_eq!(place_at(&[2, 0], &[2, 3], &[0, 0]), None);
        assert_eq!(place_at(&[-1, 3], &[2, 3], &[1, 1]), Some(3));
    }
}
