//! Parses function bodies: scopes, declarations, labels, and statements in general.

use super::declare::{Problem, Qualifiers, expect, number, parameters, place, unexpected, word};
use super::lex::{Lexer, Token};
use super::location::Locations;
use super::mnemonic;
use super::strings::Strings;
use crate::instruction::{Base, Class, Guard, Instruction, Modifiers, Operand, Reg};
use crate::module::{Body, Function, Linkage, Module, Registers, Table, Targets};
use crate::opcodes::{Op, Row};
use crate::words::Space;
use rustc_hash::FxHashMap;

/// Maximum number of registers of a function; no compiler declares as many, so more means damaged
/// input.
const MAX_REGISTERS: u32 = 1 << 24;

/// State shared by all bodies of a module.
pub(super) struct Context<'a> {
    pub(super) symbols: &'a FxHashMap<String, Base>,
    strings: &'a Strings<'a>,
    files: FxHashMap<u32, u32>,
    /// A cache of parsed mnemonics: most occur thousands of times.
    mnemonics: FxHashMap<&'a str, Option<(&'static Row, Modifiers)>>,
    names: Vec<String>,
    labels: FxHashMap<&'a str, Option<u32>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        module: &Module,
        symbols: &'a FxHashMap<String, Base>,
        strings: &'a Strings<'a>,
    ) -> Context<'a> {
        let files = module.files.iter().zip(0..).map(|(f, at)| (f.number, at)).collect();
        let (mnemonics, names, labels) = Default::default();
        Context { symbols, strings, files, mnemonics, names, labels }
    }

    /// Parses a function's body.
    pub(super) fn body(&mut self, function: &'a Function, text: &'a str) -> Body {
        let mut reader = Reader {
            context: self,
            lexer: Lexer::new(text),
            body: Body::default(),
            scopes: vec![Scope::default()],
            ends: FxHashMap::default(),
            locations: Locations::default(),
        };
        reader.parameters(function);
        reader.statements();
        reader.body
    }

    /// The number of the function name at a label of `.debug_str`.
    pub(super) fn name(&mut self, label: &'a str) -> Option<u32> {
        *self.labels.entry(label).or_insert_with(|| {
            self.names.push(self.strings.get(label)?);
            Some(self.names.len() as u32 - 1)
        })
    }

    /// All function names that were requested.
    pub(super) fn names(self) -> Vec<String> {
        self.names
    }

    pub(super) fn mnemonic(&mut self, text: &'a str) -> Option<(&'static Row, Modifiers)> {
        *self.mnemonics.entry(text).or_insert_with(|| mnemonic::parse(text))
    }
}

/// The entity that a name within a function refers to.
#[derive(Clone, Copy)]
pub(super) enum Entity {
    Register(Reg),
    Place(Base),
    Table(u32),
}

/// The declarations of one scope, a pair of braces.
#[derive(Default)]
struct Scope<'a> {
    names: FxHashMap<&'a str, Entity>,
    /// Declarations of numbered registers, by index.
    numbered: Vec<usize>,
    labels: FxHashMap<&'a str, u32>,
    /// Uses of labels that are not defined yet.
    uses: Vec<LabelUse<'a>>,
}

struct LabelUse<'a> {
    label: &'a str,
    place: LabelPlace,
}

/// Where to store the index of a label's instruction.
enum LabelPlace {
    /// An operand of that instruction.
    Operand { operand: usize, instruction: usize },
    /// An entry of a table.
    Table { table: usize, entry: usize },
}

/// The parser of one body.
pub(super) struct Reader<'c, 'a> {
    pub(super) context: &'c mut Context<'a>,
    pub(super) lexer: Lexer<'a>,
    pub(super) body: Body,
    scopes: Vec<Scope<'a>>,
    /// End of the frame of each state space, where its next variable goes.
    ends: FxHashMap<Space, u64>,
    locations: Locations,
}

impl<'a> Reader<'_, 'a> {
    /// The entity of a name, in the innermost scope that declares it.
    pub(super) fn entity(&self, name: &str) -> Option<Entity> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[stem.len()..];
        let number: Option<u32> = match number.len() {
            0 => None,
            1 => number.parse().ok(),
            _ if number.starts_with('0') => None,
            _ => number.parse().ok(),
        };
        self.scopes.iter().rev().find_map(|scope| {
            let numbered = number.and_then(|number| {
                let all = scope.numbered.iter().map(|at| &self.body.registers[*at]);
                let declared = all.filter(|r| r.count.is_some_and(|count| number < count));
                let found = declared.into_iter().find(|r| r.name == stem)?.first;
                Some(Entity::Register(Reg::new(found.class(), found.index() + number)))
            });
            numbered.or_else(|| scope.names.get(name).copied())
        })
    }

    /// The entity of the next word.
    pub(super) fn next_entity(&mut self) -> Result<Option<Entity>, Problem> {
        let name = word(&mut self.lexer)?;
        Ok(self.entity(name))
    }

    /// Requests that the index of a label's instruction be stored into the next operand.
    pub(super) fn use_label(&mut self, label: &'a str) {
        let operand = self.body.operands.len();
        let place = LabelPlace::Operand { operand, instruction: self.body.instructions.len() };
        self.scope().uses.push(LabelUse { label, place });
        self.body.operands.push(Operand::Target(u32::MAX));
    }

    fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes.last_mut().expect("the function's own scope stays until its end")
    }

    /// Declares parameters and returned values under the names that the function gives them.
    fn parameters(&mut self, function: &'a Function) {
        let parameters = function.parameters.iter().zip((0..).map(Base::Param));
        let returns = function.returns.iter().zip((0..).map(Base::Return));
        for (parameter, place) in parameters.chain(returns) {
            if parameter.space == Space::Reg {
                let _damaged = self.register(&parameter.name, None, parameter.ty);
            } else {
                self.scope().names.insert(&parameter.name, Entity::Place(place));
            }
        }
    }

    /// Parses all statements up to the end.
    fn statements(&mut self) {
        loop {
            let start = self.lexer.offset();
            match self.lexer.next() {
                Token::End => break,
                Token::Mark(b';') => {}
                Token::Mark(b'{') => self.scopes.push(Scope::default()),
                Token::Mark(b'}') => self.leave(),
                Token::Word(name) if self.lexer.eat(b':') => self.label(name),
                Token::Word(".loc") => self.locations.directive(&mut self.lexer, self.context),
                token => {
                    if self.statement(token).is_err() {
                        self.unknown(start);
                    }
                }
            }
        }
        while !self.scopes.is_empty() {
            self.leave();
        }
    }

    /// Parses a declaration or an instruction, up to its semicolon.
    fn statement(&mut self, first: Token<'a>) -> Result<(), Problem> {
        match first {
            Token::Mark(b'@') => {
                let guard = self.guard()?;
                let mnemonic = word(&mut self.lexer)?;
                self.instruction(mnemonic, Some(guard))
            }
            Token::Word(".reg") => self.registers(),
            Token::Word(".pragma") => {
                self.lexer.skip_statement();
                Ok(())
            }
            Token::Word(directive) if directive.starts_with('.') => self.variables(directive),
            Token::Word(mnemonic) => self.instruction(mnemonic, None),
            other => Err(unexpected(other, "a statement")),
        }
    }

    /// Skips the statement that begins at `start`, keeping its text.
    fn unknown(&mut self, start: usize) {
        self.lexer.restart(start);
        self.lexer.skip_statement();
        let text = self.lexer.since(start).trim_end_matches(';').trim_end().to_owned();
        let operand = Operand::Imm(self.body.unknown.len() as u64);
        self.body.unknown.push(text);
        let first = self.body.operands.len();
        self.body.operands.push(operand);
        self.push(Op::Unknown, Modifiers::default(), None, first);
    }

    fn guard(&mut self) -> Result<Guard, Problem> {
        let negated = self.lexer.eat(b'!');
        match self.next_entity()? {
            Some(Entity::Register(register)) if register.class() == Class::Pred => {
                Ok(Guard { register, negated })
            }
            _ => Err("a guard that is no predicate".into()),
        }
    }

    fn instruction(&mut self, mnemonic: &'a str, guard: Option<Guard>) -> Result<(), Problem> {
        let (first, elements) = (self.body.operands.len(), self.body.elements.len());
        let uses = self.scope().uses.len();
        let read = match self.context.mnemonic(mnemonic) {
            Some((row, modifiers)) => self
                .operands(row, &modifiers)
                .and_then(|()| expect(&mut self.lexer, b';'))
                .map(|()| self.push(row.op, modifiers, guard, first)),
            None => Err(format!("`{mnemonic}` is not known")),
        };
        if read.is_err() {
            self.body.operands.truncate(first);
            self.body.elements.truncate(elements);
            self.scope().uses.truncate(uses);
        }
        read
    }

    fn push(&mut self, op: Op, modifiers: Modifiers, guard: Option<Guard>, first: usize) {
        let files = &self.context.files;
        let file = |number| files.get(&number).copied();
        self.body.instructions.push(Instruction {
            op,
            modifiers,
            guard,
            first: first as u32,
            len: (self.body.operands.len() - first) as u8,
            location: self.locations.here(&mut self.body.locations, &file),
        });
    }

    /// Parses a label, or the table that it names.
    fn label(&mut self, name: &'a str) {
        let start = self.lexer.offset();
        let Token::Word(directive) = self.lexer.peek() else { return self.place_label(name) };
        let read = match directive {
            ".branchtargets" => self.table(name, Self::branch_targets),
            ".calltargets" => self.table(name, Self::call_targets),
            ".callprototype" => self.table(name, Self::prototype),
            _ => return self.place_label(name),
        };
        if read.is_err() {
            self.unknown(start);
        }
    }

    fn place_label(&mut self, name: &'a str) {
        let at = self.body.instructions.len() as u32;
        self.scope().labels.entry(name).or_insert(at);
        self.body.labels.push((name.to_owned(), at));
    }

    fn table(
        &mut self,
        name: &'a str,
        read: fn(&mut Self) -> Result<Targets, Problem>,
    ) -> Result<(), Problem> {
        self.lexer.next();
        let uses = self.scope().uses.len();
        let targets = read(self).and_then(|t| expect(&mut self.lexer, b';').map(|()| t));
        if targets.is_err() {
            self.scope().uses.truncate(uses);
        }
        let at = self.body.tables.len() as u32;
        self.body.tables.push(Table { name: name.to_owned(), targets: targets? });
        self.scope().names.insert(name, Entity::Table(at));
        Ok(())
    }

    fn branch_targets(&mut self) -> Result<Targets, Problem> {
        let (mut targets, table) = (Vec::new(), self.body.tables.len());
        loop {
            let label = word(&mut self.lexer)?;
            let place = LabelPlace::Table { table, entry: targets.len() };
            self.scope().uses.push(LabelUse { label, place });
            targets.push(u32::MAX);
            if !self.lexer.eat(b',') {
                return Ok(Targets::Branch(targets));
            }
        }
    }

    fn call_targets(&mut self) -> Result<Targets, Problem> {
        let mut targets = Vec::new();
        loop {
            match self.context.symbols.get(word(&mut self.lexer)?) {
                Some(Base::Function(at)) => targets.push(*at),
                _ => return Err("a call target that is no function".into()),
            }
            if !self.lexer.eat(b',') {
                return Ok(Targets::Call(targets));
            }
        }
    }

    fn prototype(&mut self) -> Result<Targets, Problem> {
        let lexer = &mut self.lexer;
        let returns = if lexer.eat(b'(') { parameters(lexer)? } else { Vec::new() };
        word(lexer)?;
        let parameters = if lexer.eat(b'(') { parameters(lexer)? } else { Vec::new() };
        // Skips `.noreturn` and similar words.
        while let Token::Word(_) | Token::Number(_) = lexer.peek() {
            lexer.next();
        }
        Ok(Targets::Prototype { returns, parameters })
    }

    fn registers(&mut self) -> Result<(), Problem> {
        let qualifiers = Qualifiers::parse(&mut self.lexer, Linkage::Internal, ".reg")?;
        let ty = qualifiers.register_type()?;
        loop {
            let name = word(&mut self.lexer)?;
            let count = match self.lexer.eat(b'<') {
                true => Some(number(&mut self.lexer)?),
                false => None,
            };
            if count.is_some() {
                expect(&mut self.lexer, b'>')?;
            }
            self.register(name, count, ty)?;
            if !self.lexer.eat(b',') {
                return expect(&mut self.lexer, b';');
            }
        }
    }

    /// Declares registers of one name in the innermost scope.
    fn register(
        &mut self,
        name: &'a str,
        count: Option<u64>,
        ty: crate::words::Type,
    ) -> Result<(), Problem> {
        let class = Class::of(ty);
        let total = &mut self.body.register_count[class as usize];
        let first = Reg::new(class, *total);
        let after = count.unwrap_or(1).checked_add((*total).into());
        match after.filter(|n| *n <= MAX_REGISTERS.into()) {
            Some(after) => *total = after as u32,
            None => return Err("more registers than there can be".into()),
        }
        let at = self.body.registers.len();
        match count {
            Some(_) => self.scope().numbered.push(at),
            None => {
                self.scope().names.insert(name, Entity::Register(first));
            }
        }
        let (name, count) = (name.to_owned(), count.map(|c| c as u32));
        self.body.registers.push(Registers { name, count, ty, first });
        Ok(())
    }

    /// Parses variables of the function, after the directive of their state space or linkage.
    fn variables(&mut self, directive: &'a str) -> Result<(), Problem> {
        let (linkage, space) = match super::declare::linkage(directive) {
            Some(linkage) => (linkage, word(&mut self.lexer)?),
            None => (Linkage::Internal, directive),
        };
        let qualifiers = Qualifiers::parse(&mut self.lexer, linkage, space)?;
        loop {
            let name = word(&mut self.lexer)?;
            let mut variable = qualifiers.variable(&mut self.lexer, name)?;
            if self.lexer.eat(b'=') {
                let symbols = self.context.symbols;
                let symbol = |name: &str| symbols.get(name).copied();
                let initial = super::initial::parse(&mut self.lexer, &variable, &symbol)?;
                variable.initial = Some(initial);
            }
            let end = self.ends.entry(variable.space).or_default();
            place(&mut variable, end);
            let at = self.body.variables.len() as u32;
            self.scope().names.insert(name, Entity::Place(Base::Local(at)));
            self.body.variables.push(variable);
            if !self.lexer.eat(b',') {
                return expect(&mut self.lexer, b';');
            }
        }
    }

    /// Ends the innermost scope. Labels that it lacks may belong to the enclosing scope; the
    /// function's own scope has none.
    fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for LabelUse { label, place } in scope.uses {
            match (scope.labels.get(label), self.scopes.last_mut()) {
                (Some(target), _) => self.resolve(place, *target),
                (None, Some(outer)) => outer.uses.push(LabelUse { label, place }),
                (None, None) => self.no_label(label, place),
            }
        }
        // An unmatched brace: what follows still needs a scope.
        if self.scopes.is_empty() && self.lexer.peek() != Token::End {
            self.scopes.push(Scope::default());
        }
    }

    fn resolve(&mut self, place: LabelPlace, target: u32) {
        match place {
            LabelPlace::Operand { operand, .. } => {
                self.body.operands[operand] = Operand::Target(target);
            }
            LabelPlace::Table { table, entry } => {
                if let Targets::Branch(targets) = &mut self.body.tables[table].targets {
                    targets[entry] = target;
                }
            }
        }
    }

    /// Makes a branch to a missing label an unknown statement. An entry of a table stays as it is.
    fn no_label(&mut self, label: &str, place: LabelPlace) {
        if let LabelPlace::Operand { operand, instruction } = place {
            let branch = &mut self.body.instructions[instruction];
            branch.op = Op::Unknown;
            branch.modifiers = Modifiers::default();
            let guard = branch.guard.take();
            self.body.operands[operand] = Operand::Imm(self.body.unknown.len() as u64);
            let condition = if guard.is_some() { "@… " } else { "" };
            self.body.unknown.push(format!("{condition}bra {label}"));
        }
    }
}
