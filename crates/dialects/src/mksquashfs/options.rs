//! The options of mksquashfs and sqfstar 4.7, each with its treatment.
//!
//! Facts: USAGE-MKSQUASHFS and USAGE-SQFSTAR of squashfs-tools 4.7.6, and the behavior of its
//! programs.

mod compression;
mod image;
mod others;
mod owners;
mod running;
mod selection;
mod time;
mod xattrs;

use super::request::Request;
use crate::squashfs_tools::table;

type Row = table::Row<Request>;
type Section = table::Section<Request>;

/// All options, in the order in which help shows them.
pub(crate) static SECTIONS: [Section; 13] = [
    compression::WHAT,
    compression::HOW,
    image::BUILD,
    time::TIME,
    owners::OWNERS,
    owners::PSEUDO,
    selection::SELECTION,
    xattrs::XATTRS,
    owners::TAR,
    running::RUNNING,
    others::EXISTING,
    others::ACTIONS,
    others::OTHERS,
];

/// Those that say how an image is written, and what the work may take.
pub(crate) static WRITING: [Section; 3] = [compression::WHAT, compression::HOW, running::RUNNING];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs_tools::Tool;
    use crate::squashfs_tools::table::{checks, find};

    #[test]
    fn the_document_lists_every_option_once_with_its_treatment() {
        let document = include_str!("../../../../docs/mksquashfs.md");
        checks::check(&SECTIONS, [Tool::Mksquashfs, Tool::Sqfstar], document);
    }

    #[test]
    fn names_and_values_are_read_from_the_table() {
        let found = |name, tool| find(&SECTIONS, name, tool);
        let offset = found("-o", Tool::Mksquashfs).unwrap();
        assert_eq!(offset.names().collect::<Vec<_>>(), ["-offset", "-o"]);
        assert_eq!(offset.operand(), Some("BYTES"));
        assert_eq!(found("-noI", Tool::Sqfstar).unwrap().operand(), None);
        assert!(found("-sort", Tool::Mksquashfs).is_some());
        assert!(found("-sort", Tool::Sqfstar).is_none());
        assert!(found("-force", Tool::Sqfstar).is_some());
        assert!(found("-no-prog", Tool::Mksquashfs).is_none());
    }
}
