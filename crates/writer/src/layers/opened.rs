//! A layer as a stream of plain bytes that is checked on the way, and as a store afterwards.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use coldpress_image::{Prefix, ReadAt};

use super::gzip::{Indexing, Places, Positioned};
use super::packed::Packing;
use super::paged::Paged;
use super::pages::Pages;
use super::{Layer, LayerDefect};
use crate::digest::{Digest, Hasher};
use crate::tar::compression::{Compression, MAGIC_BYTES};
use crate::tar::pump::{CHUNK_BYTES, Chunks, Pump, pump};

/// Plain bytes of a layer at most, 1 TiB: a stream of a megabyte can go on for hours.
const PLAIN_MAX_BYTES: u64 = 1 << 40;

/// Pieces of [`CHUNK_BYTES`] at most that wait for their digest.
const PIECES: usize = 16;

/// What all layers of an image are read with.
#[derive(Clone, Debug)]
pub(super) struct Means {
    pub(super) pages: Arc<Pages>,
    /// The distance of copies of the decompressor.
    pub(super) span_bytes: u64,
    /// Where what cannot be read at any position is kept.
    pub(super) spool_directory: PathBuf,
}

/// What is known of a layer when all of it was read.
pub(super) struct Outcome {
    /// The plain bytes.
    plain: Arc<dyn ReadAt>,
    /// The first thing that is wrong.
    defect: Option<LayerDefect>,
}

/// Begins to read a layer; the outcome is there when the stream has ended.
pub(super) fn open(layer: &Layer, number: u32, means: &Means) -> (Pump, Arc<OnceLock<Outcome>>) {
    let outcome = Arc::new(OnceLock::new());
    let (layer, means, result) = (layer.clone(), means.clone(), Arc::clone(&outcome));
    let pump = Pump::of_thread(move |chunks| {
        let read = read(&layer, number, &means, chunks)?;
        let _ = result.set(read);
        Ok(())
    });
    (pump, outcome)
}

impl Outcome {
    /// What a reading set that has come to its end.
    ///
    /// * `hasher`: of the plain bytes, if there is a digest to compare them with.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the layer.
    pub(super) fn plain(
        outcome: Arc<OnceLock<Self>>,
        layer: &Layer,
        hasher: Option<Hasher>,
    ) -> Result<Arc<dyn ReadAt>, Box<LayerDefect>> {
        let outcome = Arc::into_inner(outcome).and_then(OnceLock::into_inner);
        let outcome = outcome.expect("the thread that sets it has ended");
        let defect = outcome.defect.or_else(|| plain_defect(layer, hasher));
        defect.map_or(Ok(outcome.plain), |defect| Err(Box::new(defect)))
    }
}

fn read(layer: &Layer, number: u32, means: &Means, chunks: &Chunks) -> io::Result<Outcome> {
    let mut stream = Hashed::new(layer);
    let mut head = [0; MAGIC_BYTES];
    let len = layer.bytes.fill_at(&mut head, 0)?;
    let mut plain = Counted { len_bytes: 0 };
    let pages = Arc::clone(&means.pages);
    let store: Arc<dyn ReadAt> = match Compression::of(&head[..len]) {
        None => {
            pump(&mut stream, chunks, &mut |chunk| plain.add(chunk))?;
            Arc::new(Prefix {
                inner: Arc::clone(&layer.bytes),
                len: plain.len_bytes,
            })
        }
        Some(Compression::Gzip) => {
            let compressed = BufReader::with_capacity(CHUNK_BYTES, &mut stream);
            let mut indexing = Indexing::new(compressed, means.span_bytes)?;
            pump(&mut indexing, chunks, &mut |chunk| plain.add(chunk))?;
            let copies = indexing.finish();
            let bytes = Arc::clone(&layer.bytes);
            let places = Places::new(bytes, copies);
            Arc::new(Paged::new(places, plain.len_bytes, number, pages))
        }
        // No copy of these decompressors can be made, so what they give is kept.
        Some(compression) => {
            let keep = |error| no_room(&means.spool_directory, &error);
            let mut packing = Packing::new(&means.spool_directory).map_err(keep)?;
            let compressed = BufReader::with_capacity(CHUNK_BYTES, &mut stream);
            pump(compression.decoder(compressed)?, chunks, &mut |chunk| {
                plain.add(chunk)?;
                packing.append(chunk).map_err(keep)
            })?;
            let (packed, len_bytes) = packing.finish().map_err(keep)?;
            Arc::new(Paged::new(packed, len_bytes, number, pages))
        }
    };
    // What a decompressor has no use for counts too.
    io::copy(&mut stream, &mut io::sink())?;
    Ok(Outcome {
        plain: store,
        defect: stream.defect(layer),
    })
}

fn no_room(directory: &Path, error: &io::Error) -> io::Error {
    let text = format!(
        "it cannot be kept in `{}`: {error}; make room there, or set TMPDIR to a directory that \
         has it",
        directory.display()
    );
    io::Error::new(error.kind(), text)
}

/// The layer as it is stored.
pub(super) struct Hashed<'a> {
    inner: Positioned<'a>,
    digest: Option<DigestThread>,
    len_bytes: u64,
    left_bytes: u64,
}

impl Read for Hashed<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left_bytes).map_or(buf.len(), |left| left.min(buf.len()));
        let len = self.inner.read(&mut buf[..most])?;
        if let Some(digest) = &self.digest {
            digest.update(&buf[..len]);
        }
        self.len_bytes += len as u64;
        self.left_bytes -= len as u64;
        Ok(len)
    }
}

impl<'a> Hashed<'a> {
    pub(super) fn new(layer: &'a Layer) -> Self {
        Self {
            inner: Positioned {
                bytes: &*layer.bytes,
                next: 0,
            },
            digest: layer.digest.as_ref().map(DigestThread::like),
            len_bytes: 0,
            // A byte more than there should be shows that there are too many.
            left_bytes: layer.size_bytes.saturating_add(1),
        }
    }

    pub(super) fn defect(self, layer: &Layer) -> Option<LayerDefect> {
        if self.len_bytes != layer.size_bytes {
            return Some(LayerDefect::Size {
                expected_bytes: layer.size_bytes,
                is_longer: self.len_bytes > layer.size_bytes,
            });
        }
        wrong("digest", layer.digest?, self.digest?.finish())
    }
}

/// A thread that takes the digest of a stream: whoever decompresses has the most to do already.
struct DigestThread {
    pieces: SyncSender<Vec<u8>>,
    thread: JoinHandle<Digest>,
}

impl DigestThread {
    /// * `expected`: what the digest is compared with.
    fn like(expected: &Digest) -> Self {
        let (pieces, received) = sync_channel::<Vec<u8>>(PIECES);
        let mut hasher = Hasher::like(expected);
        let thread = thread::spawn(move || {
            for piece in received {
                hasher.update(&piece);
            }
            hasher.finish()
        });
        Self { pieces, thread }
    }

    fn update(&self, bytes: &[u8]) {
        // It listens until there is no more.
        let _ = self.pieces.send(bytes.to_vec());
    }

    fn finish(self) -> Digest {
        drop(self.pieces);
        let digest = self.thread.join();
        digest.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The layer as `tar` would read it.
struct Counted {
    len_bytes: u64,
}

impl Counted {
    fn add(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.len_bytes += chunk.len() as u64;
        if self.len_bytes > PLAIN_MAX_BYTES {
            let text = "it has over 1 TiB when decompressed, more than is read of a layer";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(())
    }
}

/// Whether the plain bytes are those of another layer.
fn plain_defect(layer: &Layer, hasher: Option<Hasher>) -> Option<LayerDefect> {
    wrong("diff_id", layer.diff_id?, hasher?.finish())
}

fn wrong(what: &'static str, expected: Digest, found: Digest) -> Option<LayerDefect> {
    (expected != found).then_some(LayerDefect::Digest {
        what,
        expected,
        found,
    })
}
