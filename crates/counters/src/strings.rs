//! Names, each kept once.

use rustc_hash::FxHashMap;

/// Names with numbers.
#[derive(Debug, Default)]
pub struct Strings {
    all: Vec<String>,
    known: FxHashMap<String, u32>,
    /// Those that the program text holds, by their address.
    fixed: FxHashMap<(usize, usize), u32>,
}

impl Strings {
    /// The number of a name.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.known.get(name) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        number
    }

    /// The number of a name that stays where it is, without reading it.
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

    /// All, by number.
    pub fn all(&self) -> &[String] {
        &self.all
    }
}
