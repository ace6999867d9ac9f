//! Which files belong to which program, if they have more than one `main`.

use crate::Program;
use rustc_hash::{FxHashMap, FxHashSet};

/// The symbols of a file.
#[derive(Debug, Default)]
pub struct Part {
    is_program: bool,
    defines: FxHashSet<String>,
    needs: FxHashSet<String>,
}

impl Part {
    /// Those of a file that was read alone.
    pub fn of(file: &Program) -> Part {
        let functions = file.functions.iter().map(|f| (&f.name, f.body.is_some()));
        let globals = file.globals.iter().map(|global| (&global.name, global.defined));
        let mut part = Part { is_program: !file.mains.is_empty(), ..Part::default() };
        for (name, is_defined) in functions.chain(globals) {
            let names = if is_defined { &mut part.defines } else { &mut part.needs };
            names.insert(name.clone());
        }
        part.defines.extend(file.aliases.iter().cloned());
        part
    }
}

/// The programs that files make up: for each, which files are chosen. A symbol that several files
/// define is that of the first. What no program needs goes to the first one.
pub fn choose(parts: &[Part]) -> Vec<Vec<bool>> {
    let mut definitions: FxHashMap<&str, usize> = FxHashMap::default();
    for (number, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_program) {
        for name in &part.defines {
            definitions.entry(name).or_insert(number);
        }
    }
    let mains = (0..parts.len()).filter(|number| parts[*number].is_program);
    let mut programs: Vec<Vec<bool>> = mains
        .map(|main| {
            let mut chosen = vec![false; parts.len()];
            let mut open = vec![main];
            while let Some(number) = open.pop() {
                if std::mem::replace(&mut chosen[number], true) {
                    continue;
                }
                // What a program defines itself, it does not take from elsewhere.
                let needs = parts[number].needs.iter();
                let needs = needs.filter(|name| !parts[main].defines.contains(*name));
                open.extend(needs.filter_map(|name| definitions.get(&**name)));
            }
            chosen
        })
        .collect();
    for (number, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_program) {
        if !part.defines.is_empty() && programs.iter().all(|chosen| !chosen[number]) {
            programs[0][number] = true;
        }
    }
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(is_program: bool, defines: &[&str], needs: &[&str]) -> Part {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Part { is_program, defines: names(defines), needs: names(needs) }
    }

    #[test]
    fn each_program_has_what_it_needs() {
        let parts = [
            part(true, &["main", "own"], &["solve", "MPI_Init"]),
            part(false, &["solve", "own"], &["exchange", "own"]),
            part(true, &["main"], &["exchange"]),
            part(false, &["exchange"], &["grid"]),
            part(false, &["grid"], &[]),
            part(false, &["exchange"], &[]),
        ];
        let yes = |which: &[usize]| (0..6).map(|n| which.contains(&n)).collect::<Vec<_>>();
        // The last one is needed by neither.
        assert_eq!(choose(&parts), [yes(&[0, 1, 3, 4, 5]), yes(&[2, 3, 4])]);
    }
}
