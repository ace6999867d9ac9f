//! Arithmetic instructions: a scalar function applied to each lane of rows, as a vectorised loop.

use crate::rows::{ALL, LANES, Lane, Mask, Row, Rows, Slot, each_lane, lanes};

/// The rows that an instruction names.
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// Result.
    pub d: Slot,
    /// Second result, or fourth operand.
    pub e: Slot,
    /// First operand.
    pub a: Slot,
    /// Second operand.
    pub b: Slot,
    /// Third operand.
    pub c: Slot,
}

/// The effect of an instruction in a set of lanes.
pub type Compute = Box<dyn Fn(&Rows, &Args, Mask) + Send + Sync>;

/// Compiles `$body`, into which closures of any type are inlined, twice: for the baseline processor
/// and for AVX2 or the like, which is chosen when an instruction is lowered.
macro_rules! for_processor {
    (<$($generic:ident),*>($f:ident: $bound:path) $body:ident) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,f16c,fma,lzcnt,popcnt")]
            fn wide<$($generic: Lane,)* Op: $bound>(f: Op, rows: &Rows, args: &Args, mask: Mask) {
                $body(f, rows, args, mask);
            }
            if processor_is_wide() {
                return Box::new(move |rows, args, mask| {
                    // SAFETY: the processor has these features.
                    unsafe { wide($f, rows, args, mask) }
                });
            }
        }
        Box::new(move |rows, args, mask| $body($f, rows, args, mask))
    }};
}

#[cfg(target_arch = "x86_64")]
fn processor_is_wide() -> bool {
    use std::arch::is_x86_feature_detected as has;
    let bits = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
    bits && has!("avx2") && has!("f16c") && has!("fma")
}

/// Writes a row in the lanes of the mask; `f` gives the value of a lane.
#[inline(always)]
fn fill<R: Lane>(rows: &Rows, to: Slot, mask: Mask, f: impl Fn(usize) -> R) {
    if mask == ALL {
        rows.write(to, each_lane(f));
    } else {
        lanes(mask).for_each(|lane| rows.set(to, lane, f(lane)));
    }
}

/// The lanes of a set for which `f` holds.
#[inline(always)]
fn select(mask: Mask, f: impl Fn(usize) -> bool) -> Mask {
    let mut held = 0;
    for lane in 0..LANES {
        held |= Mask::from(f(lane)) << lane;
    }
    held & mask
}

/// A function of one value.
pub trait Op1<A, R>: Fn(A) -> R + Copy + Send + Sync + 'static {}
impl<A, R, F: Fn(A) -> R + Copy + Send + Sync + 'static> Op1<A, R> for F {}
/// A function of two values.
pub trait Op2<A, B, R>: Fn(A, B) -> R + Copy + Send + Sync + 'static {}
impl<A, B, R, F: Fn(A, B) -> R + Copy + Send + Sync + 'static> Op2<A, B, R> for F {}
/// A function of three values.
pub trait Op3<A, B, C, R>: Fn(A, B, C) -> R + Copy + Send + Sync + 'static {}
impl<A, B, C, R, F: Fn(A, B, C) -> R + Copy + Send + Sync + 'static> Op3<A, B, C, R> for F {}

#[inline(always)]
fn apply1<A: Lane, R: Lane>(f: impl Op1<A, R>, rows: &Rows, args: &Args, mask: Mask) {
    fill(rows, args.d, mask, |i| f(rows.get(args.a, i)));
}

#[inline(always)]
fn apply2<A: Lane, B: Lane, R: Lane>(f: impl Op2<A, B, R>, rows: &Rows, args: &Args, mask: Mask) {
    fill(rows, args.d, mask, |i| f(rows.get(args.a, i), rows.get(args.b, i)));
}

#[inline(always)]
fn apply3<A: Lane, B: Lane, C: Lane, R: Lane>(
    f: impl Op3<A, B, C, R>,
    rows: &Rows,
    args: &Args,
    mask: Mask,
) {
    let value = |i| f(rows.get(args.a, i), rows.get(args.b, i), rows.get(args.c, i));
    fill(rows, args.d, mask, value);
}

#[inline(always)]
fn apply_test1<A: Lane>(f: impl Op1<A, bool>, rows: &Rows, args: &Args, mask: Mask) {
    let held = select(mask, |i| f(rows.get(args.a, i)));
    rows.set_predicate(args.d, mask, held);
}

/// d = f(a)
pub fn unary<A: Lane, R: Lane>(f: impl Op1<A, R>) -> Compute {
    for_processor!(<A, R>(f: Op1<A, R>) apply1)
}

/// d = f(a, b)
pub fn binary<A: Lane, B: Lane, R: Lane>(f: impl Op2<A, B, R>) -> Compute {
    for_processor!(<A, B, R>(f: Op2<A, B, R>) apply2)
}

/// d = f(a, b, c)
pub fn ternary<A: Lane, B: Lane, C: Lane, R: Lane>(f: impl Op3<A, B, C, R>) -> Compute {
    for_processor!(<A, B, C, R>(f: Op3<A, B, C, R>) apply3)
}

/// d = f(a, b, c, e)
pub fn quaternary<A: Lane, C: Lane, R: Lane>(
    f: impl Fn(A, A, C, C) -> R + Copy + Send + Sync + 'static,
) -> Compute {
    Box::new(move |rows, args, mask| {
        let at = |i| {
            f(rows.get(args.a, i), rows.get(args.b, i), rows.get(args.c, i), rows.get(args.e, i))
        };
        fill(rows, args.d, mask, at);
    })
}

/// Predicate d = f(a)
pub fn test<A: Lane>(f: impl Op1<A, bool>) -> Compute {
    for_processor!(<A>(f: Op1<A, bool>) apply_test1)
}

/// Combines the result of a comparison with a predicate.
pub type Combination = fn(Mask, Mask) -> Mask;

/// Predicates d and e: f(a, b) and its complement, each combined with predicate c.
pub fn compare<A: Lane>(f: impl Op2<A, A, bool>, combine: Combination) -> Compute {
    #[inline(always)]
    fn apply<A: Lane>(
        f: impl Op2<A, A, bool>,
        combine: Combination,
        rows: &Rows,
        args: &Args,
        mask: Mask,
    ) {
        let held = select(mask, |i| f(rows.get(args.a, i), rows.get(args.b, i)));
        let with = rows.predicate(args.c);
        // e is written first: without a second result it is d itself.
        rows.set_predicate(args.e, mask, combine(!held, with));
        rows.set_predicate(args.d, mask, combine(held, with));
    }
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,f16c,fma,lzcnt,popcnt")]
        fn wide<A: Lane>(
            f: impl Op2<A, A, bool>,
            combine: Combination,
            rows: &Rows,
            args: &Args,
            mask: Mask,
        ) {
            apply(f, combine, rows, args, mask);
        }
        if processor_is_wide() {
            return Box::new(move |rows, args, mask| {
                // SAFETY: the processor has these features.
                unsafe { wide(f, combine, rows, args, mask) }
            });
        }
    }
    Box::new(move |rows, args, mask| apply(f, combine, rows, args, mask))
}

/// d = f(a, b, c), where f also takes and returns a carry bit, kept in predicate e.
pub fn carrying<T: Lane>(f: impl Op3<(T, T), T, bool, (T, bool)>, keep: bool) -> Compute {
    Box::new(move |rows, args, mask| {
        let carry = rows.predicate(args.e);
        let mut out = carry;
        for lane in lanes(mask) {
            let (a, b, c) =
                (rows.get(args.a, lane), rows.get(args.b, lane), rows.get(args.c, lane));
            let (value, bit) = f((a, b), c, carry >> lane & 1 == 1);
            rows.set(args.d, lane, value);
            out = out & !(1 << lane) | Mask::from(bit) << lane;
        }
        if keep {
            rows.set_predicate(args.e, mask, out);
        }
    })
}

/// Predicate d = f(a, b) of predicates a and b.
pub fn logic(f: impl Op2<Mask, Mask, Mask>) -> Compute {
    Box::new(move |rows, args, mask| {
        let value = f(rows.predicate(args.a), rows.predicate(args.b));
        rows.set_predicate(args.d, mask, value);
    })
}

/// d = a where predicate c holds, else b.
pub fn choose<T: Lane>() -> Compute {
    Box::new(|rows, args, mask| {
        let chosen = rows.predicate(args.c);
        let (a, b): (&Row<T>, &Row<T>) = (rows.row(args.a), rows.row(args.b));
        let row: Row<T> = each_lane(|i| if chosen >> i & 1 == 1 { a[i] } else { b[i] });
        match mask {
            ALL => rows.write(args.d, row),
            _ => (0..LANES)
                .filter(|lane| mask >> lane & 1 == 1)
                .for_each(|lane| rows.set(args.d, lane, row[lane])),
        }
    })
}

/// d = f(predicate a)
pub fn from_predicate<R: Lane>(f: impl Op1<bool, R>) -> Compute {
    Box::new(move |rows, args, mask| {
        let held = rows.predicate(args.a);
        fill(rows, args.d, mask, |i| f(held >> i & 1 == 1));
    })
}
