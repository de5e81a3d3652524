use std::fs::{self, OpenOptions};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use coldpress_format::Body;
use coldpress_image::Image;
use coldpress_layout::Plan;
use coldpress_writer::pack_file::PackFile;
use coldpress_writer::{Input, Source, SourceOptions, gather};

use crate::trees::{differences_but, options, try_build};

const SECRET: &[u8] = b"a secret that is no business of the image's";
const HARMLESS: &[u8] = b"a text that everyone may read, of that length";

/// A source, and beside it what must not get into the image.
struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let stage = Self { directory };
        fs::create_dir_all(stage.at("source/d/e")).unwrap();
        fs::write(stage.at("source/file"), HARMLESS).unwrap();
        fs::write(stage.at("source/d/e/file"), HARMLESS).unwrap();
        fs::write(stage.at("source/z"), b"of no concern").unwrap();
        fs::create_dir_all(stage.at("outside/e")).unwrap();
        fs::write(stage.at("outside/file"), SECRET).unwrap();
        fs::write(stage.at("outside/e/file"), SECRET).unwrap();
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Puts a link to something outside in the place of `name`.
    fn link(&self, name: &str, target: &str) {
        let name = self.at(name);
        fs::rename(&name, self.at("away")).unwrap();
        symlink(self.at(target), &name).unwrap();
    }

    fn input(&self) -> Input {
        Input::Directory(self.at("source"))
    }
}

fn gathered(input: Input, options: &SourceOptions) -> Source {
    gather(&[input], options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Builds without compression, and demands that nothing secret is in the image, that what was
/// swapped is empty and told, and that the rest is whole.
fn judge(source: &Source, swapped: &[&str]) {
    for threads in [1, 3] {
        let options = coldpress_writer::Options {
            threads: NonZeroUsize::new(threads).unwrap(),
            ..options(None, 4096)
        };
        let (bytes, summary) = try_build(source, &Plan::default(), &options).unwrap();
        let holds_secret = bytes.windows(SECRET.len()).any(|it| it == SECRET);
        assert!(!holds_secret, "{swapped:?}");
        assert_eq!(summary.changed.len(), swapped.len(), "{swapped:?}");
        let differences = differences_but(&bytes, source, &summary.changed);
        assert_eq!(differences, Vec::<String>::new(), "{swapped:?}");
        let image = Image::new(Box::new(bytes)).unwrap();
        for path in swapped {
            let node = source.tree.find(path.as_bytes()).unwrap();
            let text = summary.changed[&node].to_string();
            assert!(
                text.contains("took its place") || text.contains("Not a directory"),
                "{text}"
            );
            let (_, inode) = image.find(path.as_bytes()).unwrap().unwrap();
            let Body::File(file) = inode.body else {
                panic!("{path} is no file");
            };
            assert_eq!(file.size_bytes, 0, "{path}");
        }
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let stage = Stage::new();
    let source = gathered(stage.input(), &SourceOptions::default());
    stage.link("source/file", "outside/file");
    judge(&source, &["/file"]);
}

#[test]
fn a_link_in_the_place_of_a_directory_is_not_followed() {
    for directory in ["source/d", "source/d/e"] {
        let stage = Stage::new();
        let source = gathered(stage.input(), &SourceOptions::default());
        let target = directory.replace("source/d", "outside");
        stage.link(directory, &target);
        judge(&source, &["/d/e/file"]);
    }
}

#[test]
fn a_file_of_equal_length_and_time_that_takes_a_name_is_not_read() {
    let stage = Stage::new();
    let source = gathered(stage.input(), &SourceOptions::default());
    let (name, secret) = (stage.at("source/file"), stage.at("outside/file"));
    let file = OpenOptions::new().write(true).open(&secret).unwrap();
    file.set_len(HARMLESS.len() as u64).unwrap();
    let found = name.metadata().unwrap().modified().unwrap();
    file.set_modified(found).unwrap();
    fs::remove_file(&name).unwrap();
    fs::hard_link(&secret, &name).unwrap();
    judge(&source, &["/file"]);
}

#[test]
fn files_that_a_caller_named_are_those_that_were_found() {
    let name = |stage: &Stage| Input::Entry {
        path: stage.at("source/file"),
        name: b"file".to_vec(),
    };
    let list = |stage: &Stage| Input::Listed {
        paths: vec![stage.at("source/file")],
        is_recursive: true,
    };
    let named: &dyn Fn(&Stage) -> Input = &name;
    for input in [named, &list] {
        let stage = Stage::new();
        let source = gathered(input(&stage), &SourceOptions::default());
        stage.link("source/file", "outside/file");
        let paths = source.tree.paths();
        let path = paths.iter().find(|it| it.ends_with(b"/file")).unwrap();
        judge(&source, &[std::str::from_utf8(path).unwrap()]);
    }
}

#[test]
fn files_of_a_pack_file_are_those_that_were_found() {
    for line in ["file /file 0644 0 0 file\n", "glob / * * * -type f .\n"] {
        let stage = Stage::new();
        let name = Path::new("pack file");
        let pack = PackFile::parse(line.as_bytes(), name, stage.at("source")).unwrap();
        let options = SourceOptions {
            pack_file: Some(pack.into()),
            ..SourceOptions::default()
        };
        let source = gather(&[], &options, &mut |_| ControlFlow::Continue(())).unwrap();
        stage.link("source/file", "outside/file");
        judge(&source, &["/file"]);
    }
}

#[test]
fn a_link_that_takes_the_place_of_a_directory_during_the_scan_is_not_followed() {
    let stage = Stage::new();
    let mut is_swapped = false;
    let source = gather(
        &[stage.input()],
        &SourceOptions::default(),
        // Called when the entries of the root are known, and before those below are.
        &mut |_| {
            if !is_swapped {
                is_swapped = true;
                stage.link("source/d", "outside");
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    let told: Vec<_> = source.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("source/d`"), "{told:?}");
    assert_eq!(
        source.tree.paths(),
        [&b"/"[..], b"/d", b"/file", b"/z"].map(<[u8]>::to_vec)
    );
    judge(&source, &[]);
}

#[test]
fn a_directory_that_takes_the_place_of_another_during_the_scan_is_not_entered() {
    let stage = Stage::new();
    let mut is_swapped = false;
    let source = gather(&[stage.input()], &SourceOptions::default(), &mut |_| {
        if !is_swapped {
            is_swapped = true;
            fs::rename(stage.at("source/d"), stage.at("away")).unwrap();
            fs::rename(stage.at("outside"), stage.at("source/d")).unwrap();
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(source.warnings.len(), 1, "{:?}", source.warnings);
    assert_eq!(source.tree.find(b"/d/e"), None);
    judge(&source, &[]);
}

#[test]
fn a_source_that_is_a_link_or_has_one_above_it_is_read() {
    let stage = Stage::new();
    symlink("source", stage.at("link")).unwrap();
    symlink(stage.directory.path(), stage.at("above")).unwrap();
    for path in ["link", "above/source", "above/link/"] {
        let source = gathered(Input::Directory(stage.at(path)), &SourceOptions::default());
        assert!(source.warnings.is_empty(), "{:?}", source.warnings);
        judge(&source, &[]);
    }
}

/// More inputs than directories are kept open.
#[test]
fn of_many_sources_each_is_read_and_no_link_is_followed() {
    let stage = Stage::new();
    let names: Vec<String> = (0..200).map(|number| format!("many{number:03}")).collect();
    for name in &names {
        fs::create_dir(stage.at(name)).unwrap();
        fs::write(stage.at(name).join("file"), HARMLESS).unwrap();
    }
    let paths: Vec<PathBuf> = names.iter().map(|name| stage.at(name)).collect();
    let inputs = Input::from_paths(&paths).unwrap();
    let source = gather(&inputs, &SourceOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let source = source.unwrap();
    for name in ["many003", "many199"] {
        let file = stage.at(name).join("file");
        fs::remove_file(&file).unwrap();
        symlink(stage.at("outside/file"), &file).unwrap();
    }
    judge(&source, &["/many003/file", "/many199/file"]);
}
