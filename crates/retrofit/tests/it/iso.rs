//! Live media made by xorriso.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use coldpress_image::ReadAt;
use coldpress_retrofit::{Account, Container, Error, Site};
use coldpress_testkit::without_peer;
use tempfile::TempDir;

/// A whole image of SquashFS 4.0.
const IMAGE: &[u8] = include_bytes!("../../../image/tests/it/small-image");
type Damage = fn(&Medium);

const PATH: &[u8] = b"live/filesystem.squashfs";

/// A tree of a live medium, and the file that xorriso makes of it.
struct Medium {
    stage: TempDir,
}

impl Medium {
    /// * `image_bytes`: what is there for the image, padded with zeros.
    fn new(image_bytes: usize) -> Self {
        let medium = Self {
            stage: TempDir::new().unwrap(),
        };
        let mut image = IMAGE.to_vec();
        image.resize(image_bytes, 0);
        medium.put("live/filesystem.squashfs", &image);
        medium.put("live/vmlinuz", &[7; 3000]);
        medium.put("isolinux/isolinux.bin", &[0x90; 6000]);
        medium
    }

    fn put(&self, path: &str, content: &[u8]) {
        let path = self.stage.path().join("tree").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.stage.path().join(name)
    }

    /// Runs a tool below the stage; returns what it prints.
    fn run(&self, directory: &str, words: &[&str]) -> String {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.at(directory));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Adds checksum files as live-build and Arch do.
    fn sum(&self) {
        let script = "sha512sum filesystem.squashfs > filesystem.sha512";
        self.run("tree/live", &["sh", "-c", script]);
        for (tool, list) in [("md5sum", "md5sum.txt"), ("sha256sum", "sha256sum.txt")] {
            let script = format!("{tool} ./live/* > {list}");
            self.run("tree", &["sh", "-c", &script]);
        }
        self.run("tree", &["sh", "-c", "sha1sum --tag md5sum.txt > sha1sums"]);
    }

    /// Makes the file, with a boot record of BIOS.
    fn make(&self) {
        let boot = "-b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 \
                    -boot-info-table";
        let words: Vec<&str> = "xorriso -as mkisofs -quiet -r -J -V test -o ../old.iso"
            .split(' ')
            .chain(boot.split_whitespace())
            .chain(["."])
            .collect();
        self.run("tree", &words);
    }

    fn open(&self, name: &str) -> Result<Option<Container>, Error> {
        Container::open(&File::open(self.at(name)).unwrap(), None)
    }

    /// Replaces the image by one of so many bytes.
    fn replace(&self, image_bytes: usize) -> Result<Account, Error> {
        let container = self.open("old.iso")?.unwrap();
        let (old, new) = (self.at("old.iso"), self.at("new.iso"));
        let start = usize::try_from(container.image().start).unwrap();
        fs::write(&new, [vec![0; start], image(image_bytes)].concat()).unwrap();
        let new = File::options().read(true).write(true).open(new).unwrap();
        let mut site = Site {
            old: &old,
            directory: self.stage.path(),
            stop: &mut || false,
        };
        let source = File::open(&old).unwrap();
        container.complete(&source, &new, image_bytes as u64, &mut site)
    }

    /// What the tools of others say of the checksums in a file.
    fn check_sums(&self, name: &str) {
        let all = self.at("extracted");
        self.run(
            ".",
            &[
                "xorriso",
                "-osirrox",
                "on",
                "-indev",
                name,
                "-extract",
                "/",
                "extracted",
            ],
        );
        for (directory, words) in [
            ("extracted", ["md5sum", "-c", "md5sum.txt"]),
            ("extracted", ["sha256sum", "-c", "sha256sum.txt"]),
            ("extracted", ["sha1sum", "-c", "sha1sums"]),
            ("extracted/live", ["sha512sum", "-c", "filesystem.sha512"]),
        ] {
            self.run(directory, &words);
        }
        self.run(".", &["chmod", "-R", "u+w", "extracted"]);
        fs::remove_dir_all(all).unwrap();
    }
}

/// Another image.
fn image(bytes: usize) -> Vec<u8> {
    let mut image = IMAGE.to_vec();
    image[8] ^= 1;
    image.resize(bytes, 0);
    image
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

/// Places at which two files of one length differ.
fn differing(old: &[u8], new: &[u8]) -> Vec<usize> {
    let pairs = old.iter().zip(new).enumerate();
    let differing = pairs.filter(|(_, (old, new))| old != new);
    differing.map(|(at, _)| at).collect()
}

#[test]
fn an_image_that_fits_is_replaced_in_place() {
    if without_peer("xorriso") {
        return;
    }
    let medium = Medium::new(16384);
    medium.sum();
    medium.make();
    let account = medium.replace(12288).unwrap();
    let path = String::from_utf8_lossy(PATH);
    let expected = [
        format!("size of {path} in 2 directory records"),
        "live/filesystem.sha512 (1 digest)".to_owned(),
        "md5sum.txt (2 digests)".to_owned(),
        "sha1sums (1 digest)".to_owned(),
        "sha256sum.txt (2 digests)".to_owned(),
    ];
    let mut recomputed = account.recomputed;
    recomputed[1..].sort();
    assert_eq!(recomputed, expected);
    let (old, new) = (bytes(&medium.at("old.iso")), bytes(&medium.at("new.iso")));
    assert_eq!(old.len(), new.len());
    let container = medium.open("new.iso").unwrap().unwrap();
    let start = usize::try_from(container.image().start).unwrap();
    assert!(new[start..start + 12288] == image(12288));
    assert!(
        new[start + 12288..start + 16384]
            .iter()
            .all(|byte| *byte == 0)
    );
    // Sizes in two records and two forms, two bytes each at most; and the digits of all digests.
    let outside = differing(&old, &new).into_iter();
    let outside = outside.filter(|at| !(start..start + 16384).contains(at));
    let digits = 2 * 32 + 40 + 2 * 64 + 128;
    assert!(outside.count() <= 8 + digits);
    medium.check_sums("new.iso");
}

#[test]
fn an_hfs_tree_stays_or_forbids_a_new_file_system() {
    if without_peer("xorriso") {
        return;
    }
    let medium = Medium::new(8192);
    medium.make();
    // A partition map with an entry for itself and one for the file system.
    let file = File::options()
        .write(true)
        .open(medium.at("old.iso"))
        .unwrap();
    for (number, name) in [(1, "Apple_partition_map"), (2, "Apple_HFS")] {
        file.write_all_at(b"PM", number * 512).unwrap();
        file.write_all_at(name.as_bytes(), number * 512 + 48)
            .unwrap();
    }
    let account = medium.replace(8192).unwrap();
    assert!(account.identical.iter().any(|it| it.contains("HFS+")));
    let refused = medium.replace(65536).unwrap_err().to_string();
    assert!(refused.contains("is an HFS+ file system"), "{refused}");
    assert!(refused.contains("1024"), "{refused}");
}

#[test]
fn owners_and_targets_of_other_files_are_compared() {
    if without_peer("xorriso") {
        return;
    }
    let medium = Medium::new(8192);
    medium.run("tree", &["ln", "-s", "../live/vmlinuz", "isolinux/kernel"]);
    medium.run("tree", &["chmod", "4750", "live/vmlinuz"]);
    medium.make();
    medium.replace(65536).unwrap();
    let listed = |name| {
        let words = [
            "xorriso",
            "-indev",
            name,
            "-lsl",
            "/live/vmlinuz",
            "/isolinux/kernel",
        ];
        let text = medium.run(".", &words);
        text.lines()
            .map(|line| line.split("  ").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("old.iso"), listed("new.iso"));
}

#[test]
fn an_image_that_is_longer_makes_a_new_file_system() {
    if without_peer("xorriso") {
        return;
    }
    let medium = Medium::new(8192);
    medium.sum();
    medium.make();
    let account = medium.replace(65536).unwrap();
    let boot = "boot code, 1 boot image of El Torito".to_owned();
    assert_eq!(account.identical, [boot]);
    let container = medium.open("new.iso").unwrap().unwrap();
    let start = usize::try_from(container.image().start).unwrap();
    let new = bytes(&medium.at("new.iso"));
    assert!(new[start..start + 65536] == image(65536));
    medium.check_sums("new.iso");
    let words = ["xorriso", "-indev", "new.iso", "-report_el_torito", "plain"];
    let report = medium.run(".", &words);
    assert!(report.contains("/isolinux/isolinux.bin"), "{report}");
    assert!(!medium.at("image").exists() && !medium.at("iso").exists());
    // The same input, the same file.
    medium.replace(65536).unwrap();
    assert!(new == bytes(&medium.at("new.iso")));
}

#[test]
fn digests_of_isomd5sum_are_computed_again() {
    if without_peer("xorriso") || without_peer("implantisomd5") {
        return;
    }
    let medium = Medium::new(8192);
    medium.put("other", &vec![3; 3 << 20]);
    medium.sum();
    medium.make();
    medium.run(".", &["implantisomd5", "old.iso"]);
    let account = medium.replace(4096).unwrap();
    assert_eq!(account.recomputed.last().unwrap(), "digests of isomd5sum");
    medium.run(".", &["checkisomd5", "new.iso"]);
}

#[test]
fn a_signature_becomes_zeros() {
    if without_peer("xorriso") {
        return;
    }
    let medium = Medium::new(8192);
    medium.sum();
    medium.put("live/filesystem.squashfs.gpg", b"signature of the image");
    medium.put("sha256sum.txt.sig", b"signature of digests");
    medium.put("live/vmlinuz.sig", b"signature of a kernel");
    medium.make();
    assert!(medium.open("old.iso").unwrap().unwrap().is_signed());
    let mut dropped = medium.replace(4096).unwrap().dropped;
    dropped.sort();
    assert_eq!(
        dropped,
        ["live/filesystem.squashfs.gpg", "sha256sum.txt.sig"]
    );
    let new = bytes(&medium.at("new.iso"));
    let has = |text: &[u8]| new.windows(text.len()).any(|window| window == text);
    assert!(!has(b"signature of the image") && !has(b"signature of digests"));
    assert!(has(b"signature of a kernel"));
}

#[test]
fn what_cannot_be_replaced_is_refused() {
    if without_peer("xorriso") {
        return;
    }
    let several: Damage = |medium| medium.put("live/second.squashfs", IMAGE);
    let tree: Damage = |medium| medium.put("live/filesystem.squashfs.verity", &[1; 4096]);
    let none: Damage = |medium| medium.put("live/filesystem.squashfs", b"none");
    let cut: Damage = |medium| medium.put("live/filesystem.squashfs", &IMAGE[..200]);
    let circle: Damage = |medium| {
        let digest = "0".repeat(32);
        let first = format!("{digest}  live/filesystem.squashfs\n{digest}  SUMS\n");
        medium.put("md5sum.txt", first.as_bytes());
        medium.put("SUMS", format!("{digest}  md5sum.txt\n").as_bytes());
    };
    let cases: [(&str, Damage); 5] = [
        (
            "holds 2 images, and which of them is to be replaced is not said: live/f",
            several,
        ),
        ("is protected by `live/filesystem.squashfs.verity`", tree),
        ("holds no image of SquashFS", none),
        ("the image at byte", cut),
        (
            "is a checksum file that names another one that names it",
            circle,
        ),
    ];
    for (expected, damage) in cases {
        let medium = Medium::new(8192);
        damage(&medium);
        medium.make();
        let opened = medium.open("old.iso");
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
    let medium = Medium::new(8192);
    several(&medium);
    medium.make();
    let file = File::open(medium.at("old.iso")).unwrap();
    let opened = Container::open(&file, Some(b"/live/second.squashfs"));
    let place = opened.unwrap().unwrap().image();
    let mut found = vec![0; 96];
    file.fill_at(&mut found, place.start).unwrap();
    assert!(found == IMAGE[..96]);
    let error = Container::open(&file, Some(b"live/third")).unwrap_err();
    assert!(error.to_string().contains("has no file `live/third`"));
}

#[test]
fn an_image_that_shares_its_bytes_is_refused() {
    if without_peer("xorriso") {
        return;
    }
    let medium = Medium::new(8192);
    medium.make();
    let start = medium.open("old.iso").unwrap().unwrap().image().start;
    let mut old = bytes(&medium.at("old.iso"));
    let name = b"vmlinuz.;1";
    let mut names = old.windows(name.len());
    let record = names.position(|it| it == name).unwrap() - 33;
    let block = u32::try_from(start / 2048).unwrap().to_le_bytes();
    old[record + 2..record + 6].copy_from_slice(&block);
    let reversed: Vec<u8> = block.into_iter().rev().collect();
    old[record + 6..record + 10].copy_from_slice(&reversed);
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&old, 0).unwrap();
    let error = Container::open(&file, Some(PATH)).unwrap_err().to_string();
    let expected = format!("shares bytes with what lies from byte {start} to");
    assert!(error.contains(&expected), "{error}");
}
