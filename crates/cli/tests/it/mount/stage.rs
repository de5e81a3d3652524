//! A session with images and a place to mount them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::run::{Ran, Session, comes_true, unmount};

/// A session with `source`, `image` made of it, and the empty directory `at`.
pub(super) struct MountStage {
    pub(super) session: Session,
}

impl MountStage {
    /// Nothing but the directory.
    pub(super) fn empty() -> Self {
        let session = Session::new();
        fs::create_dir(session.at("at")).unwrap();
        Self { session }
    }

    /// With an image of a few files.
    pub(super) fn new() -> Self {
        let stage = Self::empty();
        let source = stage.at("source");
        fs::create_dir_all(source.join("directory/empty")).unwrap();
        fs::write(source.join("directory/file"), "content\n").unwrap();
        fs::write(source.join("large"), large()).unwrap();
        stage.session.done(["-q", "build", "source", "image"]);
        stage
    }

    pub(super) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.session.at(name)
    }

    /// A file of the mount.
    pub(super) fn mounted(&self, name: &str) -> PathBuf {
        self.at("at").join(name)
    }

    /// Mounts and comes back.
    pub(super) fn mount<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Guard<'_> {
        let words = ["mount", "image", "at"].map(|word| OsStr::new(word).to_owned());
        let more = args.into_iter().map(|arg| arg.as_ref().to_owned());
        let ran = self.session.run(words.into_iter().chain(more));
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        Guard { stage: self }
    }

    /// Mounts in the foreground; comes back once the files are there.
    pub(super) fn stay<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        let words = ["mount", "-f", "image", "at"].map(|word| OsStr::new(word).to_owned());
        let more = args.into_iter().map(|arg| arg.as_ref().to_owned());
        let mut command = self.session.command(words.into_iter().chain(more));
        let mut child = self.session.start(&mut command);
        let came = comes_true(|| self.is_mounted() || child.try_wait().unwrap().is_some());
        assert!(came && self.is_mounted(), "nothing was mounted");
        child
    }

    /// By the table of mounts: a mount that nobody answers for cannot be looked at.
    pub(super) fn is_mounted(&self) -> bool {
        let at = self
            .at("at")
            .canonicalize()
            .unwrap_or_else(|_| self.at("at"));
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let places = table.lines().filter_map(|line| line.split(' ').nth(4));
        places.into_iter().any(|place| Path::new(place) == at)
    }

    /// `fusermount3 -u`.
    pub(super) fn unmount(&self) -> Ran {
        unmount(&self.at("at"))
    }
}

/// Unmounts what is mounted in the background.
pub(super) struct Guard<'a> {
    stage: &'a MountStage,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // The one who answers ends by itself; the session waits for that.
        let ran = self.stage.unmount();
        if !std::thread::panicking() {
            assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        }
    }
}

/// Content of `large`: several blocks and a tail end, that compress a little.
pub(super) fn large() -> Vec<u8> {
    let mut state = 1_u32;
    let bytes = (0..(500 << 10) + 77).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + u8::try_from(state >> 28).unwrap()
    });
    bytes.collect()
}
