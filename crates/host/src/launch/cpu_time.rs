//! The processor time of a process that goes on.

use std::fs;

/// User and system time so far, in ns, of a process and of the children it waited for; `None` if it
/// is gone.
///
/// # Precision
///
/// A clock tick, as a rule 10 ms, rounded down.
pub(crate) fn cpu_time_ns(pid: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = parse_ticks(&text)?;
    Some(ticks.saturating_mul(1_000_000_000) / rustix::param::clock_ticks_per_second().max(1))
}

/// Fields 14 to 17 of `/proc/PID/stat`, counted behind the name, which may hold blanks and
/// parentheses.
fn parse_ticks(text: &str) -> Option<u64> {
    let (_, fields) = text.rsplit_once(')')?;
    let times = fields.split_ascii_whitespace().skip(11).take(4);
    let times: Vec<u64> = times.map_while(|field| field.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let fields = "S 1 2 3 0 -1 4194560 99 88 0 0 7 5 11 13 20 0 1 0 4242";
        for name in ["cat", "a b", ") S 1 (", "((x)"] {
            let text = format!("123 ({name}) {fields}\n");
            assert_eq!(parse_ticks(&text), Some(36), "{text}");
        }
        for text in [
            "",
            "1 (x)",
            "1 (x) S 1 2",
            "1 (x) S 1 2 3 0 -1 4 9 8 0 0 7 5 -1 13",
        ] {
            assert_eq!(parse_ticks(text), None, "{text}");
        }
    }

    #[test]
    fn this_process_has_used_a_processor() {
        assert!(cpu_time_ns("self").is_some());
        assert_eq!(cpu_time_ns("no-such-process"), None);
    }
}
