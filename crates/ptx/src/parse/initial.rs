//! Parses initial contents of variables (PTX ISA §5.4.4), as bytes and relocations.

use super::declare::{Problem, expect, number, unexpected, word};
use super::lex::{Lexer, Token};
use super::literal::Literal;
use crate::instruction::Base;
use crate::module::{Initial, Relocation, Variable};

/// Parses what follows `=`; `symbol` resolves names.
pub(super) fn parse(
    lexer: &mut Lexer<'_>,
    variable: &Variable,
    symbol: &dyn Fn(&str) -> Option<Base>,
) -> Result<Initial, Problem> {
    let mut reader = Reader { lexer, variable, symbol, initial: Initial::default() };
    match reader.lexer.eat(b'{') {
        true => reader.list(0, 0)?,
        false => reader.value(0)?,
    }
    Ok(reader.initial)
}

struct Reader<'r, 'a> {
    lexer: &'r mut Lexer<'a>,
    variable: &'r Variable,
    symbol: &'r dyn Fn(&str) -> Option<Base>,
    initial: Initial,
}

impl Reader<'_, '_> {
    /// Parses elements from an offset on, up to the `}`. Inner lists fill rows of the array.
    fn list(&mut self, mut at: u64, depth: usize) -> Result<(), Problem> {
        let inner = self.variable.extents.get(depth + 1..).unwrap_or_default();
        let row = inner.iter().product::<u64>() * self.variable.ty.size() * self.variable.vector;
        while !self.lexer.eat(b'}') {
            if self.lexer.eat(b'{') {
                // Nested at most as deep as there are dimensions, and a vector.
                if depth > self.variable.extents.len() {
                    return Err("an initialiser deeper than its array".into());
                }
                self.list(at, depth + 1)?;
                at += row;
            } else {
                self.value(at)?;
                at += self.variable.ty.size();
            }
            if !self.lexer.eat(b',') && self.lexer.peek() != Token::Mark(b'}') {
                return Err(unexpected(self.lexer.next(), "`,`"));
            }
        }
        Ok(())
    }

    /// Parses one element: a number, an address, or a byte of an address.
    fn value(&mut self, at: u64) -> Result<(), Problem> {
        let negative = self.lexer.eat(b'-');
        match self.lexer.next() {
            Token::Number(text) => {
                let literal =
                    Literal::parse(text).ok_or_else(|| format!("`{text}` is no number"))?;
                match literal.int().filter(|_| self.lexer.eat(b'(')) {
                    Some(mask) => self.byte_of_address(at, mask),
                    None => self.constant(at, if negative { literal.negated() } else { literal }),
                }
            }
            Token::Word(name) => {
                let width = self.variable.ty.size();
                self.address(name, Relocation { width, ..blank(at) })
            }
            other => Err(unexpected(other, "an initial value")),
        }
    }

    fn constant(&mut self, at: u64, literal: Literal) -> Result<(), Problem> {
        let (ty, size) = (self.variable.ty, self.variable.ty.size() as usize);
        let bits = literal.bits(ty).ok_or("a fraction as the initial value of an integer")?;
        let at = self.extend_to(at, size)?;
        let bytes = &u128::from(bits).to_le_bytes()[..size];
        self.initial.bytes[at..at + size].copy_from_slice(bytes);
        Ok(())
    }

    /// Parses `0xFF00(address)`, one byte of an address, after its mask.
    fn byte_of_address(&mut self, at: u64, mask: u64) -> Result<(), Problem> {
        let byte = u64::from(mask.trailing_zeros()) / 8;
        if mask == 0 || mask != 0xFF << (8 * byte) {
            return Err("a mask that is not one byte of an address".into());
        }
        let name = word(self.lexer)?;
        let width = self.variable.ty.size().min(8 - byte);
        self.address(name, Relocation { byte, width: width.min(1), ..blank(at) })?;
        expect(self.lexer, b')')
    }

    /// Parses the address that a name begins: `symbol`, `generic(symbol)`, and an addend.
    fn address(&mut self, name: &str, mut relocation: Relocation) -> Result<(), Problem> {
        relocation.generic = name == "generic" && self.lexer.eat(b'(');
        let name = if relocation.generic { word(self.lexer)? } else { name };
        relocation.symbol = (self.symbol)(name).ok_or_else(|| format!("`{name}` is not known"))?;
        relocation.addend = self.addend()?;
        if relocation.generic {
            expect(self.lexer, b')')?;
            relocation.addend = relocation.addend.wrapping_add(self.addend()?);
        }
        self.extend_to(relocation.at, relocation.width as usize)?;
        self.initial.relocations.push(relocation);
        Ok(())
    }

    fn addend(&mut self) -> Result<i64, Problem> {
        match self.lexer.peek() {
            Token::Mark(sign @ (b'+' | b'-')) => {
                self.lexer.next();
                let negative = (sign == b'-') != self.lexer.eat(b'-');
                let value = number(self.lexer)? as i64;
                Ok(if negative { value.wrapping_neg() } else { value })
            }
            _ => Ok(0),
        }
    }

    /// Extends the contents to cover some bytes, which must lie within a variable of known size.
    fn extend_to(&mut self, at: u64, len: usize) -> Result<usize, Problem> {
        let end = at.saturating_add(len as u64);
        if end > self.variable.size && !self.variable.extents.contains(&0) {
            return Err(format!("more initial values than `{}` holds", self.variable.name));
        }
        let end = end as usize;
        self.initial.bytes.resize(self.initial.bytes.len().max(end), 0);
        Ok(end - len)
    }
}

fn blank(at: u64) -> Relocation {
    Relocation { at, width: 0, byte: 0, symbol: Base::Absolute, addend: 0, generic: false }
}
