//! The medium that a start is measured on: so many bytes and so many reads per second.
//!
//! A development machine has a fast disk; the users of an image have a stick, a card or an old
//! hard disk. A device says what the kernel is to slow reads down to. Two numbers are enough,
//! because a cold start waits for single reads: it is bound by reads per second when they are
//! scattered and by bytes per second when they are large.

use std::fmt;

use crate::Error;

/// A medium, as wide and as quick as the kernel is to let it be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The description it was parsed from; [`Device::parse`] reads it again.
    pub name: String,
    /// Bytes per second, at least 1; `None` is as fast as the machine.
    pub read_bytes_per_s: Option<u64>,
    /// Reads per second, at least 1; `None` is as fast as the machine.
    pub read_iops: Option<u64>,
    /// Where the image lies.
    pub via: Via,
}

/// Where the image lies, which decides what is throttled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Via {
    /// The image is a partition. The loop device reads with direct I/O and is throttled itself,
    /// so each read of `SquashFS`, metadata too, costs one read of the medium.
    #[default]
    Partition,
    /// The image is a file on the medium. The loop device reads through the page cache of that
    /// file and the disk below is throttled, so metadata that is read again comes from memory.
    File,
}

/// A medium with a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// What [`Device::parse`] knows it by.
    pub name: &'static str,
    /// Bytes per second; `None` is not throttled.
    pub read_bytes_per_s: Option<u64>,
    /// Reads per second; `None` is not throttled.
    pub read_iops: Option<u64>,
    /// Why these numbers.
    pub reason: &'static str,
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "usb2",
        read_bytes_per_s: Some(25_000_000),
        read_iops: Some(400),
        reason: "a USB 2 stick: the bus carries about 35 MB/s, sticks reach 20 to 30; one command \
                 at a time, 2.5 ms each",
    },
    Preset {
        name: "sd",
        read_bytes_per_s: Some(20_000_000),
        read_iops: Some(500),
        reason: "a plain SD card in high-speed mode, whose bus ends at 25 MB/s; class A1 promises \
                 1500 reads per second, cards without it far fewer",
    },
    Preset {
        name: "hdd",
        read_bytes_per_s: Some(120_000_000),
        read_iops: Some(100),
        reason: "a hard disk: half a turn at 7200 per minute is 4 ms and a seek about 6 ms",
    },
    Preset {
        name: "emmc",
        read_bytes_per_s: Some(150_000_000),
        read_iops: Some(4_000),
        reason: "soldered flash of small laptops and boards, one read at a time, 0.25 ms each",
    },
    Preset {
        name: "ssd",
        read_bytes_per_s: Some(500_000_000),
        read_iops: Some(10_000),
        reason: "a SATA disk of flash: the bus ends at 600 MB/s; one read at a time, 0.1 ms each",
    },
    Preset {
        name: "nvme",
        read_bytes_per_s: Some(2_000_000_000),
        read_iops: Some(200_000),
        reason: "an NVMe disk on PCIe 3 with a few reads in flight",
    },
    Preset {
        name: "host",
        read_bytes_per_s: None,
        read_iops: None,
        reason: "the disk of this machine, not throttled",
    },
];

impl Device {
    /// The media known by name, from slow to fast.
    pub fn presets() -> &'static [Preset] {
        PRESETS
    }

    /// Reads a description: parts divided by commas.
    ///
    /// The first part may name a preset. `bw=` sets bytes per second and `iops=` reads per
    /// second, whole numbers with an optional decimal suffix K, M or G (or lower case); they
    /// replace what the preset says. `via=` is `partition` (default) or `file`.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] names the part that is unknown, repeated, zero, or too large.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut device = Self {
            name: text.to_owned(),
            read_bytes_per_s: None,
            read_iops: None,
            via: Via::default(),
        };
        let mut seen = Vec::new();
        for (index, item) in text.split(',').enumerate() {
            let wrong = |rule| Error::Device {
                text: text.to_owned(),
                item: item.to_owned(),
                rule,
            };
            let Some((key, value)) = item.split_once('=') else {
                let preset = PRESETS.iter().find(|preset| preset.name == item);
                let preset = preset.ok_or_else(|| wrong("is not a known device"))?;
                if index > 0 {
                    return Err(wrong("must come first"));
                }
                device.read_bytes_per_s = preset.read_bytes_per_s;
                device.read_iops = preset.read_iops;
                continue;
            };
            if seen.contains(&key) {
                return Err(wrong("is said twice"));
            }
            seen.push(key);
            match key {
                "bw" => device.read_bytes_per_s = Some(parse_rate(value, u64::MAX).map_err(wrong)?),
                // The kernel keeps reads per second in 32 bits.
                "iops" => {
                    device.read_iops = Some(parse_rate(value, u32::MAX.into()).map_err(wrong)?);
                }
                "via" => {
                    device.via = match value {
                        "partition" => Via::Partition,
                        "file" => Via::File,
                        _ => return Err(wrong("is neither `via=partition` nor `via=file`")),
                    }
                }
                _ => return Err(wrong("is not one of bw=, iops=, via=")),
            }
        }
        Ok(device)
    }

    /// Whether the kernel has to slow anything down.
    pub fn is_throttled(&self) -> bool {
        self.read_bytes_per_s.is_some() || self.read_iops.is_some()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Decimal suffixes, as media are sold: 5M is 5,000,000.
fn parse_rate(text: &str, limit: u64) -> Result<u64, &'static str> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1_000_000),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("is not a whole number with an optional K, M or G");
    }
    let rate = digits.parse::<u64>().ok();
    let rate = rate.and_then(|number| number.checked_mul(unit));
    match rate {
        Some(0) => Err("would stop the device: the least rate is 1"),
        Some(rate) if rate <= limit => Ok(rate),
        _ => Err("is more than the kernel can count"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, bytes_per_s: Option<u64>, iops: Option<u64>, via: Via) {
        let device = Device::parse(text).unwrap();
        let expected = Device {
            name: text.to_owned(),
            read_bytes_per_s: bytes_per_s,
            read_iops: iops,
            via,
        };
        assert_eq!(device, expected);
        assert_eq!(Device::parse(&device.name).unwrap(), device);
    }

    #[test]
    fn descriptions_are_read() {
        check("usb2", Some(25_000_000), Some(400), Via::Partition);
        check("host", None, None, Via::Partition);
        check("hdd,via=file", Some(120_000_000), Some(100), Via::File);
        check("bw=5M,iops=100", Some(5_000_000), Some(100), Via::Partition);
        check("iops=2k,via=partition", None, Some(2_000), Via::Partition);
        check(
            "nvme,bw=1G",
            Some(1_000_000_000),
            Some(200_000),
            Via::Partition,
        );
        check(
            "bw=18446744073709551615",
            Some(u64::MAX),
            None,
            Via::Partition,
        );
        check("via=file", None, None, Via::File);
    }

    #[test]
    fn wrong_descriptions_name_the_wrong_part() {
        for (text, item, rule) in [
            ("", "", "is not a known device"),
            ("floppy", "floppy", "is not a known device"),
            ("bw=5M,usb2", "usb2", "must come first"),
            ("usb2,usb2", "usb2", "must come first"),
            ("bw=1,bw=2", "bw=2", "is said twice"),
            (
                "bw=",
                "bw=",
                "is not a whole number with an optional K, M or G",
            ),
            (
                "bw=-5",
                "bw=-5",
                "is not a whole number with an optional K, M or G",
            ),
            (
                "bw=+5",
                "bw=+5",
                "is not a whole number with an optional K, M or G",
            ),
            (
                "bw=1.5M",
                "bw=1.5M",
                "is not a whole number with an optional K, M or G",
            ),
            (
                "bw=\u{b5}",
                "bw=\u{b5}",
                "is not a whole number with an optional K, M or G",
            ),
            (
                "iops=0",
                "iops=0",
                "would stop the device: the least rate is 1",
            ),
            ("iops=5G", "iops=5G", "is more than the kernel can count"),
            (
                "bw=99999999999G",
                "bw=99999999999G",
                "is more than the kernel can count",
            ),
            (
                "via=mail",
                "via=mail",
                "is neither `via=partition` nor `via=file`",
            ),
            ("usb2,depth=3", "depth=3", "is not one of bw=, iops=, via="),
        ] {
            match Device::parse(text) {
                Err(Error::Device {
                    text: whole,
                    item: found,
                    rule: broken,
                }) => {
                    assert_eq!((whole.as_str(), found.as_str(), broken), (text, item, rule));
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn every_preset_is_a_description() {
        for preset in Device::presets() {
            let device = Device::parse(preset.name).unwrap();
            assert_eq!(device.read_bytes_per_s, preset.read_bytes_per_s);
            assert_eq!(device.read_iops, preset.read_iops);
        }
    }
}
