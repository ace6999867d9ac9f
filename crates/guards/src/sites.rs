//! How often operations of each call site were watched.

/// Sites that are known at most.
const SITES: usize = 256;

/// Operations of a site that are watched whatever they cost: a mistake mostly shows in the first
/// ones.
pub const ALWAYS: u16 = 64;

/// Counts by call site, the address that the call returns to. A site whose place another one has
/// counts as watched often, so that there is a limit to what new ones may cost.
pub struct Sites([(usize, u16); SITES]);

impl Sites {
    pub fn new() -> Sites {
        Sites([(0, 0); SITES])
    }

    /// Whether fewer than [`ALWAYS`] of its operations were watched.
    pub fn is_new(&self, site: usize) -> bool {
        let (known, times) = self.0[place(site)];
        known == 0 || known == site && times < ALWAYS
    }

    /// An operation is watched.
    pub fn watched(&mut self, site: usize) {
        let (known, times) = &mut self.0[place(site)];
        if *known == 0 {
            *known = site;
        }
        if *known == site {
            *times = times.saturating_add(1);
        }
    }
}

fn place(site: usize) -> usize {
    (site.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) % SITES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_new_for_a_while_and_others_do_not_renew_it() {
        let mut sites = Sites::new();
        assert!(sites.is_new(7));
        (1..ALWAYS).for_each(|_| sites.watched(7));
        assert!(sites.is_new(7));
        sites.watched(7);
        assert!(!sites.is_new(7));
        let other = (8..).find(|other| place(*other) == place(7)).unwrap();
        assert!(!sites.is_new(other), "its place is taken");
        sites.watched(other);
        assert!(!sites.is_new(7));
        let free = (8..).find(|other| place(*other) != place(7)).unwrap();
        assert!(sites.is_new(free));
    }
}
