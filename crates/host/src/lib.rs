//! Everything that coldpress asks of the running Linux.
//!
//! A cold start is only worth recording or timing if it is really cold, if the medium is the one
//! that users have, and if nothing of it stays behind. So this crate has seven kinds of parts:
//!
//! * the stage: [`LoopDevice`], [`Mount`], [`FuseConnection`] for mounts that this process answers,
//!   [`Cgroup`] with the throttle of a [`Device`], and [`launch`] for the program;
//! * the witnesses: [`Recorder`] (which pages of which inodes were used, and which bytes of the
//!   image the kernel read), [`OpensRecorder`] (which files of a directory were opened and looked
//!   up, without root), [`Counters`], [`resident_pages`], [`machine()`], [`KernelConfig`] and
//!   [`try_image`], which tell what this kernel can mount;
//! * a machine of its own, for what can only be measured by booting it: [`VirtualMachine`], with
//!   its [`Console`];
//! * the yardstick: [`measure_medium`], [`measure_memory`] and [`measure_reader`], whose figures a
//!   [`Calibration`] keeps;
//! * plain files: where they lie on the disk ([`Extents`], [`seeks`]), and files put in the place
//!   of others that nobody has open ([`LeasedFile`], [`defragment`]);
//! * a program that is run for its own sake from an image: [`enter_own_namespaces`],
//!   [`mount_overlay`], [`bind`], [`Foreground`];
//! * the way out: [`enter_private_namespace`] makes mounts vanish with the process, loop devices
//!   detach with their last user, and the [`Janitor`] removes the rest, also after `kill -9`.
//!
//! Most of it needs root; [`missing_privileges`] says what is missing and why it is needed. It is
//! the only crate that changes the machine: devices, mounts, caches, cgroups, traces. What `unsafe`
//! it needs is in one module, `syscall`.

mod cache;
mod calibrate;
mod cgroup;
mod defrag;
mod device;
mod error;
mod extents;
mod file_system;
mod fuse_connection;
mod fuse_mount;
mod holders;
mod janitor;
mod kernel_config;
mod launch;
mod leased_file;
mod loop_device;
mod machine;
pub mod memory;
mod memory_file;
mod mount;
mod mounted_file;
mod mountinfo;
pub mod names;
mod namespace;
mod opens;
mod overlay;
mod privileges;
mod process;
mod qemu;
mod readahead;
mod recorder;
mod scratch;
mod squashfs_mount;
mod syscall;
mod tracefs;
mod trial;

pub use cache::{backing_disk, drop_caches, evict, resident_pages, write_back, write_back_all};
pub use calibrate::{
    BlockTime, CalibratedMachine, Calibration, Decompression, Elapsed, MediumFigures,
    MemoryFigures, NotACalibration, Pass, ReaderFigures, Rounds, Sample, Stopwatch, TestFile,
    measure_medium, measure_memory, measure_reader, measure_throttled, on_processor_s,
};
pub use cgroup::{Cgroup, Inside};
pub use defrag::{Defragmented, NamedFile, complete_names, defragment, named_files, relink};
pub use device::{Device, Preset, Via};
pub use error::Error;
pub use extents::{Extent, Extents, FileSeeks, Laid, Place, Seeks, for_each_extent, seeks};
pub use file_system::FileSystem;
pub use fuse_connection::{FuseConnection, FuseOptions, cannot_mount_fuse};
pub use fuse_mount::FuseMount;
pub use holders::{Holder, holders};
pub use janitor::{Janitor, Leftover};
pub use kernel_config::KernelConfig;
pub use launch::{
    Bus, Command, Display, Foreground, Outcome, Pattern, Ready, Running, Status, furnish_root,
    launch, run_program, start, wait_until,
};
pub use leased_file::{LeasedFile, Refusal};
pub use loop_device::{Counters, LoopDevice};
pub use machine::{Machine, machine, threads};
pub use memory_file::{memory_file, path_of_open};
pub use mount::Mount;
pub use mounted_file::MountRoot;
pub use namespace::{detach, enter_own_namespaces, enter_private_namespace, mount_empty};
pub use opens::{Opens, OpensRecorder, cannot_record_opens};
pub use overlay::{bind, mount_overlay};
pub use privileges::{Missing, is_root, missing_privileges};
pub use process::ProcessId;
pub use qemu::{
    Accelerator, Console, DiskBus, DiskLog, DiskRead, DiskReads, Emulator, Guest, GuestKernel,
    Heard, VirtualMachine,
};
pub use readahead::{MountReadahead, Readahead};
pub use recorder::{FIRST_ACCESSES_MAX, Keep, RawEvent, RawKind, Recorder, Recording};
pub use scratch::{Scratch, hidden_name, remove_tree};
pub use squashfs_mount::SquashfsMount;
pub use trial::{Trial, has_squashfs, try_image};
