//! Differential test: random programs are executed, and each value must be in its points-to set.

use super::{Object, Pointer, PointsTo};
use crate::Calls;
use commsan_ir::{
    Block, Body, Callee, Function, FunctionId, Global, GlobalId, Inst, InstId, Op, Place, Program,
    Value,
};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

/// An instruction to be: what it does, and numbers that choose with what.
type Choice = (u8, [u16; 3]);

const PARAMS: u32 = 2;
/// Maximum depth of the call stack of an executed program.
const MAX_CALL_DEPTH: usize = 8;
/// Maximum number of instructions that are executed.
const MAX_STEPS: usize = 4_000;

fn function(name: &str, body: Option<Body>) -> Function {
    Function {
        name: name.into(),
        shown: name.into(),
        module: 0,
        at: Place::default(),
        params: if name == "main" { 0 } else { PARAMS },
        param_names: FxHashMap::default(),
        body,
        address_taken: false,
    }
}

/// The first function is `main`, the last one `malloc`.
fn program(functions: &[Vec<Choice>]) -> Program {
    let malloc = functions.len() as u32;
    let bodies = functions.iter().enumerate().map(|(number, choices)| {
        let name = if number == 0 { "main".into() } else { format!("f{number}") };
        let params = if number == 0 { 0 } else { PARAMS };
        function(&name, Some(body(params, malloc, choices)))
    });
    let functions = bodies.chain([function("malloc", None)]).collect();
    let global = |name: &str| Global {
        name: name.into(),
        size: 24,
        constant: false,
        defined: true,
        initial: Vec::new(),
    };
    Program { functions, globals: vec![global("g"), global("h")], ..Program::default() }
}

fn body(params: u32, malloc: u32, choices: &[Choice]) -> Body {
    let mut values: Vec<_> = (0..2).map(|id| Value::Global(GlobalId(id), 0)).collect();
    values.extend((0..params).map(Value::Param));
    let mut code = Vec::new();
    for (kind, numbers) in choices {
        // The last ones more often, so that something comes of what is done.
        let chosen = |number: u16| match number % 4 {
            0 => number as usize / 4 % values.len(),
            _ => values.len() - 1 - number as usize / 4 % values.len().min(4),
        };
        let [a, b, c] = numbers.map(|number| values[chosen(number)]);
        let bytes = Value::Int(i64::from(numbers[2] % 4) * 8);
        let callee = Callee::Direct(FunctionId(1 + u32::from(numbers[2]) % (malloc - 1).max(1)));
        let (op, args) = match kind % 10 {
            0 => (Op::Alloca(Some(24)), vec![]),
            1 => (Op::Offset(i64::from(numbers[2] % 3) * 8 - 8, [].into()), vec![a]),
            2 | 3 => (Op::Load(8), vec![a]),
            4 | 5 => (Op::Store(8), vec![a, b]),
            6 if malloc > 1 => (Op::Call(callee), vec![a, b]),
            6 => (Op::Call(Callee::Direct(FunctionId(malloc))), vec![a, b]),
            7 => (Op::Select, vec![Value::Opaque, a, b]),
            8 => (Op::Copy, vec![a, b, if numbers[2] % 2 == 0 { bytes } else { c }]),
            _ => match numbers[2] % 2 {
                0 => (Op::Call(Callee::Direct(FunctionId(malloc))), vec![a, b]),
                _ => (Op::Offset(0, [8].into()), vec![a, Value::Opaque]),
            },
        };
        let has_result = !matches!(op, Op::Store(_) | Op::Copy);
        if has_result {
            values.push(Value::Inst(InstId(code.len() as u32)));
        }
        code.push(Inst { op, args: args.into_iter().collect(), at: Place::default() });
    }
    let result = values[values.len() - 1];
    code.push(Inst { op: Op::Return, args: [result].into_iter().collect(), at: Place::default() });
    let all = (0..code.len() as u32).map(InstId).collect();
    let block = Block { code: all, ..Block::default() };
    Body { blocks: vec![block], code, ..Body::default() }
}

/// An address when the program runs: of which piece of memory, and bytes from its begin.
type Address = Option<(usize, i64)>;

struct Run<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    /// Pieces of memory: what they are instances of, and what is in them.
    pieces: Vec<(Object, FxHashMap<i64, Address>)>,
    steps: usize,
    chance: u64,
}

impl Run<'_> {
    fn chance(&mut self, below: u64) -> u64 {
        self.chance = self.chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.chance >> 33) % below
    }

    fn pointer(&self, address: (usize, i64)) -> Pointer {
        Pointer { object: self.pieces[address.0].0, at: Some(address.1) }
    }

    fn is_among(&self, all: &[Pointer], address: Address) -> bool {
        let Some(address) = address else { return true };
        let is = self.pointer(address);
        all.iter().any(|may| may.object == is.object && (may.at.is_none() || may.at == is.at))
    }

    fn allocate(&mut self, object: Object) -> Address {
        self.pieces.push((object, FxHashMap::default()));
        Some((self.pieces.len() - 1, 0))
    }

    fn read(&self, address: Address) -> Address {
        let (piece, at) = address?;
        self.pieces[piece].1.get(&at).copied().flatten()
    }

    fn write(&mut self, address: Address, value: Address) {
        let Some((piece, at)) = address else { return };
        self.pieces[piece].1.insert(at, value);
        let content = self.points_to.content(self.pointer((piece, at)));
        assert!(self.is_among(&content, value), "{:?} is not in points_to", value);
    }

    fn call(&mut self, function: FunctionId, arguments: &[Address], depth: usize) -> Address {
        let program = self.program;
        let body = program[function].body.as_ref()?;
        for (number, argument) in (0..program[function].params).zip(arguments) {
            let may = self.points_to.targets(function, Value::Param(number));
            assert!(self.is_among(&may, *argument), "parameter {number} of {function:?}");
        }
        let mut results: Vec<Address> = vec![None; body.code.len()];
        for (at, inst) in body.code.iter().enumerate() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return None;
            }
            let id = InstId(at as u32);
            let of = |value: &Value| match *value {
                Value::Global(id, at) => Some((id.0 as usize, at)),
                Value::Param(number) => arguments[number as usize],
                Value::Inst(id) => results[id.0 as usize],
                _ => None,
            };
            let args: Vec<_> = inst.args.iter().map(of).collect();
            let result = match &inst.op {
                Op::Alloca(_) => self.allocate(Object::Local(function, id)),
                Op::Offset(bytes, scales) => {
                    let steps = if scales.is_empty() { 0 } else { self.chance(3) as i64 };
                    args[0].map(|(piece, at)| (piece, at + bytes + 8 * steps))
                }
                Op::Load(_) => self.read(args[0]),
                Op::Store(_) => {
                    self.write(args[1], args[0]);
                    None
                }
                Op::Select => args[1 + self.chance(2) as usize],
                Op::Copy => {
                    let bytes = match inst.args[2] {
                        Value::Int(bytes) => bytes,
                        _ => 8 * self.chance(4) as i64,
                    };
                    let (to, from) = (args[0], args[1]);
                    let on = |address: Address, by| address.map(|(piece, at)| (piece, at + by));
                    let parts: Vec<_> =
                        (0..bytes / 8).map(|part| self.read(on(from, 8 * part))).collect();
                    for (part, value) in (0..).zip(parts) {
                        self.write(on(to, 8 * part), value);
                    }
                    None
                }
                Op::Call(Callee::Direct(callee)) if program[*callee].body.is_none() => {
                    self.allocate(Object::Made(function, id, None))
                }
                Op::Call(Callee::Direct(callee)) if depth < MAX_CALL_DEPTH => {
                    self.call(*callee, &args, depth + 1)
                }
                Op::Return => return args[0],
                _ => None,
            };
            let may = self.points_to.targets(function, Value::Inst(id));
            assert!(self.is_among(&may, result), "{function:?} {id:?}: {result:?} not in {may:?}");
            results[at] = result;
        }
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn what_programs_do_is_among_what_they_may_do(
        functions in prop::collection::vec(
            prop::collection::vec((any::<u8>(), any::<[u16; 3]>()), 1..18),
            1..5,
        ),
        chance in any::<u64>(),
    ) {
        let program = program(&functions);
        let points_to = PointsTo::of(&program, &Calls::of(&program));
        for chance in (0..4).map(|more| chance.wrapping_add(more)) {
            let globals = (0..2).map(|id| (Object::Global(GlobalId(id)), FxHashMap::default()));
            let pieces = globals.collect();
            Run { program: &program, points_to: &points_to, pieces, steps: 0, chance }
                .call(FunctionId(0), &[], 0);
        }
    }
}

fn inst(op: Op, args: &[Value]) -> Inst {
    Inst { op, args: args.iter().copied().collect(), at: Place::default() }
}

fn call(callee: u32, args: &[Value]) -> Inst {
    inst(Op::Call(Callee::Direct(FunctionId(callee))), args)
}

fn alloca() -> Inst {
    inst(Op::Alloca(Some(8)), &[])
}

fn store(value: Value, address: Value) -> Inst {
    inst(Op::Store(8), &[value, address])
}

fn load(address: Value) -> Inst {
    inst(Op::Load(8), &[address])
}

fn result(id: u32) -> Value {
    Value::Inst(InstId(id))
}

/// What pointers point to in a program of these functions; without code they are somebody else's.
fn memory_of(functions: &[(&str, &[Inst])]) -> PointsTo {
    let body = |code: &[Inst]| {
        let all = (0..code.len() as u32).map(InstId).collect();
        let block = Block { code: all, ..Block::default() };
        (!code.is_empty()).then(|| Body {
            blocks: vec![block],
            code: code.to_vec(),
            ..Body::default()
        })
    };
    let functions = functions.iter().map(|(name, code)| function(name, body(code))).collect();
    let program = Program { functions, ..Program::default() };
    PointsTo::of(&program, &Calls::of(&program))
}

const FIRST: Value = Value::Param(0);
const SECOND: Value = Value::Param(1);

/// `keep(box, p)` stores, `get(box)` loads: what one box keeps does not come out of another.
#[test]
fn calls_of_a_function_are_told_apart() {
    // As compilers write it without optimization: the parameter in a variable whose address another
    // function has.
    let keep = [
        alloca(),
        store(FIRST, result(0)),
        call(3, &[result(0)]),
        store(SECOND, result(2)),
        inst(Op::Return, &[]),
    ];
    let get = [load(FIRST), inst(Op::Return, &[result(0)])];
    let main = [
        alloca(),
        alloca(),
        alloca(),
        alloca(),
        call(1, &[result(0), result(2)]),
        call(1, &[result(1), result(3)]),
        call(2, &[result(0)]),
        call(2, &[result(1)]),
        inst(Op::Return, &[]),
    ];
    let points_to = memory_of(&[("main", &main), ("keep", &keep), ("get", &get), ("inner", &get)]);
    let local = |id| Pointer { object: Object::Local(FunctionId(0), InstId(id)), at: Some(0) };
    assert_eq!(points_to.targets(FunctionId(0), result(6)), [local(2)]);
    assert_eq!(points_to.targets(FunctionId(0), result(7)), [local(3)]);
    assert_eq!(points_to.content(local(0)), [local(2)]);
    // Within, all calls are one.
    assert_eq!(points_to.targets(FunctionId(1), SECOND), [local(2), local(3)]);
}

/// A function's variable whose address it has stored, or given away by another one, is written by
/// who finds it there.
#[test]
fn variables_that_others_know_are_no_terms() {
    let written = [load(FIRST), store(SECOND, result(0)), inst(Op::Return, &[])];
    let shows = [
        alloca(),
        store(result(0), FIRST),
        call(2, &[FIRST, SECOND]),
        load(result(0)),
        inst(Op::Return, &[result(3)]),
    ];
    let main = [alloca(), alloca(), call(1, &[result(0), result(1)]), inst(Op::Return, &[])];
    let points_to = memory_of(&[("main", &main), ("shows", &shows), ("written", &written)]);
    let local = Pointer { object: Object::Local(FunctionId(0), InstId(1)), at: Some(0) };
    assert_eq!(points_to.targets(FunctionId(0), result(2)), [local]);

    let gives = [call(3, &[FIRST]), inst(Op::Return, &[])];
    let given = [alloca(), call(2, &[result(0)]), load(result(0)), inst(Op::Return, &[result(2)])];
    let main = [call(1, &[]), inst(Op::Return, &[])];
    let points_to =
        memory_of(&[("main", &main), ("given", &given), ("gives", &gives), ("other", &[])]);
    let found = points_to.targets(FunctionId(0), result(0));
    assert!(found.iter().any(|pointer| pointer.object == Object::Outside), "{found:?}");
}
