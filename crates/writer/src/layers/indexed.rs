//! The index of a layer before anything is built from it.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::Layer;
use super::index::{IndexWriter, Plain};
use super::opened::{Means, Outcome, open};
use super::pages::Pages;
use crate::digest::{Digest, Hasher};
use crate::error::Error;
use crate::tar::compression::{Compression, MAGIC_BYTES};
use crate::tar::entries::Entries;
use crate::tar::pass_all;
use crate::tar::stream::Stream;

/// No copies of the decompressor are made: nobody reads contents.
const SPAN_BYTES: u64 = 1 << 60;

/// Makes the index of a gzip layer where [`Layer::index`] says, unless it is there, so that the
/// first image is built from one reading of the layer too. Other decompressors are so fast that it
/// would save nothing.
///
/// There is none afterwards if the layer is damaged or no archive: who builds an image from it says
/// so.
///
/// * `go_on`: asked now and then; nothing is left if it breaks.
///
/// # Cost
///
/// The layer is read and decompressed once; memory does not depend on it.
pub fn make_index(layer: &Layer, go_on: &mut dyn FnMut() -> ControlFlow<()>) {
    let Some(place) = &layer.index else { return };
    let mut head = [0; MAGIC_BYTES];
    let is_gzip = layer.bytes.fill_at(&mut head, 0).is_ok_and(|len| {
        let compression = Compression::of(&head[..len]);
        matches!(compression, Some(Compression::Gzip))
    });
    if !is_gzip || place.path.exists() {
        return;
    }
    if let Ok(index) = IndexWriter::new(&place.path)
        && let Ok((index, plain)) = written(layer, index, go_on)
    {
        // Without it, the layer is read.
        let _ = index.map(|index| index.finish(plain));
    }
}

fn written(
    layer: &Layer,
    index: IndexWriter,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(Option<IndexWriter>, Plain), Error> {
    let means = Means {
        pages: Arc::new(Pages::default()),
        span_bytes: SPAN_BYTES,
        spool_directory: std::path::PathBuf::new(),
    };
    let (pump, outcome) = open(layer, 0, &means);
    let progress = &mut |_| go_on();
    let mut stream = Stream::of_pump(pump, layer.name.clone(), progress);
    stream.hasher = Some(Hasher::like(&Digest::sha256_of(b"")));
    stream.index = Some(index);
    let mut entries = Entries::new(stream, false);
    pass_all(&mut entries)?;
    let diff_id = entries.stream.hasher.take().map(Hasher::finish);
    let index = entries.stream.index.take();
    drop(entries);
    let plain = Outcome::plain(outcome, layer, None);
    let plain = plain.map_err(|defect| super::refused(layer, defect))?;
    let len_bytes = plain.size_bytes().unwrap_or_default();
    Ok((index, Plain { len_bytes, diff_id }))
}
