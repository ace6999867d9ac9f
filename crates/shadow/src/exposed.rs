//! Exposed pages: memory that other ranks or threads may access at any time, with its shadow
//! memory.

use crate::{PAGE_SHIFT, Pages, Shadow};
use std::collections::HashMap;
use std::ops::Range;

/// The set of exposed pages; hooks record accesses to them in shadow memory.
pub struct Exposed {
    pages: Pages,
    shadow: Shadow,
    /// For each slot, the page that it stands for, and the number of windows that expose it.
    by_slot: HashMap<usize, (usize, u32)>,
    /// Pages exposed because threads of this process share them.
    shared: Vec<usize>,
}

impl Exposed {
    /// An empty set.
    pub fn new(pages: Pages, shadow: Shadow) -> Exposed {
        Exposed { pages, shadow, by_slot: HashMap::new(), shared: Vec::new() }
    }

    /// The shadow memory: the last accesses to exposed pages.
    pub fn shadow(&self) -> &Shadow {
        &self.shadow
    }

    /// Whether no page is exposed.
    pub fn is_empty(&self) -> bool {
        self.by_slot.is_empty()
    }

    /// Whether a byte of a range lies in an exposed page.
    pub fn touches(&self, bytes: &Range<usize>) -> bool {
        !self.is_empty() && numbers(bytes).any(|page| self.pages.is_exposed(page))
    }

    /// Exposes the pages of a range; false if some cannot be exposed, as they share a slot with
    /// others.
    pub fn add(&mut self, bytes: &Range<usize>) -> bool {
        let mut all = true;
        for page in numbers(bytes) {
            let (owner, count) = self.by_slot.entry(self.pages.slot_of(page)).or_insert((page, 0));
            if *owner != page {
                all = false;
                continue;
            }
            *count += 1;
            self.pages.set_exposed(page, true);
        }
        all
    }

    /// Reverts one [`add`](Self::add), and clears the shadow of pages that nothing exposes any
    /// more.
    pub fn remove(&mut self, bytes: &Range<usize>) {
        for page in numbers(bytes) {
            let slot = self.pages.slot_of(page);
            let Some((owner, count)) = self.by_slot.get_mut(&slot) else { continue };
            if *owner != page {
                continue;
            }
            *count -= 1;
            if *count == 0 {
                self.by_slot.remove(&slot);
                self.pages.set_exposed(page, false);
                let at = page << PAGE_SHIFT;
                self.shadow.forget(&(at..at + 1));
            }
        }
    }

    /// Exposes the pages of a range that are not exposed, until [`unshare`](Self::unshare).
    pub fn share(&mut self, bytes: &Range<usize>) {
        for page in numbers(bytes).filter(|page| !self.pages.is_exposed(*page)).collect::<Vec<_>>()
        {
            let at = page << PAGE_SHIFT;
            if self.add(&(at..at + 1)) {
                self.shared.push(page);
            }
        }
    }

    /// Reverts every [`share`](Self::share).
    pub fn unshare(&mut self) {
        for page in std::mem::take(&mut self.shared) {
            let at = page << PAGE_SHIFT;
            self.remove(&(at..at + 1));
        }
    }

    /// Number of pages exposed by [`share`](Self::share).
    pub fn shared(&self) -> usize {
        self.shared.len()
    }

    /// Clears the shadow of a range, as far as it is exposed.
    pub fn forget_bytes(&self, bytes: &Range<usize>) {
        for page in numbers(bytes).filter(|page| self.pages.is_exposed(*page)) {
            let at = page << PAGE_SHIFT;
            let end = at + (1 << PAGE_SHIFT);
            self.shadow.forget_bytes(bytes.start.max(at)..bytes.end.min(end));
        }
    }

    /// Accesses up to a segment are irrelevant from now on: recycles shadow places if they run out.
    pub fn past_is_ordered(&self, segment: u32) {
        self.shadow.set_floor(segment);
        if self.shadow.is_crowded() {
            for (page, _) in self.by_slot.values() {
                let at = page << PAGE_SHIFT;
                self.shadow.forget(&(at..at + 1));
            }
            self.shadow.start_over();
        }
    }
}

fn numbers(bytes: &Range<usize>) -> Range<usize> {
    match bytes.is_empty() {
        true => 0..0,
        false => bytes.start >> PAGE_SHIFT..((bytes.end - 1) >> PAGE_SHIFT) + 1,
    }
}
