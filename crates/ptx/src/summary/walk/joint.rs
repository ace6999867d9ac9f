//! If-conversion of accesses: joins accesses that happen on one path or another.
//!
//! `if (c) a[i] = 1; else a[i] = 2;` writes `a[i]`, whatever `c` is.

use super::{Context, Walker};
use crate::summary::graph::NodeId;
use crate::summary::{Access, AccessKind, Site};

/// Maximum number of accesses of a function that is searched for joint accesses.
const MAX_ACCESSES: usize = 400;

/// Maximum depth to which addresses are compared.
const MAX_ADDRESS_DEPTH: u32 = 10;

/// Accesses of the same kind, to the same address, in different blocks.
struct Group {
    kind: AccessKind,
    size: u64,
    address: NodeId,
    sites: Vec<Site>,
}

impl Walker<'_> {
    /// Adds the joint accesses, of which each path from some block meets one. `first` is the first
    /// access of this activation.
    pub(super) fn joint_accesses(&mut self, first: usize) {
        for Group { kind, size, address, sites } in self.groups(first) {
            let blocks: Vec<usize> = sites.iter().map(|site| self.block_of(*site)).collect();
            let Some(above) = self.flow.common_dominator(&blocks) else { continue };
            if !blocks.contains(&above) && self.flow.leads_to_one_of(above, &blocks) {
                let Context { calls, guards, loops, certain } = self.context_of(above);
                let (site, also) = (sites[0], sites[1..].to_vec());
                let address = Some(address);
                let joint =
                    Access { kind, size, site, also, calls, address, guards, loops, certain };
                self.findings.accesses.push(joint);
            }
        }
    }

    fn groups(&self, first: usize) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        // Accesses of callees belong to other bodies.
        let is_own = |access: &&Access| access.calls.len() == self.context.calls.len();
        let is_unguarded = |access: &&Access| {
            self.body.instructions[access.site.instruction as usize].guard.is_none()
        };
        let own = self.findings.accesses[first..].iter().filter(is_own).filter(is_unguarded);
        for access in own.take(MAX_ACCESSES) {
            let Access { kind, size, site, address: Some(address), .. } = *access else { continue };
            let same = groups.iter_mut().find(|group| {
                (group.kind, group.size) == (kind, size)
                    && self.findings.graph.is_same(group.address, address, MAX_ADDRESS_DEPTH)
            });
            match same {
                Some(group) => group.sites.push(site),
                None => groups.push(Group { kind, size, address, sites: vec![site] }),
            }
        }
        groups.retain(|group| group.sites.len() > 1);
        groups
    }

    fn block_of(&self, site: Site) -> usize {
        self.flow.block_of[site.instruction as usize]
    }
}
