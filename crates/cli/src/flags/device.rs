//! The medium of a start, measured or predicted.

use clap::Args;
use coldpress_tune::Goal;

/// One medium.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// The medium to start from [default: host]
    ///
    /// usb2, sd, hdd, emmc, ssd and nvme throttle this machine's disk to the speed of such a
    /// medium; host does not throttle it. You can also give bytes and reads per second:
    /// `bw=5M,iops=100`. A prediction for host uses the speed of this machine if `coldpress
    /// calibrate` has measured it.
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
    /// usb2, sd, hdd, emmc, ssd and nvme throttle this machine's disk to the speed of such a
    /// medium; host does not throttle it. You can also give bytes and reads per second:
    /// `bw=5M,iops=100`. The image is a partition, or with `,via=file` a file on the medium. A
    /// prediction also takes `calibrated`, the medium that `coldpress calibrate` measured last. To
    /// name several media, give each a weight, for example usb2=0.2,ssd=0.7,hdd=0.1: press measures
    /// on each, and tune recommends the image whose weighted mean start is shortest.
    #[arg(
        id = "device",
        long,
        value_name = "DEVICE",
        default_value = "host",
        hide_default_value = true
    )]
    pub(crate) names: String,
}

/// What a choice for several media is to make small.
#[derive(Debug, Args)]
pub(crate) struct GoalArgs {
    /// Choose the image whose largest loss on any medium is smallest
    ///
    /// The loss on a medium is how much longer a start takes than from the image that starts
    /// soonest on that medium.
    #[arg(long, hide_short_help = true)]
    robust: bool,
}

impl GoalArgs {
    pub(crate) fn goal(&self) -> Goal {
        if self.robust {
            Goal::LargestLoss
        } else {
            Goal::ExpectedStart
        }
    }
}
