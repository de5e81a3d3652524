//! From an index to the one image that is meant.

mod manifest;

use std::collections::HashSet;

use coldpress_writer::Digest;

use crate::blobs::{Blobs, document};
use crate::document::{Descriptor, ENTRIES_MAX, Index, parse};
use crate::error::Error;
use crate::image::ContainerImage;
use crate::media_type::INDEXES;
use crate::platform::Platform;

/// Indexes below each other: buildx makes two, `docker save` three.
const DEPTH_MAX: usize = 8;
/// What says that a manifest is about another one: provenance, lists of packages.
const REFERENCE_TYPE: &str = "vnd.docker.reference.type";
/// The annotations that name an image.
const NAMES: [&str; 2] = [
    "io.containerd.image.name",
    "org.opencontainers.image.ref.name",
];

/// Which image is meant.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Its name, where there are several.
    pub name: Option<String>,
    /// The digest of its manifest, or of an index above it.
    pub digest: Option<Digest>,
    /// What it is to run on; without one this machine, where there is a choice.
    pub platform: Option<Platform>,
}

impl Wanted {
    /// Demands that an image that was found is for the platform that was asked for.
    pub(crate) fn check(&self, image: &str, found: &Platform) -> Result<(), Error> {
        match &self.platform {
            Some(wanted) if found.fitness(wanted).is_none() => Err(Error::NoPlatform {
                image: image.to_owned(),
                wanted: wanted.to_string(),
                choices: found.to_string(),
            }),
            _ => Ok(()),
        }
    }
}

/// Whether a name is the one that is asked for, with or without what Docker fills in.
pub(crate) fn is_name(name: &str, wanted: &str) -> bool {
    let full = |name: &str| {
        let name = name.strip_prefix("docker.io/").unwrap_or(name);
        let name = name.strip_prefix("library/").unwrap_or(name);
        let last = name.rsplit('/').next().unwrap_or(name);
        let tag = if last.contains([':', '@']) {
            ""
        } else {
            ":latest"
        };
        format!("{name}{tag}")
    };
    name == wanted || full(name) == full(wanted)
        // As skopeo and umoci: the tag alone.
        || name.rsplit_once(':').is_some_and(|(_, tag)| tag == wanted && !tag.contains('/'))
}

/// A manifest that an index leads to.
#[derive(Clone, Debug)]
struct Leaf {
    descriptor: Descriptor,
    names: Vec<String>,
}

/// A search through indexes.
struct Search<'a> {
    blobs: &'a dyn Blobs,
    wanted: &'a Wanted,
    /// Indexes on the way, of which none may lead to itself.
    above: Vec<Digest>,
    seen: HashSet<Digest>,
    entries: usize,
    leaves: Vec<Leaf>,
}

/// Finds the image that is meant, and opens its parts.
///
/// # Errors
///
/// [`Error`].
pub(crate) fn image(
    blobs: &dyn Blobs,
    index: Index,
    wanted: &Wanted,
) -> Result<ContainerImage, Error> {
    let (leaf, platforms) = leaf(blobs, index, wanted)?;
    manifest::open(blobs, &leaf.descriptor, platforms, wanted)
}

/// The digest of the manifest of the image that is meant. Its parts are not opened.
///
/// # Errors
///
/// [`Error`].
#[cfg(feature = "http")]
pub(crate) fn manifest_digest(
    blobs: &dyn Blobs,
    index: Index,
    wanted: &Wanted,
) -> Result<Digest, Error> {
    Ok(leaf(blobs, index, wanted)?.0.descriptor.digest)
}

fn leaf(blobs: &dyn Blobs, index: Index, wanted: &Wanted) -> Result<(Leaf, Vec<Platform>), Error> {
    let mut search = Search {
        blobs,
        wanted,
        above: Vec::new(),
        seen: HashSet::new(),
        entries: 0,
        leaves: Vec::new(),
    };
    search.index(index, &[], wanted.digest.is_none())?;
    search.chosen()
}

impl Search<'_> {
    /// * `names`: those of the index, which its entries have too.
    /// * `is_meant`: whether what is in it may be the image.
    fn index(&mut self, index: Index, names: &[String], is_meant: bool) -> Result<(), Error> {
        self.entries += index.manifests.len();
        if self.entries > ENTRIES_MAX {
            return Err(self.rule(&format!("has more than {ENTRIES_MAX} entries")));
        }
        for descriptor in index.manifests {
            let is_about_another = descriptor.annotations.contains_key(REFERENCE_TYPE)
                || descriptor
                    .platform
                    .as_ref()
                    .is_some_and(Platform::is_unknown);
            if is_about_another {
                continue;
            }
            let own = NAMES
                .iter()
                .filter_map(|key| descriptor.annotations.get(*key));
            let mut names = names.to_vec();
            names.extend(own.cloned());
            let is_meant = is_meant || self.wanted.digest == Some(descriptor.digest);
            if !INDEXES.contains(&descriptor.media_type.as_str()) {
                if is_meant {
                    self.leaves.push(Leaf { descriptor, names });
                }
                continue;
            }
            if self.above.contains(&descriptor.digest) {
                return Err(self.rule(&format!("{} contains itself", descriptor.digest)));
            }
            if self.above.len() == DEPTH_MAX {
                return Err(self.rule(&format!("has more than {DEPTH_MAX} others in each other")));
            }
            // The same index again says the same, unless it has another name.
            if names.is_empty() && !self.seen.insert(descriptor.digest) {
                continue;
            }
            let bytes = document(self.blobs, &descriptor, "an index")?;
            let below = parse(self.blobs.name(), "an index", &bytes)?;
            self.above.push(descriptor.digest);
            self.index(below, &names, is_meant)?;
            self.above.pop();
        }
        Ok(())
    }

    /// The one that is meant, and the platforms of those with its name.
    fn chosen(self) -> Result<(Leaf, Vec<Platform>), Error> {
        let image = || self.blobs.name().to_owned();
        let has_name = |leaf: &&Leaf| match &self.wanted.name {
            Some(wanted) => leaf.names.iter().any(|name| is_name(name, wanted)),
            None => true,
        };
        let mut named: Vec<&Leaf> = self.leaves.iter().filter(has_name).collect();
        let mut digests = HashSet::new();
        named.retain(|leaf| digests.insert(leaf.descriptor.digest));
        if named.is_empty() {
            return Err(match (&self.wanted.name, self.wanted.digest) {
                (Some(name), _) if !self.leaves.is_empty() => Error::NoName {
                    image: image(),
                    name: name.clone(),
                    choices: choices(&self.leaves.iter().collect::<Vec<_>>()),
                },
                (_, Some(digest)) => Error::Missing {
                    image: image(),
                    what: format!("image {digest}"),
                },
                _ => Error::Missing {
                    image: image(),
                    what: "image in it".to_owned(),
                },
            });
        }
        let platforms = named
            .iter()
            .filter_map(|leaf| leaf.descriptor.platform.clone());
        let platforms: Vec<Platform> = platforms.collect();
        if let [leaf] = named[..] {
            return Ok((leaf.clone(), platforms));
        }
        let host = Platform::host();
        let wanted = self.wanted.platform.as_ref().unwrap_or(&host);
        // One that does not say what it is for is for any.
        let fitness = |leaf: &&Leaf| match &leaf.descriptor.platform {
            Some(platform) => platform.fitness(wanted),
            None => Some(0),
        };
        let best = named.iter().filter_map(fitness).max();
        let Some(best) = best else {
            let texts: Vec<String> = platforms.iter().map(ToString::to_string).collect();
            return Err(Error::NoPlatform {
                image: image(),
                wanted: wanted.to_string(),
                choices: texts.join(", "),
            });
        };
        named.retain(|leaf| fitness(leaf) == Some(best));
        match named[..] {
            [leaf] => Ok((leaf.clone(), platforms)),
            // A list for one name has one for each platform, and the first counts otherwise.
            [leaf, ..] if self.wanted.name.is_some() || is_one_name(&named) => {
                Ok((leaf.clone(), platforms))
            }
            _ => Err(Error::Ambiguous {
                image: image(),
                choices: choices(&named),
            }),
        }
    }

    fn rule(&self, rule: &str) -> Error {
        Error::Rule {
            image: self.blobs.name().to_owned(),
            what: "an index".to_owned(),
            rule: rule.to_owned(),
        }
    }
}

/// Whether no names tell images apart, as in the index of a registry.
fn is_one_name(leaves: &[&Leaf]) -> bool {
    leaves
        .iter()
        .all(|leaf| leaf.names == leaves[0].names && leaf.descriptor.platform.is_some())
}

fn choices(leaves: &[&Leaf]) -> String {
    let text = |leaf: &&Leaf| match leaf.names.first() {
        Some(name) => format!("`{name}`"),
        None => format!("`@{}`", leaf.descriptor.digest),
    };
    let mut texts: Vec<String> = leaves.iter().map(text).collect();
    texts.dedup();
    texts.truncate(10);
    texts.join(", ")
}

#[cfg(test)]
mod tests;
