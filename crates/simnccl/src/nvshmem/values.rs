//! Arithmetic, comparison and atomics on values in memory.

use super::job::Operand;
use half::{bf16, f16};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A value as bits.
pub trait Bits: Copy + PartialOrd {
    /// The value's bits, in the lowest ones.
    fn bits(self) -> u128;
    fn of_bits(bits: u128) -> Self;
}

/// A value that reductions combine arithmetically.
pub trait Value: Copy {
    fn sum(self, other: Self) -> Self;
    fn prod(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn most(self, other: Self) -> Self;
}

/// An integer that reductions combine bitwise.
pub trait Integer: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Value for $ty {
            fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
            fn prod(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn least(self, other: Self) -> Self { Ord::min(self, other) }
            fn most(self, other: Self) -> Self { Ord::max(self, other) }
        }
        impl Integer for $ty {
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
        }
        impl Bits for $ty {
            fn bits(self) -> u128 { self as u128 }
            fn of_bits(bits: u128) -> Self { bits as $ty }
        }
    )*};
}

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Value for $ty {
            fn sum(self, other: Self) -> Self { self + other }
            fn prod(self, other: Self) -> Self { self * other }
            fn least(self, other: Self) -> Self { if other < self { other } else { self } }
            fn most(self, other: Self) -> Self { if other > self { other } else { self } }
        }
    )*};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);
floats!(bf16 f16 f32 f64);

impl Bits for f32 {
    fn bits(self) -> u128 {
        self.to_bits().into()
    }
    fn of_bits(bits: u128) -> f32 {
        f32::from_bits(bits as u32)
    }
}

impl Bits for f64 {
    fn bits(self) -> u128 {
        self.to_bits().into()
    }
    fn of_bits(bits: u128) -> f64 {
        f64::from_bits(bits as u64)
    }
}

/// Functions that combine an array in memory with another one of the same length.
pub mod combine {
    use super::{Integer, Value};

    macro_rules! functions {
        ($($name:ident: $of:ident)*) => {$(
            /// # Safety
            /// As many bytes as `with` has are readable at `from`.
            pub unsafe fn $name<T: $of>(with: &mut [u8], from: usize) {
                let with = with.chunks_exact_mut(size_of::<T>());
                for (number, value) in with.enumerate() {
                    let (from, value) = (from as *const T, value.as_mut_ptr().cast::<T>());
                    // SAFETY: the bytes of a value, in `with` and, by the contract, at the other
                    // address.
                    unsafe {
                        let other = from.add(number).read_unaligned();
                        value.write_unaligned(value.read_unaligned().$name(other));
                    }
                }
            }
        )*};
    }
    functions!(sum: Value prod: Value least: Value most: Value and: Integer or: Integer xor: Integer);
}

/// Changes a value in memory atomically; returns the old value.
///
/// # Safety
/// A `T` of 4 or 8 bytes lies at the address, aligned.
pub unsafe fn change<T: Bits>(address: usize, change: impl Fn(T) -> T) -> T {
    let new = |old: u128| change(T::of_bits(old)).bits();
    let (done, retry) = (Ordering::AcqRel, Ordering::Acquire);
    let old: u128 = if size_of::<T>() == size_of::<u32>() {
        // SAFETY: by this function's contract.
        let value = unsafe { &*(address as *const AtomicU32) };
        let old = value.fetch_update(done, retry, |old| Some(new(old.into()) as u32));
        old.unwrap_or(0).into()
    } else {
        // SAFETY: by this function's contract.
        let value = unsafe { &*(address as *const AtomicU64) };
        let old = value.fetch_update(done, retry, |old| Some(new(old.into()) as u64));
        old.unwrap_or(0).into()
    };
    T::of_bits(old)
}

/// Whether value `number` compares as required, by `NVSHMEM_CMP_EQ` and the like.
///
/// # Safety
/// There are so many values, which others may change concurrently, and so many operands.
pub unsafe fn holds<T: Bits>(at: usize, number: usize, how: c_int, with: Operand) -> bool {
    // SAFETY: by this function's contract.
    let (value, with) = unsafe {
        let with = match with {
            Operand::Value(bits) => T::of_bits(bits),
            Operand::Values(at) => (at as *const T).add(number).read(),
        };
        ((at as *const T).add(number).read_volatile(), with)
    };
    match how {
        0 => value == with,
        1 => value != with,
        2 => value > with,
        3 => value <= with,
        4 => value < with,
        _ => value >= with,
    }
}
