//! What several updaters transfer, as JSON and as a table.

use coldpress_report::{Table, units};
use serde::Serialize;

use crate::cause::{Cause, CauseBytes};
use crate::regions::Region;
use crate::transfer::Transfer;
use crate::updater::Updater;

/// What updaters transfer from one file to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The old file.
    pub first: String,
    /// The new file.
    pub second: String,
    /// Length of the old file.
    pub first_bytes: u64,
    /// Length of the new file.
    pub second_bytes: u64,
    /// Bytes of the new file by what they would be transferred for.
    pub regions: CauseBytes,
    /// One for each updater that was asked.
    pub updaters: Vec<Row>,
}

/// What one updater transfers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub updater: &'static str,
    /// Everything that it transfers.
    pub bytes: u64,
    /// That beside the length of the new file.
    pub share: Option<f64>,
    /// Whether the causes are those of the parts that it fetched, not spread over all that changed.
    pub is_located: bool,
    /// Everything by cause.
    pub causes: CauseBytes,
}

impl Report {
    /// Adds what an updater transfers.
    pub fn add(&mut self, updater: Updater, transfer: &Transfer, regions: &[Region]) {
        self.updaters.push(Row {
            updater: updater.name(),
            bytes: transfer.bytes(),
            share: units::share(transfer.bytes(), self.second_bytes),
            is_located: transfer.patch_bytes == 0,
            causes: transfer.by_cause(regions),
        });
    }

    /// A row for each updater, a column for each cause that any has.
    pub fn table(&self) -> Table {
        let mut causes = Cause::ALL.to_vec();
        causes.retain(|cause| self.updaters.iter().any(|row| row.causes.of(*cause) > 0));
        let fixed = ["updater", "transfers", "share"];
        let columns = fixed.into_iter().chain(causes.iter().map(|it| it.text()));
        let row = |row: &Row| {
            let share = row.share.unwrap_or_default() * 100.0;
            let bytes = causes.iter().map(|cause| row.causes.of(*cause));
            let first = [
                row.updater.to_owned(),
                units::bytes(row.bytes),
                format!("{share:.1} %"),
            ];
            first.into_iter().chain(bytes.map(units::bytes)).collect()
        };
        Table {
            columns: columns.map(ToOwned::to_owned).collect(),
            rows: self.updaters.iter().map(row).collect(),
        }
    }
}
