//! `tillkeep verify`, as an operator runs it.

use std::path::Path;
use std::process::Command;

use tillkeep_storage::{Db, Side, db};

use crate::kit::{Shift, TestCluster, eventually};

pub fn verify(arguments: &[&str], hq: &Path, store: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.arg("verify").arg("--hq").arg(hq).arg("--store").arg(store).args(arguments).env_clear();
    let output = command.output().expect("the program runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sees_what_does_not_hold_and_the_command_fails() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    assert!(shift.sell(&product, 1).await);
    let (hq, store) = (chain.hq.dir.clone(), site.process.dir.clone());
    // Beside running servers.
    assert_eq!(verify(&[], &hq, &store), (true, "Everything holds.\n".to_owned()));
    eventually("everything is sent and pulled", async || verify(&["--settled"], &hq, &store).0.then_some(())).await;

    site.process.stop();
    site.broken_on_purpose = true;
    let damaged = Db::open_file(&store.join("tillkeep.db"), Side::Store).await.expect("database");
    let tx = damaged.begin().await.expect("a transaction");
    db::execute(&tx, "UPDATE sale_payments SET amount = amount - 1", []).await.expect("a damage");
    tx.commit().await.expect("a commit");
    damaged.close().await.expect("close");
    let (sound, said) = verify(&["--settled"], &hq, &store);
    assert!(!sound);
    assert!(said.contains("I5 sales") && said.contains("the payments are not the total"), "{said}");
    assert!(said.contains("I2 sale_payments"), "{said}");
}
