//! `coldpress mount`: an image, answered for until it is unmounted.

pub(crate) mod args;
mod background;
mod end;
mod log;
mod notice;
mod prefetch;
mod settings;
mod stats;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use coldpress_fuse::Server;
use coldpress_host::{FuseConnection, cannot_mount_fuse};
use coldpress_mount::{FileSystem, PackPrefetch, Prefetch};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::privileges::FUSE_ADVICE;
use coldpress_session::ui::Ui;

use self::log::Log;
use self::notice::Notice;
use self::settings::Settings;
use crate::verbs::mount::args::MountArgs;
use crate::{image_file, start_pack};

pub(super) fn run(args: &MountArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let notice = Notice::of(&args.options, ui)?;
    let ended = mount_and_answer(args, &notice, ui);
    if ended.is_err() {
        notice.failed();
    }
    ended
}

fn mount_and_answer(args: &MountArgs, notice: &Notice, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = Settings::resolve(args)?;
    let in_background = background::is_here();
    if !args.foreground && !in_background {
        return background::start();
    }
    let _hold = ui.interrupt.hold();
    if in_background {
        background::leave_terminal()?;
    }
    let log = Arc::new(Log::new(in_background));
    let mounted = mount(args, &settings, &log, ui)?;
    let (connection, file_system) = (mounted.connection, mounted.file_system);
    notice.mounted()?;
    let answered = answer(&connection, mounted.server, &settings, in_background, ui);
    // Threads that may end the mount hold the connection, too: it would not be dropped.
    connection.detach()?;
    if args.stats {
        stats::tell(&file_system.stats(), &log);
    }
    drop(mounted.prefetch);
    answered.map(|()| Exit::Done)
}

/// An image that is mounted.
struct Mounted {
    connection: Arc<FuseConnection>,
    server: Server,
    file_system: Arc<FileSystem>,
    prefetch: Option<Prefetch>,
    _pack_prefetch: Option<PackPrefetch>,
}

/// Opens the image and mounts it; it is in use from here on, and answered once the server runs.
fn mount(
    args: &MountArgs,
    settings: &Settings,
    log: &Arc<Log>,
    ui: &Ui,
) -> anyhow::Result<Mounted> {
    let image = image_file::open(&args.image, &settings.place)?.image;
    let options = settings.file_system(&image)?;
    check_directory(&args.directory)?;
    let pack = start_pack::of(&image, ui);
    // Who has a pack needs no blocks ahead: they would be read beside it.
    let working_set = match &pack {
        Some(_) if args.profile.is_none() => None,
        _ => prefetch::working_set(args, &image, ui)?,
    };
    let has_pack = pack.is_some();
    let mut file_system = FileSystem::new(image, options, log::teller(log))
        .with_context(|| format!("cannot mount {}", quoted(&args.image)))?;
    if let Some(pack) = pack {
        file_system = file_system.with_start_pack(pack);
    }
    let file_system = Arc::new(file_system);
    stats::on_signal(&file_system, log)?;
    let mounted = FuseConnection::mount(&args.directory, &settings.fuse(&args.image));
    let (connection, device) = mounted.map_err(|error| explained(error.into()))?;
    let server = Server::new(
        Arc::clone(&file_system),
        device,
        settings.server_options(connection.root()),
    )
    .context("the kernel cannot be answered")?;
    let start = |set| Prefetch::start(&file_system, set, settings.prefetch());
    let prefetch = working_set.map(start).transpose();
    let pack_prefetch = has_pack
        .then(|| start_pack::prefetch(&file_system, settings.prefetch().threads, connection.root()))
        .transpose()
        .context("cannot start a thread")?;
    Ok(Mounted {
        _pack_prefetch: pack_prefetch,
        connection: Arc::new(connection),
        server,
        prefetch: prefetch.context("cannot start a thread")?,
        file_system,
    })
}

/// Answers for the mount until it ends.
fn answer(
    connection: &Arc<FuseConnection>,
    server: Server,
    settings: &Settings,
    in_background: bool,
    ui: &Ui,
) -> anyhow::Result<()> {
    end::on_signals(connection)?;
    if ui.interrupt.is_pending() {
        bail!("interrupted");
    }
    if let Some(limit) = settings.idle {
        end::when_idle(connection, server.activity(), limit)?;
    }
    if in_background {
        background::tell_that_it_is_mounted()?;
    } else {
        let directory = quoted(connection.root());
        ui.say(&format!("mounted on {directory}; Ctrl-C unmounts it"));
    }
    server.run().context("cannot answer the kernel any longer")
}

/// The error of a mount that failed, with what this process lacks for any.
fn explained(error: anyhow::Error) -> anyhow::Error {
    match cannot_mount_fuse(false) {
        Some(what) => {
            let lacks = format!("mounting in user space needs what this process lacks: {what}");
            hint(error.context(lacks), FUSE_ADVICE)
        }
        None => error,
    }
}

fn check_directory(directory: &Path) -> anyhow::Result<()> {
    let metadata = directory
        .metadata()
        .with_context(|| format!("cannot mount on {}", quoted(directory)));
    let is_directory = match metadata {
        Ok(metadata) => metadata.is_dir(),
        Err(error) => return Err(hint(error, "DIR must be an existing directory")),
    };
    if is_directory {
        return Ok(());
    }
    Err(anyhow!("{} is not a directory", quoted(directory)))
}
