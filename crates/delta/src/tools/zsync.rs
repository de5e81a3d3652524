//! zsync: its client fetches ranges from a server in this process, which notes them.

use std::ffi::OsString;
use std::sync::Arc;

use super::{open, run, size_bytes};
use crate::error::Error;
use crate::range_server::RangeServer;
use crate::transfer::{Part, Transfer};
use crate::updater::Pair;

pub(crate) fn measure(pair: Pair<'_>, stop: &mut dyn FnMut() -> bool) -> Result<Transfer, Error> {
    let control = pair.scratch.join("new.zsync");
    let output = pair.scratch.join("zsync");
    let file = open(pair.new, "the new file")?;
    let server = RangeServer::start(Arc::new(file));
    let server = server.map_err(Error::file("a socket of this machine"))?;
    let mut args: Vec<OsString> = vec!["zsyncmake".into(), "-u".into()];
    args.push(server.url().into());
    args.extend(["-o".into(), control.clone().into(), pair.new.into()]);
    run("zsyncmake", args, stop)?;
    // A proxy would not reach this process.
    let words = ["env", "-u", "http_proxy", "-u", "HTTP_PROXY", "zsync", "-q"];
    let mut args: Vec<OsString> = words.map(Into::into).into();
    args.extend(["-i".into(), pair.old.into()]);
    args.extend(["-o".into(), output.into(), control.clone().into()]);
    run("zsync", args, stop)?;
    let parts = server.finish().into_iter().map(Part::plain);
    Ok(Transfer {
        index_bytes: size_bytes(&control, "the control file of zsync")?,
        parts: parts.collect(),
        patch_bytes: 0,
    })
}
