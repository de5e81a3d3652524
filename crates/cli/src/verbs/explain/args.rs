//! The verb `explain`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use coldpress_explain::Linker;

use crate::flags::command::CommandArgs;
use crate::flags::device::DeviceArgs;
use crate::flags::place::PlaceArgs;
use crate::flags::readahead::ReadaheadArgs;

/// Explain what a cold start of COMMAND reads from IMAGE and waits for
///
/// Mounts IMAGE through the kernel, starts COMMAND with cold caches and records it. For each file,
/// prints what was read and what of it was needed, the reads, bytes and pages, and the time spent
/// on waiting and decompressing. Also prints what was read more than once and why, the cost of
/// metadata, what came into memory without being used, and which sections of programs and libraries
/// were touched. Needs root. docs/explain.md says what is measured and what is estimated.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress explain rootfs.sqfs --chroot --device usb2 --report start.html -- /usr/bin/git --version")]
pub(crate) struct ExplainArgs {
    /// The image to start COMMAND from
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) readahead: ReadaheadArgs,

    /// Write the report to this file, as HTML
    ///
    /// It shows the reads over time and a heat map of the image.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Print it as JSON, with all files
    #[arg(long)]
    pub(crate) json: bool,

    /// Files, programs and repeated blocks to list [default: 15]
    #[arg(
        long,
        value_name = "N",
        default_value = "15",
        hide_default_value = true
    )]
    pub(crate) top: usize,

    /// Write the functions of FILE to OUT, in the order in which the start needed them
    ///
    /// FILE is a program or library in IMAGE: its path, or the end of its path if only one used
    /// file has it. May be repeated.
    #[arg(
        long,
        value_name = "FILE=OUT",
        value_parser = OsStringValueParser::new().try_map(|text| parse_symbol_order(&text))
    )]
    pub(crate) symbol_order: Vec<SymbolOrder>,

    /// The linker that `--symbol-order` is for [default: lld]
    ///
    /// lld: one name per line, for `--symbol-ordering-file`. gold: names of sections, for
    /// `--section-ordering-file`.
    #[arg(
        long,
        value_enum,
        value_name = "LINKER",
        default_value = "lld",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) linker: LinkerName,

    /// Start nothing; explain what the start in this trace would read from IMAGE
    ///
    /// The trace may be recorded from any image of the same files. This is `coldpress predict` in
    /// detail, to compare layouts. Needs no root.
    #[arg(
        long,
        value_name = "TRACE",
        conflicts_with_all = ["command", "chroot", "ready", "timeout", "symbol_order"],
        hide_short_help = true
    )]
    pub(crate) trace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) command: OptionalCommand,
}

/// A command that may be missing if there is a trace.
#[derive(Debug)]
pub(crate) struct OptionalCommand(pub(crate) CommandArgs);

impl FromArgMatches for OptionalCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        CommandArgs::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for OptionalCommand {
    fn augment_args(command: Command) -> Command {
        CommandArgs::augment_args(command).mut_arg("command", |arg| {
            arg.required(false).required_unless_present("trace")
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        CommandArgs::augment_args_for_update(command)
    }
}

/// Who reads an order of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkerName {
    Lld,
    Gold,
}

impl LinkerName {
    /// The linker of this name.
    pub(crate) fn linker(self) -> Linker {
        match self {
            Self::Lld => Linker::Lld,
            Self::Gold => Linker::Gold,
        }
    }
}

/// `FILE=OUT`: the symbols of which file go where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolOrder {
    /// Path in the image, or its end.
    pub(crate) file: Vec<u8>,
    pub(crate) output: PathBuf,
}

/// Reads `FILE=OUT`.
///
/// # Errors
///
/// A clause that says what it looks like.
fn parse_symbol_order(text: &OsStr) -> Result<SymbolOrder, String> {
    let bytes = text.as_bytes();
    // Names of libraries may hold `=`, places for small files rarely do.
    let equals = bytes.iter().rposition(|byte| *byte == b'=');
    let (file, output) = bytes.split_at(equals.unwrap_or(bytes.len()));
    let output = output.get(1..).unwrap_or_default();
    if file.is_empty() || output.is_empty() {
        return Err("an order is a file of the image and a place: `libx.so=order.txt`".to_owned());
    }
    Ok(SymbolOrder {
        file: file.to_vec(),
        output: PathBuf::from(OsStr::from_bytes(output)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_names_a_file_and_a_place() {
        for (text, expected) in [
            ("libc.so=order", Some(("libc.so", "order"))),
            ("/lib/a=b.so=x/order", Some(("/lib/a=b.so", "x/order"))),
            ("libc.so", None),
            ("=order", None),
            ("libc.so=", None),
            ("", None),
        ] {
            let order = parse_symbol_order(OsStr::new(text)).ok();
            let expected = expected.map(|(file, output)| SymbolOrder {
                file: file.as_bytes().to_vec(),
                output: PathBuf::from(output),
            });
            assert_eq!(order, expected, "{text}");
        }
    }
}
