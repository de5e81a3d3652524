//! What a command runs in.
//!
//! * [`ui`]: standard output carries data, standard error carries talk and progress.
//! * [`interrupt`]: signals that end a command, which leaves nothing unfinished.
//! * [`timing`], [`clock`]: what is done and how long it takes.
//! * [`exit`], [`failure`]: how a command ends.
//! * [`state`]: where the history and the calibration lie.
//! * [`places`]: where files may be written.
//! * [`work_dir`]: temporary files, which go also after a kill.
//! * [`external_tool`], [`privileges`]: programs of others, and rights, that a command needs.
//!
//! It knows nothing of verbs and flags.

pub mod clock;
pub mod exit;
pub mod external_tool;
pub mod failure;
pub mod interrupt;
pub mod page_reader;
pub mod places;
pub mod privileges;
pub mod state;
pub mod timing;
pub mod ui;
pub mod work_dir;
