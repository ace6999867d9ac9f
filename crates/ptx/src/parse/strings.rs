//! Names of inlined functions: `.section .debug_str`, to whose labels `.loc` refers.

use super::lex::{Lexer, Token};
use rustc_hash::FxHashMap;

/// Texts by label. Each is decoded on demand: there are many, and few are needed.
#[derive(Default)]
pub(super) struct Strings<'a>(FxHashMap<&'a str, Lexer<'a>>);

impl<'a> Strings<'a> {
    /// Parses a section: labels, each followed by `.b8 95, 90, …, 0`.
    pub(super) fn parse(text: &'a str) -> Strings<'a> {
        let mut all = FxHashMap::default();
        let mut lexer = Lexer::new(text);
        loop {
            match lexer.next() {
                Token::Word(label) if lexer.eat(b':') => {
                    all.insert(label, lexer.clone());
                }
                Token::End => return Strings(all),
                _ => {}
            }
        }
    }

    /// The text at a label.
    pub(super) fn get(&self, label: &str) -> Option<String> {
        let mut lexer = self.0.get(label)?.clone();
        let mut bytes = Vec::new();
        loop {
            match lexer.next() {
                Token::Number(text) => match text.parse::<u8>().ok()? {
                    0 => return String::from_utf8(bytes).ok(),
                    byte => bytes.push(byte),
                },
                Token::Word(".b8") | Token::Mark(b',') => {}
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_texts() {
        let all = Strings::parse("A:\n.b8 95,90,49\n.b8 102, 0\nB: .b8 0\nC: .b8 7");
        assert_eq!(all.get("A").as_deref(), Some("_Z1f"));
        assert_eq!(all.get("B").as_deref(), Some(""));
        assert_eq!((all.get("C"), all.get("D")), (None, None));
    }
}
