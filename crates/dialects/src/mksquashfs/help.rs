//! What the options that only print print.

use anyhow::anyhow;
use coldpress_format::Compressor;
use coldpress_host::memory;
use coldpress_report::failure::hint;

use super::compression::options_of;
use super::options::SECTIONS;
use super::request::{Print, Request};
use crate::squashfs_tools::{Tool, help as lines};

/// What an option asks to be printed.
///
/// # Errors
///
/// If it names something that is not there.
pub fn help(request: &Request, print: &Print) -> anyhow::Result<String> {
    let tool = request.tool;
    match print {
        Print::Help => Ok(lines::all(&SECTIONS, tool)),
        Print::Options(part) => lines::some(&SECTIONS, tool, |_, row| {
            row.names().any(|name| name.contains(part))
        }),
        Print::Sections(part) => lines::sections(&SECTIONS, tool, part),
        Print::CompressorInUse => compressor(tool, request.compression.compressor()),
        Print::Compressor(name) => compressors(tool, name),
        Print::Version => Ok(lines::version(tool)),
        Print::MemoryDefault => Ok(format!("{}\n", memory::default_bytes() >> 20)),
    }
}

fn compressors(tool: Tool, name: &str) -> anyhow::Result<String> {
    let writable = Compressor::ALL
        .into_iter()
        .filter(|compressor| *compressor != Compressor::Lzma);
    match name {
        "list" => Ok(writable.fold(String::new(), |text, one| text + one.name() + "\n")),
        "all" => writable.map(|one| compressor(tool, one)).collect(),
        name => {
            let found = writable.into_iter().find(|one| one.name() == name);
            let found = found.ok_or_else(|| {
                let error = anyhow!("there is no compressor `{name}`");
                hint(error, "`-help-comp list` names all")
            })?;
            compressor(tool, found)
        }
    }
}

fn compressor(tool: Tool, compressor: Compressor) -> anyhow::Result<String> {
    let text = lines::some(&SECTIONS, tool, |_, row| {
        row.names()
            .any(|name| options_of(compressor).any(|other| other == name))
    })?;
    Ok(format!("{compressor}:\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: Tool, print: &Print) -> anyhow::Result<String> {
        help(&Request::new(tool), print)
    }

    #[test]
    fn help_names_the_options_of_its_tool() {
        let help = of(Tool::Mksquashfs, &Print::Help).unwrap();
        assert!(help.starts_with("usage: mksquashfs SOURCE... "), "{help}");
        assert!(
            help.contains("\n  -all-root, -root-owned\n      everything"),
            "{help}"
        );
        assert!(help.contains("\n      refused: "), "{help}");
        let help = of(Tool::Sqfstar, &Print::Help).unwrap();
        assert!(help.contains("\n  -force\n"), "{help}");
        assert!(
            !help.contains("-noappend") && !help.contains("-sort"),
            "{help}"
        );
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    }

    #[test]
    fn parts_of_help_are_found_by_name() {
        let tool = Tool::Mksquashfs;
        let times = of(tool, &Print::Options("-time".to_owned())).unwrap();
        assert!(
            times.contains("-root-time TIME") && !times.contains("-comp"),
            "{times}"
        );
        let section = of(tool, &Print::Sections("times".to_owned())).unwrap();
        assert!(section.starts_with("\nTimes\n  -mkfs-time, "), "{section}");
        let list = of(tool, &Print::Sections("list".to_owned())).unwrap();
        assert_eq!(list.lines().count(), SECTIONS.len());
        let lz4 = of(tool, &Print::Compressor("lz4".to_owned())).unwrap();
        assert!(lz4.contains("-Xhc") && !lz4.contains("-Xbcj"), "{lz4}");
        let all = of(tool, &Print::Compressor("all".to_owned())).unwrap();
        assert!(all.contains("-Xhc") && all.contains("-Xbcj"), "{all}");
        for print in [
            Print::Options("-zzz".to_owned()),
            Print::Compressor("lzma".to_owned()),
        ] {
            assert!(of(tool, &print).is_err(), "{print:?}");
        }
    }

    #[test]
    fn the_version_is_read_by_scripts() {
        let version = of(Tool::Mksquashfs, &Print::Version).unwrap();
        assert!(
            version.starts_with("mksquashfs version 4.7 (coldpress "),
            "{version}"
        );
    }
}
