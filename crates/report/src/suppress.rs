//! Suppressions: findings that a team has looked at and accepted, each with the reason.
//!
//! The file format is described in `docs/suppressions.md`.

use crate::wildcard::{matches, matches_path};
use commsan_findings::{Code, Finding, Frame};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The entries of a suppression file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// `None` stands for every code.
    code: Option<Code>,
    file: Option<String>,
    func: Option<String>,
    lib: Option<String>,
    reason: String,
    origin: PathBuf,
    line: usize,
}

/// What one entry did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppressed {
    /// The entry's code, `*` for all.
    pub code: String,
    /// Why it is there.
    pub reason: String,
    /// The suppression file.
    pub file: String,
    /// The entry's line in it.
    pub line: usize,
    /// Distinct findings that it set aside; 0 for an entry that matched nothing.
    pub findings: usize,
    /// Observations of these findings.
    pub count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    suppress: Vec<Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    code: Option<Spanned<String>>,
    file: Option<String>,
    func: Option<String>,
    lib: Option<String>,
    reason: Option<String>,
}

impl Suppressions {
    /// Reads the suppression file at `path`.
    ///
    /// # Errors
    /// Says which line is wrong, and how it should be.
    pub fn load(path: &Path) -> Result<Suppressions, SuppressionError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Suppressions::parse(&text, path),
            Err(error) => Err(SuppressionError::new(path, None, error.to_string())),
        }
    }

    /// Reads suppressions from `text`, which comes from `origin`.
    ///
    /// # Errors
    /// Says which line is wrong, and how it should be.
    pub fn parse(text: &str, origin: &Path) -> Result<Suppressions, SuppressionError> {
        let file: RawFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| line_at(text, span.start));
            let mut what = error.message().replace('\n', ", ");
            if what.contains("expected a sequence") {
                what += ": an entry begins with `[[suppress]]`, in two brackets each";
            }
            SuppressionError::new(origin, line, what)
        })?;
        let entries = file.suppress.into_iter().map(|raw| entry(text, origin, raw));
        Ok(Suppressions { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Appends the entries of `other`, as from a second file.
    pub fn extend(&mut self, other: Suppressions) {
        self.entries.extend(other.entries);
    }

    /// Separates suppressed findings, each by the first entry that matches it. The second part
    /// has an item for every entry, in order.
    pub fn apply(&self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<Suppressed>) {
        let mut done: Vec<_> = self.entries.iter().map(Suppressed::by).collect();
        let mut kept = Vec::new();
        for finding in findings {
            match self.entries.iter().position(|entry| entry.matches(&finding)) {
                Some(index) => {
                    done[index].findings += 1;
                    done[index].count = done[index].count.saturating_add(finding.count);
                }
                None => kept.push(finding),
            }
        }
        (kept, done)
    }
}

impl Suppressed {
    fn by(entry: &Entry) -> Suppressed {
        Suppressed {
            code: entry.code.map_or("*", Code::id).to_owned(),
            reason: entry.reason.clone(),
            file: entry.origin.to_string_lossy().into_owned(),
            line: entry.line,
            findings: 0,
            count: 0,
        }
    }
}

impl Entry {
    fn matches(&self, finding: &Finding) -> bool {
        let stacks = finding.sites.iter().flat_map(|site| &site.stack);
        let mut frames = stacks.flat_map(|frame| frame.within.iter().chain([frame]));
        self.code.is_none_or(|code| code == finding.code)
            && (self.names_no_place() || frames.any(|frame| self.matches_frame(frame)))
    }

    fn names_no_place(&self) -> bool {
        [&self.file, &self.func, &self.lib].into_iter().all(Option::is_none)
    }

    /// All patterns must hold for the same frame.
    fn matches_frame(&self, frame: &Frame) -> bool {
        let path = |pattern: &Option<String>, text: Option<&str>| match pattern {
            Some(pattern) => text.is_some_and(|text| matches_path(pattern, text)),
            None => true,
        };
        let function = frame.function.as_deref();
        path(&self.file, frame.file.as_deref())
            && path(&self.lib, Some(&frame.module))
            && self
                .func
                .as_ref()
                .is_none_or(|pattern| function.is_some_and(|f| matches(pattern, f)))
    }
}

fn entry(text: &str, origin: &Path, raw: Spanned<RawEntry>) -> Result<Entry, SuppressionError> {
    let line = line_at(text, raw.span().start);
    let RawEntry { code, file, func, lib, reason } = raw.into_inner();
    let error = |line, what: String| Err(SuppressionError::new(origin, Some(line), what));
    let Some(code) = code else {
        return error(line, "this entry lacks `code`, e.g. `code = \"CS-BUF-01\"`".to_owned());
    };
    let code_line = line_at(text, code.span().start);
    let code = match &*code.into_inner() {
        "*" => None,
        id => match id.parse::<Code>() {
            Ok(code) => Some(code),
            Err(unknown) => return error(code_line, unknown.to_string()),
        },
    };
    let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
        let what = "this entry lacks `reason`: say why the finding is acceptable";
        return error(line, what.to_owned());
    };
    // Places in reports are said without.
    let path = |path: Option<String>| path.map(|path| path.trim_start_matches("./").to_owned());
    let (file, lib) = (path(file), path(lib));
    let entry = Entry { code, file, func, lib, reason, origin: origin.to_owned(), line };
    if entry.code.is_none() && entry.names_no_place() {
        let what = "this entry would suppress every finding: add `file`, `func` or `lib`";
        return error(line, what.to_owned());
    }
    Ok(entry)
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.bytes().filter(|&byte| byte == b'\n').count() + 1
}

/// A suppression file for `findings`, to be completed by reasons.
pub fn gen_suppressions(findings: &[Finding]) -> String {
    let mut text = String::from(
        "# Suppressions for commsan; every entry needs a reason before the file can be used.\n",
    );
    for finding in findings {
        let place = finding.sites.iter().find(|site| !site.stack.is_empty());
        let frame = place.and_then(|site| site.stack.first());
        let value = |text: &str| toml::Value::from(text).to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n# {}", finding.message.replace('\n', " "));
        let _ = writeln!(text, "[[suppress]]\ncode = {}", value(finding.code.id()));
        if let Some(file) = place.and_then(|site| site.file.as_deref()) {
            let _ = writeln!(text, "file = {}", value(&last_components(file, 2)));
        }
        if let Some(function) = place.and_then(|site| site.function.as_deref()) {
            let _ = writeln!(text, "func = {}", value(function));
        }
        if let Some(frame) = frame.filter(|frame| frame.file.is_none() && frame.function.is_none())
        {
            let _ = writeln!(text, "lib = {}", value(&last_components(&frame.module, 1)));
        }
        text.push_str("reason = \"\"\n");
    }
    text
}

/// The end of a path, which stays the same in another checkout.
fn last_components(path: &str, count: usize) -> String {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts[parts.len().saturating_sub(count)..].join("/")
}

/// What is wrong with a suppression file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuppressionError {
    file: PathBuf,
    line: Option<usize>,
    what: String,
}

impl SuppressionError {
    fn new(file: &Path, line: Option<usize>, what: String) -> Self {
        SuppressionError { file: file.to_owned(), line, what }
    }
}

impl std::fmt::Display for SuppressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for SuppressionError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::merge;

    fn parse(text: &str) -> Result<Suppressions, String> {
        Suppressions::parse(text, Path::new("s.toml")).map_err(|error| error.to_string())
    }

    fn findings() -> Vec<Finding> {
        merge([crate::facts::tests::observation()])
    }

    #[test]
    fn entries_match_any_frame_of_any_site() {
        for (entry, matched) in [
            ("code = 'CS-BUF-01'", true),
            ("code = 'CS-BUF-02'", false),
            ("code = '*'\nfile = 'src/heat.c'", true),
            ("code = '*'\nfile = './heat.c'", true),
            ("code = '*'\nfunc = 'exch*'", true),
            ("code = '*'\nlib = 'heat'", true),
            ("code = '*'\nlib = 'libhdf5*'", false),
            ("code = '*'\nfile = 'heat.c'\nfunc = 'main'", false),
        ] {
            let suppressions = parse(&format!("[[suppress]]\n{entry}\nreason = 'r'")).unwrap();
            let (kept, done) = suppressions.apply(findings());
            assert_eq!((kept.len(), done[0].findings), if matched { (0, 1) } else { (1, 0) });
        }
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        for (text, error) in [
            ("\n[[suppress]]\nreason = 'r'", "s.toml:2: this entry lacks `code`"),
            ("[[suppress]]\ncode = 'CS-BUF-01'", "s.toml:1: this entry lacks `reason`"),
            ("[[suppress]]\ncode = 'CS-BUF-01'\nreason = ' '", "s.toml:1: this entry lacks"),
            ("[[suppress]]\n\ncode = 'X'\nreason = 'r'", "s.toml:3: `X` is not a finding code"),
            ("[[suppress]]\ncode = '*'\nreason = 'r'", "s.toml:1: this entry would suppress every"),
            ("[[suppress]]\ncodes = '*'", "s.toml:2: unknown field `codes`"),
            ("\n\ncode 'x'", "s.toml:3: "),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.starts_with(error), "{message}");
        }
        let one_bracket = parse("[suppress]\ncode = 'CS-BUF-01'").unwrap_err();
        assert!(one_bracket.contains("`[[suppress]]`"), "{one_bracket}");
        let missing = Suppressions::load(Path::new("/nonexistent")).unwrap_err().to_string();
        assert!(missing.starts_with("/nonexistent: "), "{missing}");
    }

    #[test]
    fn generated_entries_lack_only_their_reason() {
        let text = gen_suppressions(&findings());
        assert!(parse(&text).unwrap_err().contains("reason"));
        let (kept, _) = parse(&text.replace("\"\"", "'why'")).unwrap().apply(findings());
        assert_eq!(kept, []);
    }
}
