//! `toolmend audit`: what the audit log of agents says.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};
use self_debug::audit::{LineCounts, Report, Run, RunTally, Runs};

use crate::filter::Input;
use crate::lines::{Line, Lines};
use crate::progress;

/// Rows of a table, unless the user asks for another number.
const ROWS: usize = 10;

/// What is done with a log.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Sum up failures and repairs.
    ///
    /// Tables of runs by tool and day, of rules, classes of errors, reasons for giving up and the cost
    /// of models, and the faults that come most often, each with an example before and after.
    Report(ReportArgs),
    /// Write the broken calls as a dataset, one JSON object a line.
    ///
    /// Each line has the failure, all candidates, the one that was chosen, and the result: a set to
    /// fine-tune a model with. Calls that were right from the start are left out.
    Export(Logs),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) logs: Logs,
    /// The most rows of a table.
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    pub(crate) rows: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// Audit logs, oldest first; standard input if there is none, or for `-`.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<std::path::PathBuf>,
    /// The longest line; a longer one is counted as bad.
    #[arg(long, value_name = "N", default_value_t = 64 << 20)]
    pub(crate) max_line_bytes: usize,
}

impl Audit {
    pub(crate) fn logs(&self) -> &Logs {
        match self {
            Self::Report(args) => &args.logs,
            Self::Export(logs) => logs,
        }
    }

    /// Does it; the exit status says whether every line could be read.
    pub(crate) fn run(&self, inputs: Vec<Input>) -> io::Result<ExitCode> {
        let limit = self.logs().max_line_bytes;
        let mut out = io::BufWriter::new(io::stdout().lock());
        let runs = match self {
            Self::Report(args) => {
                let mut report = Report::default();
                let runs = read(inputs, limit, |run| {
                    report.add(&run);
                    Ok(())
                })?;
                quiet_if_closed(write_report(&mut out, &report, &runs, args.rows))?;
                runs
            }
            Self::Export(_) => {
                let exported = read(inputs, limit, |run| {
                    if !run.was_clean() {
                        serde_json::to_writer(&mut out, &run)?;
                        out.write_all(b"\n")?;
                    }
                    Ok(())
                });
                match exported {
                    // Whoever reads the set has seen enough.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Ok(ExitCode::SUCCESS);
                    }
                    exported => exported?,
                }
            }
        };
        quiet_if_closed(out.flush())?;
        let LineCounts { lines, bad, .. } = runs.counts();
        if bad == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        eprintln!("toolmend: {bad} of {lines} lines are no records of an audit log");
        Ok(ExitCode::from(1))
    }
}

fn quiet_if_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Ok(())
        } else {
            Err(error)
        }
    })
}

/// Reads all logs, and hands out each run when its end was read.
fn read(
    inputs: Vec<Input>,
    limit: usize,
    mut each: impl FnMut(Run) -> io::Result<()>,
) -> io::Result<Runs> {
    let bar = progress::bar();
    let mut runs = Runs::default();
    for (name, input) in inputs {
        let mut lines = Lines::new(input, limit);
        loop {
            let batch = lines
                .next_batch()
                .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
            let Some(batch) = batch else { break };
            bar.inc(batch.len() as u64);
            for line in batch {
                match line {
                    Line::Whole(bytes) => runs.line(&bytes).map_or(Ok(()), &mut each)?,
                    Line::TooLong(_) => runs.bad_line(),
                }
            }
        }
    }
    bar.finish_and_clear();
    Ok(runs)
}

fn write_report(out: &mut impl Write, report: &Report, runs: &Runs, rows: usize) -> io::Result<()> {
    write_counts(out, report, runs)?;
    let by_broken = |row: &RunTally| row.broken;
    run_table(out, "Tools", &report.tools.by(by_broken), rows)?;
    run_table(out, "First errors", &report.classes.by(by_broken), rows)?;
    // The last days, oldest first.
    let days: Vec<_> = report.days.rows().collect();
    let recent = days
        .get(days.len().saturating_sub(rows)..)
        .unwrap_or_default();
    run_table(out, "Days", recent, rows)?;
    write_rules(out, report, rows)?;
    write_models(out, report, rows)
}

fn write_counts(out: &mut impl Write, report: &Report, runs: &Runs) -> io::Result<()> {
    let LineCounts {
        lines,
        bad,
        unknown,
        dropped,
        dropped_terminal,
        forgotten,
        ..
    } = runs.counts();
    let all = &report.all;
    writeln!(
        out,
        "{} runs, {} of them broken: {} repaired by rules, {} recovered, {} given up ({} made right)",
        all.runs,
        all.broken,
        all.repaired,
        all.recovered,
        all.gave_up,
        percent(all.recovery())
    )?;
    writeln!(
        out,
        "{lines} lines, {bad} bad; {} runs without an end",
        runs.unfinished()
    )?;
    for (count, what) in [
        (unknown, "events of a later version"),
        (
            forgotten,
            "runs forgotten, because too many were open at once",
        ),
        (dropped, "events dropped by the log"),
        (dropped_terminal, "ends of runs among them"),
    ] {
        if count > 0 {
            writeln!(out, "{count} {what}")?;
        }
    }
    Ok(())
}

fn write_rules(out: &mut impl Write, report: &Report, rows: usize) -> io::Result<()> {
    let rules = report.rules.by(|row| row.fixes);
    let cells = rules.iter().map(|(name, row)| {
        [
            (*name).to_owned(),
            row.fixes.to_string(),
            row.runs.to_string(),
            row.succeeded.to_string(),
        ]
    });
    table(
        out,
        "Rules",
        ["rule", "fixes", "runs", "succeeded"],
        cells,
        rows,
    )?;

    let reasons = report.reasons.by(|count| *count);
    let cells = reasons
        .iter()
        .map(|(name, count)| [(*name).to_owned(), count.to_string()]);
    table(out, "Given up", ["reason", "runs"], cells, rows)
}

fn write_models(out: &mut impl Write, report: &Report, rows: usize) -> io::Result<()> {
    let models = report.models.by(|row| row.rounds);
    let cells = models.iter().map(|(name, row)| {
        [
            (*name).to_owned(),
            row.rounds.to_string(),
            row.candidates.to_string(),
            row.rejected.to_string(),
            row.recovered.to_string(),
            row.input_tokens.to_string(),
            row.output_tokens.to_string(),
            money(row.cost_micros),
        ]
    });
    let head = [
        "model",
        "rounds",
        "candidates",
        "rejected",
        "recovered",
        "tokens in",
        "tokens out",
        "cost",
    ];
    table(out, "Models", head, cells, rows)?;

    let offenders = report.offenders.by(|row| row.times);
    let cells = offenders.iter().map(|(name, row)| {
        [
            (*name).to_owned(),
            row.times.to_string(),
            row.gave_up.to_string(),
            row.before.clone(),
            row.after.clone(),
        ]
    });
    let head = ["tool: fault", "times", "given up", "before", "after"];
    table(out, "Worst offenders", head, cells, rows)
}

fn run_table(
    out: &mut impl Write,
    title: &str,
    tallies: &[(&str, &RunTally)],
    rows: usize,
) -> io::Result<()> {
    let head = [
        "",
        "runs",
        "broken",
        "repaired",
        "recovered",
        "given up",
        "made right",
    ];
    let cells = tallies.iter().map(|(name, row)| {
        [
            (*name).to_owned(),
            row.runs.to_string(),
            row.broken.to_string(),
            row.repaired.to_string(),
            row.recovered.to_string(),
            row.gave_up.to_string(),
            percent(row.recovery()),
        ]
    });
    table(out, title, head, cells, rows)
}

/// A table with numbers to the right, and how many rows it leaves out. Nothing if it has none.
fn table<const N: usize>(
    out: &mut impl Write,
    title: &str,
    head: [&str; N],
    cells: impl ExactSizeIterator<Item = [String; N]>,
    rows: usize,
) -> io::Result<()> {
    let count = cells.len();
    if count == 0 {
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(head);
    table.add_rows(cells.take(rows).map(|row| row.map(|cell| printable(&cell))));
    let is_text = |at: usize| {
        matches!(
            head.get(at),
            Some(&("" | "rule" | "reason" | "model" | "tool: fault" | "before" | "after"))
        )
    };
    for (at, column) in table.column_iter_mut().enumerate() {
        if !is_text(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "\n{title}\n{table}")?;
    if count > rows {
        writeln!(out, "… and {} more", count - rows)?;
    }
    Ok(())
}

/// A log can hold anything; a terminal must not obey it.
fn printable(cell: &str) -> String {
    cell.chars()
        .map(|letter| {
            if letter.is_control() {
                '\u{FFFD}'
            } else {
                letter
            }
        })
        .collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{share:.1} %"))
}

fn money(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}
