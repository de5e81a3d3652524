//! What a process does, in words.

use std::path::Path;

use coldpress_dialects::Tool;
use coldpress_report::text::quoted;
use coldpress_session::timing::Operation;

use super::Verb;
use super::bench::args::BenchVerb;
use super::variants::args::VariantsVerb;

/// What a verb does that is kept in the history; `None` for one that only looks at something,
/// and for the tools, which state it when they know it.
pub(super) fn of(verb: &Verb) -> Option<Operation> {
    let (verb, summary) = match verb {
        Verb::Press(args) => ("press", making("Press", &args.source, &args.output)),
        Verb::Retrofit(args) => ("retrofit", making("Retrofit", &args.input, args.target())),
        Verb::Tune(args) => ("tune", format!("Tune images of {}", quoted(&args.source))),
        Verb::Variants(args) => match &args.verb {
            VariantsVerb::Build(args) => ("variants", making("Build", &args.source, &args.output)),
            VariantsVerb::Index(_) => return None,
        },
        Verb::Record(args) if args.boot.is_none() => {
            let source = args.source.as_ref().or(args.mounted.as_ref())?;
            ("record", format!("Record a start of {}", quoted(source)))
        }
        Verb::Explain(args) => (
            "explain",
            format!("Explain a start of {}", quoted(&args.image)),
        ),
        Verb::Build(args) => {
            let (_, image) = args.split_paths().ok()?;
            ("build", format!("Build {}", quoted(image)))
        }
        Verb::Extract(args) => ("extract", making("Extract", &args.image, &args.directory)),
        Verb::Check(args) => ("check", format!("Check {}", quoted(&args.image))),
        Verb::Resquash(args) => ("resquash", format!("Make {} again", quoted(&args.image))),
        Verb::Bench(args) => ("bench", measuring(&args.verb)?),
        _ => return None,
    };
    Some(Operation {
        verb,
        summary,
        is_told: true,
    })
}

/// The making of an image by one of the squashfs-tools.
pub(super) fn of_making(tool: Tool, image: &Path) -> Operation {
    Operation {
        verb: tool.name(),
        summary: format!("Build {}", quoted(image)),
        is_told: false,
    }
}

/// The unpacking of an image by one of them.
pub(super) fn of_unpacking(tool: Tool, image: &Path, directory: &Path) -> Operation {
    Operation {
        verb: tool.name(),
        summary: making("Extract", image, directory),
        is_told: false,
    }
}

/// `None` if nothing is measured, or nothing of it is to be kept.
fn measuring(verb: &BenchVerb) -> Option<String> {
    match verb {
        BenchVerb::Launch(args) if !args.study.no_store => {
            Some(format!("Measure starts from {}", quoted(&args.source)))
        }
        BenchVerb::Build(args) if !args.study.no_store => {
            Some(format!("Measure images of {}", quoted(&args.source)))
        }
        BenchVerb::Boot(args) if !args.study.no_store => Some("Measure boots".to_owned()),
        _ => None,
    }
}

fn making(verb: &str, from: &Path, to: &Path) -> String {
    format!("{verb} {} to {}", quoted(from), quoted(to))
}
