//! What a snap holds that the rules of the store and of snapd are about.

use std::collections::HashMap;

use coldpress_format::{Body, CompressorOptions, Inode, Superblock};
use coldpress_image::{Error, Image, walk};
use coldpress_report::text::{base_name, permissions, quoted_bytes};
use coldpress_snap::{METADATA_MAX_BYTES, Metadata, PATH};
use regex::bytes::Regex;

use super::links::{End, Links};

/// How many of many alike things are named.
const NAMED_MAX: usize = 5;
/// The most programs of apps that are looked for.
const PROGRAMS_MAX: usize = 10_000;

/// Some of the places in an image that break a rule, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// All of them.
    pub count: u64,
    /// The first, each with what was found.
    pub first: Vec<String>,
}

impl Places {
    pub(super) fn note(&mut self, path: &[u8], found: &str) {
        self.count += 1;
        if self.first.len() < NAMED_MAX {
            self.first.push(format!("{} ({found})", quoted_bytes(path)));
        }
    }
}

/// What a snap holds that the rules are about, found in one walk.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Its superblock.
    pub superblock: Superblock,
    /// The options that it records for its compressor.
    pub options: Option<CompressorOptions>,
    /// What it says of itself, or why that cannot be read.
    pub metadata: Result<Metadata, String>,
    /// What does not belong to root.
    pub owners: Places,
    /// Set-id and sticky bits, and symlinks with a mode.
    pub modes: Places,
    /// Devices, named pipes and sockets.
    pub kinds: Places,
    /// What has extended attributes.
    pub xattrs: Places,
    /// Symlinks that lead out of the snap, but for those that the store lets through.
    pub leaving: Places,
    /// Whether all symlinks were followed.
    pub links_are_followed: bool,
    /// What of `meta`, and on the way there, snapd refuses.
    pub unreadable: Places,
    /// Programs of apps that are not there or cannot be run.
    pub programs: Places,
}

impl Survey {
    /// Walks over an image.
    ///
    /// # Errors
    ///
    /// As [`walk`]. A `meta/snap.yaml` that cannot be read is a finding.
    ///
    /// # Cost
    ///
    /// Reads all inodes and listings, and keeps up to 64 MiB of symlinks.
    pub fn of(image: &Image) -> Result<Self, Error> {
        let mut survey = Self {
            superblock: image.superblock().clone(),
            options: image.options(),
            metadata: metadata(image),
            owners: Places::default(),
            modes: Places::default(),
            kinds: Places::default(),
            xattrs: Places::default(),
            leaving: Places::default(),
            links_are_followed: true,
            unreadable: Places::default(),
            programs: Places::default(),
        };
        let mut programs = survey.metadata.as_ref().map(programs).unwrap_or_default();
        let mut links = Links::default();
        walk(image, &mut |visited| {
            let (path, inode) = (visited.path, visited.inode);
            let (uid, gid) = image.owner(inode)?;
            if (uid, gid) != (0, 0) {
                survey.owners.note(path, &format!("{uid}/{gid}"));
            }
            if inode.xattr.is_some() {
                survey.xattrs.note(path, "has some");
            }
            if let Body::Symlink(target) = &inode.body {
                links.note(path, target);
            }
            survey.look_at(path, inode);
            survey.look_at_meta(path, inode);
            if let Some(program) = programs.get_mut(path) {
                program.mode = Some(inode.mode);
            }
            Ok(())
        })?;
        survey.follow(&mut links);
        let mut programs: Vec<_> = programs.into_iter().collect();
        programs.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, program) in programs {
            match program.mode {
                None => survey.programs.note(&path, "not there"),
                Some(mode) if !program.is_run_with(mode) => {
                    survey.programs.note(&path, &permissions(mode));
                }
                Some(_) => {}
            }
        }
        Ok(survey)
    }

    /// What `check_squashfs_files` of review-tools looks at.
    fn look_at(&mut self, path: &[u8], inode: &Inode) {
        let mode = inode.mode;
        let kind = match &inode.body {
            Body::Directory(_) | Body::File(_) => {
                let is_directory = matches!(inode.body, Body::Directory(_));
                let allowed = if is_directory { 0o1777 } else { 0o777 };
                if mode & !allowed != 0 {
                    self.modes.note(path, &permissions(mode));
                }
                return;
            }
            Body::Symlink(_) => {
                if mode != 0o777 {
                    self.modes.note(path, &permissions(mode));
                }
                return;
            }
            Body::BlockDevice(_) => "block device",
            Body::CharDevice(_) => "character device",
            Body::Fifo => "named pipe",
            Body::Socket => "socket",
        };
        self.kinds.note(path, kind);
    }

    /// What `ValidateSnapContainer` of snapd looks at, but for apps and targets of links.
    fn look_at_meta(&mut self, path: &[u8], inode: &Inode) {
        let is_of_meta = path == b"/" || path == b"/meta" || path.starts_with(b"/meta/");
        if !is_of_meta {
            return;
        }
        let (mode, is_hook) = (inode.mode, path.starts_with(b"/meta/hooks/"));
        let is_fine = match inode.body {
            Body::Symlink(_) => path != b"/meta",
            Body::Directory(_) => mode & 0o555 == 0o555,
            Body::File(_) if is_hook => mode & 0o111 != 0,
            Body::File(_) => mode & 0o444 == 0o444,
            _ => false,
        };
        if !is_fine {
            self.unreadable.note(path, &permissions(mode));
        }
    }

    /// Finds out which symlinks lead out.
    fn follow(&mut self, links: &mut Links) {
        let name = self.metadata.as_ref().map_or("", |it| it.name.as_str());
        let own = [format!("/snap/{name}/"), format!("/var/snap/{name}/")];
        let exceptions = Exceptions::new();
        for (path, target, end) in links.ends() {
            let to = match &end {
                End::Inside | End::Unknown => continue,
                End::Absolute(to) => to.as_slice(),
                End::Above => b"",
            };
            let shown = format!("to {}", quoted_bytes(&target));
            if path.starts_with(b"/meta/") {
                self.unreadable.note(&path, &shown);
            }
            let is_own = !name.is_empty() && own.iter().any(|it| to.starts_with(it.as_bytes()));
            if !is_own && !exceptions.have(&path, to) {
                self.leaving.note(&path, &shown);
            }
        }
        self.links_are_followed = links.is_whole();
    }
}

/// Symlinks out of the snap that review-tools lets through (`find_external_symlinks`).
struct Exceptions {
    names: Option<Regex>,
    targets: Option<Regex>,
}

impl Exceptions {
    fn new() -> Self {
        let libraries = r"(?-u)(ld-*.so|lib(anl|BrokenLocale|c|cidn|crypt|dl|memusage|m|mvec|nsl|nss_(compat|dns|files|hesiod|nisplus|nis)|pcprofile|pthread|resolv|rt|SegFault|thread_db|util))(-[0-9.]+)?\.so(\.[0-9.]+)?|ld-*.so$|ld-linux-.*.so\.[0-9.]+$|ld64.so\.[0-9.]+$";
        Self {
            names: Regex::new(libraries).ok(),
            targets: Regex::new(r"(?-u)^/usr/bin/python3(\.[0-9]*)?$").ok(),
        }
    }

    fn have(&self, path: &[u8], to: &[u8]) -> bool {
        let has = |pattern: &Option<Regex>, text| {
            let pattern = pattern.as_ref();
            pattern.is_some_and(|pattern| pattern.is_match(text))
        };
        has(&self.names, base_name(path)) || has(&self.targets, to)
    }
}

/// What the image says of itself.
fn metadata(image: &Image) -> Result<Metadata, String> {
    let found = image.find(PATH.as_bytes());
    let file = match found.map_err(|error| error.to_string())? {
        Some((_, inode)) => match inode.body {
            Body::File(file) => file,
            _ => return Err(format!("{} is no file", PATH.trim_start_matches('/'))),
        },
        None => return Err("there is no meta/snap.yaml: it is no snap".to_owned()),
    };
    // One byte more tells that it is too long.
    let len = file.size_bytes.min(METADATA_MAX_BYTES + 1);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    let read = image.read_at(&file, 0, &mut bytes);
    let read = read.map_err(|error| format!("meta/snap.yaml: {error}"))?;
    Metadata::parse(bytes.get(..read).unwrap_or_default()).map_err(|error| error.to_string())
}

/// What has to be there for an app: its program, or a directory on the way.
#[derive(Clone, Copy, Debug)]
struct Program {
    /// Users run it, and not only root.
    is_for_users: bool,
    /// Its mode, once it was found.
    mode: Option<u16>,
}

impl Program {
    fn is_run_with(self, mode: u16) -> bool {
        if self.is_for_users {
            mode & 0o555 == 0o555
        } else {
            mode & 0o111 != 0
        }
    }
}

/// The programs of all apps by path, not yet found.
fn programs(metadata: &Metadata) -> HashMap<Vec<u8>, Program> {
    let mut found = HashMap::new();
    for app in metadata.apps.values() {
        for path in app.programs() {
            let names = path
                .split('/')
                .filter(|name| !name.is_empty() && *name != ".");
            let names: Vec<&str> = names.collect();
            // snapd passes over what leads elsewhere.
            if names.contains(&"..") || found.len() > PROGRAMS_MAX {
                continue;
            }
            let is_for_users = !app.is_service;
            let whole = 1.max(names.len());
            let first = if is_for_users { 1 } else { whole };
            for len in first..=names.len() {
                let path = format!("/{}", names.get(..len).unwrap_or_default().join("/"));
                let program = found.entry(path.into_bytes()).or_insert(Program {
                    is_for_users,
                    mode: None,
                });
                program.is_for_users |= is_for_users;
            }
        }
    }
    found
}
