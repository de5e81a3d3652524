//! The readahead of the mount that a start gains from, and how to set it.

use coldpress_host::Readahead;
use coldpress_report::units::{change, seconds};
use coldpress_tune::Row;

use super::Advice;

/// `With a readahead of 16K it starts in 5.86 s, with the loop device's own in 7.51 s (+28.2 %).`;
/// nothing if there was no choice.
pub(super) fn sentence(advice: &Advice, chosen: &Row) -> Option<String> {
    let readaheads = advice.readaheads;
    if readaheads.len() < 2 {
        return None;
    }
    let (outcome, action) = (&chosen.outcome, advice.action());
    let start_s = |wanted: Readahead| {
        let place = readaheads.iter().position(|it| *it == wanted)?;
        outcome.readahead_starts_s.get(place).copied()
    };
    let advised = advice.tuned.readahead(readaheads)?;
    let advised_s = start_s(advised)?;
    let Readahead::Kib(_) = advised else {
        return Some(format!(
            "It {action} in {} with the readahead `{advised}`, which needs no setting; no other \
            saves more than 3 %.",
            seconds(advised_s)
        ));
    };
    let unset = start_s(Readahead::Kernel).map_or_else(String::new, |unset_s| {
        format!(
            ", with the loop device's own in {} ({})",
            seconds(unset_s),
            change(unset_s / advised_s)
        )
    });
    Some(format!(
        "With a readahead of {advised} it {action} in {}{unset}.",
        seconds(advised_s)
    ))
}

/// What to type to have it, once and on each boot; nothing if it needs no setting.
pub(super) fn lines(advice: &Advice) -> Vec<String> {
    let Some(advised @ Readahead::Kib(_)) = advice.tuned.readahead(advice.readaheads) else {
        return Vec::new();
    };
    let set = format!("coldpress readahead MOUNT --set {advised}");
    vec![
        set.clone(),
        format!("{set} --systemd    # on each boot; or --initramfs, see docs/readahead.md"),
    ]
}
