//! Digests by which container images name their parts (OCI image specification, "Digests").

use std::fmt::{self, Write as _};
use std::str::FromStr;

use sha2::{Digest as _, Sha256, Sha512};

/// The hash of some bytes, written `sha256:` or `sha512:` and hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Digest {
    /// What nearly all images use.
    Sha256([u8; 32]),
    /// The other algorithm that is registered.
    Sha512([u8; 64]),
}

/// A text that is no digest, or one of an algorithm that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a digest, which is `sha256:` and 64, or `sha512:` and 128, of 0-9a-f")]
pub struct NotADigest {
    /// The text, escaped.
    pub found: String,
}

impl Digest {
    /// The SHA-256 of some bytes.
    pub fn sha256_of(bytes: &[u8]) -> Self {
        Self::Sha256(Sha256::digest(bytes).into())
    }

    /// The digest of some bytes, by the algorithm of this one.
    #[must_use]
    pub fn same_of(&self, bytes: &[u8]) -> Self {
        let mut hasher = Hasher::like(self);
        hasher.update(bytes);
        hasher.finish()
    }

    /// The name of the algorithm, as in `blobs/sha256/`.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Sha256(_) => "sha256",
            Self::Sha512(_) => "sha512",
        }
    }

    /// The hexadecimal digits.
    pub fn hex(&self) -> String {
        let bytes: &[u8] = match self {
            Self::Sha256(bytes) => bytes,
            Self::Sha512(bytes) => bytes,
        };
        let mut hex = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.algorithm(), self.hex())
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digest = match text.split_once(':') {
            Some(("sha256", hex)) => bytes(hex).map(Self::Sha256),
            Some(("sha512", hex)) => bytes(hex).map(Self::Sha512),
            _ => None,
        };
        digest.ok_or_else(|| {
            let shown: String = text.chars().take(160).collect();
            let found = shown.escape_debug().to_string();
            NotADigest { found }
        })
    }
}

/// Bytes of lower-case digits: other spellings of a digest would name another blob.
fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let digits = hex.as_bytes();
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

/// A digest of bytes that come piece by piece.
#[derive(Clone, Debug)]
pub enum Hasher {
    /// See [`Digest::Sha256`].
    Sha256(Sha256),
    /// See [`Digest::Sha512`].
    Sha512(Sha512),
}

impl Hasher {
    /// One whose result can be compared with this digest.
    pub fn like(digest: &Digest) -> Self {
        match digest {
            Digest::Sha256(_) => Self::Sha256(Sha256::new()),
            Digest::Sha512(_) => Self::Sha512(Sha512::new()),
        }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// The digest of all bytes.
    pub fn finish(self) -> Digest {
        match self {
            Self::Sha256(hasher) => Digest::Sha256(hasher.finalize().into()),
            Self::Sha512(hasher) => Digest::Sha512(hasher.finalize().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_as_they_are_written() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::sha256_of(b"").to_string(), empty);
        assert_eq!(empty.parse(), Ok(Digest::sha256_of(b"")));
        let long = Hasher::Sha512(Sha512::new()).finish();
        assert_eq!(long.to_string().parse(), Ok(long));
        assert_eq!(long.same_of(b""), long);
    }

    #[test]
    fn other_spellings_are_refused() {
        let hex = Digest::sha256_of(b"").hex();
        let upper = format!("sha256:{}", hex.to_uppercase());
        let md5 = format!("md5:{hex}");
        let short = format!("sha256:{}", &hex[1..]);
        for text in [
            &*hex,
            &upper,
            &md5,
            &short,
            "",
            "sha256:",
            "sha512:00",
            "\u{e9}",
        ] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
