//! Figures as Parquet, for tools that read columns.

use std::io::Write;
use std::sync::Arc;

use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;

use super::{FigureRow, rows};
use crate::error::Error;
use crate::studies::StudyId;
use crate::study::Study;

/// The same columns as in CSV; those that may be empty there are optional.
const SCHEMA: &str = "message figures {
    REQUIRED INT64 study;
    REQUIRED BYTE_ARRAY kind (STRING);
    REQUIRED BYTE_ARRAY title (STRING);
    OPTIONAL INT64 began (TIMESTAMP(MILLIS, true));
    REQUIRED BYTE_ARRAY contestant (STRING);
    OPTIONAL INT32 turn (INTEGER(32, false));
    OPTIONAL BYTE_ARRAY excluded (STRING);
    REQUIRED BYTE_ARRAY figure (STRING);
    REQUIRED BYTE_ARRAY unit (STRING);
    REQUIRED DOUBLE value;
}";

/// A row group is written from memory: some megabytes.
const ROWS_IN_GROUP: usize = 1 << 16;

/// Writes a row for each figure.
///
/// Texts that repeat are stored once for each group of rows (dictionary encoding), so nothing is
/// compressed besides.
///
/// # Errors
///
/// [`Error::Parquet`] if it cannot be written.
pub fn write_parquet(
    studies: &[(StudyId, Study)],
    out: &mut (impl Write + Send),
) -> Result<(), Error> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(out, schema, properties)?;
    let mut rows = rows(studies);
    loop {
        let group: Vec<FigureRow<'_>> = rows.by_ref().take(ROWS_IN_GROUP).collect();
        if group.is_empty() {
            break;
        }
        write_group(&mut writer, &group)?;
    }
    writer.close()?;
    Ok(())
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    rows: &[FigureRow<'_>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    let mut columns = Columns {
        group: &mut group,
        rows,
    };
    columns.write::<Int64Type>(|row| Some(row.id))?;
    columns.write::<ByteArrayType>(|row| Some(row.study.kind.name().into()))?;
    columns.write::<ByteArrayType>(|row| Some(row.study.title.as_str().into()))?;
    columns.write::<Int64Type>(FigureRow::began_unix_ms)?;
    columns.write::<ByteArrayType>(|row| Some(row.contestant.into()))?;
    // Unsigned numbers are stored in the bits of signed ones.
    columns.write::<Int32Type>(|row| row.turn.map(u32::cast_signed))?;
    columns.write::<ByteArrayType>(|row| row.excluded.map(ByteArray::from))?;
    columns.write::<ByteArrayType>(|row| Some(row.figure.into()))?;
    columns.write::<ByteArrayType>(|row| Some(row.unit().name().into()))?;
    columns.write::<DoubleType>(|row| Some(row.value))?;
    group.close()?;
    Ok(())
}

/// The columns of a group of rows, written one after the other in the order of [`SCHEMA`].
struct Columns<'a, 'g, W: Write> {
    group: &'g mut SerializedRowGroupWriter<'a, W>,
    rows: &'g [FigureRow<'g>],
}

impl<'g, W: Write + Send> Columns<'_, 'g, W> {
    /// Writes the next column; `None` is null.
    fn write<T: DataType>(
        &mut self,
        value: impl Fn(&FigureRow<'g>) -> Option<T::T>,
    ) -> Result<(), ParquetError> {
        let Some(mut column) = self.group.next_column()? else {
            return Err(ParquetError::General(
                "the schema has fewer columns".to_owned(),
            ));
        };
        let found: Vec<Option<T::T>> = self.rows.iter().map(value).collect();
        // 1 where there is a value.
        let levels: Vec<i16> = found.iter().map(|value| value.is_some().into()).collect();
        let values: Vec<T::T> = found.into_iter().flatten().collect();
        column
            .typed::<T>()
            .write_batch(&values, Some(&levels), None)?;
        column.close()
    }
}
