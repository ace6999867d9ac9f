//! Compares the paths of a branch, and what follows it, by the sequences of collectives.

use super::comm::{Comm, Labels};
use super::terms::{Choice, Event, Only, TermId, Terms, View};
use rustc_hash::FxHashSet;

/// A collective on one way, or none where the other way has one.
pub type Call<'e> = Option<(&'e Event, Comm)>;

/// What is called after a branch that ranks take different ways out of.
pub struct Fork<'f, 'p> {
    pub terms: &'f Terms<'f, 'p>,
    pub choice: &'f Choice,
    /// Which communicators' ranks differ.
    pub labels: Labels,
    /// What follows where the ways meet.
    pub rest: &'f [TermId],
    /// Whether the program ends with it.
    pub whole: bool,
}

impl<'f> Fork<'f, '_> {
    /// The ways by which the program goes on, with their numbers.
    fn ways(&self) -> impl Iterator<Item = (usize, TermId)> {
        self.choice.ways.iter().enumerate().filter_map(|(number, way)| Some((number, (*way)?)))
    }

    /// Their numbers, in the order of [`Fork::called`].
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.ways().map(|(number, _)| number)
    }

    fn view(&self) -> View<'f> {
        View { labels: Some(self.labels), ..View::default() }
    }

    /// As who has taken this way sees what follows.
    fn view_on(&self, number: usize) -> View<'f> {
        View { answers: Terms::answer(self.choice, number).into_iter().collect(), ..self.view() }
    }

    /// What each way leads to, as who has taken it sees it.
    pub fn sequences(&self) -> impl Iterator<Item = (Vec<TermId>, View<'f>)> {
        self.ways().map(|(number, way)| {
            let all = [way].into_iter().chain(self.rest.iter().copied()).collect();
            (all, self.view_on(number))
        })
    }

    /// Whether all ways lead to the same calls.
    pub fn is_even(&self, any_comm: bool, only: Only) -> bool {
        let hash = |(number, way): (usize, TermId)| {
            let view = View { any_comm, whole: self.whole, only, ..self.view_on(number) };
            let all: Vec<_> = [way].into_iter().chain(self.rest.iter().copied()).collect();
            self.terms.hash_all(&all, &view)
        };
        self.ways().map(hash).collect::<FxHashSet<_>>().len() < 2
    }

    /// Whether the ways by themselves are the same: what differs is what other branches lead to.
    pub fn is_even_alone(&self) -> bool {
        let view = self.view();
        let alone = self.ways().map(|(_, way)| self.terms.hash_all(&[way], &view));
        alone.collect::<FxHashSet<_>>().len() < 2
            && !self.ways().any(|(_, way)| self.terms.stops(way))
    }

    /// Whether what is called depends on more than this branch.
    pub fn is_undecided(&self) -> bool {
        self.ways().any(|(number, way)| self.terms.is_undecided(way, &self.view_on(number)))
    }

    /// What differs; nothing if it need not, as communicators are unknown or do not wait for each
    /// other.
    pub fn difference(&self) -> Option<(Call<'f>, Call<'f>)> {
        let (alone, together) = (self.called(&[]), self.called(self.rest));
        // Where both ways call the same by themselves, one leaves out what follows.
        let called = if first_difference(&alone).is_some() { alone } else { together };
        let comms: FxHashSet<_> = called.iter().flatten().map(|(_, comm)| *comm).collect();
        if comms.contains(&Comm::Unknown) && self.is_even(true, Only::Any) || self.commutes(&comms)
        {
            return None;
        }
        first_difference(&called)
    }

    /// Calls that two ways have in common, one after the other.
    pub fn common(&self) -> Vec<[(&'f Event, Comm); 2]> {
        let called = self.called(&[]);
        let Some((first, others)) = called.split_first() else { return Vec::new() };
        let same = |[(one, on), (two, at)]: &[(&Event, Comm); 2]| one.name == two.name && on == at;
        let pairs = others.iter().flat_map(|other| first.iter().zip(other));
        pairs.map(|(one, two)| [*one, *two]).take_while(same).collect()
    }

    /// What each way calls, and then what follows.
    pub fn called(&self, rest: &[TermId]) -> Vec<Vec<(&'f Event, Comm)>> {
        let calls = |(number, way)| {
            let view = self.view_on(number);
            let mut found = Vec::new();
            self.terms.events(way, &view, &mut found);
            if !self.terms.stops(way) {
                rest.iter().for_each(|term| self.terms.events(*term, &view, &mut found));
            }
            found
        };
        self.ways().map(calls).collect()
    }

    /// Whether the order is the same on each communicator, and that of what blocks on all.
    fn commutes(&self, comms: &FxHashSet<Comm>) -> bool {
        comms.len() > 1
            && comms.iter().all(|comm| self.is_even(false, Only::Of(*comm)))
            && self.is_even(false, Only::Blocking)
    }
}

/// The first calls in which two ways differ.
fn first_difference<'e>(called: &[Vec<(&'e Event, Comm)>]) -> Option<(Call<'e>, Call<'e>)> {
    let (first, others) = called.split_first()?;
    let key = |call: &(&Event, Comm)| (call.0.name, call.1);
    for other in others {
        let length = first.len().max(other.len());
        for place in 0..length {
            let (one, two) = (first.get(place).copied(), other.get(place).copied());
            if one.as_ref().map(key) != two.as_ref().map(key) {
                return Some(if one.is_some() { (one, two) } else { (two, None) });
            }
        }
    }
    // The same calls, arranged differently.
    let longest = called.iter().max_by_key(|calls| calls.len())?;
    longest.first().map(|call| (Some(*call), None))
}
