//! A SquashFS image as an input.
//!
//! Nothing is unpacked: files stay where they are, and are read from the image when their blocks
//! are written.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use coldpress_format::{Body, Inode, InodeRef, MAGIC};
use coldpress_image::{Image, Offset, Visited, XattrBudget};
use coldpress_layout::{Kind, Node, NodeId};

use crate::content::Content;
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::layers::LayerDefect;
use crate::layers::squashfs::{Marks, is_whiteout};
use crate::shared_xattrs::XattrSet;
use crate::source::SourceImage;

/// Whether a path names a file that begins as an image does.
pub(crate) fn is_image(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == MAGIC.to_le_bytes()
}

/// Opens an image that lies `offset_bytes` behind the beginning of a file.
pub(crate) fn open(path: &Path, offset_bytes: u64, is_copied: bool) -> Result<SourceImage, Error> {
    let file = File::open(path).map_err(error::source("open", path))?;
    let inner = Offset {
        inner: file,
        start: offset_bytes,
    };
    let path = path.to_path_buf();
    match Image::new(Box::new(inner)) {
        Ok(image) => Ok(SourceImage {
            image,
            path,
            is_copied,
        }),
        Err(error) => Err(Error::SourceImage { path, error }),
    }
}

/// What an image is among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An input. Directories of earlier ones keep their metadata.
    Input,
    /// A layer of a container image, which may hide what lower ones have.
    Layer,
}

/// Adds what an image holds to the root; returns its root directory.
pub(crate) fn read(
    draft: &mut Draft,
    image: SourceImage,
    role: Role,
    options: &SourceOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Node, Error> {
    let path = image.path.clone();
    let place = draft.keep_image(image);
    let names = names(draft.image(place)).map_err(|error| Error::SourceImage {
        path: path.clone(),
        error,
    })?;
    let mut reader = Reader {
        draft,
        place,
        role,
        options,
        inodes: HashMap::new(),
        xattrs: HashMap::new(),
        budget: XattrBudget::default(),
    };
    let failed = |error| Error::SourceImage {
        path: path.clone(),
        error,
    };
    let mut root = None;
    // The directories on the path of a name.
    let mut above: Vec<NodeId> = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        if index % 4096 == 0 && progress(reader.draft.nodes.len() as u64).is_break() {
            return Err(Error::Interrupted);
        }
        let image = reader.draft.image(place);
        let inode = image.inode_head(name.at).map_err(failed)?;
        above.truncate(name.depth);
        let is_directory = matches!(inode.body, Body::Directory(_));
        let node = match above.last() {
            None => {
                let (node, marks) = reader.node(&inode).map_err(failed)?;
                reader.obey(NodeId::ROOT, b"/", marks)?;
                root = Some(node);
                NodeId::ROOT
            }
            Some(directory) if role == Role::Layer && is_whiteout(&inode) => {
                reader.draft.unlink(*directory, &name.name);
                continue;
            }
            Some(directory) => reader.add(*directory, name, &inode, &failed)?,
        };
        if is_directory {
            above.push(node);
        }
    }
    Ok(root.expect("a walk begins at the root"))
}

/// A name in the image. Not a path: those of directories deep below each other are together as long
/// as the square of their number.
struct Named {
    /// Directories above, the root among them.
    depth: usize,
    name: Vec<u8>,
    at: InodeRef,
}

/// Every name of the image, a directory before what it holds.
fn names(image: &Image) -> Result<Vec<Named>, coldpress_image::Error> {
    let mut names = Vec::new();
    coldpress_image::walk(image, &mut |visited: &Visited| {
        let slash = visited.path.iter().rposition(|byte| *byte == b'/');
        names.push(Named {
            depth: visited.depth,
            name: visited.path[slash.map_or(0, |slash| slash + 1)..].to_vec(),
            at: visited.at,
        });
        Ok(())
    })?;
    Ok(names)
}

struct Reader<'a> {
    draft: &'a mut Draft,
    place: u32,
    role: Role,
    options: &'a SourceOptions,
    /// Nodes by where their inode lies: several names of one inode are hard links.
    inodes: HashMap<InodeRef, NodeId>,
    /// The xattr sets that were read, by index, and what was taken out of them.
    xattrs: HashMap<u32, (Arc<XattrSet>, Marks)>,
    budget: XattrBudget,
}

impl Reader<'_> {
    /// Adds a name, and its inode unless it is known; returns the node that then has it.
    fn add(
        &mut self,
        directory: NodeId,
        Named { name, at, .. }: Named,
        inode: &Inode,
        failed: &dyn Fn(coldpress_image::Error) -> Error,
    ) -> Result<NodeId, Error> {
        if let Some(node) = self.inodes.get(&at) {
            self.draft.link(directory, name, *node);
            return Ok(*node);
        }
        let is_directory = matches!(inode.body, Body::Directory(_));
        let (node, marks) = self.node(inode).map_err(failed)?;
        // A directory that is there already is added to.
        let former = self.draft.child(directory, &name);
        if let Some(former) = former.filter(|node| is_directory && self.draft.is_directory(*node)) {
            if self.role == Role::Layer {
                self.draft.nodes[former.index()] = node;
            }
            self.obey(former, &name, marks)?;
            return Ok(former);
        }
        let content = self.content(at, inode).map_err(failed)?;
        let node = self.draft.add(node, content)?;
        self.obey(node, &name, marks)?;
        self.draft.link(directory, name, node);
        if !is_directory {
            self.inodes.insert(at, node);
        }
        Ok(node)
    }

    /// Does what the marks of an overlay say of a node.
    fn obey(&mut self, node: NodeId, name: &[u8], marks: Marks) -> Result<(), Error> {
        if let Some(xattr) = marks.elsewhere {
            let name = name.to_vec();
            return Err(Error::Layer {
                layer: self.draft.source_image(self.place).path.clone(),
                defect: Box::new(LayerDefect::Elsewhere { name, xattr }),
            });
        }
        if marks.is_opaque {
            self.draft.unlink_all(node);
        }
        Ok(())
    }

    fn content(&self, at: InodeRef, head: &Inode) -> Result<Content, coldpress_image::Error> {
        match &head.body {
            Body::File(file) if file.size_bytes > 0 => {}
            _ => return Ok(Content::Nothing),
        }
        Ok(match self.draft.image(self.place).inode(at)?.body {
            Body::File(file) => Content::Image {
                image: self.place,
                file: Box::new(file),
            },
            _ => Content::Nothing,
        })
    }

    fn node(&mut self, inode: &Inode) -> Result<(Node, Marks), coldpress_image::Error> {
        let image = self.draft.image(self.place);
        let (uid, gid) = image.owner(inode)?;
        let latest_s = self.options.latest_time_s.unwrap_or(u32::MAX);
        let (xattrs, marks) = self.xattrs(inode)?;
        let node = Node {
            kind: kind(&inode.body),
            mode: inode.mode,
            uid,
            gid,
            mtime_s: inode.mtime_s.min(latest_s),
            xattrs,
        };
        Ok((node, marks))
    }

    /// The xattrs of an inode, each set read once: an image may give the same to any number.
    fn xattrs(&mut self, inode: &Inode) -> Result<(Arc<XattrSet>, Marks), coldpress_image::Error> {
        // The marks of a layer are no xattrs of the merged tree.
        let is_wanted = self.options.xattrs || self.role == Role::Layer;
        let Some(index) = inode.xattr.filter(|_| is_wanted) else {
            return Ok((Arc::default(), Marks::default()));
        };
        if let Some(known) = self.xattrs.get(&index) {
            return Ok(known.clone());
        }
        let image = self.draft.image(self.place);
        let mut set = image.xattrs(inode)?;
        self.budget.take(image, &set)?;
        let mut marks = Marks::default();
        if self.role == Role::Layer {
            marks = Marks::take(Arc::make_mut(&mut set));
        }
        if !self.options.xattrs {
            set = Arc::default();
        }
        if !set.is_sorted() {
            Arc::make_mut(&mut set).sort();
        }
        self.draft.xattrs.share(&mut set);
        self.xattrs.insert(index, (Arc::clone(&set), marks.clone()));
        Ok((set, marks))
    }
}

fn kind(body: &Body) -> Kind {
    match body {
        Body::Directory(_) => Kind::Directory {
            entries: Vec::new(),
        },
        Body::File(file) => Kind::File {
            size_bytes: file.size_bytes,
        },
        Body::Symlink(target) => Kind::Symlink {
            target: target.clone(),
        },
        Body::BlockDevice(number) => Kind::BlockDevice {
            major: number.major,
            minor: number.minor,
        },
        Body::CharDevice(number) => Kind::CharDevice {
            major: number.major,
            minor: number.minor,
        },
        Body::Fifo => Kind::Fifo,
        Body::Socket => Kind::Socket,
    }
}
