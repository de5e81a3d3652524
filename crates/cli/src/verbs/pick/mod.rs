//! `coldpress pick`: the image of an index for this machine.

pub(crate) mod args;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use coldpress_calibration::Target;
use coldpress_cost::AccessSequence;
use coldpress_doctor::kernel::{self, Means};
use coldpress_doctor::targets;
use coldpress_image::ReadAt;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use coldpress_variants::{Client, ImageEntry, PROBE_BYTES, Place, choose, copy};
use coldpress_writer::Output;

use crate::image_file;
use crate::resolve;
use crate::verbs::pick::args::PickArgs;

pub(super) fn run(args: &PickArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let place = Place::parse(&args.index);
    let _hold = ui.interrupt.hold();
    let index = place.read(&|path| image_file::open_whole(path));
    let index = index.with_context(|| format!("cannot read {}", quoted(&args.index)))?;
    let sequence = index.sequence()?;
    let mut client = client(args, ui)?;
    let download = args.download.map(rate);
    client.download.bytes_per_s = match download {
        None if place.is_url() => Some(measured(&place.image(&index.images[0]))?),
        download => download,
    };
    let choice = choose(&index, &sequence, &client)?;
    if args.json {
        ui.json(&choice)?;
    } else {
        unless_stdout_closed(print(&choice.text(), ui))?;
    }
    let Some(taken) = choice.taken else {
        let reader = &client.abilities.name;
        let error = anyhow!("no image of {} suits {reader}", quoted(&args.index));
        return Err(hint(
            error,
            "`--target NAME` chooses for another reader, `--fuse` for a mount in user space",
        ));
    };
    if let Some(output) = &args.output {
        resolve::check_outputs(&[output], std::slice::from_ref(&args.index))?;
        let image = &index.images[taken];
        fetch(&place.image(image), image, &sequence, output, ui)?;
    }
    Ok(Exit::Done)
}

fn print(text: &str, ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// This machine, or what is asked for.
fn client(args: &PickArgs, ui: &Ui) -> anyhow::Result<Client> {
    let name = &args.device.name;
    let target = if args.default_speeds {
        Target::of(name, None)?
    } else {
        Target::resolve(name, ui)?
    };
    let mut client = Client::of(name, &target);
    match &args.target {
        _ if args.fuse => client.read_by_process(),
        Some(target) => client.abilities = targets::reader(target)?,
        None => client.abilities = kernel::this(Means::Configuration)?,
    }
    client.memory_bytes = args.page_cache;
    client.download.starts = args.starts.into();
    Ok(client)
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn rate(bytes: u64) -> f64 {
    bytes.max(1) as f64
}

/// Bytes in a second that an image comes in.
fn measured(image: &Path) -> anyhow::Result<f64> {
    let began = Instant::now();
    let mut probe = vec![0; PROBE_BYTES];
    let bytes = image_file::open_whole(image)?;
    let len = bytes.fill_at(&mut probe, 0);
    let len = len.with_context(|| format!("cannot read {}", quoted(image)))?;
    Ok(rate(len as u64) / began.elapsed().as_secs_f64().max(1e-6))
}

/// Fetches an image, and compares it with what the index says before it takes its place.
fn fetch(
    from: &Path,
    image: &ImageEntry,
    sequence: &AccessSequence,
    to: &Path,
    ui: &Ui,
) -> anyhow::Result<()> {
    let output = Output::create(to)?;
    let bytes = image_file::open_whole(from)?;
    let failed = || format!("cannot fetch {}", quoted(from));
    image.compare_size(bytes.size_bytes().with_context(failed)?)?;
    let step = ui.step("fetching", image.size_bytes);
    let poll = &mut || ui.interrupt.poll();
    let found = copy(&*bytes, &mut output.file(), poll).with_context(failed)?;
    step.finish("");
    let written: Arc<dyn ReadAt> = Arc::new(output.file().try_clone()?);
    image.compare(&written, found, sequence, poll)?;
    output.commit()?;
    ui.say(&format!("{}: verified", escaped_path(to)));
    Ok(())
}
