//! A string interner: each name is stored once and identified by a number.

use rustc_hash::FxHashMap;

/// The interned names.
#[derive(Debug, Default)]
pub struct Strings {
    all: Vec<String>,
    known: FxHashMap<String, u32>,
    /// Numbers of string constants, by address and length.
    fixed: FxHashMap<(usize, usize), u32>,
}

impl Strings {
    /// The number of a name, which is added if new.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.known.get(name) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        number
    }

    /// The number of a string constant; a known one is found without reading it.
    #[inline]
    pub fn fixed(&mut self, name: &'static str) -> u32 {
        match self.fixed.get(&(name.as_ptr() as usize, name.len())) {
            Some(number) => *number,
            None => {
                let number = self.number(name);
                self.fixed.insert((name.as_ptr() as usize, name.len()), number);
                number
            }
        }
    }

    /// The name with a number.
    pub fn get(&self, number: u32) -> &str {
        &self.all[number as usize]
    }

    /// All names, by number.
    pub fn all(&self) -> &[String] {
        &self.all
    }
}
