use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use coldpress_format::Compressor;
use coldpress_image::{FileBlock, Image};
use coldpress_layout::{Plan, Tails};
use coldpress_writer::{Options, Source, Summary, Warning};

use crate::trees::{build_while, content, differences_but, options, scanned_for, try_build};

const BLOCK_BYTES: usize = 4096;
/// Many blocks more than may be in flight.
const LARGE_BYTES: usize = 60 * BLOCK_BYTES;

/// What the file is that something happens to.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one axis of the crossing"
)]
struct Shape {
    is_duplicate: bool,
    is_sparse: bool,
    has_tail: bool,
    is_large: bool,
    is_linked: bool,
}

/// What happens to it after it was found, or while it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Nothing,
    ShrinksInBlocks,
    ShrinksInTail,
    Empties,
    Grows,
    IsRewritten,
    Vanishes,
    BecomesFifo,
    BecomesSymlink,
    IsReplaced,
}

const EVENTS: [Event; 10] = [
    Event::Nothing,
    Event::ShrinksInBlocks,
    Event::ShrinksInTail,
    Event::Empties,
    Event::Grows,
    Event::IsRewritten,
    Event::Vanishes,
    Event::BecomesFifo,
    Event::BecomesSymlink,
    Event::IsReplaced,
];

impl Shape {
    fn all() -> impl Iterator<Item = Self> {
        (0_u8..32).map(|bits| Self {
            is_duplicate: bits & 1 != 0,
            is_sparse: bits & 2 != 0,
            has_tail: bits & 4 != 0,
            is_large: bits & 8 != 0,
            is_linked: bits & 16 != 0,
        })
    }

    fn len(self) -> usize {
        let blocks = if self.is_large {
            LARGE_BYTES
        } else {
            2 * BLOCK_BYTES
        };
        blocks + if self.has_tail { 700 } else { 0 }
    }

    /// Makes the file `it` among others.
    fn make(self, directory: &Path) {
        let at = |name: &str| directory.join(name);
        let bytes = content(3, self.len());
        fs::write(at("a neighbor"), content(5, 900)).unwrap();
        let write = |name: &str| {
            let file = File::create(at(name)).unwrap();
            if self.is_sparse {
                file.set_len(bytes.len() as u64).unwrap();
                file.write_all_at(&bytes[BLOCK_BYTES..], BLOCK_BYTES as u64)
                    .unwrap();
            } else {
                file.write_all_at(&bytes, 0).unwrap();
            }
        };
        write("it");
        if self.is_duplicate {
            write("its copy");
        }
        if self.is_linked {
            fs::hard_link(at("it"), at("its link")).unwrap();
        }
        // Another file with the same tail end.
        let mut twin = content(11, BLOCK_BYTES);
        twin.extend(&bytes[bytes.len() - bytes.len() % BLOCK_BYTES..]);
        fs::write(at("tail twin"), twin).unwrap();
        fs::write(at("z neighbor"), content(7, 3 * BLOCK_BYTES + 50)).unwrap();
    }
}

impl Event {
    fn happen(self, path: &Path, len: usize) {
        let set_len = |len: usize| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(len as u64).unwrap();
        };
        match self {
            Self::Nothing => {}
            Self::ShrinksInBlocks => set_len(BLOCK_BYTES + 100),
            Self::ShrinksInTail => set_len(len - 1),
            Self::Empties => set_len(0),
            Self::Grows => set_len(len + 10 * BLOCK_BYTES),
            Self::IsRewritten => {
                fs::write(path, content(9, len)).unwrap();
                let file = OpenOptions::new().write(true).open(path).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
            Self::Vanishes => fs::remove_file(path).unwrap(),
            Self::BecomesFifo => {
                fs::remove_file(path).unwrap();
                let mode = rustix::fs::Mode::from_raw_mode(0o644);
                let cwd = rustix::fs::CWD;
                rustix::fs::mknodat(cwd, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
            Self::BecomesSymlink => {
                fs::remove_file(path).unwrap();
                std::os::unix::fs::symlink("z neighbor", path).unwrap();
            }
            Self::IsReplaced => {
                let found = path.metadata().unwrap().modified().unwrap();
                let other = path.with_file_name("other");
                fs::write(&other, content(9, len)).unwrap();
                let file = OpenOptions::new().write(true).open(&other).unwrap();
                file.set_modified(found).unwrap();
                fs::rename(&other, path).unwrap();
            }
        }
    }
}

fn settings(threads: usize) -> Options {
    Options {
        threads: NonZeroUsize::new(threads).unwrap(),
        // Less than the large file.
        memory_bytes: 8 * BLOCK_BYTES as u64,
        tails: Tails::All,
        ..options(Some(Compressor::Zstd), u32::try_from(BLOCK_BYTES).unwrap())
    }
}

/// The image is whole, what did not change is in it, and what did is as long as it says.
fn judge(bytes: &[u8], source: &Source, summary: &Summary, context: &str) {
    let differences = differences_but(bytes, source, &summary.changed);
    assert_eq!(differences, Vec::<String>::new(), "{context}");
    let image = Image::new(Box::new(bytes.to_vec())).unwrap();
    coldpress_image::walk(&image, &mut |visited| {
        let Some(file) = &visited.file(&image)? else {
            return Ok(());
        };
        let mut len = 0;
        image.for_each_block(file, &mut |block| {
            len += match block {
                FileBlock::Data(bytes) => bytes.len() as u64,
                FileBlock::Hole(len) => len,
            };
            Ok::<_, coldpress_image::Error>(())
        })?;
        assert_eq!(len, file.size_bytes, "{context}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn whatever_happens_to_a_file_of_any_shape_before_it_is_read_the_image_is_whole() {
    for shape in Shape::all() {
        for event in EVENTS {
            let directory = tempfile::tempdir().unwrap();
            shape.make(directory.path());
            let source = scanned_for(directory.path(), Some(settings(1).block_size));
            event.happen(&directory.path().join("it"), shape.len());
            let context = format!("{shape:?} {event:?}");
            let mut images = Vec::new();
            for threads in [1, 2, 7] {
                let (bytes, summary) =
                    try_build(&source, &Plan::default(), &settings(threads)).unwrap();
                let is_told = !summary.changed.is_empty();
                assert_eq!(is_told, event != Event::Nothing, "{context} {threads}");
                judge(&bytes, &source, &summary, &format!("{context} {threads}"));
                images.push(bytes);
            }
            assert!(
                images.windows(2).all(|pair| pair[0] == pair[1]),
                "{context}"
            );
        }
    }
}

#[test]
fn whatever_happens_to_a_file_while_it_is_read_the_image_is_whole() {
    for shape in Shape::all() {
        for event in EVENTS {
            for threads in [1, 2, 7] {
                let directory = tempfile::tempdir().unwrap();
                shape.make(directory.path());
                let source = scanned_for(directory.path(), Some(settings(1).block_size));
                let path = directory.path().join("it");
                let mut happened = false;
                let (bytes, mut summary) = build_while(
                    &source,
                    &Plan::default(),
                    &settings(threads),
                    &mut |progress| {
                        if progress.done_bytes > BLOCK_BYTES as u64 && !happened {
                            happened = true;
                            event.happen(&path, shape.len());
                        }
                        ControlFlow::Continue(())
                    },
                )
                .unwrap();
                let context = format!("{shape:?} {event:?} {threads}");
                // Read before it happened: the image is right, the source cannot tell any more.
                let it = source.tree.find(b"/it").unwrap();
                let warning = Warning::Changed {
                    path,
                    expected_bytes: 0,
                    stored_bytes: 0,
                };
                summary.changed.entry(it).or_insert(warning);
                judge(&bytes, &source, &summary, &context);
            }
        }
    }
}

#[test]
fn a_copy_of_a_file_that_changes_keeps_its_own_content() {
    let shape = Shape {
        is_duplicate: true,
        is_sparse: false,
        has_tail: true,
        is_large: false,
        is_linked: false,
    };
    let directory = tempfile::tempdir().unwrap();
    shape.make(directory.path());
    let source = scanned_for(directory.path(), Some(settings(1).block_size));
    Event::IsRewritten.happen(&directory.path().join("it"), shape.len());
    let (bytes, summary) = try_build(&source, &Plan::default(), &settings(2)).unwrap();
    let [it, copy] = [&b"/it"[..], b"/its copy"].map(|path| source.tree.find(path).unwrap());
    assert!(summary.changed.contains_key(&it) && !summary.changed.contains_key(&copy));
    // The copy's content is compared, since it did not change.
    let changed: BTreeMap<_, _> = summary.changed.into_iter().collect();
    assert_eq!(
        differences_but(&bytes, &source, &changed),
        Vec::<String>::new()
    );
}
