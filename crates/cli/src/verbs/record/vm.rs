//! A whole boot, recorded from outside: the machine that boots is a virtual one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use coldpress_bench::{RecordedBoot, record_boot};
use coldpress_format::BlockSize;
use coldpress_host::{DiskBus, GuestKernel, Janitor, Scratch};
use coldpress_image::{Image, Offset, open_file};
use coldpress_layout::{Plan, Tails};
use coldpress_record::outside::{self, END_BYTES, FIRST_BYTE, PAGE};
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted};
use coldpress_report::units::seconds;
use coldpress_retrofit::{Container, IsoImage, Original, bytes_of};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir;
use coldpress_trace::Trace;
use coldpress_writer::{MetadataLayout, Output};

use super::numbered::Numbered;
use super::{WORK_PARENT, put, summary};
use crate::recording::About;
use crate::resolve::{self, ImageSettings};
use crate::verbs::bench::boot::scenario::{command_line, one_boot};
use crate::verbs::record::args::RecordArgs;
use crate::{containers, recording, steps};

const TITLE: &str = "vm: requests to the disk of a virtual machine, told by QEMU";

/// What a machine boots: a disk, and the image at some byte of it.
struct Medium {
    disk: PathBuf,
    image_start: u64,
    kernel: GuestKernel,
}

/// Records boots of a source.
pub(super) fn record(source: &Path, args: &RecordArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let outputs = Numbered::resolve(args.output.as_deref(), args.runs)?;
    let paths: Vec<&Path> = outputs.paths.iter().map(PathBuf::as_path).collect();
    resolve::check_outputs(&paths, &[source.to_path_buf()])?;
    let live = live(source)?;
    let _hold = ui.interrupt.hold();
    let outputs = outputs.create()?;
    let janitor = Janitor::start()?;
    let parent = outputs.first().map_or(Path::new(WORK_PARENT), |output| {
        work_dir::parent(output.path())
    });
    let scratch = Scratch::create(parent, &janitor)?;
    let medium = medium(source, live.as_ref(), args, scratch.path(), ui)?;
    let timeout_s = args.command.timeout.get();
    let scenario = one_boot(&args.guest, Some(medium.kernel.clone()), timeout_s)?;
    let quiet = args.quiet_for.map(|s| Duration::from_secs(s.get()));
    let mut outputs = outputs.into_iter();
    for _ in 0..args.runs.get() {
        let shown = ui.step("recording", 0).about("a boot");
        let mut stop = || ui.interrupt.is_pending();
        let boot = record_boot(&scenario, &medium.disk, quiet, &mut stop)
            .context("cannot record the boot")?;
        shown.finish("");
        let trace = told(source, &medium, &boot)?;
        ui.say(&format!(
            "vm: {}; ready after {}",
            summary(&trace, &trace.working_set()),
            seconds(boot.boot_s)
        ));
        put(&trace, outputs.next(), ui)?;
    }
    Ok(Exit::Done)
}

/// The source as a live medium, if it is one.
fn live(source: &Path) -> anyhow::Result<Option<Original>> {
    if !source.is_file() {
        return Ok(None);
    }
    let opened = Original::open(source, None);
    let opened = opened.with_context(|| format!("cannot read {}", quoted(source)))?;
    Ok(opened.filter(|it| matches!(it.container, Container::Iso(_))))
}

/// The disk of the machine, in which each page of the source is distinguishable, and its kernel.
fn medium(
    source: &Path,
    live: Option<&Original>,
    args: &RecordArgs,
    scratch: &Path,
    ui: &Ui,
) -> anyhow::Result<Medium> {
    let iso = match live.map(|it| &it.container) {
        Some(Container::Iso(iso)) => Some(&**iso),
        _ => None,
    };
    let kernel = kernel(source, iso, args, scratch)?;
    let mut settings = ImageSettings::for_recording()?;
    settings.block_size = BlockSize::new(u32::try_from(PAGE)?)?;
    settings.tails = Tails::None;
    settings.deduplicated = false;
    settings.offset_bytes = live.map_or(0, |it| it.start);
    let inputs = match live {
        Some(original) => vec![original.input(false)],
        None => containers::inputs(source, &args.container, ui)?,
    };
    let tree = steps::gather(&inputs, &settings, ui)?;
    let disk = scratch.join(recording::FIRST_IMAGE);
    let output = Output::create(&disk)?;
    let mut order = steps::order(&tree, &Plan::default(), &settings, ui);
    order.align_files(PAGE, FIRST_BYTE);
    let options = settings.build_options(&tree.tree, MetadataLayout::Spread);
    let built = steps::write("first image", &tree, &order, &output, &options, ui)?;
    let image_bytes = built.image_bytes + END_BYTES;
    let resized = output.file().set_len(settings.offset_bytes + image_bytes);
    resized.with_context(|| format!("cannot write {}", quoted(&disk)))?;
    let Some(original) = live else {
        steps::commit(output, ui)?;
        return Ok(Medium {
            disk,
            image_start: 0,
            kernel,
        });
    };
    let mut stop = || ui.interrupt.is_pending();
    let completed = original.complete(output.file(), image_bytes, false, scratch, &mut stop);
    completed.context("cannot put the image that is recorded into the live medium")?;
    steps::commit(output, ui)?;
    let wanted = iso.map(IsoImage::path);
    let again = Original::open(&disk, wanted)?.context("the live medium cannot be read back")?;
    Ok(Medium {
        disk,
        image_start: again.start,
        kernel,
    })
}

/// The kernel that is given, or that of the medium, with an initrd that turns readahead off.
fn kernel(
    source: &Path,
    iso: Option<&IsoImage>,
    args: &RecordArgs,
    scratch: &Path,
) -> anyhow::Result<GuestKernel> {
    let guest = &args.guest;
    let entry = match (iso, &guest.kernel) {
        (Some(iso), None) => {
            let file = open_file(source)?;
            let entry = iso.boot_entry(&file).map_err(|error| {
                let error = anyhow!(error).context(format!("cannot boot {}", quoted(source)));
                hint(error, "name the kernel with --kernel and --initrd")
            })?;
            Some((file, entry))
        }
        (None, None) => {
            let error = anyhow!("{} is no live ISO, so it has no kernel", quoted(source));
            return Err(hint(error, "name one with --kernel, and its --initrd"));
        }
        _ => None,
    };
    let read =
        |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read {}", quoted(path)));
    let mut initrd = Vec::new();
    let mut image = PathBuf::new();
    let mut first = String::new();
    if iso.is_none() {
        first = format!("root={}", DiskBus::from(guest.bus).device_file());
    }
    if let Some((file, entry)) = entry {
        image = scratch.join("vmlinuz");
        fs::write(&image, bytes_of(&file, &entry.kernel)?)?;
        for place in &entry.initrds {
            initrd.extend(bytes_of(&file, place)?);
        }
        first = entry.command_line;
    } else if let Some(kernel) = &guest.kernel {
        image.clone_from(kernel);
        initrd = guest
            .initrd
            .as_ref()
            .map(read)
            .transpose()?
            .unwrap_or_default();
    }
    let with_rule = scratch.join("initrd");
    fs::write(&with_rule, outside::without_readahead(&initrd))?;
    Ok(GuestKernel {
        image,
        // The kernel mounts its root itself only if there is none.
        initrd: (!initrd.is_empty()).then_some(with_rule),
        command_line: command_line(&first, &guest.append),
    })
}

/// What the boot read, as a trace.
fn told(source: &Path, medium: &Medium, boot: &RecordedBoot) -> anyhow::Result<Trace> {
    let inner = open_file(&medium.disk)?;
    let image = Image::new(Box::new(Offset {
        inner,
        start: medium.image_start,
    }))?;
    let (events, lost_events) = outside::accesses(&boot.disk, &image, medium.image_start)?;
    if events.is_empty() {
        let error = anyhow!(
            "the machine became ready without a file of {}",
            quoted(source)
        );
        return Err(hint(error, "check that its kernel mounts this disk"));
    }
    if lost_events > 0 {
        let lost = plural(lost_events, "access", "accesses");
        return Err(anyhow!("{lost} of the recording were lost"));
    }
    let about = About {
        recorder: TITLE,
        cold: "a new virtual machine".to_owned(),
        read_ahead_kib: medium.kernel.initrd.as_ref().map(|_| 0),
        block_size: Some(image.superblock().block_size),
        lost_events,
        wall_ns: u64::try_from(Duration::from_secs_f64(boot.boot_s).as_nanos()).unwrap_or(u64::MAX),
    };
    let words = format!("boot: {}", medium.kernel.command_line);
    Ok(Trace {
        header: recording::header(&source.display().to_string(), &words, about),
        events,
    })
}
