//! The words of PTX mnemonics (PTX ISA 9.0, chapter 9).
//!
//! A mnemonic such as `ld.relaxed.gpu.global.v2.f32` is an opcode and modifiers. Each kind of
//! modifier is an enumeration here whose words are data; [`crate::opcodes`] says which opcode takes
//! which kinds.

/// An enumeration each of whose variants is a word of PTX.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] $variant,)*
        }

        impl $name {
            /// All variants, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word of PTX.
            pub fn word(self) -> &'static str {
                Self::WORDS[self as usize]
            }

            /// The variant that a word names.
            pub fn parse(word: &str) -> Option<$name> {
                Self::WORDS.iter().position(|w| *w == word).map(|at| Self::ALL[at])
            }
        }
    };
}

words! {
    /// Fundamental and alternate types (PTX ISA §5.2).
    Type {
        Pred = "pred",
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", BF16 = "bf16", BF16x2 = "bf16x2", TF32 = "tf32",
        F32 = "f32", F32x2 = "f32x2", F64 = "f64",
        E4M3 = "e4m3", E5M2 = "e5m2", E4M3x2 = "e4m3x2", E5M2x2 = "e5m2x2",
        U16x2 = "u16x2", S16x2 = "s16x2",
        TexRef = "texref", SamplerRef = "samplerref", SurfRef = "surfref",
    }
}

impl Type {
    /// Size of a value in memory, in bytes. A predicate counts as one byte, although it cannot be
    /// stored; opaque references are handles of 8 bytes.
    pub fn size(self) -> u64 {
        use Type::*;
        match self {
            Pred | B8 | U8 | S8 | E4M3 | E5M2 => 1,
            B16 | U16 | S16 | F16 | BF16 | E4M3x2 | E5M2x2 => 2,
            B32 | U32 | S32 | F16x2 | BF16x2 | TF32 | F32 | U16x2 | S16x2 => 4,
            B64 | U64 | S64 | F32x2 | F64 | TexRef | SamplerRef | SurfRef => 8,
            B128 => 16,
        }
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        use Type::*;
        matches!(self, S8 | S16 | S32 | S64 | S16x2)
    }

    /// Whether it is a floating-point number, or a vector of them.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | BF16 | BF16x2 | TF32 | F32 | F32x2 | F64)
    }

    /// The integer type of twice the width, the result type of `mul.wide` and `mad.wide`.
    pub fn widened(self) -> Type {
        match self {
            Type::U16 => Type::U32,
            Type::S16 => Type::S32,
            Type::U32 => Type::U64,
            Type::S32 => Type::S64,
            other => other,
        }
    }
}

words! {
    /// State spaces (PTX ISA §5.1). A memory instruction without one uses generic addresses.
    Space {
        Reg = "reg",
        SpecialReg = "sreg",
        Global = "global",
        Const = "const",
        Shared = "shared",
        SharedCta = "shared::cta",
        SharedCluster = "shared::cluster",
        Local = "local",
        Param = "param",
        ParamEntry = "param::entry",
        ParamFunc = "param::func",
        Tex = "tex",
    }
}

words! {
    /// Rounding modes (PTX ISA §6.5.2); the last four round to an integer.
    Rounding {
        Nearest = "rn", Zero = "rz", Down = "rm", Up = "rp",
        NearestAway = "rna", Stochastic = "rs",
        NearestInt = "rni", ZeroInt = "rzi", DownInt = "rmi", UpInt = "rpi",
    }
}

words! {
    /// Comparison operators of `setp` and `set` (PTX ISA §9.3.1): signed or unsigned by the type;
    /// `lo` to `hs` are for unsigned integers; `equ` and those after it are true if an operand is
    /// NaN.
    Compare {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
        Lo = "lo", Ls = "ls", Hi = "hi", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu",
        Num = "num", Nan = "nan",
    }
}

words! {
    /// Operations of atomics, reductions, and combinations of predicates.
    Combine {
        And = "and", Or = "or", Xor = "xor", Cas = "cas", Exch = "exch", Add = "add",
        Inc = "inc", Dec = "dec", Min = "min", Max = "max", Popc = "popc",
    }
}

words! {
    /// Memory ordering of an access or a fence (PTX ISA §8).
    Order {
        Weak = "weak", Volatile = "volatile", Mmio = "mmio", Relaxed = "relaxed",
        Acquire = "acquire", Release = "release", AcqRel = "acq_rel", Sc = "sc",
    }
}

words! {
    /// The set of threads that an ordered access synchronises with (PTX ISA §8.5).
    Scope { Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys" }
}

words! {
    /// Number of elements of a vector access.
    Vector { V2 = "v2", V4 = "v4", V8 = "v8" }
}

impl Vector {
    /// The number of elements.
    pub fn len(self) -> u64 {
        match self {
            Vector::V2 => 2,
            Vector::V4 => 4,
            Vector::V8 => 8,
        }
    }

    /// Always false.
    pub fn is_empty(self) -> bool {
        false
    }
}

words! {
    /// Geometry of a texture or surface (PTX ISA §9.7.10): its dimensions; an `a` stands for
    /// layers.
    Geometry {
        One = "1d", Two = "2d", Three = "3d", LayersOfOne = "a1d", LayersOfTwo = "a2d",
        Cube = "cube", LayersOfCubes = "acube", Samples = "2dms", LayersOfSamples = "a2dms",
    }
}

words! {
    /// Words that select a variant of one particular opcode.
    Mode {
        Lo = "lo", Hi = "hi", Wide = "wide",
        Up = "up", Down = "down", Butterfly = "bfly", Index = "idx",
        All = "all", Any = "any", Uniform = "uni", Ballot = "ballot",
        Wrap = "wrap", Clamp = "clamp",
        Forward4 = "f4e", Backward4 = "b4e", Replicate8 = "rc8", EdgeLeft = "ecl",
        EdgeRight = "ecr", Replicate16 = "rc16",
        Finite = "finite", Infinite = "infinite", Number = "number", NotANumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
        CacheAll = "ca", CacheGlobal = "cg",
        Level1 = "L1", Level2 = "L2",
        Cta = "cta", Gl = "gl", Sys = "sys",
        Alias = "alias", Async = "async",
        Red = "r", Green = "g", Blue = "b", Alpha = "a",
        OutsideTraps = "trap", OutsideIsZero = "zero",
    }
}

words! {
    /// Cache operators of loads and stores (PTX ISA §9.7.9.1). They do not change a program's
    /// meaning.
    Caching {
        All = "ca", Global = "cg", Streaming = "cs", LastUse = "lu", Volatile = "cv",
        WriteBack = "wb", WriteThrough = "wt",
    }
}

words! {
    /// Modifiers that are present or absent.
    Flag {
        FlushToZero = "ftz", Saturate = "sat", CarryOut = "cc", Approximate = "approx",
        Full = "full", Uniform = "uni", NonCoherent = "nc", NoFlush = "noftz", NaN = "NaN",
        XorSign = "xorsign", Abs = "abs", Relu = "relu", SaturateFinite = "satfinite",
        ShiftAmount = "shiftamt", Aligned = "aligned", NoInc = "noinc", NoComplete = "noComplete",
        ExpectTx = "expect_tx", AccF32 = "acc::f32", AccF16 = "acc::f16", Unified = "unified",
        // Cache hints: eviction priorities, prefetch sizes, and that a policy operand follows.
        L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
        L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last",
        L1NoAllocate = "L1::no_allocate",
        L2EvictNormal = "L2::evict_normal", L2EvictFirst = "L2::evict_first",
        L2EvictLast = "L2::evict_last", L2CacheHint = "L2::cache_hint",
        L2Prefetch64 = "L2::64B", L2Prefetch128 = "L2::128B", L2Prefetch256 = "L2::256B",
    }
}

impl Flag {
    /// Whether it is a hint for caches.
    pub fn is_hint(self) -> bool {
        self >= Flag::L1EvictNormal
    }
}

words! {
    /// Registers that the device fills (PTX ISA chapter 10). Those of three dimensions and
    /// `envreg` are numbered; see [`crate::Operand::Special`].
    Special {
        Tid = "tid", Ntid = "ntid", LaneId = "laneid", WarpId = "warpid", NwarpId = "nwarpid",
        CtaId = "ctaid", NctaId = "nctaid", SmId = "smid", NsmId = "nsmid", GridId = "gridid",
        IsExplicitCluster = "is_explicit_cluster", ClusterId = "clusterid",
        NclusterId = "nclusterid", ClusterCtaId = "cluster_ctaid",
        ClusterNctaId = "cluster_nctaid", ClusterCtaRank = "cluster_ctarank",
        ClusterNctaRank = "cluster_nctarank",
        LanemaskEq = "lanemask_eq", LanemaskLe = "lanemask_le", LanemaskLt = "lanemask_lt",
        LanemaskGe = "lanemask_ge", LanemaskGt = "lanemask_gt",
        Clock = "clock", ClockHi = "clock_hi", Clock64 = "clock64", Envreg = "envreg",
        GlobalTimer = "globaltimer", GlobalTimerLo = "globaltimer_lo",
        GlobalTimerHi = "globaltimer_hi", TotalSmemSize = "total_smem_size",
        AggregateSmemSize = "aggr_smem_size", DynamicSmemSize = "dynamic_smem_size",
        ReservedSmemBegin = "reserved_smem_offset_begin", ReservedSmemEnd = "reserved_smem_offset_end",
        ReservedSmemCap = "reserved_smem_offset_cap",
        ReservedSmem0 = "reserved_smem_offset_0", ReservedSmem1 = "reserved_smem_offset_1",
        CurrentGraphExec = "current_graph_exec",
    }
}
