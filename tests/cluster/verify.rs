//! `tillkeep verify`, as an operator runs it.

use std::path::Path;
use std::process::Command;

use tillkeep_storage::audit::heads;
use tillkeep_storage::{Db, Side, audit, raw};

use crate::kit::{Shift, TestCluster, eventually};
use crate::restored::copy_files;

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
    let (sound, said) = verify(&[], &hq, &store);
    assert!(sound && said.ends_with("Everything holds.\n"), "{said}");
    // The sale of a moment ago is not judged, and that is said.
    assert!(said.contains("not judged, as it is under way"), "{said}");
    eventually("everything is sent and pulled", async || verify(&["--settled"], &hq, &store).0.then_some(())).await;

    site.process.stop();
    site.broken_on_purpose = true;
    let damaged = Db::open_file(&store.join("tillkeep.db"), Side::Store).await.expect("database");
    let tx = damaged.begin().await.expect("a transaction");
    raw::execute(&tx, "UPDATE sale_payments SET amount = amount - 1", []).await.expect("a damage");
    tx.commit().await.expect("a commit");
    damaged.close().await.expect("close");
    let (sound, said) = verify(&["--settled"], &hq, &store);
    assert!(!sound);
    assert!(said.contains("I5 sales") && said.contains("the payments are not the total"), "{said}");
    assert!(said.contains("I2 sale_payments"), "{said}");
}

/// Cuts the newest rows off the audit log of a stopped server, as a thief does who has the database.
async fn cut(dir: &Path, side: Side) {
    let damaged = Db::open_file(&dir.join("tillkeep.db"), side).await.expect("database");
    let tx = damaged.begin().await.expect("a transaction");
    for sql in
        ["DROP TRIGGER audit_log_refuses_DELETE", "DELETE FROM audit_log WHERE seq = (SELECT MAX(seq) FROM audit_log)"]
    {
        raw::execute(&tx, sql, []).await.expect("a damage");
    }
    tx.commit().await.expect("a commit");
    damaged.close().await.expect("close");
}

#[tokio::test(flavor = "multi_thread")]
async fn acts_that_were_cut_off_a_log_are_missed_by_the_other_server() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let mut shift = Shift::begin(&site, &product).await;
    assert!(shift.sell(&product, 1).await);
    let (hq, store) = (chain.hq.dir.clone(), site.process.dir.clone());
    // Each start shakes hands, with what was done before it.
    site.process.stop();
    site.process.restart();
    let (at_hq, at_store) = (chain.hq.database(), site.process.database());
    eventually("each of the two has heard of all that the other one wrote", async || {
        let (there, here) = (Db::open_to_read(&at_hq).await.ok()?, Db::open_to_read(&at_store).await.ok()?);
        let rows = raw::query(&there, "SELECT MAX(seq) AS seq FROM audit_heads", []).await.ok()?;
        let heard: Option<i64> = rows.first()?.try_get("", "seq").ok()?;
        let reported = heads::kept(&here).await.ok()??.head;
        let ends = (audit::head(&here).await.ok()?.seq, audit::head(&there).await.ok()?);
        ((heard?, reported) == ends).then_some(())
    })
    .await;
    eventually("everything is sent and pulled", async || verify(&["--settled"], &hq, &store).0.then_some(())).await;
    site.process.stop();
    chain.hq.stop();
    let [hq_file, store_file] = [&hq, &store].map(|dir| dir.join("tillkeep.db").display().to_string());
    let whole = format!("Headquarters: {hq_file}\nStore: {store_file}\nEverything holds.\n");
    assert_eq!(verify(&["--settled"], &hq, &store), (true, whole));

    site.broken_on_purpose = true;
    chain.broken_on_purpose = true;
    let others = tempfile::tempdir().expect("a directory");
    let (hq_cut, store_cut) = (others.path().join("hq"), others.path().join("store"));
    copy_files(&hq, &hq_cut);
    copy_files(&store, &store_cut);
    cut(&store_cut, Side::Store).await;
    let (sound, said) = verify(&["--settled"], &hq, &store_cut);
    assert!(!sound && said.contains("I11 audit_log") && said.contains("headquarters heard of this row"), "{said}");
    cut(&hq_cut, Side::Hq).await;
    let (sound, said) = verify(&["--settled"], &hq_cut, &store);
    assert!(!sound && said.contains("I11 audit_log") && said.contains("and headquarters does not have it"), "{said}");
}
