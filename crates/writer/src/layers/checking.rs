//! A layer that is compared with its digest while its contents are read.

use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use super::deferred::Failure;
use super::opened::Hashed;
use super::{Layer, LayerDefect};
use crate::tar::pump::CHUNK_BYTES;

/// A thread that reads the stored bytes of a layer once; it ends when this is dropped.
pub(super) struct Checking {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<io::Result<Option<LayerDefect>>>>>,
    failure: OnceLock<Option<Failure>>,
}

impl Checking {
    pub(super) fn start(layer: Layer) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut stream = Hashed::new(&layer);
            let mut buffer = vec![0; CHUNK_BYTES];
            while !stopped.load(Ordering::Relaxed) {
                if stream.read(&mut buffer)? == 0 {
                    return Ok(stream.defect(&layer));
                }
            }
            Ok(None)
        });
        Self {
            stop,
            thread: Mutex::new(Some(thread)),
            failure: OnceLock::new(),
        }
    }

    /// What is wrong with the layer. Waits for the end of the reading.
    pub(super) fn failure(&self) -> Option<&Failure> {
        let failure = self.failure.get_or_init(|| match self.join()? {
            Ok(Ok(defect)) => Some(Failure::Defect(Box::new(defect?))),
            Ok(Err(error)) => Some(Failure::Read(error.to_string())),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        failure.as_ref()
    }

    fn join(&self) -> Option<thread::Result<io::Result<Option<LayerDefect>>>> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.take().map(JoinHandle::join)
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // What it would have found nobody waits for.
        let _ = self.join();
    }
}
