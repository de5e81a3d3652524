//! `coldpress tar`.

pub(crate) mod args;

use std::io::{self, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;
use coldpress_image::{Archived, Error, Image, LeftOut, TarOptions, write_tar};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, image_path, plural, quoted, quoted_bytes};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::image_file::open_image_at;
use crate::resolve;
use crate::verbs::tar::args::ArchiveArgs;

/// How many things that are left out are named before the rest is only counted.
const NAMED_MAX: u64 = 10;
/// Bytes of headers and small files that are written at once.
const BUFFER_BYTES: usize = 64 << 10;

pub(super) fn run(args: &ArchiveArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = open_image_at(&args.image, &args.place)?;
    let options = options(args)?;
    let output = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    if let Some(path) = output.filter(|path| resolve::is_same(path, &args.image)) {
        let error = anyhow!("{} is the image itself", quoted(path));
        return Err(hint(error, "name another file for the archive"));
    }
    let mut left_out = NotWritten { ui, count: 0 };
    match output {
        Some(path) => to_file(&image, &options, path, &mut left_out)?,
        None => to_stdout(&image, &options, &mut left_out)?,
    }
    left_out.finish();
    Ok(Exit::partial_if(left_out.count > 0))
}

fn options(args: &ArchiveArgs) -> anyhow::Result<TarOptions> {
    let root_becomes = args
        .root_becomes
        .as_ref()
        .map(|name| name.as_bytes().to_vec());
    if let Some(name) = &root_becomes {
        let mut names = name.split(|byte| *byte == b'/');
        let is_usable =
            !name.starts_with(b"/") && !name.is_empty() && names.all(|name| name != b"..");
        if !is_usable {
            let error = anyhow!(
                "--root-becomes {} is not a relative path",
                quoted_bytes(name)
            );
            return Err(hint(error, "give a relative path without `..`: `rootfs`"));
        }
    }
    Ok(TarOptions {
        paths: args.paths.iter().map(|path| image_path(path)).collect(),
        keep_as_directory: args.keep_as_dir,
        root_becomes,
        xattrs: !args.no_xattrs,
        hard_links: !args.no_hard_links,
        sparse: !args.no_sparse,
        limits: resolve::read_limits(&args.reading),
    })
}

fn to_stdout(image: &Image, options: &TarOptions, left_out: &mut NotWritten) -> anyhow::Result<()> {
    if io::stdout().is_terminal() {
        let error = anyhow!("an archive is not written to a terminal");
        return Err(hint(
            error,
            "name a file with `-o`, or pipe it to a program",
        ));
    }
    // Nothing is to be cleaned up: a signal ends the process at once.
    let progress = &mut |_| ControlFlow::Continue(());
    write(image, options, &mut left_out.ui.out(), left_out, progress)?;
    Ok(())
}

fn to_file(
    image: &Image,
    options: &TarOptions,
    path: &Path,
    left_out: &mut NotWritten,
) -> anyhow::Result<()> {
    let (ui, started) = (left_out.ui, Instant::now());
    let _hold = ui.interrupt.hold();
    let output = Output::create(path)?;
    let mut file = io::BufWriter::with_capacity(BUFFER_BYTES, output.file());
    let step = ui.step("archiving", 0);
    let archived = write(image, options, &mut file, left_out, &mut |_| {
        ui.interrupt.poll()
    })?;
    drop(file);
    step.finish("");
    output.commit()?;
    let entries = plural(archived.entries, "entry", "entries");
    let (size, seconds) = (
        units::bytes(archived.bytes),
        units::seconds(started.elapsed().as_secs_f64()),
    );
    ui.say(&format!(
        "{}: {entries}, {size}; {seconds}",
        escaped_path(path)
    ));
    Ok(())
}

fn write(
    image: &Image,
    options: &TarOptions,
    output: &mut dyn Write,
    left_out: &mut NotWritten,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> anyhow::Result<Archived> {
    let tell = &mut |what: LeftOut| left_out.add(&what);
    write_tar(image, options, output, tell, progress).map_err(|error| match error {
        Error::NotFound { path } => {
            let error = anyhow!("the image has no {}", quoted_bytes(&path));
            hint(
                error,
                "`coldpress ls -R IMAGE` lists what it has; links are not followed here",
            )
        }
        error => anyhow!(error),
    })
}

/// Tells of what an archive does not hold.
struct NotWritten<'a> {
    ui: &'a Ui,
    count: u64,
}

impl NotWritten<'_> {
    fn add(&mut self, what: &LeftOut) {
        self.count += 1;
        if self.count > NAMED_MAX {
            return;
        }
        self.ui.warn(&match what {
            LeftOut::Socket(path) => {
                let path = quoted_bytes(path);
                format!("{path} is left out: tar archives hold no sockets")
            }
            LeftOut::Xattr(path, name) => {
                let (path, name) = (quoted_bytes(path), quoted_bytes(name));
                format!(
                    "{path}: the extended attribute {name} is left out: it has a `=` in its name"
                )
            }
        });
    }

    fn finish(&self) {
        if self.count > NAMED_MAX {
            let more = plural(self.count - NAMED_MAX, "more thing is", "more things are");
            self.ui.warn(&format!("{more} left out"));
        }
    }
}
