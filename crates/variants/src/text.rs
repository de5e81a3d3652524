//! A choice, and a set, in lines.

use std::fmt::Write as _;

use coldpress_report::units::{bytes, seconds};

use crate::choice::{Choice, Weighed};
use crate::index::Index;

impl Choice {
    /// Each image, the one that is taken first, and why.
    #[must_use]
    pub fn text(&self) -> String {
        let is_taken = |number: usize| self.taken == Some(number);
        let mut lines: Vec<(bool, String)> = self
            .options
            .iter()
            .enumerate()
            .map(|(number, option)| (is_taken(number), line(option, is_taken(number))))
            .collect();
        lines.sort_by_key(|(is_taken, _)| !is_taken);
        let lines = lines.into_iter().map(|(_, line)| line + "\n");
        lines.collect()
    }
}

fn line(option: &Weighed, is_taken: bool) -> String {
    let name = option.file.escape_debug();
    let size = bytes(option.size_bytes);
    let word = if is_taken { "takes " } else { "" };
    let mut line = format!("{word}{name} ({size})");
    match &option.outcome {
        Some(gain) => {
            let start = seconds(gain.start_s);
            let _ = write!(
                line,
                ": starts in {start}, {} reads, {}",
                gain.reads,
                bytes(gain.read_bytes)
            );
            if gain.download_s > 0.0 {
                let (download, total) = (seconds(gain.download_s), seconds(gain.total_s()));
                let _ = write!(line, "; with {download} of download {total}");
            }
        }
        None => line += ": left out",
    }
    for why in &option.why {
        let _ = write!(line, "; {why}");
    }
    line
}

impl Index {
    /// What each client takes, and how good the set is.
    #[must_use]
    pub fn clients_text(&self) -> String {
        let Some(chosen) = &self.chosen_for else {
            return String::new();
        };
        let mut text = String::new();
        for client in &chosen.clients {
            let _ = writeln!(
                text,
                "{} ({:.0} %): takes {}, starts in {}",
                client.client.escape_debug(),
                client.share * 100.0,
                client.takes.escape_debug(),
                seconds(client.start_s)
            );
        }
        let beyond = chosen.predicted_s / chosen.least_expected_s - 1.0;
        let how_good = if beyond > 0.0 {
            format!("at most {:.1} % above the best", beyond * 100.0)
        } else {
            format!("the best of {} images", chosen.considered)
        };
        let expected = seconds(chosen.expected_start_s);
        let _ = writeln!(
            text,
            "{} images: expected start {expected}, {how_good}",
            self.images.len()
        );
        text
    }
}
