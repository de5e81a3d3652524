//! Small images record by record, under the names that these tests use.

pub(crate) use coldpress_nasty::{
    Nasty as Handmade, Node, directory, file_content, image, node, nodes, write,
};
