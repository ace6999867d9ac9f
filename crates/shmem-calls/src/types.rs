//! Types of elements, and how arguments are passed.

/// The type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// As it appears in names: `long`, `ulonglong`, `64`, `mem`.
    pub name: &'static str,
    /// Its size in bytes.
    pub bytes: usize,
    /// The type of Rust that is passed alike; empty for what is never passed by value.
    pub in_rust: &'static str,
}

const fn element(name: &'static str, bytes: usize, in_rust: &'static str) -> Element {
    Element { name, bytes, in_rust }
}

/// Those of LP64, as on all machines that commsan runs on. Whether `char` has a sign matters to
/// nobody who passes it on.
const TYPES: [Element; 33] = [
    element("float", 4, "f32"),
    element("double", 8, "f64"),
    element("longdouble", 16, ""),
    element("complexf", 8, ""),
    element("complexd", 16, ""),
    element("char", 1, "i8"),
    element("schar", 1, "i8"),
    element("short", 2, "i16"),
    element("int", 4, "i32"),
    element("long", 8, "i64"),
    element("longlong", 8, "i64"),
    element("uchar", 1, "u8"),
    element("ushort", 2, "u16"),
    element("uint", 4, "u32"),
    element("ulong", 8, "u64"),
    element("ulonglong", 8, "u64"),
    element("int8", 1, "i8"),
    element("int16", 2, "i16"),
    element("int32", 4, "i32"),
    element("int64", 8, "i64"),
    element("uint8", 1, "u8"),
    element("uint16", 2, "u16"),
    element("uint32", 4, "u32"),
    element("uint64", 8, "u64"),
    element("size", 8, "u64"),
    element("ptrdiff", 8, "i64"),
    element("8", 1, ""),
    element("16", 2, ""),
    element("32", 4, ""),
    element("64", 8, ""),
    element("128", 16, ""),
    element("mem", 1, ""),
    // What calls without a type in their names are about: `long`.
    element("", 8, "i64"),
];

/// Sets of types, by name.
const SETS: [(&str, &str); 15] = [
    (
        "rma",
        "float double longdouble char schar short int long longlong uchar ushort uint ulong ulonglong int8 \
         int16 int32 int64 uint8 uint16 uint32 uint64 size ptrdiff",
    ),
    (
        "one",
        "float double char schar short int long longlong uchar ushort uint ulong ulonglong int8 int16 \
         int32 int64 uint8 uint16 uint32 uint64 size ptrdiff",
    ),
    ("amo", "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff"),
    (
        "ext",
        "float double int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff",
    ),
    ("bit", "int long longlong uint ulong ulonglong int32 int64 uint32 uint64"),
    ("old", "int long longlong"),
    ("olx", "float double int long longlong"),
    (
        "wait",
        "short int long longlong ushort uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff",
    ),
    ("oldwait", "short int long longlong"),
    ("red", "short int long longlong float double longdouble complexf complexd"),
    ("min", "short int long longlong float double longdouble"),
    ("log", "short int long longlong"),
    ("bits", "8 16 32 64 128 mem"),
    ("sizes", "8 16 32 64 128"),
    ("half", "32 64"),
];

/// The types of a set.
pub(crate) fn set(name: &str) -> Option<Vec<Element>> {
    let (_, list) = SETS.iter().find(|(known, _)| *known == name)?;
    let find = |name: &str| TYPES.iter().copied().find(|known| known.name == name);
    list.split_whitespace().map(find).collect()
}

/// The name of the longest set that a text begins with.
pub(crate) fn set_in(text: &str) -> Option<&str> {
    let names = SETS.iter().map(|(name, _)| *name);
    let begins = names.filter(|name| text.starts_with(name));
    begins.max_by_key(|name| name.len()).map(|name| &text[..name.len()])
}

/// What calls are about that name no type.
pub(crate) fn long() -> Element {
    TYPES[32]
}

/// How an argument or result is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `size_t`.
    Size,
    /// `ptrdiff_t`.
    Stride,
    /// A pointer.
    Pointer,
    /// An element by value.
    Value(Element),
}

impl Passed {
    /// The type in Rust, with `c_int` and `c_void` as `std::ffi` has them.
    pub fn in_rust(self) -> &'static str {
        match self {
            Passed::Int => "c_int",
            Passed::Long => "i64",
            Passed::Size => "usize",
            Passed::Stride => "isize",
            Passed::Pointer => "*mut c_void",
            Passed::Value(element) => element.in_rust,
        }
    }
}
