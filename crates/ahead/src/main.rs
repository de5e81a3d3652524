//! `coldpress-prefetch LIST IMAGE`: reads ahead what a boot needs of an image.
//!
//! Started by an initrd before it mounts IMAGE. It goes on in the background and always ends with
//! success: a boot waits for nothing and fails of nothing here. One line in the kernel's log tells
//! what it did.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use coldpress_ahead::read_ahead;

/// systemd spares processes with such a name when the root changes
/// (`systemd.io/ROOT_STORAGE_DAEMONS`).
const NAME: &str = "@coldpress-prefetch";

fn main() {
    let mut words = env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<_> = words.collect();
    let [list, image] = words.as_slice() else {
        log("usage: coldpress-prefetch LIST IMAGE");
        return;
    };
    if name == NAME {
        let command_line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
        let done = read_ahead(&command_line, Path::new(list), Path::new(image));
        log(&done.to_string());
        return;
    }
    let started = Command::new("/proc/self/exe")
        .arg0(NAME)
        .args([list, image])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    if let Err(error) = started {
        log(&format!("cannot start: {error}"));
    }
}

/// One line in the kernel's log; nothing if there is none.
fn log(text: &str) {
    let _ = fs::write("/dev/kmsg", format!("coldpress-prefetch: {text}\n"));
}
