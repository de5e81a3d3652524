//! The tables that are known: their columns, who published them, and what a row means.

use super::{Measured, Row, Table};
use crate::error::Error;
use crate::study::{BASELINE, Kind};

/// 2023-10-27.
const PART_3_UNIX_MS: u64 = 1_698_364_800_000;
const FOLZ: &str = "J. Folz, \"Image Compression, Part 3\", 2023-10-27";
const TAILS: &str = "Tails, \"Consider switching SquashFS compression to zstd\"";
const PYTORCH: &str = "pytorch 2.1.0-cuda12.1-cudnn8-devel";

pub(super) const TABLES: [Table; 5] = [
    Table {
        columns: &[
            "app",
            "format",
            "launch1_ms_median",
            "launch2_ms_median",
            "size_mb",
        ],
        kind: Kind::Launch,
        title: "starts of four snaps by compressor",
        began_unix_ms: 0,
        citation: "I. Johnson, \"Squashfs performance effect on snap startup time\", and its data \
        repository",
        facts: &[
            (
                "samples",
                "medians of 10, computed from the published raw log",
            ),
            ("machine", "laptop"),
            ("note", "the first start includes what a snap sets up once"),
        ],
        measured: launch,
    },
    Table {
        columns: &[
            "computer",
            "usb_stick",
            "xz_s",
            "zstd22_s",
            "seconds_saved",
            "percent_saved",
        ],
        kind: Kind::Boot,
        title: "boots of Tails from USB sticks, xz and zstd",
        began_unix_ms: 0,
        citation: TAILS,
        facts: &[("boot", "from the boot menu to the desktop")],
        measured: boot,
    },
    Table {
        columns: &["system", "compressor", "preset", "compress_s"],
        kind: Kind::Build,
        title: "compressing Tails, xz and zstd",
        began_unix_ms: 0,
        citation: TAILS,
        facts: &[],
        measured: compress,
    },
    Table {
        columns: &[
            "block_size",
            "zstd_level",
            "threads",
            "utilization_cores",
            "export_s",
            "size_percent",
        ],
        kind: Kind::Build,
        title: "enroot export by block size and level",
        began_unix_ms: PART_3_UNIX_MS,
        citation: FOLZ,
        facts: &[("source", PYTORCH)],
        measured: export,
    },
    Table {
        columns: &[
            "threads",
            "block_size",
            "zstd_level",
            "create_s",
            "utilization_cores",
        ],
        kind: Kind::Build,
        title: "enroot create by threads, block size and level",
        began_unix_ms: PART_3_UNIX_MS,
        citation: FOLZ,
        facts: &[("source", PYTORCH), ("samples", "medians of 5")],
        measured: create,
    },
];

fn launch(row: &Row<'_>) -> Result<Vec<Measured>, Error> {
    let (app, format) = (row.text("app"), row.text("format"));
    let size_bytes = row
        .optional("size_mb")?
        .map(|size_mb| ("size_bytes", size_mb * 1e6));
    Ok(vec![Measured {
        name: format!("{app}, {format}"),
        facts: vec![
            ("app", app.to_owned()),
            ("compressor", format.to_owned()),
            (BASELINE, format!("{app}, try")),
        ],
        own: size_bytes.into_iter().collect(),
        run: vec![
            ("cold_s", row.number("launch1_ms_median")? / 1e3),
            ("warm_s", row.number("launch2_ms_median")? / 1e3),
        ],
    }])
}

fn boot(row: &Row<'_>) -> Result<Vec<Measured>, Error> {
    let (computer, stick) = (row.text("computer"), row.text("usb_stick"));
    let of = |compressor: &str, boot_s: f64| Measured {
        name: format!("{computer}, {stick}, {compressor}"),
        facts: vec![
            ("computer", computer.to_owned()),
            ("device", stick.to_owned()),
            ("compressor", compressor.to_owned()),
            (BASELINE, format!("{computer}, {stick}, xz")),
        ],
        own: Vec::new(),
        run: vec![("boot_s", boot_s)],
    };
    let mut zstd = of("zstd 22", row.number("zstd22_s")?);
    zstd.facts.push(("level", "22".to_owned()));
    Ok(vec![of("xz", row.number("xz_s")?), zstd])
}

fn compress(row: &Row<'_>) -> Result<Vec<Measured>, Error> {
    let [system, compressor, preset] = ["system", "compressor", "preset"].map(|it| row.text(it));
    Ok(vec![Measured {
        name: format!("{system}, {compressor}, {preset}"),
        facts: vec![
            ("computer", system.to_owned()),
            ("compressor", compressor.to_owned()),
            ("preset", preset.to_owned()),
            (BASELINE, format!("{system}, xz, {preset}")),
        ],
        own: Vec::new(),
        run: vec![("build_s", row.number("compress_s")?)],
    }])
}

fn export(row: &Row<'_>) -> Result<Vec<Measured>, Error> {
    let mut measured = enroot(row)?;
    measured
        .own
        .push(("size_percent", row.number("size_percent")?));
    measured.run.push(("build_s", row.number("export_s")?));
    Ok(vec![measured])
}

fn create(row: &Row<'_>) -> Result<Vec<Measured>, Error> {
    let mut measured = enroot(row)?;
    measured.run.push(("unpack_s", row.number("create_s")?));
    Ok(vec![measured])
}

/// What both tables of enroot have.
fn enroot(row: &Row<'_>) -> Result<Measured, Error> {
    let [block_size, level, threads] =
        ["block_size", "zstd_level", "threads"].map(|it| row.text(it));
    Ok(Measured {
        name: format!("zstd {level}, {block_size}, {threads} threads"),
        facts: vec![
            ("compressor", "zstd".to_owned()),
            ("level", level.to_owned()),
            ("threads", threads.to_owned()),
        ],
        own: vec![("block_size_bytes", row.block_size_bytes("block_size")?)],
        run: vec![("used_cores", row.number("utilization_cores")?)],
    })
}
