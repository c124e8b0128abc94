//! `tillkeep doctor`, as an operator runs it, and what it said.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// What the program said.
pub struct Said {
    pub code: i32,
    pub text: String,
}

/// `tillkeep doctor SERVER` of the directory, with this environment alone.
pub fn doctor(server: &str, dir: &Path, environment: &[(&str, &str)], more: &[&str]) -> Said {
    let dir = dir.to_str().expect("a path");
    asked(&[&[server, "--data-dir", dir], more].concat(), environment)
}

/// `tillkeep doctor` with these words, and this environment alone.
pub fn asked(words: &[&str], environment: &[(&str, &str)]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.arg("doctor").args(words);
    // The machine that tests may be nearly full.
    if !words.contains(&"--least-free-mib") {
        command.args(["--least-free-mib", "1"]);
    }
    command.env_clear().env("RUST_LOG", "off").envs(environment.iter().copied());
    let output = command.output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("a text");
    Said { code: output.status.code().expect("an exit"), text }
}

impl Said {
    /// Of `--json`.
    pub fn findings(&self) -> Vec<Json> {
        let report: Json = serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text));
        report["findings"].as_array().expect("findings").clone()
    }

    /// The finding of a check with this level that says this, and its remedy.
    #[track_caller]
    pub fn has(&self, check: &str, level: &str, text: &str, remedy: &str) {
        let is_it = |finding: &&Json| {
            let says = |key: &str, what: &str| finding[key].as_str().unwrap_or_default().contains(what);
            finding["check"] == check && finding["level"] == level && says("text", text) && says("remedy", remedy)
        };
        let findings = self.findings();
        assert!(findings.iter().any(|finding| is_it(&finding)), "no {level} of {check} says {text:?}: {}", self.text);
    }

    pub fn level_of(&self, check: &str) -> Vec<String> {
        let findings = self.findings();
        let of = findings.iter().filter(|finding| finding["check"] == check);
        of.map(|finding| finding["level"].as_str().unwrap_or_default().to_owned()).collect()
    }
}
