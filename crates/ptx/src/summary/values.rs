//! The values of a graph's nodes in one launch, as forms.
//!
//! A form stands for the bits of a register: they agree modulo 2 to the power of its width. Sums
//! need no more than that. Where the number itself matters, as in comparisons and conversions, the
//! form must be shown to lie within the type ([`Values::interpret`]).

use super::form::{Bounds, Form, Reading, Var};
use super::graph::{Graph, Node, NodeId, Place, Way};
use super::shape::{self, Constraint};
use super::{Access, Effect, Launch, Origin};
use crate::instruction::Modifiers;
use crate::opcodes::Op;
use crate::words::{Combine, Compare, Flag, Mode, Special, Type};
use rustc_hash::FxHashMap;

/// What a register may hold, and which pointers it may have come from.
#[derive(Clone, Debug)]
pub(super) struct Value {
    form: Form,
    origins: Vec<Origin>,
}

/// The last iteration of a loop that any thread may see.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Last {
    Unasked,
    /// Being found out: without limit meanwhile.
    Asked,
    Known {
        last: Option<i128>,
        exact: bool,
    },
}

pub(super) struct Values<'g> {
    graph: &'g Graph,
    launch: &'g Launch<'g>,
    known: FxHashMap<NodeId, Option<Value>>,
    opaque: FxHashMap<(NodeId, Reading), Bounds>,
    last: Vec<Last>,
    /// Loops whose end is being found out, under the assumption that numbers fit their types. That
    /// is shown afterwards.
    assuming: u32,
    /// Loops whose end was found under that assumption for another loop.
    provisional: Vec<u32>,
}

impl<'g> Values<'g> {
    pub(super) fn new(graph: &'g Graph, launch: &'g Launch<'g>) -> Values<'g> {
        let last = vec![Last::Unasked; graph.loops.len()];
        let (known, opaque, provisional) = Default::default();
        Values { graph, launch, known, opaque, last, assuming: 0, provisional }
    }

    /// What an access does.
    pub(super) fn effect(&mut self, at: usize, access: &Access) -> Option<Effect> {
        let Some(address) = access.address else {
            let origins = vec![Origin::Unknown];
            return Some(Effect { access: at, origins, bytes: None, certain: false });
        };
        let Value { form, origins } = self.value(address);
        let form = self.settled(form, access);
        if !origins.is_empty() && origins.iter().all(|o| *o == Origin::Own) {
            return None;
        }
        let mut certain = access.certain;
        let mut constraints = Vec::new();
        for (condition, holds) in &access.guards {
            certain &= self.constraints(*condition, *holds, &mut constraints);
        }
        let mut constraints: Vec<Constraint> = constraints
            .into_iter()
            .map(|form| self.settled(form, access))
            .map(Constraint::of)
            .collect();
        for number in &access.loops {
            certain &= self.repeated(*number, &mut constraints);
        }
        if constraints.iter().any(|c| self.bounds(&c.form).least.is_some_and(|l| l > 0)) {
            return None;
        }
        let shape = shape::footprint(self, &form, &constraints, access)?;
        let certain = certain && shape.certain;
        Some(Effect { access: at, origins, bytes: shape.bytes, certain })
    }

    /// A form with the last iteration of loops that have ended where the access is.
    fn settled(&mut self, form: Form, access: &Access) -> Form {
        let mut settled = form.clone();
        for &(var, coefficient) in &form.terms {
            let Var::Loop(number) = var else { continue };
            let ended =
                !access.loops.contains(&number) && self.graph.loops[number as usize].single_exit;
            let last = if ended { self.exact_last(number) } else { None };
            let last = last.and_then(|l| i64::try_from(l).ok()).map(Form::constant);
            let replaced = last.and_then(|last| {
                settled.plus(&Form::var(var), -coefficient)?.plus(&last, coefficient)
            });
            settled = replaced.unwrap_or(settled);
        }
        settled
    }

    /// Adds what limits the iterations of a loop around an access; true if that is all.
    fn repeated(&mut self, number: u32, constraints: &mut Vec<Constraint>) -> bool {
        let iterations = &self.graph.loops[number as usize];
        if self.exact_last(number).is_some() {
            return true;
        }
        let Some((condition, holds)) = iterations.continues else {
            // Tested at its head: a guard says so. Without any test it ends some other way.
            return iterations.entered.is_some();
        };
        let mut found = Vec::new();
        let mut complete = self.constraints(condition, holds, &mut found);
        let var = Var::Loop(number);
        for form in found {
            // It held in the iteration before, if there was one. In the first, something else
            // must say the same.
            let step = form.coefficient(var);
            let earlier = form.plus(&Form::constant(step), -1);
            let first = earlier.as_ref().and_then(|f| f.plus(&Form::var(var), -step));
            let (Some(form), Some(first)) = (earlier, first) else { return false };
            let is_known = constraints
                .iter()
                .any(|c| c.form.linear() == first.linear() && c.form.constant >= first.constant);
            if is_known || self.bounds(&first).greatest.is_some_and(|g| g <= 0) {
                complete &= step > 0;
                // As steps are not negative, what says it of the first says nothing more.
                constraints.retain(|c| step < 0 || c.form != first);
                constraints.push(Constraint { form, of: Some(number) });
            } else {
                complete = false;
            }
        }
        complete
    }

    // Loops.

    /// The last iteration, if all threads have that many.
    pub(super) fn exact_last(&mut self, number: u32) -> Option<i128> {
        match self.last(number) {
            Last::Known { last, exact: true } => last,
            _ => None,
        }
    }

    /// Whether a loop ends only by what is tested at its head.
    pub(super) fn is_headed(&self, number: u32) -> bool {
        let iterations = &self.graph.loops[number as usize];
        iterations.continues.is_none() && iterations.entered.is_some()
    }

    fn last(&mut self, number: u32) -> Last {
        if self.last[number as usize] == Last::Unasked {
            self.last[number as usize] = Last::Asked;
            self.assuming += 1;
            let found = self.find_last(number);
            self.assuming -= 1;
            self.forget();
            self.last[number as usize] = match found {
                Some((last, exact)) => Last::Known { last: Some(last), exact },
                None => Last::Known { last: None, exact: false },
            };
            if self.assuming > 0 {
                self.provisional.push(number);
                return self.last[number as usize];
            }
            // With this limit the same must follow without the assumption.
            for other in std::mem::take(&mut self.provisional) {
                self.last[other as usize] = Last::Unasked;
            }
            if self.find_last(number) != found {
                self.forget();
                self.last[number as usize] = Last::Known { last: None, exact: false };
            }
        }
        self.last[number as usize]
    }

    /// What was found while a loop had no limit yet is found anew.
    fn forget(&mut self) {
        self.known.clear();
        self.opaque.clear();
    }

    fn find_last(&mut self, number: u32) -> Option<(i128, bool)> {
        let iterations = &self.graph.loops[number as usize];
        let tests = [iterations.continues, iterations.entered].into_iter().flatten();
        let found: Vec<_> = tests.filter_map(|(c, h)| self.last_by(number, c, h)).collect();
        found.into_iter().min_by_key(|(last, exact)| (*last, !exact))
    }

    /// The last iteration by one condition: the one after the last for which it may hold.
    fn last_by(&mut self, number: u32, condition: NodeId, holds: bool) -> Option<(i128, bool)> {
        let var = Var::Loop(number);
        if let Some(form) = self.unequal(condition, holds) {
            let (step, start) = (form.coefficient(var), form.constant);
            let alone = form.terms.len() == 1 && step != 0;
            let ends = alone && start % step == 0 && start / step <= 0;
            return ends.then(|| (i128::from(-(start / step)), true));
        }
        let mut found = Vec::new();
        let complete = self.constraints(condition, holds, &mut found);
        let alone = |form: &Form| form.terms.iter().all(|(v, _)| *v == var);
        let exact = complete && found.iter().all(alone);
        let limit = |form: &Form| {
            let step = form.coefficient(var);
            let rest = form.plus(&Form::var(var), -step).filter(|_| step > 0)?;
            let most = (-self.bounds(&rest).least?).div_euclid(step.into());
            Some((most + 1).max(0))
        };
        Some((found.iter().filter_map(limit).min()?, exact))
    }

    /// The difference that must not be 0, if the condition says just that.
    fn unequal(&mut self, condition: NodeId, holds: bool) -> Option<Form> {
        let Node::Apply { op: Op::Setp, modifiers, args } = self.graph.get(condition) else {
            return None;
        };
        let wanted = if holds { Compare::Ne } else { Compare::Eq };
        if modifiers.compare != Some(wanted) || modifiers.combine.is_some() {
            return None;
        }
        self.difference(modifiers.ty(), args[0], args[1])
    }

    // Conditions.

    /// Adds forms that are at most 0 where a condition holds, or does not; true if they say all
    /// that it says.
    fn constraints(&mut self, condition: NodeId, holds: bool, found: &mut Vec<Form>) -> bool {
        match self.graph.get(condition) {
            Node::Const(bits) => {
                if (*bits != 0) != holds {
                    found.push(Form::constant(1));
                }
                true
            }
            Node::Apply { op: Op::Not, args, .. } => self.constraints(args[0], !holds, found),
            Node::Apply { op: Op::Setp, modifiers, args } => {
                let this = self.comparison(modifiers, args[0], args[1], holds);
                let (mut forms, complete) = this.map_or((Vec::new(), false), |f| (f, true));
                match (modifiers.combine, args.get(2)) {
                    (None, _) => {
                        found.append(&mut forms);
                        complete
                    }
                    (Some(Combine::And), Some(other)) if holds => {
                        found.append(&mut forms);
                        self.constraints(*other, true, found) && complete
                    }
                    (Some(Combine::Or), Some(other)) if !holds => {
                        found.append(&mut forms);
                        self.constraints(*other, false, found) && complete
                    }
                    _ => false,
                }
            }
            Node::Apply { op: op @ (Op::And | Op::Or), args, .. } if holds == (*op == Op::And) => {
                let first = self.constraints(args[0], holds, found);
                self.constraints(args[1], holds, found) && first
            }
            _ => false,
        }
    }

    /// A comparison as forms that are at most 0.
    fn comparison(
        &mut self,
        modifiers: &Modifiers,
        a: NodeId,
        b: NodeId,
        holds: bool,
    ) -> Option<Vec<Form>> {
        use Compare::*;
        let ty = modifiers.ty();
        let compare = modifiers.compare?;
        if ty.is_float() || ty == Type::Pred {
            return None;
        }
        // As `a < b` or `a <= b`, perhaps with the sides exchanged.
        let (swap, or_equal) = match (compare, holds) {
            (Lt | Lo, true) | (Ge | Hs, false) => (false, false),
            (Le | Ls, true) | (Gt | Hi, false) => (false, true),
            (Gt | Hi, true) | (Le | Ls, false) => (true, false),
            (Ge | Hs, true) | (Lt | Lo, false) => (true, true),
            (Eq, true) | (Ne, false) => {
                if let Some(parts) = self.all_zero(a, b) {
                    let each = parts.map(|part| self.comparison(modifiers, part, b, holds));
                    let [first, second] = each;
                    return Some([first?, second?].concat());
                }
                let difference = self.difference(ty, a, b)?;
                let opposite = difference.times(-1)?;
                return Some(vec![difference, opposite]);
            }
            (Ne, true) | (Eq, false) => {
                let difference = self.difference(ty, a, b)?;
                return self.apart(difference);
            }
            _ => return None,
        };
        let strict = Form::constant(i64::from(!or_equal));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let (a, b) = (self.value(a).form, self.value(b).form);
        let (left, right) = (self.interpret(&a, ty), self.interpret(&b, ty));
        if let (Some(left), Some(right)) = (left, right) {
            return Some(vec![left.plus(&right, -1)?.plus(&strict, 1)?]);
        }
        // `(unsigned)i < n`: i is not negative either.
        let signed = signed_twin(ty)?;
        let (left, right) = (self.interpret(&a, signed)?, self.interpret(&b, signed)?);
        let bounded = self.bounds(&right).least.is_some_and(|l| l >= 0);
        let below = left.plus(&right, -1)?.plus(&strict, 1)?;
        bounded.then_some(vec![below, left.times(-1)?])
    }

    /// `x | y` compared with 0: both are.
    fn all_zero(&mut self, a: NodeId, b: NodeId) -> Option<[NodeId; 2]> {
        match self.graph.get(a) {
            Node::Apply { op: Op::Or, args, .. } => {
                let zero = self.value(b).form.as_constant() == Some(0);
                zero.then(|| [args[0], args[1]])
            }
            _ => None,
        }
    }

    /// `a - b` as numbers.
    fn difference(&mut self, ty: Type, a: NodeId, b: NodeId) -> Option<Form> {
        if ty.is_float() || ty == Type::Pred {
            return None;
        }
        let (a, b) = (self.value(a).form, self.value(b).form);
        let as_type =
            |this: &mut Self, ty| this.interpret(&a, ty)?.plus(&this.interpret(&b, ty)?, -1);
        let signed = signed_twin(ty).unwrap_or(ty);
        as_type(self, signed).or_else(|| as_type(self, ty))
    }

    /// What follows from a difference that is not 0: something only where its sign is known.
    fn apart(&mut self, difference: Form) -> Option<Vec<Form>> {
        let Bounds { least, greatest } = self.bounds(&difference);
        let one = Form::constant(1);
        match difference.as_constant() {
            Some(0) => Some(vec![one]),
            Some(_) => Some(Vec::new()),
            None if least.is_some_and(|l| l >= 0) => Some(vec![one.plus(&difference, -1)?]),
            None if greatest.is_some_and(|g| g <= 0) => Some(vec![one.plus(&difference, 1)?]),
            None => None,
        }
    }

    /// Whether a condition holds for all or for none.
    fn decide(&mut self, condition: NodeId) -> Option<bool> {
        [true, false].into_iter().find(|holds| {
            let mut against = Vec::new();
            self.constraints(condition, !holds, &mut against);
            against.iter().any(|f| self.bounds(f).least.is_some_and(|l| l > 0))
        })
    }

    // Numbers.

    /// The least and greatest value of a form over all threads and iterations.
    pub(super) fn bounds(&mut self, form: &Form) -> Bounds {
        let start = Bounds::new(form.constant.into(), form.constant.into());
        let add = |sum: Bounds, (var, coefficient): &(Var, i64)| {
            sum.plus(&self.range(*var).times(*coefficient))
        };
        form.terms.iter().fold(start, add)
    }

    /// The least and greatest value of a variable.
    pub(super) fn range(&mut self, var: Var) -> Bounds {
        let below = |n: u32| Bounds::new(0, i128::from(n) - 1);
        match var {
            Var::Tid(d) => below(self.launch.block[d as usize]),
            Var::Ctaid(d) => below(self.launch.grid[d as usize]),
            Var::Opaque(id, reading) => {
                self.opaque.get(&(id, reading)).copied().unwrap_or(Bounds::ANY)
            }
            Var::Loop(number) => match self.last(number) {
                Last::Known { last, .. } => Bounds { least: Some(0), greatest: last },
                _ => Bounds { least: Some(0), greatest: None },
            },
        }
    }

    /// The number that bits stand for as a type, if it is the same form for all threads.
    fn interpret(&mut self, form: &Form, ty: Type) -> Option<Form> {
        let bits = 8 * ty.size() as u32;
        if bits >= 64 {
            return Some(form.clone());
        }
        let wanted = Bounds::of_type(bits, ty.is_signed());
        let bounds = self.bounds(form);
        let (Some(least), Some(_)) = (bounds.least, bounds.greatest) else {
            return (self.assuming > 0).then(|| form.clone());
        };
        let turns = (least - wanted.least.unwrap_or(0)).div_euclid(1 << bits);
        let turned = form.plus(&Form::constant((turns << bits).try_into().ok()?), -1)?;
        self.bounds(&turned).within(&wanted).then_some(turned)
    }

    /// The same, or else something within the type.
    fn number(&mut self, id: NodeId, ty: Type) -> (Form, Bounds) {
        let form = self.value(id).form;
        let known = self.interpret(&form, ty);
        let form = known.unwrap_or_else(|| {
            let bits = 8 * ty.size() as u32;
            let bounds =
                if bits < 64 { Bounds::of_type(bits, ty.is_signed()) } else { Bounds::ANY };
            let reading = if ty.is_signed() { Reading::Signed } else { Reading::Unsigned };
            self.opaque_as(id, reading, bounds)
        });
        let bounds = self.bounds(&form);
        (form, bounds)
    }

    /// A value of which no more is known than its bounds.
    fn opaque(&mut self, id: NodeId, bounds: Bounds) -> Form {
        self.opaque_as(id, Reading::Bits, bounds)
    }

    fn opaque_as(&mut self, id: NodeId, reading: Reading, bounds: Bounds) -> Form {
        let id = self.graph.same(id);
        match (bounds.least, bounds.greatest.and_then(|g| i64::try_from(g).ok())) {
            (Some(least), Some(greatest)) if least == greatest.into() => Form::constant(greatest),
            _ => {
                let known = self.opaque.entry((id, reading)).or_insert(bounds);
                *known = known.hull(&bounds);
                Form::var(Var::Opaque(id, reading))
            }
        }
    }

    /// A node's value.
    fn value(&mut self, id: NodeId) -> Value {
        let id = self.graph.same(id);
        match self.known.get(&id) {
            Some(Some(value)) => return value.clone(),
            // It depends on itself.
            Some(None) => {
                let form = self.opaque(id, Bounds::ANY);
                return Value { form, origins: Vec::new() };
            }
            None => {}
        }
        self.known.insert(id, None);
        let value = self.compute(id);
        self.known.insert(id, Some(value.clone()));
        value
    }

    fn compute(&mut self, id: NodeId) -> Value {
        let plain = |form| Value { form, origins: Vec::new() };
        match self.graph.get(id) {
            Node::Const(bits) => plain(Form::constant(*bits as i64)),
            Node::Argument { offset, ty } => self.argument(id, *offset, *ty),
            Node::Special(special, d) => plain(self.special(id, *special, *d)),
            Node::Place(place) => self.place(id, *place),
            Node::Loaded { address, ty } => self.loaded(id, *address, *ty),
            Node::Merge(values) => self.merged(id, values),
            Node::Induction { of, init, step, bits } => {
                let Value { form: init, origins } = self.value(*init);
                let step = self.value(*step).form.as_constant();
                let sum = step.and_then(|s| init.plus(&Form::var(Var::Loop(*of)), s));
                let form = match sum {
                    Some(sum) if *bits < 64 => sum.reduced(*bits),
                    Some(sum) => sum,
                    None => self.opaque(id, Bounds::ANY),
                };
                Value { form, origins }
            }
            Node::Apply { op, modifiers, args } => {
                let form = self.applied(id, *op, modifiers, args);
                Value { form, origins: self.origins(*op, modifiers, args) }
            }
            Node::Unknown => {
                Value { form: self.opaque(id, Bounds::ANY), origins: vec![Origin::Unknown] }
            }
        }
    }

    fn argument(&mut self, id: NodeId, offset: u64, ty: Type) -> Value {
        let size = ty.size().min(8) as usize;
        let bytes = self.launch.arguments.get(offset as usize..);
        let Some(bytes) = bytes.and_then(|b| b.get(..size)) else {
            return Value { form: self.opaque(id, Bounds::ANY), origins: vec![Origin::Unknown] };
        };
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(bytes);
        let form = Form::constant(i64::from_le_bytes(wide));
        let form = if size < 8 { self.read_as(form, ty) } else { form };
        let origins = if size == 8 { vec![Origin::Argument(offset)] } else { Vec::new() };
        Value { form, origins }
    }

    /// What a load of that type makes of bits: sign-extended if it is signed.
    fn read_as(&self, form: Form, ty: Type) -> Form {
        if ty.is_signed() { form.reduced(8 * ty.size() as u32) } else { form }
    }

    fn special(&mut self, id: NodeId, special: Special, d: u8) -> Form {
        let of = |sizes: &[u32; 3], var: Var| match sizes.get(d as usize) {
            Some(1) | None => Form::constant(0),
            Some(_) => Form::var(var),
        };
        let size =
            |sizes: &[u32; 3]| Form::constant(sizes.get(d as usize).copied().unwrap_or(1).into());
        match special {
            Special::Tid => of(&self.launch.block, Var::Tid(d)),
            Special::CtaId => of(&self.launch.grid, Var::Ctaid(d)),
            Special::Ntid => size(&self.launch.block),
            Special::NctaId => size(&self.launch.grid),
            Special::LaneId => self.opaque(id, Bounds::new(0, 31)),
            _ => self.opaque(id, Bounds::ANY),
        }
    }

    fn place(&mut self, id: NodeId, place: Place) -> Value {
        let (address, origin) = match place {
            Place::Variable(at) => ((self.launch.variable)(at), Origin::Variable(at)),
            Place::Own | Place::Arguments(_) => (None, Origin::Own),
        };
        let form = match address {
            Some(address) => Form::constant(address as i64),
            None => self.opaque(id, Bounds::ANY),
        };
        Value { form, origins: vec![origin] }
    }

    fn loaded(&mut self, id: NodeId, address: NodeId, ty: Type) -> Value {
        if let Some(offset) = self.argument_at(address) {
            return self.argument(id, offset, ty);
        }
        let bits = 8 * ty.size() as u32;
        if bits < 64 {
            let form = self.opaque(id, Bounds::of_type(bits, ty.is_signed()));
            return Value { form, origins: Vec::new() };
        }
        let form = self.opaque(id, Bounds::ANY);
        let through = |origin| match origin {
            Origin::Argument(at) | Origin::ThroughArgument(at) => Origin::ThroughArgument(at),
            Origin::Variable(at) | Origin::ThroughVariable(at) => Origin::ThroughVariable(at),
            Origin::Own | Origin::Unknown => Origin::Unknown,
        };
        let origins = self.value(address).origins.into_iter().map(through).collect();
        Value { form, origins: union([origins]) }
    }

    /// The offset of the argument at an address, if that is what it is the address of.
    fn argument_at(&mut self, address: NodeId) -> Option<u64> {
        match self.graph.get(address) {
            Node::Place(Place::Arguments(offset)) => Some(*offset),
            Node::Apply { op: Op::Add, args, .. } => {
                let (start, more) = (self.argument_at(args[0])?, self.value(args[1]).form);
                start.checked_add_signed(more.as_constant()?)
            }
            _ => None,
        }
    }

    fn merged(&mut self, id: NodeId, values: &[NodeId]) -> Value {
        let possible = self.graph.ways.get(&id).map(|ways| {
            let possible = |way: &&Way| {
                way.conditions.iter().all(|(c, holds)| self.decide(*c) != Some(!holds))
            };
            ways.iter().filter(possible).map(|way| way.value).collect::<Vec<_>>()
        });
        let values = possible.as_deref().filter(|p| !p.is_empty()).unwrap_or(values);
        let values: Vec<Value> = values.iter().map(|v| self.value(*v)).collect();
        let origins = union(values.iter().map(|v| v.origins.clone()));
        let form = match &values[..] {
            [first, rest @ ..] if rest.iter().all(|v| v.form == first.form) => first.form.clone(),
            _ => {
                let all: Vec<_> = values.iter().map(|v| self.bounds(&v.form)).collect();
                let hull = all.into_iter().reduce(|a, b| a.hull(&b)).unwrap_or(Bounds::ANY);
                self.opaque(id, hull)
            }
        };
        Value { form, origins }
    }

    /// Which pointers a result may be derived from.
    fn origins(&mut self, op: Op, modifiers: &Modifiers, args: &[NodeId]) -> Vec<Origin> {
        let narrow = modifiers.types.iter().flatten().any(|t| t.size() < 8);
        let kept: &[usize] = match op {
            _ if narrow => &[],
            Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max | Op::Selp => {
                &[0, 1]
            }
            Op::Mad => &[2],
            Op::Cvt | Op::Not | Op::Neg => &[0],
            _ => &[],
        };
        // `mad.wide.s32` adds to 64 bits.
        let wide = op == Op::Mad && modifiers.mode == Some(Mode::Wide);
        let kept = if wide { &[2][..] } else { kept };
        union(kept.iter().map(|n| self.value(args[*n]).origins))
    }

    // Operations.

    fn applied(&mut self, id: NodeId, op: Op, modifiers: &Modifiers, args: &[NodeId]) -> Form {
        let ty = modifiers.ty();
        let other = ty.is_float() || modifiers.has(Flag::Saturate) || modifiers.has(Flag::CarryOut);
        let wide = modifiers.mode == Some(Mode::Wide);
        let result = if wide { ty.widened() } else { ty };
        let bits = 8 * result.size() as u32;
        let form = if other { None } else { self.operation(id, op, modifiers, args) };
        match form {
            Some(form) if bits < 64 => form.reduced(bits),
            Some(form) => form,
            None if bits < 64 => self.opaque(id, Bounds::of_type(bits, true)),
            None => self.opaque(id, Bounds::ANY),
        }
    }

    fn operation(
        &mut self,
        id: NodeId,
        op: Op,
        modifiers: &Modifiers,
        args: &[NodeId],
    ) -> Option<Form> {
        let ty = modifiers.ty();
        let form = |this: &mut Self, n: usize| this.value(args[n]).form;
        match op {
            Op::Add => form(self, 0).plus(&form(self, 1), 1),
            Op::Sub => form(self, 0).plus(&form(self, 1), -1),
            Op::Neg => form(self, 0).times(-1),
            Op::Not => form(self, 0).times(-1)?.plus(&Form::constant(1), -1),
            Op::Mul => self.product(id, modifiers, args),
            Op::Mad => {
                let product = self.product(id, modifiers, args)?;
                product.plus(&form(self, 2), 1)
            }
            Op::Shl => {
                let by = form(self, 1).as_constant().filter(|n| (0..62).contains(n))?;
                form(self, 0).times(1 << by)
            }
            Op::Shr => {
                let by = form(self, 1).as_constant().filter(|n| (0..64).contains(n))?;
                let (_, bounds) = self.number(args[0], ty);
                self.monotone(id, bounds, |n| n >> by)
            }
            Op::And | Op::Or | Op::Xor => self.bitwise(id, op, ty, args),
            Op::Min | Op::Max => {
                let ((a, of_a), (b, of_b)) = (self.number(args[0], ty), self.number(args[1], ty));
                let choose = |x: i128, y: i128| if op == Op::Min { x.min(y) } else { x.max(y) };
                let below =
                    |x: Bounds, y: Bounds| x.greatest.zip(y.least).is_some_and(|(x, y)| x <= y);
                match (below(of_a, of_b), below(of_b, of_a)) {
                    (true, _) => Some(if op == Op::Min { a } else { b }),
                    (_, true) => Some(if op == Op::Min { b } else { a }),
                    _ => {
                        let least = of_a.least.zip(of_b.least).map(|(x, y)| choose(x, y));
                        let greatest = of_a.greatest.zip(of_b.greatest).map(|(x, y)| choose(x, y));
                        Some(self.opaque(id, Bounds { least, greatest }))
                    }
                }
            }
            Op::Div | Op::Rem => self.division(id, op, ty, args),
            Op::Selp => match self.decide(args[2]) {
                Some(first) => Some(form(self, usize::from(!first))),
                None => Some(self.merged(id, &args[..2]).form),
            },
            Op::Cvt => {
                let from = modifiers.types[1].filter(|t| !t.is_float())?;
                let (form, _) = self.number(args[0], from);
                Some(form)
            }
            Op::Bfe => {
                let len = form(self, 2).as_constant().filter(|n| (0..32).contains(n))?;
                (!ty.is_signed()).then(|| self.opaque(id, Bounds::new(0, (1 << len) - 1)))
            }
            _ => None,
        }
    }

    /// `mul` and the product of `mad`.
    fn product(&mut self, id: NodeId, modifiers: &Modifiers, args: &[NodeId]) -> Option<Form> {
        let ty = modifiers.ty();
        let (a, b) = match modifiers.mode? {
            Mode::Lo => (self.value(args[0]).form, self.value(args[1]).form),
            Mode::Wide => (self.number(args[0], ty).0, self.number(args[1], ty).0),
            _ => return self.high_product(ty, args),
        };
        match (a.as_constant(), b.as_constant()) {
            (Some(factor), _) => b.times(factor),
            (_, Some(factor)) => a.times(factor),
            _ => {
                let signed = signed_twin(ty).unwrap_or(ty);
                let (a, b) = (self.interpret(&a, signed)?, self.interpret(&b, signed)?);
                let (a, b) = (self.bounds(&a), self.bounds(&b));
                let (a, b) = ([a.least?, a.greatest?], [b.least?, b.greatest?]);
                let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
                let bounds = Bounds::new(*all.iter().min()?, *all.iter().max()?);
                Some(self.opaque(id, bounds))
            }
        }
    }

    /// `mul.hi`, which divisions by constants are made of, of numbers that are known.
    fn high_product(&mut self, ty: Type, args: &[NodeId]) -> Option<Form> {
        let (a, b) = (self.number(args[0], ty).0, self.number(args[1], ty).0);
        let product = i128::from(a.as_constant()?) * i128::from(b.as_constant()?);
        let high = (ty.size() < 8).then_some(product >> (8 * ty.size()))?;
        Some(Form::constant(high.try_into().ok()?))
    }

    /// A function of one number that never decreases.
    fn monotone(&mut self, id: NodeId, of: Bounds, f: impl Fn(i128) -> i128) -> Option<Form> {
        let bounds = Bounds { least: of.least.map(&f), greatest: of.greatest.map(&f) };
        Some(self.opaque(id, bounds))
    }

    fn bitwise(&mut self, id: NodeId, op: Op, ty: Type, args: &[NodeId]) -> Option<Form> {
        let (a, b) = (self.value(args[0]).form, self.value(args[1]).form);
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return Some(Form::constant(match op {
                Op::And => a & b,
                Op::Or => a | b,
                _ => a ^ b,
            }));
        }
        let signed = signed_twin(ty).unwrap_or(ty);
        let (form, mask) = if a.terms.is_empty() { (b.clone(), &a) } else { (a.clone(), &b) };
        let mask = self.interpret(mask, signed).and_then(|m| m.as_constant());
        match (op, mask) {
            (Op::And, Some(mask)) if mask >= 0 => {
                let bounds = Bounds::new(0, mask.into());
                let known = self.interpret(&form, signed);
                // All bits that it can have are kept.
                let same =
                    known.filter(|f| self.bounds(f).within(&bounds) && (mask + 1) & mask == 0);
                Some(same.unwrap_or_else(|| self.opaque(id, bounds)))
            }
            // Bits below are cleared: what that takes away is little.
            (Op::And, Some(mask)) if mask.unsigned_abs().is_power_of_two() => {
                let lost = self.opaque(id, Bounds::new(i128::from(mask) + 1, 0));
                form.plus(&lost, 1)
            }
            (Op::Xor, Some(-1)) => form.times(-1)?.plus(&Form::constant(1), -1),
            (Op::Or | Op::Xor, _) => self.disjoint(&a, &b).or_else(|| self.disjoint(&b, &a)),
            _ => None,
        }
    }

    /// `high | low` where one has no bits where the other has: their sum.
    fn disjoint(&mut self, high: &Form, low: &Form) -> Option<Form> {
        let Bounds { least, greatest } = self.bounds(low);
        let width = (greatest.filter(|_| least.is_some_and(|l| l >= 0))? + 1) as u128;
        let step = i64::try_from(width.checked_next_power_of_two()?).ok()?;
        let all = high.terms.iter().map(|(_, c)| *c).chain([high.constant]);
        all.into_iter().all(|n| n % step == 0).then(|| high.plus(low, 1))?
    }

    fn division(&mut self, id: NodeId, op: Op, ty: Type, args: &[NodeId]) -> Option<Form> {
        let ((a, of_a), (b, _)) = (self.number(args[0], ty), self.number(args[1], ty));
        let by = b.as_constant().filter(|n| *n > 0)?;
        if let Some(a) = a.as_constant() {
            return Some(Form::constant(if op == Op::Div { a / by } else { a % by }));
        }
        let by = i128::from(by);
        match op {
            Op::Div => self.monotone(id, of_a, |n| n / by),
            _ if of_a.within(&Bounds::new(0, by - 1)) => Some(a),
            _ => {
                let negative = of_a.least.is_none_or(|l| l < 0);
                let least = if negative { 1 - by } else { 0 };
                Some(self.opaque(id, Bounds::new(least, by - 1)))
            }
        }
    }
}

/// The signed integer of a type's width.
fn signed_twin(ty: Type) -> Option<Type> {
    match ty.size() {
        1 => Some(Type::S8),
        2 => Some(Type::S16),
        4 => Some(Type::S32),
        8 => Some(Type::S64),
        _ => None,
    }
}

fn union(all: impl IntoIterator<Item = Vec<Origin>>) -> Vec<Origin> {
    let mut union: Vec<Origin> = all.into_iter().flatten().collect();
    union.sort_unstable();
    union.dedup();
    union
}
