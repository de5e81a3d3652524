//! `coldpress cache`.

pub(crate) mod args;

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use coldpress_container::{Cache, CachedBlob, CachedImage};
use coldpress_report::text::{escaped_path, plural};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::registries::cache_directory;
use args::{CacheArgs, CacheLsArgs, CachePruneArgs, CacheVerb};

const DAY_S: u64 = 86_400;

/// Something that is kept.
#[derive(Debug, Serialize)]
struct Row {
    /// Of a part of a container image.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The file of an image that was built from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    bytes: u64,
    whole: bool,
    /// Seconds since 1970.
    used: u64,
}

pub(super) fn run(args: &CacheArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        CacheVerb::Ls(args) => list(args, ui),
        CacheVerb::Prune(args) => prune(args, ui),
    }
}

fn list(args: &CacheLsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let cache = Cache::open(&cache_directory(args.cache.clone())?)?;
    let rows = rows(&cache.list()?, &cache.list_images()?);
    if args.json {
        ui.json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    for row in &rows {
        let used = SystemTime::UNIX_EPOCH + Duration::from_secs(row.used);
        let days = used.elapsed().unwrap_or_default().as_secs() / DAY_S;
        let size = units::bytes(row.bytes);
        let name = row.digest.as_ref().or(row.image.as_ref());
        let name = name.map_or("", String::as_str);
        let state = if row.whole { "" } else { "  not whole" };
        writeln!(out, "{size:>10} {days:>5} d  {name}{state}")?;
    }
    out.flush()?;
    ui.say(&summary(&rows));
    Ok(Exit::Done)
}

fn prune(args: &CachePruneArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let age = Duration::from_secs(u64::from(args.older_than) * DAY_S);
    let now = SystemTime::now();
    // Of what was used in this moment, too, nothing is kept.
    let before = if args.older_than == 0 {
        now + Duration::from_secs(DAY_S)
    } else {
        now - age
    };
    let directory = cache_directory(args.cache.clone())?;
    let blobs = Cache::prune(&directory, before)?;
    let images = Cache::prune_images(&directory, before)?;
    let removed = summary(&rows(&blobs, &images));
    ui.say(&format!("removed {removed}"));
    Ok(Exit::Done)
}

fn rows(blobs: &[CachedBlob], images: &[CachedImage]) -> Vec<Row> {
    let blobs = blobs.iter().map(|blob| Row {
        digest: Some(blob.digest.to_string()),
        image: None,
        bytes: blob.size_bytes,
        whole: blob.is_whole,
        used: unix_s(blob.used),
    });
    let images = images.iter().map(|image| Row {
        digest: None,
        image: Some(escaped_path(&image.path)),
        bytes: image.size_bytes,
        whole: true,
        used: unix_s(image.used),
    });
    blobs.chain(images).collect()
}

fn unix_s(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// `1.2 GiB in 31 parts and 2 images`
fn summary(rows: &[Row]) -> String {
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let images = rows.iter().filter(|row| row.image.is_some()).count();
    let parts = plural((rows.len() - images) as u64, "part", "parts");
    let images = match images {
        0 => String::new(),
        images => format!(" and {}", plural(images as u64, "image", "images")),
    };
    format!("{} in {parts}{images}", units::bytes(bytes))
}
