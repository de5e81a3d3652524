//! Keeping what an older image has.

use anyhow::anyhow;
use coldpress_layout::{Keeping, Order, Plan};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_writer::{Error as BuildError, Options, Reuse, Source};

use super::{advance, order_of};
use crate::flags::stable::StableArgs;
use crate::image_file;
use crate::resolve::ImageSettings;

/// Completes a plan to an order, which keeps what an older image has if there is one; its blocks
/// are then copied.
///
/// # Errors
///
/// If the older image cannot be read, is damaged, or has other settings.
pub(crate) fn order_stable(
    source: &mut Source,
    plan: &Plan,
    (settings, options): (&ImageSettings, &Options),
    args: &StableArgs,
    ui: &Ui,
) -> anyhow::Result<Order> {
    let older = args.stable_from.as_ref();
    let Some(path) = older.filter(|_| !args.stability.is_zero()) else {
        return Ok(order_of(source, plan, settings, None, ui));
    };
    let failed = |error: BuildError| {
        let quoted = quoted(path);
        if matches!(error, BuildError::NotReusable(_)) {
            let error = anyhow!(error).context(format!("nothing of {quoted} can stay as it is"));
            return hint(
                error,
                "build with the settings that it has, by -c, -l and -b",
            );
        }
        let is_image = matches!(error, BuildError::Image(_));
        let error = anyhow!(error).context(format!("cannot compare {quoted} with the sources"));
        if is_image {
            let check = format!("`coldpress check {}` lists what is damaged", path.display());
            return hint(error, check);
        }
        error
    };
    let image = image_file::open_anywhere(path)?;
    let mut step = ui
        .step("comparing", source.content_bytes())
        .about("the sources with the older image");
    let former = coldpress_writer::former(&image, source, options, &mut |progress| {
        advance(&mut step, progress, ui)
    });
    step.finish("");
    let former = former.map_err(failed)?;
    source.reuse = Some(Reuse::keeping(image, source, options).map_err(failed)?);
    let keeping = Keeping {
        former: &former,
        stability: args.stability,
        align_bytes: args.align.unwrap_or(0),
    };
    Ok(order_of(source, plan, settings, Some(keeping), ui))
}
