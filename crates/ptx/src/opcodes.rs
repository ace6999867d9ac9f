//! The opcode table: names, the modifiers of each opcode, and its operands.
//!
//! A row's modifiers stand in the order in which PTX writes them:
//! - `type` a type (as many of them as stand there), `space`, `vec`, `rnd`, `cmp`, `op`, `order`,
//!   `scope`, `cop`, `geom`: a word of that enumeration in [`crate::words`];
//! - `hint` any flags that advise caches;
//! - `{a|b|c}` one of the words of [`Mode`](crate::words::Mode);
//! - `.ftz` that flag;
//! - `=b64` a word that is always there and has no meaning.
//!
//! All but types are optional; a `?` after `type` makes a type optional, too. Programs may write
//! modifiers, and the words of the name but the first, in another order, as ptxas accepts any.
//!
//! Operands: a name that begins with `d` is written, others are read. A constant gets the first
//! type, or the one after a colon: a type, `2` for the second one, `wide` for twice the first after
//! `.wide`. `d|q` is a pair whose second half is optional, `[a]` memory, `[t]` an object and the
//! coordinates in it; `label`, `table` and `call` are these; `policy` is there if `.L2::cache_hint`
//! is. `?` after an operand makes it optional.

use crate::words::Type;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The opcode.
    pub op: Op,
    /// Its names, the first of which is printed.
    pub names: Vec<&'static str>,
    /// The modifiers that may follow the name.
    pub modifiers: Vec<Slot>,
    /// The operands.
    pub operands: Vec<Position>,
}

/// One kind of modifier.
#[derive(Debug, PartialEq, Eq)]
pub enum Slot {
    /// A type.
    Type {
        /// Whether it is optional.
        optional: bool,
    },
    /// A word of [`crate::words::Space`].
    Space,
    /// A word of [`crate::words::Vector`].
    Vector,
    /// A word of [`crate::words::Rounding`].
    Rounding,
    /// A word of [`crate::words::Compare`].
    Compare,
    /// A word of [`crate::words::Combine`].
    Combine,
    /// A word of [`crate::words::Order`].
    Order,
    /// A word of [`crate::words::Scope`].
    Scope,
    /// A word of [`crate::words::Caching`].
    Caching,
    /// A word of [`crate::words::Geometry`].
    Geometry,
    /// Flags for which [`crate::words::Flag::is_hint`] holds.
    Hints,
    /// One of these modes.
    Mode(Vec<crate::words::Mode>),
    /// This flag.
    Flag(crate::words::Flag),
    /// A word without meaning.
    Fixed(&'static str),
}

/// One operand position of a row.
#[derive(Debug, PartialEq, Eq)]
pub struct Position {
    /// Whether the instruction writes it.
    pub written: bool,
    /// Its syntax.
    pub form: Form,
    /// The type of a constant in this position.
    pub ty: Typing,
    /// Whether it is optional.
    pub optional: bool,
}

/// The syntax of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A register, constant, symbol or list.
    Value,
    /// The second half of a pair, after `|`.
    Second,
    /// A memory operand.
    Memory,
    /// The object before the coordinates of a texture or surface, `[t, {x, y}]`.
    Object,
    /// The coordinates after the object.
    Coordinates,
    /// A cache policy, there if and only if `.L2::cache_hint` is.
    Policy,
    /// A branch target.
    Label,
    /// A table of targets.
    Table,
    /// Returned values, callee, arguments and prototype of a call. They are stored as callee, list
    /// of returned values, list of arguments, and table if there is one.
    Call,
}

/// The source of the type of a constant operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// The instruction's type with this number.
    Nth(usize),
    /// The first type, of twice the width after `.wide`.
    Wide,
    /// A fixed type.
    Always(Type),
}

macro_rules! opcodes {
    ($($op:ident $names:literal $modifiers:literal $operands:literal;)*) => {
        /// Opcodes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            /// An instruction that is not in the table. Its only operand, a constant, is the number
            /// of its text in [`crate::Body::unknown`]. It cannot be executed.
            Unknown,
            $(#[doc = concat!("`", $names, "`")] $op,)*
        }

        static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| vec![
            read(Op::Unknown, "", "", ""),
            $(read(Op::$op, $names, $modifiers, $operands),)*
        ]);
    };
}

opcodes! {
    // Integers and floating point (PTX ISA §9.7.1 to 9.7.6)
    Abs       "abs"       ".ftz type"                               "d a";
    Add       "add"       "rnd .ftz .sat .cc type type?"            "d a b";
    AddC      "addc"      ".cc type"                                "d a b";
    Sub       "sub"       "rnd .ftz .sat .cc type type?"            "d a b";
    SubC      "subc"      ".cc type"                                "d a b";
    Mul       "mul"       "{lo|hi|wide} rnd .ftz .sat type"         "d a b";
    Mul24     "mul24"     "{lo|hi} type"                            "d a b";
    Mad       "mad"       "{lo|hi|wide} rnd .ftz .sat .cc type"     "d a b c:wide";
    Mad24     "mad24"     "{lo|hi} .sat type"                       "d a b c";
    MadC      "madc"      "{lo|hi} .cc type"                        "d a b c";
    Fma       "fma"       "rnd .ftz .sat .relu type type?"          "d a b c";
    Div       "div"       ".approx .full rnd .ftz type"             "d a b";
    Rem       "rem"       "type"                                    "d a b";
    Sad       "sad"       "type"                                    "d a b c";
    Neg       "neg"       ".ftz type"                               "d a";
    Min       "min"       ".ftz .NaN .xorsign .abs .relu type"      "d a b c?";
    Max       "max"       ".ftz .NaN .xorsign .abs .relu type"      "d a b c?";
    Rcp       "rcp"       ".approx rnd .ftz type"                   "d a";
    Sqrt      "sqrt"      ".approx rnd .ftz type"                   "d a";
    Rsqrt     "rsqrt"     ".approx .ftz type"                       "d a";
    Sin       "sin"       ".approx .ftz type"                       "d a";
    Cos       "cos"       ".approx .ftz type"                       "d a";
    Lg2       "lg2"       ".approx .ftz type"                       "d a";
    Ex2       "ex2"       ".approx .ftz type"                       "d a";
    Tanh      "tanh"      ".approx type"                            "d a";
    Copysign  "copysign"  "type"                                    "d a b";
    Testp     "testp"     "{finite|infinite|number|notanumber|normal|subnormal} type"  "d:pred a";
    Dp4a      "dp4a"      "type type"                               "d:b32 a b:2 c:b32";
    Dp2a      "dp2a"      "{lo|hi} type type"                       "d:b32 a b:2 c:b32";
    VAbsDiff4 "vabsdiff4" "type type type .sat op"                  "d a b c";

    // Bits
    And       "and"       "type"                                    "d a b";
    Or        "or"        "type"                                    "d a b";
    Xor       "xor"       "type"                                    "d a b";
    Not       "not"       "type"                                    "d a";
    Cnot      "cnot"      "type"                                    "d a";
    Lop3      "lop3"      "type"                                    "d a b c e:u32";
    Shl       "shl"       "type"                                    "d a b:u32";
    Shr       "shr"       "type"                                    "d a b:u32";
    ShfL      "shf.l"     "{clamp|wrap} type"                       "d a b c:u32";
    ShfR      "shf.r"     "{clamp|wrap} type"                       "d a b c:u32";
    Popc      "popc"      "type"                                    "d:u32 a";
    Clz       "clz"       "type"                                    "d:u32 a";
    Bfind     "bfind"     ".shiftamt type"                          "d:u32 a";
    Fns       "fns"       "type"                                    "d a b c:s32";
    Brev      "brev"      "type"                                    "d a";
    Bfe       "bfe"       "type"                                    "d a b:u32 c:u32";
    Bfi       "bfi"       "type"                                    "d a b c:u32 e:u32";
    Bmsk      "bmsk"      "{clamp|wrap} type"                       "d a b";
    Szext     "szext"     "{clamp|wrap} type"                       "d a b:u32";
    Prmt      "prmt"      "type {f4e|b4e|rc8|ecl|ecr|rc16}"         "d a b c";

    // Comparison, selection, conversion
    Set       "set"       "cmp op .ftz type type"                   "d a:2 b:2 c:pred?";
    Setp      "setp"      "cmp op .ftz type"                        "d:pred|q a b c:pred?";
    Selp      "selp"      "type"                                    "d a b c:pred";
    Slct      "slct"      ".ftz type type"                          "d a b c:2";
    Mov       "mov"       "type"                                    "d a";
    Cvt       "cvt"       "rnd .ftz .sat .satfinite .relu type type"  "d a:2 b:2?";
    Cvta      "cvta"      "space type"                              "d a";
    CvtaTo    "cvta.to"   "space type"                              "d a";
    IsSpaceP  "isspacep"  "space"                                   "d:pred a:u64";
    Mapa      "mapa"      "space type"                              "d a b:u32";

    // Memory
    Ld        "ld"        "order scope space cop .nc hint vec type" "d [a] policy";
    Ldu       "ldu"       "space vec type"                          "d [a]";
    St        "st"        "order scope space cop hint vec type"     "[a] b policy";
    Atom      "atom"      "order scope space op .noftz hint vec type"  "d [a] b c? policy";
    Red       "red"       "order scope space op .noftz hint vec type"  "[a] b policy";
    Prefetch  "prefetch"  "space {L1|L2} hint"                      "[a]";
    Prefetchu "prefetchu" "{L1|L2}"                                 "[a]";
    Alloca    "alloca"    "type"                                    "d a b:u32?";
    StackSave "stacksave" "type"                                    "d";
    StackRestore "stackrestore" "type"                              "a";
    CpAsync   "cp.async"  "{ca|cg} space =global hint"              "[d] [a] n:u32 m:u32? policy";
    CpAsyncBulk "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes|cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"  "hint"  "[d] [a] n:u32 [b] policy";
    CpAsyncCommit  "cp.async.commit_group"  ""                      "";
    CpAsyncWait    "cp.async.wait_group"    ""                      "n:u32";
    CpAsyncWaitAll "cp.async.wait_all"      ""                      "";
    CpAsyncArrive  "cp.async.mbarrier.arrive"  ".noinc space =b64"  "[a]";
    MultimemLd  "multimem.ld_reduce"  "order scope space op .acc::f32 .acc::f16 vec type"  "d [a]";
    MultimemSt  "multimem.st"         "order scope space vec type"     "[a] b";
    MultimemRed "multimem.red"        "order scope space op vec type"  "[a] b";

    // Textures and surfaces (PTX ISA §9.7.10 and 9.7.11), as far as compilers write them
    Tex       "tex"       "geom vec type type"                      "d|q [t]:2";
    TexLevel  "tex.level" "geom vec type type"                      "d|q [t]:2 l:2";
    TexGrad   "tex.grad"  "geom vec type type"                      "d|q [t]:2 x:2 y:2";
    Tld4      "tld4"      "{r|g|b|a} geom vec type type"            "d|q [t]:2";
    Suld      "suld.b"    "geom cop vec type {trap|clamp|zero}"     "d [t]:s32";
    Sust      "sust.b"    "geom cop vec type {trap|clamp|zero}"     "[t]:s32 b";

    // Control
    Bra       "bra"       ".uni"                                    "label";
    BrxIdx    "brx.idx"   ".uni"                                    "a:u32 table";
    Call      "call"      ".uni"                                    "call";
    Ret       "ret"       ".uni"                                    "";
    Exit      "exit"      ""                                        "";
    Trap      "trap"      ""                                        "";
    Brkpt     "brkpt"     ""                                        "";
    Nanosleep "nanosleep" "type"                                    "a";

    // Barriers and order
    BarSync       "bar.sync|bar.cta.sync"              ""               "a:u32 b:u32?";
    BarArrive     "bar.arrive|bar.cta.arrive"          ""               "a:u32 b:u32";
    BarRed        "bar.red|bar.cta.red"                "op type"        "d a:u32 b:u32? c:pred";
    BarrierSync   "barrier.sync|barrier.cta.sync"      ".aligned"       "a:u32 b:u32?";
    BarrierArrive "barrier.arrive|barrier.cta.arrive"  ".aligned"       "a:u32 b:u32";
    BarrierRed    "barrier.red|barrier.cta.red"   "op .aligned type"    "d a:u32 b:u32? c:pred";
    BarWarpSync   "bar.warp.sync"                      ""               "m:u32";
    ClusterArrive "barrier.cluster.arrive"             "order .aligned" "";
    ClusterWait   "barrier.cluster.wait"               "order .aligned" "";
    Membar        "membar"                             "{cta|gl|sys}"   "";
    Fence         "fence"                              "order scope"    "";
    FenceProxy    "fence.proxy"                    "{alias|async} space" "";
    FenceMbarrierInit "fence.mbarrier_init"            "order scope"    "";
    GridDepLaunch "griddepcontrol.launch_dependents"   ""               "";
    GridDepWait   "griddepcontrol.wait"                ""               "";

    // Warps
    ShflSync      "shfl.sync"   "{up|down|bfly|idx} type"   "d|q a b:u32 c:u32 m:u32";
    VoteSync      "vote.sync"   "{all|any|uni|ballot} type" "d a:pred m:u32";
    MatchAny      "match.any.sync"     "type"               "d:b32 a m:u32";
    MatchAll      "match.all.sync"     "type"               "d:b32|q a m:u32";
    ReduxSync     "redux.sync"  "op .abs .NaN type"         "d a m:u32";
    ActiveMask    "activemask"         "type"               "d";
    ElectSync     "elect.sync"         ""                   "d:b32|q m:u32";

    // Barrier objects in shared memory (PTX ISA §9.7.13.15)
    MbarInit       "mbarrier.init"            "space =b64"              "[a] n:u32";
    MbarInval      "mbarrier.inval"           "space =b64"              "[a]";
    MbarExpectTx   "mbarrier.expect_tx"       "order scope space =b64"  "[a] n:u32";
    MbarCompleteTx "mbarrier.complete_tx"     "order scope space =b64"  "[a] n:u32";
    MbarArrive     "mbarrier.arrive"  ".expect_tx .noComplete order scope space =b64"  "d:b64 [a] n:u32?";
    MbarArriveDrop "mbarrier.arrive_drop"  ".expect_tx .noComplete order scope space =b64"  "d:b64 [a] n:u32?";
    MbarTestWait   "mbarrier.test_wait"         "order scope space =b64"  "d:pred [a] b:b64";
    MbarTestWaitParity "mbarrier.test_wait.parity"  "order scope space =b64"  "d:pred [a] b:u32";
    MbarTryWait    "mbarrier.try_wait"          "order scope space =b64"  "d:pred [a] b:b64 t:u32?";
    MbarTryWaitParity "mbarrier.try_wait.parity"  "order scope space =b64"  "d:pred [a] b:u32 t:u32?";
    MbarPending    "mbarrier.pending_count"     "=b64"                  "d:u32 a:b64";
}

impl Op {
    /// The opcode's row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// All rows.
pub fn rows() -> impl ExactSizeIterator<Item = &'static Row> {
    TABLE.iter().skip(1)
}

/// The row with the longest name whose words `mnemonic` begins with or at least contains, and the
/// remaining modifiers.
pub fn find(mnemonic: &str) -> Option<(&'static Row, Cow<'_, str>)> {
    in_order(mnemonic).or_else(|| in_any_order(mnemonic))
}

fn in_order(mnemonic: &str) -> Option<(&'static Row, Cow<'_, str>)> {
    static NAMES: LazyLock<FxHashMap<&'static str, Op>> =
        LazyLock::new(|| rows().flat_map(|row| row.names.iter().map(|n| (*n, row.op))).collect());
    // The longest name has six words.
    let mut ends: [Option<usize>; 6] = [None; 6];
    let dots = mnemonic.match_indices('.').map(|(at, _)| at).chain([mnemonic.len()]);
    ends.iter_mut().zip(dots).for_each(|(end, at)| *end = Some(at));
    ends.iter().rev().flatten().find_map(|&end| {
        let op = NAMES.get(&mnemonic[..end])?;
        Some((op.row(), Cow::Borrowed(&mnemonic[end..])))
    })
}

/// Finds names whose words are mixed with modifiers: `vote.ballot.sync.b32`, as CUB writes it, is
/// `vote.sync.ballot.b32` to ptxas.
fn in_any_order(mnemonic: &str) -> Option<(&'static Row, Cow<'_, str>)> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let has = |name: &str| {
        let mut name = name.split('.');
        name.next() == words.first().copied() && name.all(|word| words.contains(&word))
    };
    let names = rows().flat_map(|row| row.names.iter().map(move |name| (row, *name)));
    let (row, name) = names.filter(|(_, name)| has(name)).max_by_key(|(_, name)| name.len())?;
    let modifiers = words.iter().filter(|word| name.split('.').all(|of_name| of_name != **word));
    Some((row, Cow::Owned(modifiers.map(|word| format!(".{word}")).collect())))
}

// Reads the table's notation. A mistake in it fails the first test that uses the table.

fn read(op: Op, names: &'static str, modifiers: &'static str, operands: &'static str) -> Row {
    Row {
        op,
        names: names.split('|').collect(),
        modifiers: modifiers.split_whitespace().map(slot).collect(),
        operands: operands.split_whitespace().flat_map(positions).collect(),
    }
}

fn slot(text: &'static str) -> Slot {
    use crate::words::{Flag, Mode};
    match text {
        "type" => Slot::Type { optional: false },
        "type?" => Slot::Type { optional: true },
        "space" => Slot::Space,
        "vec" => Slot::Vector,
        "rnd" => Slot::Rounding,
        "cmp" => Slot::Compare,
        "op" => Slot::Combine,
        "order" => Slot::Order,
        "scope" => Slot::Scope,
        "cop" => Slot::Caching,
        "geom" => Slot::Geometry,
        "hint" => Slot::Hints,
        _ => {
            if let Some(modes) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
                Slot::Mode(modes.split('|').map(|m| Mode::parse(m).expect("a mode")).collect())
            } else if let Some(flag) = text.strip_prefix('.') {
                Slot::Flag(Flag::parse(flag).expect("a flag"))
            } else {
                Slot::Fixed(text.strip_prefix('=').expect("a kind of modifier"))
            }
        }
    }
}

fn positions(text: &'static str) -> Vec<Position> {
    let (text, optional) = text.strip_suffix('?').map_or((text, false), |t| (t, true));
    let (text, second) = text.strip_suffix("|q").map_or((text, false), |t| (t, true));
    let (name, ty) = text.split_once(':').unwrap_or((text, "1"));
    let ty = match ty {
        _ if name == "policy" => Typing::Always(Type::B64),
        "1" => Typing::Nth(0),
        "2" => Typing::Nth(1),
        "wide" => Typing::Wide,
        ty => Typing::Always(Type::parse(ty).expect("a type")),
    };
    let form = match name {
        "policy" => Form::Policy,
        "label" => Form::Label,
        "table" => Form::Table,
        "call" => Form::Call,
        "[t]" => Form::Object,
        _ if name.starts_with('[') => Form::Memory,
        _ => Form::Value,
    };
    let mut all = vec![Position { written: name.starts_with('d'), form, ty, optional }];
    if form == Form::Object {
        all[0].ty = Typing::Always(Type::B64);
        all.push(Position { written: false, form: Form::Coordinates, ty, optional });
    }
    if second {
        let ty = Typing::Always(Type::Pred);
        all.push(Position { written: true, form: Form::Second, ty, optional: true });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_longest_name() {
        for row in rows() {
            for name in &row.names {
                assert_eq!(find(name).unwrap().0.op, row.op, "{name}");
                assert_eq!(find(&format!("{name}.x.y")).unwrap(), (row.op.row(), ".x.y".into()));
            }
        }
        assert_eq!(find("mbarrier.try_wait.parity.b64").unwrap().0.op, Op::MbarTryWaitParity);
        assert!(find("wgmma.fence").is_none() && find("").is_none());
    }

    #[test]
    fn words_of_names_may_stand_elsewhere() {
        assert_eq!(
            find("vote.ballot.sync.b32").unwrap(),
            (Op::VoteSync.row(), ".ballot.b32".into())
        );
        assert_eq!(find("match.sync.any.b32").unwrap(), (Op::MatchAny.row(), ".b32".into()));
        assert!(find("sync.vote.all.pred").is_none() && find("vote.ballot.b32").is_none());
    }
}
