//! Extended attributes, as `getxattr(2)` and `listxattr(2)` show them.

use coldpress_image::Xattr;

use crate::failure::Failure;
use crate::file_system::FileSystem;
use crate::node::NodeId;

impl FileSystem {
    /// Whether the image has extended attributes at all.
    pub fn has_xattrs(&self) -> bool {
        self.image.superblock().xattr_table_start.is_some()
    }

    /// The value of an extended attribute.
    ///
    /// * `name`: with its prefix, such as `user.`.
    ///
    /// # Errors
    ///
    /// [`Failure::NoAttribute`]; [`Failure::NoAttributes`] if no inode has any.
    pub fn xattr(&self, node: NodeId, name: &[u8]) -> Result<Vec<u8>, Failure> {
        let xattrs = self.xattrs(node)?;
        let found = xattrs.into_iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value).ok_or(Failure::NoAttribute)
    }

    /// The names of the extended attributes, each with a zero byte behind it, as `listxattr(2)`
    /// returns them.
    ///
    /// * `with_trusted`: whether those that only root may see are among them.
    ///
    /// # Errors
    ///
    /// [`Failure::NoAttributes`] if no inode has any.
    pub fn xattr_names(&self, node: NodeId, with_trusted: bool) -> Result<Vec<u8>, Failure> {
        let mut names = Vec::new();
        for (name, _) in self.xattrs(node)? {
            if with_trusted || !name.starts_with(b"trusted.") {
                names.extend(name);
                names.push(0);
            }
        }
        Ok(names)
    }

    fn xattrs(&self, node: NodeId) -> Result<Vec<Xattr>, Failure> {
        if !self.has_xattrs() {
            return Err(Failure::NoAttributes);
        }
        self.answer(node, |inode| Ok(self.image.xattrs(inode)?))
    }
}
