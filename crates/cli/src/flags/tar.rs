//! Flags for tar archives as sources.

use clap::Args;

/// How sources that are tar archives are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tar archives")]
pub(crate) struct TarArgs {
    /// Every SOURCE that is a file is a tar archive, even if it does not look like one
    #[arg(long, conflicts_with = "no_tar", hide_short_help = true)]
    pub(crate) tar: bool,

    /// Store archives as files, without unpacking them
    #[arg(long, hide_short_help = true)]
    pub(crate) no_tar: bool,

    /// Continue after blocks of zeros, which end an archive: for several joined by `cat`
    #[arg(long, hide_short_help = true)]
    pub(crate) tar_ignore_zeros: bool,

    /// Permissions of directories that an archive does not describe
    #[arg(long, value_name = "OCTAL", default_value = "755", value_parser = octal,
        hide_short_help = true)]
    pub(crate) default_mode: u16,

    /// Owner of directories that an archive does not describe
    #[arg(long, value_name = "ID", default_value_t = 0, hide_short_help = true)]
    pub(crate) default_uid: u32,

    /// Group of directories that an archive does not describe
    #[arg(long, value_name = "ID", default_value_t = 0, hide_short_help = true)]
    pub(crate) default_gid: u32,
}

fn octal(text: &str) -> Result<u16, String> {
    u16::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o7777 && !text.starts_with('+'))
        .ok_or_else(|| "must be octal digits, at most 7777".to_owned())
}

#[cfg(test)]
mod tests {
    use super::octal;

    #[test]
    fn permissions_have_twelve_bits() {
        for (text, mode) in [
            ("755", Some(0o755)),
            ("07777", Some(0o7777)),
            ("0", Some(0)),
            ("10000", None),
            ("8", None),
            ("+7", None),
            ("", None),
        ] {
            assert_eq!(octal(text).ok(), mode, "{text}");
        }
    }
}
