//! Where an image ends in its file.

use coldpress_format::PADDING_SIZE;

use crate::error::Error;
use crate::image::Image;

impl Image {
    /// Bytes of the image, together with the zeros that fill it up to a multiple of 4 KiB if all of
    /// them are there. What lies behind that is not its own.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if the source cannot be read.
    pub fn padded_bytes(&self) -> Result<u64, Error> {
        let used = self.superblock().bytes_used;
        let end = used.next_multiple_of(PADDING_SIZE);
        if self.store.size_bytes()? < end {
            return Ok(used);
        }
        let mut padding = vec![0; usize::try_from(end - used).unwrap_or(0)];
        self.store.read_exact(&mut padding, used)?;
        let is_padded = padding.iter().all(|byte| *byte == 0);
        Ok(if is_padded { end } else { used })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_zeros_up_to_4_kib_and_nothing_else() {
        let bytes = include_bytes!("../tests/it/small-image").to_vec();
        let image = Image::new(Box::new(bytes.clone())).unwrap();
        let used = usize::try_from(image.superblock().bytes_used).unwrap();
        let padded = used.next_multiple_of(4096);
        let mut odd = bytes.clone();
        odd.resize(padded, 0);
        let (mut full, mut more) = (odd.clone(), odd.clone());
        odd[padded - 1] = 1;
        more.resize(padded + 9000, 7);
        full.truncate(padded);
        for (bytes, expected) in [
            (bytes[..used].to_vec(), used),
            (full[..padded - 1].to_vec(), used),
            (full, padded),
            (odd, used),
            (more, padded),
        ] {
            let image = Image::new(Box::new(bytes)).unwrap();
            assert_eq!(image.padded_bytes().unwrap(), expected as u64);
        }
    }
}
