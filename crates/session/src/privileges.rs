//! What measuring needs.

use anyhow::anyhow;
use coldpress_host::{enter_private_namespace, missing_privileges};
use coldpress_report::failure::hint;

use crate::ui::Ui;

/// What to do about missing privileges.
const ADVICE: &str = "run it as root, on a kernel with SquashFS, loop devices and tracefs";

/// What to do where `/dev/fuse` cannot be opened.
pub const FUSE_ADVICE: &str = "`chmod 666 /dev/fuse` by root, as most systems have it, `modprobe \
fuse`, or the \
     `--device /dev/fuse` of a container";

/// Enters a private mount namespace, or says what is missing.
///
/// # Errors
///
/// If this process lacks anything that is needed.
pub fn require(what: &str) -> anyhow::Result<()> {
    let missing: Vec<&str> = missing_privileges()
        .iter()
        .map(|missing| missing.what)
        .collect();
    if !missing.is_empty() {
        let error = anyhow!(
            "{what} needs what this process lacks: {}",
            missing.join(", ")
        );
        return Err(hint(error, ADVICE));
    }
    Ok(enter_private_namespace()?)
}

/// Enters a private mount namespace if nothing is missing; else warns of what is and why it is
/// needed, and returns false.
///
/// # Errors
///
/// If the namespace cannot be entered after all.
pub fn ask(ui: &Ui) -> anyhow::Result<bool> {
    let missing = missing_privileges();
    if missing.is_empty() {
        enter_private_namespace()?;
        return Ok(true);
    }
    let reasons: Vec<String> = missing
        .iter()
        .map(|missing| format!("  {}:\n    {}\n", missing.what, missing.why))
        .collect();
    ui.warn(&format!(
        "nothing is measured without\n{}{ADVICE}",
        reasons.concat()
    ));
    Ok(false)
}
