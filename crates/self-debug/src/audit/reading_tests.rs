use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::tests::event_with;
use super::{ChosenBy, Report, Run, Runs};

fn run_of(number: u64, events: &[Value]) -> Vec<String> {
    let mut scribe = super::scribe::Scribe::new(None, 1_000);
    let lines = events.iter().enumerate().map(|(at, parts)| {
        let mut more = json!({"run": number});
        for key in ["tool", "attempt", "class", "message"] {
            if let Some(value) = parts.get(key) {
                more[key] = value.clone();
            }
        }
        let event = event_with(at as u64, &parts["kind"], &more);
        scribe.event(&event, UNIX_EPOCH + Duration::from_secs(86_400 * number))
    });
    lines.collect()
}

/// Four runs: one clean, one repaired by rules, one recovered by a model, one given up.
fn four_runs() -> Vec<Vec<String>> {
    let fix = json!({
        "rule": "number-from-string", "stage": "arguments", "path": "/limit", "offset": null,
        "before": "\"5\"", "after": "5", "risk": "lossless", "loss": null, "sentence": "s"
    });
    let candidate = |arguments: &str| {
        json!({
            "change": {"complete": arguments}, "confidence": 0.9, "rationale": "r", "origin": "model", "sample": 0,
            "risk": "guess", "fixes": [], "from_cut": false, "tied": false
        })
    };
    let proposed = |candidates: Value| {
        json!({"kind": {"proposed": {
            "round": 0, "candidates": candidates, "gave_up": null,
            "usage": {"model": "small", "input_tokens": 300, "output_tokens": 40, "cost_micros": 1_200_000}
        }}})
    };
    let failed = json!({
        "class": "value", "message": "no such user: an",
        "kind": {"failed": {"arguments": "{\"user\":\"an\"}", "may_have_run": false}}
    });
    let succeeded =
        |arguments: &str| json!({"kind": {"succeeded": {"arguments": arguments, "digest": 1}}});
    vec![
        run_of(0, &[succeeded("{}")]),
        run_of(
            1,
            &[
                json!({"tool": "search", "kind": {"repaired": {"emitted": "{\"limit\":\"5\"}", "arguments": "{\"limit\":5}", "fixes": [fix, fix]}}}),
                json!({"tool": "search", "kind": {"succeeded": {"arguments": "{\"limit\":5}", "digest": 1}}}),
            ],
        ),
        run_of(
            2,
            &[
                failed.clone(),
                proposed(json!([
                    candidate("{\"user\":5}"),
                    candidate("{\"user\":\"ann\"}")
                ])),
                json!({"kind": {"candidate_rejected": {"candidate": 0, "arguments": "{}", "why": {"invalid": "x"}}}}),
                json!({"kind": {"retrying": {
                    "strategy": "debug", "candidate": 1, "arguments": "{\"user\":\"ann\"}", "until": null
                }}}),
                succeeded("{\"user\":\"ann\"}"),
            ],
        ),
        run_of(
            3,
            &[
                failed,
                proposed(json!([])),
                json!({"kind": {"gave_up": {
                    "reason": "no_candidate", "original": {"class": "value", "message": "no such user", "may_have_run": false}
                }}}),
            ],
        ),
    ]
}

#[test]
fn lines_that_are_mixed_up_become_runs_again() {
    let mut logs: Vec<_> = four_runs().into_iter().map(Vec::into_iter).collect();
    let mut runs = Runs::default();
    let mut found = Vec::new();
    // One line of each run in turn.
    loop {
        let lines: Vec<String> = logs.iter_mut().filter_map(Iterator::next).collect();
        if lines.is_empty() {
            break;
        }
        found.extend(lines.iter().filter_map(|line| runs.line(line.as_bytes())));
    }
    assert_eq!(runs.unfinished(), 0);
    assert_eq!(runs.counts().bad, 0);
    found.sort_by_key(|run| run.run);
    let clean: Vec<bool> = found.iter().map(Run::was_clean).collect();
    assert_eq!(clean, [true, false, false, false]);

    let recovered = &found[2];
    assert_eq!(
        recovered
            .failure
            .as_ref()
            .map(|failure| failure.arguments.as_str()),
        Some("{\"user\":\"an\"}")
    );
    assert_eq!(recovered.candidates[0].rejected.as_deref(), Some("invalid"));
    let chosen = recovered.chosen.as_ref().expect("a candidate");
    assert_eq!((chosen.by, chosen.candidate), (ChosenBy::Model, Some(1)));
    let row = serde_json::to_string(recovered).expect("JSON");
    assert_eq!(
        serde_json::from_str::<Run>(&row).expect("a row"),
        *recovered
    );
    insta::assert_snapshot!(row);
}

#[test]
fn the_report_counts() {
    let mut runs = Runs::default();
    let mut report = Report::default();
    for line in four_runs().concat() {
        if let Some(run) = runs.line(line.as_bytes()) {
            report.add(&run);
        }
    }
    let all = report.all;
    assert_eq!(
        (
            all.runs,
            all.broken,
            all.repaired,
            all.recovered,
            all.gave_up
        ),
        (4, 3, 1, 1, 1)
    );
    assert_eq!(all.recovery().map(f64::round), Some(67.0));
    let tools: Vec<_> = report
        .tools
        .by(|row| row.broken)
        .into_iter()
        .map(|(name, row)| (name, row.broken))
        .collect();
    assert_eq!(tools, [("login", 2), ("search", 1)]);
    let days: Vec<_> = report.days.rows().map(|(day, _)| day.to_owned()).collect();
    assert_eq!(
        days,
        ["1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"]
    );
    let (rule, row) = report.rules.rows().next().expect("a rule");
    assert_eq!(
        (rule, row.fixes, row.runs, row.succeeded),
        ("number-from-string", 2, 1, 1)
    );
    let (model, row) = report.models.rows().next().expect("a model");
    assert_eq!(model, "small");
    assert_eq!(
        (row.rounds, row.candidates, row.rejected, row.recovered),
        (2, 2, 1, 1)
    );
    assert_eq!((row.input_tokens, row.cost_micros), (600, 2_400_000));
    assert_eq!(
        report.reasons.rows().collect::<Vec<_>>(),
        [("no_candidate", &1)]
    );
    let worst = report.offenders.by(|row| row.times);
    let (name, row) = worst
        .iter()
        .find(|(name, _)| *name == "login: value")
        .expect("an offender");
    assert_eq!((*name, row.times, row.gave_up), ("login: value", 2, 1));
    assert_eq!(
        (row.before.as_str(), row.after.as_str()),
        ("{\"user\":\"an\"}", "{\"user\":\"ann\"}")
    );
}

#[test]
fn open_runs_are_bounded() {
    let mut runs = Runs::new(10, 1 << 20);
    for number in 0..1_000 {
        let lines = run_of(
            number,
            &[json!({"kind": {"failed": {"arguments": "{}", "may_have_run": false}}})],
        );
        assert!(runs.line(lines[0].as_bytes()).is_none());
    }
    assert_eq!(runs.unfinished(), 10);
    assert_eq!(runs.counts().forgotten, 990);
}

#[test]
fn lines_that_are_no_records_are_counted() {
    let mut runs = Runs::default();
    for line in [
        "",
        "  ",
        "{\"v\":1,\"time",
        "[]",
        "{\"v\":2,\"time\":\"t\",\"event\":\"dropped\",\"events\":1,\"terminal\":0}",
        "\u{0}",
    ] {
        assert!(runs.line(line.as_bytes()).is_none());
    }
    assert!(runs.line(b"\xff").is_none());
    assert!(
        runs.line(b"{\"v\":1,\"time\":\"t\",\"event\":\"dropped\",\"events\":3,\"terminal\":1}")
            .is_none()
    );
    let counts = runs.counts();
    assert_eq!(
        (
            counts.lines,
            counts.bad,
            counts.dropped,
            counts.dropped_terminal
        ),
        (6, 5, 3, 1)
    );
}
