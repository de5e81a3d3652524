//! `index.json`: a set of images, of which a client takes one.

use std::collections::BTreeSet;

use coldpress_cost::{AccessSequence, Geometry};
use coldpress_writer::Digest;
use serde::{Deserialize, Serialize};

use crate::demands::Demands;
use crate::error::Error;
use crate::work::{WORK_MAX, work};
use crate::{geometry, start};

/// Bytes that are read of an index at most.
pub const INDEX_MAX_BYTES: u64 = 16 << 20;
/// Images of an index at most.
pub const IMAGES_MAX: usize = 64;
/// The only version that there is.
const VERSION: u32 = 1;
/// Longer names are not those of files (`NAME_MAX`).
const NAME_MAX_BYTES: usize = 255;

/// A set of images of the same tree, of which a client takes one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// The version of the form.
    #[serde(rename = "coldpress_variants")]
    version: u32,
    /// The start by which images are compared.
    pub start: StartEntry,
    /// For whom the set was chosen, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_for: Option<ChosenFor>,
    /// The images, in the order of their names.
    pub images: Vec<ImageEntry>,
}

/// The start by which images are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartEntry {
    /// What it is, for people.
    pub description: String,
    /// What the program takes when it waits for nothing, in s.
    pub program_s: f64,
    /// What it asks for, in order.
    pub packed: String,
}

/// An image of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageEntry {
    /// The name of its file, beside the index.
    pub file: String,
    /// How it is built, for people.
    pub description: String,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// The hash of the file: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// What it asks of its readers.
    pub demands: Demands,
    /// What lies where in it, as far as the start asks for it.
    pub geometry: String,
}

/// For whom a set was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenFor {
    /// The mean of the clients' starts, each from the image that it takes, by their shares, in s,
    /// as the built images are predicted to give it.
    pub expected_start_s: f64,
    /// No set of as many images that were considered is expected to be below this, in s, as samples
    /// predicted it.
    pub least_expected_s: f64,
    /// What samples predicted of the set that was chosen, in s: `least_expected_s` if it is the
    /// best.
    pub predicted_s: f64,
    /// How many images were considered.
    pub considered: usize,
    /// The clients.
    pub clients: Vec<ClientEntry>,
}

/// A client of a population, and what it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientEntry {
    /// As it was described.
    pub client: String,
    /// Its share of the starts; all together 1.
    pub share: f64,
    /// The file that it takes.
    pub takes: String,
    /// Its start from that, in s.
    pub start_s: f64,
}

impl Index {
    /// An index of images that are compared by a start.
    pub fn new(description: String, sequence: &AccessSequence, images: Vec<ImageEntry>) -> Self {
        Self {
            version: VERSION,
            start: StartEntry {
                description,
                program_s: sequence.compute_s,
                packed: start::pack(sequence),
            },
            chosen_for: None,
            images,
        }
    }

    /// Reads an index.
    ///
    /// # Errors
    ///
    /// [`Error::Json`], and [`Error::Rule`] with the value that breaks a rule.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let index: Self = serde_json::from_slice(bytes)?;
        index.check()?;
        Ok(index)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.version != VERSION {
            let rule = format!("is {}, and this coldpress reads {VERSION}", self.version);
            return Err(Error::rule("coldpress_variants", rule));
        }
        let count = self.images.len();
        if count == 0 || count > IMAGES_MAX {
            let rule = format!("has {count} images, not 1 to {IMAGES_MAX}");
            return Err(Error::rule("images", rule));
        }
        let mut names = BTreeSet::new();
        for (number, image) in self.images.iter().enumerate() {
            let place = |field: &str| format!("images[{number}].{field}");
            let name = image.file.escape_debug();
            if !is_plain(&image.file) {
                let rule = format!("is `{name}`, not the name of a file beside the index");
                return Err(Error::rule(place("file"), rule));
            }
            if !names.insert(&image.file) {
                let rule = format!("is `{name}`, as that of an image before");
                return Err(Error::rule(place("file"), rule));
            }
            image.digest(number)?;
            image.demands.requirements(&place("demands"))?;
            if image.demands.used_bytes > image.size_bytes {
                let (used, size) = (image.demands.used_bytes, image.size_bytes);
                let rule = format!("is {used}, more than the {size} of `size_bytes`");
                return Err(Error::rule(place("demands.used_bytes"), rule));
            }
        }
        Ok(())
    }

    /// As it is written.
    ///
    /// # Errors
    ///
    /// [`Error::Rule`] if it is larger, or has more images, than is read of one.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        if bytes.len() as u64 > INDEX_MAX_BYTES {
            let rule = format!("take {} bytes, more than {INDEX_MAX_BYTES}", bytes.len());
            return Err(Error::rule("images", rule));
        }
        Ok(bytes)
    }

    /// The start by which images are compared.
    ///
    /// # Errors
    ///
    /// [`Error::Packed`] with the byte that breaks a rule.
    pub fn sequence(&self) -> Result<AccessSequence, Error> {
        start::unpack(&self.start.packed)
    }

    /// What lies where in an image, as far as the start asks for it.
    ///
    /// # Errors
    ///
    /// [`Error::Packed`] with the byte that breaks a rule; [`Error::Rule`] if it is not that of the
    /// image, or if predicting a start from it would take too long.
    pub fn geometry(&self, number: usize, sequence: &AccessSequence) -> Result<Geometry, Error> {
        let place = format!("images[{number}].geometry");
        let Some(image) = self.images.get(number) else {
            return Err(Error::rule(place, "does not exist"));
        };
        let geometry = geometry::unpack(&place, &image.geometry, sequence)?;
        let demands = &image.demands;
        let is_same = geometry.compressor.name() == demands.compressor
            && geometry.block_size.bytes() == demands.block_size_bytes
            && geometry.image_bytes == demands.used_bytes;
        if !is_same {
            let rule = format!(
                "is of {}, blocks of {} bytes and {} bytes, but `demands` say {}, {} and {}",
                geometry.compressor,
                geometry.block_size.bytes(),
                geometry.image_bytes,
                demands.compressor.escape_debug(),
                demands.block_size_bytes,
                demands.used_bytes
            );
            return Err(Error::rule(place, rule));
        }
        let work = work(&geometry, sequence);
        if work > WORK_MAX {
            let rule = format!("lets the start look at {work} pages, more than {WORK_MAX}");
            return Err(Error::rule(place, rule));
        }
        Ok(geometry)
    }
}

impl ImageEntry {
    /// The hash of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Rule`] if it is none.
    pub(crate) fn digest(&self, number: usize) -> Result<Digest, Error> {
        let digest = self.digest.parse();
        digest.map_err(|error| {
            Error::rule(
                format!("images[{number}].digest"),
                format!("is wrong: {error}"),
            )
        })
    }
}

/// Whether a name is that of a file in the same directory.
fn is_plain(name: &str) -> bool {
    let is_odd = |letter: char| letter == '/' || letter.is_control();
    !name.is_empty()
        && name.len() <= NAME_MAX_BYTES
        && !name.starts_with('.')
        && !name.contains(is_odd)
}

#[cfg(test)]
mod tests;
