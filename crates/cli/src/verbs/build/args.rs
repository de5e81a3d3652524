//! `coldpress build`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use coldpress_report::typed::parse_size_bytes;

use crate::flags::container::{ContainerArgs, TargetName};
use crate::flags::image::ImageArgs;
use crate::flags::profile::OrderingProfileArgs;
use crate::flags::pseudo_files::PseudoFileArgs;
use crate::flags::source::SourceArgs;
use crate::flags::stable::StableArgs;
use crate::flags::start_pack::StartPackArgs;
use crate::flags::tar::TarArgs;
use crate::flags::verity::{HashTreeArgs, TreeForm};

/// Build an image from directories, tar archives or other images
///
/// The content of a single SOURCE becomes the root of the image. Several SOURCEs go into the root
/// under their own names. A SOURCE that is a SquashFS image stands for its content: build does not
/// unpack it, and if no compressor, level or block size is given, the new image keeps those of the
/// old one and gets copies of its blocks. Everything is kept: hard links, holes, owners, times,
/// device numbers, extended attributes.
///
/// A SOURCE that is a tar archive by its content, plain or compressed with gzip, bzip2, xz, zstd or
/// lz4, is unpacked into the root; `-` is an archive on standard input. If an archive is compressed
/// or comes through a pipe, its contents are kept beside IMAGE, or in `TMPDIR`, until IMAGE is
/// written.
///
/// A SOURCE like `docker://HOST/NAME:TAG`, `oci:DIRECTORY:NAME`, `oci-archive:FILE`,
/// `docker-archive:FILE`, `podman://NAME` or `dockerd://NAME` is a container image, whose layers
/// are put on top of each other in the root; see docs/containers.md. `-` as FILE is standard input.
///
/// The same tree and options give the same bytes, whatever the number of threads, the order of the
/// directories on disk, the umask or the clock. So the modification time of the image is the newest
/// time in the tree; with `SOURCE_DATE_EPOCH`, it is that time, and newer times of files are
/// lowered to it.
///
/// IMAGE is written beside its final place and replaces an old IMAGE when it is complete. If the
/// build fails, the old IMAGE stays.
#[derive(Debug, Args)]
#[command(
    override_usage = "coldpress build [OPTIONS] <SOURCE>... <IMAGE>",
    after_long_help = "\
Example:
  coldpress build rootfs rootfs.sqfs -c zstd -l 19 --plan rootfs.plan
  docker export app | coldpress build - app.sqfs
  coldpress build oci:layout:app app.sqfs
  coldpress build docker://localhost:5000/app:1 app.sif"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct BuildArgs {
    /// The SOURCEs, and last the IMAGE to write
    ///
    /// A SOURCE is a directory, a file, a SquashFS image or a tar archive. `-` is a tar archive on
    /// standard input, or nothing if definitions describe everything.
    // One list, so that flags may stand between its paths.
    #[arg(value_name = "PATHS", num_args = 0..)]
    paths: Vec<PathBuf>,

    /// Order the image by this plan
    ///
    /// A text file as `coldpress press --plan-out` writes it. Everything that it does not name
    /// follows in the order of the tree. Warnings name what the source does not have.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) profile: OrderingProfileArgs,

    /// Leave out what the profile does not name
    ///
    /// The image starts what was recorded and holds nothing else: the files that were read or
    /// looked up, whole and under all their names, and the directories above them. What --include
    /// matches stays too. Record every way in which the image will be used.
    #[arg(
        hide_short_help = true,
        long,
        requires = "profile",
        conflicts_with = "plan"
    )]
    pub(crate) only_recorded: bool,

    /// Order the data of files by this sort file of mksquashfs
    ///
    /// As `mksquashfs -sort`: each line has a path in SOURCE and a priority from -32768 to 32767.
    /// The highest comes first, and files of one priority come in reverse order. Warnings name
    /// lines without effect.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "profile"])]
    pub(crate) sort: Option<PathBuf>,

    /// Order the data of files by this sort file of gensquashfs
    ///
    /// As `gensquashfs -S`: each line has a priority, flags in brackets and a path in the image.
    /// The lowest comes first. build obeys `dont_compress` and `dont_fragment`.
    #[arg(hide_short_help = true, long, value_name = "FILE",
        conflicts_with_all = ["plan", "profile", "sort"])]
    pub(crate) gensquashfs_sort: Option<PathBuf>,

    /// Copy unchanged blocks from this older image instead of compressing them again
    ///
    /// An image of a similar tree with the same settings, such as the one that IMAGE replaces. A
    /// block is copied only if it holds the same bytes, so the result is the same as without this
    /// flag. If the older image is missing or has other settings, build says so and compresses
    /// everything.
    #[arg(long, value_name = "OLD")]
    pub(crate) reuse: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) stable: StableArgs,

    /// Begin the image at this byte of the file, after zeros [default: 0]
    ///
    /// For data in front of an image, such as the program that starts an AppImage.
    #[arg(hide_short_help = true, long, value_name = "BYTES", value_parser = parse_size_bytes)]
    pub(crate) offset: Option<u64>,

    /// Do not fill the image up to a multiple of 4 KiB
    ///
    /// A loop device can mount such an image only if it ends at the end of a sector.
    #[arg(hide_short_help = true, long)]
    pub(crate) no_padding: bool,

    /// End without an image if something cannot be stored as it was found
    ///
    /// By default, build leaves out or cuts short what it cannot read, prints a warning, and ends
    /// with exit status 1.
    #[arg(hide_short_help = true, long)]
    pub(crate) exit_on_error: bool,

    /// Read the finished image back and compare it with the sources
    #[arg(long)]
    pub(crate) verify: bool,

    /// Write a dm-verity hash tree, and print its root hash: sidecar or append
    ///
    /// The bytes are those of `veritysetup format`; see docs/verity.md.
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        conflicts_with = "offset",
        hide_short_help = true
    )]
    pub(crate) verity: Option<TreeForm>,

    #[command(flatten)]
    pub(crate) start_pack: StartPackArgs,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) pseudo_files: PseudoFileArgs,

    #[command(flatten)]
    pub(crate) image_options: ImageArgs,

    #[command(flatten)]
    pub(crate) source_options: SourceArgs,

    /// Take a SOURCE that is a block device as the SquashFS image on it
    ///
    /// Without this a device node is stored, as in a directory.
    #[arg(long, hide_short_help = true)]
    pub(crate) source_image: bool,

    #[command(flatten)]
    pub(crate) tar: TarArgs,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,

    #[command(flatten)]
    pub(crate) hash_tree: HashTreeArgs,

    /// Add what this tool adds to an image: enroot, apptainer, charliecloud
    ///
    /// enroot: `/etc/rc`, `/etc/rc.local`, `/etc/environment` and `/etc/fstab` as `enroot import`
    /// writes them, and an empty `/dev`. Without -c, -l, -b and --store, the options of mksquashfs
    /// in `ENROOT_SQUASH_OPTIONS` or enroot.conf hold.
    ///
    /// apptainer: IMAGE is a SIF container as `apptainer build` writes it. The tree gets
    /// `/.singularity.d` with runscript, environment and labels, and the compressor is gzip unless
    /// another is asked for. Any SOURCE will do. This is the default if the name of IMAGE ends with
    /// `.sif`.
    ///
    /// charliecloud: the directories at which `ch-run` mounts something, `/ch/environment` and
    /// `/ch/metadata.json`.
    ///
    /// Root owns everything, unless --uid or --gid say otherwise.
    #[arg(
        long = "preset",
        value_name = "TOOL",
        value_enum,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) target: Option<TargetName>,
}

impl BuildArgs {
    /// The sources, and the image.
    ///
    /// # Errors
    ///
    /// If there is one path only.
    pub(crate) fn split_paths(&self) -> anyhow::Result<(&[PathBuf], &Path)> {
        match self.paths.split_last() {
            Some((image, sources)) if !sources.is_empty() => Ok((sources, image)),
            _ => Err(anyhow!(
                "{} given, but it takes a SOURCE and an IMAGE: `coldpress build SOURCE... IMAGE`",
                if self.paths.is_empty() {
                    "no path was"
                } else {
                    "one path was"
                }
            )),
        }
    }
}
