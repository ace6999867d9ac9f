//! The check: one byte of the page filter, or two if an access may straddle pages.
//!
//! The likely path contains only a load, a test and a branch. If the filter matches, the hooks
//! archive takes over, lane by lane if lanes can be disabled.

use crate::access::{Access, Lanes, Part};
use crate::builder::Builder;
use crate::hooks::{ACCESS, LANES, LEAVE, RANGE, SCATTERED, SHARE};
use crate::ir::{Module, Value};
use crate::threads::commsan_parallel;
use llvm_sys::LLVMOpcode;

unsafe extern "C" {
    safe static commsan_filter: u64;
    safe static commsan_stack_live: u64;
    safe static commsan_page_shift: u64;
    safe static commsan_slot_mask: u64;
    safe static commsan_check_read: u8;
    safe static commsan_check_write: u8;
}

/// Maximum number of lanes: hooks that preserve registers take a 64-bit mask.
const MAX_LANES: u64 = 64;

/// Inserts the check in front of an access.
pub fn check(module: Module, access: &Access) {
    let mut builder = Builder::before(module, access.at);
    let write = usize::from(access.write);
    match &access.part {
        Part::All => {
            test(&mut builder, access, access.address);
            let hook = if access.size <= MAX_LANES { &ACCESS[write] } else { &RANGE[write] };
            builder.call(hook, &[access.address, builder.constant(access.size)]);
        }
        Part::Lanes(element, lanes) => {
            let address = builder.freeze(access.address);
            test(&mut builder, access, address);
            let lanes = bits(&builder, *lanes);
            builder.call(&LANES[write], &[address, builder.constant(*element), lanes]);
        }
        Part::Scattered(element, mask) => {
            let addresses = builder.freeze(access.address);
            test_each(&mut builder, access, addresses, *element);
            let lanes = bits(&builder, Lanes::Set(*mask));
            let table = builder.spill(addresses);
            builder.call(&SCATTERED[write], &[table, builder.constant(*element), lanes]);
        }
    }
}

/// Inserts a call that records the pages of an access while there are several threads.
pub fn share(module: Module, access: &Access) {
    if matches!(access.part, Part::Scattered(..)) {
        return;
    }
    let mut builder = Builder::before(module, access.at);
    let parallel = builder.load(64, commsan_parallel, None);
    builder.enter_if(builder.is_not_zero(parallel));
    builder.call(&SHARE, &[access.address, builder.constant(access.size)]);
}

/// Inserts a check of the frame in front of an instruction that leaves its function.
pub fn check_exit(module: Module, exit: Value) {
    let mut builder = Builder::before(module, exit);
    let live = builder.load(64, commsan_stack_live, None);
    builder.enter_if(builder.is_not_zero(live));
    builder.call(&LEAVE, &[]);
}

/// Continues in a block that is entered if the filter matches a page of the access.
fn test(builder: &mut Builder, access: &Access, address: Value) {
    const PAGE: u64 = 4096;
    if access.size > PAGE {
        return;
    }
    let address = builder.address(address);
    let mut byte = filter_byte(builder, address);
    if access.alignment < access.size.next_power_of_two() {
        let last = filter_byte(builder, builder.add(address, access.size - 1));
        byte = builder.or(byte, last);
    }
    enter_if_concerned(builder, byte, access.write);
}

/// Tests each lane of a vector of addresses.
fn test_each(builder: &mut Builder, access: &Access, addresses: Value, element: u64) {
    let mut all = builder.integer(8).constant(0);
    for lane in 0..addresses.ty().lanes() {
        let address = builder.address(builder.lane(addresses, lane));
        all = builder.or(all, filter_byte(builder, address));
        if access.alignment < element.next_power_of_two() {
            all = builder.or(all, filter_byte(builder, builder.add(address, element - 1)));
        }
    }
    enter_if_concerned(builder, all, access.write);
}

pub fn filter_byte(builder: &Builder, address: Value) -> Value {
    let slot = builder.and(builder.shift_right(address, commsan_page_shift), commsan_slot_mask);
    builder.load(8, commsan_filter, Some(slot))
}

fn enter_if_concerned(builder: &mut Builder, byte: Value, write: bool) {
    builder.enter_if(builder.is_not_zero(builder.and(byte, concern(write))));
}

/// The bits of a filter byte that concern a read or a write.
pub fn concern(write: bool) -> u64 {
    if write { commsan_check_write.into() } else { commsan_check_read.into() }
}

/// A 64-bit mask with a bit for each enabled lane.
fn bits(builder: &Builder, lanes: Lanes) -> Value {
    match lanes {
        Lanes::Known(bits) => builder.constant(bits),
        Lanes::Set(mask) => {
            let count = mask.ty().lanes();
            let bits = builder.cast(mask, builder.integer(count));
            if count < 64 { builder.zero_extend(bits, 64) } else { bits }
        }
        Lanes::Packed(mask) => {
            let ones = (0..mask.ty().lanes())
                .map(|lane| builder.zero_extend(builder.lane(mask, lane), 128))
                .reduce(|sum, one| builder.binary(LLVMOpcode::LLVMAdd, sum, one));
            let count = ones.unwrap_or(builder.integer(128).constant(0));
            let above = builder.shift_left(builder.integer(128).constant(1), count);
            builder.truncate(builder.sub(above, 1), 64)
        }
        Lanes::Negative(vector) => bits(builder, Lanes::Set(builder.is_negative(vector))),
    }
}
