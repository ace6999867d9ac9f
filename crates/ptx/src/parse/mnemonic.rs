//! Parses and prints mnemonics by the opcode table.

use crate::instruction::Modifiers;
use crate::opcodes::{self, Row, Slot};
use crate::words::*;

/// The opcode and modifiers of a mnemonic; `None` if the table does not allow it.
pub(super) fn parse(mnemonic: &str) -> Option<(&'static Row, Modifiers)> {
    let (row, rest) = opcodes::find(mnemonic)?;
    let mut modifiers = Modifiers::default();
    let words = rest.split('.').skip(1);
    for word in words {
        row.modifiers.iter().find_map(|slot| take(slot, word, &mut modifiers))?;
    }
    let count = |wanted: fn(&Slot) -> bool| row.modifiers.iter().filter(|s| wanted(s)).count();
    let needed = count(|s| *s == Slot::Type { optional: false });
    let allowed = count(|s| matches!(s, Slot::Type { .. }));
    let given = modifiers.types.iter().flatten().count();
    (needed..=allowed).contains(&given).then_some((row, modifiers))
}

/// Stores a word as the modifier of a slot, if the slot accepts it and is still empty.
fn take(slot: &Slot, word: &str, modifiers: &mut Modifiers) -> Option<()> {
    fn fill<T>(place: &mut Option<T>, value: Option<T>) -> Option<()> {
        let free = place.is_none() && value.is_some();
        free.then(|| *place = value)
    }
    match slot {
        Slot::Type { .. } => {
            let place = modifiers.types.iter_mut().find(|t| t.is_none())?;
            fill(place, Type::parse(word))
        }
        Slot::Space => fill(&mut modifiers.space, Space::parse(word)),
        Slot::Vector => fill(&mut modifiers.vector, Vector::parse(word)),
        Slot::Rounding => fill(&mut modifiers.rounding, Rounding::parse(word)),
        Slot::Compare => fill(&mut modifiers.compare, Compare::parse(word)),
        Slot::Combine => fill(&mut modifiers.combine, Combine::parse(word)),
        Slot::Order => fill(&mut modifiers.order, Order::parse(word)),
        Slot::Scope => fill(&mut modifiers.scope, Scope::parse(word)),
        Slot::Caching => fill(&mut modifiers.caching, Caching::parse(word)),
        Slot::Geometry => fill(&mut modifiers.geometry, Geometry::parse(word)),
        Slot::Mode(modes) => {
            fill(&mut modifiers.mode, modes.iter().copied().find(|m| m.word() == word))
        }
        Slot::Hints => Flag::parse(word)
            .is_some_and(|f| f.is_hint() && modifiers.flags.insert(f))
            .then_some(()),
        Slot::Flag(flag) => (flag.word() == word && modifiers.flags.insert(*flag)).then_some(()),
        Slot::Fixed(fixed) => (*fixed == word).then_some(()),
    }
}

/// The mnemonic of an opcode with modifiers.
pub(crate) fn print(row: &Row, modifiers: &Modifiers) -> String {
    let mut text = row.names[0].to_owned();
    let mut types = modifiers.types.iter().flatten();
    let mut add = |word: Option<&'static str>| {
        if let Some(word) = word {
            text.push('.');
            text.push_str(word);
        }
    };
    for slot in &row.modifiers {
        match slot {
            Slot::Type { .. } => add(types.next().map(|t| t.word())),
            Slot::Space => add(modifiers.space.map(Space::word)),
            Slot::Vector => add(modifiers.vector.map(Vector::word)),
            Slot::Rounding => add(modifiers.rounding.map(Rounding::word)),
            Slot::Compare => add(modifiers.compare.map(Compare::word)),
            Slot::Combine => add(modifiers.combine.map(Combine::word)),
            Slot::Order => add(modifiers.order.map(Order::word)),
            Slot::Scope => add(modifiers.scope.map(Scope::word)),
            Slot::Caching => add(modifiers.caching.map(Caching::word)),
            Slot::Geometry => add(modifiers.geometry.map(Geometry::word)),
            Slot::Mode(_) => add(modifiers.mode.map(Mode::word)),
            Slot::Hints => {
                modifiers.flags.iter().filter(|f| f.is_hint()).for_each(|f| add(Some(f.word())));
            }
            Slot::Flag(flag) => add(modifiers.has(*flag).then(|| flag.word())),
            Slot::Fixed(word) => add(Some(word)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_are_printed_as_they_were_read() {
        let texts = [
            "add.s32",
            "add.rn.ftz.sat.f32",
            "add.cc.u32",
            "mul.wide.s32",
            "mad.lo.s32",
            "setp.lt.and.s32",
            "setp.neu.ftz.f32",
            "cvt.rn.f32.s32",
            "cvt.rzi.ftz.s32.f32",
            "cvt.rn.satfinite.e4m3x2.f32",
            "cvta.to.global.u64",
            "cvta.local.u64",
            "ld.global.nc.L1::no_allocate.L2::128B.v4.f32",
            "ld.volatile.global.u32",
            "ld.relaxed.gpu.global.u64",
            "ld.acquire.sys.global.u64",
            "ld.param.b64",
            "ld.global.cg.u32",
            "st.shared::cta.v2.u32",
            "st.global.wt.v4.u32",
            "st.release.gpu.global.u32",
            "atom.global.add.f32",
            "atom.add.release.gpu.u32",
            "atom.relaxed.gpu.global.cas.b64",
            "atom.global.add.noftz.f16x2",
            "red.relaxed.gpu.global.add.u32",
            "shfl.sync.down.b32",
            "vote.sync.ballot.b32",
            "match.all.sync.b64",
            "redux.sync.add.s32",
            "bar.sync",
            "bar.red.popc.u32",
            "bar.warp.sync",
            "barrier.sync.aligned",
            "membar.sys",
            "fence.acq_rel.gpu",
            "fence.proxy.alias",
            "cp.async.cg.shared.global.L2::128B",
            "cp.async.wait_group",
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint",
            "mbarrier.try_wait.parity.shared.b64",
            "mbarrier.arrive.expect_tx.shared.b64",
            "div.rn.f64",
            "div.full.f32",
            "rcp.approx.ftz.f64",
            "sqrt.rn.f64",
            "min.NaN.f16",
            "fma.rn.relu.bf16x2",
            "shf.l.wrap.b32",
            "prmt.b32.f4e",
            "dp4a.s32.u32",
            "vabsdiff4.u32.u32.u32.add",
            "testp.infinite.f64",
            "brx.idx",
            "bra.uni",
            "isspacep.global",
            "multimem.red.release.sys.global.add.u32",
            "tex.a2d.v4.s32.f32",
            "tex.level.2d.v4.f32.f32",
            "tld4.g.2d.v4.f32.f32",
            "suld.b.2d.v2.b16.trap",
            "sust.b.1d.b32.clamp",
            "lop3.b32",
            "mov.b128",
        ];
        for text in texts {
            let (row, modifiers) = parse(text).unwrap_or_else(|| panic!("{text}"));
            let printed = print(row, &modifiers);
            assert_eq!(parse(&printed), Some((row, modifiers)), "{text} → {printed}");
            let mut words = [text, &printed].map(|t| t.split('.').collect::<Vec<_>>());
            words.iter_mut().for_each(|w| w.sort_unstable());
            assert_eq!(words[0], words[1]);
        }
        for (other, usual) in [
            ("vote.ballot.sync.b32", "vote.sync.ballot.b32"),
            ("vote.all.sync.pred", "vote.sync.all.pred"),
            ("shfl.idx.sync.b32", "shfl.sync.idx.b32"),
            ("redux.add.sync.s32", "redux.sync.add.s32"),
            ("match.sync.any.b32", "match.any.sync.b32"),
            ("barrier.aligned.sync", "barrier.sync.aligned"),
            ("ld.u32.global", "ld.global.u32"),
        ] {
            let read = parse(other).unwrap_or_else(|| panic!("{other}"));
            assert_eq!(Some(read), parse(usual), "{other}");
        }
        for text in [
            "add",
            "add.zap.s32",
            "add.s32.sat.sat",
            "sub.s32.s32.s32",
            "and.b32.b32",
            "wmma.load",
            "",
            "ld.global",
            ".",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
