//! Extended attributes of files.

use std::path::Path;

use coldpress_format::XattrPrefix;

use crate::error::{self, Error};
use crate::overrides::Xattrs;
use crate::warning::Warning;

/// A full name and its value.
type Xattr = (Vec<u8>, Vec<u8>);

/// The xattrs of a file that the format can hold, ascending by name.
pub(super) fn read(
    path: &Path,
    overrides: &Xattrs,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Xattr>, Error> {
    let mut xattrs = Vec::new();
    for name in names(path)?.into_iter().filter(|it| overrides.keeps(it)) {
        if XattrPrefix::split(&name).is_none() {
            let path = path.to_path_buf();
            warnings.push(Warning::Xattr { path, name });
            continue;
        }
        // Removed since it was listed: as if it had never been there.
        if let Some(value) = value(path, &name)? {
            xattrs.push((name, value));
        }
    }
    xattrs.sort();
    xattrs.shrink_to_fit();
    Ok(xattrs)
}

/// Names of a file's xattrs; none where the file system has no xattrs.
fn names(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let names = read_growing(|buffer| rustix::fs::llistxattr(path, buffer));
    match names {
        Ok(names) => {
            let names = names
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            Ok(names.map(<[u8]>::to_vec).collect())
        }
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(Vec::new()),
        Err(error) => Err(error::source("list the xattrs of", path)(error.into())),
    }
}

fn value(path: &Path, name: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    match read_growing(|buffer| rustix::fs::lgetxattr(path, name, buffer)) {
        Ok(mut value) => {
            value.shrink_to_fit();
            Ok(Some(value))
        }
        Err(rustix::io::Errno::NODATA) => Ok(None),
        Err(error) => Err(error::source("read an xattr of", path)(error.into())),
    }
}

/// Calls `read` with larger buffers until the answer fits; Linux's limit is 64 KiB.
fn read_growing(
    read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
) -> rustix::io::Result<Vec<u8>> {
    let mut small = [0; 256];
    match read(&mut small) {
        Ok(len) => return Ok(small[..len].to_vec()),
        Err(rustix::io::Errno::RANGE) => {}
        Err(error) => return Err(error),
    }
    let mut buffer = vec![0; 1 << 10];
    loop {
        match read(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(rustix::io::Errno::RANGE) if buffer.len() < 1 << 17 => {
                buffer.resize(buffer.len() * 4, 0);
            }
            Err(error) => return Err(error),
        }
    }
}
