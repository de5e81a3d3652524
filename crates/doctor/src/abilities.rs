//! What a reader of images can do, as it is printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::reader::{COMPRESSORS, FILTERS, Known, Reader};
use crate::targets::Target;
use coldpress_host::{KernelConfig, has_squashfs, machine};
use coldpress_report::text::{escaped, quoted};
use coldpress_report::units::bytes;
use serde::Serialize;

/// What a reader can do.
#[derive(Debug, Serialize)]
pub struct Abilities {
    name: String,
    /// What it is, of those that have names.
    what: Option<&'static str>,
    source: String,
    squashfs: Known,
    compressors: BTreeMap<&'static str, Known>,
    xz_filters: BTreeMap<&'static str, Known>,
    xattrs: Known,
    page_bytes: Option<u32>,
    dm_verity: Known,
    /// Only of the machine that coldpress runs on.
    here: Option<Here>,
    #[serde(skip)]
    reader: Reader,
}

/// What else matters on this machine.
#[derive(Debug, Serialize)]
struct Here {
    kernel: String,
    architecture: String,
    /// `built in`, `a module`, or `unknown`.
    squashfs: &'static str,
    decompressor: String,
    file_direct: Option<bool>,
    cached_fragments: Option<u32>,
    block_devices_of_4k: Option<bool>,
    loop_devices: bool,
    fuse_device: bool,
    fusermount: Option<PathBuf>,
    squashfuse: Option<PathBuf>,
}

impl Abilities {
    /// What a reader can do.
    #[must_use]
    pub fn of(reader: &Reader) -> Self {
        let names = COMPRESSORS.map(coldpress_format::Compressor::name);
        let filters = FILTERS.map(|(_, name)| name);
        Self {
            name: reader.name.clone(),
            what: None,
            source: reader.source.clone(),
            squashfs: reader.squashfs,
            compressors: names.into_iter().zip(reader.compressors).collect(),
            xz_filters: filters.into_iter().zip(reader.filters).collect(),
            xattrs: reader.xattrs,
            page_bytes: reader.page_bytes,
            dm_verity: reader.dm_verity,
            here: None,
            reader: reader.clone(),
        }
    }

    /// What a reader that has a name can do.
    #[must_use]
    pub fn of_target(target: &Target) -> Self {
        Self {
            what: Some(target.what),
            ..Self::of(&target.reader())
        }
    }

    /// What the kernel and the programs of this machine can do, and what else matters there.
    #[must_use]
    pub fn of_this_machine(reader: &Reader) -> Self {
        Self {
            here: Some(Here::new()),
            ..Self::of(reader)
        }
    }

    /// For people: a line for each ability.
    #[must_use]
    pub fn text(&self) -> String {
        let reader = &self.reader;
        let mut rows = vec![("reader", escaped(self.name.as_bytes()))];
        rows.extend(self.what.map(|what| ("is", what.to_owned())));
        rows.push(("known from", self.source.clone()));
        if let Some(here) = &self.here {
            rows.extend(here.rows());
        }
        let lists = |of: &dyn Fn(Known) -> Vec<&'static str>| {
            let kinds = [
                (Known::Yes, ""),
                (Known::No, "not "),
                (Known::Unknown, "unknown: "),
            ];
            let lists = kinds.map(|(known, word)| (word, of(known).join(" ")));
            let filled = lists.iter().filter(|(_, names)| !names.is_empty());
            let texts: Vec<String> = filled
                .map(|(word, names)| format!("{word}{names}"))
                .collect();
            texts.join("; ")
        };
        rows.extend([
            ("SquashFS", word(self.squashfs).to_owned()),
            (
                "compressors",
                lists(&|known| reader.compressors_that_are(known)),
            ),
            ("xz filters", lists(&|known| reader.filters_that_are(known))),
            ("xattrs", word(self.xattrs).to_owned()),
            ("dm-verity", word(self.dm_verity).to_owned()),
        ]);
        rows.extend(self.page_bytes.map(|page_bytes| {
            let page = bytes(page_bytes.into());
            ("least block size", format!("{page}, a page of memory"))
        }));
        let lines = rows
            .iter()
            .map(|(name, value)| format!("{name:<18} {value}\n"));
        lines.collect()
    }
}

impl Here {
    fn new() -> Self {
        let machine = machine();
        let config = KernelConfig::running().map(|(config, _)| config);
        let squashfs = match config.as_ref().and_then(|config| config.value("SQUASHFS")) {
            Some("y") => "built in",
            Some("m") if has_squashfs() == Some(false) => "a module that cannot be loaded",
            Some("m") => "a module",
            _ => "unknown",
        };
        Self {
            kernel: machine.kernel,
            architecture: machine.architecture,
            squashfs,
            decompressor: machine.squashfs_decompressor,
            file_direct: machine.squashfs_file_direct,
            cached_fragments: machine.squashfs_cached_fragments,
            block_devices_of_4k: config.map(|config| config.has("SQUASHFS_4K_DEVBLK_SIZE")),
            loop_devices: Path::new("/dev/loop-control").exists(),
            fuse_device: Path::new("/dev/fuse").exists(),
            fusermount: program("fusermount3").or_else(|| program("fusermount")),
            squashfuse: program("squashfuse_ll").or_else(|| program("squashfuse")),
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let yes = |is_so: bool| word(Known::from(is_so)).to_owned();
        let optional = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        let program = |path: &Option<PathBuf>| {
            let path = path.as_deref();
            path.map_or_else(|| "not found".to_owned(), quoted)
        };
        let direct = self.file_direct.map(|is_direct| {
            let how = if is_direct {
                "straight into the page cache"
            } else {
                "through a buffer"
            };
            how.to_owned()
        });
        vec![
            (
                "kernel",
                format!("Linux {} {}", self.kernel, self.architecture),
            ),
            ("SquashFS is", self.squashfs.to_owned()),
            ("decompressors", decompressors(&self.decompressor)),
            ("files are read", optional(direct)),
            (
                "fragments kept",
                optional(self.cached_fragments.map(|count| count.to_string())),
            ),
            (
                "4K device blocks",
                optional(self.block_devices_of_4k.map(yes)),
            ),
            ("loop devices", yes(self.loop_devices)),
            ("FUSE device", yes(self.fuse_device)),
            ("fusermount", program(&self.fusermount)),
            ("squashfuse", program(&self.squashfuse)),
        ]
    }
}

/// The mode and what it means for parallel readers.
fn decompressors(mode: &str) -> String {
    match mode {
        "single" => "single: one for each mount, readers wait for each other".to_owned(),
        "multi" => "multi: up to two for each processor".to_owned(),
        "percpu" => "percpu: one for each processor".to_owned(),
        "set by mount option" => "set by mount option: `-o threads=single|multi|percpu`".to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn word(known: Known) -> &'static str {
    match known {
        Known::Yes => "yes",
        Known::No => "no",
        Known::Unknown => "unknown",
    }
}

/// A program on the PATH.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&path).map(|directory| directory.join(name));
    places.into_iter().find(|place| place.is_file())
}
