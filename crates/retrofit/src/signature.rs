//! The signature that appimagetool puts into an AppImage.
//!
//! `gpg` signs the SHA-256 of the file in hexadecimal digits, computed while the places of
//! signature and key hold zeros, as text. Sources: `appimagetool_sign.c` of appimagetool,
//! `validate.c` of `AppImageKit`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use coldpress_host::run_program;
use coldpress_image::ReadAt;
use coldpress_report::text::hex;
use sha2::{Digest as _, Sha256};

use crate::app_image::AppImage;
use crate::error::Error;
use crate::field::read_up_to;
use crate::program::{Place, Section};

/// Makes signatures.
pub const SIGNER: &str = "gpg";
/// What a signature may take: somebody may have to type a passphrase.
const TIMEOUT_S: u64 = 600;
/// Bytes hashed at once.
const WINDOW_BYTES: usize = 1 << 20;

/// Finds out whether a file can be signed, before any work is done for it. Needs [`SIGNER`].
///
/// * `key`: which secret key, in any way that gpg knows one.
///
/// # Errors
///
/// [`Error::Signature`] if the program has no section for signature or key, or gpg has no such key.
pub fn check_signable(
    app: &AppImage,
    key: &str,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    places(app)?;
    run(["--list-secret-keys", "--", key].map(OsString::from), stop)
}

/// Signs a finished AppImage, and puts signature and public key into it. Needs [`SIGNER`].
///
/// * `app`: what the program of the file is like; signature and key are zeros in `new`.
/// * `key`: as for [`check_signable`].
/// * `directory`: where three files may be made for a while.
/// * `stop`: whether to give up.
///
/// # Errors
///
/// [`Error::Signature`] if gpg makes no signature, or the program has no room for it.
pub fn sign(
    app: &AppImage,
    new: &File,
    key: &str,
    directory: &Path,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let [signature_place, key_place] = places(app)?;
    let failed = |error: io::Error| Error::Signature(error.to_string());
    let file = |name: &str| directory.join(name).into_os_string();
    let [digest_file, signature_file, key_file] = ["digest", "signature", "key"].map(file);
    fs::write(&digest_file, digest(new)?).map_err(failed)?;
    let words = |words: &[&str], file: &OsString| {
        let words = words.iter().map(OsString::from);
        words.chain([file.clone()]).collect::<Vec<_>>()
    };
    let mut made = words(&["--armor", "--textmode", "--output"], &signature_file);
    made.extend(["--local-user", key, "--detach-sign", "--"].map(OsString::from));
    made.push(digest_file.clone());
    run(made, stop)?;
    let mut verified = words(&["--verify", "--"], &signature_file);
    verified.push(digest_file.clone());
    run(verified, stop)?;
    let mut exported = words(&["--armor", "--output"], &key_file);
    exported.extend(["--export", "--", key].map(OsString::from));
    run(exported, stop)?;
    for (what, place, file) in [
        ("signature", signature_place, &signature_file),
        ("public key", key_place, &key_file),
    ] {
        let bytes = fs::read(file).map_err(failed)?;
        let room = place.end - place.start;
        if bytes.len() as u64 > room {
            let len = bytes.len();
            let text = format!("the {what} has {len} bytes, and the AppImage has room for {room}");
            return Err(Error::Signature(text));
        }
        new.write_all_at(&bytes, place.start).map_err(failed)?;
    }
    for file in [digest_file, signature_file, key_file] {
        fs::remove_file(file).map_err(failed)?;
    }
    Ok(())
}

/// Where signature and key go.
fn places(app: &AppImage) -> Result<[Place; 2], Error> {
    let place = |section, name| {
        let found = app.sections().place(section);
        found.ok_or_else(|| Error::Signature(format!("its program has no section {name}")))
    };
    Ok([
        place(Section::Signature, ".sha256_sig")?,
        place(Section::Key, ".sig_key")?,
    ])
}

fn digest(source: &dyn ReadAt) -> Result<String, Error> {
    let mut sha256 = Sha256::new();
    let mut window = vec![0; WINDOW_BYTES];
    let mut start = 0;
    loop {
        let len = read_up_to(source, &mut window, start)?;
        if len == 0 {
            return Ok(hex(&sha256.finalize()));
        }
        sha256.update(&window[..len]);
        start += len as u64;
    }
}

fn run(
    args: impl IntoIterator<Item = OsString>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let words = [SIGNER, "--batch", "--yes"].map(OsString::from);
    let args = words.into_iter().chain(args).collect();
    let outcome = run_program(args, TIMEOUT_S, stop)?;
    if outcome.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&outcome.stderr_tail);
    Err(Error::Signature(format!("{SIGNER}: {}", said.trim())))
}
