//! The start that is to be fast: read from a file, or recorded.

use std::path::Path;

use coldpress_container::RunConfig;
use coldpress_host::{Command, Janitor, Readahead};
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::WorkDir;
use coldpress_writer::Source;

use crate::profiles::OrderingProfile;
use crate::program;
use crate::recording::{self, Recorder, Stage};
use crate::resolve::{self, ImageSettings};
use crate::start::Start;
use crate::verbs::record;
use crate::verbs::tune::args::TuneArgs;

/// Where the recorded image lies: not `/tmp`, which may be in memory.
const WORK_PARENT: &str = "/var/tmp";

/// Where the start comes from.
pub(super) enum Origin {
    /// There is none.
    Nothing,
    Start(Start),
    Profile(OrderingProfile),
    Command {
        command: Command,
        recorder: &'static Recorder,
    },
}

impl Origin {
    /// Reads what there is to read, and checks what there is to record. Call it before any thread
    /// is started.
    ///
    /// * `config`: how a container image wants its programs to be started.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or nothing can be recorded.
    pub(super) fn resolve(
        args: &TuneArgs,
        config: Option<&RunConfig>,
        ui: &Ui,
    ) -> anyhow::Result<Self> {
        if let Some(path) = &args.trace {
            return Ok(Self::Start(Start::read_trace(path)?));
        }
        if let Some(path) = &args.profile {
            let profile = OrderingProfile::with_limits(path.clone(), &args.limits)?;
            return Ok(Self::Profile(profile));
        }
        if !args.has_command() {
            return Ok(Self::Nothing);
        }
        resolve::check_source(&args.source, args.command.chroot)?;
        let mut command = program::resolve(&args.command, &args.source)?;
        program::complete(&mut command, &args.command, config)?;
        let recorder = recording::choose(args.recorder.recorder, command.chroot, &args.source, ui)?;
        Ok(Self::Command { command, recorder })
    }

    /// The start, as far as the source has what it touches.
    ///
    /// # Errors
    ///
    /// If a profile is too stale, or a recording fails.
    pub(super) fn start(
        self,
        args: &TuneArgs,
        source: &Source,
        settings: &ImageSettings,
        ui: &Ui,
    ) -> anyhow::Result<Option<Start>> {
        Ok(match self {
            Self::Nothing => None,
            Self::Start(start) => Some(start),
            Self::Profile(profile) => Some(Start::Profile(profile.fresh(source, ui)?.profile)),
            Self::Command { command, recorder } => {
                resolve::check_tree(&args.source, &source.tree, command.chroot)?;
                let janitor = Janitor::start()?;
                let files = [recording::FIRST_IMAGE];
                let work_dir = WorkDir::create(Path::new(WORK_PARENT), &files, Some(&janitor))?;
                let trace = recorder.record(&Stage {
                    source,
                    name: &args.source,
                    command: &command,
                    limit: None,
                    readahead: Readahead::Disk,
                    settings,
                    work_dir: &work_dir,
                    janitor: &janitor,
                    ui,
                })?;
                ui.say(&format!(
                    "{}: {}",
                    recorder.name(),
                    record::summary(&trace, &trace.working_set())
                ));
                Some(Start::Trace(trace))
            }
        })
    }
}
