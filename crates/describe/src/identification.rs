//! Which tool made an image, and how.

use coldpress_codec::{Recipe, Tuning};
use coldpress_format::{Flags, Superblock};
use coldpress_report::text::{escaped, fields};
use coldpress_report::units;
use coldpress_writer::{Identity, Numbering};
use serde::Serialize;

/// Which tool made an image and how, as it serializes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identification {
    image: String,
    tool: &'static str,
    /// Why the tool is thought to be that.
    evidence: Vec<String>,
    compressor: &'static str,
    /// The library whose bytes match; `null` if none does.
    library: Option<&'static str>,
    level: Option<i32>,
    /// The level that the image records, or its tool leaves unrecorded as the default.
    recorded_level: Option<i32>,
    is_extreme: bool,
    blocks_matched: usize,
    blocks_sampled: usize,
    block_size: u32,
    flags: Vec<&'static str>,
    #[serde(skip)]
    shows_level: bool,
    /// A command that makes an image like this of a directory.
    command: Option<String>,
}

impl Identification {
    /// * `image`: its file, for people.
    /// * `command`: a command that makes an image like this of a directory.
    pub fn new(
        image: String,
        superblock: &Superblock,
        identity: &Identity,
        command: Option<String>,
    ) -> Self {
        let recipe = identity.encoding.map(|encoding| encoding.recipe);
        Self {
            image,
            tool: identity.tool.name(),
            evidence: evidence(identity),
            compressor: superblock.compressor.name(),
            library: recipe.map(|recipe| recipe.library()),
            level: recipe.map(|recipe| recipe.level()),
            recorded_level: identity.recorded_level,
            is_extreme: recipe.is_some_and(is_extreme),
            blocks_matched: identity.encoding.map_or(0, |encoding| encoding.matched),
            blocks_sampled: identity.sampled,
            block_size: superblock.block_size.bytes(),
            flags: superblock.flags.names(),
            shows_level: !superblock.flags.contains(Flags::RAW_DATA) && identity.sampled > 0,
            command,
        }
    }

    /// The same as text, a line each.
    pub fn text(&self) -> String {
        let mut rows = vec![
            ("image", escaped(self.image.as_bytes())),
            ("tool", self.tool.to_owned()),
            ("compressor", compressor(self)),
            ("block size", units::bytes(self.block_size.into())),
            ("flags", self.flags.join(" ")),
        ];
        rows.extend(self.evidence.iter().map(|text| ("evidence", text.clone())));
        rows.extend(self.command.iter().map(|text| ("made as by", text.clone())));
        fields(&rows)
    }
}

fn is_extreme(recipe: Recipe) -> bool {
    match recipe {
        Recipe::Liblzma { tuning, .. } => tuning.extreme,
        Recipe::Encoder(settings) => matches!(settings.tuning, Tuning::Xz(it) if it.extreme),
        Recipe::Zlib { .. } => false,
    }
}

/// What the structure shows, a sentence each.
fn evidence(identity: &Identity) -> Vec<String> {
    let habits = &identity.habits;
    let parent = habits.root_parent;
    let mut evidence = vec![if parent == 0 {
        "the root directory's parent has number 0, as squashfs-tools-ng writes".to_owned()
    } else if parent == habits.inode_count.wrapping_add(1) {
        format!("the root directory's parent is {parent}, one more than there are inodes")
    } else {
        format!("the root directory's parent is {parent}, as no known tool writes")
    }];
    evidence.push(
        match habits.numbering {
            Numbering::Table => "inodes are numbered as they lie in the inode table",
            Numbering::Walk => "inodes are numbered as a walk meets them, as mksquashfs does",
            Numbering::TableAndWalk => "the tree is too flat to show how inodes are numbered",
            Numbering::Other => "inodes are numbered as no known tool does without a plan",
        }
        .to_owned(),
    );
    if habits.links_count_entries {
        let text = "directories count files as links to them, as squashfs-tools-ng does";
        evidence.push(text.to_owned());
    }
    if parent == 0 && habits.root_has_own_time {
        let text = "the root directory has a time of its own, as of squashfs-tools-ng only \
        tar2sqfs gives it";
        evidence.push(text.to_owned());
    }
    if parent == 0 && habits.has_hard_links {
        let text = "files have several names; gensquashfs would make separate files of them";
        evidence.push(text.to_owned());
    }
    evidence
}

/// `gzip level 9 by zlib: 12 of 12 blocks are the same when compressed again`.
fn compressor(report: &Identification) -> String {
    let name = report.compressor;
    let count = report.blocks_sampled;
    if !report.shows_level {
        return format!("{name}; no block of data is compressed, so nothing shows its level");
    }
    let (Some(library), Some(level)) = (report.library, report.level) else {
        let level = report.recorded_level.map_or_else(
            || "level unknown".to_owned(),
            |level| format!("level {level} as recorded, or the default if nothing is"),
        );
        return format!(
            "{name}, {level}: none of {count} blocks is the same when compressed again by any \
             encoder at hand, so another library or version made them"
        );
    };
    let extreme = if report.is_extreme { " extreme" } else { "" };
    let matched = report.blocks_matched;
    let about = if matched == count {
        ""
    } else {
        ", or a level or version nearby"
    };
    format!(
        "{name} level {level}{extreme} by {library}{about}: {matched} of {count} blocks are the \
         same when compressed again"
    )
}
