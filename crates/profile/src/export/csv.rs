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

impl<W: Write> Sink for Writer<W> {
    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        for value in values {
            match value {
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
