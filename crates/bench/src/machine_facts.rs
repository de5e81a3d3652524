//! What a study states about the machine and the programs, whatever it measures.

use coldpress_history::Facts;
use coldpress_host::machine;

/// The commit that this program was built from, where its maker says so.
const COMMIT: Option<&str> = option_env!("COLDPRESS_COMMIT");

/// The machine, this program and the other ones, as facts.
///
/// * `tools`: what other programs say of their versions: `("mksquashfs", "mksquashfs version
///   4.5.1")` becomes the fact `mksquashfs_version`.
///
/// `read_ahead_kib` is that of the machine's loop devices; a study that sets another one replaces
/// it.
pub fn machine_facts<'a>(tools: impl IntoIterator<Item = (&'a str, String)>) -> Facts {
    let machine = machine();
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let facts = [
        ("kernel", Some(machine.kernel)),
        ("architecture", Some(machine.architecture)),
        ("cpu_model", Some(machine.cpu_model)),
        ("cores", number(Some(machine.cores.into()))),
        ("memory_bytes", number(machine.memory_bytes)),
        ("virtual_machine", Some(machine.virtual_machine.to_string())),
        ("squashfs_decompressor", Some(machine.squashfs_decompressor)),
        (
            "squashfs_cached_fragments",
            number(machine.squashfs_cached_fragments.map(u64::from)),
        ),
        (
            "squashfs_file_direct",
            machine
                .squashfs_file_direct
                .map(|is_direct| is_direct.to_string()),
        ),
        ("read_ahead_kib", number(machine.read_ahead_kib)),
        (
            "coldpress_version",
            Some(env!("CARGO_PKG_VERSION").to_owned()),
        ),
        ("coldpress_commit", COMMIT.map(str::to_owned)),
    ];
    let known = facts
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let tools = tools
        .into_iter()
        .map(|(tool, version)| (format!("{tool}_version"), version));
    known.chain(tools).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_states_machine_and_versions() {
        let facts = machine_facts([("mksquashfs", "mksquashfs version 4.5.1".to_owned())]);
        for name in [
            "kernel",
            "cpu_model",
            "cores",
            "virtual_machine",
            "coldpress_version",
        ] {
            assert!(
                facts.get(name).is_some_and(|value| !value.is_empty()),
                "{name}"
            );
        }
        assert_eq!(facts["mksquashfs_version"], "mksquashfs version 4.5.1");
    }
}
