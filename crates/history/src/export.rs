//! Studies as files of others: whole as JSON, figure by figure as CSV and Parquet.

mod csv;
mod json;
mod parquet;
mod rows;

pub use self::csv::write_csv;
pub(crate) use self::json::read_json;
pub use self::json::write_json;
pub use self::parquet::write_parquet;
pub(crate) use self::rows::{FigureRow, rows};
