//! The line of the program that an access inside a kernel comes from.

use crate::Line;
use commsan_ptx::{Access, Location, Module, Site};

/// What paths of headers have in them that come with compilers and toolkits, not with programs.
const OF_OTHERS: [&str; 8] = [
    "/usr/include/",
    "/usr/lib/",
    "/cuda/include/",
    "/bin/../include/",
    "/targets/x86_64-linux/include/",
    "/targets/sbsa-linux/include/",
    "/cccl/",
    "/cuda-1",
];

/// The innermost line in the program's own files that leads to an access, or the innermost at all.
pub(super) fn of(module: &Module, access: &Access) -> Option<Line> {
    let sites = std::iter::once(&access.site).chain(access.calls.iter().rev());
    let mut lines = sites.flat_map(|site| lines_of(module, *site));
    let innermost = lines.next()?;
    let is_own = |line: &Line| !OF_OTHERS.iter().any(|part| line.file.contains(part));
    if is_own(&innermost) {
        return Some(innermost);
    }
    Some(lines.find(is_own).unwrap_or(innermost))
}

/// The line of an instruction, then those of the calls that were inlined around it.
fn lines_of(module: &Module, site: Site) -> impl Iterator<Item = Line> + '_ {
    let body = module.functions.get(site.function as usize).and_then(|f| f.body.as_ref());
    // What the compiler has added, such as the loop of a `memcpy`, is in line 0.
    let first = body.and_then(|body| {
        let before = body.instructions.get(..=site.instruction as usize)?.iter().rev();
        before.filter_map(|i| body.location(i)).find(|location| location.line > 0)
    });
    let outwards = move |location: &&Location| {
        let at = location.inlined?.at;
        body.and_then(|body| body.locations.get(at.index()))
    };
    // A damaged text may lead in circles.
    let chain = std::iter::successors(first, outwards).take(64);
    chain.filter_map(|location| {
        let file = module.files.get(location.file as usize)?.path.as_str();
        Some(Line { file: file.into(), line: location.line })
    })
}
