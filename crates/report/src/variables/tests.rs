use super::*;
use proptest::prelude::*;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

const PROGRAM: &str = r"
struct pair { double value; int index; };
static float table[5][2];
int count = 3;
static struct pair pairs[4];
unsigned char text[9];
_Complex double wave[2];
extern void use(void *, void *, void *);
void work(int *given) {
  double line[6];
  short few[3];
  use(line, few, &given);
  { long inner[4]; use(inner, line, few); }
  { int other[2]; use(other, table, pairs); }
}
int main(void) { work(&count); return text[0]; }
";

/// Of a file of its own, so that compilers do not know what it does.
const OTHER: &str =
    "void use(void *a, void *b, void *c) { *(char *)a += *(char *)b + *(char *)c; }";

/// The program, compiled by each compiler and at each level, of this many bytes.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let all = ["gcc", "clang-19"].iter().flat_map(|c| ["-O0", "-O1"].map(|level| (*c, level)));
    let build = |(compiler, level): (&str, &str)| {
        (format!("{compiler} {level}"), compiled(compiler, &[level, "-fno-omit-frame-pointer"]))
    };
    all.map(build).collect()
});

fn compiled(compiler: &str, flags: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = |name| directory.path().join(name);
    std::fs::write(path("program.c"), PROGRAM).unwrap();
    std::fs::write(path("other.c"), OTHER).unwrap();
    let files = [path("program"), path("program.c"), path("other.c")];
    let status = Command::new(compiler).args(flags).args(["-g", "-o"]).args(files).status();
    assert!(status.unwrap().success());
    std::fs::read(path("program")).unwrap()
}

fn opened(data: &[u8]) -> Option<Variables> {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("program");
    std::fs::write(&path, data).unwrap();
    Variables::open(&path)
}

fn address(variables: &Variables, name: &str) -> u64 {
    variables.symbols.iter().find(|(.., symbol)| symbol == name).unwrap().0
}

#[test]
fn static_variables_are_found_with_size_and_elements() {
    for (built, data) in &*FILES {
        let variables = opened(data).unwrap();
        let lookup = variables.lookup();
        let at = |name: &str, within| {
            let [found] = &lookup.fixed(address(&variables, name) + within)[..] else { panic!() };
            assert_eq!(found.name.as_deref(), Some(name), "{built}");
            (found.size, found.available, found.shape.as_ref().and_then(Shape::uniform))
        };
        assert_eq!(at("table", 0), (40, 40, Some(("real", 4))), "{built}");
        assert_eq!(at("table", 36), (40, 4, Some(("real", 4))), "{built}");
        assert_eq!(at("count", 0), (4, 4, Some(("integer", 4))), "{built}");
        assert_eq!(at("pairs", 16), (64, 48, None), "{built}");
        assert_eq!(at("text", 0), (9, 9, None), "{built}");
        assert_eq!(at("wave", 0), (32, 32, Some(("real", 8))), "{built}");
        assert_eq!(lookup.fixed(1), []);
        assert_eq!(lookup.fixed(u64::MAX), []);
    }
}

/// A variable's name and size, and the class and size of its elements.
type Local = (String, u64, Option<(&'static str, u64)>);

/// All local variables that can be seen from any place, by their names.
fn locals(lookup: &Lookup<'_>, text: std::ops::Range<u64>) -> Vec<Local> {
    let places = text.flat_map(|address| (-160..0).map(move |distance| (address, distance)));
    let found = places.flat_map(|(address, distance)| lookup.local(address, distance, &[99]));
    let mut found: Vec<_> = found
        .map(|found| {
            (found.name.unwrap(), found.size, found.shape.and_then(|shape| shape.uniform()))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn local_variables_are_found_where_they_are_in_scope() {
    for (built, data) in &*FILES {
        let variables = opened(data).unwrap();
        let file = object::File::parse(&**data).unwrap();
        let work = file.symbols().find(|symbol| symbol.name() == Ok("work")).unwrap();
        let code = work.address()..work.address() + work.size();
        let found = locals(&variables.lookup(), code.clone());
        let line = ("line".to_owned(), 48, Some(("real", 8)));
        let few = ("few".to_owned(), 6, Some(("integer", 2)));
        let inner = ("inner".to_owned(), 32, Some(("integer", 8)));
        for one in [line, few, inner] {
            assert!(found.contains(&one), "{built}: {one:?} in {found:?}");
        }
        let places = || code.clone().flat_map(|address| (-160..0).map(move |at| (address, at)));
        let lookup = variables.lookup();
        // Before it is declared.
        let early = |(address, at)| lookup.local(address, at, &[9]);
        assert!(places().flat_map(early).all(|found| found.name.as_deref() != Some("few")));
        // Not the one whose scope has not begun.
        let first = locals(&variables.lookup(), code.start..code.start + 12);
        assert!(
            first.iter().all(|(name, ..)| name != "inner" && name != "other"),
            "{built}: {first:?}"
        );
    }
}

#[test]
fn without_frame_pointers_no_local_variable_is_told() {
    let data = compiled("gcc", &["-O1", "-fomit-frame-pointer"]);
    let file = object::File::parse(&*data).unwrap();
    let work = file.symbols().find(|symbol| symbol.name() == Ok("work")).unwrap();
    let found =
        locals(&opened(&data).unwrap().lookup(), work.address()..work.address() + work.size());
    assert_eq!(found, []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Damaged files cost variables, nothing else.
    #[test]
    fn damage_is_survived(
        file in 0usize..4,
        cut in 0.3f64..1.0,
        damage in prop::collection::vec((0.0f64..1.0, any::<u8>()), 0..200),
        addresses in prop::collection::vec((0u64..0x5000, -100i64..100), 20),
    ) {
        let mut data = FILES[file].1.clone();
        data.truncate((data.len() as f64 * cut) as usize);
        let length = data.len() as f64;
        for (at, byte) in damage {
            data[(at * length) as usize] = byte;
        }
        if let Some(variables) = opened(&data) {
            let lookup = variables.lookup();
            for (address, distance) in addresses {
                lookup.local(address, distance, &[99]);
                lookup.fixed(address);
                for function in lookup.functions(address) {
                    for of in lookup.named(function, "line", 99) {
                        lookup.kind(of);
                        lookup.shape(of);
                        lookup.member(of, "value");
                        lookup.method(of, "data");
                    }
                    lookup.class_of(function);
                    lookup.given_to(function);
                    lookup.returned(function);
                }
            }
        }
    }
}
