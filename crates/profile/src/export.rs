//! Tables of a run for other tools: one description of each, read by every writer and by the
//! documentation.

mod chrome;
mod csv;
mod parquet;
mod tables;

pub use chrome::chrome_trace;

use crate::Profile;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// A table.
pub struct Table {
    /// Its name, and that of its file without the extension.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    fill: fn(&Profile, &mut dyn Sink) -> io::Result<()>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Type,
    /// Whether a value may be missing.
    pub optional: bool,
    /// What they mean.
    pub about: &'static str,
}

/// Types of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// UTF-8.
    Text,
    /// 64 bits; what is larger is the largest.
    Integer,
    /// 64 bits.
    Real,
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'v> {
    /// Of [`Type::Text`].
    Text(&'v str),
    /// Of [`Type::Integer`].
    Integer(i64),
    /// Of [`Type::Real`].
    Real(f64),
    /// Missing.
    Null,
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Value::Text(text)
    }
}

/// Where rows go.
trait Sink {
    /// Takes a row: a value for each column.
    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()>;
}

/// Tables that are written, in this order.
pub use tables::TABLES;

/// Pairs of places that collectives are taken apart into, in all; the largest groups stay whole
/// first.
pub const MAX_PAIRS: u64 = 1 << 20;

/// Formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with Snappy.
    Parquet,
    /// RFC 4180, with a line of names.
    Csv,
}

impl Format {
    /// Of file names.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }
}

/// Writes all tables into a directory, each as `NAME.EXTENSION`; a reader sees whole files only.
///
/// # Errors
/// When one cannot be written.
pub fn write_tables(profile: &Profile, directory: &Path, format: Format) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for table in TABLES {
        let name = format!("{}.{}", table.name, format.extension());
        let new = directory.join(format!(".{name}.{}", std::process::id()));
        let written = write_table(profile, table, &new, format)
            .and_then(|()| std::fs::rename(&new, directory.join(&name)));
        if let Err(error) = written {
            // A part of it is of no use to anyone.
            let _ = std::fs::remove_file(&new);
            return Err(io::Error::new(error.kind(), format!("`{name}`: {error}")));
        }
    }
    Ok(())
}

fn write_table(profile: &Profile, table: &Table, path: &Path, format: Format) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    match format {
        Format::Parquet => {
            let mut sink = parquet::Writer::new(file, table)?;
            (table.fill)(profile, &mut sink)?;
            sink.finish()
        }
        Format::Csv => {
            let mut sink = csv::Writer::new(file, table)?;
            (table.fill)(profile, &mut sink)?;
            sink.finish()
        }
    }
}

/// The tables as Markdown, for the documentation.
pub fn markdown() -> String {
    let mut text = String::new();
    for table in TABLES {
        text.push_str(&format!("## `{}`\n\n{}\n\n", table.name, table.about));
        text.push_str("| column | type | meaning |\n|---|---|---|\n");
        for column in table.columns {
            let kind = match column.kind {
                Type::Text => "text",
                Type::Integer => "integer",
                Type::Real => "real",
            };
            let optional = if column.optional { " or null" } else { "" };
            text.push_str(&format!(
                "| `{}` | {kind}{optional} | {} |\n",
                column.name, column.about
            ));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_these_tables() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/profile-tables.md");
        let text = std::fs::read_to_string(file).unwrap();
        let (begin, end) = ("<!-- tables: generated -->\n\n", "<!-- end of tables -->");
        let start =
            text.find(begin).expect("docs/profile-tables.md marks its tables") + begin.len();
        let stop = start + text[start..].find(end).expect("docs/profile-tables.md ends them");
        if std::env::var_os("BLESS").is_some() {
            let blessed = format!("{}{}{}", &text[..start], markdown(), &text[stop..]);
            std::fs::write(file, blessed).unwrap();
        } else {
            assert_eq!(text[start..stop], markdown(), "bless it with `make bless`");
        }
    }
}
