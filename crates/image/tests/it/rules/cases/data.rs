//! Data and fragment blocks.

use coldpress_format::BlockWord;
use coldpress_image::Severity::{Error, Notice};

use super::{Case, case, file};

pub(super) const ALL: &[Case] = &[
    case(
        "a block decompresses to its length",
        Error,
        "data block at byte",
        || {
            file(2, |file| {
                file.blocks = vec![BlockWord::new(4095, false); 2];
                file.tail = None;
                file.size_bytes = 8192;
            })
        },
    ),
    case(
        "a block decompresses to its length",
        Error,
        "do not decode",
        || file(2, |file| file.blocks[0] = BlockWord::new(4096, true)),
    ),
    case(
        "blocks are the same or apart",
        Notice,
        "another block is there",
        || {
            file(6, |file| {
                file.start = 100;
                file.blocks[3] = BlockWord::new(4096, false);
            })
        },
    ),
    case(
        "every byte belongs to a block",
        Notice,
        "data area at byte 4192: nothing refers",
        || {
            file(2, |file| {
                file.blocks.truncate(1);
                file.size_bytes -= 4096;
            })
        },
    ),
];
