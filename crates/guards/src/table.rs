//! Which pages are closed, for which operations.

use crate::PAGE;
use std::ops::Range;

/// Runs of pages that one operation closes at most.
pub const MAX_RUNS: usize = 64;
/// Runs of pages that are closed at a time at most: each divides a mapping of the process, of which
/// the system allows some ten thousands.
pub const MAX_ENTRIES: usize = 1024;

/// What the program may do with a page, from the most to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    /// Everything.
    All,
    /// Read it: pending operations do no more.
    Read,
    /// Nothing: a pending operation writes it.
    None,
}

/// Pages that one operation needs.
struct Entry<O> {
    operation: O,
    pages: Range<usize>,
    rights: Rights,
}

/// The closed pages. A page has the least of the rights that operations leave it.
pub struct Table<O>(Vec<Entry<O>>);

/// What changes the rights of pages; false if that is impossible.
type Set<'s> = &'s mut dyn FnMut(Range<usize>, Rights) -> bool;

impl<O> Default for Table<O> {
    fn default() -> Table<O> {
        Table(Vec::with_capacity(MAX_ENTRIES))
    }
}

impl<O: Copy + PartialEq> Table<O> {
    /// Whether nothing is closed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is no room for more.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MAX_ENTRIES
    }

    /// The least rights that operations leave the page at an address.
    pub fn rights_at(&self, address: usize) -> Rights {
        let holding = self.0.iter().filter(|entry| entry.pages.contains(&address));
        holding.map(|entry| entry.rights).max().unwrap_or(Rights::All)
    }

    /// Leaves the program no more than `rights` to pages, until the operation is removed. If that
    /// is impossible for any of them, nothing is changed, and false returned.
    pub fn add(&mut self, operation: O, pages: Range<usize>, rights: Rights, set: Set<'_>) -> bool {
        let mut done = true;
        self.each_part(&pages, &mut |part, before| {
            if done && rights > before {
                done = set(part, rights);
            }
        });
        if done {
            self.0.push(Entry { operation, pages, rights });
        } else {
            self.restore(&pages, set);
        }
        done
    }

    /// The operation needs no pages any more.
    pub fn remove(&mut self, operation: O, set: Set<'_>) {
        let mut index = 0;
        while index < self.0.len() {
            if self.0[index].operation == operation {
                let entry = self.0.swap_remove(index);
                self.restore(&entry.pages, set);
            } else {
                index += 1;
            }
        }
    }

    /// No operation needs any of these pages any more.
    pub fn open(&mut self, pages: &Range<usize>, set: Set<'_>) {
        let mut index = 0;
        while index < self.0.len() {
            let Entry { operation, pages: of, rights } = &self.0[index];
            if of.start >= pages.end || of.end <= pages.start {
                index += 1;
                continue;
            }
            let (operation, rights) = (*operation, *rights);
            let (before, after) = (of.start..pages.start, pages.end..of.end);
            set(of.start.max(pages.start)..of.end.min(pages.end), Rights::All);
            self.0.swap_remove(index);
            for pages in [before, after].into_iter().filter(|part| part.start < part.end) {
                match self.is_full() {
                    // Nothing is allocated here.
                    true => self.restore(&pages, set),
                    false => self.0.push(Entry { operation, pages, rights }),
                }
            }
        }
    }

    /// Everything is open.
    pub fn clear(&mut self, set: Set<'_>) {
        for entry in self.0.drain(..) {
            set(entry.pages, Rights::All);
        }
    }

    /// Gives pages the rights that operations leave them.
    fn restore(&self, pages: &Range<usize>, set: Set<'_>) {
        self.each_part(pages, &mut |part, rights| {
            // What cannot be changed is what has changed by itself.
            set(part, rights);
        });
    }

    /// Visits the parts of a range that have the same rights.
    fn each_part(&self, pages: &Range<usize>, visit: &mut dyn FnMut(Range<usize>, Rights)) {
        let mut start = pages.start;
        while start < pages.end {
            let rights = self.rights_at(start);
            let mut end = self.next_bound(start, pages.end);
            while end < pages.end && self.rights_at(end) == rights {
                end = self.next_bound(end, pages.end);
            }
            visit(start..end, rights);
            start = end;
        }
    }

    /// The next address after `from`, `limit` at most, where pages of an operation begin or end.
    fn next_bound(&self, from: usize, limit: usize) -> usize {
        debug_assert!(from.is_multiple_of(PAGE) && limit.is_multiple_of(PAGE));
        let bounds = self.0.iter().flat_map(|entry| [entry.pages.start, entry.pages.end]);
        bounds.filter(|bound| *bound > from).fold(limit, usize::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const PAGES: usize = 12;

    #[derive(Clone, Debug)]
    enum Step {
        Add(u8, Range<usize>, bool),
        Fail(u8, Range<usize>, usize),
        Remove(u8),
        Open(usize),
        Clear,
    }

    fn range() -> impl Strategy<Value = Range<usize>> {
        (0..PAGES, 1..=PAGES).prop_map(|(start, length)| start..(start + length).min(PAGES))
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0..6u8, range(), any::<bool>()).prop_map(|(o, r, w)| Step::Add(o, r, w)),
            1 => (0..6u8, range(), 0..PAGES).prop_map(|(o, r, at)| Step::Fail(o, r, at)),
            5 => (0..6u8).prop_map(Step::Remove),
            3 => (0..PAGES).prop_map(Step::Open),
            1 => Just(Step::Clear),
        ]
    }

    fn bytes(pages: &Range<usize>) -> Range<usize> {
        pages.start * PAGE..pages.end * PAGE
    }

    proptest! {
        /// Each page has the least rights of all operations that need it: page by page.
        #[test]
        fn pages_have_the_least_of_all_rights(steps in prop::collection::vec(step(), 1..40)) {
            let mut table = Table::default();
            let mut now = [Rights::All; PAGES];
            // What each page is needed for, by the number of the step.
            let mut needs: Vec<HashMap<usize, (u8, Rights)>> = vec![HashMap::new(); PAGES];
            for (number, step) in steps.into_iter().enumerate() {
                let mut set = |pages: Range<usize>, rights| {
                    now[pages.start / PAGE..pages.end / PAGE].fill(rights);
                    true
                };
                match step {
                    Step::Add(operation, pages, writes) => {
                        let rights = if writes { Rights::None } else { Rights::Read };
                        prop_assert!(table.add(operation, bytes(&pages), rights, &mut set));
                        for page in pages {
                            needs[page].insert(number, (operation, rights));
                        }
                    }
                    Step::Fail(operation, pages, at) => {
                        let mut fails = |part: Range<usize>, rights| {
                            !(rights == Rights::None && part.contains(&(at * PAGE)))
                                && set(part, rights)
                        };
                        let rights = Rights::None;
                        if table.add(operation, bytes(&pages), rights, &mut fails) {
                            for page in pages {
                                needs[page].insert(number, (operation, rights));
                            }
                        }
                    }
                    Step::Remove(operation) => {
                        table.remove(operation, &mut set);
                        needs.iter_mut().for_each(|page| page.retain(|_, of| of.0 != operation));
                    }
                    Step::Open(page) => {
                        table.open(&bytes(&(page..page + 1)), &mut set);
                        needs[page].clear();
                    }
                    Step::Clear => {
                        table.clear(&mut set);
                        needs.iter_mut().for_each(HashMap::clear);
                    }
                }
                for (page, of) in needs.iter().enumerate() {
                    let least = of.values().map(|of| of.1).max().unwrap_or(Rights::All);
                    prop_assert_eq!(now[page], least, "page {} after step {}", page, number);
                    prop_assert_eq!(table.rights_at(page * PAGE), least);
                }
            }
        }
    }
}
