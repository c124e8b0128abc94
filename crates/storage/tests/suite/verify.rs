//! The checker of what must always hold: it finds nothing in sound databases, and each planted damage.

use std::path::Path;

use serde_json::{Value as Json, json};
use tillkeep_model::wire::PushStatus;
use tillkeep_model::{Instant, JsonText, Money, Qty};
use tillkeep_storage::entity::{
    permission, register_session, role, role_permission, sync_log, tender, user, user_store_role,
};
use tillkeep_storage::sea_orm::{ConnectionTrait, Database, EntityTrait, IntoActiveModel};
use tillkeep_storage::stock::{Kind, Movement};
use tillkeep_storage::sync_log::kept;
use tillkeep_storage::verify::{self, Acknowledged, Finding, Options, Source};
use tillkeep_storage::{Connection, Db, Side, audit, db, outbox, push, settings, stock};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::sale;
use crate::kit::{Hq, Shop, at, both, entity};

/// A store that has sold twice, closed its drawer and met a customer, and a headquarters that has all of it.
struct Scene {
    hq: Hq,
    shop: Shop,
    sold: Vec<Acknowledged>,
}

const EPOCH: &str = "the epoch of the store";

async fn scene(hq: Hq) -> Scene {
    let chain = Chain::found(&hq).await;
    let tx = hq.db.begin().await.expect("a transaction");
    settings::set(&tx, settings::EPOCH, "the epoch of headquarters").await.expect("a setting");
    tx.commit().await.expect("a commit");
    people(&hq).await;
    acts(&hq).await;
    hq.edit::<tillkeep_storage::entity::product::Entity>(chain.rice, |row| row.deleted_at = Some(at(-60))).await;
    let card = tender::Model {
        id: id("CARD"),
        code: "CARD".into(),
        kind: "card".into(),
        is_active: true,
        ..Default::default()
    };
    hq.insert::<tender::Entity>([card]).await;

    let shop = Shop::open(chain.first.store_id).await;
    let tx = shop.begin().await;
    settings::set(&tx, settings::EPOCH, EPOCH).await.expect("a setting");
    settings::set(&tx, "store_id", &shop.id.to_string()).await.expect("a setting");
    settings::set(&tx, "hq_epoch", "the epoch of headquarters").await.expect("a setting");
    tx.commit().await.expect("a commit");
    shop.pull_everything(&hq, 100).await;

    let drawer = open_drawer(&shop).await;
    let mut sold = Vec::new();
    for number in 1..=2 {
        let (id, receipt) = (id(&format!("sale {number}")), format!("S01-01-{number:06}"));
        let mut data = sale(&chain.first, id, &[(chain.tea, number)]);
        data["receiptNumber"] = receipt.clone().into();
        data["registerCode"] = "01".into();
        data["registerSessionId"] = json!(drawer.id);
        data["taxLines"] = json!([]);
        sell(&shop, id, &data, chain.tea, number).await;
        sold.push(Acknowledged { store: shop.id, sale: id, receipt, total: Money(1999 * number) });
    }
    close_drawer(&shop, drawer).await;
    customer(&shop).await;
    send(&hq, &shop, &chain).await;
    shop.pull_everything(&hq, 100).await;
    Scene { hq, shop, sold }
}

async fn people(hq: &Hq) {
    let unset = Instant::default();
    let code = permission::Model { id: id("p"), code: "x.y".into(), created_at: unset, ..Default::default() };
    hq.insert::<permission::Entity>([code]).await;
    hq.insert::<role::Entity>([role::Model { id: id("r"), code: "r".into(), ..Default::default() }]).await;
    hq.insert::<role_permission::Entity>([role_permission::Model { role_id: id("r"), permission_id: id("p") }]).await;
    let person = |name: &str| user::Model {
        id: id(name),
        username: name.into(),
        username_folded: name.into(),
        pin_hash: Some("hash".into()),
        ..Default::default()
    };
    hq.insert::<user::Entity>([person("ann"), person("bob")]).await;
    let here = user_store_role::Model {
        id: id("a"),
        user_id: id("ann"),
        role_id: id("r"),
        store_id: Some(id("S01")),
        ..Default::default()
    };
    hq.insert::<user_store_role::Entity>([here]).await;
}

/// What was done at headquarters: somebody gave the store its token, and resolved what another system had sent.
async fn acts(hq: &Hq) {
    let refused = sync_log::Model {
        id: id("refused"),
        store_id: id("S01"),
        direction: "push".into(),
        entity_type: "customers".into(),
        entity_id: id("eve").to_string(),
        action: "create".into(),
        status: "resolved".into(),
        hash: "hash".into(),
        resolved_by: Some(id("ann")),
        resolved_at: Some(at(0)),
        ..Default::default()
    };
    hq.insert::<sync_log::Entity>([refused]).await;
    let tx = hq.db.begin().await.expect("a transaction");
    let provisioned = audit::Entry {
        user_id: Some(id("ann")),
        action: "store.provision",
        entity_type: Some("stores"),
        entity_id: Some(id("S01").to_string()),
        details: json!({"tokenVersion": 0}),
        ..Default::default()
    };
    audit::record(&tx, provisioned, at(0)).await.expect("an audit row");
    audit::record(&tx, resolution(id("refused")), at(0)).await.expect("an audit row");
    tx.commit().await.expect("a commit");
}

/// What the audit log says of an entry that ann resolved.
fn resolution(entry: Uuid) -> audit::Entry {
    audit::Entry {
        user_id: Some(id("ann")),
        action: "sync.resolve",
        entity_type: Some("sync_log"),
        details: json!({"entries": [entry], "refused": []}),
        ..Default::default()
    }
}

async fn note(tx: &tillkeep_storage::Tx, action: &'static str, row: Uuid) {
    let entry = audit::Entry { action, entity_id: Some(row.to_string()), ..audit::Entry::default() };
    audit::record(tx, entry, at(0)).await.expect("an audit row");
}

async fn enqueue(tx: &tillkeep_storage::Tx, name: &str, row: Uuid, action: &str, data: &Json) {
    let entry = outbox::Entry { entity_type: name, entity_id: row, action, data, created_at: at(0), depends_on: None };
    outbox::enqueue(tx, &entry, at(0)).await.expect("an entry");
}

async fn write(tx: &tillkeep_storage::Tx, name: &str, data: &Json) {
    let entity = entity(name);
    let row = entity.table.decode(&data.to_string()).expect("a row");
    let columns = entity.table.columns();
    entity.table.upsert(tx, vec![row], &["id"], &columns, None).await.expect("a row");
    for child in entity.children {
        for line in data[child.key].as_array().into_iter().flatten() {
            let mut row = child.table.decode(&line.to_string()).expect("a line");
            row.set(child.parent, data["id"].as_str().expect("id").parse::<Uuid>().expect("id").into());
            child.table.upsert(tx, vec![row], &["id"], &[], None).await.expect("a line");
        }
    }
}

async fn open_drawer(shop: &Shop) -> register_session::Model {
    let drawer = register_session::Model {
        id: id("drawer"),
        store_id: shop.id,
        register_code: "01".into(),
        session_number: 1,
        status: "open".into(),
        business_date: "2026-11-20".into(),
        opening_float: Money(10_000),
        opened_at: at(0),
        created_at: at(0),
        updated_at: at(0),
        ..Default::default()
    };
    let tx = shop.begin().await;
    let data = serde_json::to_value(&drawer).expect("JSON");
    write(&tx, "register_sessions", &data).await;
    note(&tx, "session.open", drawer.id).await;
    enqueue(&tx, "register_sessions", drawer.id, "create", &data).await;
    tx.commit().await.expect("a commit");
    drawer
}

async fn sell(shop: &Shop, sale: Uuid, data: &Json, product: Uuid, pieces: i64) {
    let mut tx = shop.begin().await;
    write(&tx, "sales", data).await;
    let movement = Movement {
        kind: Kind::Sale,
        product_id: product,
        change: -Qty::pieces(pieces),
        source_id: sale,
        line_id: data["saleItems"][0]["id"].as_str().expect("id").parse().expect("id"),
        business_date: "2026-11-20".into(),
        at: at(0),
        received: false,
        unit_cost: None,
        tracked: None,
        average_after: None,
    };
    stock::apply(&mut tx, shop.id, vec![movement], at(0)).await.expect("a movement");
    enqueue(&tx, "sales", sale, "create", data).await;
    tx.commit().await.expect("a commit");
}

async fn close_drawer(shop: &Shop, mut drawer: register_session::Model) {
    let total = 3 * 1999;
    drawer.status = "closed".into();
    drawer.closed_at = Some(at(10));
    drawer.updated_at = at(10);
    drawer.expected_cash = Some(Money(10_000 + total));
    drawer.counted_cash = Some(Money(10_000 + total));
    drawer.cash_variance = Some(Money(0));
    drawer.sale_count = Some(2);
    drawer.running_total = Some(Money(total));
    drawer.totals = Some(JsonText(json!({
        "saleCount": 2, "refundCount": 0, "voidCount": 0, "netAmount": total, "taxAmount": 0, "totalAmount": total,
        "cashRounding": 0, "taxes": [],
        "tenders": [{"tenderCode": "CASH", "tenderKind": "cash", "count": 2, "amount": total}],
    })));
    let tx = shop.begin().await;
    let data = serde_json::to_value(&drawer).expect("JSON");
    write(&tx, "register_sessions", &data).await;
    note(&tx, "session.close", drawer.id).await;
    enqueue(&tx, "register_sessions", drawer.id, "update", &data).await;
    tx.commit().await.expect("a commit");
}

async fn customer(shop: &Shop) {
    let data = json!({
        "id": id("ada"), "customerNumber": "S01-000001", "firstName": "Ada", "createdAt": at(0), "updatedAt": at(0),
        "isActive": true, "originStoreId": shop.id,
    });
    let tx = shop.begin().await;
    write(&tx, "customers", &data).await;
    enqueue(&tx, "customers", id("ada"), "create", &data).await;
    tx.commit().await.expect("a commit");
}

/// Sends until nothing waits, as the sender does.
async fn send(hq: &Hq, shop: &Shop, chain: &Chain) {
    loop {
        let batch = outbox::batch(shop.db.reader(), 100, at(1000), 0).await.expect("a batch");
        if batch.is_empty() {
            return;
        }
        let envelopes: Vec<String> = batch
            .iter()
            .map(|entry| {
                let envelope = json!({
                    "store_id": shop.id, "entity_type": entry.entity_type, "entity_id": entry.entity_id,
                    "action": entry.action, "timestamp": entry.timestamp, "seq": entry.seq, "node_epoch": EPOCH,
                    "data": serde_json::from_str::<Json>(&entry.payload).expect("JSON"),
                });
                envelope.to_string()
            })
            .collect();
        let envelopes: Vec<&str> = envelopes.iter().map(String::as_str).collect();
        let pushed = push::push(&hq.db, &chain.first, &envelopes, at(100)).await.expect("an answer");
        assert!(pushed.results.iter().all(|result| result.status == PushStatus::Ok), "{:?}", pushed.results);
        let tx = shop.begin().await;
        let taken: Vec<_> = batch.iter().collect();
        outbox::confirm(&tx, &taken, at(200)).await.expect("a confirmation");
        tx.commit().await.expect("a commit");
    }
}

/// What the checker says after `damage` was done to one of the two databases, which it is not for long.
async fn after(scene: &Scene, side: Side, damage: &[&str]) -> Vec<Finding> {
    let mut sources = Vec::new();
    for (url, of) in [(scene.hq.url(), Side::Hq), (scene.shop.url(), Side::Store)] {
        let conn = match url.strip_prefix("sqlite://") {
            Some(path) => Db::open_alone(Path::new(path)),
            None => Database::connect(url).await.map(Connection::from),
        };
        let conn = conn.expect("a connection").begin_to_write().await.expect("a transaction");
        for sql in damage.iter().filter(|_| of == side) {
            conn.execute_unprepared(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        sources.push(Source::within(conn, of).await.expect("a source"));
    }
    let options = Options { settled: true, acknowledged: scene.sold.clone(), ..Options::default() };
    let shop = sources.remove(1);
    verify::run(sources.first(), &[shop], &options).await.expect("a verdict")
}

#[tokio::test]
async fn the_checker_finds_nothing_in_sound_databases() {
    for hq in both().await {
        let scene = scene(hq).await;
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);
    }
}

/// What is done to a database, and the invariant and the table under which it must be found.
const DAMAGES: &[(Side, &[&str], &str, &str)] = &[
    (Side::Store, &["DELETE FROM sale_payments", "DELETE FROM sale_items", "DELETE FROM sales"], "I1", "sales"),
    (Side::Store, &["UPDATE sales SET receipt_number = 'S01-01-000009' WHERE total_amount > 2000"], "I1", "sales"),
    (Side::Hq, &["DELETE FROM sale_payments", "DELETE FROM sale_items", "DELETE FROM sales"], "I2", "sales"),
    (Side::Hq, &["UPDATE sales SET note = 'changed'"], "I2", "sales"),
    (Side::Hq, &["UPDATE sale_items SET unit_price = unit_price + 1"], "I2", "sale_items"),
    (Side::Hq, &["DELETE FROM sale_payments"], "I2", "sale_payments"),
    (Side::Hq, &["UPDATE register_sessions SET status = 'open'"], "I2", "register_sessions"),
    (Side::Store, &["DELETE FROM sale_items", "DELETE FROM sale_payments", "DELETE FROM sales"], "I3", "sales"),
    (Side::Store, &["UPDATE store_product_dynamic SET quantity = quantity + 1"], "I4", "store_product_dynamic"),
    (Side::Hq, &["UPDATE store_product_dynamic SET quantity = quantity + 1"], "I4", "store_product_dynamic"),
    (Side::Hq, &["DELETE FROM stock_movements"], "I4", "store_product_dynamic"),
    // The store has said what its goods cost it.
    (
        Side::Store,
        &["UPDATE sale_items SET average_cost_after = 480", "UPDATE store_product_dynamic SET average_cost = 480"],
        "I4",
        "store_product_dynamic",
    ),
    // Both of one side: a second sale of the same goods, with its movement.
    (
        Side::Hq,
        &[
            "UPDATE stock_movements SET quantity_change = quantity_change * 2",
            "UPDATE store_product_dynamic SET quantity = quantity * 2",
        ],
        "I4",
        "store_product_dynamic",
    ),
    (Side::Store, &["UPDATE sales SET tax_amount = tax_amount + 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sale_items SET net_amount = net_amount - 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sale_payments SET amount = amount - 1"], "I5", "sales"),
    (Side::Store, &["UPDATE register_sessions SET expected_cash = expected_cash + 1"], "I5", "register_sessions"),
    (Side::Store, &["UPDATE register_sessions SET running_total = 1"], "I5", "register_sessions"),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"saleCount\":2', '\"saleCount\":3')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"count\":2', '\"count\":1')"],
        "I5",
        "register_sessions",
    ),
    (Side::Hq, &["UPDATE customers SET account_balance = account_balance + 1"], "I5", "customers"),
    (
        Side::Hq,
        &[
            "UPDATE sale_payments SET tender_kind = 'on_account'",
            "UPDATE sales SET customer_id = (SELECT id FROM customers)",
        ],
        "I5",
        "customers",
    ),
    (
        Side::Store,
        &[
            "UPDATE sale_payments SET tender_kind = 'on_account'",
            "UPDATE sales SET customer_id = (SELECT id FROM customers)",
            "INSERT INTO sync_outbox (seq, node_epoch, entity_type, entity_id, depends_on, action, payload, timestamp, \
             attempts, created_at) SELECT seq + 100, node_epoch, entity_type, entity_id, depends_on, action, payload, \
             '2027-01-01T00:00:00+00:00', 0, created_at FROM sync_outbox_sent WHERE entity_type = 'sales'",
        ],
        "I5",
        "account_charges",
    ),
    (Side::Hq, &["UPDATE tenders SET kind = 'gift_card'"], "I5", "tenders"),
    (Side::Hq, &["UPDATE sales SET receipt_number = 'S01-01-000001'"], "I6", "sales"),
    (Side::Store, &["UPDATE register_sessions SET session_number = 3"], "I6", "register_sessions"),
    (Side::Store, &["UPDATE products SET name = 'other'"], "I7", "products"),
    (Side::Store, &["UPDATE products SET deleted_at = NULL"], "I7", "products"),
    (Side::Store, &["DELETE FROM products WHERE deleted_at IS NOT NULL"], "I7", "products"),
    (Side::Hq, &["DELETE FROM customers"], "I7", "customers"),
    (Side::Store, &["UPDATE customers SET first_name = 'Eve'"], "I7", "customers"),
    (Side::Store, &["UPDATE store_product_dynamic SET price = price + 1"], "I7", "store_product_dynamic"),
    (Side::Store, &["UPDATE users SET pin_hash = 'hash'"], "I7", "users"),
    (Side::Hq, &["DELETE FROM role_permissions"], "I7", "role_permissions"),
    (Side::Store, &["DELETE FROM role_permissions"], "I7", "role_permissions"),
    (Side::Store, &["UPDATE sequences SET last_version = last_version + 1 WHERE entity_type = 'users'"], "I8", "users"),
    (Side::Store, &["UPDATE sequences SET last_version = 1 WHERE entity_type = 'products'"], "I8", "products"),
    (Side::Hq, &["UPDATE products SET sync_version = 99"], "I8", "products"),
    (
        Side::Store,
        &["UPDATE products SET deleted_at = NULL, sku = CASE sku WHEN 'TEA' THEN 'One' ELSE ' oNE' END"],
        "I14",
        "products",
    ),
    (
        Side::Store,
        &["UPDATE products SET deleted_at = NULL, barcodes = '[]', \
           barcode = CASE sku WHEN 'TEA' THEN '012345678905' ELSE '0012345678905' END"],
        "I14",
        "products",
    ),
    (Side::Hq, &["UPDATE users SET sync_version = 1"], "I8", "users"),
    (Side::Store, &["DELETE FROM sync_outbox_sent WHERE seq = 2"], "I9", "sales"),
    (
        Side::Store,
        &["DELETE FROM sync_outbox_sent WHERE seq = 2", "UPDATE sync_outbox_sent SET seq = 17 WHERE seq = 5"],
        "I9",
        "sync_outbox",
    ),
    (Side::Hq, &["DELETE FROM sync_log WHERE seq = 2"], "I9", "sync_outbox_sent"),
    (Side::Store, &["UPDATE customers SET synced = FALSE"], "I9", "customers"),
    (
        Side::Store,
        &["INSERT INTO sync_outbox (seq, node_epoch, entity_type, entity_id, depends_on, action, payload, timestamp, \
           attempts, created_at) SELECT seq + 1, node_epoch, entity_type, entity_id, depends_on, action, payload, \
           '2027-01-01T00:00:00+00:00', 0, created_at FROM sync_outbox_sent WHERE seq = 5"],
        "I10",
        "sync_outbox",
    ),
    (Side::Hq, &["UPDATE sync_log SET status = 'failed'"], "I10", "sync_log"),
    (Side::Hq, &["UPDATE sync_log SET seq = 2"], "I2", "sync_log"),
    (
        Side::Store,
        &["DROP TRIGGER audit_log_refuses_UPDATE", "UPDATE audit_log SET action = 'nothing' WHERE seq = 1"],
        "I11",
        "audit_log",
    ),
    (
        Side::Store,
        &["DROP TRIGGER audit_log_refuses_DELETE", "DELETE FROM audit_log WHERE seq = 2"],
        "I11",
        "register_sessions",
    ),
    (Side::Hq, &["UPDATE sync_log SET status = 'retried', resolved_by = store_id WHERE seq = 1"], "I11", "sync_log"),
    (Side::Hq, &["UPDATE sync_log SET resolved_by = NULL"], "I11", "sync_log"),
    (Side::Hq, &["UPDATE sync_log SET resolved_by = store_id WHERE resolved_by IS NOT NULL"], "I11", "sync_log"),
    (Side::Hq, &["UPDATE stores SET sync_token_version = sync_token_version + 1"], "I11", "stores"),
];

#[tokio::test]
async fn the_checker_finds_each_planted_damage() {
    for hq in both().await {
        let scene = scene(hq).await;
        for (side, damage, invariant, table) in DAMAGES {
            let findings = after(&scene, *side, damage).await;
            let found = findings.iter().any(|finding| finding.invariant == *invariant && finding.entity == *table);
            assert!(found, "{damage:?} is no finding of {invariant} in {table}: {findings:#?}");
        }
        // Nothing stayed.
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);
    }
}

#[tokio::test]
async fn what_was_pruned_from_the_log_is_judged_as_what_is_in_it() {
    for hq in both().await {
        let scene = scene(hq).await;
        let pruned = kept::prune(&scene.hq.db, scene.shop.id, Instant::default(), at(1000)).await.expect("a batch");
        assert!(pruned.rows >= 5, "{pruned:?}");
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);
        for (damage, invariant, table) in [
            ("DELETE FROM sync_log_kept WHERE seq = 2", "I9", "sync_outbox_sent"),
            ("UPDATE sync_log_nodes SET node_epoch = 'another'", "I9", "sync_outbox_sent"),
            ("UPDATE sync_log_kept SET applied = 2 WHERE seq = 2", "I2", "sync_log"),
            ("UPDATE sync_log_kept SET seq = 2", "I2", "sync_log"),
        ] {
            let findings = after(&scene, Side::Hq, &[damage]).await;
            let found = findings.iter().any(|finding| finding.invariant == invariant && finding.entity == table);
            assert!(found, "{damage} is no finding of {invariant} in {table}: {findings:#?}");
        }
    }
}

#[tokio::test]
async fn what_is_under_way_is_no_finding_until_everything_is_settled() {
    let scene = scene(Hq::sqlite().await).await;
    let tea = id("product:TEA");
    let data = {
        let mut data = sale(&crate::kit::chain::sender("S01"), id("sale 3"), &[(tea, 1)]);
        data["receiptNumber"] = "S01-01-000003".into();
        data["registerCode"] = "01".into();
        data
    };
    sell(&scene.shop, id("sale 3"), &data, tea, 1).await;
    scene.hq.edit::<tillkeep_storage::entity::product::Entity>(tea, |row| row.name = "green tea".into()).await;
    let look = async |settled| {
        let hq = Source::of(scene.hq.db.reader(), Side::Hq).await.expect("a source");
        let shop = Source::of(scene.shop.db.reader(), Side::Store).await.expect("a source");
        let options = Options { settled, ..Options::default() };
        let findings = verify::run(Some(&hq), &[shop], &options).await.expect("a verdict");
        findings.into_iter().map(|finding| finding.invariant).collect::<Vec<_>>()
    };
    assert_eq!(look(false).await, Vec::<&str>::new());
    let settled = look(true).await;
    for invariant in ["I4", "I7", "I8", "I10"] {
        assert!(settled.contains(&invariant), "{invariant}: {settled:?}");
    }
}

/// Of how many documents the checker says that they have no entry, where one has none and `due` is what the store noted.
async fn without_entry(scene: &Scene, due: &str) -> usize {
    let due = format!("INSERT INTO sync_state (key, value) VALUES ('own_documents_due', '{due}')");
    let findings = after(scene, Side::Store, &[&due, "DELETE FROM sync_outbox_sent WHERE seq = 2"]).await;
    findings.iter().filter(|finding| finding.text.starts_with("has no entry in the outbox")).count()
}

#[tokio::test]
async fn documents_that_came_back_need_no_entry_and_those_made_since_do() {
    let scene = scene(Hq::sqlite().await).await;
    assert_eq!(without_entry(&scene, "yes").await, 0, "they are coming");
    assert_eq!(without_entry(&scene, &at(1).to_string()).await, 0, "the sale was made before they were here");
    assert_eq!(without_entry(&scene, &at(0).to_string()).await, 1, "the sale was made when they were here");
    assert_eq!(without_entry(&scene, "no").await, 1, "nothing ever came back");
}

#[tokio::test]
async fn what_somebody_resolved_is_missed_neither_in_the_stock_nor_in_the_report_of_its_drawer() {
    for hq in both().await {
        let scene = scene(hq).await;
        // The second sale, as if headquarters had refused it ten times and ann had resolved it then.
        let sale = scene.sold[1].sale;
        let envelope = json!({"data": {"id": sale, "registerSessionId": id("drawer")}}).to_string();
        let row = scene.hq.log().await.into_iter().find(|row| row.entity_id == sale.to_string()).expect("the sale");
        let tx = scene.hq.db.begin().await.expect("a transaction");
        for sql in [
            "UPDATE store_product_dynamic SET quantity = quantity - (SELECT CAST(SUM(quantity_change) AS BIGINT) \
             FROM stock_movements WHERE source_id = $1) \
             WHERE product_id = (SELECT product_id FROM stock_movements WHERE source_id = $1)",
            "DELETE FROM stock_movements WHERE source_id = $1",
            "DELETE FROM sale_payments WHERE sale_id = $1",
            "DELETE FROM sale_items WHERE sale_id = $1",
            "DELETE FROM sales WHERE id = $1",
        ] {
            db::execute(&tx, sql, [sale.into()]).await.expect("a statement");
        }
        let sql = "UPDATE sync_log SET status = 'resolved', resolved_by = $1, envelope = $2 WHERE id = $3";
        db::execute(&tx, sql, [id("ann").into(), envelope.into(), row.id.into()]).await.expect("a statement");
        audit::record(&tx, resolution(row.id), at(300)).await.expect("an audit row");
        tx.commit().await.expect("a commit");
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);

        // Whatever else is wrong with that product is found all the same.
        let doubled = [
            "UPDATE stock_movements SET quantity_change = quantity_change * 2",
            "UPDATE store_product_dynamic SET quantity = quantity * 2",
        ];
        let findings = after(&scene, Side::Hq, &doubled).await;
        assert!(findings.iter().any(|finding| finding.invariant == "I4"), "{findings:#?}");
    }
}

/// A later drawer of the same register, closed over nothing but with this grand total.
async fn later_drawer(hq: &Hq, number: i32, running_total: i64) {
    let drawer = register_session::Model {
        id: id(&format!("drawer {number}")),
        store_id: id("S01"),
        register_code: "01".into(),
        session_number: number,
        status: "closed".into(),
        business_date: "2026-11-21".into(),
        created_at: at(20),
        updated_at: at(20),
        expected_cash: Some(Money(0)),
        sale_count: Some(0),
        running_total: Some(Money(running_total)),
        totals: Some(JsonText(json!({
            "saleCount": 0, "refundCount": 0, "voidCount": 0, "netAmount": 0, "taxAmount": 0, "totalAmount": 0,
            "cashRounding": 0, "taxes": [], "tenders": [],
        }))),
        ..Default::default()
    };
    let tx = hq.db.begin().await.expect("a transaction");
    register_session::Entity::insert_many([drawer.into_active_model()])
        .exec_without_returning(&tx)
        .await
        .expect("a row");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn the_grand_total_of_a_drawer_may_count_one_before_it_that_somebody_resolved() {
    for hq in both().await {
        let scene = scene(hq).await;
        let grand_totals = async || {
            let source = Source::of(scene.hq.db.reader(), Side::Hq).await.expect("a source");
            let options = Options { settled: true, ..Options::default() };
            let findings = verify::run(Some(&source), &[], &options).await.expect("a verdict");
            findings
                .into_iter()
                .filter(|finding| finding.text.contains("grand total"))
                .map(|finding| finding.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(grand_totals().await, Vec::<String>::new());
        // The second drawer took 1000, and headquarters has refused it ten times.
        later_drawer(&scene.hq, 3, 3 * 1999 + 1000).await;
        assert_eq!(grand_totals().await, [id("drawer 3").to_string()], "nobody has settled it");
        let data = json!({"id": id("drawer 2"), "registerCode": "01", "sessionNumber": 2});
        let resolved = sync_log::Model {
            id: id("second drawer"),
            store_id: id("S01"),
            direction: "push".into(),
            entity_type: "register_sessions".into(),
            entity_id: id("drawer 2").to_string(),
            action: "update".into(),
            status: "resolved".into(),
            hash: "second drawer".into(),
            envelope: Some(json!({"data": data}).to_string()),
            resolved_by: Some(id("ann")),
            resolved_at: Some(at(0)),
            ..Default::default()
        };
        scene.hq.insert::<sync_log::Entity>([resolved]).await;
        assert_eq!(grand_totals().await, Vec::<String>::new());
        // From there on each is the one before and its own again.
        later_drawer(&scene.hq, 4, 3 * 1999 + 1000).await;
        assert_eq!(grand_totals().await, Vec::<String>::new());
        later_drawer(&scene.hq, 5, 3 * 1999 + 1001).await;
        assert_eq!(grand_totals().await, [id("drawer 5").to_string()]);
    }
}
