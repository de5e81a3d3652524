//! `coldpress press`: record, plan, build, verify, prove.

mod archives;
pub(crate) mod args;
mod content;
mod image;
mod json;
mod outputs;
mod predicted;
mod prove;
mod request;
mod rival;
pub(super) mod summary;
mod tell;

use coldpress_host::Janitor;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::{self, WorkDir};

use crate::recording;
use crate::tuning::Taken;
use crate::verbs::press::args::PressArgs;
use outputs::Outputs;
use request::Request;

pub(super) fn run(args: &PressArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let request = Request::resolve(args, ui)?;
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    // A wrong place is told before the recording.
    let mut outputs = Outputs::create(args)?;
    let mut press = Press::begin(request, &outputs, &janitor, ui)?;
    let inputs = press.inputs()?;
    let mut content = press.content(&inputs, &mut outputs)?;
    press.tune(&mut content)?;
    let (mut content, mut as_it_was) = press.order_archives(&inputs, content)?;
    let plan = press.plan(&content, outputs.plan)?;
    let image = press.build(&mut content, &plan, outputs.image)?;
    if !press.request.can_prove {
        return press.end_without_proof(&image);
    }
    let former = press.build_former(as_it_was.as_mut())?;
    let proof = press.prove(&content, as_it_was.as_ref(), &plan, &image.built)?;
    let image = press.keep_the_proven(image, former, &proof)?;
    let is_lossy = content.source.losses().next().is_some() || !image.built.changed.is_empty();
    press.tell(&image, proof, outputs.report, outputs.samples)?;
    Ok(Exit::partial_if(is_lossy))
}

/// A press under way.
struct Press<'a> {
    request: Request<'a>,
    /// What was chosen with `--tune`.
    tuned: Taken,
    work_dir: WorkDir<'a>,
    janitor: &'a Janitor,
    ui: &'a Ui,
}

impl<'a> Press<'a> {
    /// Makes the directory for images that are only compared with.
    fn begin(
        request: Request<'a>,
        outputs: &Outputs,
        janitor: &'a Janitor,
        ui: &'a Ui,
    ) -> anyhow::Result<Self> {
        let images = [
            recording::FIRST_IMAGE,
            prove::UNPLANNED_IMAGE,
            prove::RIVAL_IMAGE,
            archives::AS_THEY_WERE_IMAGE,
        ];
        let parent = work_dir::parent(outputs.image.path());
        Ok(Self {
            work_dir: WorkDir::create(parent, &images, Some(janitor))?,
            request,
            tuned: Taken::default(),
            janitor,
            ui,
        })
    }
}
