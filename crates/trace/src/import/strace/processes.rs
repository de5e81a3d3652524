//! Processes, what they have open, and where they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::import::notes::Notes;
use crate::import::text::find;

/// An open file. Descriptors that were duplicated or inherited share it, and so its position.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) path: Vec<u8>,
    /// `None` if the file was opened before the recording began.
    pub(super) position: Option<u64>,
}

/// The open files of a process, by descriptor.
pub(super) type Files = HashMap<u32, Rc<RefCell<OpenFile>>>;

/// The directories from which paths of a process begin.
#[derive(Clone, Debug)]
pub(super) struct Directories {
    pub(super) root: Vec<u8>,
    /// `None` if it was chosen before the recording began.
    pub(super) current: Option<Vec<u8>>,
}

/// What a process has; threads have it together.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) directories: Rc<RefCell<Directories>>,
    pub(super) files: Rc<RefCell<Files>>,
}

impl Process {
    /// A process of which nothing is known.
    fn new() -> Self {
        let directories = Directories {
            root: b"/".to_vec(),
            current: None,
        };
        Self {
            directories: Rc::new(RefCell::new(directories)),
            files: Rc::default(),
        }
    }

    /// What the child gets. Copies are paid from what a text may grow.
    fn fork(&self, sharing: Sharing, notes: &mut Notes) -> Self {
        let directories = if sharing.directories {
            Rc::clone(&self.directories)
        } else {
            let copy = self.directories.borrow().clone();
            let len = copy.root.len() + copy.current.as_ref().map_or(0, Vec::len);
            if !notes.spend(len as u64) {
                return Self::new();
            }
            Rc::new(RefCell::new(copy))
        };
        let files = if sharing.files {
            Rc::clone(&self.files)
        } else {
            let files = self.files.borrow();
            let size_bytes = files.len() * size_of::<(u32, Rc<RefCell<OpenFile>>)>();
            if !notes.spend(size_bytes as u64) {
                return Self::new();
            }
            Rc::new(RefCell::new(files.clone()))
        };
        Self { directories, files }
    }
}

/// What a parent and its child have together after a fork.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    directories: bool,
    files: bool,
}

impl Sharing {
    /// What a call shares; `None` if it makes no process.
    pub(super) fn of(name: &[u8], arguments: &[u8]) -> Option<Self> {
        let shares = |flag: &[u8]| find(arguments, flag).is_some();
        match name {
            b"fork" | b"vfork" => Some(Self {
                directories: false,
                files: false,
            }),
            b"clone" | b"clone2" | b"clone3" => Some(Self {
                directories: shares(b"CLONE_FS"),
                files: shares(b"CLONE_FILES"),
            }),
            _ => None,
        }
    }
}

/// All processes.
#[derive(Debug, Default)]
pub(super) struct Processes {
    live: HashMap<u32, Process>,
    /// Processes that are forking, and how, in the order in which they began to.
    forking: BTreeMap<u64, (u32, Sharing)>,
    /// The places of processes in that order.
    forking_at: HashMap<u32, u64>,
    forks: u64,
    /// Children of which strace told before the fork returned.
    announced: HashSet<u32>,
}

impl Processes {
    /// Whether lines of the process were seen, or the fork that made it.
    pub(super) fn is_known(&self, pid: u32) -> bool {
        self.live.contains_key(&pid)
    }

    /// Whether a number that was not seen yet can be that of a child.
    pub(super) fn may_be_child(&self, pid: u32) -> bool {
        if self.announced.is_empty() {
            !self.forking.is_empty()
        } else {
            self.announced.contains(&pid)
        }
    }

    /// strace tells that there is a new process.
    pub(super) fn announce(&mut self, pid: u32) {
        self.announced.insert(pid);
    }

    /// The process turns out to have another number.
    pub(super) fn rename(&mut self, from: u32, to: u32) {
        if let Some(process) = self.live.remove(&from) {
            self.live.insert(to, process);
        }
        if let Some(at) = self.forking_at.remove(&from) {
            self.forking_at.insert(to, at);
            if let Some(forking) = self.forking.get_mut(&at) {
                forking.0 = to;
            }
        }
    }

    /// A call begins. If it forks, lines of the child may come before it returns.
    pub(super) fn begin_call(&mut self, pid: u32, name: &[u8], arguments: &[u8]) {
        if let Some(sharing) = Sharing::of(name, arguments) {
            self.end_fork(pid);
            self.forks += 1;
            self.forking.insert(self.forks, (pid, sharing));
            self.forking_at.insert(pid, self.forks);
        }
    }

    /// The call of a process that forked has returned.
    pub(super) fn end_fork(&mut self, pid: u32) {
        if let Some(at) = self.forking_at.remove(&pid) {
            self.forking.remove(&at);
        }
    }

    /// Makes a child, unless it was seen already.
    pub(super) fn fork(&mut self, parent: u32, child: u32, sharing: Sharing, notes: &mut Notes) {
        if !self.is_known(child) {
            let process = self.of(parent, notes).fork(sharing, notes);
            self.live.insert(child, process);
        }
    }

    /// What a process has. One that was not seen yet is the child of who began to fork last, or
    /// else one of which nothing is known.
    pub(super) fn of(&mut self, pid: u32, notes: &mut Notes) -> Process {
        if let Some(process) = self.live.get(&pid) {
            return process.clone();
        }
        let parent = self.forking.last_key_value().map(|(_, forking)| *forking);
        let process = match parent.filter(|(parent, _)| *parent != pid) {
            Some((parent, sharing)) if self.is_known(parent) => {
                self.of(parent, notes).fork(sharing, notes)
            }
            _ => Process::new(),
        };
        self.live.insert(pid, process.clone());
        process
    }

    /// A process has ended.
    pub(super) fn end(&mut self, pid: u32) {
        self.live.remove(&pid);
        self.end_fork(pid);
        self.announced.remove(&pid);
    }
}
