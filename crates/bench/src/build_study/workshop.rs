//! The workshop on a running Linux: tools started, timed, and cleaned up behind.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use coldpress_history::Figures;
use coldpress_host::{
    Cgroup, Command, Error as HostError, Janitor, Outcome, Ready, launch, remove_tree, write_back,
};

use super::field::{Build, Unpack};
use super::runner::{Attempt, Workshop};
use super::survey::look_at;
use super::tools::{Making, Programs, Unpacking, is_warning};
use super::{BuildStudy, io_error};
use crate::error::Error;
use crate::format_units::as_f64;
use crate::run::Exit;
use crate::text::printable;

/// What `{root}` in the words of a tool is replaced by: itself, as the paths of users may contain it.
const NO_ROOT: &str = "{root}";

/// What the system says of a full disk, and so every tool.
const DISK_IS_FULL: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// Characters of the last words of a tool that are kept.
const WORDS_MAX: usize = 300;

pub(super) struct RealWorkshop<'a> {
    study: &'a BuildStudy,
    programs: Programs,
    cgroup: Option<Cgroup>,
    is_root: bool,
    /// What the image that is there is called where images are kept.
    image_name: Option<String>,
    /// Images that are kept already.
    kept: BTreeSet<String>,
}

impl<'a> RealWorkshop<'a> {
    /// Without root there is no cgroup; the process group of the tool is ended then.
    pub(super) fn open(study: &'a BuildStudy, janitor: &Janitor) -> Self {
        let cgroup = Cgroup::create_within("build").ok();
        if let Some(cgroup) = &cgroup {
            janitor.watch(cgroup.leftover());
        }
        Self {
            study,
            programs: Programs {
                coldpress: study.coldpress.clone(),
            },
            cgroup,
            is_root: coldpress_host::is_root(),
            image_name: None,
            kept: BTreeSet::new(),
        }
    }

    fn image(&self) -> PathBuf {
        self.study.work.join("image.sqfs")
    }

    fn unpacked(&self) -> PathBuf {
        self.study.work.join("unpacked")
    }

    /// Runs a tool when all that was written before is on the disk.
    fn launch(
        &self,
        tool: &str,
        words: Vec<OsString>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Launched, Error> {
        write_back();
        let outcome = match launched(tool, &self.programs, words, self.cgroup.as_ref(), stop) {
            Err(Error::Host(HostError::CannotRun { source, .. })) => {
                let why = format!("{tool} cannot be run: {source}");
                return Ok(Launched::Failed(why));
            }
            outcome => outcome?,
        };
        let code = outcome.status.code;
        if code == Some(0) {
            return Ok(Launched::Done(outcome, None));
        }
        let told = last_words(&outcome);
        if is_disk_full(&outcome) {
            let work = self.study.work.clone();
            return Err(Error::DiskFull { work, told });
        }
        if is_warning(tool, code) {
            return Ok(Launched::Done(outcome, Some(format!("{tool}: {told}"))));
        }
        let exit = Exit::from(outcome.status);
        Ok(Launched::Failed(match told.as_str() {
            "" => format!("{tool} failed ({exit})"),
            told => format!("{tool} failed ({exit}): {told}"),
        }))
    }
}

enum Launched {
    Done(Outcome, Option<String>),
    Failed(String),
}

impl Workshop for RealWorkshop<'_> {
    fn build(&mut self, build: &Build, stop: &mut dyn FnMut() -> bool) -> Result<Attempt, Error> {
        let made = self.study.field.images[build.image];
        let image = self.image();
        let making = Making {
            setting: made.setting,
            threads: build.threads,
            source: &self.study.source,
            image: &image,
        };
        let (outcome, warning) =
            match self.launch(made.maker.name(), made.maker.words(&making), stop)? {
                Launched::Done(outcome, warning) => (outcome, warning),
                Launched::Failed(why) => return Ok(Attempt::Failed { why }),
            };
        let size_bytes = fs::metadata(&image).map_or(0, |metadata| metadata.len());
        if size_bytes == 0 {
            let why = format!("{} was done but made no image", made.maker.name());
            return Ok(Attempt::Failed { why });
        }
        self.image_name = Some(format!("{made}.sqfs").replace(' ', "-"));
        let mut figures = figures_of("build_s", &outcome);
        figures.insert("size_bytes".to_owned(), as_f64(size_bytes));
        let content_bytes = self.study.survey.content_bytes;
        if content_bytes > 0 {
            let percent = 100.0 * as_f64(size_bytes) / as_f64(content_bytes);
            figures.insert("size_percent".to_owned(), percent);
        }
        Ok(Attempt::Done { figures, warning })
    }

    fn unpack(
        &mut self,
        unpack: &Unpack,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Attempt, Error> {
        let (image, directory) = (self.image(), self.unpacked());
        let unpacking = Unpacking {
            threads: unpack.threads,
            image: &image,
            directory: &directory,
            is_root: self.is_root,
        };
        let unpacker = unpack.unpacker;
        let launched = self.launch(unpacker.name(), unpacker.words(&unpacking), stop)?;
        let attempt = match launched {
            Launched::Done(outcome, warning) => match self.missing(&directory) {
                None => Attempt::Done {
                    figures: figures_of("unpack_s", &outcome),
                    warning,
                },
                Some(what) => Attempt::Failed {
                    why: format!("{} was done but {what}", unpacker.name()),
                },
            },
            Launched::Failed(why) => Attempt::Failed { why },
        };
        remove_tree(&directory)?;
        Ok(attempt)
    }

    fn clear(&mut self) -> Result<(), Error> {
        let image = self.image();
        if let (Some(keep), Some(name)) = (&self.study.keep, self.image_name.take())
            && self.kept.insert(name.clone())
        {
            move_file(&image, &keep.join(name))?;
        }
        Ok(remove_tree(&image)?)
    }
}

impl RealWorkshop<'_> {
    /// What of the source was not unpacked; `None` if all was.
    fn missing(&self, unpacked: &Path) -> Option<String> {
        let source = &self.study.survey;
        match look_at(unpacked) {
            Err(error) => Some(error.to_string()),
            Ok(found) if found.names != source.names => {
                let [found, all] = [found.names, source.names];
                Some(format!("unpacked {found} of {all} files"))
            }
            Ok(found) if found.named_bytes != source.named_bytes => {
                let [found, all] = [found.named_bytes, source.named_bytes];
                Some(format!("unpacked {found} of {all} bytes"))
            }
            Ok(_) => None,
        }
    }
}

/// Time, used cores and memory of a tool.
fn figures_of(time: &str, outcome: &Outcome) -> Figures {
    let (wall_ns, cpu_ns) = (as_f64(outcome.wall_ns), as_f64(outcome.cpu_ns));
    Figures::from([
        (time.to_owned(), wall_ns / 1e9),
        ("used_cores".to_owned(), cpu_ns / wall_ns.max(1.0)),
        (
            "peak_memory_bytes".to_owned(),
            as_f64(outcome.peak_memory_bytes),
        ),
    ])
}

pub(super) fn version(
    tool: &str,
    programs: &Programs,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<String>, Error> {
    let flag = match tool {
        "mksquashfs" | "unsquashfs" => "-version",
        _ => "--version",
    };
    match launched(tool, programs, vec![flag.into()], None, stop) {
        Ok(outcome) => {
            let said = printable(&outcome.stdout_tail);
            Ok(Some(said.lines().next().unwrap_or(tool).to_owned()))
        }
        Err(Error::Host(HostError::CannotRun { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

fn launched(
    tool: &str,
    programs: &Programs,
    mut words: Vec<OsString>,
    cgroup: Option<&Cgroup>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Error> {
    words.insert(0, programs.of(tool));
    let command = Command {
        args: words,
        chroot: false,
        timeout_s: 0,
        ready: Ready::Exit,
    };
    match launch(&command, Path::new(NO_ROOT), cgroup, stop) {
        Err(HostError::Stopped) => Err(Error::Stopped),
        outcome => Ok(outcome?),
    }
}

/// The last line that a tool wrote, to its standard error if it wrote there.
fn last_words(outcome: &Outcome) -> String {
    let last_line = |tail: &[u8]| {
        let text = printable(tail);
        let line = text.lines().rfind(|line| !line.trim().is_empty());
        line.map(|line| line.trim().chars().take(WORDS_MAX).collect())
    };
    last_line(&outcome.stderr_tail)
        .or_else(|| last_line(&outcome.stdout_tail))
        .unwrap_or_default()
}

fn is_disk_full(outcome: &Outcome) -> bool {
    [&outcome.stderr_tail, &outcome.stdout_tail]
        .iter()
        .any(|tail| {
            let text = printable(tail);
            DISK_IS_FULL.iter().any(|words| text.contains(words))
        })
}

/// Puts a file elsewhere; it is copied to another disk.
fn move_file(from: &Path, to: &Path) -> Result<(), Error> {
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let copied = fs::copy(from, to).map_err(io_error("write", to));
    if copied.is_err() {
        let _ = fs::remove_file(to);
    }
    copied.map(drop)
}
