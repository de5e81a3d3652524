//! Flags for hash trees of dm-verity.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_verity::{Algorithm, BlockBytes, Parameters, SaltChoice, Settings, Uuid};

/// Where a hash tree goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeForm {
    /// Files beside IMAGE: `app.verity` and `app.roothash` for `app.raw`, as systemd finds them
    Sidecar,
    /// The end of IMAGE, after zeros up to a whole data block
    Append,
}

/// What a hash tree is like.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hash tree")]
pub(crate) struct HashTreeArgs {
    /// File that gets the root hash [default: beside IMAGE with `sidecar`, none with `append`]
    #[arg(long, value_name = "FILE", requires = "verity", hide_short_help = true)]
    pub(crate) roothash: Option<PathBuf>,

    /// Hash algorithm: sha1, sha224, sha256, sha384 or sha512
    #[arg(
        long,
        value_name = "NAME",
        default_value = "sha256",
        value_parser = Algorithm::parse,
        requires = "verity",
        hide_short_help = true
    )]
    pub(crate) verity_hash: Algorithm,

    /// Bytes of data under each hash; kernels map no more than a page
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "4096",
        value_parser = BlockBytes::parse,
        requires = "verity",
        hide_short_help = true
    )]
    pub(crate) verity_data_block: BlockBytes,

    /// Bytes of a block of hashes; kernels map no more than a page
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "4096",
        value_parser = BlockBytes::parse,
        requires = "verity",
        hide_short_help = true
    )]
    pub(crate) verity_hash_block: BlockBytes,

    /// What is hashed with every block: digits, `none` or `random` [default: from the image]
    ///
    /// By default the salt is the SHA-256 of the image's hashes, so that the same image has the
    /// same tree.
    #[arg(
        long,
        value_name = "HEX",
        value_parser = SaltChoice::parse,
        requires = "verity",
        hide_short_help = true
    )]
    pub(crate) verity_salt: Option<SaltChoice>,

    /// The name of the tree in its superblock [default: from the root hash]
    #[arg(
        long,
        value_name = "UUID",
        value_parser = Uuid::parse,
        requires = "verity",
        hide_short_help = true
    )]
    pub(crate) verity_uuid: Option<Uuid>,
}

impl HashTreeArgs {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            parameters: Parameters {
                algorithm: self.verity_hash,
                data_block: self.verity_data_block,
                hash_block: self.verity_hash_block,
                ..Parameters::default()
            },
            salt: self.verity_salt.clone().unwrap_or_default(),
            uuid: self.verity_uuid,
        }
    }
}
