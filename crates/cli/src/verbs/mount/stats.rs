//! What a mount was asked for, as text.

use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use coldpress_mount::{CacheCounts, FileSystem, PrefetchCounts, PrefetchStage, Stats};
use coldpress_report::text::plural;
use coldpress_report::units::count;
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::Signals;

use super::log::Log;

/// Tells at SIGUSR1 how the mount was used so far.
///
/// # Errors
///
/// If signals or threads cannot be had.
pub(super) fn on_signal(file_system: &Arc<FileSystem>, log: &Arc<Log>) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGUSR1]).context("cannot install a signal handler")?;
    let (file_system, log) = (Arc::clone(file_system), Arc::clone(log));
    let tells = move || {
        for _ in signals.forever() {
            tell(&file_system.stats(), &log);
        }
    };
    let thread = thread::Builder::new().name("stats".to_owned());
    thread.spawn(tells).context("cannot start a thread")?;
    Ok(())
}

/// Tells how a mount was used.
pub(super) fn tell(stats: &Stats, log: &Log) {
    for line in lines(stats) {
        log.note(&line);
    }
}

fn lines(stats: &Stats) -> Vec<String> {
    let mut lines = vec![
        format!(
            "reads: {}, {} bytes, {} of them given",
            count(stats.reads),
            count(stats.read_bytes),
            count(stats.pushed_bytes)
        ),
        format!(
            "blocks: {}, {} by helpers, {} bytes kept",
            cache(stats.blocks),
            count(stats.handed_over),
            count(stats.kept_bytes)
        ),
        format!("listings: {}", cache(stats.listings)),
        format!("block lists: {}", cache(stats.block_lists)),
    ];
    let pack = stats.start_pack.map(|counts| {
        let (pages, put_off) = (count(counts.pages), count(counts.put_off));
        format!("start pack: {pages} pages read from it; {put_off} reads put off")
    });
    lines.extend(pack);
    lines.extend(prefetch(&stats.prefetch));
    lines
}

fn cache(counts: CacheCounts) -> String {
    let CacheCounts { found, made } = counts;
    format!("{} found, {} made", count(found), count(made))
}

fn prefetch(counts: &PrefetchCounts) -> Option<String> {
    let stage = match counts.stage {
        PrefetchStage::None => return None,
        PrefetchStage::Running => "going on",
        PrefetchStage::Done => "done",
        PrefetchStage::GivenUp => "given up, because too little of it was requested",
    };
    Some(format!(
        "prefetch: {}, {} bytes read, {} used, {} wasted; {} asked for meanwhile; {} missing; \
        {stage}",
        plural(counts.prefetched, "block", "blocks"),
        count(counts.read_bytes),
        count(counts.used),
        count(counts.wasted),
        count(counts.asked),
        plural(counts.missing, "file", "files"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_are_a_line_for_each_cache() {
        let mut stats = Stats {
            reads: 1234,
            read_bytes: 5_000_000,
            blocks: CacheCounts { found: 7, made: 3 },
            kept_bytes: 131_072,
            handed_over: 2,
            pushed_bytes: 917_504,
            ..Stats::default()
        };
        let expected = [
            "reads: 1,234, 5,000,000 bytes, 917,504 of them given",
            "blocks: 7 found, 3 made, 2 by helpers, 131,072 bytes kept",
            "listings: 0 found, 0 made",
            "block lists: 0 found, 0 made",
        ];
        assert_eq!(lines(&stats), expected);
        stats.prefetch = PrefetchCounts {
            asked: 30,
            prefetched: 40,
            read_bytes: 50_000,
            used: 20,
            wasted: 1,
            missing: 2,
            stage: PrefetchStage::Done,
        };
        let last = "prefetch: 40 blocks, 50,000 bytes read, 20 used, 1 wasted; 30 asked for meanwhile; 2 files \
                    missing; done";
        assert_eq!(lines(&stats).last().map(String::as_str), Some(last));
    }
}
