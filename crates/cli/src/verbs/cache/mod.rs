//! `coldpress cache`.

pub(crate) mod args;

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use coldpress_container::{Cache, CachedBlob};
use coldpress_report::text::plural;
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::registries::cache_directory;
use args::{CacheArgs, CacheLsArgs, CachePruneArgs, CacheVerb};

const DAY_S: u64 = 86_400;

/// A part that is kept.
#[derive(Debug, Serialize)]
struct Row {
    digest: String,
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
    let blobs = Cache::open(&cache_directory(args.cache.clone())?)?.list()?;
    if args.json {
        let rows: Vec<Row> = blobs.iter().map(Row::new).collect();
        ui.json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    for blob in &blobs {
        let size = units::bytes(blob.size_bytes);
        let days = blob.used.elapsed().unwrap_or_default().as_secs() / DAY_S;
        let state = if blob.is_whole { "" } else { "  not whole" };
        writeln!(out, "{size:>10} {days:>5} d  {}{state}", blob.digest)?;
    }
    out.flush()?;
    ui.say(&summary(&blobs));
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
    let removed = Cache::prune(&cache_directory(args.cache.clone())?, before)?;
    ui.say(&format!("removed {}", summary(&removed)));
    Ok(Exit::Done)
}

/// `1.2 GiB in 31 parts`
fn summary(blobs: &[CachedBlob]) -> String {
    let bytes = blobs.iter().map(|blob| blob.size_bytes).sum();
    let parts = plural(blobs.len() as u64, "part", "parts");
    format!("{} in {parts}", units::bytes(bytes))
}

impl Row {
    fn new(blob: &CachedBlob) -> Self {
        let since = blob.used.duration_since(SystemTime::UNIX_EPOCH);
        Self {
            digest: blob.digest.to_string(),
            bytes: blob.size_bytes,
            whole: blob.is_whole,
            used: since.unwrap_or_default().as_secs(),
        }
    }
}
