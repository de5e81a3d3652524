//! The start pack: whether it holds what the files do.

use std::ops::ControlFlow;

use coldpress_format::{Body, Corrupt, File, PACK_PAGE_BYTES, PackFile, Part, Rule};

use crate::error::Error;
use crate::findings::{Findings, Severity};
use crate::image::Image;
use crate::start_pack::StartPack;

/// Compares every page of the start pack, if there is one, with the file.
///
/// * `pack`: as [`Image::start_pack`] gave it.
///
/// # Errors
///
/// [`Error::Interrupted`] only, if `poll` breaks.
pub(super) fn check(
    image: &Image,
    pack: Result<Option<StartPack>, Error>,
    findings: &mut Findings,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let pack = match pack {
        Ok(Some(pack)) => pack,
        Ok(None) => return Ok(()),
        Err(error) => {
            findings.error(error);
            return Ok(());
        }
    };
    let files: Vec<_> = pack.files().iter().map(|file| find(image, file)).collect();
    let fail = |rule| Error::from(Corrupt::new(Part::StartPack, pack.start(), rule));
    for (file, found) in pack.files().iter().zip(&files) {
        if found.is_none() {
            let rule = Rule::Differs { from: "the file" };
            let path = || Some(file.path.clone());
            findings.add(Severity::Error, path, fail(rule));
        }
    }
    let mut content = Pages::default();
    for (run, (piece, offset)) in pack.runs() {
        if poll().is_break() {
            return Err(Error::Interrupted);
        }
        if let Err(error) = content.read(image, &pack, piece) {
            if content.is_first_error(piece) {
                findings.error(error);
            }
            continue;
        }
        let index = usize::try_from(run.file).unwrap_or(usize::MAX);
        let Some(Some(file)) = files.get(index) else {
            continue;
        };
        let len = usize::try_from(pack.run_bytes(run)).unwrap_or(0);
        let mut expected = vec![0; len];
        // What cannot be read is found with the blocks.
        let start = run.first_page.saturating_mul(PACK_PAGE_BYTES);
        let read = image.read_at(file, start, &mut expected);
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let pages = content.bytes.get(offset..).and_then(|rest| rest.get(..len));
        if read.is_ok() && pages != Some(&expected[..]) {
            let path = || pack.files().get(index).map(|file| file.path.clone());
            let from = "the file";
            findings.add(Severity::Error, path, fail(Rule::Differs { from }));
        }
    }
    Ok(())
}

/// The file that a pack names, if it is the one of which the pack was made.
fn find(image: &Image, file: &PackFile) -> Option<File> {
    let (at, inode) = image.find(&file.path).ok()??;
    let Body::File(found) = inode.body else {
        return None;
    };
    let is_same = at == file.inode
        && found.size_bytes == file.size_bytes
        && image.content_digest(&found) == file.digest;
    is_same.then_some(found)
}

/// The pages of the piece that was read last.
#[derive(Default)]
struct Pages {
    piece: Option<u32>,
    is_read: bool,
    failed: Option<u32>,
    stored: Vec<u8>,
    bytes: Vec<u8>,
}

impl Pages {
    fn read(&mut self, image: &Image, pack: &StartPack, piece: u32) -> Result<(), Error> {
        if self.piece == Some(piece) && self.is_read {
            return Ok(());
        }
        self.piece = Some(piece);
        let read = pack.read_piece(image, piece, &mut self.stored, &mut self.bytes);
        self.is_read = read.is_ok();
        read
    }

    /// Whether a piece fails for the first time.
    fn is_first_error(&mut self, piece: u32) -> bool {
        self.failed.replace(piece) != Some(piece)
    }
}
