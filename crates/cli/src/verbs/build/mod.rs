//! `coldpress build`: scan, order, write, verify if asked, put in place.

pub(crate) mod args;
mod sif;
pub(crate) mod site;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use coldpress_container::ApptainerFiles;
use coldpress_layout::Dialect;
use coldpress_pack::PackSummary;
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::{Input, MetadataLayout, Output, Summary, Warning};
use serde::Serialize;

use crate::flags::container::TargetName;
use crate::inputs;
use crate::ordering::Ordering;
use crate::pseudo_files;
use crate::resolve::{self, ImageSettings};
use crate::steps;
use crate::verbs::build::args::BuildArgs;

/// What was built, for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    image: String,
    image_bytes: u64,
    content_bytes: u64,
    ratio: Option<f64>,
    inodes: u32,
    fragment_blocks: u32,
    data_stored_bytes: u64,
    table_bytes: u64,
    sparse_bytes: u64,
    duplicate_files: u64,
    duplicate_bytes: u64,
    copied_bytes: u64,
    warnings: Vec<String>,
    notes: Vec<String>,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_tree: Option<coldpress_verity::Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_pack: Option<PackSummary>,
    time_s: f64,
}

/// An image that is written, and what there is to say of it.
struct Built {
    summary: Summary,
    pack: Option<PackSummary>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

pub(super) fn run(args: &BuildArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let (sources, path) = args.split_paths()?;
    let source_paths = inputs::paths(sources);
    resolve::check_outputs(&[path], &source_paths)?;
    let _hold = ui.interrupt.hold();
    // Before anything is pulled or scanned: a wrong place is an error at once, not after minutes.
    let output = Output::create(path)?;
    let files = |form| steps::tree_files(form, &args.hash_tree, path, &source_paths);
    let tree_files = args.verity.map(files).transpose()?;
    let target = sif::target(args, path);
    let is_sif = target == Some(TargetName::Apptainer);
    let mut image_options = args.image_options.clone();
    if is_sif {
        sif::check(args, path)?;
        sif::compressor(&mut image_options);
    }
    let (mut inputs, container) = inputs::inputs(
        sources,
        (&args.tar, &args.container, target),
        &args.pseudo_files,
        path,
        ui,
    )?;
    if target.is_some() && !is_sif && container.is_none() {
        let error = anyhow!("this --preset is about container images, and no SOURCE is one");
        return Err(hint(
            error,
            "leave it out, or name an image like `docker://HOST/NAME:TAG`",
        ));
    }
    inputs::devices(&mut inputs, args.source_image, ui);
    inputs::trust_indexes(&mut inputs);
    let mut source_options = args.source_options.clone();
    let metadata = &mut source_options.metadata;
    // The user of a container is root in it.
    metadata.all_root |= target.is_some() && metadata.uid.is_none() && metadata.gid.is_none();
    let mut settings = ImageSettings::resolve(&image_options, &source_options, sources)?;
    settings.adopt(&args.image_options, &mut inputs)?;
    let site = site::options(args, ui)?;
    if let Some(site) = &site {
        settings.take_options(&args.image_options, &site.options);
    }
    let is_strict = args.exit_on_error || site.is_some_and(|site| site.exit_on_error);
    let container = container.as_ref();
    let sif = is_sif.then(|| sif::add(&mut inputs, container, args, settings.epoch_s));
    let partition = sif.as_ref().map(ApptainerFiles::partition_start);
    settings.offset_bytes = partition.or(args.offset).unwrap_or(0);
    settings.is_padded = !args.no_padding;
    settings.pseudo_files = pseudo_files::resolve(&args.pseudo_files, path, settings.epoch_s)?;
    settings.overrides.pseudo_wins = args.pseudo_files.pseudo_override;
    let sorts = [
        (&args.sort, Dialect::Mksquashfs),
        (&args.gensquashfs_sort, Dialect::Gensquashfs),
    ];
    let mut sorts = sorts.into_iter();
    let sort = sorts.find_map(|(path, dialect)| Some((path.as_deref()?, dialect)));
    let ordering = Ordering::read(sort, &args.profile, args.plan.as_deref())?;
    let built = build(args, is_strict, &inputs, &settings, ordering, &output, ui)?;
    if let Some(sif) = &sif {
        sif::finish(sif, &output, &built)?;
    }
    let summary = built.summary;
    let mut hash_tree = None;
    if let Some(files) = tree_files {
        hash_tree = Some(steps::protect(files, &args.hash_tree, &output, ui)?);
    }
    steps::commit(output, ui)?;
    let report = Report {
        warnings: built.warnings,
        notes: built.notes,
        start_pack: built.pack,
        hash_tree,
        time_s: started.elapsed().as_secs_f64(),
        ..Report::new(args, path, &summary)
    };
    tell(args, &report, &summary, started.elapsed(), ui)
}

impl Report {
    fn new(args: &BuildArgs, image: &Path, summary: &Summary) -> Self {
        Self {
            image: image.display().to_string(),
            image_bytes: summary.image_bytes,
            content_bytes: summary.data_bytes,
            ratio: units::share(summary.image_bytes, summary.data_bytes),
            inodes: summary.inode_count,
            fragment_blocks: summary.fragment_count,
            data_stored_bytes: summary.stored_bytes,
            table_bytes: summary.table_bytes,
            sparse_bytes: summary.sparse_bytes,
            duplicate_files: summary.duplicate_files,
            duplicate_bytes: summary.duplicate_bytes,
            copied_bytes: summary.copied_bytes,
            warnings: Vec::new(),
            notes: Vec::new(),
            verified: args.verify,
            hash_tree: None,
            start_pack: None,
            time_s: 0.0,
        }
    }
}

/// The summary, and how it ended.
fn tell(
    args: &BuildArgs,
    report: &Report,
    summary: &Summary,
    time: Duration,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    if args.json {
        ui.json(report)?;
    } else {
        ui.say(&summary_line(&report.image, args, summary, time));
        if let Some(pack) = &report.start_pack {
            ui.say(&steps::start_pack_line(&report.image, pack));
        }
        if let Some(tree) = &report.hash_tree {
            steps::print_tree(tree, ui)?;
        }
    }
    let lost = report.warnings.len() as u64;
    if lost > 0 {
        let things = plural(lost, "thing", "things");
        ui.warn(&format!(
            "{things} could not be stored as found; the rest is in the image"
        ));
    }
    Ok(Exit::partial_if(lost > 0))
}

/// Everything between creating the file and putting it in place.
fn build(
    args: &BuildArgs,
    is_strict: bool,
    inputs: &[Input],
    settings: &ImageSettings,
    mut ordering: Ordering,
    output: &Output,
    ui: &Ui,
) -> anyhow::Result<Built> {
    let mut source = steps::put_together(inputs, settings, ui)?;
    if args.only_recorded {
        ordering.keep_recorded(&mut source, &settings.selection.include, ui)?;
    }
    let options = settings.build_options(&source.tree, MetadataLayout::Dense);
    if let Some(old) = &args.reuse {
        // Before anything else needs contents, which it may have.
        steps::reuse(&mut source, old, &options, ui)?;
    }
    steps::find_duplicates(&mut source, settings, ui)?;
    let limit = args.start_pack.start_pack;
    let set = limit
        .map(|_| ordering.working_set(&source, ui))
        .transpose()?;
    let plan = ordering.into_plan(&source, inputs, settings, ui)?;
    let kept = (settings, &options);
    let order = steps::order_stable(&mut source, &plan, kept, &args.stable, ui)?;
    refuse(is_strict, source.losses().next())?;
    let summary = steps::write("compressing", &source, &order, output, &options, ui)?;
    refuse(is_strict, summary.changed.values().next())?;
    if args.verify {
        steps::verify(output, &source, &summary, options.offset_bytes, ui)?;
    }
    let add = |(limit, set)| steps::add_start_pack(output, &set, limit, settings, ui);
    let pack = limit.zip(set).map(add);
    let pack = pack.transpose()?;
    let warnings = source.losses().chain(summary.changed.values());
    let warnings = warnings.map(ToString::to_string).collect();
    let notes = source.warnings.iter().filter(|it| it.is_note());
    let notes = notes.map(ToString::to_string).collect();
    Ok(Built {
        summary,
        pack,
        warnings,
        notes,
    })
}

/// Makes an error of a warning where that is asked for.
fn refuse(is_strict: bool, warning: Option<&Warning>) -> anyhow::Result<()> {
    match warning.filter(|_| is_strict) {
        Some(warning) => Err(hint(
            anyhow!("{warning}"),
            "without --exit-on-error this is a warning",
        )),
        None => Ok(()),
    }
}

/// `rootfs.sqfs: 311 MiB, 0.341 of 911 MiB; 20,517 inodes; 35.1 s, 26.0 MiB/s; verified`
fn summary_line(image: &str, args: &BuildArgs, summary: &Summary, time: Duration) -> String {
    let size = units::size_and_ratio(summary.image_bytes, summary.data_bytes);
    let inodes = plural(summary.inode_count.into(), "inode", "inodes");
    let seconds = units::seconds(time.as_secs_f64());
    let bytes_per_s = u128::from(summary.data_bytes) * 1000 / time.as_millis().max(1);
    let speed = units::bytes(u64::try_from(bytes_per_s).unwrap_or(u64::MAX));
    let copied = if summary.copied_bytes > 0 {
        format!("; {} copied", units::bytes(summary.copied_bytes))
    } else {
        String::new()
    };
    let verified = if args.verify { "; verified" } else { "" };
    format!("{image}: {size}; {inodes}; {seconds}, {speed}/s{copied}{verified}")
}
