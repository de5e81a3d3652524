//! What was measured: before and after, and the amounts of each image.

use std::io::Write as _;

use coldpress_bench::BootRow;
use coldpress_bench::stats::{Summary, TURNS_FOR_VERDICT, median};
use coldpress_bench::text::interval_of_ratio;
use coldpress_history::Study;
use coldpress_report::text::{escaped, plural, wrapped};
use coldpress_report::units::{bytes, count, ratio, seconds};
use coldpress_session::ui::Ui;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

const AMOUNTS: [&str; 8] = [
    "image",
    "size",
    "boot",
    "quartiles",
    "kernel",
    "processors",
    "reads",
    "bytes read",
];

const SAVINGS: [&str; 6] = ["before", "", "after", "", "saved", "percent"];

/// Prints the tables and what can be said of them to standard output.
pub(super) fn print(study: &Study, rows: &[BootRow], ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    let width = out.width();
    writeln!(out, "{}", wrapped(&conditions(study), width))?;
    writeln!(out, "\n{}", amounts(study))?;
    if !rows.is_empty() {
        writeln!(out, "\n{}", savings(rows))?;
    }
    let answers: Vec<String> = rows.iter().map(answer).chain(exclusions(study)).collect();
    if !answers.is_empty() {
        writeln!(out)?;
    }
    for sentence in answers {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    out.flush()?;
    Ok(())
}

/// One line on what everything depends on.
fn conditions(study: &Study) -> String {
    let fact = |name: &str| {
        let value = study.facts.get(name).map_or("", String::as_str);
        escaped(value.as_bytes())
    };
    let accelerator = match study.facts.get("accelerator").map(String::as_str) {
        Some("tcg") => "no KVM: the processor is imitated".to_owned(),
        _ => fact("accelerator"),
    };
    let cpus = fact("guest_cpus").parse().unwrap_or(0);
    format!(
        "{}, device {}; QEMU {}, {accelerator}, {}, {}; seed {}",
        fact("cpu_model"),
        fact("device"),
        fact("qemu"),
        plural(cpus, "processor", "processors"),
        fact("guest_memory"),
        fact("seed"),
    )
}

/// Medians of each image.
fn amounts(study: &Study) -> String {
    let mut table = empty(&AMOUNTS);
    for (index, contestant) in study.contestants.iter().enumerate() {
        let values = |figure: &str| study.values(index, figure);
        let time = |figure| median(&values(figure)).map_or("-".to_owned(), seconds);
        let amount = |figure, format: fn(u64) -> String| {
            let value = median(&values(figure)).map(whole);
            value.map_or("-".to_owned(), format)
        };
        let quartiles = Summary::new(&values("boot_s")).map_or("-".to_owned(), |summary| {
            let ends = [summary.lower_quartile, summary.upper_quartile];
            ends.map(seconds).join(" to ")
        });
        let size = contestant.figures.get("size_bytes").copied().map(whole);
        table.add_row([
            escaped(contestant.name.as_bytes()),
            size.map_or("-".to_owned(), bytes),
            time("boot_s"),
            quartiles,
            time("kernel_s"),
            time("cpu_s"),
            amount("reads", count),
            amount("read_bytes", bytes),
        ]);
    }
    aligned(table, 1)
}

/// The table of the study of Tails.
fn savings(rows: &[BootRow]) -> String {
    let mut table = empty(&SAVINGS);
    for row in rows {
        table.add_row([
            escaped(row.before.as_bytes()),
            seconds(row.before_s),
            escaped(row.after.as_bytes()),
            seconds(row.after_s),
            seconds(row.saved_s),
            format!("{:.0} %", row.saved_percent),
        ]);
    }
    aligned(table, 1)
}

fn empty(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(columns);
    table
}

fn aligned(mut table: Table, first: usize) -> String {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

fn answer(row: &BootRow) -> String {
    let [before, after] = [&row.before, &row.after].map(|name| escaped(name.as_bytes()));
    let Some(found) = row.ratio else {
        return format!("{after} and {before} have no counted boot in the same turn.");
    };
    let value = ratio(found.value);
    let words = format!("{after} boots in {value} of the time of {before}");
    if found.turns < TURNS_FOR_VERDICT {
        let turns = plural(found.turns as u64, "turn is", "turns are");
        return format!("{turns} too few for a verdict ({TURNS_FOR_VERDICT} are needed): {words}.");
    }
    let interval = interval_of_ratio(&found.interval);
    format!("{words} ({interval}): {}.", found.verdict)
}

fn exclusions(study: &Study) -> Vec<String> {
    let excluded = study.runs.iter().filter_map(|run| {
        let (reason, contestant) = (
            run.excluded.as_ref()?,
            study.contestants.get(run.contestant)?,
        );
        let (name, turn) = (escaped(contestant.name.as_bytes()), run.turn + 1);
        let reason = escaped(reason.as_bytes());
        Some(format!("Turn {turn} of {name} does not count: {reason}."))
    });
    excluded.collect()
}

/// A count or a size, which was a whole number when it was measured; a median may lie between two.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of reads and bytes are above 0 and below 2^53"
)]
fn whole(value: f64) -> u64 {
    value as u64
}
