//! `printf` of kernels (CUDA C++ Programming Guide, "Formatted Output"): conversions of C, with
//! arguments from a buffer in which each is aligned to its size.

use crate::provided::text;
use std::ffi::{CString, c_char, c_int};

/// Reads a byte at an address.
type Read<'a> = dyn FnMut(u64) -> Option<u8> + 'a;

unsafe extern "C" {
    fn snprintf(to: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

/// Formats a text; also returns the number of arguments, which a kernel's `printf` returns.
pub fn format(format: &[u8], arguments: u64, read: &mut Read<'_>) -> (Vec<u8>, u64) {
    let (mut out, mut count, mut at, mut rest) = (Vec::new(), 0, arguments, format);
    while let Some(percent) = rest.iter().position(|byte| *byte == b'%') {
        out.extend_from_slice(&rest[..percent]);
        rest = &rest[percent..];
        let Some(conversion) = Conversion::parse(rest) else {
            out.extend_from_slice(rest);
            return (out, count);
        };
        rest = &rest[conversion.len..];
        if conversion.kind == b'%' {
            out.push(b'%');
            continue;
        }
        count += conversion.print(&mut at, read, &mut out);
    }
    out.extend_from_slice(rest);
    (out, count)
}

/// A conversion specification such as `%-08.3lf`.
struct Conversion<'a> {
    /// Flags, width and precision.
    shape: &'a [u8],
    /// The length modifier: `l`, `ll`, `h`, …
    length: &'a [u8],
    kind: u8,
    /// Length of the whole specification, in bytes.
    len: usize,
}

impl<'a> Conversion<'a> {
    fn parse(text: &'a [u8]) -> Option<Conversion<'a>> {
        let end_of = |from: usize, set: &[u8]| {
            from + text[from..].iter().take_while(|byte| set.contains(byte)).count()
        };
        let shape = end_of(1, b"-+ #0123456789.*");
        let length = end_of(shape, b"hlLzjtq");
        let kind = *text.get(length)?;
        let (shape_text, length_text) = (&text[1..shape], &text[shape..length]);
        Some(Conversion { shape: shape_text, length: length_text, kind, len: length + 1 })
    }

    fn is_long(&self) -> bool {
        !matches!(self.length, b"" | b"h" | b"hh")
    }

    /// Prints the conversion's arguments; returns their number.
    fn print(&self, at: &mut u64, read: &mut Read<'_>, out: &mut Vec<u8>) -> u64 {
        let mut shape = Vec::new();
        let mut count = 1;
        for byte in self.shape {
            match byte {
                b'*' => {
                    shape.extend((argument(at, 4, read) as i32).to_string().bytes());
                    count += 1;
                }
                byte => shape.push(*byte),
            }
        }
        match self.kind {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' => self.integer(&shape, at, read, out),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                let value = f64::from_bits(argument(at, 8, read));
                // SAFETY: the conversion takes a double.
                print(&shape, "", self.kind, out, |to, size, format| unsafe {
                    snprintf(to, size, format, value)
                });
            }
            b'p' => {
                let value = argument(at, 8, read) as usize;
                // SAFETY: the conversion takes a pointer.
                print(&shape, "", b'p', out, |to, size, format| unsafe {
                    snprintf(to, size, format, std::ptr::without_provenance::<u8>(value))
                });
            }
            b's' => {
                let address = argument(at, 8, read);
                let value = text(read, address).unwrap_or_else(|| b"(null)".to_vec());
                let value = CString::new(value).unwrap_or_default();
                // SAFETY: the conversion takes a string, which outlives the call.
                print(&shape, "", b's', out, |to, size, format| unsafe {
                    snprintf(to, size, format, value.as_ptr())
                });
            }
            other => {
                out.extend([b'%', other]);
                count = 0;
            }
        }
        count
    }

    fn integer(&self, shape: &[u8], at: &mut u64, read: &mut Read<'_>, out: &mut Vec<u8>) {
        let bits = argument(at, if self.is_long() { 8 } else { 4 }, read);
        if self.kind == b'c' {
            // SAFETY: the conversion takes an int.
            return print(shape, "", b'c', out, |to, size, format| unsafe {
                snprintf(to, size, format, bits as c_int)
            });
        }
        let signed = matches!(self.kind, b'd' | b'i');
        let value = match (self.length, signed) {
            (b"hh", true) => bits as i8 as i64,
            (b"hh", false) => bits as u8 as i64,
            (b"h", true) => bits as i16 as i64,
            (b"h", false) => bits as u16 as i64,
            (b"", true) => bits as i32 as i64,
            (b"", false) => bits as u32 as i64,
            _ => bits as i64,
        };
        // SAFETY: the conversion takes a long long.
        print(shape, "ll", self.kind, out, |to, size, format| unsafe {
            snprintf(to, size, format, value)
        });
    }
}

/// The next argument, of 4 or 8 bytes, aligned to its size.
fn argument(at: &mut u64, size: u64, read: &mut Read<'_>) -> u64 {
    *at = at.next_multiple_of(size);
    let bytes = (0..size).map(|n| u64::from(read(*at + n).unwrap_or(0)) << (8 * n));
    let value = bytes.sum();
    *at += size;
    value
}

/// Prints with C's own conversion, a second time if the text is unusually long.
fn print(
    shape: &[u8],
    length: &str,
    kind: u8,
    out: &mut Vec<u8>,
    by: impl Fn(*mut c_char, usize, *const c_char) -> c_int,
) {
    let mut format = vec![b'%'];
    format.extend_from_slice(shape);
    format.extend_from_slice(length.as_bytes());
    format.push(kind);
    let Ok(format) = CString::new(format) else { return };
    let mut buffer = vec![0u8; 128];
    loop {
        let written = by(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr());
        let Ok(written) = usize::try_from(written) else { return };
        if written < buffer.len() {
            out.extend_from_slice(&buffer[..written]);
            return;
        }
        // A width may be as large as an int; such output is dropped.
        if written > 1 << 20 {
            return;
        }
        buffer.resize(written + 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats with arguments that lie from 0x1000 on.
    fn formatted(text: &str, arguments: &[u8]) -> (String, u64) {
        let mut read = |address: u64| match address {
            0x1000.. => arguments.get((address - 0x1000) as usize).copied(),
            _ => b"\0hello\0".get(address as usize).copied(),
        };
        let (bytes, count) = format(text.as_bytes(), 0x1000, &mut read);
        (String::from_utf8(bytes).unwrap(), count)
    }

    #[test]
    fn arguments_are_aligned() {
        let mut arguments = 7i32.to_le_bytes().to_vec();
        arguments.extend([0xcc; 4]);
        arguments.extend(2.5f64.to_le_bytes());
        arguments.extend((-3i32).to_le_bytes());
        arguments.extend([0xcc; 4]);
        arguments.extend(1u64.to_le_bytes());
        let (text, count) = formatted("%d %6.2f|%+i %s%%\n", &arguments);
        assert_eq!((text.as_str(), count), ("7   2.50|-3 hello%\n", 4));
    }

    #[test]
    fn widths_lengths_and_what_is_no_conversion() {
        let mut arguments = 5i32.to_le_bytes().to_vec();
        arguments.extend((-1i32).to_le_bytes());
        arguments.extend(u64::MAX.to_le_bytes());
        assert_eq!(formatted("%*x|%llu", &arguments).0, "ffffffff|18446744073709551615");
        assert_eq!(formatted("%hhd", &0x1ffi32.to_le_bytes()).0, "-1");
        assert_eq!(formatted("100%", &[]).0, "100%");
        assert_eq!(formatted("%s", &[0; 8]).0, "(null)");
        assert_eq!(formatted("%2147483647d", &[0; 4]).0, "");
    }
}
