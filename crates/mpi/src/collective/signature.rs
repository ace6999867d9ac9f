//! Type signatures: the sequence of basic datatypes of a message (MPI 4.1 §5.1).
//!
//! A sequence is represented by its length, its size in bytes and a polynomial over its elements
//! modulo the prime 2^61 - 1 (a Karp-Rabin fingerprint), so that sequences are concatenated and
//! repeated without visiting their elements.

use commsan_mpi_calls::Datatype;

/// The sequence of basic datatypes of some data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Bytes of data, without gaps.
    pub bytes: u64,
    length: u64,
    hash: u64,
    /// Part of it matches anything, or is not known.
    vague: bool,
}

const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x1234_5678_9abc_def1 % PRIME;
/// Classes of basic types, with one type of each.
const BASIC: [(&str, &str); 4] = [
    ("integer", "MPI_INT"),
    ("unsigned integer", "MPI_UNSIGNED"),
    ("real", "MPI_DOUBLE"),
    ("logical", "MPI_LOGICAL"),
];
/// The hash of a vague signature, as a word.
const VAGUE: u64 = u64::MAX;

impl Signature {
    /// The signature of no data.
    pub const EMPTY: Signature = Signature { bytes: 0, length: 0, hash: 0, vague: false };

    /// The signature of data of which only the size is known.
    pub fn vague(bytes: u64) -> Signature {
        match bytes {
            0 => Signature::EMPTY,
            _ => Signature { bytes, length: 1, hash: 1, vague: true },
        }
    }

    /// The signature of a predefined type, by its name in C or Fortran.
    pub fn predefined(name: &str, bytes: u64) -> Signature {
        let one = |class: u64, bytes| Signature {
            bytes,
            length: 1,
            hash: class << 8 | bytes,
            vague: false,
        };
        match class(name) {
            Some(Class::Integer) => one(1, bytes),
            Some(Class::Real) => one(2, bytes),
            Some(Class::Complex) => one(2, bytes / 2).repeat(2),
            Some(Class::Logical) => one(3, bytes),
            Some(Class::Unsigned) => one(4, bytes),
            None => Signature::vague(bytes),
        }
    }

    /// The signature of this data followed by other data.
    #[must_use]
    pub fn then(self, other: Signature) -> Signature {
        let bytes = self.bytes.wrapping_add(other.bytes);
        if self.vague || other.vague {
            return Signature::vague(bytes);
        }
        Signature {
            bytes,
            length: self.length.wrapping_add(other.length),
            hash: (multiply(self.hash, power(other.length)) + other.hash) % PRIME,
            vague: false,
        }
    }

    /// The signature of this data repeated.
    #[must_use]
    pub fn repeat(self, times: u64) -> Signature {
        let (mut all, mut part, mut rest) = (Signature::EMPTY, self, times);
        while rest > 0 {
            if rest & 1 != 0 {
                all = all.then(part);
            }
            rest >>= 1;
            if rest > 0 {
                part = part.then(part);
            }
        }
        all
    }

    /// The signature as an item of a list, delimited so that different lists of items differ.
    #[must_use]
    pub fn as_item(self) -> Signature {
        let mark = self.hash.wrapping_mul(31).wrapping_add(self.length) % PRIME;
        Signature { length: 1, hash: mark, ..self }
    }

    /// Whether data of one signature may be received as data of the other, as far as is known.
    pub fn matches(self, other: Signature) -> bool {
        let known = !self.vague && !other.vague;
        self.bytes == other.bytes
            && (!known || (self.length, self.hash) == (other.length, other.hash))
    }

    /// Whether this data may be received into room for other data, of which it may be a prefix, as
    /// far as is known.
    pub fn fits_into(self, room: Signature) -> bool {
        match (self.element(), room.element()) {
            _ if self.bytes == room.bytes => self.matches(room),
            (Some(one), Some(other)) => self.bytes < room.bytes && one == other,
            _ => self.bytes < room.bytes,
        }
    }

    /// The signature as words, for [`Self::from_words`].
    pub fn to_words(self) -> [u64; 3] {
        [self.bytes, self.length, if self.vague { VAGUE } else { self.hash }]
    }

    /// The signature that [`Self::to_words`] turned into these words.
    pub fn from_words([bytes, length, hash]: [u64; 3]) -> Signature {
        match hash {
            VAGUE => Signature::vague(bytes),
            _ => Signature { bytes, length, hash, vague: false },
        }
    }

    /// The name of the class and the signature of the one basic type that all data has; `None` if
    /// there are several, or some are not known.
    fn uniform(self) -> Option<(&'static str, Signature)> {
        let each = self.bytes.checked_div(self.length)?;
        let basic = BASIC.map(|(class, name)| (class, Signature::predefined(name, each)));
        let is_all = |one: Signature| !self.vague && one.repeat(self.length) == self;
        basic.into_iter().find(|(_, one)| is_all(*one))
    }

    /// The class of the one basic type that all data has, e.g. `integer`, and its size in bytes;
    /// `None` if there are several, or some are not known.
    pub fn elements(self) -> Option<(&'static str, u64)> {
        self.uniform().map(|(class, one)| (class, one.bytes))
    }

    /// The one basic type that all data has; `None` if there are several, or some are not known.
    pub fn element(self) -> Option<Signature> {
        self.uniform().map(|(_, one)| one)
    }

    /// Whether the data certainly has several basic types.
    pub fn is_mixed(self) -> bool {
        !self.vague && self.length > 0 && self.uniform().is_none()
    }

    /// A basic type in words: `reals of 8 bytes`.
    pub fn describe_element(self) -> String {
        self.repeat(2).describe().trim_start_matches("2 ").to_owned()
    }

    /// The data in words: `64 reals of 8 bytes`.
    pub fn describe(self) -> String {
        let plural = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        match self.uniform() {
            Some((class, one)) => {
                format!("{} of {}", plural(self.length, class), plural(one.bytes, "byte"))
            }
            None => plural(self.bytes, "byte"),
        }
    }
}

fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn power(mut exponent: u64) -> u64 {
    let (mut result, mut base) = (1, BASE);
    while exponent > 0 {
        if exponent & 1 != 0 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

/// Basic types of one class and size have the same representation in all languages: strictly
/// `MPI_INT` does not match `MPI_INTEGER`, nor `MPI_CHAR` `MPI_INT8_T` (§3.3.1), but no value
/// changes. A value sent as signed and received as unsigned changes if it is negative.
enum Class {
    Integer,
    Unsigned,
    Real,
    Complex,
    Logical,
}

fn class(name: &str) -> Option<Class> {
    use Datatype::{Address, Byte, Character, FortranInteger, Packed, Pair, Signed};
    Some(match Datatype::named(name)? {
        Signed | FortranInteger | Address | Character => Class::Integer,
        Datatype::Unsigned => Class::Unsigned,
        Datatype::Real => Class::Real,
        Datatype::Complex => Class::Complex,
        Datatype::Logical => Class::Logical,
        Byte | Pair | Packed => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TYPES: [(&str, u64); 6] = [
        ("MPI_INT", 4),
        ("MPI_FLOAT", 4),
        ("MPI_DOUBLE", 8),
        ("MPI_INT64_T", 8),
        ("MPI_CHAR", 1),
        ("MPI_UNSIGNED", 4),
    ];

    fn of(sequence: &[usize]) -> Signature {
        let one = |index: &usize| Signature::predefined(TYPES[*index].0, TYPES[*index].1);
        sequence.iter().map(one).fold(Signature::EMPTY, Signature::then)
    }

    #[test]
    fn elements_are_what_all_is_of() {
        let double = Signature::predefined("MPI_DOUBLE", 8);
        assert_eq!(double.repeat(12).element(), Some(double));
        assert_eq!(Signature::predefined("MPI_C_DOUBLE_COMPLEX", 16).element(), Some(double));
        assert_eq!(double.then(Signature::predefined("MPI_INT", 4)).element(), None);
        assert!(double.then(Signature::predefined("MPI_INT", 4)).is_mixed());
        assert!(!double.repeat(12).is_mixed() && !Signature::vague(8).is_mixed());
        assert!(!Signature::EMPTY.is_mixed());
        assert_eq!(Signature::vague(8).element(), None);
        assert_eq!(Signature::EMPTY.element(), None);
        assert_eq!(double.describe_element(), "reals of 8 bytes");
        assert_eq!(Signature::predefined("MPI_CHAR", 1).describe_element(), "integers of 1 byte");
        let unsigned = Signature::predefined("MPI_UINT64_T", 8);
        assert_eq!(unsigned.describe_element(), "unsigned integers of 8 bytes");
    }

    proptest! {
        #[test]
        fn equal_sequences_match_and_others_do_not(
            one in prop::collection::vec(0..6_usize, 0..8),
            other in prop::collection::vec(0..6_usize, 0..8),
        ) {
            prop_assert_eq!(of(&one).matches(of(&other)), one == other);
            prop_assert_eq!(Signature::from_words(of(&one).to_words()), of(&one));
        }

        #[test]
        fn it_does_not_matter_how_a_sequence_is_put_together(
            part in prop::collection::vec(0..6_usize, 0..6), times in 0..20_usize, cut in 0..120_usize,
        ) {
            let whole = part.repeat(times);
            let cut = cut.min(whole.len());
            prop_assert_eq!(of(&whole), of(&part).repeat(times as u64));
            prop_assert_eq!(of(&whole), of(&whole[..cut]).then(of(&whole[cut..])));
        }
    }

    #[test]
    fn lists_tell_whose_is_what() {
        let double = Signature::predefined("MPI_DOUBLE", 8);
        let list = |counts: [u64; 2]| {
            counts
                .map(|count| double.repeat(count).as_item())
                .into_iter()
                .fold(Signature::EMPTY, Signature::then)
        };
        assert!(list([1, 3]).matches(list([1, 3])));
        assert!(!list([1, 3]).matches(list([2, 2])) && !list([1, 3]).matches(list([3, 1])));
        assert_eq!(list([1, 3]).bytes, 32);
    }

    #[test]
    fn what_is_vague_is_compared_by_size() {
        let bytes = Signature::predefined("MPI_BYTE", 1).repeat(8);
        let double = Signature::predefined("MPI_DOUBLE", 8);
        assert!(bytes.matches(double) && double.matches(bytes));
        assert!(Signature::from_words(bytes.to_words()).matches(double));
        assert!(!bytes.matches(double.repeat(2)));
        assert!(Signature::predefined("particle", 8).matches(double));
        assert!(!Signature::predefined("MPI_INT64_T", 8).matches(double));
        let complex = Signature::predefined("MPI_C_DOUBLE_COMPLEX", 16);
        assert!(complex.matches(double.repeat(2)));
        let pairs = [
            ("MPI_INT", "MPI_INTEGER"),
            ("MPI_INT64_T", "MPI_AINT"),
            ("MPI_UNSIGNED_LONG", "MPI_UINT64_T"),
            ("MPI_DOUBLE", "MPI_DOUBLE_PRECISION"),
        ];
        for (c, fortran) in pairs {
            assert!(Signature::predefined(c, 8).matches(Signature::predefined(fortran, 8)));
        }
    }

    #[test]
    fn less_data_fit_into_more_room_for_the_same() {
        let (int, double) =
            (Signature::predefined("MPI_INT", 4), Signature::predefined("MPI_DOUBLE", 8));
        assert!(double.repeat(2).fits_into(double.repeat(2)));
        assert!(double.repeat(2).fits_into(double.repeat(3)));
        assert!(!double.repeat(3).fits_into(double.repeat(2)));
        assert!(!int.repeat(2).fits_into(double) && !int.fits_into(double));
        assert!(int.fits_into(int.then(double)) && !int.then(double).fits_into(double));
        assert!(Signature::EMPTY.fits_into(int) && !int.fits_into(Signature::EMPTY));
        assert!(Signature::vague(4).fits_into(double) && !Signature::vague(9).fits_into(double));
    }

    #[test]
    fn data_are_described_by_what_all_of_them_are() {
        let double = Signature::predefined("MPI_DOUBLE", 8);
        assert_eq!(double.repeat(64).describe(), "64 reals of 8 bytes");
        assert_eq!(Signature::predefined("MPI_CHAR", 1).describe(), "1 integer of 1 byte");
        let mixed = double.then(Signature::predefined("MPI_INT", 4));
        assert_eq!(mixed.describe(), "12 bytes");
        assert_eq!(Signature::EMPTY.describe(), "0 bytes");
        assert_eq!(Signature::vague(8).describe(), "8 bytes");
    }
}
