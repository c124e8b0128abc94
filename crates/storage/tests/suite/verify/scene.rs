//! A small chain that has done its work, with what the checker says of it.

use std::path::Path;

use sea_orm::{ActiveModelTrait, ConnectionTrait, Database, IntoActiveModel};
use serde_json::{Value as Json, json};
use tillkeep_model::wire::PushStatus;
use tillkeep_model::words::ChainKind;
use tillkeep_model::{Cost, Instant, JsonText, Money, Qty};
use tillkeep_storage::audit::heads;
use tillkeep_storage::audit::heads::OfHq;
use tillkeep_storage::document::adjustment::movement;
use tillkeep_storage::document::movement::{Kind, Movement};
use tillkeep_storage::entity::{
    cash_movement, inventory_adjustment, parked_cart, permission, register_session, role, role_permission,
    safe_movement, store_node, sync_log, tender, user, user_store_role, zz_report,
};
use tillkeep_storage::fiscal::{self, Register};
use tillkeep_storage::verify::{self, Acknowledged, Finding, Options, Source, Verifiers};
use tillkeep_storage::{Connection, Db, Side, audit, barcodes, nodes, outbox, push, series, settings, stock};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{Document, sale};
use crate::kit::{Hq, Shop, at, entity};

const EPOCH: &str = "the epoch of the store";

/// A store that has sold twice, closed its drawer and met a customer, and a headquarters that has all of it.
pub(super) struct Scene {
    pub(super) hq: Hq,
    pub(super) shop: Shop,
    pub(super) sold: Vec<Acknowledged>,
}

pub(super) async fn scene(hq: Hq) -> Scene {
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
    barcodes(&hq, chain.tea).await;

    let shop = Shop::open(chain.first.store_id).await;
    let tx = shop.begin().await;
    settings::set(&tx, settings::EPOCH, EPOCH).await.expect("a setting");
    settings::set(&tx, "store_id", &shop.id.to_string()).await.expect("a setting");
    settings::set(&tx, "hq_epoch", "the epoch of headquarters").await.expect("a setting");
    tx.commit().await.expect("a commit");
    shop.pull_everything(&hq, 100).await;

    let drawer = open_drawer(&shop, "drawer", 1).await;
    let mut sold = Vec::new();
    for number in 1..=2 {
        let (id, receipt) = (id(&format!("sale {number}")), format!("S01-01-{number:06}"));
        let mut data = sale(&chain.first, id, &[(chain.tea, number)]);
        data["receiptNumber"] = receipt.clone().into();
        data["registerCode"] = "01".into();
        data["registerSessionId"] = json!(drawer.id);
        data["taxLines"] = json!([]);
        data["saleItems"][0]["tracked"] = true.into();
        sell(&shop, id, &data, chain.tea, number).await;
        sold.push(Acknowledged { store: shop.id, sale: id, receipt, total: Money(1999 * number) });
    }
    close_drawer(&shop, drawer).await;
    customer(&shop).await;
    receive(&shop, chain.tea).await;
    send(&hq, &shop, &chain).await;
    shop.pull_everything(&hq, 100).await;
    shake_hands(&hq, &shop).await;
    Scene { hq, shop, sold }
}

/// The tea has two codes, in the index too.
async fn barcodes(hq: &Hq, tea: Uuid) {
    let (main, further) = ("5012345678900", json!(["012345678905"]));
    hq.edit::<tillkeep_storage::entity::product::Entity>(tea, |row| {
        row.barcode = Some(main.into());
        row.barcodes = JsonText(further.clone());
    })
    .await;
    let tx = hq.db.begin().await.expect("a transaction");
    let codes = [(tea, barcodes::codes(Some(main), &further, &json!([])))].into_iter().collect();
    barcodes::replace(&tx, &codes).await.expect("the index");
    tx.commit().await.expect("a commit");
}

/// Each of the two hears how far the audit log of the other one is.
async fn shake_hands(hq: &Hq, shop: &Shop) {
    let tx = shop.begin().await;
    note(&tx, "login", id("ann")).await;
    settings::set(&tx, settings::TICKET, "the ticket").await.expect("a setting");
    let own = audit::head(&tx).await.expect("a head");
    let there = hq.db.begin().await.expect("a transaction");
    note(&there, "login", id("ann")).await;
    let node = store_node::Model {
        store_id: shop.id,
        node_epoch: EPOCH.into(),
        ticket: "the ticket".into(),
        ..store_node::Model::default()
    };
    nodes::save(&there, node).await.expect("a row");
    heads::note(&there, shop.id, EPOCH, &own, at(0)).await.expect("a head");
    let said =
        OfHq { epoch: "the epoch of headquarters".into(), head: audit::head(&there).await.expect("a head"), at: at(0) };
    heads::keep(&tx, &said, true).await.expect("a head");
    there.commit().await.expect("a commit");
    tx.commit().await.expect("a commit");
}

/// Ten pieces come in at 4.50 each.
async fn receive(shop: &Shop, product: Uuid) {
    let mut row = inventory_adjustment::Model {
        id: id("receipt"),
        store_id: shop.id,
        product_id: product,
        reason: "received".into(),
        quantity_change: Qty::pieces(10),
        quantity_after: Qty::pieces(10),
        unit_cost: Some(Cost(Money(450))),
        business_date: "2026-11-20".into(),
        occurred_at: at(0),
        created_at: at(0),
        updated_at: at(0),
        ..Default::default()
    };
    let mut tx = shop.begin().await;
    let effects = stock::apply(&mut tx, shop.id, vec![movement(&row, None)], at(0)).await.expect("a movement");
    row.average_cost_after = effects.levels[&product].average.map(Cost);
    let data = serde_json::to_value(&row).expect("JSON");
    write(&tx, "inventory_adjustments", &data).await;
    note(&tx, "inventory.adjust", row.id).await;
    enqueue(&tx, "inventory_adjustments", row.id, "create", &data).await;
    tx.commit().await.expect("a commit");
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
        pin_hash: Some(format!("hash of {name}")),
        pin_lookup: Some(format!("lookup of {name}")),
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

/// What was done at headquarters: a user gave the store its token, and resolved what another system had sent.
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
pub(super) fn resolution(entry: Uuid) -> audit::Entry {
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

pub(super) async fn open_drawer(shop: &Shop, name: &str, number: i32) -> register_session::Model {
    let drawer = register_session::Model {
        id: id(name),
        store_id: shop.id,
        register_code: "01".into(),
        session_number: number,
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
    series::raise(&tx, "session:01", number.into()).await.expect("a series");
    note(&tx, "session.open", drawer.id).await;
    enqueue(&tx, "register_sessions", drawer.id, "create", &data).await;
    tx.commit().await.expect("a commit");
    drawer
}

pub(super) async fn sell(shop: &Shop, sale: Uuid, data: &Json, product: Uuid, pieces: i64) {
    let mut tx = shop.begin().await;
    let mut data = data.clone();
    let document = Document::read(&data);
    let register = Register { store_id: shop.id, register_id: Uuid::nil(), register_code: "01", letter: "" };
    let entry = fiscal::next(&tx, &register, ChainKind::Sale, at(0), &document.rows()).await.expect("an entry");
    data["chainEntries"] = json!([entry]);
    let data = &data;
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
    let number = data["receiptNumber"].as_str().and_then(|receipt| receipt.rsplit('-').next()).expect("a receipt");
    series::raise(&tx, "receipt:01", number.parse().expect("a number")).await.expect("a series");
    enqueue(&tx, "sales", sale, "create", data).await;
    tx.commit().await.expect("a commit");
}

/// What was put into the drawer: 5.00, and it was opened once without a sale.
const PAID_IN: i64 = 500;

async fn close_drawer(shop: &Shop, mut drawer: register_session::Model) {
    let total = 3 * 1999;
    let expected = 10_000 + total + PAID_IN;
    let report = report(total, expected);
    drawer.status = "closed".into();
    drawer.closed_at = Some(at(10));
    drawer.updated_at = at(10);
    drawer.expected_cash = Some(Money(expected));
    drawer.counted_cash = Some(Money(expected));
    drawer.cash_variance = Some(Money(0));
    drawer.sale_count = Some(2);
    drawer.running_total = Some(Money(total));
    drawer.no_sale_count = 1;
    drawer.cash_movements = JsonText(json!([
        {"id": id("paid in"), "type": "paid_in", "amount": PAID_IN, "reason": "Change", "userId": id("ann"), "at": at(5)},
        {"id": id("no sale"), "type": "no_sale", "amount": 0, "reason": "Change", "userId": id("ann"), "at": at(5)},
    ]));
    drawer.safe_movements = JsonText(json!([
        {"id": id("deposit"), "type": "deposit", "amount": 900, "reason": null, "userId": id("ann"), "at": at(5)},
    ]));
    (drawer.zz_number, drawer.store_zz_number) = (Some(1), Some(1));
    drawer.totals = Some(JsonText(report.clone()));
    let tx = shop.begin().await;
    let data = serde_json::to_value(&drawer).expect("JSON");
    write(&tx, "register_sessions", &data).await;
    note(&tx, "session.close", drawer.id).await;
    kept_apart(&tx, &drawer, &report).await;
    enqueue(&tx, "register_sessions", drawer.id, "update", &data).await;
    tx.commit().await.expect("a commit");
}

fn report(total: i64, expected: i64) -> Json {
    json!({
        "version": 2,
        "saleCount": 2, "refundCount": 0, "voidCount": 0, "netAmount": total, "taxAmount": 0, "totalAmount": total,
        "cashRounding": 0, "openingFloat": 10_000, "expectedCash": expected, "taxes": [],
        "tenders": [{
            "tenderCode": "CASH", "tenderKind": "cash", "count": 2, "amount": total, "salesAmount": total,
            "refundsAmount": 0,
        }],
        "itemCount": 3, "voidAmount": 0,
        "amounts": {
            "listSales": 0, "specialDiscount": 0, "lineDiscount": 0, "cartDiscount": 0, "netSales": total, "netRefunds": 0,
        },
        "departments": [{"departmentId": null, "name": "", "quantity": 3, "netAmount": total}],
        "cash": {
            "openingFloat": 10_000, "payments": total, "paidIn": PAID_IN, "floatAdd": 0, "paidOut": 0, "drop": 0,
            "expected": expected, "counted": expected, "variance": 0,
        },
        "controls": {"noSaleCount": 1},
        "receipts": [{"series": "01", "first": 1, "last": 2, "count": 2, "lost": []}],
        "runningTotal": {"before": 0, "after": total},
        "flags": [],
    })
}

/// What the store keeps of a drawer in tables of their own, and a cart that waits.
async fn kept_apart(tx: &tillkeep_storage::Tx, drawer: &register_session::Model, report: &Json) {
    let moved = |name: &str, kind: &str, amount: i64| cash_movement::Model {
        id: id(name),
        session_id: drawer.id,
        kind: kind.into(),
        amount: Money(amount),
        reason: "Change".into(),
        user_id: id("ann"),
        at: at(5),
        ..Default::default()
    };
    for row in [moved("paid in", "paid_in", PAID_IN), moved("no sale", "no_sale", 0)] {
        row.into_active_model().insert(tx).await.expect("a movement");
    }
    note(tx, "session.cash_movement", id("paid in")).await;
    note(tx, "session.no_sale", id("no sale")).await;
    let deposit = safe_movement::Model {
        id: id("deposit"),
        kind: "deposit".into(),
        amount: Money(900),
        user_id: id("ann"),
        at: at(5),
        session_id: Some(drawer.id),
        ..Default::default()
    };
    deposit.into_active_model().insert(tx).await.expect("a movement of the safe");
    let zz = |name: &str, register_code: Option<&str>| zz_report::Model {
        id: id(name),
        register_code: register_code.map(str::to_owned),
        zz_number: 1,
        from_session_number: register_code.map(|_| 1),
        to_session_number: register_code.map(|_| 1),
        from_date: "2026-11-20".into(),
        to_date: "2026-11-20".into(),
        totals: JsonText(json!({"rows": [{"sessionId": drawer.id}], "sums": report})),
        ..Default::default()
    };
    for row in [zz("zz of the register", Some("01")), zz("zz of the store", None)] {
        row.into_active_model().insert(tx).await.expect("a report");
    }
    let cart = parked_cart::Model { id: id("cart"), state: "parked".into(), parked_at: at(5), ..Default::default() };
    cart.into_active_model().insert(tx).await.expect("a cart");
}

async fn customer(shop: &Shop) {
    let data = json!({
        "id": id("ada"), "customerNumber": "S01-000001", "firstName": "Ada", "createdAt": at(0), "updatedAt": at(0),
        "isActive": true, "originStoreId": shop.id,
    });
    let tx = shop.begin().await;
    write(&tx, "customers", &data).await;
    series::raise(&tx, "customer", 1).await.expect("a series");
    enqueue(&tx, "customers", id("ada"), "create", &data).await;
    tx.commit().await.expect("a commit");
}

/// Sends until nothing waits, as the sender does.
pub(super) async fn send(hq: &Hq, shop: &Shop, chain: &Chain) {
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
pub(super) async fn after(scene: &Scene, side: Side, damage: &[&str]) -> Vec<Finding> {
    after_at(scene, &[side], damage).await
}

/// As [`after`], of the same damage at each of these sides.
pub(super) async fn after_at(scene: &Scene, sides: &[Side], damage: &[&str]) -> Vec<Finding> {
    after_by(scene, sides, damage, FEW).await
}

/// Rows of a page, so that what is in a small scene is in several.
const FEW: usize = 2;

/// As [`after_at`], of a checker that reads by pages of so many rows.
pub(super) async fn after_by(scene: &Scene, sides: &[Side], damage: &[&str], rows: usize) -> Vec<Finding> {
    let mut sources = Vec::new();
    for (url, of) in [(scene.hq.url(), Side::Hq), (scene.shop.url(), Side::Store)] {
        let conn = match url.strip_prefix("sqlite://") {
            Some(path) => Db::open_alone(Path::new(path)),
            None => Database::connect(url.as_str()).await.map(Connection::from),
        };
        let conn = conn.expect("a connection").begin_to_write().await.expect("a transaction");
        for sql in damage.iter().filter(|_| sides.contains(&of)) {
            // The one thing that the two databases say otherwise.
            let dropped = sql.starts_with("DROP TRIGGER") && url.starts_with("postgres");
            let sql = if dropped { "DROP TRIGGER audit_log_is_append_only ON audit_log" } else { sql };
            conn.execute_unprepared(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        sources.push(Source::within(conn, of).await.expect("a source").by_pages_of(rows));
    }
    let options = Options {
        settled: true,
        acknowledged: scene.sold.clone(),
        now: Some(at(3600)),
        // Here a store verifies PINs as headquarters does.
        verifiers: Some(Verifiers::new(|_, hash| Some((hash.to_owned(), hash.replace("hash", "lookup"))))),
        ..Options::default()
    };
    let shop = sources.remove(1);
    verify::run(sources.first(), &[shop], &options).await.expect("a verdict")
}
