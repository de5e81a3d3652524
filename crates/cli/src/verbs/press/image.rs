//! The image of a press.

use coldpress_layout::Plan;
use coldpress_pack::PackSummary;
use coldpress_report::text::escaped_path;
use coldpress_report::units::size_and_ratio;
use coldpress_writer::{MetadataLayout, Output, Summary};

use super::Press;
use super::content::Content;
use super::request::Request;
use crate::start::Start;
use crate::steps;

/// An image that is in its place.
pub(super) struct Image {
    pub(super) built: Summary,
    /// The pages of the start after it, if asked for.
    pub(super) pack: Option<PackSummary>,
}

impl Press<'_> {
    /// The image itself, compared with its source before it takes its place.
    pub(super) fn build(
        &self,
        content: &mut Content,
        plan: &Plan,
        output: Output,
    ) -> anyhow::Result<Image> {
        let Content { source, start } = content;
        let Request { args, settings, .. } = &self.request;
        let ui = self.ui;
        let options = settings.build_options(&source.tree, MetadataLayout::Dense);
        let kept = (settings, &options);
        let order = steps::order_stable(source, plan, kept, &args.stable, ui)?;
        let built = steps::write("pressing", source, &order, &output, &options, ui)?;
        // What the image is compared with is built as without.
        source.reuse = None;
        steps::verify(&output, source, &built, 0, ui)?;
        let pack = args.start_pack.start_pack.zip(start.as_ref());
        let add = |(limit, start): (_, &Start)| {
            steps::add_start_pack(&output, &start.working_set(), limit, settings, ui)
        };
        let pack = pack.map(add).transpose()?;
        steps::commit(output, ui)?;
        let size = size_and_ratio(built.image_bytes, built.data_bytes);
        let output = escaped_path(&args.output);
        ui.say(&format!("{output}: {size}; verified"));
        if let Some(pack) = &pack {
            ui.say(&steps::start_pack_line(&output, pack));
        }
        Ok(Image { built, pack })
    }
}
