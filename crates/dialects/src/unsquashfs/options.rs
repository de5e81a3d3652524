//! The options of unsquashfs and sqfscat 4.7, each with its treatment.
//!
//! Facts: USAGE-UNSQUASHFS and USAGE-SQFSCAT of squashfs-tools 4.7.6, and the behavior of its
//! programs.

mod paths;
mod printing;
mod restoring;
mod running;

use super::request::Request;
use crate::squashfs_tools::table;

type Row = table::Row<Request>;
type Section = table::Section<Request>;

/// All options, in the order in which help shows them.
pub(crate) static SECTIONS: [Section; 6] = [
    paths::PATHS,
    printing::PRINTING,
    restoring::RESTORING,
    restoring::XATTRS,
    running::RUNNING,
    running::HELP,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squashfs_tools::Tool;
    use crate::squashfs_tools::table::{checks, find};

    #[test]
    fn the_document_lists_every_option_once_with_its_treatment() {
        let document = include_str!("../../../../docs/unsquashfs.md");
        checks::check(&SECTIONS, [Tool::Unsquashfs, Tool::Sqfscat], document);
    }

    #[test]
    fn sqfscat_has_few_options() {
        for (name, is_there) in [
            ("-offset", true),
            ("-regex", true),
            ("-ls", false),
            ("-d", false),
        ] {
            let found = find(&SECTIONS, name, Tool::Sqfscat);
            assert_eq!(found.is_some(), is_there, "{name}");
            assert!(find(&SECTIONS, name, Tool::Unsquashfs).is_some(), "{name}");
        }
    }
}
