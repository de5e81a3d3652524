//! Extended attributes of files.

use std::path::Path;

use coldpress_format::XattrPrefix;
use rustix::io::Errno;

use crate::error::{self, Error};
use crate::held::Held;
use crate::overrides::Xattrs;
use crate::warning::Warning;

/// A full name and its value.
type Xattr = (Vec<u8>, Vec<u8>);

/// The xattrs of a file that the format can hold, ascending by name. Those that cannot be read are
/// warned of; the file stays.
///
/// # Errors
///
/// If the file has vanished.
pub(super) fn read(
    path: &Path,
    held: &Held,
    overrides: &Xattrs,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Xattr>, Error> {
    let mut xattrs = Vec::new();
    let names = or_warn(names(path, held), "list the xattrs of", path, warnings)?;
    for name in names.into_iter().filter(|it| overrides.keeps(it)) {
        if XattrPrefix::split(&name).is_none() {
            let path = path.to_path_buf();
            warnings.push(Warning::Xattr { path, name });
            continue;
        }
        // Removed since it was listed: as if it had never been there.
        let value = or_warn(value(path, held, &name), "read an xattr of", path, warnings)?;
        if let Some(value) = value {
            xattrs.push((name, value));
        }
    }
    xattrs.sort();
    xattrs.shrink_to_fit();
    Ok(xattrs)
}

/// Names of a file's xattrs; none where the file system has no xattrs.
fn names(path: &Path, held: &Held) -> rustix::io::Result<Vec<Vec<u8>>> {
    let held = held.path();
    let read = match read_growing(|buffer| rustix::fs::listxattr(&held, buffer)) {
        // No `/proc` here: there is no other way than by the name.
        Err(Errno::NOENT) => read_growing(|buffer| rustix::fs::llistxattr(path, buffer)),
        read => read,
    };
    match read {
        Ok(names) => {
            let names = names
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            Ok(names.map(<[u8]>::to_vec).collect())
        }
        Err(Errno::OPNOTSUPP) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn value(path: &Path, held: &Held, name: &[u8]) -> rustix::io::Result<Option<Vec<u8>>> {
    let held = held.path();
    let read = match read_growing(|buffer| rustix::fs::getxattr(&held, name, buffer)) {
        Err(Errno::NOENT) => read_growing(|buffer| rustix::fs::lgetxattr(path, name, buffer)),
        read => read,
    };
    match read {
        Ok(mut value) => {
            value.shrink_to_fit();
            Ok(Some(value))
        }
        Err(Errno::NODATA) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What was read, or nothing and a warning.
fn or_warn<T: Default>(
    read: rustix::io::Result<T>,
    action: &'static str,
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<T, Error> {
    match read {
        Ok(found) => Ok(found),
        Err(Errno::NOENT) => Err(error::source(action, path)(Errno::NOENT.into())),
        Err(error) => {
            warnings.push(Warning::unreadable(action, path, &error.into()));
            Ok(T::default())
        }
    }
}

/// Calls `read` with larger buffers until the answer fits; Linux's limit is 64 KiB.
fn read_growing(
    read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
) -> rustix::io::Result<Vec<u8>> {
    let mut small = [0; 256];
    match read(&mut small) {
        Ok(len) => return Ok(small[..len].to_vec()),
        Err(Errno::RANGE) => {}
        Err(error) => return Err(error),
    }
    let mut buffer = vec![0; 1 << 10];
    loop {
        match read(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 17 => {
                buffer.resize(buffer.len() * 4, 0);
            }
            Err(error) => return Err(error),
        }
    }
}
