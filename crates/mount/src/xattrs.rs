//! Extended attributes, as `getxattr(2)` and `listxattr(2)` show them.

use std::sync::Arc;

use coldpress_image::Xattr;

use crate::failure::Failure;
use crate::file_system::FileSystem;
use crate::node::NodeId;

impl FileSystem {
    /// The value of an extended attribute.
    ///
    /// * `name`: with its prefix, such as `user.`.
    ///
    /// # Errors
    ///
    /// [`Failure::NoAttribute`], in an image without any xattrs too, as the kernel answers.
    pub fn xattr(&self, node: NodeId, name: &[u8]) -> Result<Vec<u8>, Failure> {
        let xattrs = self.xattrs(node)?;
        let found = xattrs.iter().find(|(found, _)| found == name);
        found
            .map(|(_, value)| value.clone())
            .ok_or(Failure::NoAttribute)
    }

    /// The names of the extended attributes, each with a zero byte behind it, as `listxattr(2)`
    /// returns them.
    ///
    /// * `with_trusted`: whether those that only root may see are among them.
    ///
    /// # Errors
    ///
    /// [`Failure::Damaged`].
    pub fn xattr_names(&self, node: NodeId, with_trusted: bool) -> Result<Vec<u8>, Failure> {
        let mut names = Vec::new();
        for (name, _) in self.xattrs(node)?.iter() {
            if with_trusted || !name.starts_with(b"trusted.") {
                names.extend(name);
                names.push(0);
            }
        }
        Ok(names)
    }

    fn xattrs(&self, node: NodeId) -> Result<Arc<Vec<Xattr>>, Failure> {
        self.answer(node, |inode| Ok(self.image.xattrs(inode)?))
    }
}
