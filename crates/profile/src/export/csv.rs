//! Tables as CSV.

use super::{Sink, Table, Value};
use std::io::{self, Write};

/// Writes one table.
pub struct Writer<W: Write>(csv::Writer<W>);

impl<W: Write> Writer<W> {
    /// Begins with the names of the columns.
    pub fn new(file: W, table: &Table) -> io::Result<Writer<W>> {
        let mut writer = csv::WriterBuilder::new().from_writer(file);
        writer.write_record(table.columns.iter().map(|column| column.name))?;
        Ok(Writer(writer))
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether spreadsheets would compute what is a name here: with an apostrophe in front they do not.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

impl<W: Write> Sink for Writer<W> {
    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        for value in values {
            match value {
                Value::Text(text) if is_formula(text) => self.0.write_field(format!("'{text}"))?,
                Value::Text(text) => self.0.write_field(text)?,
                Value::Integer(number) => self.0.write_field(number.to_string())?,
                Value::Real(number) => self.0.write_field(number.to_string())?,
                Value::Null => self.0.write_field("")?,
            }
        }
        self.0.write_record(None::<&[u8]>)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tables;

    #[test]
    fn names_are_no_formulas() {
        let mut file = Vec::new();
        let places = tables::TABLES.iter().find(|table| table.name == "places").unwrap();
        let mut writer = Writer::new(&mut file, places).unwrap();
        let text = |text| Value::Text(text);
        let (none, number) = (Value::Null, Value::Integer(-1));
        let row = [text("=1+1"), text("-x"), text("a=b"), none, number, Value::Null, Value::Null];
        writer.row(&row).unwrap();
        writer.finish().unwrap();
        let file = String::from_utf8(file).unwrap();
        assert_eq!(file.lines().nth(1), Some("'=1+1,'-x,a=b,,-1,,"));
    }
}
