//! The lexer: words, numbers and punctuation of PTX (PTX ISA §4).

/// A token; texts are slices of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Names and mnemonics with their dots: `ld.global.f32`, `.reg`, `%r1`, `$L__BB0_1`.
    Word(&'a str),
    /// A token that begins with a digit: `255`, `0x1F`, `0f3F800000`, `1.5e-3`.
    Number(&'a str),
    /// The text between quotes.
    Text(&'a str),
    /// Anything else, one character.
    Mark(u8),
    /// The end of the text.
    End,
}

/// The lexer: a position in a text.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

const WORD: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;
/// A character that matters while blocks are skipped.
const BLOCK: u8 = 8;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'0'..=b'9' => WORD | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' | b'.' => WORD,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0 => SPACE,
            b'{' | b'}' | b'"' | b'/' => BLOCK,
            0x80.. => WORD,
            _ => 0,
        };
        byte += 1;
    }
    class
};

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// Offset of the next token, in bytes.
    pub(super) fn offset(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// Returns to an earlier offset.
    pub(super) fn restart(&mut self, offset: usize) {
        self.at = offset;
    }

    /// The text between an earlier offset and this one.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default().trim()
    }

    /// The line of an offset, from 1.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset].iter().filter(|b| **b == b'\n').count()
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads the next token.
    pub(super) fn next(&mut self) -> Token<'a> {
        self.skip_space();
        let start = self.at;
        let Some(&first) = self.text.as_bytes().get(start) else { return Token::End };
        match CLASS[first as usize] {
            class if class & DIGIT != 0 => Token::Number(self.number()),
            class if class & WORD != 0 => Token::Word(self.word()),
            _ if first == b'"' => self.quoted(),
            _ => {
                self.at += 1;
                Token::Mark(first)
            }
        }
    }

    /// The next token, without reading it.
    pub(super) fn peek(&self) -> Token<'a> {
        self.clone().next()
    }

    /// Reads the next token if it is this mark; returns whether it was.
    pub(super) fn eat(&mut self, mark: u8) -> bool {
        self.skip_space();
        let found = self.at < self.text.len() && self.byte(0) == mark;
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        loop {
            while self.at < self.text.len() && CLASS[self.byte(0) as usize] & SPACE != 0 {
                self.at += 1;
            }
            if !self.skip_comment() {
                return;
            }
        }
    }

    /// Skips a comment, or a line for the preprocessor.
    fn skip_comment(&mut self) -> bool {
        let end = match (self.byte(0), self.byte(1)) {
            (b'/', b'/') | (b'#', _) => "\n",
            (b'/', b'*') => "*/",
            _ => return false,
        };
        let rest = &self.text[self.at..];
        self.at += rest.find(end).map_or(rest.len(), |at| at + end.len());
        true
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        self.at += 1;
        // Directives may stand close together: `.reg.b32`.
        let directive = self.text.as_bytes()[start] == b'.';
        loop {
            while CLASS[self.byte(0) as usize] & WORD != 0 && !(directive && self.byte(0) == b'.') {
                self.at += 1;
            }
            // `shared::cta`; a single colon ends a label.
            let scoped = self.byte(0) == b':' && self.byte(1) == b':';
            if !scoped || CLASS[self.byte(2) as usize] & WORD == 0 {
                return &self.text[start..self.at];
            }
            self.at += 2;
        }
    }

    fn number(&mut self) -> &'a str {
        let start = self.at;
        let is_hex = matches!(self.byte(1), b'x' | b'X' | b'f' | b'F' | b'd' | b'D');
        loop {
            while CLASS[self.byte(0) as usize] & WORD != 0 {
                self.at += 1;
            }
            let text = &self.text[start..self.at];
            let signed =
                !is_hex && text.ends_with(['e', 'E']) && matches!(self.byte(0), b'+' | b'-');
            if !signed {
                return text;
            }
            self.at += 1;
        }
    }

    fn quoted(&mut self) -> Token<'a> {
        let start = self.at + 1;
        let rest = &self.text[start..];
        let len = rest.find('"').unwrap_or(rest.len());
        self.at = (start + len + 1).min(self.text.len());
        Token::Text(&self.text[start..start + len])
    }

    /// Skips a block after its `{`; returns its text, or `None` if it never ends.
    pub(super) fn block(&mut self) -> Option<&'a str> {
        let start = self.at;
        let mut depth = 1;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += rest.iter().position(|b| CLASS[*b as usize] & BLOCK != 0)?;
            match self.byte(0) {
                b'"' => {
                    self.quoted();
                    continue;
                }
                b'/' if self.skip_comment() => continue,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(&self.text[start..self.at - 1]);
            }
        }
    }

    /// Skips everything up to and including the next `;`.
    pub(super) fn skip_statement(&mut self) {
        loop {
            if matches!(self.next(), Token::Mark(b';') | Token::End) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next()).filter(|t| *t != Token::End)).collect()
    }

    #[test]
    fn words_numbers_and_marks() {
        use Token::*;
        assert_eq!(
            all("@!%p1 st.shared::cta.v2.f32\t[a+-8], 0f3F800000; // x\nL: .reg.b8 1.5e-3 0x1e+4"),
            [
                Mark(b'@'),
                Mark(b'!'),
                Word("%p1"),
                Word("st.shared::cta.v2.f32"),
                Mark(b'['),
                Word("a"),
                Mark(b'+'),
                Mark(b'-'),
                Number("8"),
                Mark(b']'),
                Mark(b','),
                Number("0f3F800000"),
                Mark(b';'),
                Word("L"),
                Mark(b':'),
                Word(".reg"),
                Word(".b8"),
                Number("1.5e-3"),
                Number("0x1e"),
                Mark(b'+'),
                Number("4"),
            ]
        );
        assert_eq!(all("/* never ends"), []);
        assert_eq!(all("\"never ends"), [Text("never ends")]);
    }

    #[test]
    fn blocks_end_where_they_close() {
        let mut lexer = Lexer::new("{ a { \"}\" } // }\n b } c");
        assert!(lexer.eat(b'{'));
        assert_eq!(lexer.block(), Some(" a { \"}\" } // }\n b "));
        assert_eq!(lexer.next(), Token::Word("c"));
        assert_eq!(Lexer::new("{ a").block(), None);
    }
}
