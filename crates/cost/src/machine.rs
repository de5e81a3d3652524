//! The machine that reads the image.

use crate::speeds::Speeds;

/// What the program and the reader run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Processors.
    pub cores: u32,
    /// What the reader takes for what it does.
    pub speeds: Speeds,
}

impl Default for Machine {
    /// Two processors, with the speeds of the machine that docs/cost-model.md describes.
    fn default() -> Self {
        Self {
            cores: 2,
            speeds: Speeds::default(),
        }
    }
}
