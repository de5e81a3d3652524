//! Whether those who are to read the image take it.

use coldpress_doctor::judged::Judged;
use coldpress_doctor::reader::Reader;
use coldpress_doctor::rules::{self, Subject};
use coldpress_doctor::snap::{Resquashed, Survey};
use coldpress_image::{Image, ReaderRequirements};
use coldpress_session::ui::Ui;

use crate::image_file;
use crate::verbs::check::args::CheckArgs;
use crate::verbs::resquash::job::{Found, Job, Verdict};

/// Judges an image by the rules of every target.
///
/// * `size_bytes`: from its first byte to the end of its file.
pub(super) fn judge(
    args: &CheckArgs,
    readers: &[Reader],
    image: &Image,
    (size_bytes, has_hash_tree): (u64, bool),
    ui: &Ui,
) -> anyhow::Result<Vec<Judged>> {
    if readers.is_empty() {
        return Ok(Vec::new());
    }
    let is_snap = readers.iter().any(|reader| reader.is_snap_store);
    let asked = ReaderRequirements::of(image).and_then(|requirements| {
        let snap = is_snap.then(|| Survey::of(image)).transpose()?;
        Ok((requirements, snap))
    });
    let (requirements, snap) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            let damaged = |reader| Judged::damaged(&args.image, error.to_string(), reader);
            return Ok(readers.iter().map(damaged).collect());
        }
    };
    let resquashed = match &snap {
        Some(snap) if snap.is_compared() => Some(resquash(args, ui)?),
        _ => None,
    };
    let subject = Subject {
        requirements: &requirements,
        size_bytes,
        has_hash_tree,
        snap: snap.as_ref(),
        resquashed: resquashed.as_ref(),
    };
    let judged = |reader| Judged::new(&args.image, args.place.offset, subject, reader);
    Ok(readers.iter().map(judged).collect())
}

/// Makes the snap again as the store does.
fn resquash(args: &CheckArgs, ui: &Ui) -> anyhow::Result<Resquashed> {
    let opened = image_file::open_alone(&args.image, &args.place)?;
    let found = Job::new(&opened, &args.image, args.place, ui)?.by_rules_of_the_snap_store()?;
    let Found {
        verdict,
        made_by,
        reasons,
        ..
    } = found;
    let by = made_by.unwrap_or_else(|| "nothing".to_owned());
    let (verdict, why) = match verdict {
        Verdict::Same => (rules::Verdict::Yes, format!("{by} makes the same bytes")),
        Verdict::Different => (rules::Verdict::No, format!("{by} makes other bytes")),
        Verdict::Refused | Verdict::Unknown => {
            (rules::Verdict::Unknown, "it was not made again".to_owned())
        }
    };
    Ok(Resquashed {
        verdict,
        why,
        reasons,
    })
}
