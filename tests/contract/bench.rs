//! `tillkeep bench` against servers that it starts itself: what it writes, and when it fails. How fast they are is no test.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::private_postgres;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillkeep");

fn bench(args: &[&str]) -> Output {
    Command::new(PROGRAM).arg("bench").args(args).output().expect("a benchmark")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

fn error(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bench_measures_servers_beside_their_limit_and_fails_when_a_ratio_fell() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("figures.json");
    let path = file.to_str().expect("a path");
    let done = bench(&["--tiny", "--only", "P3,p9", "--runs", "1", "--json", path, "--commit", "abc"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let table = String::from_utf8_lossy(&done.stdout);
    for shown in ["P3  idle cycle", "empty handler of hyper alone", "P9  start and size"] {
        assert!(table.contains(shown), "{table}");
    }

    let mut report = read(&file);
    assert_eq!(
        (&report["runs"], &report["commit"], &report["missing"]),
        (&1.into(), &"abc".into(), &Value::Array(vec![]))
    );
    assert_eq!(report["program"], format!("tillkeep {}", env!("CARGO_PKG_VERSION")));
    assert!(report["machine"]["cores"].as_u64() > Some(0) && report["sizes"]["loadMillis"].as_u64() > Some(0));
    let figures = report["figures"].as_array().expect("figures");
    let ids: Vec<&str> = figures.iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, ["P3", "P3", "P9", "P9", "P9", "P9"]);
    for row in figures {
        let [min, median, max] = ["min", "median", "max"].map(|name| row["value"][name].as_f64().expect("a number"));
        assert!(0.0 < min && min <= median && median <= max, "{row}");
    }
    let limit = &figures[0]["limit"];
    assert!(limit["ratio"]["median"].as_f64() > Some(0.0) && limit["value"]["min"].as_f64() > Some(0.0), "{limit}");

    // As if it had been a thousand times as fast before.
    report["figures"][0]["limit"]["ratio"]["median"] = 1000.into();
    std::fs::write(&file, report.to_string()).expect("written");
    let fallen = error(&bench(&["--tiny", "--only", "P3", "--against", path]));
    let others = error(&bench(&["--only", "P3", "--against", path]));
    assert!(others.contains(path) && others.contains("--quick"), "{others}");
    assert!(fallen.contains("P3 versions: ") && fallen.contains("it was 1000.000"), "{fallen}");
    // A release that measured more, and one that measured less.
    report["figures"][0]["name"] = "of another time".into();
    std::fs::write(&file, report.to_string()).expect("written");
    let gone = error(&bench(&["--tiny", "--only", "P3", "--against", path]));
    assert!(gone.contains("P3 of another time: not measured; it was 1000.000 of its limit"), "{gone}");
    assert!(gone.contains("P3 versions: new, at "), "{gone}");
}

/// A `PostgreSQL` with rows that can be replicated.
fn postgres() -> String {
    let (directory, port) = private_postgres::make("-c wal_level=logical");
    private_postgres::watch(&directory, &directory.join("running"));
    format!("postgres://{0}@127.0.0.1:{port}/{0}", private_postgres::OWNER)
}

#[test]
#[ignore = "make bench-goals"]
fn every_goal_is_measured_at_the_smallest_size() {
    const GOALS: [(&str, &[(&str, usize)]); 3] = [
        // Two figures of P1 are those of a PostgreSQL without replication.
        ("P1,P2,P4", &[("P1", 9), ("P2", 15), ("P4", 6)]),
        ("P3,P5,P6,P8", &[("P3", 2), ("P5", 4), ("P6", 19), ("P8", 1)]),
        ("P7,P9,P10,P11,P12", &[("P7", 3), ("P9", 4), ("P10", 30), ("P11", 5), ("P12", 8)]),
    ];
    let dir = tempfile::tempdir().expect("a directory");
    let url = postgres();
    let runs = GOALS.map(|(goals, figures)| {
        let file = dir.path().join(goals);
        let run = Command::new(PROGRAM)
            .args(["bench", "--tiny", "--only", goals, "--postgres", &url, "--json"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a benchmark");
        (run, file, figures)
    });
    for (run, file, expected) in runs {
        let done = run.wait_with_output().expect("the end of a benchmark");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let report = read(&file);
        assert_eq!(report["missing"], Value::Array(Vec::new()));
        let figures = report["figures"].as_array().expect("figures");
        let count = |id: &str| figures.iter().filter(|row| row["id"] == id).count();
        for (id, many) in expected {
            assert_eq!(count(id), *many, "{id}: {figures:?}");
        }
        for row in figures {
            let least = row["value"]["min"].as_f64();
            assert!(least >= Some(0.0) && least.is_some_and(f64::is_finite), "{row}");
        }
    }
}

#[test]
fn what_another_program_was_built_from_is_unknown_unless_it_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("figures.json");
    let commit = |args: &[&str]| {
        let done = Command::new(PROGRAM)
            .args(["bench", "--tiny", "--only", "P8", "--json"])
            .arg(&file)
            .args(args)
            .env("TILLKEEP_COMMIT", "of this checkout")
            .output()
            .expect("a benchmark");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        read(&file)["commit"].as_str().expect("a commit").to_owned()
    };
    assert_eq!(commit(&[]), "of this checkout");
    assert_eq!(commit(&["--program", PROGRAM]), "unknown");
    assert_eq!(commit(&["--program", PROGRAM, "--commit", "abc"]), "abc");
}

#[test]
fn bench_refuses_what_it_does_not_know_before_it_measures() {
    let refused = error(&bench(&["--only", "P99"]));
    assert!(refused.contains("P99") && refused.contains("P3") && refused.contains("--only"), "{refused}");
    let refused = error(&bench(&["--quick", "--program", "/nowhere/tillkeep"]));
    assert!(refused.contains("/nowhere/tillkeep"), "{refused}");
    let refused = error(&bench(&["--quick", "--postgres", "postgres://unknown@127.0.0.1:1/none"]));
    assert!(refused.contains("--postgres: PostgreSQL does not answer"), "{refused}");
    let refused = error(&bench(&["--quick", "--against", "/nowhere/figures.json"]));
    assert!(refused.contains("/nowhere/figures.json"), "{refused}");
}
