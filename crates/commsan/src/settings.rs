//! Origins of option values, by precedence: flag, `COMMSAN_OPTIONS`, `commsan.toml`, default.

use crate::exit_code;
use crate::failure::Failure;
use crate::options::{Options, Spec, TABLE};
use crate::suggest::nearest;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Name of the configuration file.
const FILE: &str = "commsan.toml";

/// The effective options, and the origin of each.
#[derive(Debug, Default)]
pub struct Settings {
    /// The effective values.
    pub options: Options,
    origins: BTreeMap<&'static str, Vec<Origin>>,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default in the table of options.
    Default,
    /// The `commsan.toml` at this path.
    File(PathBuf),
    /// The environment variable `COMMSAN_OPTIONS`.
    Environment,
    /// A flag on the command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment => f.write_str("COMMSAN_OPTIONS"),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

impl Settings {
    /// Reads all origins for the current directory; `flags` are (option, value) pairs.
    ///
    /// # Errors
    /// When one of them names an unknown option or an invalid value, or cannot be read.
    pub fn load(flags: &[(String, String)]) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        if let Some(file) = find_file()? {
            settings.read_file(&file)?;
        }
        if let Some(text) = std::env::var_os("COMMSAN_OPTIONS") {
            settings.read_pairs(&text.to_string_lossy())?;
        }
        for (name, text) in flags {
            settings.set(name, text, Path::new(""), &Origin::Flag)?;
        }
        Ok(settings)
    }

    /// The settings of `commsan profile`: it counts, and checks only if an option requests it.
    pub fn for_profile(mut self) -> Settings {
        self.options.profile = true;
        if self.origins("check") == [Origin::Default] {
            self.options.check = false;
        }
        self
    }

    /// The origins of the value of option `name`; several for options that accumulate.
    pub fn origins(&self, name: &str) -> &[Origin] {
        self.origins.get(name).map_or(&[Origin::Default], Vec::as_slice)
    }

    fn read_file(&mut self, file: &Path) -> Result<(), Failure> {
        let wrong =
            |what: String| Failure::new(exit_code::USAGE, format!("`{}`: {what}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            wrong(error.to_string()).help("it has one table, `[options]`, of `key = value` lines")
        })?;
        if let Some(key) = table.keys().find(|key| *key != "options") {
            let failure = wrong(format!("unknown entry `{key}`"));
            return Err(failure.help("options belong into the table `[options]`"));
        }
        let Some(options) = table.get("options") else { return Ok(()) };
        let Some(options) = options.as_table() else {
            return Err(wrong("`options` is no table".to_owned()).help("write `[options]`"));
        };
        let base = file.parent().unwrap_or(Path::new(""));
        let origin = Origin::File(file.to_owned());
        for (name, value) in options {
            let values = match value {
                toml::Value::Array(values) => values.as_slice(),
                value => std::slice::from_ref(value),
            };
            for value in values {
                let text = match value {
                    toml::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                self.set(name, &text, base, &origin)?;
            }
        }
        Ok(())
    }

    fn read_pairs(&mut self, text: &str) -> Result<(), Failure> {
        for pair in split_pairs(text)? {
            // A key without a value switches the option on, as in other sanitizers' variables.
            let (name, value) = pair.split_once('=').unwrap_or((&pair, "true"));
            self.set(name, value, Path::new(""), &Origin::Environment)?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, text: &str, base: &Path, from: &Origin) -> Result<(), Failure> {
        let spec = lookup(name, from)?;
        self.options.set(spec.name, text, base).map_err(|expected| {
            let what = format!("`{text}` is no value of option `{}`", spec.name);
            Failure::new(exit_code::USAGE, format!("{what} (from {from})"))
                .help(format!("it takes {expected}"))
        })?;
        let origins = self.origins.entry(spec.name).or_default();
        if !spec.repeats {
            origins.clear();
        }
        if !origins.contains(from) {
            origins.push(from.clone());
        }
        Ok(())
    }
}

/// The option called `name`, with dashes or underscores.
fn lookup(name: &str, from: &Origin) -> Result<&'static Spec, Failure> {
    let key = name.replace('-', "_");
    TABLE.iter().find(|spec| spec.name == key).ok_or_else(|| {
        let what = format!("there is no option `{name}` (from {from})");
        let failure = Failure::new(exit_code::USAGE, what);
        match nearest(name, TABLE.iter().map(|spec| spec.name)) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None if *from == Origin::Environment => failure.help(
                "`commsan config --explain` lists all of them; a value with a colon needs quotes: gpu='sim:2'",
            ),
            None => failure.help("`commsan config --explain` lists all of them"),
        }
    })
}

/// `$COMMSAN_CONFIG`, else the nearest `commsan.toml` in this directory or its parents.
fn find_file() -> Result<Option<PathBuf>, Failure> {
    if let Some(named) = std::env::var_os("COMMSAN_CONFIG").filter(|name| !name.is_empty()) {
        let file = PathBuf::from(named);
        if file.is_file() {
            return Ok(Some(file));
        }
        let what = format!("there is no file `{}`", file.display());
        let failure = Failure::new(exit_code::USAGE, what);
        return Err(failure.help("COMMSAN_CONFIG names it; correct or unset that variable"));
    }
    let Ok(directory) = std::env::current_dir() else { return Ok(None) };
    Ok(directory.ancestors().map(|directory| directory.join(FILE)).find(|file| file.is_file()))
}

/// Splits at colons outside quotes, and removes the quotes.
fn split_pairs(text: &str) -> Result<Vec<String>, Failure> {
    let mut pairs = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ':') => pairs.push(String::new()),
            (_, c) => {
                if let Some(pair) = pairs.last_mut() {
                    pair.push(c);
                }
            }
        }
    }
    if quote.is_some() {
        let what = format!("COMMSAN_OPTIONS has a quote that is not closed: {text}");
        return Err(Failure::new(exit_code::USAGE, what));
    }
    pairs.retain(|pair| !pair.is_empty());
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_split_at_colons_outside_quotes() {
        let split = |text| split_pairs(text).unwrap();
        assert_eq!(split("a=1:b=2::"), ["a=1", "b=2"]);
        assert_eq!(split("json='C:/x y':quiet"), ["json=C:/x y", "quiet"]);
        assert!(split_pairs("json='x").is_err());
    }

    #[test]
    fn later_sources_win_and_lists_add_up() {
        let mut settings = Settings::default();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        let text = "[options]\nexit-code = 3\nquiet = true\nsuppressions = [\"a\", \"/b\"]\n";
        std::fs::write(&file, text).unwrap();
        settings.read_file(&file).unwrap();
        settings.read_pairs("exit_code=4:suppressions=c:halt_on_error").unwrap();
        settings.set("exit-code", "5", Path::new(""), &Origin::Flag).unwrap();
        let options = &settings.options;
        assert_eq!(options.exit_code.0, 5);
        assert!(options.quiet && options.halt_on_error);
        let a = directory.path().join("a");
        assert_eq!(options.suppressions, [a, PathBuf::from("/b"), PathBuf::from("c")]);
        assert_eq!(settings.origins("exit_code"), [Origin::Flag]);
        assert_eq!(settings.origins("suppressions"), [Origin::File(file), Origin::Environment]);
        assert_eq!(settings.origins("color"), [Origin::Default]);
    }

    #[test]
    fn profiles_check_only_if_told_to() {
        let checks = |pairs: &str| {
            let mut settings = Settings::default();
            settings.read_pairs(pairs).unwrap();
            let options = settings.for_profile().options;
            (options.profile, options.check)
        };
        assert_eq!(checks("quiet"), (true, false));
        assert_eq!(checks("check"), (true, true));
        assert_eq!(checks("profile=false:check=false"), (true, false));
    }

    #[test]
    fn unknown_keys_are_errors_that_suggest() {
        let mut settings = Settings::default();
        let error = settings.read_pairs("exitcode=1").unwrap_err();
        assert!(error.to_string().contains("did you mean `exit_code`"), "{error}");
        let error = settings.read_pairs("colour=1").unwrap_err();
        assert!(error.to_string().contains("COMMSAN_OPTIONS"), "{error}");
        let error = settings.read_pairs("gpu=sim:2").unwrap_err();
        assert!(error.to_string().contains("gpu='sim:2'"), "{error}");
    }
}
