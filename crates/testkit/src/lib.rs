//! What tests need of their machine.
//!
//! A test that lacks something says so and does nothing. Where `COLDPRESS_REQUIRE` names the
//! capability (`root`, `kernel`, `tracefs`, `fuse`, `peers`, `guest`), it fails instead: a suite
//! that skips in silence rots.

use std::env;

/// What `COLDPRESS_REQUIRE` may name, separated by commas.
const CAPABILITIES: [&str; 6] = ["root", "kernel", "tracefs", "fuse", "peers", "guest"];

/// Says that a test is left out because `what` is missing; always true.
///
/// # Panics
///
/// If `COLDPRESS_REQUIRE` names the capability, or anything that is none.
#[expect(clippy::print_stdout, reason = "a test says why it did nothing")]
pub fn missing(capability: &str, what: &str) -> bool {
    let required = env::var("COLDPRESS_REQUIRE").unwrap_or_default();
    assert!(
        !is_required(&required, capability),
        "{what} not found, but COLDPRESS_REQUIRE demands {capability}"
    );
    println!("skipped: {what} not found");
    true
}

/// Whether a list names a capability. A name that is misspelled would demand nothing.
fn is_required(list: &str, capability: &str) -> bool {
    let names = || {
        list.split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
    };
    for name in names().chain([capability]) {
        assert!(
            CAPABILITIES.contains(&name),
            "`{name}` is no capability: these are {CAPABILITIES:?}"
        );
    }
    names().any(|name| name == capability)
}

/// Skips unless the test runs as root.
///
/// # Panics
///
/// As [`missing`].
pub fn without_root() -> bool {
    !rustix::process::geteuid().is_root() && missing("root", "root")
}

/// Skips unless a program of another project is installed.
///
/// # Panics
///
/// As [`missing`].
pub fn without_peer(name: &str) -> bool {
    !is_installed(name) && missing("peers", name)
}

/// Whether `PATH` has a program.
pub fn is_installed(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_demands_what_it_names() {
        for (list, expected) in [
            ("", false),
            ("root", true),
            ("fuse, root,", true),
            ("fuse,peers", false),
        ] {
            assert_eq!(is_required(list, "root"), expected, "{list}");
        }
    }

    #[test]
    #[should_panic(expected = "`peer` is no capability")]
    fn a_misspelled_demand_is_refused() {
        is_required("root,peer", "root");
    }

    #[test]
    fn a_program_is_found_where_it_is_installed() {
        assert!(is_installed("sh"));
        assert!(!is_installed("no-such-program"));
    }
}
