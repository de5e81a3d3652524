//! The file whose image is replaced.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use coldpress_format::{BlockSize, Compressor};
use coldpress_image::{Image, Offset, open_file};
use coldpress_writer::Input;

use crate::container::{Account, Container};
use crate::error::Error;
use crate::site::Site;

/// A file with an image in it, and what that image is like.
#[derive(Debug)]
pub struct Original {
    /// Where it is, without symlinks.
    pub path: PathBuf,
    file: File,
    /// Its bytes.
    pub file_bytes: u64,
    /// What is around its image.
    pub container: Container,
    /// Byte at which its image begins.
    pub start: u64,
    /// The compressor of its image.
    pub compressor: Compressor,
    /// Bytes of a data block of its image.
    pub block_size: BlockSize,
}

impl Original {
    /// Opens a file; `None` if it is no AppImage of type 2, SIF container, ISO file or snap.
    ///
    /// * `wanted`: the path of the image in an ISO file that has several.
    ///
    /// # Errors
    ///
    /// If it cannot be read, cannot be rebuilt, or its image is damaged.
    pub fn open(path: &Path, wanted: Option<&[u8]>) -> Result<Option<Self>, Error> {
        let read = |source| Error::Read { start: 0, source };
        let file = open_file(path).map_err(read)?;
        let Some(container) = Container::open(&file, wanted)? else {
            return Ok(None);
        };
        let start = container.image().start;
        let inner = file.try_clone().map_err(read)?;
        let image = Image::new(Box::new(Offset { inner, start }))?;
        if let Container::Iso(medium) = &container {
            medium.check_nested(&image)?;
        }
        let superblock = image.superblock();
        Ok(Some(Self {
            path: path.canonicalize().map_err(read)?,
            file_bytes: file.metadata().map_err(read)?.len(),
            file,
            start,
            compressor: superblock.compressor,
            block_size: superblock.block_size,
            container,
        }))
    }

    /// Its image as what another is built from.
    ///
    /// * `is_copied`: whether blocks are copied as they are.
    pub fn input(&self, is_copied: bool) -> Input {
        Input::Image {
            path: self.path.clone(),
            offset_bytes: self.start,
            is_copied,
        }
    }

    /// What the program of an AppImage starts, with the variables that it sets; `{root}` stands for
    /// the mounted image.
    ///
    /// * `directory`: where it is started.
    pub fn start(&self, directory: &Path, args: Vec<OsString>) -> Vec<OsString> {
        let variable = |name: &str, value: &Path| {
            let mut word = OsString::from(name);
            word.push(value);
            word
        };
        let mut words = vec![
            "env".into(),
            "APPDIR={root}".into(),
            variable("APPIMAGE=", &self.path),
            variable("ARGV0=", &self.path),
            variable("OWD=", directory),
            "{root}/AppRun".into(),
        ];
        words.extend(args);
        words
    }

    /// Puts around a new image what was around the old one, and gives the file the mode of the old
    /// one.
    ///
    /// * `takes_place`: whether it is to replace the old file, whose owner and group it then gets
    ///   if this process may give it away.
    /// * `directory`: for files that are removed again.
    /// * `stop`: whether to give up.
    ///
    /// # Errors
    ///
    /// As [`Container::complete`].
    pub fn complete(
        &self,
        new: &File,
        image_bytes: u64,
        takes_place: bool,
        directory: &Path,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Account, Error> {
        let mut site = Site {
            old: &self.path,
            directory,
            stop,
        };
        let completed = (self.container).complete(&self.file, new, image_bytes, &mut site);
        let account = completed?;
        let failed = |source| Error::Write { start: 0, source };
        let metadata = self.file.metadata().map_err(failed)?;
        if takes_place && fchown(new, Some(metadata.uid()), Some(metadata.gid())).is_err() {
            // Only root gives files away; the group may still be one of this user.
            let _ = fchown(new, None, Some(metadata.gid()));
        }
        // No set-id bits: they would be those of another owner.
        let mode = Permissions::from_mode(metadata.mode() & 0o777);
        new.set_permissions(mode).map_err(failed)?;
        Ok(account)
    }
}
