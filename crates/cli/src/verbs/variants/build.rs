//! `coldpress variants build`: sample, predict, choose the set, build it, index it.

use std::path::Path;

use anyhow::Context as _;
use coldpress_calibration::Population;
use coldpress_codec::Choices;
use coldpress_host::Readahead;
use coldpress_layout::{Group, Plan, Tails};
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_tune::{Budget, Candidate, Effort, FieldOptions, Goal, Limits, OrderBy, Row};
use coldpress_variants::{Client, Index, chosen_set, file_name, population};
use coldpress_writer::{MetadataLayout, Output, Source};

use crate::resolve::{self, ImageSettings};
use crate::start::Start;
use crate::tuning::Question;
use crate::verbs::variants::args::VariantsBuildArgs;
use crate::verbs::variants::{add_to_layout, entry, layout};
use crate::{containers, inputs, steps};

pub(super) fn run(args: &VariantsBuildArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let clients = population(&args.client)?;
    let layout = layout(args.oci.as_deref())?;
    let sources = std::slice::from_ref(&args.source);
    let mut settings = ImageSettings::for_tuning(None, &args.source_options, sources)?;
    let start = args.start.read()?;
    let field = field(args)?;
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make {}", quoted(&args.output)))?;
    let index_path = args.output.join("index.json");
    resolve::check_outputs(&[&index_path], sources)?;
    let _hold = ui.interrupt.hold();
    // A wrong place is told before the search.
    let output = Output::create(&index_path)?;
    let (mut inputs, _) = containers::started(&args.source, &args.container, ui)?;
    inputs::trust_indexes(&mut inputs);
    let mut source = steps::gather(&inputs, &settings, ui)?;
    let program_s = args.start.program_s(&start, &source, ui)?;
    let tuned = Question {
        source: &source,
        settings: &settings,
        start: Some(&start),
        warm_s: Some(program_s),
        population: &devices(&clients),
        readaheads: &[Readahead::Disk],
        field: &field,
        limits: &Limits::default(),
        goal: Goal::ExpectedStart,
        budget: Budget::Bytes(0),
    }
    .answer(ui)?;
    let rows: Vec<&Row> = tuned.rows.iter().filter(|row| row.tool.is_none()).collect();
    let set = chosen_set(&rows, &clients, args.count.into())?;
    let sequence = start.sequence(program_s);
    let mut entries = Vec::new();
    for place in &set.images {
        let candidate = &rows[*place].candidate;
        let path = args.output.join(file_name(candidate));
        build(candidate, &start, &mut source, &mut settings, &path, ui)?;
        entries.push(entry(&path, candidate.to_string(), &sequence, ui)?);
    }
    let mut index = Index::new(args.start.description(), &sequence, entries);
    index.note_clients(&clients, &set, rows.len())?;
    steps::write_small(output, &index.bytes()?)?;
    if let Some(place) = &layout {
        add_to_layout(&index, &args.output, place, ui)?;
    }
    if args.json {
        ui.json(&index)?;
    } else {
        ui.say(index.clients_text().trim_end());
    }
    Ok(Exit::partial_if(source.losses().next().is_some()))
}

fn field(args: &VariantsBuildArgs) -> anyhow::Result<FieldOptions> {
    let sizes = args
        .block_sizes
        .iter()
        .map(|bytes| resolve::block_size(*bytes));
    let compressors = args.compressors.iter();
    Ok(FieldOptions {
        effort: if args.fast {
            Effort::Fast
        } else {
            Effort::Usual
        },
        compressors: compressors.map(|name| resolve::compressor(*name)).collect(),
        block_sizes: sizes.collect::<anyhow::Result<_>>()?,
        block_bytes_min: 0,
        filters: Choices::NONE,
        has_plan: true,
        has_budget: false,
        group: Group::None,
    })
}

/// The clients as devices to predict starts on.
fn devices(clients: &[Client]) -> Population {
    let members = clients.iter().map(|client| (client.target(), client.share));
    Population {
        name: "the clients".to_owned(),
        members: members.collect(),
    }
}

/// An image, compared with its source before it takes its place.
fn build(
    candidate: &Candidate,
    start: &Start,
    source: &mut Source,
    settings: &mut ImageSettings,
    path: &Path,
    ui: &Ui,
) -> anyhow::Result<()> {
    settings.take_over(candidate);
    if settings.tails == Tails::All {
        steps::compare(source, settings, ui)?;
    }
    steps::sketch(source, settings, ui)?;
    let plan = match candidate.order {
        OrderBy::Tree => Plan::default(),
        _ => start.plan(source, settings.block_size),
    };
    let output = Output::create(path)?;
    let order = steps::order(source, &plan, settings, ui);
    let options = settings.build_options(&source.tree, MetadataLayout::Dense);
    let built = steps::write("building", source, &order, &output, &options, ui)?;
    steps::verify(&output, source, &built, 0, ui)?;
    steps::commit(output, ui)
}
