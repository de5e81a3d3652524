//! A client: what it reads images from and with, and how it gets them.

use anyhow::{anyhow, bail};
use coldpress_calibration::Target;
use coldpress_cost::{AccessSequence, Geometry, Machine, Medium, Prediction, Reader, predict};
use coldpress_doctor::reader::{COMPRESSORS, FILTERS, Known, Reader as Abilities};
use coldpress_doctor::rules::{Finding, Subject, Verdict, judge};
use coldpress_doctor::targets;
use coldpress_format::{BlockSize, Compressor};
use coldpress_image::ReaderRequirements;
use coldpress_report::failure::hint;
use coldpress_report::typed::parse_size_bytes;

/// A client of a population.
#[derive(Clone, Debug)]
pub struct Client {
    /// As it was described.
    pub name: String,
    /// Its share of the starts, before all are made to add up to 1.
    pub share: f64,
    /// What it reads images from.
    pub medium: Medium,
    /// What it reads them on.
    pub machine: Machine,
    /// What reads them, as starts are predicted.
    pub reader: Reader,
    /// What the reader can do.
    pub abilities: Abilities,
    /// What a start may leave in the page cache, in bytes, if memory is scarce.
    pub memory_bytes: Option<u64>,
    /// How an image comes to it.
    pub download: Download,
}

/// How an image comes to a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Download {
    /// Bytes in a second; `None` if the image is there already.
    pub bytes_per_s: Option<f64>,
    /// Starts among which the time of the download is divided, at least 1.
    pub starts: f64,
}

impl Default for Download {
    fn default() -> Self {
        Self {
            bytes_per_s: None,
            starts: 1.0,
        }
    }
}

impl Download {
    /// What a start has to bear of the download of an image, in s.
    #[expect(clippy::cast_precision_loss, reason = "a time")]
    pub fn share_s(&self, size_bytes: u64) -> f64 {
        let whole_s = self
            .bytes_per_s
            .map_or(0.0, |rate| size_bytes as f64 / rate);
        whole_s / self.starts
    }
}

/// The population of a set if none is described: half of the starts from an SSD, and each fifth from
/// a hard disk and a USB stick; one of ten is read by a process, from a stick.
pub const POPULATION: [&str; 4] = [
    "share=0.5,ssd",
    "share=0.2,hdd",
    "share=0.2,usb2",
    "share=0.1,usb2,reader=fuse",
];

impl Client {
    /// Reads a description, parts divided by commas: `share=0.2,usb2,target=openwrt`.
    ///
    /// `share=` is its share of the starts (1), `target=` a reader that `coldpress doctor` knows,
    /// `reader=` `kernel` or `fuse`, `memory=` what a start may leave in the page cache,
    /// `download=` bytes in a second and `starts=` those among which a download is divided. The
    /// others describe the device as [`Target::of`] takes it, `host` if there are none. Speeds are
    /// the defaults of the cost model: the client is another machine.
    ///
    /// # Errors
    ///
    /// The part that is wrong.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        Self::read(text).map_err(|error| {
            hint(
                error.context(format!("`--client {}`", text.escape_debug())),
                "a client looks like `share=0.2,usb2,target=openwrt,memory=64M`",
            )
        })
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let mut device = Vec::new();
        let mut client = Self::of(text, &Target::of("host", None)?);
        let mut seen = Vec::new();
        for item in text.split(',') {
            let (key, value) = item.split_once('=').unwrap_or(("", item));
            if !key.is_empty() && seen.contains(&key) {
                bail!("`{key}=` is said twice");
            }
            seen.push(key);
            match key {
                "share" => client.share = positive(key, value)?,
                "target" => client.abilities = targets::reader(value.as_ref())?,
                "memory" => client.memory_bytes = Some(size(key, value)?),
                "download" => {
                    let bytes = size(key, value)?.max(1);
                    client.download.bytes_per_s = Some(rate(bytes));
                }
                "starts" => client.download.starts = positive(key, value)?.max(1.0),
                "reader" if value == "kernel" => {}
                "reader" if value == "fuse" => client.read_by_process(),
                "reader" => bail!("`{value}` is no reader, which is `kernel` or `fuse`"),
                _ => device.push(item),
            }
        }
        if !device.is_empty() {
            client.medium = Target::of(&device.join(","), None)?.medium;
        }
        Ok(client)
    }

    /// A client with the speeds of a target, of whose reader nothing is known but that it has every
    /// compressor.
    pub fn of(name: &str, target: &Target) -> Self {
        Self {
            name: name.to_owned(),
            share: 1.0,
            medium: target.medium,
            machine: target.machine.clone(),
            reader: target.kernel,
            abilities: every_ability("any Linux with all of SquashFS", true),
            memory_bytes: None,
            download: Download::default(),
        }
    }

    /// It as the target of a prediction.
    pub fn target(&self) -> Target {
        Target {
            name: self.name.clone(),
            medium: self.medium,
            disk: Medium::HOST,
            machine: self.machine.clone(),
            kernel: self.reader,
            is_calibrated: false,
            is_here: false,
        }
    }

    /// Has a process read images: `coldpress mount`, which has every compressor.
    pub fn read_by_process(&mut self) {
        self.reader = Reader::FUSE;
        self.abilities = every_ability("coldpress mount", false);
    }

    /// What stands against reading an image.
    pub fn findings(&self, requirements: &ReaderRequirements, size_bytes: u64) -> Vec<Finding> {
        let subject = Subject {
            requirements,
            size_bytes,
            has_hash_tree: false,
            snap: None,
            resquashed: None,
        };
        let mut findings = judge(subject, &self.abilities);
        findings.retain(|finding| finding.verdict != Verdict::Yes);
        findings
    }

    /// Whether images of a compressor and a block size are known to be read.
    pub fn reads(&self, compressor: Option<Compressor>, block_size: BlockSize) -> bool {
        // An image without compression names gzip.
        let compressor = compressor.unwrap_or(Compressor::Gzip);
        let page_bytes = self.abilities.page_bytes.unwrap_or_default();
        self.abilities.squashfs == Known::Yes
            && self.abilities.compressor(compressor) == Known::Yes
            && block_size.bytes() >= page_bytes
    }

    /// A start from an image.
    pub fn predict(&self, geometry: &Geometry, sequence: &AccessSequence) -> Prediction {
        predict(
            geometry,
            sequence,
            &self.medium,
            &self.machine,
            &self.reader,
        )
    }
}

/// The clients of a population, with shares that add up to 1.
///
/// # Errors
///
/// As [`Client::parse`].
pub fn population(texts: &[String]) -> anyhow::Result<Vec<Client>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let texts = if texts.is_empty() {
        &POPULATION[..]
    } else {
        &texts
    };
    let clients = texts.iter().map(|text| Client::parse(text));
    let mut clients: Vec<Client> = clients.collect::<anyhow::Result<_>>()?;
    let sum: f64 = clients.iter().map(|client| client.share).sum();
    for client in &mut clients {
        client.share /= sum;
    }
    Ok(clients)
}

/// A reader that reads whatever the format has.
fn every_ability(name: &str, is_kernel: bool) -> Abilities {
    Abilities {
        is_kernel,
        squashfs: Known::Yes,
        compressors: [Known::Yes; COMPRESSORS.len()],
        filters: [Known::Yes; FILTERS.len()],
        xattrs: Known::Yes,
        page_bytes: is_kernel.then_some(4096),
        dm_verity: Known::Yes,
        ..Abilities::unknown(name, "what it is")
    }
}

fn positive(key: &str, value: &str) -> anyhow::Result<f64> {
    let number = value.parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| anyhow!("`{key}={value}` must be a number above 0"))
}

fn size(key: &str, value: &str) -> anyhow::Result<u64> {
    parse_size_bytes(value).map_err(|rule| anyhow!("`{key}={value}`: {rule}"))
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn rate(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use coldpress_report::failure::sentence;

    use super::*;

    #[test]
    fn clients_are_described_in_parts() {
        let client =
            Client::parse("share=0.2,usb2,via=file,target=openwrt,memory=64M,download=1M,starts=4")
                .unwrap();
        assert!((client.share - 0.2).abs() < 1e-12 && client.medium.via_file);
        assert_eq!(client.medium.reads_per_s, Some(400.0));
        assert_eq!(client.memory_bytes, Some(64 << 20));
        assert!((client.download.share_s(2 << 20) - 0.5).abs() < 1e-12);
        assert!(client.reads(Some(Compressor::Xz), BlockSize::DEFAULT));
        assert!(!client.reads(Some(Compressor::Zstd), BlockSize::DEFAULT));
        let fuse = Client::parse("reader=fuse").unwrap();
        assert_eq!(fuse.reader, Reader::FUSE);
        assert!(fuse.reads(None, BlockSize::MIN) && fuse.memory_bytes.is_none());
        let shares: f64 = population(&[])
            .unwrap()
            .iter()
            .map(|client| client.share)
            .sum();
        assert!((shares - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_wrong_in_a_description_is_named() {
        for (text, expected) in [
            (
                "share=0",
                "`--client share=0`: `share=0` must be a number above 0",
            ),
            (
                "share=1,share=2",
                "`--client share=1,share=2`: `share=` is said twice",
            ),
            (
                "reader=erofs",
                "`--client reader=erofs`: `erofs` is no reader, which is `kernel` or `fuse`",
            ),
            (
                "memory=x",
                "`--client memory=x`: `memory=x`: a size is a whole number with an optional K, M or G: `128K`",
            ),
        ] {
            assert_eq!(sentence(&Client::parse(text).unwrap_err()), expected);
        }
        assert!(Client::parse("floppy").is_err());
        assert!(Client::parse("target=nobody").is_err());
    }
}
