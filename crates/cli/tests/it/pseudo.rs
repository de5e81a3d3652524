//! Files that pseudo files and pack files describe.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::run::{Ran, command, program};
use crate::skip;

struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    /// A directory `source` with a file, a directory and a symlink, of the same time.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let source = root.path().join("source");
        fs::create_dir_all(source.join("d")).unwrap();
        fs::write(source.join("f"), "content of f").unwrap();
        symlink("f", source.join("s")).unwrap();
        program(
            Command::new("touch")
                .args(["-h", "-d", "@1000"])
                .args(["s", "f", "d", "."].map(|name| source.join(name))),
        );
        Self { root }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.at(name), text).unwrap();
        self.at(name)
    }

    /// Runs `coldpress` in the directory.
    fn run(&self, args: &[&str]) -> Ran {
        let mut command = command();
        let output = command
            .current_dir(self.root.path())
            .args(args)
            .output()
            .unwrap();
        Ran {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn done(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        ran
    }

    fn listing(&self, image: &str) -> String {
        self.done(&["ls", "-lR", image]).text()
    }

    /// Runs another program in the directory.
    fn peer(&self, name: &str, args: &[&str]) -> Ran {
        program(Command::new(name).args(args).current_dir(self.root.path()))
    }

    /// All that `unsquashfs` finds in an image: names, metadata, then the bytes of all files.
    fn dump(&self, image: &str) -> Vec<u8> {
        let name = format!("{image}.dump");
        self.peer("unsquashfs", &["-q", "-n", "-pf", &name, image]);
        fs::read(self.at(&name)).unwrap()
    }

    fn assert_same(&self, left: &str, right: &str) {
        let (left, right) = (self.dump(left), self.dump(right));
        let text =
            |dump: &[u8]| String::from_utf8_lossy(&dump[..dump.len().min(4000)]).into_owned();
        assert!(left == right, "{}\n---\n{}", text(&left), text(&right));
    }
}

#[test]
fn definitions_add_and_change_files() {
    let stage = Stage::new();
    stage.file(
        "x.pf",
        "f m 600 1 2\nnew D 5 750 3 4\n\"new/a b\" S 6 777 0 0 ../f\n",
    );
    let args = [
        "-q",
        "build",
        "--verify",
        "source",
        "image",
        "--pseudo-file",
        "x.pf",
        "--pseudo",
        "new/pipe i 620 0 0 f",
        "--pseudo",
        "d M 7 711 5 5",
        "--pseudo",
        "new/l L new/pipe",
        "--pseudo",
        "new/outside l x.pf",
        "--pseudo",
        "q/r/c C 8 600 0 0 5 70000",
        "--pseudo-dir",
        "D 9 701 8 8",
    ];
    stage.done(&args);
    let listing = stage.listing("image");
    for line in [
        "/d",
        "/f",
        "/new",
        "/new/a b -> ../f",
        "/new/l",
        "/new/outside",
        "/new/pipe",
        "/q",
        "/q/r",
        "/q/r/c",
        "/s -> f",
    ] {
        assert!(
            listing.lines().any(|found| found.ends_with(line)),
            "{line}: {listing}"
        );
    }
    for part in [
        "drwx--x--x",
        "-rw-------",
        "drwxr-x---",
        "drwx-----x",
        "5,70000",
        "prw--w----",
    ] {
        assert!(listing.contains(part), "{part}: {listing}");
    }
    let outside = stage.done(&["cat", "image", "/new/outside"]).stdout;
    assert_eq!(outside, fs::read(stage.at("x.pf")).unwrap());
}

#[test]
fn extended_attributes_are_set() {
    let stage = Stage::new();
    let args = [
        "-q",
        "build",
        "source",
        "image",
        "--pseudo",
        "f x user.a=0x00ff",
        "--pseudo",
        "f x user.a=last",
        "--pseudo",
        "d x trusted.b=0sQUI=",
    ];
    stage.done(&args);
    let json = stage.done(&["ls", "-R", "--json", "image"]).text();
    for part in [r#""user.a":"6c617374""#, r#""trusted.b":"4142""#] {
        assert!(json.contains(part), "{part}: {json}");
    }
}

#[test]
fn xattrs_of_users_are_only_for_files_and_directories() {
    let stage = Stage::new();
    let ran = stage.run(&[
        "-q",
        "build",
        "source",
        "image",
        "--pseudo",
        "to s 777 0 0 f",
        "--pseudo",
        "to x user.a=1",
        "--pseudo",
        "to x trusted.b=1",
    ]);
    assert_eq!(ran.code, Some(1));
    let warning = "only files and directories have xattrs `user.*`";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let json = stage.done(&["ls", "-R", "--json", "image"]).text();
    assert!(
        !json.contains("user.a") && json.contains("trusted.b"),
        "{json}"
    );
}

#[test]
fn commands_run_only_if_allowed() {
    let stage = Stage::new();
    let base = ["-q", "build", "source", "image", "--pseudo"];
    let run = |definition, more: &[&str]| stage.run(&[&base, &[definition][..], more].concat());
    let refused = run("new f 644 0 0 echo $((6 * 7)); touch ran", &[]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("definition 1: the command `echo"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("--allow-commands"),
        "{}",
        refused.stderr
    );
    assert!(!stage.at("ran").exists() && !stage.at("image").exists());
    let failed = run("new f 644 0 0 exit 3", &["--allow-commands"]);
    assert_eq!(failed.code, Some(2));
    assert!(
        failed.stderr.contains("`exit 3` failed: exit status: 3"),
        "{}",
        failed.stderr
    );
    let more = [
        "--allow-commands",
        "--verify",
        "--pseudo",
        "two F 5 600 1 1 head -c 300000 /dev/zero",
        "--pseudo",
        "none f 644 0 0 true",
        "--pseudo",
        "again L new",
    ];
    let done = run("new f 644 0 0 echo $((6 * 7)); echo x >> ran", &more);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(
        stage.done(&["cat", "image", "new", "none", "again"]).text(),
        "42\n42\n"
    );
    assert_eq!(
        stage.done(&["cat", "image", "two"]).stdout,
        vec![0; 300_000]
    );
    assert_eq!(fs::read(stage.at("ran")).unwrap(), b"x\n");
}

#[test]
fn what_cannot_be_followed_is_told() {
    let stage = Stage::new();
    stage.file("bad.pf", "# comment\n\nf m 8 0 0\n");
    stage.file("bad.pack", "dir /a 755 0 0\npipe /a 600 0 0\n");
    let cases: [(&[&str], &str); 10] = [
        (&["--pseudo", "a/b d 755 0 0"], "`a` does not exist"),
        (&["--pseudo", "f/b d 755 0 0"], "`f` is not a directory"),
        (
            &["--pseudo", "a/b x user.a=1", "--pseudo", "a d 755 0 0"],
            "`a/b` does not exist, so",
        ),
        (&["--pseudo", "a L f"], "`f` cannot be linked to"),
        (&["--pseudo", "a l source"], "is a directory"),
        (
            &["--pseudo", "a d"],
            "cannot use --pseudo: definition 1, column 4",
        ),
        (
            &["--pseudo", "a m 755 0 0", "--pseudo-dir", "x"],
            "cannot use --pseudo-dir",
        ),
        (&["--pseudo-dir", "d 755 0 0"], "--pseudo-dir has no effect"),
        (
            &["--pseudo-file", "bad.pf"],
            "`bad.pf` line 3, column 5: found `8`",
        ),
        (
            &["--pack-file", "bad.pack"],
            "`bad.pack` line 2: `a` cannot be added: it exists already",
        ),
    ];
    for (args, expected) in cases {
        let ran = stage.run(&[&["-q", "build", "source", "image"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        assert!(!stage.at("image").exists());
    }
    for (args, expected) in [
        (
            &[][..],
            "the input is empty, without even the end of an archive",
        ),
        (
            &["--pseudo", "a d 755 0 0"],
            "no definition of the root directory",
        ),
    ] {
        let ran = stage.run(&[&["-q", "build", "-", "image"], args].concat());
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn definitions_without_effect_are_warned_of() {
    let stage = Stage::new();
    for (definition, expected) in [
        ("f d 755 0 0", "`f` is ignored: it is in the source"),
        ("x m 755 0 0", "`x` is ignored: it is not in the source"),
        ("/ d 755 0 0", "`/` is ignored: the source describes"),
    ] {
        let ran = stage.run(&["-q", "build", "source", "image", "--pseudo", definition]);
        assert_eq!(ran.code, Some(1), "{definition}");
        assert!(
            ran.stderr.contains(expected),
            "{definition}: {}",
            ran.stderr
        );
    }
}

const UNTIMED: &str = "\
new d 755 1 2
new/b b 600 0 0 7 1
new/c c 600 1 1 4095 1048575
new/f f 644 0 5 printf 'a  b\\\\n'; head -c 200000 /dev/zero
new/s s 777 3 3 somewhere else  
new/i i 600 0 0 f
new/j i 600 0 0 s
\"new/with \\\"quotes\\\" and spaces\" d 700 0 0
new/back\\\\slash\\ too d 700 0 0
new/again L new/f
f m 4755 1000 1000
d/inside \\
  d 711 0 0
";

const TIMED: &str = "\
new D 100 755 1 2
new/b B 200 600 0 0 7 1
new/c C \"1 jan 1980 00:00:00 UTC\" 600 1 1 5 1
new/f F 400 644 0 5 echo x
new/s S 1\\ jan\\ 1990\\ UTC 777 3 3 target
new/i I 600 600 root root f
f M 4294967295 600 0 0
";

#[test]
fn mksquashfs_makes_the_same_of_the_same_definitions() {
    if skip::without_peer("mksquashfs") || skip::without_peer("unsquashfs") {
        return;
    }
    let stage = Stage::new();
    for (text, all_time, epoch) in [
        (UNTIMED, &["-all-time", "900"][..], "900"),
        (TIMED, &[], ""),
    ] {
        stage.file("x.pf", text);
        let args = [
            "source",
            "theirs",
            "-noappend",
            "-quiet",
            "-no-progress",
            "-pf",
            "x.pf",
        ];
        stage.peer("mksquashfs", &[&args, all_time].concat());
        let args = [
            "-q",
            "build",
            "source",
            "ours",
            "--allow-commands",
            "--pseudo-file",
            "x.pf",
        ];
        let mut ours = command();
        ours.args(args).current_dir(stage.root.path());
        if !epoch.is_empty() {
            ours.env("SOURCE_DATE_EPOCH", epoch);
        }
        program(&mut ours);
        stage.assert_same("ours", "theirs");
    }
}

/// A tree with what a dump must not lose.
fn odd_source(stage: &Stage) {
    let source = stage.at("source");
    fs::write(source.join("large"), b"0123456789abcdef".repeat(40_000)).unwrap();
    fs::hard_link(source.join("large"), source.join("d/linked")).unwrap();
    fs::write(source.join("empty"), "").unwrap();
    fs::write(source.join("name \\ \"of\" marks"), "odd").unwrap();
    let mut sparse = File::create(source.join("sparse")).unwrap();
    sparse.seek(SeekFrom::Start(1 << 20)).unwrap();
    sparse.write_all(b"end").unwrap();
}

#[test]
fn dumps_of_unsquashfs_are_built_again() {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let stage = Stage::new();
    odd_source(&stage);
    stage.done(&["-q", "build", "source", "image"]);
    let dump = stage.dump("image");
    stage.done(&[
        "-q",
        "build",
        "--verify",
        "-",
        "again",
        "--pseudo-file",
        "image.dump",
    ]);
    stage.assert_same("image", "again");
    // Through a pipe, which cannot be read at any place.
    let mut piped = command();
    piped.args(["-q", "build", "-", "piped", "--pseudo-file", "-"]);
    piped.current_dir(stage.root.path()).stdin(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&dump).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(
        fs::read(stage.at("again")).unwrap(),
        fs::read(stage.at("piped")).unwrap()
    );
    // Cut short.
    fs::write(stage.at("cut"), &dump[..dump.len() - 1]).unwrap();
    let cut = stage.run(&["-q", "build", "-", "no", "--pseudo-file", "cut"]);
    assert_eq!(cut.code, Some(2));
    assert!(
        cut.stderr.contains("ends before the data"),
        "{}",
        cut.stderr
    );
}

const PACK: &str = "\
# a tree
dir / 711 1 2
dir /etc 0755 0 0
file /etc/conf 0644 5 6 f
file /f 0600 0 0
\tslink /etc/link 0777 7 8 somewhere else
link /second 0 0 0 /later
nod /dev/console 0600 0 0 c 5 1
nod /dev/sda 0660 0 6 b 8 0
pipe /run/pipe 0600 1 1
sock /run/sock 0600 1 1
file /later 0640 1 1 d/inner
dir \"/with space\" 0700 0 0
";

#[test]
fn gensquashfs_makes_the_same_of_the_same_pack_file() {
    if skip::without_peer("gensquashfs") || skip::without_peer("unsquashfs") {
        return;
    }
    let stage = Stage::new();
    fs::write(stage.at("source/d/inner"), "inner").unwrap();
    let globs = [
        "glob / 0640 3 4 -type f .",
        "dir /d 0700 0 0\nglob / * 9 * -type f -type l -name \"*[if]*\" -- .",
        "glob /d 0700 0 1 -type d -nonrecursive .\nglob / * 0 0 -type l .",
    ];
    for text in [PACK].into_iter().chain(globs) {
        stage.file("x.pack", text);
        stage.peer(
            "gensquashfs",
            &["-q", "-f", "-F", "x.pack", "-D", "source", "theirs"],
        );
        let args = ["--pack-file", "x.pack", "--pack-dir", "source"];
        stage.done(&[&["-q", "build", "--verify", "-", "ours"], &args[..]].concat());
        stage.assert_same("ours", "theirs");
    }
}

#[test]
fn pack_files_are_relative_to_themselves() {
    let stage = Stage::new();
    stage.file(
        "source/x.pack",
        "glob /usr 755 0 0 -type d .\nglob /usr * 1 1 -type f -path usr/[fd] .\n",
    );
    stage.done(&["-q", "build", "-", "image", "--pack-file", "source/x.pack"]);
    let listing = stage.done(&["ls", "-R", "image"]).text();
    assert_eq!(listing, "/usr\n/usr/d\n/usr/f\n");
    assert_eq!(
        stage.done(&["cat", "image", "usr/f"]).text(),
        "content of f"
    );
    // Onto a source, and pseudo definitions onto both.
    stage.file("y.pack", "dir /d 711 0 0\nfile /d/g 600 0 0 source/f\n");
    let more = [
        "--pack-file",
        "y.pack",
        "--pseudo",
        "d/h L d/g",
        "--pseudo",
        "d/g m 644 0 0",
    ];
    let ran = stage.run(&[&["-q", "build", "source", "image"], &more[..]].concat());
    assert_eq!(
        ran.code,
        Some(2),
        "a link to what is only changed: {}",
        ran.stderr
    );
    stage.done(&[&["-q", "build", "source", "image"], &more[..2], &more[4..]].concat());
    let listing = stage.listing("image");
    assert!(
        listing
            .lines()
            .any(|line| line.starts_with("-rw-r--r--") && line.ends_with("/d/g"))
    );
}
