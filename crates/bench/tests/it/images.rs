//! Two small images of the same tree.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use coldpress_bench::Contestant;

const FILE_COUNT: usize = 200;
const FILE_SIZE_BYTES: usize = 20_000;

/// Files that do not compress, once in blocks of 128 KiB and once of 4 KiB.
pub(crate) fn two(directory: &Path) -> Vec<Contestant> {
    let tree = directory.join("tree");
    fs::create_dir(&tree).expect("a new directory");
    let mut state: u32 = 1;
    for index in 0..FILE_COUNT {
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        let content: Vec<u8> = (0..FILE_SIZE_BYTES).map(|_| byte()).collect();
        fs::write(tree.join(format!("file-{index:03}")), content).expect("a new file");
    }
    let image = |name: &str, block_size: &str| {
        let image = directory.join(name);
        let status = Command::new("mksquashfs")
            .arg(&tree)
            .arg(&image)
            .args(["-comp", "gzip", "-b", block_size, "-quiet", "-no-progress"])
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("mksquashfs was found").success());
        Contestant::image(name, &image)
    };
    vec![image("128K", "131072"), image("4K", "4096")]
}
