//! Paths and patterns of a command line to paths of an image.

use coldpress_format::InodeKind;
use coldpress_image::Image;
use coldpress_image::image_path::child;
use coldpress_report::text::quoted_bytes;

use super::follow::{Place, Trail, follow};
use super::name_match::NameMatch;
use super::request::Patterns;

/// What a path leads to.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) place: Place,
    /// The path as typed, with names in the place of patterns.
    pub(crate) shown: Vec<u8>,
    pub(crate) trail: Trail,
    /// Whether the last name is a link that was followed.
    pub(crate) is_link: bool,
}

/// Finds what paths lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finder<'a> {
    image: &'a Image,
    patterns: Patterns,
    last_link: LastLink,
}

/// What a symbolic link at the end of a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLink {
    /// Itself.
    Itself,
    /// What it leads to, and itself where that is nothing.
    Followed,
    /// What it leads to.
    Target,
}

/// A component of a path as typed.
enum Component {
    /// `.`
    Here,
    /// `..`
    Up,
    Name(Typed),
}

/// A component that is compared with names.
struct Typed {
    text: Vec<u8>,
    name: NameMatch,
}

/// A directory from which a part of the path is still to go.
struct Pending {
    directory: Place,
    shown: Vec<u8>,
    trail: Trail,
    /// The component that is next.
    next: usize,
}

/// What is called for each match and each problem.
struct Sinks<'a> {
    found: &'a mut dyn FnMut(Match) -> anyhow::Result<()>,
    problem: &'a mut dyn FnMut(&str),
    has_problem: bool,
}

impl Sinks<'_> {
    fn problem(&mut self, text: &str) {
        self.has_problem = true;
        (self.problem)(text);
    }
}

impl<'a> Finder<'a> {
    pub(crate) fn new(image: &'a Image, patterns: Patterns, last_link: LastLink) -> Self {
        Self {
            image,
            patterns,
            last_link,
        }
    }

    /// Calls `found` for each match of a path, in the order of names, and `problem` for each
    /// that leads nowhere.
    ///
    /// Returns whether there was no problem.
    ///
    /// # Errors
    ///
    /// If a pattern is wrong or the image is damaged; whatever `found` returns.
    pub(crate) fn find(
        &self,
        path: &[u8],
        found: &mut dyn FnMut(Match) -> anyhow::Result<()>,
        problem: &mut dyn FnMut(&str),
    ) -> anyhow::Result<bool> {
        let components = self.components(path)?;
        let mut sinks = Sinks {
            found,
            problem,
            has_problem: false,
        };
        let mut pending = vec![Pending {
            directory: Place::root(self.image),
            shown: b"/".to_vec(),
            trail: Trail::default(),
            next: 0,
        }];
        while let Some(mut at) = pending.pop() {
            let component = components.get(at.next);
            at.next += 1;
            match component {
                None => (sinks.found)(Match {
                    place: at.directory,
                    shown: at.shown,
                    trail: at.trail,
                    is_link: false,
                })?,
                Some(Component::Here) => {
                    at.shown = child(&at.shown, b".");
                    pending.push(at);
                }
                Some(Component::Up) => pending.extend(self.up(at, &mut sinks)?),
                Some(Component::Name(typed)) if at.next == components.len() => {
                    self.last(&at, typed, &mut sinks)?;
                }
                Some(Component::Name(typed)) => {
                    let below = self.through(&at, typed, &mut sinks)?;
                    pending.extend(below.into_iter().rev());
                }
            }
        }
        Ok(!sinks.has_problem)
    }

    fn components(&self, path: &[u8]) -> anyhow::Result<Vec<Component>> {
        let names = path.split(|byte| *byte == b'/');
        let names = names.filter(|name| !name.is_empty());
        names
            .map(|name| {
                Ok(match name {
                    b"." => Component::Here,
                    b".." => Component::Up,
                    text => Component::Name(Typed {
                        text: text.to_vec(),
                        name: NameMatch::parse(text, self.patterns)?,
                    }),
                })
            })
            .collect()
    }

    fn up(&self, at: Pending, sinks: &mut Sinks<'_>) -> anyhow::Result<Option<Pending>> {
        let shown = child(&at.shown, b"..");
        let Some(parent) = at.directory.parent(self.image)? else {
            let shown = quoted_bytes(&shown);
            sinks.problem(&format!(
                "{shown}: there is nothing above the root directory"
            ));
            return Ok(None);
        };
        let mut trail = at.trail;
        trail.directories.push(at.directory.path);
        Ok(Some(Pending {
            directory: parent,
            shown,
            trail,
            next: at.next,
        }))
    }

    /// What the last component matches.
    fn last(&self, at: &Pending, typed: &Typed, sinks: &mut Sinks<'_>) -> anyhow::Result<()> {
        for (place, shown) in self.matches(at, typed, sinks)? {
            let mut trail = at.trail.clone();
            let mut is_link =
                place.kind == InodeKind::Symlink && self.last_link != LastLink::Itself;
            let mut place = place;
            if is_link {
                if let Some(target) = follow(self.image, &at.directory, &place, &mut trail)? {
                    place = target;
                } else {
                    sinks.problem(&unresolved(&shown));
                    if self.last_link == LastLink::Target {
                        continue;
                    }
                    (trail, is_link) = (at.trail.clone(), false);
                }
            }
            (sinks.found)(Match {
                place,
                shown,
                trail,
                is_link,
            })?;
        }
        Ok(())
    }

    /// The directories to which a component that is not the last leads.
    fn through(
        &self,
        at: &Pending,
        typed: &Typed,
        sinks: &mut Sinks<'_>,
    ) -> anyhow::Result<Vec<Pending>> {
        let mut below = Vec::new();
        for (place, shown) in self.matches(at, typed, sinks)? {
            let mut trail = at.trail.clone();
            let directory = match place.kind {
                InodeKind::Directory => place,
                InodeKind::Symlink => {
                    match follow(self.image, &at.directory, &place, &mut trail)? {
                        None => {
                            sinks.problem(&unresolved(&shown));
                            continue;
                        }
                        Some(place) if place.kind == InodeKind::Directory => place,
                        Some(_) => {
                            let shown = quoted_bytes(&shown);
                            let rule = "the symbolic link does not resolve to a directory";
                            sinks.problem(&format!("{shown}: {rule}"));
                            continue;
                        }
                    }
                }
                _ => {
                    sinks.problem(&format!("{} is not a directory", quoted_bytes(&shown)));
                    continue;
                }
            };
            below.push(Pending {
                directory,
                shown,
                trail,
                next: at.next,
            });
        }
        Ok(below)
    }

    /// The entries of a directory that are meant, each with its path as shown.
    fn matches(
        &self,
        at: &Pending,
        typed: &Typed,
        sinks: &mut Sinks<'_>,
    ) -> anyhow::Result<Vec<(Place, Vec<u8>)>> {
        let entries = at.directory.entries(self.image)?;
        let matches: Vec<(Place, Vec<u8>)> = entries
            .iter()
            .filter(|entry| typed.name.matches(&entry.name))
            .map(|entry| (at.directory.entry(entry), child(&at.shown, &entry.name)))
            .collect();
        if matches.is_empty() {
            let shown = quoted_bytes(&child(&at.shown, &typed.text));
            sinks.problem(&format!("no matches for {shown}"));
        }
        Ok(matches)
    }
}

fn unresolved(shown: &[u8]) -> String {
    let shown = quoted_bytes(shown);
    format!("{shown}: the symbolic link cannot be resolved inside the image")
}
