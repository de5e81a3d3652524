//! `coldpress profile import`: a trace of what another tool recorded.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{self, Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_dialects::sort_file;
use coldpress_image::{Image, MetadataMap};
use coldpress_layout::{Tree, settle};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::import::{self, Device, Format, Imported, Inodes, Settled};
use coldpress_trace::{Header, PAGE_SIZE_BYTES, Trace};
use coldpress_writer::Output;

use super::recording::{Recorder, Recording};
use crate::image_file::open_image;
use crate::resolve;
use crate::steps;
use crate::verbs::profile::args::ProfileImportArgs;
use crate::verbs::record;

/// The major number of loop devices, on which images are mounted.
const LOOP_MAJOR: u32 = 7;

pub(super) fn run(args: &ProfileImportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let outputs: Vec<&Path> = args.output.iter().map(PathBuf::as_path).collect();
    resolve::check_outputs(&outputs, &args.files)?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let recording = Recording::read(&args.files)?;
    let recorder = match args.format {
        Some(name) => Recorder::named(name),
        None => recording.recorder()?,
    };
    let name = recorder.name();
    if args.format.is_none() {
        ui.say(&format!("{}: read as {name}", names(args)));
    }
    let used = args.image.as_deref().map(|path| Used::read(path, ui));
    let used = used.transpose()?;
    let mut imported = match recorder {
        Recorder::Tool(Format::PerfScript) => read_inodes(&recording, used.as_ref(), args.device)?,
        Recorder::Tool(format) => import::read(&recording.parts(), format, None)
            .with_context(|| format!("cannot use {}", names(args)))?,
        Recorder::Sort(dialect) => {
            let parts = recording.parts();
            sort_file::used_files(parts.iter().map(|part| part.text), dialect)
        }
    };
    if let Some(prefix) = &args.strip {
        let prefix =
            path::absolute(prefix).with_context(|| format!("cannot strip {}", quoted(prefix)))?;
        imported.strip(prefix.as_os_str().as_bytes());
    }
    warn(&imported, &recording, ui);
    demand_something(&imported, args)?;
    let unread_count = imported.unread_count;
    let mut trace = imported.into_trace(|path, follows| match &used {
        Some(used) => settle(&used.tree, path, follows),
        None => as_it_is(path),
    });
    trace.header = header(args, name);
    record::put(&trace, output, ui)?;
    ui.say(&summary(&trace, name));
    Ok(Exit::partial_if(unread_count > 0))
}

/// The image that was used, or the directory.
struct Used {
    tree: Tree,
    /// None of a directory.
    image: Option<Image>,
}

impl Used {
    fn read(path: &Path, ui: &Ui) -> anyhow::Result<Self> {
        let image = if path.is_dir() {
            None
        } else {
            Some(open_image(path)?)
        };
        let (_, source) = steps::scan(path, ui)?;
        Ok(Self {
            tree: source.tree,
            image,
        })
    }
}

/// Reads events that tell inode numbers.
fn read_inodes(
    recording: &Recording,
    used: Option<&Used>,
    device: Option<Device>,
) -> anyhow::Result<Imported> {
    let Some(image) = used.and_then(|used| used.image.as_ref()) else {
        return Err(hint(
            anyhow!("events of the page cache have inode numbers and no paths"),
            "name the image that was mounted: `--image app.sqsh`",
        ));
    };
    let parts = recording.parts();
    let device = match device {
        Some(device) => device,
        None => only_device(parts.iter().map(|part| part.text))?,
    };
    let map = MetadataMap::new(image)?;
    let mut path_of = |inode: u64| {
        let number = u32::try_from(inode).ok()?;
        map.path_of_inode(number).map(<[u8]>::to_vec)
    };
    let inodes = Inodes {
        device,
        path_of: &mut path_of,
    };
    Ok(import::read(&parts, Format::PerfScript, Some(inodes))?)
}

/// The only device of which there are events, or the only loop device.
fn only_device<'a>(texts: impl Iterator<Item = &'a [u8]>) -> anyhow::Result<Device> {
    let all: BTreeSet<Device> = texts.flat_map(import::devices).collect();
    let loops = all.iter().filter(|device| device.major == LOOP_MAJOR);
    let loops: Vec<&Device> = loops.collect();
    let candidates = if loops.is_empty() {
        all.iter().collect()
    } else {
        loops
    };
    match candidates.as_slice() {
        [device] => Ok(**device),
        [] => Err(anyhow!("the recording has no events of the page cache")),
        several => {
            let named: Vec<String> = several.iter().map(ToString::to_string).collect();
            let error = anyhow!("the recording has events of several devices");
            let devices = named.join(", ");
            Err(hint(
                error,
                format!(
                    "state with `--recorded-device` on which the image was mounted, one of \
                    {devices}"
                ),
            ))
        }
    }
}

/// Tells which lines were not understood, and how much was left out.
fn warn(imported: &Imported, recording: &Recording, ui: &Ui) {
    for unread in &imported.unread {
        let file = recording.files.get(unread.part);
        let file = file.map_or_else(String::new, |(path, _)| quoted(path));
        // A JSON document may be one line.
        let line = match unread.line {
            0 => String::new(),
            line => format!(", line {line}"),
        };
        let (found, why) = (&unread.found, unread.why);
        ui.warn(&format!("{file}{line}: `{found}`: {why}"));
    }
    let more = imported.unread_count - imported.unread.len() as u64;
    if more > 0 {
        let more = plural(more, "more line was", "more lines were");
        ui.warn(&format!("{more} not understood"));
    }
    if imported.elsewhere_count > 0 {
        let accesses = plural(imported.elsewhere_count, "access", "accesses");
        ui.say(&format!("left out: {accesses} elsewhere"));
    }
}

/// # Errors
///
/// If nothing was understood that concerns the image.
fn demand_something(imported: &Imported, args: &ProfileImportArgs) -> anyhow::Result<()> {
    if !imported.is_empty() {
        return Ok(());
    }
    let error = anyhow!("{} records no access", names(args));
    Err(match &args.strip {
        Some(prefix) if imported.elsewhere_count > 0 => {
            let prefix = quoted(prefix);
            hint(
                error,
                format!("no path is below {prefix}: is `--strip` where the image was mounted?"),
            )
        }
        _ => error,
    })
}

/// What nothing is known of.
fn as_it_is(path: &[u8]) -> Settled {
    Settled {
        path: path.to_vec(),
        ..Settled::default()
    }
}

/// The files of the recording, for messages.
fn names(args: &ProfileImportArgs) -> String {
    let first = args
        .files
        .first()
        .map_or_else(String::new, |path| quoted(path));
    match args.files.len().saturating_sub(1) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn header(args: &ProfileImportArgs, name: &str) -> Header {
    let source = args.image.as_ref().or(args.files.first());
    let source = source.map_or_else(String::new, |path| escaped_path(path));
    let field = |key: &str, value: String| (key.to_owned(), value);
    Header {
        fields: vec![
            field("source", source),
            field("page-size", PAGE_SIZE_BYTES.to_string()),
            field("recorder", format!("import of {name}")),
        ],
    }
}

/// `imported 1,204 events of strace: data of 152 files, 730 lookups, 41 directories searched`
fn summary(trace: &Trace, name: &str) -> String {
    let set = trace.working_set();
    format!(
        "imported {} of {name}: data of {}, {}, {} searched",
        plural(trace.events.len() as u64, "event", "events"),
        plural(set.files.len() as u64, "file", "files"),
        plural(set.lookups.len() as u64, "lookup", "lookups"),
        plural(set.lists.len() as u64, "directory", "directories"),
    )
}
