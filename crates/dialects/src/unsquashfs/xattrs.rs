//! Which extended attributes are taken over.

use anyhow::Context as _;

use super::request::{Request, Xattrs};

/// The names that are asked for, if any are restored at all.
///
/// # Errors
///
/// If an expression is none.
pub(crate) fn kept(asked: &Xattrs) -> anyhow::Result<coldpress_writer::Xattrs> {
    let mut kept = coldpress_writer::Xattrs::default();
    if let Some(pattern) = &asked.exclude {
        let excluded = kept.exclude(pattern);
        excluded.context("cannot use `-xattrs-exclude`")?;
    }
    if let Some(pattern) = &asked.include {
        let included = kept.include(pattern);
        included.context("cannot use `-xattrs-include`")?;
    }
    Ok(kept)
}

/// The names of attributes that a request asks for.
///
/// # Errors
///
/// If an expression is none.
pub fn kept_xattrs(request: &Request) -> anyhow::Result<coldpress_writer::Xattrs> {
    kept(&request.xattrs)
}
