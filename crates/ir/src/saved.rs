//! The section that the pass plugin writes (`crates/llvm-pass/src/save.rs`): modules one after
//! another, each in a bitcode wrapper, or bare as `clang -fembed-bitcode` leaves them.

/// Name of the section. clang keeps its command lines there with `-fembed-bitcode`, which are
/// passed over; they are text.
pub const SECTION: &str = ".llvmcmd";
/// Where clang keeps bitcode with `-fembed-bitcode`.
pub const EMBEDDED: &str = ".llvmbc";

const WRAPPER: u32 = 0x0b17_c0de;
const BARE: u32 = 0xdec0_4342;
const TAG: u32 = u32::from_le_bytes(*b"CSIR");
/// Bytes of a wrapper's five fields.
const FIELDS: usize = 20;

/// What is wrong with a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// At this byte no module begins.
    NoModule(usize),
    /// The module at this byte is longer than the section.
    CutOff(usize),
    /// The module at this byte is not what was written.
    Changed(usize),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Damage::NoModule(at) => write!(f, "no bitcode at byte {at} of what was kept"),
            Damage::CutOff(at) => write!(f, "bitcode at byte {at} of what was kept is cut off"),
            Damage::Changed(at) => write!(f, "bitcode at byte {at} of what was kept is damaged"),
        }
    }
}

/// A module in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved<'s> {
    /// The bitcode.
    pub bitcode: &'s [u8],
    /// Whether it is as commsan's plugin wrote it.
    pub verified: bool,
}

/// The modules in a section, or in a file of bitcode.
///
/// # Errors
/// When something in it is not a module; what comes after it is then unknown.
pub fn modules(section: &[u8]) -> Result<Vec<Saved<'_>>, Damage> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < section.len() {
        match word(section, at) {
            Some(WRAPPER) => {
                let (module, end) = wrapped(section, at)?;
                found.push(module);
                at = end;
            }
            Some(BARE) => {
                let end = end_of_bare(section, at)?;
                found.push(Saved { bitcode: &section[at..end], verified: false });
                at = end;
            }
            // Padding of the linker.
            _ if section[at] == 0 => at += 1,
            _ => at += command_line(&section[at..]).ok_or(Damage::NoModule(at))?,
        }
    }
    Ok(found)
}

/// Length of an option that clang has kept.
fn command_line(bytes: &[u8]) -> Option<usize> {
    let option = bytes.split(|byte| *byte == 0).next()?;
    let text = std::str::from_utf8(option).ok()?;
    text.chars().all(|c| !c.is_control()).then_some(option.len())
}

/// The module in the wrapper at `at`, and where what follows begins.
fn wrapped(section: &[u8], at: usize) -> Result<(Saved<'_>, usize), Damage> {
    let field = |n: usize| word(section, at + 4 * n).ok_or(Damage::CutOff(at));
    let begin = at + field(2)? as usize;
    let end = begin + field(3)? as usize;
    let module = section.get(begin..end).ok_or(Damage::CutOff(at))?;
    let ours = field(5)? == TAG;
    let expected = at + FIELDS + if ours { 8 } else { 0 };
    if begin < expected || ours && field(6)? != crc32fast::hash(module) {
        return Err(Damage::Changed(at));
    }
    Ok((Saved { bitcode: module, verified: ours }, end))
}

/// Where a module without wrapper ends: it is a sequence of blocks that say how long they are
/// (LLVM Bitcode File Format, "Blocks").
fn end_of_bare(section: &[u8], at: usize) -> Result<usize, Damage> {
    let mut end = at + 4;
    while word(section, end).is_some_and(opens_block) {
        let words = word(section, end + 4).ok_or(Damage::CutOff(at))?;
        end += 8 + 4 * words as usize;
    }
    if end > section.len() { Err(Damage::CutOff(at)) } else { Ok(end) }
}

/// Whether a word enters one of the blocks that files consist of: abbreviation 1 in two bits, the
/// block's number in eight, of identification, module, string table or symbol table.
fn opens_block(word: u32) -> bool {
    const ENTER: u32 = 1;
    const TOP_LEVEL: [u32; 4] = [13, 8, 23, 25];
    word & 3 == ENTER && TOP_LEVEL.contains(&(word >> 2 & 0xff))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the plugin writes it.
    fn saved(module: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in [WRAPPER, 0, 28, module.len() as u32, u32::MAX, TAG, crc32fast::hash(module)] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(module);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn bare(content: &[u32]) -> Vec<u8> {
        let start = (8 << 2) | 1;
        let words = [&[BARE, start, content.len() as u32], content].concat();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn bare_modules_end_where_their_blocks_do() {
        let (one, two) = (bare(&[7, 8]), bare(&[]));
        let section = [&*one, &*saved(b"abc"), &*two].concat();
        let expected = [(&*one, false), (b"abc", true), (&*two, false)];
        let expected = expected.map(|(bitcode, verified)| Saved { bitcode, verified });
        assert_eq!(modules(&section).as_deref(), Ok(&expected[..]));
        assert_eq!(modules(&one[..16]), Err(Damage::CutOff(0)));
    }

    #[test]
    fn command_lines_are_passed_over() {
        let section = [b"-cc1\0-O2\0caf\xc3\xa9 1.c\0", &*saved(b"abc"), b"-g"].concat();
        let expected = vec![Saved { bitcode: b"abc", verified: true }];
        assert_eq!(modules(&section), Ok(expected));
        assert_eq!(modules(b"-O2\0\x7f"), Err(Damage::NoModule(4)));
    }

    proptest! {
        #[test]
        fn what_was_saved_is_found(parts: Vec<(Vec<u8>, u8)>) {
            let section: Vec<u8> = parts
                .iter()
                .flat_map(|(module, padding)| {
                    let mut bytes = saved(module);
                    bytes.resize(bytes.len() + usize::from(padding % 4) * 4, 0);
                    bytes
                })
                .collect();
            let expected: Vec<_> =
                parts.iter().map(|(bitcode, _)| Saved { bitcode, verified: true }).collect();
            prop_assert_eq!(modules(&section), Ok(expected));
        }

        #[test]
        fn a_changed_byte_is_noticed_or_harmless(
            module in prop::collection::vec(any::<u8>(), 1..50),
            at: prop::sample::Index,
            change in 1..=255u8,
        ) {
            let mut section = saved(&module);
            let at = at.index(28 + module.len());
            section[at] ^= change;
            // Version and processor are nobody's business.
            if !(4..8).contains(&at) && !(16..24).contains(&at) {
                prop_assert!(modules(&section).is_err());
            }
        }

        #[test]
        fn anything_is_survived(bytes: Vec<u8>) {
            let _ = modules(&bytes);
            let _ = modules(&[&WRAPPER.to_le_bytes(), &*bytes].concat());
            let _ = modules(&[&BARE.to_le_bytes(), &*bytes].concat());
        }
    }
}
