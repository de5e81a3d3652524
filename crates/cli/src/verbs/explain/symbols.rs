//! Orders of symbols, for linkers.

use std::path::Path;

use coldpress_explain::{ElfCost, Findings, Linker, is_meant, symbol_order};
use coldpress_report::text::{plural, quoted, quoted_bytes};
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::steps;
use crate::verbs::explain::args::SymbolOrder;

/// The orders that are asked for, with the files that they are written to.
pub(super) struct Orders<'a>(Vec<(&'a SymbolOrder, Output)>);

impl<'a> Orders<'a> {
    /// # Errors
    ///
    /// If a file cannot be created.
    pub(super) fn create(orders: &'a [SymbolOrder]) -> anyhow::Result<Self> {
        let outputs = orders
            .iter()
            .map(|order| Ok((order, Output::create(&order.output)?)));
        outputs.collect::<anyhow::Result<_>>().map(Self)
    }

    /// Whether the order of this file is asked for.
    pub(super) fn want(&self, path: &[u8]) -> bool {
        self.0.iter().any(|(order, _)| is_meant(&order.file, path))
    }

    /// Writes them; returns whether one of them could not be told.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(super) fn write(
        self,
        findings: &Findings,
        linker: Linker,
        ui: &Ui,
    ) -> anyhow::Result<bool> {
        let mut is_one_missing = false;
        for (order, output) in self.0 {
            match findings.program(&order.file) {
                Ok(cost) => {
                    let text = symbol_order(&cost.order, linker);
                    steps::write_small(output, &text)?;
                    say(&order.output, cost, ui);
                }
                Err(why) => {
                    ui.error(&format!("no order of {}: {why}", quoted_bytes(&order.file)));
                    is_one_missing = true;
                }
            }
        }
        Ok(is_one_missing)
    }
}

fn say(output: &Path, cost: &ElfCost, ui: &Ui) {
    ui.say(&format!(
        "{}: {} in the order of their first use, of {}",
        quoted(output),
        plural(cost.order.len() as u64, "function", "functions"),
        plural(cost.functions, "function", "functions"),
    ));
}
