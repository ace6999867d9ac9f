//! Shifts, bit fields, permutations and logic (PTX ISA §9.7.1, §9.7.8).

use super::{Case, halves, raw, words};

/// The cases of this family, each with a unique name.
pub fn cases() -> Vec<Case> {
    vec![
        words("shl", "shl.b32", 2, |a, b, _| a.checked_shl(b).unwrap_or(0)),
        words("shr_u", "shr.u32", 2, |a, b, _| a.checked_shr(b).unwrap_or(0)),
        words("shr_s", "shr.s32", 2, |a, b, _| ((a as i32) >> b.min(31)) as u32),
        words("shf_l", "shf.l.wrap.b32", 3, |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
        }),
        words("shf_r", "shf.r.clamp.b32", 3, |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32
        }),
        words("popc", "popc.b32", 1, |a, _, _| a.count_ones()),
        words("clz", "clz.b32", 1, |a, _, _| a.leading_zeros()),
        words("brev", "brev.b32", 1, |a, _, _| a.reverse_bits()),
        words("bfind", "bfind.u32", 1, |a, _, _| a.checked_ilog2().unwrap_or(u32::MAX)),
        words("cnot", "cnot.b32", 1, |a, _, _| u32::from(a == 0)),
        words("bfind_s", "bfind.s32", 1, |a, _, _| {
            let magnitude = if (a as i32) < 0 { !a } else { a };
            magnitude.checked_ilog2().unwrap_or(u32::MAX)
        }),
        words("bfind_shift", "bfind.shiftamt.u32", 1, |a, _, _| {
            a.checked_ilog2().map_or(u32::MAX, |bit| 31 - bit)
        }),
        // A mask of `b` bits from bit `a` on, truncated to the word.
        words("bmsk", "bmsk.clamp.b32", 2, |a, b, _| {
            ((((1u128 << b.min(32)) - 1) << a.min(32)) & 0xffff_ffff) as u32
        }),
        words("bmsk_wrap", "bmsk.wrap.b32", 2, |a, b, _| ((1 << (b & 31)) - 1) << (a & 31)),
        words("szext_u", "szext.wrap.u32", 2, |a, b, _| a & ((1 << (b & 31)) - 1)),
        words("szext_s", "szext.clamp.s32", 2, |a, b, _| match b {
            0 => 0,
            1..32 if a >> (b - 1) & 1 == 1 => a | u32::MAX << b,
            1..32 => a & !(u32::MAX << b),
            _ => a,
        }),
        words("fns", "and.b32 %bw, %bw, 31; shr.s32 %cw, %cw, 28; fns.b32", 3, |mask, base, n| {
            let (n, mut at) = ((n as i32) >> 28, (base & 31) as i32);
            let mut left = n.abs() - 1;
            while (0..32).contains(&at) {
                let set = mask >> at & 1 == 1;
                if set && left <= 0 {
                    return at as u32;
                }
                if n == 0 {
                    break;
                }
                left -= i32::from(set);
                at += n.signum();
            }
            u32::MAX
        }),
        words("prmt", "prmt.b32", 3, |a, b, c| {
            let all = [a.to_le_bytes(), b.to_le_bytes()].concat();
            (0..4).fold(0, |word, n| {
                let by = c >> (4 * n) & 15;
                let byte = all[by as usize % 8];
                let byte = if by < 8 { byte } else { 0xff * (byte >> 7) };
                word | u32::from(byte) << (8 * n)
            })
        }),
        words("prmt_f4e", "prmt.b32.f4e", 3, |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) >> (8 * (c & 3))) as u32
        }),
        words("prmt_b4e", "prmt.b32.b4e", 3, |a, b, c| {
            // Bytes c, c - 1, c - 2, c - 3 of the ring of eight.
            let ring = (u64::from(b) << 32 | u64::from(a)).rotate_right(8 * (c & 3));
            (ring.rotate_left(24) as u32).swap_bytes()
        }),
        words("prmt_ecl", "prmt.b32.ecl", 3, |a, _, c| {
            let bytes = a.to_le_bytes();
            let at = |n: u32| bytes[n.max(c & 3) as usize];
            u32::from_le_bytes([at(0), at(1), at(2), at(3)])
        }),
        words("prmt_rc16", "prmt.b32.rc16", 3, |a, _, c| {
            let half = a >> (16 * (c & 1)) & 0xffff;
            half << 16 | half
        }),
        halves("not16", "not.b16", 1, |a, _, _| !a),
        halves("shr16", "shr.s16 %rh, %ah, 3; mov.b16 %ah, %rh; mov.b16", 1, |a, _, _| {
            (a as i16 >> 3) as u16
        }),
        raw("bfi_word", "bfi.b32 %rw, %aw, %bw, %cw, 13; cvt.u64.u32 %result, %rw;", |a, b, c| {
            let at = c as u32 & 0xff;
            let mask = 0x1fffu32.checked_shl(at).unwrap_or(0);
            (b as u32 & !mask | (a as u32).checked_shl(at).unwrap_or(0) & mask).into()
        }),
        raw("bfi", "bfi.b64 %result, %a, %b, %cw, 13;", |a, b, c| {
            let at = c as u32;
            let mask = 0x1fffu64.checked_shl(at).unwrap_or(0);
            b & !mask | a.checked_shl(at).unwrap_or(0) & mask
        }),
        raw("bfe", "bfe.s32 %rw, %aw, %bw, 9; cvt.s64.s32 %result, %rw;", |a, b, _| {
            // The sign is the field's highest bit, or the value's if the field extends beyond it.
            let (a, at) = (i64::from(a as i32), b as u32 & 0xff);
            let top = (at + 8).min(31);
            let signed = a << (63 - top) >> (63 - top);
            (signed >> at.min(63)) as u64
        }),
        raw("lop3", "lop3.b32 %rw, %aw, %bw, %cw, 0x96; cvt.u64.u32 %result, %rw;", |a, b, c| {
            (a ^ b ^ c) & 0xffff_ffff
        }),
        raw(
            "clz64",
            "clz.b64 %rw, %a; popc.b64 %aw, %b; add.u32 %rw, %rw, %aw; cvt.u64.u32 %result, %rw;",
            |a, b, _| u64::from(a.leading_zeros() + b.count_ones()),
        ),
        raw("shl64", "shl.b64 %a, %a, %bw; shr.s64 %result, %a, %cw;", |a, b, c| {
            let left = a.checked_shl(b as u32).unwrap_or(0) as i64;
            (left >> (c as u32).min(63)) as u64
        }),
    ]
}
