//! A snap of which the image, which is all of it, is replaced.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;

use coldpress_format::{Body, MAGIC};
use coldpress_image::Image;
use coldpress_snap::{METADATA_MAX_BYTES, Metadata, PATH, Surroundings};

use crate::error::Error;
use crate::field::read_up_to;
use crate::image::{check_end, image};
use crate::program::Place;

/// A snap: an image with a `meta/snap.yaml` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapImage {
    metadata: Metadata,
    /// Without padding.
    image: Place,
}

impl SnapImage {
    /// Reads what a file says of itself; `None` if it is no image, or none of a snap.
    ///
    /// # Errors
    ///
    /// If the image is damaged, `meta/snap.yaml` is not that of a snap, or something comes after
    /// the image.
    pub fn open(file: &File) -> Result<Option<Self>, Error> {
        let failed = |source| Error::Read { start: 0, source };
        let mut magic = [0; 4];
        read_up_to(file, &mut magic, 0)?;
        if magic != MAGIC.to_le_bytes() {
            return Ok(None);
        }
        let file_bytes = file.metadata().map_err(failed)?.len();
        let place = image(file, &(0..file_bytes))?;
        let opened = Image::new(Box::new(file.try_clone().map_err(failed)?))?;
        let Some((_, inode)) = opened.find(PATH.as_bytes())? else {
            return Ok(None);
        };
        let Body::File(described) = &inode.body else {
            return Ok(None);
        };
        // One byte more tells that it is too long.
        let len = described.size_bytes.min(METADATA_MAX_BYTES + 1);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        let read = opened.read_at(described, 0, &mut bytes)?;
        let metadata = Metadata::parse(bytes.get(..read).unwrap_or_default())?;
        check_end(file, place.end, file_bytes)?;
        Ok(Some(Self {
            metadata,
            image: place,
        }))
    }

    /// Where its image is, without padding.
    pub fn image(&self) -> Place {
        self.image.clone()
    }

    /// The command line of a start: an app as snapd starts it, or another program with the
    /// variables of the snap; `{root}` stands for the mounted image.
    ///
    /// * `words`: the app or program, and its arguments.
    /// * `data`: where nothing is; gets the directories that the snap writes into.
    /// * `variable`: the value of a variable of this process.
    ///
    /// # Errors
    ///
    /// If the directories cannot be made, or the start becomes longer than a program can be given.
    pub fn start(
        &self,
        words: &[OsString],
        data: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<OsString>, Error> {
        for name in ["data", "common", "user-data", "user-common"] {
            let made = fs::create_dir_all(data.join(name));
            made.map_err(|source| Error::Write { start: 0, source })?;
        }
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        let around = Surroundings {
            data: &data.to_string_lossy(),
            architecture,
            variable,
        };
        let (program, args) = words.split_first().unzip();
        let name = program
            .and_then(|word: &OsString| word.to_str())
            .unwrap_or_default();
        let app = self.metadata.start(name, &around)?;
        let environment = self.metadata.environment(Some(name), &around)?;
        let mut started = vec![OsString::from("env")];
        started.extend(
            environment
                .iter()
                .map(|(name, value)| format!("{name}={value}").into()),
        );
        match app {
            Some(app) => started.extend(app.into_iter().map(OsString::from)),
            None => started.extend(program.cloned()),
        }
        started.extend(args.unwrap_or_default().iter().cloned());
        Ok(started)
    }
}
