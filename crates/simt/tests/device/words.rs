//! Kernels that apply an instruction to random words.

use super::{Arguments, run, shape};
use commsan_simt::{Fault, Program};

/// The head of a module of such kernels.
pub const HEAD: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// A kernel that applies instructions to the input of each of 32 threads, three 64-bit words in
/// `in`, and stores `%result`. `%a`, `%b`, `%c` are the words; `%aw` and `%ah` are the low 32 and
/// 16 bits of `%a`, and so on.
pub fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 in, .param .u64 out) {{
            .reg .b64 %pin, %pout, %a, %b, %c, %result, %at;
            .reg .b32 %aw, %bw, %cw, %rw, %t;
            .reg .b16 %ah, %bh, %ch, %rh;
            .reg .pred %p, %q;
            ld.param.u64 %pin, [in];
            ld.param.u64 %pout, [out];
            mov.u32 %t, %tid.x;
            mad.wide.u32 %at, %t, 24, %pin;
            ld.global.u64 %a, [%at];
            ld.global.u64 %b, [%at+8];
            ld.global.u64 %c, [%at+16];
            cvt.u32.u64 %aw, %a; cvt.u32.u64 %bw, %b; cvt.u32.u64 %cw, %c;
            cvt.u16.u64 %ah, %a; cvt.u16.u64 %bh, %b; cvt.u16.u64 %ch, %c;
            mov.u64 %result, 0;
            {body}
            mad.wide.u32 %at, %t, 8, %pout;
            st.global.u64 [%at], %result;
            ret;
        }}\n"
    )
}

/// Runs such a kernel in a block of `threads` threads; returns what each of them stores.
pub fn apply(
    program: &Program,
    name: &str,
    threads: u32,
    input: &mut [[u64; 3]],
) -> Result<Vec<u64>, Box<Fault>> {
    let mut out = vec![0u64; input.len()];
    let arguments = Arguments::new().array(input).array(&mut out);
    run(program, name, &shape(1, threads), &arguments)?;
    Ok(out)
}
