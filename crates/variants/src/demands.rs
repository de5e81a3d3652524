//! What an image asks of its readers, as an index says it.

use std::collections::BTreeSet;

use coldpress_doctor::reader::FILTERS;
use coldpress_format::{BlockSize, Compressor, CompressorOptions};
use coldpress_image::ReaderRequirements;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What an image asks of its readers: what `coldpress doctor` judges by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demands {
    /// The compressor, as `mksquashfs -comp` spells it.
    pub compressor: String,
    /// Bytes of a data block.
    pub block_size_bytes: u32,
    /// Bytes of the image without padding.
    pub used_bytes: u64,
    /// Whether there are extended attributes.
    #[serde(default)]
    pub xattrs: bool,
    /// The filters that blocks of xz went through, by name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub xz_filters: BTreeSet<String>,
    /// The kinds of checksums of blocks of xz, as the xz format numbers them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub xz_checks: BTreeSet<u8>,
    /// The dictionary that the image records for xz, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xz_dictionary_bytes: Option<u32>,
    /// The largest dictionary of xz or window of zstd, in bytes; 0 for other compressors.
    #[serde(default)]
    pub window_bytes: u64,
    /// The longest target of a symlink, in bytes.
    #[serde(default)]
    pub longest_target_bytes: u64,
}

impl Demands {
    /// Those of an image.
    pub fn of(requirements: &ReaderRequirements) -> Self {
        let name = |number: &u64| {
            let known = FILTERS.iter().find(|(known, _)| known == number);
            known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
        };
        Self {
            compressor: requirements.compressor.name().to_owned(),
            block_size_bytes: requirements.block_size.bytes(),
            used_bytes: requirements.bytes_used,
            xattrs: requirements.has_xattrs,
            xz_filters: requirements.xz_filters.iter().map(name).collect(),
            xz_checks: requirements.xz_checks.clone(),
            xz_dictionary_bytes: match requirements.options {
                Some(CompressorOptions::Xz {
                    dictionary_size, ..
                }) => Some(dictionary_size),
                _ => None,
            },
            window_bytes: requirements.window_bytes,
            longest_target_bytes: requirements.longest_target.0,
        }
    }

    /// The same as a reader is judged by; what only a remedy needs is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Rule`] if a value is none that an image can have.
    ///
    /// * `place`: of the image in the index.
    pub fn requirements(&self, place: &str) -> Result<ReaderRequirements, Error> {
        let wrong = |field: &str, rule: String| Error::rule(format!("{place}.{field}"), rule);
        let compressor = Compressor::from_name(&self.compressor).ok_or_else(|| {
            let name = self.compressor.escape_debug();
            wrong("compressor", format!("is `{name}`, which is no compressor"))
        })?;
        let block_size = BlockSize::new(self.block_size_bytes).map_err(|_| {
            let bytes = self.block_size_bytes;
            wrong(
                "block_size_bytes",
                format!("is {bytes}, which is no block size"),
            )
        })?;
        let filters = self.xz_filters.iter().map(|text| {
            let known = FILTERS.iter().find(|(_, name)| name == text);
            let number = known
                .map(|(number, _)| *number)
                .or_else(|| text.parse().ok());
            number.ok_or_else(|| {
                let text = text.escape_debug();
                wrong(
                    "xz_filters",
                    format!("has `{text}`, which is no filter of xz"),
                )
            })
        });
        Ok(ReaderRequirements {
            compressor,
            options: self
                .xz_dictionary_bytes
                .map(|dictionary_size| CompressorOptions::Xz {
                    dictionary_size,
                    filters: 0,
                }),
            block_size,
            has_fragments: true,
            has_xattrs: self.xattrs,
            ids: Vec::new(),
            bytes_used: self.used_bytes,
            xz_filters: filters.collect::<Result<_, _>>()?,
            xz_checks: self.xz_checks.clone(),
            window_bytes: self.window_bytes,
            longest_target: (self.longest_target_bytes, Vec::new()),
        })
    }
}
