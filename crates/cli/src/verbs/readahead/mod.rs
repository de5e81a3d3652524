//! `coldpress readahead`: how far the kernel reads ahead in mounted images.

pub(crate) mod args;
mod on_boot;

use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_host::{MountReadahead, Readahead, SquashfsMount};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, quoted};
use coldpress_report::units::bytes;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::verbs::readahead::args::ReadaheadVerbArgs;

/// A mount or device and its setting, for `--json`.
#[derive(Debug, Serialize)]
struct Row {
    /// Where it is mounted, or the device.
    target: String,
    /// The image file or the device, if it is a SquashFS.
    image: Option<String>,
    /// Where the kernel keeps it.
    setting: String,
    readahead_bytes: u64,
}

/// What has a setting.
struct Target {
    name: PathBuf,
    image: Option<PathBuf>,
    setting: MountReadahead,
}

pub(super) fn run(args: &ReadaheadVerbArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let kib = args.set.map(Readahead::kib_of_bytes).transpose();
    let kib = kib.map_err(|why| anyhow!("`--set`: {why}"))?;
    if let Some(text) = on_boot::text(args, kib)? {
        let mut out = ui.out();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let targets = match &args.target {
        Some(path) => targets(path)?,
        None if kib.is_some() => {
            let error = anyhow!("`--set` changes one mount, and none is given");
            return Err(hint(error, "`coldpress readahead` lists mounted images"));
        }
        None => all_mounts()?,
    };
    let mut rows = Vec::new();
    for target in &targets {
        if let Some(kib) = kib {
            let set = target.setting.set_kib(kib);
            set.map_err(|error| hint(anyhow!(error), "run it as root"))?;
        }
        rows.push(Row {
            target: escaped_path(&target.name),
            image: target.image.as_deref().map(escaped_path),
            setting: escaped_path(target.setting.path()),
            readahead_bytes: target.setting.kib()? * 1024,
        });
    }
    let printed = if args.json {
        ui.json(&rows)
    } else {
        print(&rows, ui)
    };
    unless_stdout_closed(printed)?;
    Ok(Exit::Done)
}

fn print(rows: &[Row], ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    for row in rows {
        let of = row
            .image
            .as_ref()
            .map_or_else(String::new, |image| format!("  {image}"));
        writeln!(out, "{:>9}  {}{of}", bytes(row.readahead_bytes), row.target)?;
    }
    out.flush()?;
    if rows.is_empty() {
        ui.say("no SquashFS image is mounted");
    }
    Ok(())
}

fn all_mounts() -> anyhow::Result<Vec<Target>> {
    SquashfsMount::all()?.into_iter().map(of_mount).collect()
}

fn of_mount(mount: SquashfsMount) -> anyhow::Result<Target> {
    let (major, minor) = mount.device_number;
    Ok(Target {
        setting: MountReadahead::of_device(major, minor)?,
        name: mount.root,
        image: Some(mount.image),
    })
}

/// The mounts of an image file, or the one mount or device that a path is.
fn targets(path: &Path) -> anyhow::Result<Vec<Target>> {
    let cannot = || format!("cannot read {}", quoted(path));
    let path = &path.canonicalize().with_context(cannot)?;
    let metadata = path.metadata().with_context(cannot)?;
    let kind = metadata.file_type();
    if kind.is_file() {
        let mounts = SquashfsMount::all()?.into_iter();
        let of_image: Vec<SquashfsMount> = mounts.filter(|it| it.image == *path).collect();
        if of_image.is_empty() {
            let error = anyhow!("{} is not mounted", quoted(path));
            return Err(hint(error, "`coldpress readahead` lists mounted images"));
        }
        return of_image.into_iter().map(of_mount).collect();
    }
    let number = if kind.is_block_device() {
        metadata.rdev()
    } else {
        metadata.dev()
    };
    let setting = MountReadahead::of_device(rustix::fs::major(number), rustix::fs::minor(number))?;
    Ok(vec![Target {
        name: path.clone(),
        image: None,
        setting,
    }])
}
