//! Random nests of loops: whatever runs without checks, no access to what is pending is missed.

use crate::setup::{Place, has, has_plugin};
use std::fmt::Write;

/// Loops of a program.
const LOOPS: usize = 30;

/// Numbers that look random (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Part of an index: of a counter, or of what is known before.
    fn term(&mut self, counters: &[String]) -> String {
        let factor = ["1", "2", "3", "7", "-1", "-4", "33", "(n / 8)", "step"][self.below(9)];
        match self.below(counters.len() + 1) {
            0 => format!("{factor} * {}", self.one_of(&["1", "n", "first_of[n % 4]", "11"])),
            counter => format!("{factor} * (long){}", counters[counter - 1]),
        }
    }

    fn index(&mut self, counters: &[String]) -> String {
        let terms: Vec<String> = (0..1 + self.below(3)).map(|_| self.term(counters)).collect();
        let sum = format!("({} + {})", terms.join(" + "), self.below(300));
        match self.below(12) {
            0 => format!("(int){sum}"),
            1 => format!("(unsigned){sum}"),
            2 => format!("(unsigned char){sum}"),
            3 => format!("(short){sum}"),
            4 => format!("({sum} / 3)"),
            5 => format!("({sum} % 97)"),
            6 => format!("({sum} & 255)"),
            7 => format!("chosen[{} % N] * {}", self.counter(counters), 1 + self.below(20)),
            _ => sum,
        }
    }

    /// A number that is not negative.
    fn counter(&mut self, counters: &[String]) -> String {
        format!("(unsigned){}", counters[self.below(counters.len())])
    }

    /// A loop's head; `counter` is declared there.
    fn head(&mut self, counter: &str, outer: &[String]) -> String {
        let ty = self.one_of(&["int", "long", "unsigned", "unsigned long", "short"]);
        let around = outer.last().map_or("2", String::as_str);
        let low = match self.below(5) {
            0 => format!("first_of[(unsigned){around} % 4]"),
            1 => around.to_owned(),
            2 => format!("{around} + 1"),
            _ => self.below(5).to_string(),
        };
        let high = match self.below(5) {
            0 => format!("last_of[(unsigned){around} % 4]"),
            1 => "n / 3".to_owned(),
            2 => format!("{around} + {}", self.below(9)),
            _ => self.below(14).to_string(),
        };
        let by = 1 + self.below(3);
        match self.below(5) {
            0 => format!("for ({ty} {counter} = ({ty})({high}); {counter}-- > ({ty})({low});)"),
            1 => format!(
                "for ({ty} {counter} = {low}, end_{counter} = {counter} + {by} * {};\
                 {counter} != end_{counter}; {counter} += {by})",
                self.below(9)
            ),
            2 => format!(
                "for (long {counter} = {high}; {counter} >= (long)({low}); {counter} -= {by})"
            ),
            _ => format!(
                "for ({ty} {counter} = {low}; {counter} < ({ty})({high}); {counter} += {by})"
            ),
        }
    }

    /// An access to the area, if the index is in it.
    fn access(&mut self, counters: &[String]) -> String {
        let index = self.index(counters);
        let access = match self.below(5) {
            0 => "p[at] = all",
            1 => "p[at] += 1",
            2 => "at + 8 < LENGTH ? memset(p + at, 0, 8 * (at % 5)) : 0",
            3 => "all += q[at]",
            _ => "all += p[at]",
        };
        let also = self.one_of(&["1", "1", "1", "all >= 0", "out[at % 7] < 1"]);
        format!("{{ unsigned long at = {index}; if (at < LENGTH && {also}) {access}; }}\n")
    }

    fn nest(&mut self, text: &mut String, counters: &mut Vec<String>) {
        let counter = format!("v{}", text.len());
        let head = self.head(&counter, counters);
        let _ = writeln!(text, "{head} {{");
        counters.push(counter);
        for _ in 0..1 + self.below(3) {
            text.push_str(&self.access(counters));
        }
        if counters.len() < 3 && self.below(3) > 0 {
            self.nest(text, counters);
            text.push_str(&self.access(counters));
        }
        if self.below(8) == 0 {
            text.push_str("if (all > 1e12) break;\n");
        }
        counters.pop();
        text.push_str("}\n");
    }

    fn program(&mut self) -> String {
        let mut text = "#include \"reach.h\"\n".to_owned();
        for number in 0..LOOPS {
            let step = ["n / 7", "-n / 7", "3", "-2"][self.below(4)];
            let _ = writeln!(text, "LOOP(loop{number}) {{\ndouble all = 0, *q = p;");
            let _ = writeln!(text, "const long step = OPAQUE({step});");
            if self.below(3) == 0 {
                text.push_str("q = OPAQUE(p + 64) - 64;\n");
            }
            self.nest(&mut text, &mut Vec::new());
            text.push_str("return all;\n}\n");
        }
        text.push_str("int main(void) {\nrecord_touches(), know_block(out, sizeof out);\n");
        text.push_str("for (int i = 0; i < N; i++) chosen[i] = i * 7 % N;\n");
        for number in 0..LOOPS {
            let _ = writeln!(text, "misses_nothing(loop{number}, \"loop{number}\");");
        }
        text.push_str("return finish();\n}\n");
        text
    }
}

#[test]
fn random_loops_miss_nothing() {
    let compilers = ["gcc", "clang-19"].into_iter().filter(|c| has(c));
    let compilers: Vec<_> = compilers.filter(|c| *c != "gcc" || has_plugin()).collect();
    let options = ["-O1", "-O2", "-O3 -march=x86-64-v3"];
    let builds = compilers.iter().flat_map(|compiler| options.map(|of| (*compiler, of)));
    for ((compiler, options), seed) in builds.zip(1..) {
        let place = Place::new();
        let program = Dice(seed).program();
        std::fs::write(place.0.join("loops.c"), &program).unwrap();
        place.ok(&format!("@cc {compiler} {options} -w -ISRC loops.c LIB/harness.o -o program"));
        // Else nothing was tried.
        let asking = place.ok("objdump -d program | grep -c 'call.*__commsan_span_clear'");
        assert!(asking.trim().parse::<usize>().unwrap() > LOOPS, "{compiler} {options}: {asking}");
        let output = place.sh("./program");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "passed\n", "{compiler} {options}, seed {seed}:\n{program}");
    }
}
