//! Services as systemd tells of them on the console.

use super::chart::{ChartLine, Span};

/// How systemd says that something begins and has begun, or is done.
const BEGINNINGS: [&str; 3] = ["Starting ", "Mounting ", "Activating swap "];
const ENDS: [&str; 7] = [
    "Started ",
    "Finished ",
    "Mounted ",
    "Activated swap ",
    "Reached target ",
    "Listening on ",
    "Created slice ",
];

/// Words before the unit when it failed.
const FAILURE: &str = "Failed to start ";

/// Services, mounts, targets, in the order in which they began. One of which only the end is told,
/// as of a target, takes no time; one whose end is not told lasts until the guest was ready.
pub(super) fn units(lines: &[ChartLine], boot_s: f64) -> Vec<Span> {
    let mut units: Vec<Span> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for line in lines {
        let Some((name, has_ended)) = told(&line.text) else {
            continue;
        };
        let begun = open.iter().position(|&index| units[index].name == name);
        match (begun, has_ended) {
            (Some(place), true) => units[open.swap_remove(place)].ended_s = line.at_s,
            (Some(_), false) => {}
            (None, has_ended) => {
                if !has_ended {
                    open.push(units.len());
                }
                units.push(Span {
                    name: name.to_owned(),
                    began_s: line.at_s,
                    ended_s: if has_ended { line.at_s } else { boot_s },
                });
            }
        }
    }
    units
}

/// The unit that a line tells of, and whether it has ended.
fn told(line: &str) -> Option<(&str, bool)> {
    let line = line.trim();
    let (words, has_ended) = match line.strip_prefix('[') {
        // `[  OK  ] Started ssh.service - OpenBSD Secure Shell server.`
        Some(rest) => {
            let (status, words) = rest.split_once(']')?;
            let known = ["OK", "FAILED", "DEPEND", "SKIP"].contains(&status.trim());
            (words.trim_start(), known.then_some(true)?)
        }
        // What begins and is no unit, as a daemon of the initrd, says so without an ellipsis.
        None => (line.strip_suffix("...")?, false),
    };
    let verbs: &[&str] = if has_ended { &ENDS } else { &BEGINNINGS };
    let mut verbs = verbs.iter().chain(has_ended.then_some(&FAILURE));
    let unit = verbs.find_map(|verb| words.strip_prefix(verb))?;
    // With a name before the description since systemd 249, or the name alone.
    let name = match unit.split_once(" - ") {
        Some((name, _)) if name.contains('.') => name,
        _ => unit.trim_end_matches('.'),
    };
    (!name.is_empty()).then_some((name, has_ended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::chart::tests::{a_line_a_second, spans};

    #[test]
    fn what_begins_and_ends_is_a_span() {
        let said = [
            "         Starting systemd-udevd.service - Rule-based Manager for Device Events...",
            "[    1.234] systemd[1]: Starting what is said twice",
            "         Mounting dev-hugepages.mount - Huge Pages File System...",
            "[  OK  ] Mounted dev-hugepages.mount - Huge Pages File System.",
            "[  OK  ] Reached target Swap.",
            "[FAILED] Failed to start ssh.service - OpenBSD Secure Shell server.",
            "[  OK  ] Started systemd-udevd.se\u{2026}cut in the middle.",
            "[  OK  ] Started systemd-udevd.service - Rule-based Manager for Device Events.",
            "         Starting Old Style Description...",
            "debian login: ",
            "Starting systemd-udevd version 252.39",
            "[x] Started nothing",
        ];
        let found = units(&a_line_a_second(&said), 20.0);
        let expected = [
            ("systemd-udevd.service", 0.0, 7.0),
            ("dev-hugepages.mount", 2.0, 3.0),
            ("Swap", 4.0, 4.0),
            ("ssh.service", 5.0, 5.0),
            ("systemd-udevd.se\u{2026}cut in the middle", 6.0, 6.0),
            ("Old Style Description", 8.0, 20.0),
        ];
        assert_eq!(found, spans(&expected));
    }
}
