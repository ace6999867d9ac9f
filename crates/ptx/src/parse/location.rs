//! Parses source locations: `.loc` directives, with inlined calls (PTX ISA §11.5.3).

use super::body::Context;
use super::declare::{number, word};
use super::lex::{Lexer, Token};
use crate::module::{Inlined, Location, LocationId};
use rustc_hash::FxHashMap;

/// The current location while a body is parsed. Only locations of instructions are kept, with the
/// call sites that they were inlined at.
#[derive(Default)]
pub(super) struct Locations {
    directives: Vec<Directive>,
    /// The last directive with a file's number, line and column.
    latest: FxHashMap<(u32, u32, u32), u32>,
    /// The location of the last directive, once it is kept.
    current: Option<LocationId>,
    known: FxHashMap<Location, LocationId>,
}

struct Directive {
    place: (u32, u32, u32),
    function: Option<u32>,
    /// The directive that it names after `inlined_at`.
    at: Option<u32>,
}

impl Locations {
    /// Parses what follows `.loc`; if that fails the location is unknown.
    pub(super) fn directive<'a>(&mut self, lexer: &mut Lexer<'a>, context: &mut Context<'a>) {
        self.current = None;
        let Some(place) = place(lexer) else { return };
        let (mut function, mut at) = (None, None);
        while lexer.eat(b',') {
            match word(lexer) {
                Ok("function_name") => function = context.name(label(lexer)),
                Ok("inlined_at") => at = self::place(lexer).map(|place| self.site(place)),
                _ => return,
            }
        }
        self.latest.insert(place, self.directives.len() as u32);
        self.directives.push(Directive { place, function, at });
    }

    /// The last directive of a source position. It should precede the directive that names it.
    fn site(&mut self, place: (u32, u32, u32)) -> u32 {
        *self.latest.entry(place).or_insert_with(|| {
            self.directives.push(Directive { place, function: None, at: None });
            self.directives.len() as u32 - 1
        })
    }

    /// The current location, kept for an instruction.
    pub(super) fn here(
        &mut self,
        kept: &mut Vec<Location>,
        file: &dyn Fn(u32) -> Option<u32>,
    ) -> Option<LocationId> {
        if self.current.is_none() {
            self.current = self.keep(self.directives.len().checked_sub(1)?, kept, file);
        }
        self.current
    }

    /// Keeps the location of a directive, after those it was inlined at.
    fn keep(
        &mut self,
        directive: usize,
        kept: &mut Vec<Location>,
        file: &dyn Fn(u32) -> Option<u32>,
    ) -> Option<LocationId> {
        let mut chain = vec![directive];
        while let Some(at) = self.directives[chain[chain.len() - 1]].at {
            chain.push(at as usize);
        }
        let mut outer = None;
        for &link in chain.iter().rev() {
            let Directive { place: (number, line, column), function, .. } = self.directives[link];
            let inlined = outer.map(|at| Inlined { function, at });
            let location = Location { file: file(number)?, line, column, inlined };
            outer = Some(*self.known.entry(location).or_insert_with(|| {
                kept.push(location);
                LocationId::new(kept.len() - 1)
            }));
        }
        outer
    }
}

fn place(lexer: &mut Lexer<'_>) -> Option<(u32, u32, u32)> {
    let mut next = || number(lexer).ok()?.try_into().ok();
    Some((next()?, next()?, next()?))
}

/// A label, without its addend.
fn label<'a>(lexer: &mut Lexer<'a>) -> &'a str {
    let label = word(lexer).unwrap_or_default();
    if lexer.peek() == Token::Mark(b'+') {
        lexer.next();
        let _offset = number(lexer);
    }
    label
}
