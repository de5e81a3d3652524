//! The progress bar of squashfs-tools.

use coldpress_writer::Progress;

/// Columns of a progress bar that a program reads, as squashfs-tools draw it without a terminal.
const BAR_COLUMNS: u64 = 80;

/// `[====/    ] 12/30  40%` behind a carriage return.
///
/// * `total`: data blocks, which it counts.
pub fn progress_bar(progress: Progress, total: u64, percent: u64) -> String {
    let Progress {
        done_bytes,
        total_bytes,
    } = progress;
    let done = u128::from(total) * u128::from(done_bytes);
    let done = done.checked_div(total_bytes.into()).unwrap_or(0);
    let done = u64::try_from(done).unwrap_or(total);
    let digits = total.max(1).ilog10() as usize + 1;
    let room = BAR_COLUMNS.saturating_sub(2 * digits as u64 + 11);
    let full = (done * room).checked_div(total).unwrap_or(0);
    let full = usize::try_from(full).unwrap_or(0);
    let empty = usize::try_from(room).unwrap_or(0).saturating_sub(full);
    let turning = match percent % 4 {
        0 => '|',
        1 => '/',
        2 => '-',
        _ => '\\',
    };
    format!(
        "\r[{:=<full$}{turning}{:empty$}] {done:digits$}/{total:digits$} {percent:3}%",
        "", ""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_wide_as_a_line() {
        let total_bytes = 30 << 17;
        for (done_bytes, percent, expected) in [
            (
                0,
                0,
                "\r[|                                                                 ]  0/30   0%",
            ),
            (
                15 << 17,
                50,
                "\r[================================-                                 ] 15/30  50%",
            ),
            (
                30 << 17,
                100,
                "\r[=================================================================|] 30/30 100%",
            ),
        ] {
            let progress = Progress {
                done_bytes,
                total_bytes,
            };
            assert_eq!(progress_bar(progress, 30, percent), expected);
        }
        let nothing = progress_bar(Progress::default(), 0, 100);
        assert!(nothing.starts_with("\r[| "), "{nothing}");
        assert!(nothing.ends_with("] 0/0 100%"), "{nothing}");
    }
}
