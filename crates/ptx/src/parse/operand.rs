//! Parses operands, by the positions of the opcode's row.

use super::body::{Entity, Reader};
use super::declare::{Problem, expect, unexpected, word};
use super::lex::Token;
use super::literal::Literal;
use crate::instruction::{Base, Class, Modifiers, Operand};
use crate::opcodes::{Form, Op, Position, Row, Typing};
use crate::words::{Flag, Mode, Special, Type};

impl<'a> Reader<'_, 'a> {
    /// Parses all operands of an instruction.
    pub(super) fn operands(&mut self, row: &Row, modifiers: &Modifiers) -> Result<(), Problem> {
        if row.op == Op::Call {
            return self.call();
        }
        let present = Presence { policy: modifiers.has(Flag::L2CacheHint) };
        let mut spare = match row.operands.iter().any(present.is_open()) {
            true => self.operands_ahead().saturating_sub(present.needed(row)),
            false => 0,
        };
        let mut missing = 0;
        let mut first = true;
        for position in &row.operands {
            match position.form {
                Form::Second => {
                    self.second()?;
                    continue;
                }
                Form::Policy if !present.policy => continue,
                Form::Policy => {}
                _ if position.optional && spare == 0 => {
                    missing += 1;
                    continue;
                }
                _ => spare -= usize::from(position.optional),
            }
            // Fills in missing optional operands before the next one.
            self.body.operands.extend(std::iter::repeat_n(Operand::Sink, missing));
            missing = 0;
            if !std::mem::take(&mut first) {
                expect(&mut self.lexer, b',')?;
            }
            self.operand(position, row.op, modifiers)?;
        }
        Ok(())
    }

    /// Number of operands up to the semicolon.
    fn operands_ahead(&self) -> usize {
        let mut lexer = self.lexer.clone();
        let (mut depth, mut count) = (0usize, 0);
        loop {
            match lexer.next() {
                Token::Mark(b';') | Token::End => return count,
                Token::Mark(b'{' | b'[' | b'(') => depth += 1,
                Token::Mark(b'}' | b']' | b')') => depth = depth.saturating_sub(1),
                Token::Mark(b',') if depth == 0 => {
                    count += 1;
                    continue;
                }
                _ => {}
            }
            count = count.max(1);
        }
    }

    fn operand(
        &mut self,
        position: &Position,
        op: Op,
        modifiers: &Modifiers,
    ) -> Result<(), Problem> {
        let operand = match position.form {
            Form::Label => {
                let label = word(&mut self.lexer)?;
                self.use_label(label);
                return Ok(());
            }
            Form::Table => self.table_name()?,
            Form::Memory => {
                expect(&mut self.lexer, b'[')?;
                self.memory()?
            }
            Form::Object => {
                expect(&mut self.lexer, b'[')?;
                self.value(Type::B64)?
            }
            Form::Coordinates => {
                expect(&mut self.lexer, b'{')?;
                let list = self.list(constant_type(position, modifiers)?, false)?;
                expect(&mut self.lexer, b']')?;
                list
            }
            Form::Value | Form::Policy if self.lexer.eat(b'{') => {
                let ty = constant_type(position, modifiers)?;
                let packed = op == Op::Mov && modifiers.vector.is_none();
                self.list(ty, packed)?
            }
            _ => self.value(constant_type(position, modifiers)?)?,
        };
        self.body.operands.push(operand);
        Ok(())
    }

    /// Parses the operand after `|`.
    fn second(&mut self) -> Result<(), Problem> {
        let operand = match self.lexer.eat(b'|') {
            true => self.value(Type::Pred)?,
            false => Operand::Sink,
        };
        self.body.operands.push(operand);
        Ok(())
    }

    /// Parses a list after its `{`. Elements of a packed list share the type's width.
    fn list(&mut self, ty: Type, packed: bool) -> Result<Operand, Problem> {
        let first = self.body.elements.len();
        while !self.lexer.eat(b'}') {
            let element = self.value(ty)?;
            self.body.elements.push(element);
            if !self.lexer.eat(b',') && self.lexer.peek() != Token::Mark(b'}') {
                return Err(unexpected(self.lexer.next(), "`,`"));
            }
        }
        let len = self.body.elements.len() - first;
        if packed && len > 0 {
            let width = (8 * ty.size() / len as u64).min(64) as u32;
            for element in &mut self.body.elements[first..] {
                if let Operand::Imm(bits) = element {
                    *bits &= u64::MAX.checked_shr(64 - width).unwrap_or(0);
                }
            }
        }
        Ok(Operand::List { first: first as u32, len: len as u32 })
    }

    /// Parses any operand but a list or memory.
    fn value(&mut self, ty: Type) -> Result<Operand, Problem> {
        match self.lexer.next() {
            Token::Number(text) => constant(text, false, ty),
            Token::Mark(b'-') => match self.lexer.next() {
                Token::Number(text) => constant(text, true, ty),
                other => Err(unexpected(other, "a number")),
            },
            Token::Mark(b'!') => match self.next_entity()? {
                Some(Entity::Register(r)) if r.class() == Class::Pred => Ok(Operand::Not(r)),
                _ => Err("`!` before what is no predicate".into()),
            },
            Token::Word(name) => self.named(name),
            other => Err(unexpected(other, "an operand")),
        }
    }

    fn named(&mut self, name: &str) -> Result<Operand, Problem> {
        match self.entity(name) {
            Some(Entity::Register(register)) => return Ok(Operand::Reg(register)),
            Some(Entity::Place(base)) => return Ok(Operand::Address(base, self.addend()?)),
            Some(Entity::Table(_)) => return Err("a table where a value should be".into()),
            None => {}
        }
        if let Some(special) = special(name) {
            return Ok(special);
        }
        match (self.context.symbols.get(name), name) {
            (Some(base), _) => Ok(Operand::Address(*base, self.addend()?)),
            (None, "_") => Ok(Operand::Sink),
            (None, "WARP_SZ") => Ok(Operand::Imm(32)),
            _ => Err(format!("`{name}` is not declared")),
        }
    }

    /// Parses a memory operand after its `[`.
    fn memory(&mut self) -> Result<Operand, Problem> {
        let (base, offset) = match self.lexer.next() {
            Token::Number(text) => {
                let offset = Literal::parse(text).and_then(Literal::int);
                (Base::Absolute, offset.ok_or("an address that is no integer")? as i64)
            }
            Token::Word(name) => (self.base(name)?, 0),
            other => return Err(unexpected(other, "an address")),
        };
        let offset = offset.wrapping_add(self.addend()?);
        expect(&mut self.lexer, b']')?;
        Ok(Operand::Memory(base, offset))
    }

    fn base(&self, name: &str) -> Result<Base, Problem> {
        match (self.entity(name), self.context.symbols.get(name)) {
            (Some(Entity::Register(register)), _) => Ok(Base::Reg(register)),
            (Some(Entity::Place(base)), _) | (None, Some(&base)) => Ok(base),
            _ => Err(format!("`{name}` is not declared")),
        }
    }

    /// Parses `+8`, `+-8`, `-8`, or nothing.
    fn addend(&mut self) -> Result<i64, Problem> {
        let negative = match self.lexer.peek() {
            Token::Mark(b'+') => {
                self.lexer.next();
                self.lexer.eat(b'-')
            }
            Token::Mark(b'-') => self.lexer.eat(b'-'),
            _ => return Ok(0),
        };
        let value = super::declare::number(&mut self.lexer)? as i64;
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    fn table_name(&mut self) -> Result<Operand, Problem> {
        match self.next_entity()? {
            Some(Entity::Table(at)) => Ok(Operand::Table(at)),
            _ => Err("a name that is no table".into()),
        }
    }

    /// Parses `(returned), callee, (arguments), prototype`, of which only the callee is mandatory.
    fn call(&mut self) -> Result<(), Problem> {
        let returned = match self.lexer.eat(b'(') {
            true => {
                let list = self.arguments()?;
                expect(&mut self.lexer, b',')?;
                list
            }
            false => self.no_arguments(),
        };
        let callee = word(&mut self.lexer)?;
        let callee = self.named(callee)?;
        let (mut arguments, mut table) = (None, None);
        while self.lexer.eat(b',') {
            match self.lexer.eat(b'(') {
                true => arguments = Some(self.arguments()?),
                false => table = Some(self.table_name()?),
            }
        }
        let arguments = arguments.unwrap_or_else(|| self.no_arguments());
        self.body.operands.extend([callee, returned, arguments]);
        self.body.operands.extend(table);
        Ok(())
    }

    fn no_arguments(&self) -> Operand {
        Operand::List { first: self.body.elements.len() as u32, len: 0 }
    }

    /// Parses a list after its `(`.
    fn arguments(&mut self) -> Result<Operand, Problem> {
        let first = self.body.elements.len();
        while !self.lexer.eat(b')') {
            let argument = self.value(Type::B64)?;
            self.body.elements.push(argument);
            if !self.lexer.eat(b',') && self.lexer.peek() != Token::Mark(b')') {
                return Err(unexpected(self.lexer.next(), "`,`"));
            }
        }
        let len = self.body.elements.len() - first;
        Ok(Operand::List { first: first as u32, len: len as u32 })
    }
}

/// Decides which optional operands are present.
struct Presence {
    policy: bool,
}

impl Presence {
    /// Whether only the number of operands decides if an optional one is present.
    fn is_open(&self) -> impl Fn(&Position) -> bool {
        |position| position.optional && position.form != Form::Second
    }

    /// Minimum number of operands.
    fn needed(&self, row: &Row) -> usize {
        let needed = |position: &&Position| match position.form {
            Form::Second => false,
            Form::Policy => self.policy,
            _ => !position.optional,
        };
        row.operands.iter().filter(needed).count()
    }
}

/// The type of a constant in a position.
fn constant_type(position: &Position, modifiers: &Modifiers) -> Result<Type, Problem> {
    match position.ty {
        Typing::Always(ty) => Ok(ty),
        Typing::Nth(n) => modifiers.types[n].ok_or_else(|| "a constant without a type".into()),
        Typing::Wide if modifiers.mode == Some(Mode::Wide) => Ok(modifiers.ty().widened()),
        Typing::Wide => Ok(modifiers.ty()),
    }
}

fn constant(text: &str, negative: bool, ty: Type) -> Result<Operand, Problem> {
    let literal = Literal::parse(text).ok_or_else(|| format!("`{text}` is no number"))?;
    let literal = if negative { literal.negated() } else { literal };
    literal.bits(ty).map(Operand::Imm).ok_or_else(|| format!("`{text}` as .{}", ty.word()))
}

/// Parses a special register: `%tid.x`, `%laneid`, `%envreg2`.
fn special(name: &str) -> Option<Operand> {
    let name = name.strip_prefix('%')?;
    if let Some((name, dimension)) = name.split_once('.') {
        let at = ["x", "y", "z", "w"].iter().position(|d| *d == dimension)?;
        return Some(Operand::Special(Special::parse(name)?, at as u8));
    }
    let number = name.strip_prefix(Special::Envreg.word()).and_then(|n| n.parse().ok());
    match number {
        Some(number) => Some(Operand::Special(Special::Envreg, number)),
        None => Special::parse(name).map(|special| Operand::Special(special, 0)),
    }
}
