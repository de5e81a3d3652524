//! Devices that the image will be read from.

use coldpress_cost::{Machine, Medium, Reader};

/// A device that the image will be read from, and how often.
#[derive(Clone, Debug)]
pub struct Device {
    /// What holds the image.
    pub medium: Medium,
    /// What it is read on.
    pub machine: Machine,
    /// What reads it.
    pub reader: Reader,
    /// Its share of the starts; those of all devices add up to 1.
    pub share: f64,
}

/// A readahead of the mount that can be had, and the devices if it is set. At least one device; the
/// same devices in the same order with every readahead.
pub type Devices = Vec<Device>;

/// The mean of a figure, by the devices' shares.
pub(crate) fn mean(devices: &[Device], figure: impl Fn(usize) -> f64) -> f64 {
    let places = devices.iter().enumerate();
    places
        .map(|(place, device)| device.share * figure(place))
        .sum()
}
