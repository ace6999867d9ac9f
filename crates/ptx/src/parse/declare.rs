//! Parses declarations of variables, parameters and registers (PTX ISA §5.4).

use super::lex::{Lexer, Token};
use super::literal::Literal;
use crate::module::{Linkage, Variable};
use crate::words::{Space, Type};

/// A message about a mistake in a declaration.
pub(super) type Problem = String;

/// The directives before the names of a declaration.
#[derive(Clone, Debug)]
pub(super) struct Qualifiers {
    pub(super) linkage: Linkage,
    pub(super) space: Space,
    ty: Option<Type>,
    vector: u64,
    align: Option<u64>,
    managed: bool,
}

impl Qualifiers {
    /// The type of declared registers.
    pub(super) fn register_type(&self) -> Result<Type, Problem> {
        match (self.ty, self.vector) {
            (Some(ty), 1) => Ok(ty),
            _ => Err("registers without a type, or vectors of them".into()),
        }
    }

    /// Parses directives up to the first name. `word` is the state space.
    pub(super) fn parse(
        lexer: &mut Lexer<'_>,
        linkage: Linkage,
        word: &str,
    ) -> Result<Qualifiers, Problem> {
        let space = space(word).ok_or_else(|| format!("`{word}` is no state space"))?;
        let mut all =
            Qualifiers { linkage, space, ty: None, vector: 1, align: None, managed: false };
        while let Token::Word(word) = lexer.peek() {
            let Some(directive) = word.strip_prefix('.') else { break };
            lexer.next();
            match directive {
                "align" => all.align = Some(number(lexer)?),
                // `.ptr .global .align 16` describes the memory that a parameter points to.
                "ptr" => skip_pointee(lexer)?,
                "attribute" => all.managed |= attribute(lexer)?,
                "v2" => all.vector = 2,
                "v4" => all.vector = 4,
                _ => match Type::parse(directive) {
                    Some(ty) => all.ty = Some(ty),
                    None => return Err(format!("`.{directive}` in a declaration is not known")),
                },
            }
        }
        if all.align.is_some_and(|a| !a.is_power_of_two()) {
            return Err("an alignment that is no power of two".into());
        }
        Ok(all)
    }

    /// The variable of that name, whose extents follow.
    pub(super) fn variable(&self, lexer: &mut Lexer<'_>, name: &str) -> Result<Variable, Problem> {
        let ty = self.ty.ok_or("a variable without a type")?;
        let mut extents = Vec::new();
        while lexer.eat(b'[') {
            extents.push(if lexer.peek() == Token::Mark(b']') { 0 } else { number(lexer)? });
            expect(lexer, b']')?;
        }
        let element = ty.size() * self.vector;
        let size = extents.iter().try_fold(element, |size, extent| size.checked_mul(*extent));
        Ok(Variable {
            name: name.to_owned(),
            linkage: self.linkage,
            space: self.space,
            ty,
            extents,
            vector: self.vector,
            align: self.align.unwrap_or(element).max(1),
            size: size.filter(|s| *s < 1 << 48).ok_or("a variable larger than memory")?,
            offset: 0,
            managed: self.managed,
            initial: None,
        })
    }
}

/// Parses a list of parameters after its `(`, and lays them out one after the other.
pub(super) fn parameters(lexer: &mut Lexer<'_>) -> Result<Vec<Variable>, Problem> {
    let mut all = Vec::new();
    let mut end = 0;
    while !lexer.eat(b')') {
        let space = word(lexer)?;
        let qualifiers = Qualifiers::parse(lexer, Linkage::Internal, space)?;
        let name = word(lexer)?;
        let mut parameter = qualifiers.variable(lexer, name)?;
        place(&mut parameter, &mut end);
        all.push(parameter);
        if !lexer.eat(b',') && lexer.peek() != Token::Mark(b')') {
            return Err("parameters that do not end".into());
        }
    }
    Ok(all)
}

/// Appends a variable to those of its kind: sets its offset and advances `end`.
pub(super) fn place(variable: &mut Variable, end: &mut u64) {
    variable.offset = end.next_multiple_of(variable.align);
    *end = variable.offset + variable.size;
}

/// The state space that a directive names.
pub(super) fn space(directive: &str) -> Option<Space> {
    let name = directive.strip_prefix('.')?;
    // Obsolete: unsized memory of a bank.
    Space::parse(name.split('[').next()?).filter(|s| *s != Space::SpecialReg)
}

/// The linkage that a directive names.
pub(super) fn linkage(directive: &str) -> Option<Linkage> {
    match directive {
        ".visible" => Some(Linkage::Visible),
        ".extern" => Some(Linkage::Extern),
        ".weak" => Some(Linkage::Weak),
        ".common" => Some(Linkage::Common),
        _ => None,
    }
}

fn skip_pointee(lexer: &mut Lexer<'_>) -> Result<(), Problem> {
    while let Token::Word(word) = lexer.peek() {
        match word {
            ".align" => {
                lexer.next();
                number(lexer)?;
            }
            _ if space(word).is_some() => {
                lexer.next();
            }
            _ => break,
        }
    }
    Ok(())
}

/// Parses attributes; returns whether one of them is `.managed`.
pub(super) fn attribute(lexer: &mut Lexer<'_>) -> Result<bool, Problem> {
    expect(lexer, b'(')?;
    let mut managed = false;
    let mut depth = 1;
    while depth > 0 {
        match lexer.next() {
            Token::Word(".managed") => managed = true,
            Token::Mark(b'(') => depth += 1,
            Token::Mark(b')') => depth -= 1,
            Token::End => return Err("an attribute that does not end".into()),
            _ => {}
        }
    }
    Ok(managed)
}

/// Parses a plain number.
pub(super) fn number(lexer: &mut Lexer<'_>) -> Result<u64, Problem> {
    match lexer.next() {
        Token::Number(text) => {
            let literal = Literal::parse(text).and_then(Literal::int);
            literal.ok_or_else(|| format!("`{text}` is no integer"))
        }
        other => Err(unexpected(other, "a number")),
    }
}

/// Parses a word.
pub(super) fn word<'a>(lexer: &mut Lexer<'a>) -> Result<&'a str, Problem> {
    match lexer.next() {
        Token::Word(word) => Ok(word),
        other => Err(unexpected(other, "a name")),
    }
}

/// Skips a mark, which must be there.
pub(super) fn expect(lexer: &mut Lexer<'_>, mark: u8) -> Result<(), Problem> {
    match lexer.eat(mark) {
        true => Ok(()),
        false => Err(unexpected(lexer.next(), &format!("`{}`", mark as char))),
    }
}

/// The message about an unexpected token.
pub(super) fn unexpected(token: Token<'_>, wanted: &str) -> Problem {
    match token {
        Token::Word(text) | Token::Number(text) => format!("`{text}` where {wanted} should be"),
        Token::Text(text) => format!("\"{text}\" where {wanted} should be"),
        Token::Mark(mark) => format!("`{}` where {wanted} should be", mark as char),
        Token::End => format!("the text ends where {wanted} should be"),
    }
}
