//! Tables as Parquet, by the format's own columns: none of Arrow is needed for that.

use super::{Column, Sink, Table, Type, Value};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type as Schema, TypePtr};
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are written at once: what readers take in one piece, and what has to fit into memory.
const GROUP: usize = 1 << 16;

/// Writes one table.
pub struct Writer<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
}

/// Values of a column that are not written yet; which of them are there.
struct Values {
    optional: bool,
    there: Vec<i16>,
    data: Data,
}

enum Data {
    Text(Texts),
    Integer(Vec<i64>),
    Real(Vec<f64>),
}

/// Texts, of which most are there many times: those that are equal share their bytes.
#[derive(Default)]
struct Texts {
    all: Vec<ByteArray>,
    known: FxHashMap<String, ByteArray>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        let last = self.all.last().filter(|last| last.data() == text.as_bytes());
        let text = match last.or_else(|| self.known.get(text)) {
            Some(known) => known.clone(),
            None => {
                let new = ByteArray::from(text);
                self.known.insert(text.to_owned(), new.clone());
                new
            }
        };
        self.all.push(text);
    }

    fn clear(&mut self) {
        self.all.clear();
        self.known.clear();
    }
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file.
    pub fn new(file: W, table: &Table) -> io::Result<Writer<W>> {
        let fields = table.columns.iter().map(field).collect::<Result<Vec<_>, _>>();
        let schema = fields
            .and_then(|fields| Schema::group_type_builder(table.name).with_fields(fields).build());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer =
            SerializedFileWriter::new(file, Arc::new(schema.map_err(io)?), properties.into());
        let columns = table.columns.iter().map(Values::of).collect();
        Ok(Writer { writer: writer.map_err(io)?, columns, rows: 0 })
    }

    /// Writes what is left, and the directory of the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_group()?;
        self.writer.close().map_err(io)?;
        Ok(())
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(io)?;
        for column in &mut self.columns {
            if let Some(mut writer) = group.next_column().map_err(io)? {
                column.write(&mut writer).map_err(io)?;
                writer.close().map_err(io)?;
            }
        }
        group.close().map_err(io)?;
        self.rows = 0;
        Ok(())
    }
}

impl<W: Write + Send> Sink for Writer<W> {
    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(*value);
        }
        self.rows += 1;
        if self.rows == GROUP { self.write_group() } else { Ok(()) }
    }
}

impl Values {
    fn of(column: &Column) -> Values {
        let data = match column.kind {
            Type::Text => Data::Text(Texts::default()),
            Type::Integer => Data::Integer(vec![]),
            Type::Real => Data::Real(vec![]),
        };
        Values { optional: column.optional, there: vec![], data }
    }

    fn push(&mut self, value: Value<'_>) {
        match (&mut self.data, value) {
            (Data::Text(texts), Value::Text(text)) => texts.push(text),
            (Data::Integer(all), Value::Integer(number)) => all.push(number),
            (Data::Real(all), Value::Real(number)) => all.push(number),
            (_, value) => {
                debug_assert!(
                    value == Value::Null && self.optional,
                    "{value:?} is not of its column"
                );
                self.there.push(0);
                return;
            }
        }
        self.there.push(1);
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let there = self.optional.then_some(&*self.there);
        match &mut self.data {
            Data::Text(texts) => {
                writer.typed::<ByteArrayType>().write_batch(&texts.all, there, None)?;
                texts.clear();
            }
            Data::Integer(all) => {
                writer.typed::<Int64Type>().write_batch(all, there, None)?;
                all.clear();
            }
            Data::Real(all) => {
                writer.typed::<DoubleType>().write_batch(all, there, None)?;
                all.clear();
            }
        }
        self.there.clear();
        Ok(())
    }
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        Type::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Type::Integer => (Physical::INT64, None),
        Type::Real => (Physical::DOUBLE, None),
    };
    let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = Schema::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()?;
    Ok(Arc::new(field))
}

fn io(error: ParquetError) -> io::Error {
    match error {
        // A full disk should be reported as such.
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
