//! The PTX parser: from text to a [`Module`].
//!
//! Declarations are parsed strictly: a mistake there is an error. Within functions, a statement
//! that cannot be parsed becomes [`Op::Unknown`](crate::Op::Unknown), so that one unknown
//! instruction does not make a module unreadable.

mod body;
mod declare;
mod initial;
mod lex;
mod literal;
mod location;
pub(crate) mod mnemonic;
mod operand;
mod strings;

use crate::instruction::Base;
use crate::module::{Directive, File, Function, Linkage, Module, Variable};
use body::Context;
use declare::{Problem, Qualifiers, expect, number, parameters, unexpected, word};
use lex::{Lexer, Token};
use rustc_hash::FxHashMap;
use std::fmt;

/// A syntax error in a PTX text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: usize,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

impl Module {
    /// Parses a module.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        Module::parse_some(text, |_| true)
    }

    /// Parses a module, with the bodies of only those functions whose name is `wanted`: much faster
    /// if these are few of many. The others look as if they were only declared.
    pub fn parse_some(text: &str, wanted: impl Fn(&str) -> bool) -> Result<Module, ParseError> {
        let mut reader = Reader::default();
        let mut lexer = Lexer::new(text);
        loop {
            let start = lexer.offset();
            match reader.directive(&mut lexer) {
                Ok(true) => {}
                Ok(false) => break,
                Err(message) => {
                    return Err(ParseError { line: lexer.line_at(start), message });
                }
            }
        }
        Ok(reader.finish(&wanted))
    }
}

/// The state of the parser: a module whose function bodies are still to be parsed.
#[derive(Default)]
struct Reader<'a> {
    module: Module,
    symbols: FxHashMap<String, Base>,
    /// The texts of functions' bodies, by the function's index.
    bodies: FxHashMap<u32, &'a str>,
    strings: strings::Strings<'a>,
}

impl<'a> Reader<'a> {
    /// Parses one directive; false at the end.
    fn directive(&mut self, lexer: &mut Lexer<'a>) -> Result<bool, Problem> {
        let mut linked = Linkage::Internal;
        loop {
            let directive = match lexer.next() {
                Token::Word(word) => word,
                Token::Mark(b';') => return Ok(true),
                Token::End if linked == Linkage::Internal => return Ok(false),
                other => return Err(unexpected(other, "a directive")),
            };
            match directive {
                ".version" => self.module.version = version(lexer)?,
                ".target" => self.module.target = names(lexer)?,
                ".address_size" => self.module.address_size = number(lexer)? as u32,
                ".file" => self.file(lexer)?,
                ".section" => self.section(lexer)?,
                ".pragma" | ".alias" => lexer.skip_statement(),
                ".entry" | ".func" => self.function(lexer, linked, directive == ".entry")?,
                _ if declare::space(directive).is_some() => {
                    self.variables(lexer, linked, directive)?;
                }
                _ => match declare::linkage(directive) {
                    Some(linkage) => {
                        linked = linkage;
                        continue;
                    }
                    None => return Err(format!("`{directive}` is not known")),
                },
            }
            return Ok(true);
        }
    }

    fn file(&mut self, lexer: &mut Lexer<'a>) -> Result<(), Problem> {
        let number = self::number(lexer)? as u32;
        let Token::Text(path) = lexer.next() else { return Err(".file without a name".into()) };
        self.module.files.push(File { number, path: path.to_owned() });
        // A time stamp and a size may follow.
        while lexer.eat(b',') {
            self::number(lexer)?;
        }
        Ok(())
    }

    fn section(&mut self, lexer: &mut Lexer<'a>) -> Result<(), Problem> {
        let name = word(lexer)?;
        expect(lexer, b'{')?;
        let text = lexer.block().ok_or("a section that does not end")?;
        if name == ".debug_str" {
            self.strings = strings::Strings::parse(text);
        }
        Ok(())
    }

    fn variables(
        &mut self,
        lexer: &mut Lexer<'a>,
        linkage: Linkage,
        space: &str,
    ) -> Result<(), Problem> {
        let qualifiers = Qualifiers::parse(lexer, linkage, space)?;
        loop {
            let name = word(lexer)?;
            let mut variable = qualifiers.variable(lexer, name)?;
            if lexer.eat(b'=') {
                let symbols = &self.symbols;
                let symbol = |name: &str| symbols.get(name).copied();
                let initial = initial::parse(lexer, &variable, &symbol)?;
                // The initial contents determine the size of `x[] = {1, 2, 3}`.
                variable.size = variable.size.max(initial.bytes.len() as u64);
                variable.initial = Some(initial);
            }
            self.add_variable(variable)?;
            if !lexer.eat(b',') {
                return expect(lexer, b';');
            }
        }
    }

    /// Adds a variable; a definition replaces an earlier declaration.
    fn add_variable(&mut self, variable: Variable) -> Result<(), Problem> {
        match self.symbols.get(&variable.name) {
            None => {
                let at = Base::Variable(self.module.variables.len() as u32);
                self.symbols.insert(variable.name.clone(), at);
                self.module.variables.push(variable);
            }
            Some(Base::Variable(at)) => {
                let old = &mut self.module.variables[*at as usize];
                if variable.linkage != Linkage::Extern {
                    *old = variable;
                }
            }
            Some(_) => return Err(format!("`{}` is a function already", variable.name)),
        }
        Ok(())
    }

    fn function(
        &mut self,
        lexer: &mut Lexer<'a>,
        linkage: Linkage,
        entry: bool,
    ) -> Result<(), Problem> {
        while lexer.peek() == Token::Word(".attribute") {
            lexer.next();
            declare::attribute(lexer)?;
        }
        let returns = if lexer.eat(b'(') { parameters(lexer)? } else { Vec::new() };
        let name = word(lexer)?.to_owned();
        let parameters = if lexer.eat(b'(') { parameters(lexer)? } else { Vec::new() };
        let directives = directives(lexer)?;
        let body = match lexer.next() {
            Token::Mark(b';') => None,
            Token::Mark(b'{') => Some(lexer.block().ok_or("a function that does not end")?),
            other => return Err(unexpected(other, "a function's body")),
        };
        let function =
            Function { name, entry, linkage, parameters, returns, directives, body: None };
        let at = self.add_function(function, body.is_some())?;
        if let Some(text) = body {
            self.bodies.insert(at, text);
        }
        Ok(())
    }

    fn add_function(&mut self, function: Function, defined: bool) -> Result<u32, Problem> {
        match self.symbols.get(&function.name) {
            None => {
                let at = self.module.functions.len() as u32;
                self.symbols.insert(function.name.clone(), Base::Function(at));
                self.module.functions.push(function);
                Ok(at)
            }
            Some(&Base::Function(at)) => {
                if defined {
                    self.module.functions[at as usize] = function;
                }
                Ok(at)
            }
            Some(_) => Err(format!("`{}` is a variable already", function.name)),
        }
    }

    /// Parses the bodies, now that all symbols are known.
    fn finish(mut self, wanted: &dyn Fn(&str) -> bool) -> Module {
        let mut context = Context::new(&self.module, &self.symbols, &self.strings);
        let mut bodies = Vec::new();
        for (at, function) in self.module.functions.iter().enumerate() {
            let text = self.bodies.get(&(at as u32));
            if let Some(text) = text.filter(|_| wanted(&function.name)) {
                bodies.push((at, context.body(function, text)));
            }
        }
        self.module.names = context.names();
        for (at, body) in bodies {
            self.module.functions[at].body = Some(body);
        }
        self.module
    }
}

fn version(lexer: &mut Lexer<'_>) -> Result<(u16, u16), Problem> {
    let Token::Number(text) = lexer.next() else { return Err(".version without a number".into()) };
    let parts = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}` is no version"))
}

fn names(lexer: &mut Lexer<'_>) -> Result<Vec<String>, Problem> {
    let mut all = vec![word(lexer)?.to_owned()];
    while lexer.eat(b',') {
        all.push(word(lexer)?.to_owned());
    }
    Ok(all)
}

/// Directives between a function's head and its body.
fn directives(lexer: &mut Lexer<'_>) -> Result<Vec<Directive>, Problem> {
    let mut all = Vec::new();
    while let Token::Word(word) = lexer.peek() {
        let name = word.strip_prefix('.').ok_or_else(|| format!("`{word}` is no directive"))?;
        lexer.next();
        if name == "pragma" {
            lexer.skip_statement();
            continue;
        }
        let mut values = Vec::new();
        while let Token::Number(_) = lexer.peek() {
            values.push(number(lexer)? as u32);
            lexer.eat(b',');
        }
        all.push(Directive { name: name.to_owned(), values });
    }
    Ok(all)
}
