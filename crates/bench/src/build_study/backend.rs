//! The backend on a running Linux: tools started, timed, and cleaned up behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use coldpress_history::Figures;
use coldpress_host::{Cgroup, Janitor, Outcome, remove_tree};
use coldpress_report::units::as_f64;

use super::matrix::{Build, Unpack};
use super::programs::{Ended, Programs};
use super::runner::{Attempt, Backend};
use super::survey::look_at;
use super::tools::{Making, Unpacking};
use super::{BuildStudy, io_error};
use crate::error::Error;

pub(super) struct RealBackend<'a> {
    study: &'a BuildStudy,
    programs: Programs<'a>,
    is_root: bool,
    /// What the image that is there is called where images are kept.
    image_name: Option<String>,
    /// Its size, in bytes and in percent.
    size: Figures,
    /// Images that are kept already.
    kept: BTreeSet<String>,
}

impl<'a> RealBackend<'a> {
    /// Without root there is no cgroup.
    pub(super) fn open(study: &'a BuildStudy, janitor: &Janitor) -> Self {
        let cgroup = Cgroup::create_within("build").ok();
        if let Some(cgroup) = &cgroup {
            janitor.watch(cgroup.leftover());
        }
        Self {
            study,
            programs: Programs {
                coldpress: &study.coldpress,
                cgroup,
                timeout_s: study.timeout_s,
            },
            is_root: coldpress_host::is_root(),
            image_name: None,
            size: Figures::new(),
            kept: BTreeSet::new(),
        }
    }

    fn image(&self) -> PathBuf {
        self.study.work.join("image.sqfs")
    }

    fn unpacked(&self) -> PathBuf {
        self.study.work.join("unpacked")
    }
}

impl Backend for RealBackend<'_> {
    fn build(&mut self, build: &Build, stop: &mut dyn FnMut() -> bool) -> Result<Attempt, Error> {
        let made = self.study.matrix.images[build.image];
        let image = self.image();
        let making = Making {
            setting: made.setting,
            threads: build.threads,
            source: &self.study.source,
            image: &image,
        };
        let (tool, words) = (made.maker.name(), made.maker.words(&making));
        let ended = self.programs.run(tool, words, &self.study.work, stop)?;
        let (outcome, warning) = match ended {
            Ended::Done { outcome, warning } => (outcome, warning),
            Ended::Failed { why } => return Ok(Attempt::Failed { why }),
        };
        let size_bytes = fs::metadata(&image).map_or(0, |metadata| metadata.len());
        if size_bytes == 0 {
            let why = format!("{tool} was done but made no image");
            return Ok(Attempt::Failed { why });
        }
        self.image_name = Some(format!("{made}.sqfs").replace(' ', "-"));
        self.size = self.size_figures(size_bytes);
        let mut figures = figures_of("build_s", &outcome);
        figures.extend(self.size.clone());
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
        let (tool, words) = (unpack.unpacker.name(), unpack.unpacker.words(&unpacking));
        let ended = self.programs.run(tool, words, &self.study.work, stop)?;
        let attempt = match ended {
            Ended::Done { outcome, warning } => match self.missing(&directory) {
                None => {
                    let mut figures = figures_of("unpack_s", &outcome);
                    figures.extend(self.size.clone());
                    Attempt::Done { figures, warning }
                }
                Some(what) => Attempt::Failed {
                    why: format!("{tool} was done but {what}"),
                },
            },
            Ended::Failed { why } => Attempt::Failed { why },
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

impl RealBackend<'_> {
    fn size_figures(&self, size_bytes: u64) -> Figures {
        let mut size = Figures::from([("size_bytes".to_owned(), as_f64(size_bytes))]);
        let content_bytes = self.study.survey.content_bytes;
        if content_bytes > 0 {
            let percent = 100.0 * as_f64(size_bytes) / as_f64(content_bytes);
            size.insert("size_percent".to_owned(), percent);
        }
        size
    }

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
