//! What the boot loader of a live medium starts: kernel, first root file systems, words.
//!
//! Boot loaders read menus, in which the first entry of a system is the usual one. Of GRUB and
//! ISOLINUX the lines `linux`, `kernel`, `append` and `initrd` are understood, and not what they
//! compute: words with a variable are left out.

use coldpress_image::ReadAt;
use coldpress_iso::{File, Iso};

use super::IsoImage;
use crate::error::{Error, Rule};
use crate::field::read;
use crate::program::Place;

/// Menus have some KiB.
const MENU_BYTES_MAX: u64 = 256 << 10;
/// How many are looked at.
const MENUS_MAX: usize = 64;
/// Where most media have the menu of GRUB.
const FIRST_MENU: &[u8] = b"boot/grub/grub.cfg";
/// A kernel and an initrd are read into memory.
const BYTES_MAX: u64 = 512 << 20;
/// Kernels that are no system.
const OTHERS: [&str; 2] = ["memtest", "memdisk"];

/// An entry of a menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootEntry {
    /// Where the kernel is in the file.
    pub kernel: Place,
    /// Where its first root file systems are, in order.
    pub initrds: Vec<Place>,
    /// The words for the kernel.
    pub command_line: String,
}

/// An entry as the menu says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    kernel: String,
    initrds: Vec<String>,
    words: Vec<String>,
}

impl IsoImage {
    /// What the boot loader starts unless somebody chooses.
    ///
    /// # Errors
    ///
    /// [`Rule::NoBootEntry`] if no menu names a kernel that is there; [`Error::Read`].
    pub fn boot_entry(&self, source: &dyn ReadAt) -> Result<BootEntry, Error> {
        let mut menus: Vec<&File> = self
            .iso
            .shown()
            .into_iter()
            .flat_map(|tree| &tree.files)
            .filter(|file| file.path.ends_with(b".cfg") || file.path.ends_with(b".conf"))
            .filter(|file| file.size_bytes() <= MENU_BYTES_MAX)
            .collect();
        menus.sort_by_key(|file| (file.path != FIRST_MENU, file.path.clone()));
        for menu in menus.into_iter().take(MENUS_MAX) {
            let mut text = Vec::new();
            for section in &menu.sections {
                text.extend(bytes_of(source, &section.data)?);
            }
            let said = entries(&String::from_utf8_lossy(&text));
            if let Some(entry) = said.iter().find_map(|said| found(&self.iso, said)) {
                return Ok(entry);
            }
        }
        Err(Error::refused("boot loader", 0, Rule::NoBootEntry))
    }
}

/// Bytes of a file in memory.
///
/// # Errors
///
/// [`Error::Read`].
pub fn bytes_of(source: &dyn ReadAt, place: &Place) -> Result<Vec<u8>, Error> {
    let len = usize::try_from(place.end.saturating_sub(place.start)).unwrap_or_default();
    let mut bytes = vec![0; len];
    read(source, &mut bytes, place.start)?;
    Ok(bytes)
}

/// An entry whose files are there.
fn found(iso: &Iso, said: &Said) -> Option<BootEntry> {
    let place = |path: &String| {
        let file = iso.find(path.trim_start_matches('/').as_bytes())?;
        let [section] = file.sections.as_slice() else {
            return None;
        };
        let place = section.data.clone();
        (place.end - place.start <= BYTES_MAX).then_some(place)
    };
    if OTHERS.iter().any(|other| said.kernel.contains(other)) {
        return None;
    }
    Some(BootEntry {
        kernel: place(&said.kernel)?,
        initrds: said.initrds.iter().map(place).collect::<Option<_>>()?,
        command_line: said.words.join(" "),
    })
}

/// The entries of a menu, in order.
fn entries(menu: &str) -> Vec<Said> {
    let mut entries: Vec<Said> = Vec::new();
    for line in menu.lines() {
        let mut words = line.split_ascii_whitespace().map(plain);
        let command = words.next().unwrap_or_default().to_ascii_lowercase();
        let mut words = words.filter(|word| !word.contains('$'));
        match command.as_str() {
            "linux" | "linuxefi" | "linux16" | "kernel" => {
                let Some(kernel) = words.next() else { continue };
                entries.push(Said {
                    kernel,
                    words: words.collect(),
                    ..Said::default()
                });
            }
            "append" => {
                let Some(entry) = entries.last_mut() else {
                    continue;
                };
                for word in words {
                    match word.strip_prefix("initrd=") {
                        Some(names) => add_initrds(entry, names.split(',').map(str::to_owned)),
                        None => entry.words.push(word),
                    }
                }
            }
            "initrd" | "initrdefi" | "initrd16" => {
                if let Some(entry) = entries.last_mut() {
                    let names = words.collect::<Vec<_>>();
                    let names = names.iter().flat_map(|word| word.split(','));
                    add_initrds(entry, names.map(str::to_owned));
                }
            }
            _ => {}
        }
    }
    entries
}

fn add_initrds(entry: &mut Said, names: impl Iterator<Item = String>) {
    if entry.initrds.is_empty() {
        entry.initrds.extend(names.filter(|name| !name.is_empty()));
    }
}

/// A word without its quotes and without the variable that names the medium.
fn plain(word: &str) -> String {
    let word = word.replace(['"', '\''], "");
    let rest = word
        .strip_prefix("($root)")
        .or(word.strip_prefix("($cmdpath)"));
    rest.unwrap_or(&word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kernel: &str, initrds: &[&str], words: &str) -> Said {
        Said {
            kernel: kernel.to_owned(),
            initrds: initrds.iter().map(|name| (*name).to_owned()).collect(),
            words: words.split_whitespace().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn menus_of_grub_and_isolinux_say_what_is_started() {
        let grub = "if true; then\n menuentry \"Live system\" --hotkey=l {\n\tlinux\t/live/vmlinuz boot=live findiso=${iso_path} quiet\n\
                    \tinitrd\t/live/initrd.img\n}\nmenuentry x {\n linux ($root)/casper/vmlinuz \"a=b\" ---\n initrd /early /casper/initrd\n}";
        let isolinux = "label live\n\tmenu default\n\tlinux /live/vmlinuz\n\tinitrd /live/initrd.img\n\tappend boot=live quiet\n\
                        label old\n kernel /k\n APPEND initrd=/a,/b x\n";
        assert_eq!(
            entries(grub),
            [
                said("/live/vmlinuz", &["/live/initrd.img"], "boot=live quiet"),
                said("/casper/vmlinuz", &["/early", "/casper/initrd"], "a=b ---"),
            ]
        );
        assert_eq!(
            entries(isolinux),
            [
                said("/live/vmlinuz", &["/live/initrd.img"], "boot=live quiet"),
                said("/k", &["/a", "/b"], "x"),
            ]
        );
        assert_eq!(entries("append x\ninitrd y\nlinux\nlinux $k\n"), []);
    }
}
