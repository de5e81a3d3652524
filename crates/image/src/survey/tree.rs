//! Visiting every inode that the root leads to, depth-first.

use std::ops::ControlFlow;
use std::vec;

use coldpress_format::{Body, Corrupt, Directory, InodeKind, InodeRef, Part, Rule};

use super::listing::{Named, entries};
use super::{Node, Survey, file, index, rules};
use crate::error::Error;
use crate::findings::{Findings, Severity, equal, within};
use crate::image::Image;
use crate::inode::InodeRecord;
use crate::walk::Bounds;

/// Inodes between two calls of `poll`.
pub(super) const POLL_INODES: u64 = 1024;

/// A directory whose entries are being visited.
struct Level {
    node: usize,
    entries: vec::IntoIter<Named>,
}

struct Walk<'a> {
    image: &'a Image,
    survey: Survey,
    bounds: Bounds,
    findings: &'a mut Findings,
}

/// Visits every inode once.
pub(super) fn walk(
    image: &Image,
    findings: &mut Findings,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Survey, Error> {
    let mut walk = Walk {
        image,
        survey: Survey::new(),
        bounds: Bounds::default(),
        findings,
    };
    let mut levels: Vec<Level> = walk.visit_root().into_iter().collect();
    let mut visits = 0_u64;
    while let Some(level) = levels.last_mut() {
        visits += 1;
        if visits.is_multiple_of(POLL_INODES) && poll().is_break() {
            return Err(Error::Interrupted);
        }
        let (parent, entry) = (level.node, level.entries.next());
        match entry {
            Some(entry) => levels.extend(walk.visit(parent, &entry)),
            None => drop(levels.pop()),
        }
    }
    Ok(walk.survey)
}

impl Walk<'_> {
    fn visit_root(&mut self) -> Option<Level> {
        let at = self.image.superblock().root_inode;
        let root = self.image.root().and_then(|_| self.image.inode_record(at));
        match root {
            Ok(record) => {
                let entry = Named {
                    name: Vec::new(),
                    inode: at,
                    number: record.inode.number,
                    kind: Some(InodeKind::Directory),
                };
                self.visit_inode(0, &entry, &record)
            }
            Err(error) => {
                self.survey.complete = false;
                let path = || Some(b"/".to_vec());
                self.findings.add(Severity::Error, path, error);
                None
            }
        }
    }

    /// Visits what an entry names; returns the listing if it is a directory to go into.
    fn visit(&mut self, parent: usize, entry: &Named) -> Option<Level> {
        let start = self.image.inode_start(entry.inode);
        // Known by number and place: a hard link, whose inode need not be read again.
        let known = self.survey.by_number.get(&entry.number).copied();
        if let Some(node) = known.and_then(|index| self.survey.nodes.get_mut(index))
            && node.at == entry.inode
        {
            node.named = node.named.saturating_add(1);
            let kind = node.kind;
            let checked = if kind == InodeKind::Directory {
                Err(Corrupt::new(Part::Inode, start, Rule::Loop))
            } else {
                let at = (Part::DirectoryEntry, start);
                let found = entry.kind.unwrap_or(kind) as u64;
                equal(at, "type of an entry", found, kind as u64)
            };
            self.broken(parent, entry, checked);
            return None;
        }
        let read = self.image.inode_record(entry.inode).and_then(|record| {
            self.bounds.read(self.image, entry.inode, &record.inode)?;
            Ok(record)
        });
        match read {
            Ok(record) => self.visit_inode(parent, entry, &record),
            Err(error) => {
                self.survey.complete = false;
                self.report(parent, entry, Severity::Error, error);
                None
            }
        }
    }

    /// Notes an inode that was not seen before.
    fn visit_inode(&mut self, parent: usize, entry: &Named, record: &InodeRecord) -> Option<Level> {
        let start = self.image.inode_start(entry.inode);
        let inode = &record.inode;
        self.check_entry(parent, entry, record, start);
        let node = Node::new(entry.inode, inode, 1, (parent, &entry.name));
        let index = self.survey.push(node);
        let noted = note(&mut self.survey, self.image, index, record, start);
        for (severity, error) in noted {
            self.report(parent, entry, severity, error);
        }
        let Body::Directory(directory) = &inode.body else {
            return None;
        };
        if index != parent {
            let at = (Part::Inode, start);
            let expected = self.survey.nodes.get(parent).map_or(0, |node| node.number);
            let (field, found) = ("parent's inode number", directory.parent.into());
            self.broken(parent, entry, equal(at, field, found, expected.into()));
        }
        match self.enter(parent, entry, index, directory) {
            Ok(level) => Some(level),
            Err(error) => {
                self.survey.complete = false;
                self.report(parent, entry, Severity::Error, error);
                None
            }
        }
    }

    /// Checks what an inode and the entry that names it say about each other.
    fn check_entry(&mut self, parent: usize, entry: &Named, record: &InodeRecord, start: u64) {
        let at = (Part::Inode, start);
        let (number, kind) = (record.inode.number, record.inode.body.kind());
        let field = "inode number (an entry says another)";
        self.broken(
            parent,
            entry,
            equal(at, field, number.into(), entry.number.into()),
        );
        let field = "inode type (an entry says another)";
        let stated = entry.kind.unwrap_or(kind) as u64;
        self.broken(parent, entry, equal(at, field, kind as u64, stated));
        let numbers = (1, self.image.superblock().inode_count.into());
        self.broken(
            parent,
            entry,
            within(at, "inode number", number.into(), numbers),
        );
        if let Some(other) = self.survey.node_of_number(number) {
            let other = self
                .survey
                .nodes
                .get(other)
                .map_or(0, |node| node.at.word());
            let field = "inode reference (another inode has the same number)";
            self.broken(parent, entry, equal(at, field, entry.inode.word(), other));
        }
    }

    /// Reads a listing as far as it can be and checks it.
    fn enter(
        &mut self,
        parent: usize,
        entry: &Named,
        node: usize,
        directory: &Directory,
    ) -> Result<Level, Error> {
        let image = self.image;
        self.bounds.enter(image, entry.inode, directory)?;
        let (listing, read) = image.listing_so_far(directory)?;
        let inode_start = image.inode_start(entry.inode);
        let start = image.listing_start(directory);
        let (entries, mut broken) = entries(&listing.bytes, start);
        let is_cut = matches!(broken.last(), Some((_, corrupt)) if is_truncated(corrupt));
        if let Err(error) = read {
            if is_cut {
                broken.pop();
            }
            self.survey.complete = false;
            self.report(parent, entry, Severity::Error, error);
        } else {
            let table_start = image.directory_table.start;
            let index = index::check(directory, &listing, inode_start, table_start);
            broken.extend(index.into_iter().map(|corrupt| (Severity::Error, corrupt)));
        }
        // A listing that ends in the middle of an entry may have lost some.
        self.survey.complete &= !is_cut;
        for (severity, corrupt) in broken {
            self.report(parent, entry, severity, corrupt);
        }
        if let Some(node) = self.survey.nodes.get_mut(node) {
            node.entries = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        }
        Ok(Level {
            node,
            entries: entries.into_iter(),
        })
    }

    fn broken(&mut self, parent: usize, entry: &Named, checked: Result<(), Corrupt>) {
        if let Err(corrupt) = checked {
            self.report(parent, entry, Severity::Error, corrupt);
        }
    }

    fn report(
        &mut self,
        parent: usize,
        entry: &Named,
        severity: Severity,
        error: impl Into<Error>,
    ) {
        let path = || self.survey.path_in(parent, &entry.name);
        self.findings.add(severity, path, error);
    }
}

fn is_truncated(corrupt: &Corrupt) -> bool {
    matches!(corrupt.rule, Rule::Truncated { .. })
}

/// Notes what an inode refers to; returns what is wrong with it.
pub(super) fn note(
    survey: &mut Survey,
    image: &Image,
    node: usize,
    record: &InodeRecord,
    start: u64,
) -> Vec<(Severity, Error)> {
    let inode = &record.inode;
    let broken = rules::check(image, record, start).into_iter();
    let mut errors: Vec<_> = broken
        .map(|(severity, corrupt)| (severity, corrupt.into()))
        .collect();
    let mut expect = |errors_found: Vec<Error>| {
        errors.extend(
            errors_found
                .into_iter()
                .map(|error| (Severity::Error, error)),
        );
    };
    survey.ids_used.extend([inode.uid_index, inode.gid_index]);
    // Where the id table cannot be read, that is the problem, not each inode.
    if image.ids().len() == usize::from(image.superblock().id_count) {
        expect(image.owner(inode).err().into_iter().collect());
    }
    if let Body::File(file) = &inode.body {
        expect(file::note_file(survey, image, node, file, start));
    }
    survey.note_listing(image, inode, node);
    errors
}

/// The place of an inode in the inode table.
pub(super) fn place(image: &Image, at: InodeRef) -> (u64, u64) {
    (image.inode_start(at), at.offset.into())
}
