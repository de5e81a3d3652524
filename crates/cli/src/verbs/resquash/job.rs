//! Which tool makes an image again, and whether the bytes are the same.

use std::env;
use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use coldpress_dialects::remake::{self, squashfs_tools_ng};
use coldpress_doctor::snap::{SNAP_MIN_BYTES, Survey};
use coldpress_host::{Janitor, Scratch};
use coldpress_image::{Image, ImageOffset, ReadAt as _};
use coldpress_report::text::quoted;
use coldpress_session::external_tool;
use coldpress_session::ui::Ui;
use coldpress_writer::{Identity, Input, Tool};
use serde::Serialize;

use super::write;
use crate::flags::place::PlaceArgs;
use crate::image_file::Opened;
use crate::verbs::{diff, identify};

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Same,
    Different,
    /// A rule that needs no second image is broken.
    Refused,
    Unknown,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    /// What made the image again; `null` if nothing did.
    pub(crate) made_by: Option<String>,
    /// How it did, in words that may be typed.
    pub(crate) command: Option<String>,
    /// Why the bytes differ, the rules are broken, or nothing can be told.
    pub(crate) reasons: Vec<String>,
}

impl Found {
    /// Without a second image.
    fn at_once(verdict: Verdict, command: Option<String>, reasons: Vec<String>) -> Self {
        Self {
            verdict,
            made_by: None,
            command,
            reasons,
        }
    }

    fn unknown(command: Option<String>, reason: impl Into<String>) -> Self {
        Self::at_once(Verdict::Unknown, command, vec![reason.into()])
    }

    /// Adds why the bytes may differ, if they do.
    fn with_excuse(mut self, excuse: impl IntoIterator<Item = String>) -> Self {
        if self.verdict != Verdict::Same {
            self.reasons.extend(excuse);
        }
        self
    }
}

/// The image that is made again.
pub(crate) struct Job<'a> {
    image: &'a Image,
    path: &'a Path,
    /// Where the image lies in its file, as it was asked for but found.
    place: PlaceArgs,
    /// Byte of the file at which it begins.
    start: u64,
    /// From there to the end of what is the image's own.
    file_bytes: u64,
    ui: &'a Ui,
}

impl<'a> Job<'a> {
    /// # Errors
    ///
    /// If the length of the file cannot be read.
    pub(crate) fn new(
        opened: &'a Opened,
        path: &'a Path,
        place: PlaceArgs,
        ui: &'a Ui,
    ) -> anyhow::Result<Self> {
        let start = opened.start;
        let file_bytes = opened.bytes.size_bytes();
        Ok(Self {
            image: &opened.image,
            path,
            place: PlaceArgs {
                offset: place.offset.map(|_| ImageOffset::Bytes(start)),
            },
            start,
            file_bytes: file_bytes.with_context(|| format!("cannot read {}", quoted(path)))?,
            ui,
        })
    }

    pub(crate) fn by_rules_of_the_snap_store(&self) -> anyhow::Result<Found> {
        let survey = Survey::of(self.image)?;
        let options = survey.mksquashfs_options();
        let command = Some(format!("mksquashfs DIR IMAGE {}", options.join(" ")));
        let broken = survey.refused_at_once();
        if !broken.is_empty() {
            return Ok(Found::at_once(Verdict::Refused, command, broken));
        }
        if !external_tool::is_installed("mksquashfs") {
            return Ok(Found::unknown(command, not_installed("mksquashfs")));
        }
        self.by_mksquashfs(&options, survey.is_filled_up(self.file_bytes), command)
    }

    pub(super) fn as_it_was_made(&self) -> anyhow::Result<Found> {
        let identity = identify::identity(self.image, self.ui)?;
        let command = remake::command_line(self.image, &identity, self.file_bytes);
        let options = || remake::mksquashfs_options(self.image, &identity.habits, self.file_bytes);
        match identity.tool {
            Tool::Coldpress => self.by_coldpress(&identity, command),
            Tool::MksquashfsOrColdpress => {
                let found = self.by_coldpress(&identity, command.clone())?;
                if found.verdict == Verdict::Same || !external_tool::is_installed("mksquashfs") {
                    return Ok(found);
                }
                self.by_mksquashfs(&options(), false, command)
            }
            Tool::Mksquashfs if !external_tool::is_installed("mksquashfs") => {
                Ok(Found::unknown(command, not_installed("mksquashfs")))
            }
            Tool::Mksquashfs if !identity.habits.is_all_root && !is_root() => {
                let reason = "not all files belong to root, so only root can make it again";
                Ok(Found::unknown(command, reason))
            }
            Tool::Mksquashfs => self.by_mksquashfs(&options(), false, command),
            Tool::SquashfsToolsNg | Tool::Tar2sqfs if !external_tool::is_installed("tar2sqfs") => {
                Ok(Found::unknown(command, not_installed("tar2sqfs")))
            }
            Tool::SquashfsToolsNg | Tool::Tar2sqfs => {
                self.by_tar2sqfs(&squashfs_tools_ng::options(self.image, &identity))
            }
            _ => Ok(Found::unknown(command, "the tool that made it is unknown")),
        }
    }

    fn by_coldpress(&self, identity: &Identity, command: Option<String>) -> anyhow::Result<Found> {
        let janitor = Janitor::start()?;
        let scratch = Scratch::create(&env::temp_dir(), &janitor)?;
        let output = scratch.path().join("image");
        let input = Input::Image {
            path: self.path.to_path_buf(),
            offset_bytes: self.start,
            is_copied: false,
        };
        let file_bytes = self.file_bytes;
        write::again(input, self.image, identity, file_bytes, &output, self.ui)?;
        let by = format!("coldpress {}", env!("CARGO_PKG_VERSION"));
        let found = self.compare(&output, by, command)?;
        Ok(found.with_excuse([PLAN_OR_VERSION.to_owned()]))
    }

    /// * `is_filled_up`: whether a small image is then made as long as `snap pack` makes them.
    fn by_mksquashfs(
        &self,
        options: &[String],
        is_filled_up: bool,
        command: Option<String>,
    ) -> anyhow::Result<Found> {
        let janitor = Janitor::start()?;
        let scratch = Scratch::create(&env::temp_dir(), &janitor)?;
        let directory = scratch.path().join("root");
        let output = scratch.path().join("image");
        let lost = write::extracted(self.image, &directory, self.ui)?;
        write::by_mksquashfs(&directory, &output, options, self.ui)?;
        if is_filled_up {
            let file = File::options().write(true).open(&output)?;
            file.set_len(SNAP_MIN_BYTES)?;
        }
        let by = external_tool::version("mksquashfs", "-version", self.ui)?;
        Ok(self.compare(&output, by, command)?.with_excuse(lost))
    }

    /// From an archive, for which nobody needs to be root: of the same files in the same order,
    /// gensquashfs and tar2sqfs make the same image.
    fn by_tar2sqfs(&self, options: &[String]) -> anyhow::Result<Found> {
        let janitor = Janitor::start()?;
        let scratch = Scratch::create(&env::temp_dir(), &janitor)?;
        let archive = scratch.path().join("archive");
        let output = scratch.path().join("image");
        let lost = write::archived(self.image, &archive, self.ui)?;
        write::by_tar2sqfs(&archive, &output, options, self.ui)?;
        let by = external_tool::version("tar2sqfs", "--version", self.ui)?;
        let options = options.join(" ");
        let command = format!("coldpress tar IMAGE | tar2sqfs {options} NEW");
        let found = self.compare(&output, by, Some(command))?;
        let excuses = lost.into_iter().chain([ORDER_OR_VERSION.to_owned()]);
        Ok(found.with_excuse(excuses))
    }

    fn compare(
        &self,
        output: &Path,
        made_by: String,
        command: Option<String>,
    ) -> anyhow::Result<Found> {
        let reasons = diff::explain((self.path, self.place), output, self.ui)?;
        let verdict = match reasons {
            None => Verdict::Same,
            Some(_) => Verdict::Different,
        };
        Ok(Found {
            verdict,
            made_by: Some(made_by),
            command,
            reasons: reasons.unwrap_or_default(),
        })
    }
}

const PLAN_OR_VERSION: &str =
    "it may be built with a plan, which images do not contain, or by another version";

const ORDER_OR_VERSION: &str = "it may be made from an archive in another order or with a sort \
                                file, which images do not contain, or by another version";

fn not_installed(program: &str) -> String {
    format!("{program} makes such images, but is not in PATH to make it again")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
