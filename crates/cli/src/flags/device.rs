//! The medium of a start, measured or predicted.

use clap::Args;

/// One medium.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// The medium to start from [default: host]
    ///
    /// host is the disk of this machine as it is; usb2, sd, hdd, emmc, ssd and nvme slow its reads
    /// down. Numbers work too: `bw=5M,iops=100`. A prediction for host uses the speed of this
    /// machine if `coldpress calibrate` has measured it.
    #[arg(
        id = "device",
        long,
        value_name = "DEVICE",
        default_value = "host",
        hide_default_value = true
    )]
    pub(crate) name: String,
}

/// One medium, or several with weights.
#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// The medium to start from, or several with weights [default: host]
    ///
    /// host is the disk of this machine as it is; usb2, sd, hdd, emmc, ssd and nvme slow its reads
    /// down. Numbers work too: `bw=5M,iops=100`. `,via=file` stands for an image file on that
    /// medium instead of an image on a partition. A prediction also takes `calibrated`, the medium
    /// that `coldpress calibrate` measured last. Several media have weights, for example
    /// usb2=0.2,ssd=0.7,hdd=0.1: press measures on each, and tune recommends the image with the
    /// least expected start.
    #[arg(
        id = "device",
        long,
        value_name = "DEVICE",
        default_value = "host",
        hide_default_value = true
    )]
    pub(crate) names: String,
}
