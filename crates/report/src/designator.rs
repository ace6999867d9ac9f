//! The type of memory that an expression of the source designates: `u`, `grid->u + k`,
//! `&p[i].x[0]`, `halo.data()`; in Fortran `u(:, 1)`, `grid%u`.
//!
//! **Soundness.** The answer is what the language's rules give by the declarations in debug
//! information: the type that the last pointer, container or array on the way is of, of which the
//! memory holds one or more. Whatever the reader does not know, and every cast but those to `void
//! *`, has none: memory may have been given another type on purpose. Where a name may mean several
//! variables, all must give the same.

use crate::variables::{Function, Kind, Lookup, Type};

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(crate) struct Place<'l, 'd> {
    /// The debug information.
    pub lookup: &'l Lookup<'d>,
    /// The function.
    pub function: Function,
    /// The line.
    pub line: u32,
}

/// A value, as far as its type goes.
#[derive(Clone, Copy)]
struct Value {
    /// The type.
    of: Type,
    /// What the memory that it lies in holds; `None` for variables, and for values in none.
    memory: Option<Type>,
    /// Whether it is the address of what is of this type.
    is_address: bool,
}

/// What the memory that `text` designates holds: of pointers that to which they point, of variables
/// of Fortran what they are.
pub(crate) fn memory(text: &str, place: Place<'_, '_>) -> Option<Type> {
    let tokens = tokens(text)?;
    let candidates = match variable(&tokens)? {
        "this" if !place.lookup.is_fortran(place.function) => {
            vec![place.lookup.class_of(place.function)?]
        }
        name => place.lookup.named(place.function, name, place.line),
    };
    let mut results =
        candidates.into_iter().map(|of| match place.lookup.is_fortran(place.function) {
            true => Reader { place, of, rest: &tokens }.designator(),
            false => Reader { place, of, rest: &tokens }.whole(),
        });
    let first = results.next()??;
    let shape = place.lookup.shape(first)?;
    let same = |other: Option<Type>| {
        other.and_then(|other| place.lookup.shape(other)).is_some_and(|other| other == shape)
    };
    results.all(same).then_some(first)
}

/// The variable that an expression begins with: the first name that is in no cast.
fn variable<'t>(tokens: &[&'t str]) -> Option<&'t str> {
    let mut rest = tokens;
    loop {
        rest = match rest {
            [cast, "<", ..] if cast.ends_with("_cast") => {
                let end = rest.iter().position(|token| *token == "(")?;
                &rest[end + 1..]
            }
            ["(", ..] => match cast(rest) {
                Some((_, after)) => after,
                None => &rest[1..],
            },
            ["&" | "*", ..] => &rest[1..],
            [name, ..] if is_name(name) => return Some(name),
            _ => return None,
        }
    }
}

/// A cast that `tokens` begin with: its type, and what comes behind it.
fn cast<'s, 't>(tokens: &'s [&'t str]) -> Option<(&'s [&'t str], &'s [&'t str])> {
    let end = tokens.iter().position(|token| *token == ")")?;
    let (inside, after) = (&tokens[1..end], &tokens[end + 1..]);
    let is_type =
        inside.iter().all(|token| is_name(token) || ["*", "::", "<", ">"].contains(token));
    let ends = matches!(inside, [.., "*"]);
    let goes_on = after.first().is_some_and(|next| is_name(next) || ["(", "&", "*"].contains(next));
    (is_type && ends && goes_on).then_some((inside, after))
}

struct Reader<'r, 't, 'l, 'd> {
    place: Place<'l, 'd>,
    /// The type of the first variable; of `this` its class.
    of: Type,
    rest: &'r [&'t str],
}

impl Reader<'_, '_, '_, '_> {
    /// An expression of C or C++: `unary`, and what is added to it.
    fn whole(mut self) -> Option<Type> {
        let value = self.unary()?;
        let mut depth = 0;
        if self.rest.first().is_some_and(|next| !["+", "-"].contains(next)) {
            return None;
        }
        for token in self.rest {
            match *token {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                // What adds no number is another expression.
                "?" | "," | "=" | "<" | ">" | "!" | "|" | "^" | "&" if depth == 0 => return None,
                _ => {}
            }
        }
        self.pointee(value)
    }

    fn unary(&mut self) -> Option<Value> {
        match self.rest {
            ["&", ..] => {
                self.rest = &self.rest[1..];
                let value = self.unary()?;
                (!value.is_address).then_some(Value { is_address: true, ..value })
            }
            ["*", ..] => {
                self.rest = &self.rest[1..];
                let value = self.unary()?;
                self.dereferenced(value, "operator*")
            }
            ["(", ..] => match cast(self.rest) {
                Some((to, after)) => {
                    is_void(to).then_some(())?;
                    self.rest = after;
                    self.unary()
                }
                None => self.postfix(),
            },
            _ => self.postfix(),
        }
    }

    fn postfix(&mut self) -> Option<Value> {
        let mut value = self.primary()?;
        loop {
            match self.rest {
                ["[", ..] => {
                    self.skip("[", "]")?;
                    value = self.dereferenced(value, "operator[]")?;
                }
                [".", name, rest @ ..] => {
                    self.rest = rest;
                    value = self.part(value, name)?;
                }
                ["->", name, rest @ ..] => {
                    self.rest = rest;
                    let whole = self.dereferenced(value, "operator->")?;
                    value = self.part(whole, name)?;
                }
                _ => return Some(value),
            }
        }
    }

    fn primary(&mut self) -> Option<Value> {
        let variable = |of| Value { of, memory: None, is_address: false };
        match self.rest {
            ["this", rest @ ..] => {
                self.rest = rest;
                Some(Value { of: self.of, memory: Some(self.of), is_address: true })
            }
            [name @ ("static_cast" | "const_cast"), "<", ..] => {
                let end = self.rest.iter().position(|token| *token == "(")?;
                let to = self.rest.get(2..end.checked_sub(1)?)?;
                (*name == "const_cast" || is_void(to)).then_some(())?;
                self.rest = &self.rest[end..];
                self.parenthesised()
            }
            ["(", ..] => self.parenthesised(),
            // A function, or a name of another scope.
            [_, "(" | "::", ..] => None,
            [name, rest @ ..] if is_name(name) => {
                self.rest = rest;
                Some(variable(self.of))
            }
            _ => None,
        }
    }

    /// `(p)`, `(p + 1)`.
    fn parenthesised(&mut self) -> Option<Value> {
        self.rest = &self.rest[1..];
        let value = self.unary()?;
        if let ["+" | "-", ..] = self.rest {
            let end = closing(self.rest, "(", ")", 1)?;
            self.rest = &self.rest[end..];
            let of = self.pointee(value)?;
            self.rest = self.rest.strip_prefix(&[")"])?;
            return Some(Value { of, memory: Some(of), is_address: true });
        }
        self.rest = self.rest.strip_prefix(&[")"])?;
        Some(value)
    }

    /// A member, or what a member function returns.
    fn part(&mut self, value: Value, name: &str) -> Option<Value> {
        let lookup = self.place.lookup;
        (!value.is_address).then_some(())?;
        let class = self.referred(value.of);
        let class = lookup.plain(class)?;
        if let ["(", ..] = self.rest {
            self.skip("(", ")")?;
            return self.returned(class, name);
        }
        let of = lookup.member(class, name)?;
        Some(Value { of, ..value })
    }

    /// What a member function returns, if that is certain.
    fn returned(&self, class: Type, name: &str) -> Option<Value> {
        let lookup = self.place.lookup;
        let mut all = lookup.method(class, name).into_iter().map(|returned| {
            Some(match lookup.kind(returned)? {
                Kind::Reference(of) => Value { of, memory: Some(of), is_address: false },
                Kind::Pointer(to) => Value { of: to?, memory: to, is_address: true },
                Kind::Structure => Value { of: returned, memory: None, is_address: false },
                Kind::Array(..) | Kind::Other => return None,
            })
        });
        let first = all.next()??;
        let shape = lookup.shape(first.of)?;
        let same = |other: Option<Value>| {
            other.is_some_and(|other| {
                other.is_address == first.is_address
                    && lookup.shape(other.of).is_some_and(|other| other.is_like(&shape))
            })
        };
        all.all(same).then_some(first)
    }

    /// `*value`, `value[i]`, by a member function where it is of a class.
    fn dereferenced(&self, value: Value, by: &str) -> Option<Value> {
        let lookup = self.place.lookup;
        if value.is_address {
            return Some(Value { is_address: false, ..value });
        }
        let of = self.referred(value.of);
        match lookup.kind(of)? {
            Kind::Pointer(to) => Some(Value { of: to?, memory: to, is_address: false }),
            Kind::Array(each, _) => Some(Value { of: each, ..value }),
            Kind::Structure => {
                let found = self.returned(lookup.plain(of)?, by)?;
                // The arrow's operator returns a pointer.
                (found.is_address == (by == "operator->")).then_some(())?;
                Some(Value { is_address: false, ..found })
            }
            Kind::Reference(_) | Kind::Other => None,
        }
    }

    /// What memory a value as a whole points to.
    fn pointee(&self, value: Value) -> Option<Type> {
        if value.is_address {
            return value.memory;
        }
        match self.place.lookup.kind(self.referred(value.of))? {
            Kind::Pointer(to) => to,
            Kind::Array(..) => value.memory,
            Kind::Reference(_) | Kind::Structure | Kind::Other => None,
        }
    }

    fn referred(&self, of: Type) -> Type {
        match self.place.lookup.kind(of) {
            Some(Kind::Reference(to)) => to,
            _ => of,
        }
    }

    fn skip(&mut self, open: &str, close: &str) -> Option<()> {
        let end = closing(self.rest, open, close, 0)?;
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    /// A designator of Fortran: names of components with their subscripts.
    fn designator(mut self) -> Option<Type> {
        let lookup = self.place.lookup;
        let [_, rest @ ..] = self.rest else { return None };
        self.rest = rest;
        let (mut of, _) = self.elements(self.of)?;
        let mut memory = of;
        loop {
            if let ["(", ..] = self.rest {
                self.skip("(", ")")?;
            }
            match self.rest {
                [] => return Some(memory),
                ["%", name, rest @ ..] => {
                    self.rest = rest;
                    // What a polymorphic variable is, gfortran keeps behind a pointer.
                    let behind = || {
                        let (whole, _) = self.elements(lookup.member(of, "_data")?)?;
                        lookup.member(whole, name)
                    };
                    let member = lookup.member(of, name).or_else(behind)?;
                    let (part, is_elsewhere) = self.elements(member)?;
                    of = part;
                    if is_elsewhere {
                        memory = of;
                    }
                }
                _ => return None,
            }
        }
    }

    /// The elements of a variable of Fortran, and whether a descriptor or pointer says where they
    /// are.
    fn elements(&self, mut of: Type) -> Option<(Type, bool)> {
        let lookup = self.place.lookup;
        let mut is_elsewhere = false;
        loop {
            of = match lookup.kind(of)? {
                Kind::Pointer(to) => {
                    is_elsewhere = true;
                    to?
                }
                Kind::Reference(to) => to,
                Kind::Array(each, described) => {
                    is_elsewhere |= described;
                    each
                }
                Kind::Structure | Kind::Other => return Some((lookup.plain(of)?, is_elsewhere)),
            }
        }
    }
}

fn is_void(to: &[&str]) -> bool {
    to.contains(&"void") && to.iter().filter(|token| **token == "*").count() == 1
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The position of what closes the first of `tokens`, or `depth` that are open before.
fn closing(tokens: &[&str], open: &str, close: &str, mut depth: usize) -> Option<usize> {
    for (index, token) in tokens.iter().enumerate() {
        if *token == open {
            depth += 1;
        } else if *token == close {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// Names, numbers and signs; nothing for an expression with texts.
fn tokens(text: &str) -> Option<Vec<&str>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut rest, mut tokens) = (text.trim_start(), Vec::new());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => return None,
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("->") || rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}
