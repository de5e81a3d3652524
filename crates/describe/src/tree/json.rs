//! A tree as one JSON document, written as it is found: nothing recurses, nothing is collected.

use std::io::Write;

use coldpress_format::{Body, DeviceNumber};
use coldpress_image::Visited;
use coldpress_report::text::base_name;
use serde::Serialize;

use super::{Counts, Print};
use crate::file::{hex_unless_utf8, lossy, size_bytes, type_name};

/// A file without its contents.
#[derive(Debug, Serialize)]
struct Node {
    name: String,
    /// If the name is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_bytes_hex: Option<String>,
    r#type: &'static str,
    mode: String,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bytes_hex: Option<String>,
    /// Major and minor number.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<(u32, u32)>,
}

impl Node {
    fn new(visited: &Visited) -> Self {
        let name = match visited.depth {
            0 => visited.path,
            _ => base_name(visited.path),
        };
        let (mut target, mut device) = (None, None);
        match &visited.inode.body {
            Body::Symlink(path) => target = Some(path.as_slice()),
            Body::BlockDevice(number) | Body::CharDevice(number) => {
                let DeviceNumber { major, minor } = *number;
                device = Some((major, minor));
            }
            _ => {}
        }
        Self {
            name: lossy(name),
            name_bytes_hex: hex_unless_utf8(name),
            r#type: type_name(visited.inode.body.kind()),
            mode: format!("{:04o}", visited.inode.mode),
            size: size_bytes(&visited.inode.body),
            target: target.map(lossy),
            target_bytes_hex: target.and_then(hex_unless_utf8),
            device,
        }
    }
}

/// Prints `{"tree": {.., "contents": [..]}, "directories": N, "files": N}`.
pub(crate) struct JsonTree<'a, W> {
    out: &'a mut W,
    /// Directories whose contents are being written.
    open: usize,
    /// Whether something stands before in the same list.
    follows: bool,
}

impl<'a, W: Write> JsonTree<'a, W> {
    pub(crate) fn new(out: &'a mut W) -> Self {
        Self {
            out,
            open: 0,
            follows: false,
        }
    }

    /// Ends the contents of directories until so many are open.
    fn close(&mut self, open: usize) -> anyhow::Result<()> {
        while self.open > open {
            self.out.write_all(b"]}")?;
            self.open -= 1;
            self.follows = true;
        }
        Ok(())
    }
}

impl<W: Write> Print for JsonTree<'_, W> {
    fn path(&mut self, visited: &Visited, _is_last: bool) -> anyhow::Result<()> {
        self.close(visited.depth)?;
        self.out.write_all(match (visited.depth, self.follows) {
            (0, _) => b"{\"tree\": ",
            (_, true) => b",\n",
            (_, false) => b"\n",
        })?;
        let node = serde_json::to_string(&Node::new(visited))?;
        self.follows = !matches!(visited.inode.body, Body::Directory(_));
        if self.follows {
            self.out.write_all(node.as_bytes())?;
        } else {
            // The object stays open for one more field.
            let fields = node.strip_suffix('}').unwrap_or(&node);
            write!(self.out, "{fields},\"contents\":[")?;
            self.open += 1;
        }
        Ok(())
    }

    fn end(&mut self, counts: Counts) -> anyhow::Result<()> {
        self.close(0)?;
        let Counts {
            directories,
            others,
        } = counts;
        writeln!(
            self.out,
            ",\n\"directories\": {directories}, \"files\": {others}}}"
        )?;
        Ok(())
    }
}
