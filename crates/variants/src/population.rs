//! A set of images for a population of clients.

use anyhow::anyhow;
use coldpress_report::failure::hint;
use coldpress_tune::{Candidate, Row};

use crate::best_set::{BestSet, Costs};
use crate::client::Client;
use crate::error::Error;
use crate::index::{ChosenFor, ClientEntry, Index};

/// The set of at most `count` images whose expected start no other set of that number beats.
///
/// # Errors
///
/// If a client reads none of them, or no set of that number serves all clients.
pub fn chosen_set(rows: &[&Row], clients: &[Client], count: usize) -> anyhow::Result<BestSet> {
    let costs = Costs {
        shares: clients.iter().map(|client| client.share).collect(),
        images: rows.iter().map(|row| costs_s(row, clients)).collect(),
    };
    if let Some(set) = costs.best_set(count) {
        return Ok(set);
    }
    let mut all = clients.iter().enumerate();
    let unserved = all.find(|(at, _)| costs.images.iter().all(|image| image[*at].is_infinite()));
    Err(match unserved {
        Some((_, client)) => hint(
            anyhow!("no image suits the client `{}`", client.name),
            "`coldpress doctor --target NAME` prints what it reads; try more --compressors, or \
             more memory",
        ),
        None => hint(
            anyhow!("no {count} images serve all clients"),
            "raise --count, or leave a --client out",
        ),
    })
}

/// What an image costs each client, in s; infinite if that cannot take it.
fn costs_s(row: &Row, clients: &[Client]) -> Vec<f64> {
    let (candidate, outcome) = (&row.candidate, &row.outcome);
    let cost_s = |(client, start_s): (&Client, &f64)| {
        let fits = client
            .memory_bytes
            .is_none_or(|limit| outcome.page_cache_bytes <= limit);
        if !fits || !client.reads(candidate.compressor(), candidate.block_size) {
            return f64::INFINITY;
        }
        start_s + client.download.share_s(outcome.size_bytes)
    };
    clients
        .iter()
        .zip(&outcome.device_starts_s)
        .map(cost_s)
        .collect()
}

impl Index {
    /// Says for whom the set was chosen, and what each client takes of the images that were built.
    ///
    /// * `considered`: how many images there were to choose from.
    ///
    /// # Errors
    ///
    /// As [`choose`](crate::choose).
    pub fn note_clients(
        &mut self,
        clients: &[Client],
        set: &BestSet,
        considered: usize,
    ) -> Result<(), Error> {
        let sequence = self.sequence()?;
        let mut entries = Vec::new();
        let mut expected_start_s = 0.0;
        for client in clients {
            let choice = crate::choose(self, &sequence, client)?;
            let taken = choice.taken.and_then(|taken| choice.options.get(taken));
            let gain = taken.and_then(|taken| Some((taken, taken.outcome.as_ref()?)));
            let Some((taken, gain)) = gain else {
                let rule = format!(
                    "suit the client `{}` no more than was predicted",
                    client.name
                );
                return Err(Error::rule("images", rule));
            };
            expected_start_s += client.share * gain.total_s();
            entries.push(ClientEntry {
                client: client.name.clone(),
                share: client.share,
                takes: taken.file.clone(),
                start_s: gain.start_s,
            });
        }
        self.chosen_for = Some(ChosenFor {
            expected_start_s,
            predicted_s: set.expected_s,
            least_expected_s: set.least_s,
            considered,
            clients: entries,
        });
        Ok(())
    }
}

/// A name for the file of an image: `zstd-15-128K-planned.sqfs`.
pub fn file_name(candidate: &Candidate) -> String {
    let text = candidate.to_string().replace(", ", "-").replace(' ', "-");
    format!("{text}.sqfs")
}
