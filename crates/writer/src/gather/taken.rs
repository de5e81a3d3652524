//! Names in the root directory that are taken by an image that is appended to.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use coldpress_layout::NodeId;

use crate::draft::Draft;
use crate::error::Error;
use crate::pseudo::Pseudo;
use crate::warning::Warning;

/// Gives what has a taken name the first free one of `name_1`, `name_2`, as mksquashfs does.
///
/// mksquashfs takes the names in the order in which the directory has them; here, what has a free
/// name keeps it in any order.
///
/// # Errors
///
/// [`Error::NameTaken`] if names are listed, so that they are meant as they are.
pub(super) fn rename(
    draft: &mut Draft,
    taken: &BTreeSet<Vec<u8>>,
    is_listed: bool,
) -> Result<(), Error> {
    let children = draft.children(NodeId::ROOT);
    let clashing = children.filter(|(name, _)| taken.contains(*name));
    let clashing: Vec<Vec<u8>> = clashing.map(|(name, _)| name.to_vec()).collect();
    for name in clashing {
        if is_listed {
            let path = OsStr::from_bytes(&name).into();
            return Err(Error::NameTaken { path });
        }
        let is_free =
            |name: &Vec<u8>| !taken.contains(name) && draft.child(NodeId::ROOT, name).is_none();
        let mut numbered =
            (1_u64..).map(|number| [&name, format!("_{number}").as_bytes()].concat());
        let new = numbered
            .find(is_free)
            .expect("there are fewer names than numbers");
        let node = draft.unlink(NodeId::ROOT, &name).expect("it was listed");
        draft.link(NodeId::ROOT, new.clone(), node);
        draft.warn(Warning::Renamed { name, new });
    }
    Ok(())
}

/// Checks that no definition is about something that the image has.
///
/// # Errors
///
/// [`Error::Definition`] for the first that is.
pub(super) fn check(pseudo: &Pseudo, taken: &BTreeSet<Vec<u8>>) -> Result<(), Error> {
    for definition in &pseudo.definitions {
        let mut names = definition.path.split(|byte| *byte == b'/');
        let first = names.find(|name| !name.is_empty());
        if first.is_some_and(|name| taken.contains(name)) {
            return Err(Error::Definition {
                place: definition.place.clone(),
                path: OsStr::from_bytes(&definition.path).into(),
                rule: "is, or lies below, something in the root directory of the image that is \
                       appended to, which definitions cannot change",
            });
        }
    }
    Ok(())
}
