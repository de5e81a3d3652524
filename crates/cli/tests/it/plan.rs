//! Sort files and plans: against the tools whose sort files they are, and as a command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use coldpress_image::{Image, walk};

use crate::run::{coldpress, done, program};
use crate::skip;

struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    /// A tree of files with blocks and files that are all tail, no two alike.
    fn new() -> Self {
        let stage = Self {
            root: tempfile::tempdir().unwrap(),
        };
        let names = [
            "a",
            "b",
            "dir/x",
            "dir/y",
            "dir/sub/z",
            "e",
            "sp ace",
            "dir-",
            "q/[w]",
        ];
        for (name, number) in names.iter().zip(1_u32..) {
            for (small, size) in [("", 300_000 + number as usize), (".s", 100)] {
                let path = stage.at("tree").join(format!("{name}{small}"));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                // Bytes that do not compress, so that no two blocks are alike.
                let mut seed = u64::from(number) * 2 + u64::from(small.is_empty());
                let bytes = std::iter::repeat_with(|| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    seed.to_le_bytes()[7]
                });
                fs::write(path, bytes.take(size).collect::<Vec<_>>()).unwrap();
            }
        }
        std::os::unix::fs::symlink("dir", stage.at("tree/link")).unwrap();
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, text).unwrap();
        path
    }
}

/// The files with blocks in the order of their first byte, and those that are all tail in the order
/// of their fragment blocks.
pub(crate) fn data_order(image: &Path) -> [Vec<String>; 2] {
    let image = Image::open(image).unwrap();
    let (mut blocks, mut tails) = (Vec::new(), Vec::new());
    walk(&image, &mut |visited| {
        if let Some(file) = visited.file(&image)? {
            let path = String::from_utf8(visited.path.to_vec()).unwrap();
            match &file.tail {
                Some(tail) if file.blocks.is_empty() => {
                    tails.push((tail.fragment, tail.offset, path));
                }
                _ => blocks.push((file.start, path)),
            }
        }
        Ok(())
    })
    .unwrap();
    blocks.sort();
    tails.sort();
    [
        blocks.into_iter().map(|(_, path)| path).collect(),
        tails.into_iter().map(|(_, _, path)| path).collect(),
    ]
}

const MKSQUASHFS: &str = "# comment\ndir 100\na 5\na -5\n\tsp\\ ace +7 \nlink/sub/z.s 200\ne.s 1\n\
                          dir/../b 3\n. -3\nnone 9\nq/* 5\n";

#[test]
fn a_sort_file_of_mksquashfs_orders_as_mksquashfs_does() {
    if skip::without_peer("mksquashfs") {
        return;
    }
    let stage = Stage::new();
    let absolute = format!(
        "{}/tree/e 50\n",
        fs::canonicalize(stage.root.path()).unwrap().display()
    );
    for text in ["a 1\n", MKSQUASHFS, &absolute, "/* 4\ndir/* 3\n"] {
        let (sort, ours, theirs) = (
            stage.write("sort", text),
            stage.at("ours"),
            stage.at("theirs"),
        );
        let tree = stage.at("tree");
        done([
            Path::new("-q"),
            Path::new("build"),
            &tree,
            &ours,
            Path::new("--sort"),
            &sort,
        ]);
        let mut command = Command::new("mksquashfs");
        program(
            command
                .arg(&tree)
                .arg(&theirs)
                .args(["-noappend", "-quiet", "-sort"])
                .arg(&sort),
        );
        assert_eq!(data_order(&ours), data_order(&theirs), "{text}");
        // The plan says the same.
        let plan = stage.at("plan");
        let convert = [
            "-q",
            "plan",
            "convert",
            "--from",
            "mksquashfs",
            "--to",
            "plan",
            "--tree",
        ];
        let paths = [&tree, Path::new("-o"), &plan, &sort];
        done(convert.map(Path::new).into_iter().chain(paths));
        done([
            Path::new("-q"),
            Path::new("build"),
            &tree,
            &ours,
            Path::new("--plan"),
            &plan,
        ]);
        assert_eq!(data_order(&ours), data_order(&theirs), "{text}");
        // And a sort file made of the plan.
        let convert = [
            "-q",
            "plan",
            "convert",
            "--from",
            "plan",
            "--to",
            "mksquashfs",
            "-o",
        ];
        done(
            convert
                .map(Path::new)
                .into_iter()
                .chain([sort.as_path(), &plan]),
        );
        let again = stage.at("again");
        let mut command = Command::new("mksquashfs");
        program(
            command
                .arg(&tree)
                .arg(&again)
                .args(["-noappend", "-quiet", "-sort"])
                .arg(&sort),
        );
        assert_eq!(data_order(&again), data_order(&theirs), "{text}");
    }
}

#[test]
fn a_sort_file_of_gensquashfs_orders_as_gensquashfs_does() {
    if skip::without_peer("gensquashfs") {
        return;
    }
    let stage = Stage::new();
    let texts = [
        "1 a\n",
        "-5 [glob] dir/*\n5 /b\n -3\t[glob_no_path] d*\n1 sp ace\n9 a\n8 a\n2 [] q/[w]\n",
        "-1 [dont_compress] e\n-2 [glob] *.s\n-9 dir//./x.s\n3 [glob] [ab]\n# c\n",
    ];
    for text in texts {
        let (sort, ours, theirs) = (
            stage.write("sort", text),
            stage.at("ours"),
            stage.at("theirs"),
        );
        let tree = stage.at("tree");
        let flags = ["-q", "build", "--tails", "all", "--gensquashfs-sort"].map(Path::new);
        done(flags.into_iter().chain([sort.as_path(), &tree, &ours]));
        let mut command = Command::new("gensquashfs");
        program(
            command
                .arg("-D")
                .arg(&tree)
                .arg("-S")
                .arg(&sort)
                .args(["-q", "-f"])
                .arg(&theirs),
        );
        assert_eq!(data_order(&ours), data_order(&theirs), "{text}");
    }
}

#[test]
fn lint_names_the_lines_that_match_nothing() {
    let stage = Stage::new();
    let sort = stage.write("sort", "a 1\nnone 2\nlink 3\na x\n");
    let image = stage.at("image");
    done([
        Path::new("-q"),
        Path::new("build"),
        &stage.at("tree"),
        &image,
    ]);
    let sort = sort.to_str().unwrap();
    let image = image.to_str().unwrap();
    for tree in [stage.at("tree").to_str().unwrap(), image] {
        let args = ["plan", "lint", sort, "--from", "mksquashfs", "--tree", tree];
        let ran = coldpress(args);
        assert_eq!(ran.code, Some(1));
        let expected = "line 2: `none` matches nothing\n\
                        line 3: `link` is a symbolic link, which has no data to place\n\
                        line 4: `a x`, no priority follows the path; a space of the path is written `\\ `\n";
        assert_eq!(ran.text(), expected);
        assert!(ran.stderr.ends_with("sort: 3 findings\n"), "{}", ran.stderr);
        let ran = coldpress(args.into_iter().chain(["--json"]));
        let json = ran.json();
        assert_eq!(json["findings"][0]["line"], 2);
        assert_eq!(json["findings"][0]["path"], "none");
        assert_eq!(json["findings"][0]["reason"], "matches nothing");
    }
    fs::write(sort, "1 a\n").unwrap();
    let ran = done([
        "plan",
        "lint",
        sort,
        "--from",
        "gensquashfs",
        "--tree",
        image,
    ]);
    assert_eq!(ran.text(), "");
    fs::write(sort, "coldpress-plan 1\n[directories]\n/a\n").unwrap();
    let ran = coldpress(["plan", "lint", sort, "--from", "plan", "--tree", image]);
    assert_eq!(
        ran.text(),
        "line 3: `/a` is not a directory, so it has no listing to place\n"
    );
}

#[test]
fn what_a_conversion_loses_is_told() {
    let stage = Stage::new();
    let text = "coldpress-plan 1\n[data]\nblocks /a\\nb\nblocks /a\n[packing]\nlevel 3 0-1 /a\n";
    let (plan, sort) = (stage.write("plan", text), stage.at("sort"));
    let [plan, sort] = [&plan, &sort].map(|path| path.to_str().unwrap());
    let ran = coldpress([
        "plan",
        "convert",
        plan,
        "--from",
        "plan",
        "--to",
        "mksquashfs",
        "-o",
        sort,
    ]);
    assert_eq!(ran.code, Some(1));
    let expected = "warning: no line of a sort file can name 1 file: `/a\\x0ab`\n\
                    warning: a sort file cannot say the packing of 1 file: `/a`\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(fs::read_to_string(sort).unwrap(), "a 32767\n");
    let ran = coldpress([
        "plan",
        "convert",
        sort,
        "--from",
        "mksquashfs",
        "--to",
        "plan",
        "-o",
        plan,
    ]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("hint: name the directory or image"),
        "{}",
        ran.stderr
    );
}
