//! Reduces a function's terms to those that callers can observe.

use super::terms::Terms;
use super::{Id, Summary, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of terms of a summary.
const MAX_TERMS: usize = 64;

/// Leaves out what does not matter.
pub struct Shrinking<'a> {
    terms: &'a Terms<'a>,
    /// By term: whether there can be anything in its set.
    filled: Vec<bool>,
    summary: Summary,
    /// By term: its number in the summary.
    kept: FxHashMap<Id, Id>,
}

impl<'a> Shrinking<'a> {
    pub fn of(terms: &'a Terms<'a>) -> Shrinking<'a> {
        let (summary, kept) = Default::default();
        Shrinking { terms, filled: filled(terms), summary, kept }
    }

    /// None if it is too large.
    pub fn summary(mut self) -> Option<Summary> {
        let terms = self.terms;
        let is_filled = |id: &Id| self.filled[*id as usize];
        let stores: FxHashSet<_> = terms.stores.iter().copied().collect();
        let mut stores: Vec<_> = stores.into_iter().collect();
        stores.retain(|(address, value)| is_filled(address) && is_filled(value));
        let mut copies = terms.copies.clone();
        copies.retain(|(to, from, _)| is_filled(to) && is_filled(from));
        let mut handed_over: Vec<_> = terms.handed_over.clone();
        handed_over.retain(|id| is_filled(id) && self.leads_from_params(*id));
        handed_over.sort_unstable();
        handed_over.dedup();
        stores.sort_unstable();
        for (address, value) in stores {
            let store = (self.keep(address)?, self.keep(value)?);
            self.summary.stores.push(store);
        }
        for (to, from, length) in copies {
            let copy = (self.keep(to)?, self.keep(from)?, length);
            self.summary.copies.push(copy);
        }
        for value in handed_over {
            let value = self.keep(value)?;
            self.summary.handed_over.push(value);
        }
        if let Some(returned) = terms.returned.filter(|id| self.filled[*id as usize]) {
            self.summary.returned = Some(self.keep(returned)?);
        }
        Some(self.summary)
    }

    /// Whether a set may have what a parameter has, or places in it.
    fn leads_from_params(&self, id: Id) -> bool {
        let (mut open, mut seen) = (vec![id], FxHashSet::default());
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.terms.terms[id as usize] {
                Term::Param(_) => return true,
                Term::Shifted(from, _) => open.push(from),
                Term::Joined(number) => open.extend(&self.terms.sources[number as usize]),
                _ => {}
            }
        }
        false
    }

    /// The equal set without unions of a single element.
    fn plain(&self, id: Id) -> Id {
        let (mut id, mut seen) = (id, FxHashSet::default());
        while let Term::Joined(number) = self.terms.terms[id as usize] {
            let mut sources = self.sources(number);
            let (Some(only), None) = (sources.next(), sources.next()) else { break };
            if !seen.insert(id) {
                break;
            }
            id = only;
        }
        id
    }

    fn sources(&self, number: u32) -> impl Iterator<Item = Id> {
        let sources = self.terms.sources[number as usize].iter().copied();
        sources.filter(|source| self.filled[*source as usize])
    }

    fn keep(&mut self, id: Id) -> Option<Id> {
        let id = self.plain(id);
        if let Some(kept) = self.kept.get(&id) {
            return Some(*kept);
        }
        if self.summary.terms.len() == MAX_TERMS {
            return None;
        }
        let kept = self.summary.terms.len() as Id;
        self.kept.insert(id, kept);
        let term = self.terms.terms[id as usize];
        self.summary.terms.push(term);
        self.summary.terms[kept as usize] = match term {
            Term::Shifted(from, by) => Term::Shifted(self.keep(from)?, by),
            Term::Loaded(address) => Term::Loaded(self.keep(address)?),
            Term::Joined(number) => {
                let joined = self.summary.sources.len();
                self.summary.sources.push(Vec::new());
                let sources: Vec<_> = self.sources(number).collect();
                for source in sources {
                    let source = self.keep(source)?;
                    self.summary.sources[joined].push(source);
                }
                Term::Joined(joined as u32)
            }
            term => term,
        };
        Some(kept)
    }
}

/// By term: whether there can be anything in its set.
fn filled(terms: &Terms) -> Vec<bool> {
    let mut filled = vec![false; terms.terms.len()];
    loop {
        let mut changed = false;
        for at in 0..filled.len() {
            let is_filled = match terms.terms[at] {
                Term::Shifted(from, _) | Term::Loaded(from) => filled[from as usize],
                Term::Joined(number) => {
                    terms.sources[number as usize].iter().any(|source| filled[*source as usize])
                }
                Term::Elsewhere => false,
                _ => true,
            };
            changed |= is_filled != filled[at];
            filled[at] = is_filled;
        }
        if !changed {
            return filled;
        }
    }
}
