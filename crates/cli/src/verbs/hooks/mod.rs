//! `coldpress hooks`: what reads ahead in an initrd.

pub(crate) mod args;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use coldpress_ahead::{ExtentList, Limits, SUPERBLOCK_BYTES};
use coldpress_record::hooks::{Kind, appendix, files, install};
use coldpress_record::prefetching::extents_of;
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted};
use coldpress_report::units::bytes;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::resolve;
use crate::verbs::hooks::args::HooksArgs;
use crate::{image_file, steps};

const HELPER: &str = "coldpress-prefetch";

pub(super) fn run(args: &HooksArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let kind = Kind::from(args.kind);
    if args.add_to.is_some() && kind != Kind::LiveBoot {
        let error = anyhow!("only an initrd of live-boot calls scripts that are added to it");
        return Err(hint(
            error,
            "write the files with -o, and make the initrd with its own tool",
        ));
    }
    let helper = helper(args)?;
    let list = list(args)?;
    let needed = list
        .extents
        .iter()
        .map(|extent| extent.end - extent.start)
        .sum();
    let files = files(kind, helper, &list, args.at.as_deref());
    match (&args.add_to, &args.output) {
        (Some(initrd), Some(output)) => add_to(initrd, output, &appendix(&files))?,
        (_, output) => {
            let root = output.as_deref().unwrap_or(Path::new("/"));
            let installed = install(&files, root);
            installed.with_context(|| format!("cannot write below {}", quoted(root)))?;
            ui.say(&format!("then: {}", kind.next_step()));
        }
    }
    ui.say(&format!(
        "reads {} ahead, in {}",
        bytes(needed),
        plural(list.extents.len() as u64, "piece", "pieces")
    ));
    Ok(Exit::Done)
}

/// The bytes that the profile needs, in the order of the image.
fn list(args: &HooksArgs) -> anyhow::Result<ExtentList> {
    let profile = steps::read_profile(&args.profile)?;
    let opened = image_file::open(&args.image, &args.place)?;
    let set = profile.working_set(args.share.min_share);
    let (extents, _) = extents_of(&opened.image, &set);
    if extents.is_empty() {
        let error = anyhow!("{} has nothing of the profile", quoted(&args.image));
        return Err(hint(error, "give the profile of this image's files"));
    }
    let mut superblock = [0; SUPERBLOCK_BYTES];
    let read = opened.bytes.fill_at(&mut superblock, 0);
    read.with_context(|| format!("cannot read {}", quoted(&args.image)))?;
    let time = Duration::from_secs(args.limit_s.get());
    Ok(ExtentList {
        image_bytes: opened.image.superblock().bytes_used,
        superblock,
        limits: Limits {
            // What memory allows is found out where it boots.
            bytes: args.max_read.unwrap_or(u64::MAX),
            bytes_per_s: args.bandwidth,
            time,
        },
        extents,
    })
}

/// The program for the initrd.
fn helper(args: &HooksArgs) -> anyhow::Result<Vec<u8>> {
    let path = match &args.helper {
        Some(path) => path.clone(),
        None => installed_helper()?,
    };
    let read = fs::read(&path);
    read.map_err(|error| {
        let error = anyhow!(error).context(format!("cannot read {}", quoted(&path)));
        hint(
            error,
            "the program coldpress-prefetch comes with coldpress; --helper names it",
        )
    })
}

/// Beside this program, or where releases have it.
fn installed_helper() -> anyhow::Result<PathBuf> {
    let program = env::current_exe().context("cannot find this program")?;
    let beside = program.with_file_name(HELPER);
    let elsewhere = program.with_file_name(format!("../libexec/coldpress/{HELPER}"));
    Ok(if elsewhere.is_file() {
        elsewhere
    } else {
        beside
    })
}

/// Writes an initrd with an archive behind it.
fn add_to(initrd: &Path, output: &Path, archive: &[u8]) -> anyhow::Result<()> {
    resolve::check_outputs(&[output], &[])?;
    let mut whole = fs::read(initrd).with_context(|| format!("cannot read {}", quoted(initrd)))?;
    whole.resize(whole.len().next_multiple_of(512), 0);
    whole.extend_from_slice(archive);
    steps::write_small(Output::create(output)?, &whole)
}
