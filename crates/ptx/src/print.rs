//! PTX printer, for people and for round-trip tests of the parser.
//!
//! Parsing the printed text gives the same module, except that scopes are gone: a name declared in
//! several scopes gets a suffix.

use crate::instruction::{Base, Instruction, Modifiers, Operand, Reg};
use crate::module::*;
use crate::opcodes::{Form, Op, Position, Typing};
use crate::parse::mnemonic;
use crate::words::{Mode, Space, Special, Type};
use rustc_hash::FxHashSet;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}.{}", self.version.0, self.version.1)?;
        writeln!(f, ".target {}", self.target.join(", "))?;
        writeln!(f, ".address_size {}\n", self.address_size)?;
        // Kernels cannot be declared without a definition; functions and variables must precede
        // their uses. Initial contents may name functions.
        let kernel = self.functions.iter().position(|f| f.entry).unwrap_or(self.functions.len());
        let (before, after) = self.functions.split_at(kernel);
        before.iter().try_for_each(|function| declare(f, function))?;
        for variable in &self.variables {
            write!(f, "{}{}", linkage(variable.linkage), declaration(variable, &variable.name))?;
            if let Some(initial) = &variable.initial {
                write!(f, " = {}", contents(self, variable, initial))?;
            }
            writeln!(f, ";")?;
        }
        for function in after {
            match function.entry {
                true => define(f, self, function)?,
                false => declare(f, function)?,
            }
        }
        for function in self.functions.iter().filter(|function| !function.entry) {
            define(f, self, function)?;
        }
        for file in &self.files {
            writeln!(f, ".file {} \"{}\"", file.number, file.path)?;
        }
        strings(f, &self.names)
    }
}

fn strings(f: &mut Formatter<'_>, names: &[String]) -> fmt::Result {
    if names.is_empty() {
        return Ok(());
    }
    writeln!(f, ".section .debug_str\n{{")?;
    for (at, name) in names.iter().enumerate() {
        let bytes = name.bytes().map(|b| format!("{b}, ")).collect::<String>();
        writeln!(f, "$L__info_string{at}:\n.b8 {bytes}0")?;
    }
    writeln!(f, "}}")
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Visible => ".visible ",
        Linkage::Extern => ".extern ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

fn declaration(variable: &Variable, name: &str) -> String {
    let mut text = format!(".{} ", variable.space.word());
    if variable.managed {
        text += ".attribute(.managed) ";
    }
    if variable.space != Space::Reg {
        let _ = write!(text, ".align {} ", variable.align);
    }
    if variable.vector > 1 {
        let _ = write!(text, ".v{} ", variable.vector);
    }
    let _ = write!(text, ".{} {name}", variable.ty.word());
    for extent in &variable.extents {
        match extent {
            0 => text += "[]",
            n => {
                let _ = write!(text, "[{n}]");
            }
        }
    }
    text
}

fn parameters(list: &[Variable]) -> String {
    let all: Vec<_> = list.iter().map(|p| declaration(p, &p.name)).collect();
    format!("({})", all.join(", "))
}

fn head(f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
    let kind = if function.entry { ".entry" } else { ".func" };
    write!(f, "{}{kind} ", linkage(function.linkage))?;
    if !function.returns.is_empty() {
        write!(f, "{} ", parameters(&function.returns))?;
    }
    write!(f, "{}{}", function.name, parameters(&function.parameters))?;
    for directive in &function.directives {
        let values: Vec<_> = directive.values.iter().map(u32::to_string).collect();
        write!(f, " .{} {}", directive.name, values.join(", "))?;
    }
    Ok(())
}

fn declare(f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
    head(f, function)?;
    writeln!(f, ";")
}

/// Prints a function with its body; one without a body only if it is a kernel.
fn define(f: &mut Formatter<'_>, module: &Module, function: &Function) -> fmt::Result {
    let Some(body) = &function.body else {
        return if function.entry { declare(f, function) } else { Ok(()) };
    };
    head(f, function)?;
    writeln!(f, "\n{{")?;
    Printer { module, function, body, names: Names::of(function, body) }.body(f)?;
    writeln!(f, "}}")
}

/// Initial contents, as a flat list of the variable's elements.
fn contents(module: &Module, variable: &Variable, initial: &Initial) -> String {
    let size = variable.ty.size() as usize;
    let element = |(at, bytes): (usize, &[u8])| {
        let at = (at * size) as u64;
        match initial.relocations.iter().find(|r| r.at == at) {
            Some(relocation) => address(module, relocation),
            None => {
                let mut wide = [0; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                constant(u128::from_le_bytes(wide) as u64, variable.ty)
            }
        }
    };
    let all: Vec<_> = initial.bytes.chunks(size).enumerate().map(element).collect();
    match variable.extents.is_empty() && variable.vector == 1 {
        true => all.concat(),
        // The flat list is wrapped in as many braces as the array has dimensions.
        false => {
            let depth = variable.extents.len().max(1);
            format!("{}{}{}", "{".repeat(depth), all.join(", "), "}".repeat(depth))
        }
    }
}

fn address(module: &Module, relocation: &Relocation) -> String {
    let mut text = symbol(module, relocation.symbol).to_owned();
    if relocation.generic {
        text = format!("generic({text})");
    }
    if relocation.addend != 0 {
        let _ = write!(text, "+{}", relocation.addend);
    }
    match relocation.width {
        1 => format!("{:#x}({text})", 0xFFu64 << (8 * relocation.byte)),
        _ => text,
    }
}

fn symbol(module: &Module, base: Base) -> &str {
    match base {
        Base::Variable(at) => &module.variables[at as usize].name,
        Base::Function(at) => &module.functions[at as usize].name,
        _ => "_",
    }
}

/// A constant of type `ty`.
fn constant(bits: u64, ty: Type) -> String {
    match ty {
        Type::F32 => format!("0f{:08X}", bits as u32),
        Type::F64 => format!("0d{bits:016X}"),
        _ if ty.is_signed() => {
            let unused = 64 - 8 * ty.size().min(8) as u32;
            (((bits << unused) as i64) >> unused).to_string()
        }
        _ => bits.to_string(),
    }
}

/// The names in a body, made unique.
struct Names {
    registers: Vec<String>,
    variables: Vec<String>,
    tables: Vec<String>,
    labels: Vec<(String, u32)>,
}

impl Names {
    fn of(function: &Function, body: &Body) -> Names {
        let parameters = function.parameters.iter().chain(&function.returns);
        let mut taken: FxHashSet<String> = parameters.map(|p| p.name.clone()).collect();
        let numbered: FxHashSet<&str> =
            body.registers.iter().filter(|r| r.count.is_some()).map(|r| r.name.as_str()).collect();
        let mut once = |name: &str| {
            // An inner scope may declare another `%r1` than that of `%r<7>`. New names do not end
            // with a digit, which would read as the number of a register.
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let hidden = stem != name && numbered.contains(stem);
            let mut unique = if hidden { format!("{name}_") } else { name.to_owned() };
            for n in 1.. {
                if taken.insert(unique.clone()) {
                    break;
                }
                unique = format!("{name}_{n}_");
            }
            unique
        };
        let is_parameter = |name: &String| function.parameters.iter().any(|p| p.name == *name);
        Names {
            registers: (body.registers.iter())
                .map(|r| if is_parameter(&r.name) { r.name.clone() } else { once(&r.name) })
                .collect(),
            variables: body.variables.iter().map(|v| once(&v.name)).collect(),
            tables: body.tables.iter().map(|t| once(&t.name)).collect(),
            labels: labels(body).into_iter().map(|(l, at)| (once(l), at)).collect(),
        }
    }
}

/// A label for each place that has one or is a branch target.
fn labels(body: &Body) -> Vec<(&str, u32)> {
    let mut all: Vec<_> = body.labels.iter().map(|(name, at)| (name.as_str(), *at)).collect();
    let targets = body.tables.iter().flat_map(|t| match &t.targets {
        Targets::Branch(targets) => &targets[..],
        _ => &[],
    });
    let direct = body.operands.iter().filter_map(|o| match o {
        Operand::Target(at) => Some(at),
        _ => None,
    });
    for &target in targets.chain(direct) {
        if !all.iter().any(|(_, at)| *at == target) {
            all.push(("$L", target));
        }
    }
    all.sort_by_key(|(_, at)| *at);
    all
}

struct Printer<'m> {
    module: &'m Module,
    function: &'m Function,
    body: &'m Body,
    names: Names,
}

impl Printer<'_> {
    fn body(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.declarations(f)?;
        let mut labels = self.names.labels.iter().peekable();
        let mut location = None;
        for (at, instruction) in self.body.instructions.iter().enumerate() {
            while let Some((label, _)) = labels.next_if(|(_, target)| *target as usize == at) {
                writeln!(f, "{label}:")?;
            }
            if let Some(id) = instruction.location.filter(|id| location != Some(*id)) {
                self.location(f, id)?;
                location = Some(id);
            }
            self.instruction(f, instruction)?;
        }
        labels.filter(|(_, at)| *at != u32::MAX).try_for_each(|(label, _)| writeln!(f, "{label}:"))
    }

    fn declarations(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let own = |r: &Registers| !self.function.parameters.iter().any(|p| p.name == r.name);
        for (registers, name) in self.body.registers.iter().zip(&self.names.registers) {
            match registers.count {
                _ if !own(registers) => {}
                Some(n) => writeln!(f, "\t.reg .{} {name}<{n}>;", registers.ty.word())?,
                None => writeln!(f, "\t.reg .{} {name};", registers.ty.word())?,
            }
        }
        for (variable, name) in self.body.variables.iter().zip(&self.names.variables) {
            write!(f, "\t{}{}", linkage(variable.linkage), declaration(variable, name))?;
            if let Some(initial) = &variable.initial {
                write!(f, " = {}", contents(self.module, variable, initial))?;
            }
            writeln!(f, ";")?;
        }
        for (table, name) in self.body.tables.iter().zip(&self.names.tables) {
            writeln!(f, "{name}: {};", self.table(table))?;
        }
        Ok(())
    }

    fn table(&self, table: &Table) -> String {
        match &table.targets {
            Targets::Branch(targets) => {
                let all: Vec<_> = targets.iter().map(|t| self.label(*t)).collect();
                format!(".branchtargets {}", all.join(", "))
            }
            Targets::Call(targets) => {
                let name = |at: &u32| self.module.functions[*at as usize].name.as_str();
                let all: Vec<_> = targets.iter().map(name).collect();
                format!(".calltargets {}", all.join(", "))
            }
            Targets::Prototype { returns, parameters: list } => {
                let returns = if returns.is_empty() { String::new() } else { parameters(returns) };
                format!(".callprototype {returns} _ {}", parameters(list))
            }
        }
    }

    fn label(&self, target: u32) -> &str {
        let at = self.names.labels.iter().position(|(_, at)| *at == target);
        at.map_or("_", |at| &self.names.labels[at].0)
    }

    /// Prints a `.loc` directive, after those of the call sites that it was inlined at.
    fn location(&self, f: &mut Formatter<'_>, id: LocationId) -> fmt::Result {
        let place = |location: &Location| {
            let file = self.module.files[location.file as usize].number;
            format!("{file} {} {}", location.line, location.column)
        };
        let location = &self.body.locations[id.index()];
        let Some(inlined) = location.inlined else {
            return writeln!(f, "\t.loc {}", place(location));
        };
        self.location(f, inlined.at)?;
        write!(f, "\t.loc {}", place(location))?;
        if let Some(function) = inlined.function {
            write!(f, ", function_name $L__info_string{function}")?;
        }
        writeln!(f, ", inlined_at {}", place(&self.body.locations[inlined.at.index()]))
    }

    fn instruction(&self, f: &mut Formatter<'_>, instruction: &Instruction) -> fmt::Result {
        let operands = self.body.operands_of(instruction);
        if let (Op::Unknown, [Operand::Imm(at)]) = (instruction.op, operands) {
            return writeln!(f, "\t{};", self.body.unknown[*at as usize]);
        }
        write!(f, "\t")?;
        if let Some(guard) = instruction.guard {
            let not = if guard.negated { "!" } else { "" };
            write!(f, "@{not}{} ", self.register(guard.register))?;
        }
        let row = instruction.op.row();
        write!(f, "{} ", mnemonic::print(row, &instruction.modifiers))?;
        match instruction.op {
            Op::Call => self.call(f, operands)?,
            _ => self.operands(f, &row.operands, &instruction.modifiers, operands)?,
        }
        writeln!(f, ";")
    }

    fn operands(
        &self,
        f: &mut Formatter<'_>,
        positions: &[Position],
        modifiers: &Modifiers,
        operands: &[Operand],
    ) -> fmt::Result {
        let mut first = true;
        for (position, operand) in positions.iter().zip(operands) {
            match (position.form, operand) {
                (Form::Second, Operand::Sink) => continue,
                (_, Operand::Sink) if position.optional => continue,
                (Form::Second, _) => write!(f, "|")?,
                _ if !first => write!(f, ", ")?,
                _ => {}
            }
            first = false;
            let text = self.operand(operand, self.constant_type(position, modifiers));
            match position.form {
                Form::Object => write!(f, "[{text}")?,
                Form::Coordinates => write!(f, "{text}]")?,
                _ => write!(f, "{text}")?,
            }
        }
        Ok(())
    }

    fn constant_type(&self, position: &Position, modifiers: &Modifiers) -> Type {
        match position.ty {
            Typing::Always(ty) => ty,
            Typing::Wide if modifiers.mode == Some(Mode::Wide) => modifiers.ty().widened(),
            Typing::Wide => modifiers.types[0].unwrap_or(Type::B64),
            Typing::Nth(n) => modifiers.types[n].unwrap_or(Type::B64),
        }
    }

    fn call(&self, f: &mut Formatter<'_>, operands: &[Operand]) -> fmt::Result {
        let list = |operand| {
            let elements = self.body.elements_of(operand).iter();
            let all: Vec<_> = elements.map(|e| self.operand(e, Type::B64)).collect();
            format!("({})", all.join(", "))
        };
        let [callee, returned, arguments, table @ ..] = operands else { return Ok(()) };
        if !self.body.elements_of(returned).is_empty() {
            write!(f, "{}, ", list(returned))?;
        }
        write!(f, "{}, {}", self.operand(callee, Type::B64), list(arguments))?;
        table.iter().try_for_each(|t| write!(f, ", {}", self.operand(t, Type::B64)))
    }

    fn operand(&self, operand: &Operand, ty: Type) -> String {
        match *operand {
            Operand::Reg(register) => self.register(register),
            Operand::Not(register) => format!("!{}", self.register(register)),
            Operand::Imm(bits) => constant(bits, ty),
            Operand::Special(Special::Envreg, number) => format!("%envreg{number}"),
            Operand::Special(special, at) => special_register(special, at),
            Operand::Memory(base, offset) => format!("[{}]", self.sum(base, offset)),
            Operand::Address(base, offset) => self.sum(base, offset),
            Operand::List { .. } => {
                let elements = self.body.elements_of(operand).iter();
                let all: Vec<_> = elements.map(|e| self.operand(e, ty)).collect();
                format!("{{{}}}", all.join(", "))
            }
            Operand::Target(target) => self.label(target).to_owned(),
            Operand::Table(at) => self.names.tables[at as usize].clone(),
            Operand::Sink => "_".to_owned(),
        }
    }

    fn sum(&self, base: Base, offset: i64) -> String {
        let name = match base {
            Base::Absolute => return (offset as u64).to_string(),
            Base::Reg(register) => self.register(register),
            Base::Param(at) => self.function.parameters[at as usize].name.clone(),
            Base::Return(at) => self.function.returns[at as usize].name.clone(),
            Base::Local(at) => self.names.variables[at as usize].clone(),
            symbol => self::symbol(self.module, symbol).to_owned(),
        };
        match offset {
            0 => name,
            _ => format!("{name}+{offset}"),
        }
    }

    fn register(&self, register: Reg) -> String {
        let declared = self.body.registers.iter().position(|r| {
            r.first.class() == register.class() && r.range().contains(&register.index())
        });
        let Some(at) = declared else { return "_".to_owned() };
        let registers = &self.body.registers[at];
        match registers.count {
            Some(_) => {
                format!(
                    "{}{}",
                    self.names.registers[at],
                    register.index() - registers.first.index()
                )
            }
            None => self.names.registers[at].clone(),
        }
    }
}

/// `%tid.x`, or without a dimension; a register with one value has only x.
fn special_register(special: Special, at: u8) -> String {
    use Special::*;
    let has_dimensions = matches!(
        special,
        Tid | Ntid | CtaId | NctaId | ClusterId | NclusterId | ClusterCtaId | ClusterNctaId
    );
    match ["x", "y", "z", "w"].get(at as usize).filter(|_| has_dimensions) {
        Some(dimension) => format!("%{}.{dimension}", special.word()),
        None => format!("%{}", special.word()),
    }
}
