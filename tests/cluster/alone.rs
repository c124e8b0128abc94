//! One server on a data directory.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::kit::{ADMIN, Process, TestCluster};

/// What a command of headquarters says that must not go through.
fn refused(what: &str, dir: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    let command = command.args(["hq", "--data-dir"]).arg(dir).arg(what).env_clear();
    let output = command.output().expect("the program runs");
    assert!(!output.status.success(), "{what} should have been refused");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How the first one is named.
fn names(server: &Process, who: &str) -> [String; 3] {
    [
        format!("{} is in use by {who} (process {}, since 20", server.dir.display(), server.id()),
        format!(", on {})", server.url),
        "stop it first, or name another directory with --data-dir".to_owned(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_a_data_directory_is_refused_and_names_the_first() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let hq = names(&chain.hq, "headquarters");
    let store = names(&site.process, "a store server");
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1)];
    for (said, named) in [
        (chain.hq.another().refuses_to_start(), &hq),
        (site.process.another().refuses_to_start(), &store),
        // Their files have the same names.
        (Process::that_fails("hq", &site.process.dir, &environment), &store),
        (refused("new-epoch", &chain.hq.dir), &hq),
        (refused("seed-demo", &chain.hq.dir), &hq),
    ] {
        assert!(named.iter().all(|part| said.contains(part)), "{said}\nhas not all of {named:?}");
    }
    // The first ones go on.
    let till = site.admin().await;
    chain.caught_up(&site, &till).await;

    // The lock of a process that was killed is free, whatever its file says.
    site.process.kill();
    assert!(fs::read_to_string(site.process.dir.join("lock")).expect("the note").contains("a store server"));
    site.process.restart();
    chain.hq.kill();
    chain.hq.restart();
    site.admin().await;
}
