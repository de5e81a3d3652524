//! What a choice depends on: flags to values.

use anyhow::{anyhow, bail};
use coldpress_calibration::Population;
use coldpress_codec::{Choice as _, Choices, Filter};
use coldpress_doctor::reader::{COMPRESSORS, Known, Reader};
use coldpress_doctor::targets;
use coldpress_format::{BlockSize, Compressor};
use coldpress_report::failure::hint;
use coldpress_session::ui::Ui;
use coldpress_tune::{Effort, FieldOptions, Limits, filters};
use coldpress_writer::Source;

use crate::flags::image::CompressorName;
use crate::resolve;
use crate::verbs::tune::args::TuneArgs;

/// What a choice depends on beside the source and its start.
#[derive(Debug)]
pub(super) struct Conditions {
    pub(super) population: Population,
    pub(super) field: FieldOptions,
    pub(super) limits: Limits,
    /// Compressors that were left out, each with the one that does not read them.
    pub(super) unread: Vec<(Compressor, String)>,
    /// Where the image is to be read.
    readers: Vec<Reader>,
}

impl Conditions {
    /// # Errors
    ///
    /// If the device, a target or a block size is none, or the targets leave nothing.
    pub(super) fn resolve(args: &TuneArgs, ui: &Ui) -> anyhow::Result<Self> {
        let population = if args.default_speeds {
            Population::of_defaults(&args.device.names)?
        } else {
            Population::resolve(&args.device.names, ui)?
        };
        let readers = args.target.iter().map(|target| targets::reader(target));
        let readers: Vec<Reader> = readers.collect::<anyhow::Result<_>>()?;
        let unread = unread(&readers);
        let page_bytes = readers.iter().filter_map(|reader| reader.page_bytes).max();
        let page_bytes = page_bytes.unwrap_or_default();
        let field = FieldOptions {
            effort: match (args.fast, args.thorough) {
                (true, _) => Effort::Fast,
                (_, true) => Effort::Thorough,
                _ => Effort::Usual,
            },
            compressors: compressors(&args.compressors, &unread)?,
            block_sizes: block_sizes(&args.block_sizes, page_bytes)?,
            block_bytes_min: page_bytes,
            filters: Choices::NONE,
            has_plan: args.has_start(),
            has_budget: args.size_budget.is_some(),
            group: resolve::group(args.grouping.group),
        };
        Ok(Self {
            population,
            field,
            limits: Limits {
                size_bytes: args.max_size,
                build_s: args.build_time,
                memory_bytes: args.memory,
                page_cache_bytes: args.page_cache,
            },
            unread,
            readers,
        })
    }

    /// Looks for machine code in the source, if that is to be filtered, by filters that are read
    /// wherever the image is to be.
    pub(super) fn look_into(&mut self, source: &Source, ui: &Ui) {
        if self.field.effort == Effort::Thorough {
            let step = ui.step("looking", 0).about("for machine code");
            let is_read = |filter: &Filter| {
                let mut known = self.readers.iter();
                known.all(|it| it.filters_that_are(Known::Yes).contains(&filter.name()))
            };
            self.field.filters = filters(source).iter().filter(is_read).collect();
            step.finish("");
        }
    }
}

/// Compressors that a reader is not known to have, each with the first such reader.
fn unread(readers: &[Reader]) -> Vec<(Compressor, String)> {
    let lacks = |compressor: &Compressor| {
        let compressor = *compressor;
        let reader = readers
            .iter()
            .find(|reader| reader.compressor(compressor) != Known::Yes)?;
        Some((compressor, reader.name.clone()))
    };
    COMPRESSORS.iter().filter_map(lacks).collect()
}

/// The compressors to try: what was asked for, or all; without those that are not read.
fn compressors(
    asked: &[CompressorName],
    unread: &[(Compressor, String)],
) -> anyhow::Result<Vec<Option<Compressor>>> {
    let all = [
        CompressorName::Gzip,
        CompressorName::Lzo,
        CompressorName::Lz4,
        CompressorName::Xz,
        CompressorName::Zstd,
        CompressorName::None,
    ];
    let asked_for = if asked.is_empty() { &all[..] } else { asked };
    let compressors: Vec<Option<Compressor>> = asked_for
        .iter()
        .map(|name| resolve::compressor(*name))
        .filter(|compressor| is_read(*compressor, unread))
        .collect();
    if compressors.is_empty() {
        let who: Vec<&str> = unread.iter().map(|(_, reader)| reader.as_str()).collect();
        let who = who.first().copied().unwrap_or_default();
        let error = anyhow!("{who} is not known to read any of the compressors to try");
        return Err(hint(
            error,
            "`coldpress doctor --target NAME` prints what it reads; try more --compressors",
        ));
    }
    Ok(compressors)
}

/// An image without compression names gzip, and needs no compressor.
fn is_read(compressor: Option<Compressor>, unread: &[(Compressor, String)]) -> bool {
    let needed = compressor.unwrap_or(Compressor::Gzip);
    !unread.iter().any(|(unread, _)| *unread == needed)
}

/// The block sizes that were asked for, each once, none of which is smaller than a page where the
/// image is read: a kernel refuses it.
fn block_sizes(asked_bytes: &[u64], page_bytes: u32) -> anyhow::Result<Vec<BlockSize>> {
    let mut sizes: Vec<BlockSize> = Vec::new();
    for bytes in asked_bytes {
        let size = resolve::block_size(*bytes)?;
        if size.bytes() < page_bytes {
            bail!(
                "blocks of {} bytes are smaller than the pages of a target, which have \
                {page_bytes}",
                size.bytes()
            );
        }
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_by(names: &[&str]) -> anyhow::Result<Vec<Option<Compressor>>> {
        let readers = names.iter().map(|name| targets::reader(name.as_ref()));
        let readers: Vec<Reader> = readers.collect::<anyhow::Result<_>>()?;
        compressors(&[], &unread(&readers))
    }

    #[test]
    fn only_what_every_target_is_known_to_read_is_tried() {
        use Compressor::{Gzip, Lzo, Xz, Zstd};
        assert_eq!(read_by(&[]).unwrap().len(), 6);
        assert_eq!(read_by(&["debian-12"]).unwrap().len(), 6);
        // Without gzip there is no image without compression either: it names gzip.
        assert_eq!(read_by(&["openwrt"]).unwrap(), [Some(Xz)]);
        assert_eq!(read_by(&["snap-store"]).unwrap(), [Some(Lzo), Some(Xz)]);
        assert_eq!(
            read_by(&["appimage", "debian-12"]).unwrap(),
            [Some(Gzip), Some(Zstd), None]
        );
        let nothing = read_by(&["openwrt", "appimage"]).unwrap_err();
        assert!(nothing.to_string().contains("openwrt"), "{nothing}");
    }

    #[test]
    fn blocks_are_not_smaller_than_pages() {
        let sizes = |asked: &[u64], page| {
            block_sizes(asked, page)
                .map(|sizes| sizes.iter().map(|size| size.bytes()).collect::<Vec<u32>>())
        };
        let twice = sizes(&[4096, 131_072, 4096], 4096);
        assert_eq!(twice.unwrap(), vec![4096, 131_072]);
        assert!(sizes(&[4096], 16_384).is_err());
        assert!(sizes(&[5000], 0).is_err());
    }
}
