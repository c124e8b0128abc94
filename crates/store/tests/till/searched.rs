//! In a store that closes blind no answer to a cashier tells what should be in the drawer: every `GET` of the route table and what
//! is answered to every act is searched for it, on a day whose amounts make chance hits impossible.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use tillkeep_model::{Money, ids};
use tillkeep_storage::entity::{
    audit_log, print_job, product, register_session, role, role_permission, sale, sale_payment, store_product,
};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::kit::{Person, Shop, id, people, rows};

/// What a cashier may be given besides selling, with everything that shows lists.
const CODES: [&str; 11] = [
    "pos.sell",
    "pos.discount",
    "pos.park_cart",
    "pos.refund",
    "reports.x_report",
    "inventory.view",
    "registers.view",
    "customers.view",
    "products.view",
    "stores.view",
    "tenders.view",
];
/// Minor units, none of which is the sum or the difference of others.
const GOODS: [(&str, i64); 8] = [
    ("BOAT", 1_048_583),
    ("CAR", 2_097_169),
    ("DESK", 786_437),
    ("ENGINE", 3_145_743),
    ("FORK", 5_242_919),
    ("GRILL", 1_572_871),
    ("HARP", 6_291_469),
    ("ICE", 393_241),
];
const FLOAT: i64 = 777_731;
/// What a count lacks: far beyond the limit.
const SHORT: i64 = 123_457;

/// Answers, by what was asked.
type Answers = Vec<(String, String)>;
/// What must not be told, by its name.
type Secrets = Vec<(&'static str, i64)>;

/// The amounts in a text: with and without a point or a comma in them, whatever their sign. Ids, hashes and moments have none.
fn of_text(text: &str) -> BTreeSet<i64> {
    let is_of_word =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ',' | '-' | ':' | '\u{a0}');
    let words = text.split(|letter: char| !is_of_word(letter));
    let amount = |word: &str| {
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        let is_amount = word.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '\u{a0}'));
        digits.parse::<i64>().ok().filter(|_| is_amount && digits.len() < 16)
    };
    words.filter_map(|word| amount(word.trim_matches(['.', ',', ':', '-']))).collect()
}

/// The numbers in JSON, and in the texts of it.
fn of_json(json: &Json, into: &mut BTreeSet<i64>) {
    match json {
        Json::Number(number) => into.extend(number.as_i64().map(i64::abs)),
        Json::String(text) => into.extend(of_text(text)),
        Json::Array(list) => list.iter().for_each(|each| of_json(each, into)),
        Json::Object(entries) => entries.values().for_each(|each| of_json(each, into)),
        Json::Null | Json::Bool(_) => {}
    }
}

fn numbers(answer: &str) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    if let Ok(json) = serde_json::from_str(answer) {
        of_json(&json, &mut found);
        return found;
    }
    // A paper, or events with a line of JSON each.
    for line in answer.lines() {
        if let Ok(json) = serde_json::from_str(line.trim_start_matches("data:")) {
            of_json(&json, &mut found);
        } else {
            found.extend(of_text(line));
        }
    }
    found
}

/// The secret that `answer` tells: as a number, or as the sum or the difference of two.
fn told(answer: &str, secrets: &[(&'static str, i64)]) -> Option<String> {
    let numbers = numbers(answer);
    secrets.iter().find_map(|(name, secret)| {
        let secret = secret.abs();
        if numbers.contains(&secret) {
            return Some(format!("{name}, {secret}"));
        }
        let parts = numbers.iter().filter(|number| **number != 0);
        let mut pairs = parts.filter(|one| {
            let is_sum = **one < secret && secret - **one != **one && numbers.contains(&(secret - **one));
            let is_difference = one.checked_add(secret).is_some_and(|other| numbers.contains(&other));
            is_sum || is_difference
        });
        pairs.next().map(|one| format!("{name}, {secret}, of {one} and another number"))
    })
}

#[test]
fn a_leak_is_found_as_a_number_in_a_text_as_a_sum_and_as_a_difference() {
    let secrets = [("the cash", 9_123_457)];
    let leaks = [
        json!({"expectedCash": 9_123_457}).to_string(),
        json!({"a": [{"b": -9_123_457}]}).to_string(),
        json!({"error": "the cash differs: there should be 91,234.57 USD"}).to_string(),
        json!({"error": "there should be 9123457 minor units."}).to_string(),
        json!({"float": 20_000, "rows": [{"sold": 9_103_457}]}).to_string(),
        json!({"total": 9_999_999, "card": 876_542}).to_string(),
        "Expected cash          91'234.57\nTOTAL 91,234.57".to_owned(),
        "event: drawer\ndata: {\"expectedCash\":9123457}\n\n".to_owned(),
    ];
    for leak in leaks {
        assert!(told(&leak, &secrets).is_some(), "{leak}");
    }
    let innocent = [
        json!({"totalAmount": 9_123_456, "id": "019a9123-4570-7123-8457-912345700000"}),
        json!({"at": "2026-11-20T14:09:12.345Z", "hash": "9123457a"}),
        json!({"a": 4_561_728, "b": 3}),
    ];
    for answer in innocent {
        assert_eq!(told(&answer.to_string(), &secrets), None, "{answer}");
    }
}

/// A store with a drawer that a cashier sells from, and what was answered so far.
struct Scene {
    shop: Shop,
    cashier: Person,
    manager: Person,
    pin: String,
    session: Uuid,
    sales: Vec<Json>,
    parked: Vec<Json>,
    answers: Answers,
}

impl Scene {
    async fn set() -> Self {
        let shop = Shop::open_with(|own| {
            own.blind_close = true;
            own.default_float = Money(FLOAT);
            own.cash_rounding_increment = 5;
            own.allow_unlinked_refunds = true;
        })
        .await;
        goods(&shop).await;
        shop.insert::<role::Entity>([role::Model {
            id: ids::role("trusted_cashier"),
            code: "trusted_cashier".into(),
            name: "Trusted cashier".into(),
            ..role::Model::default()
        }])
        .await;
        let grants = CODES.map(|code| role_permission::Model {
            role_id: ids::role("trusted_cashier"),
            permission_id: ids::permission(code),
        });
        shop.insert::<role_permission::Entity>(grants).await;
        let cashier = shop.sign_in("trusted_cashier").await;
        let known = people::person(&shop, "administrator").await;
        let manager = shop.sign_in_with(&known, "T1").await;
        let opened = cashier.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
        let session = opened["id"].as_str().expect("an id").parse().expect("a UUID");
        let (sales, parked, answers) = (Vec::new(), Vec::new(), Vec::new());
        Self { shop, cashier, manager, pin: known.1, session, sales, parked, answers }
    }

    /// What the cashier asks for is kept, and must have this status.
    async fn ask(&mut self, status: u16, path: &str, body: Json) -> Json {
        let (got, text) = self.cashier.raw("POST", path, Some(&body)).await;
        assert_eq!(got, status, "{path}: {text}");
        self.answers.push((format!("POST {path}"), text.clone()));
        serde_json::from_str::<Json>(&text).map(|body| body["data"].clone()).unwrap_or_default()
    }

    async fn sell(&mut self, goods: &[&str], payments: Json) -> Json {
        let lines: Json = goods.iter().map(|name| json!({"productId": id(name), "quantity": 1})).collect();
        let body = json!({"id": Uuid::now_v7(), "terminalId": "T1", "lines": lines, "payments": payments,
                          "customerId": id("HQ-000001")});
        let sold = self.ask(201, "/pos/sales", body).await;
        self.sales.push(sold.clone());
        sold
    }

    async fn token(&mut self, permission: &str, context: Json) -> Json {
        let body = json!({"permission": permission, "pin": self.pin, "reason": "I stand beside", "context": context});
        self.ask(201, "/pos/approvals", body).await["token"].clone()
    }

    /// Cash, cards, a check and an account; change; what comes back, is undone and exchanged.
    async fn sells(&mut self) {
        let cash = || json!([{"tenderId": id("CASH")}]);
        let by_card = || json!([{"tenderId": id("CARD")}]);
        let first = self.sell(&["BOAT"], cash()).await;
        self.sell(&["CAR", "ICE"], by_card()).await;
        let second = self.sell(&["DESK"], json!([{"tenderId": id("CASH"), "tenderedAmount": 1_000_000}])).await;
        self.sell(&["ENGINE"], by_card()).await;
        self.sell(&["FORK", "ICE"], cash()).await;
        self.sell(&["GRILL"], json!([{"tenderId": id("CARD"), "tenderedAmount": 700_003}, {"tenderId": id("CASH")}]))
            .await;
        self.sell(&["HARP"], by_card()).await;
        let undone = self.sell(&["CAR"], cash()).await;
        self.sell(&["ENGINE", "DESK"], json!([{"tenderId": id("CHECK")}])).await;
        self.sell(&["HARP", "BOAT"], cash()).await;
        let path = |sale: &Json, what: &str| format!("/pos/sales/{}/{what}", sale["id"].as_str().expect("an id"));
        let back = |sale: &Json| json!([{"saleItemId": sale["saleItems"][0]["id"], "quantity": 1}]);
        let refund = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": back(&first), "reason": "it leaks"});
        let refunded = self.ask(201, &path(&first, "refunds"), refund).await;
        self.sales.push(refunded);
        let token = self.token("pos.void", json!({"saleId": undone["id"]})).await;
        let void = json!({"terminalId": "T1", "reason": "the wrong car", "approvals": [token]});
        self.ask(200, &path(&undone, "void"), void).await;
        let exchange = json!({
            "terminalId": "T1", "payments": cash(),
            "refund": {"id": Uuid::now_v7(), "saleId": second["id"], "items": back(&second), "reason": "too low"},
            "sale": {"id": Uuid::now_v7(), "lines": [{"productId": id("GRILL"), "quantity": 1}]},
        });
        self.ask(201, "/pos/exchanges", exchange).await;
        let wanted =
            json!({"terminalId": "T1", "lines": [{"productId": id("CAR"), "quantity": 2}], "payments": cash()});
        self.ask(200, "/pos/quote", wanted.clone()).await;
        let mut aside = json!({"id": Uuid::now_v7(), "label": "the tall man"});
        aside["cart"] = json!({"terminalId": "T1", "lines": wanted["lines"]});
        let parked = self.ask(201, "/pos/parked-carts", aside).await;
        self.parked.push(parked);
    }

    /// Money in and out, of the cashier and of a manager.
    async fn moves(&mut self) {
        let path = self.of_drawer("cash-movements");
        let movement = |kind: &str, amount: i64| json!({"id": Uuid::now_v7(), "type": kind, "amount": amount, "reason": "as said"});
        self.ask(201, &path, movement("paid_in", 31_337)).await;
        self.ask(201, &path, movement("paid_out", 20_011)).await;
        let no_sale = format!("/registers/{}/no-sale", id("register 01"));
        let asked = json!({"id": Uuid::now_v7(), "reason": "change for a customer"});
        self.ask(204, &no_sale, asked).await;
        self.manager.post(&path, movement("drop", 2_000_003)).await.ok(201);
        self.manager.post(&path, movement("float_add", 40_009)).await.ok(201);
        let deposit = json!({"id": Uuid::now_v7(), "type": "deposit", "amount": 1_999_993, "slipNumber": "B-17"});
        self.manager.post("/safe/movements", deposit.clone()).await.ok(201);
        self.ask(403, "/safe/movements", deposit).await;
    }

    /// What must not be told now, reckoned from the rows and without the code of reports.
    async fn secrets(&self) -> Secrets {
        let reader = self.shop.store.test_db().reader();
        let of_drawer = sale::Column::RegisterSessionId.eq(self.session);
        let sales = sale::Entity::find().filter(of_drawer).filter(sale::Column::Status.ne("voided"));
        let sales: Vec<Uuid> = sales.all(reader).await.expect("the sales").into_iter().map(|sale| sale.id).collect();
        let paid = sale_payment::Entity::find().filter(sale_payment::Column::SaleId.is_in(sales));
        let paid = paid.all(reader).await.expect("the payments");
        let of_kind =
            |kind: &str| paid.iter().filter(|row| row.tender_kind == kind).map(|row| row.amount.0).sum::<i64>();
        let (cash, card) = (of_kind("cash"), of_kind("card"));
        let taken: i64 =
            paid.iter().filter(|row| row.tender_kind == "cash" && row.amount.0 > 0).map(|row| row.amount.0).sum();
        let expected = FLOAT + cash + 31_337 - 20_011 - 2_000_003 + 40_009;
        vec![
            ("the cash that should be there", expected),
            ("the sum of the cash", cash),
            ("the sum of cash that was taken", taken),
            ("the float and the cash", FLOAT + cash),
            ("what should be there besides the float", expected - FLOAT),
            ("the sum of the cards", card),
            ("what the count lacks", SHORT),
        ]
    }

    /// The paths of a `GET` for everything that this day has of it.
    fn paths(&self, route: &str) -> Vec<String> {
        let text = |row: &Json, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let ids: Vec<String> = match route.split('/').nth(1).unwrap_or_default() {
            "pos" if route.starts_with("/pos/parked-carts") => self.parked.iter().map(|row| text(row, "id")).collect(),
            "pos" => self.sales.iter().map(|row| text(row, "id")).collect(),
            "registers" => vec![id("register 01").to_string()],
            "register-sessions" | "reports" => vec![self.session.to_string()],
            "customers" => vec![id("HQ-000001").to_string()],
            "stores" => vec![self.shop.store.id.to_string()],
            "tenders" => vec![id("CASH").to_string()],
            _ => vec![id("BOAT").to_string()],
        };
        let of_all =
            |name: &str, values: &[String]| values.iter().map(|value| route.replace(name, value)).collect::<Vec<_>>();
        let numbers: Vec<String> = self.sales.iter().map(|row| text(row, "receiptNumber")).collect();
        if route.contains("{receiptNumber}") {
            return of_all("{receiptNumber}", &numbers);
        }
        for name in ["{id}", "{productId}", "{sessionId}"] {
            if route.contains(name) {
                let mut all = of_all(name, &ids);
                if route.ends_with("/receipt") {
                    all.extend(of_all(name, &ids).into_iter().map(|path| format!("{path}?format=text")));
                }
                return all;
            }
        }
        let further: &[&str] = match route {
            "/pos/parked-carts" => &["?state=resumed", "?state=abandoned"],
            "/reports/x" => &["?format=text"],
            _ => &[],
        };
        let plain = route.replace("{code}", "BOAT");
        further.iter().map(|query| format!("{plain}{query}")).chain([plain.clone()]).collect()
    }

    /// Reads everything that there is to read.
    async fn reads(&mut self) -> BTreeSet<String> {
        let (_, table) = tillkeep_store::routes::table(&[]);
        let mut read = BTreeSet::new();
        for route in table.iter().filter(|route| route.method == "GET") {
            for path in self.paths(route.path) {
                let (status, text) = self.cashier.raw("GET", &path, None).await;
                assert_ne!(status, 500, "{path}: {text}");
                if status == 200 {
                    assert!(!text.is_empty(), "{path} says nothing");
                    read.insert(route.path.to_owned());
                }
                self.answers.push((format!("GET {path}"), text));
            }
        }
        read
    }

    /// Nothing that was answered tells what must not be told now.
    async fn nothing_is_told(&self) {
        let secrets = self.secrets().await;
        let leaks =
            self.answers.iter().filter_map(|(what, text)| Some(format!("{what}: {}\n{text}", told(text, &secrets)?)));
        assert_eq!(leaks.collect::<Vec<_>>(), Vec::<String>::new());
    }

    async fn expected(&self) -> i64 {
        self.secrets().await[0].1
    }

    /// Counts too little, sells on, counts again, and is refused to close it.
    async fn counts(&mut self) {
        let (count, close) = (self.of_drawer("count"), self.of_drawer("close"));
        let counted = self.expected().await - SHORT;
        let counts = json!({"counts": [{"tenderId": id("CASH"), "amount": counted}]});
        self.ask(200, &count, counts.clone()).await;
        self.reads().await;
        self.ask(200, &count, json!({"reopen": true})).await;
        self.ask(200, &count, counts).await;
        self.ask(403, &close, json!({"acceptParked": true})).await;
        let any = self.token("registers.close", json!({"sessionId": self.session})).await;
        self.ask(403, &close, json!({"acceptParked": true, "approvals": [any]})).await;
    }

    /// With an approval of somebody who knows by how much it differs.
    async fn closes(&mut self) {
        let close = self.of_drawer("close");
        let token = self.token("registers.close", json!({"sessionId": self.session, "cashVariance": -SHORT})).await;
        let closed = self.ask(200, &close, json!({"acceptParked": true, "approvals": [token]})).await;
        assert_eq!(closed["status"], "closed");
    }

    fn of_drawer(&self, what: &str) -> String {
        format!("/register-sessions/{}/{what}", self.session)
    }
}

async fn goods(shop: &Shop) {
    let all: Vec<product::Model> = GOODS.iter().map(|(name, price)| rows::product(name, *price, "FREE")).collect();
    shop.insert::<store_product::Entity>(all.iter().map(rows::stock_row)).await;
    shop.insert::<product::Entity>(all).await;
}

/// What must have been read for this to say anything.
const READ: [&str; 18] = [
    "/pos/bootstrap",
    "/pos/sales",
    "/pos/sales/{id}",
    "/pos/sales/{id}/receipt",
    "/pos/sales/{id}/refundable",
    "/pos/sales/by-receipt/{receiptNumber}",
    "/pos/prints",
    "/pos/parked-carts",
    "/pos/events",
    "/pos/catalogue",
    "/registers",
    "/register-sessions",
    "/register-sessions/{id}",
    "/register-sessions/current",
    "/reports/x",
    "/customers/{id}/sales",
    "/sync/outbox",
    "/sync/status",
];

#[tokio::test]
async fn no_answer_to_a_cashier_tells_the_cash_nor_two_figures_that_it_is_the_sum_or_difference_of() {
    let mut scene = Scene::set().await;
    scene.sells().await;
    scene.moves().await;
    let read = scene.reads().await;
    let unread: Vec<&str> = READ.into_iter().filter(|route| !read.contains(*route)).collect();
    assert!(unread.is_empty(), "{unread:?} are none of those that were answered: {read:?}");
    scene.nothing_is_told().await;
    scene.counts().await;
    scene.reads().await;
    scene.nothing_is_told().await;
    scene.closes().await;
    scene.reads().await;
    scene.nothing_is_told().await;
    // What was looked for is what should have been there.
    let row = register_session::Entity::find_by_id(scene.session).one(scene.shop.store.test_db().reader()).await;
    let row = row.expect("a read").expect("the drawer");
    assert_eq!((row.expected_cash, row.cash_variance), (Some(Money(scene.expected().await)), Some(Money(-SHORT))));
}

#[tokio::test]
async fn a_list_of_a_blind_store_has_totals_and_no_payments_and_of_another_one_both() {
    for blind in [true, false] {
        let shop = Shop::open_with(|own| {
            own.blind_close = blind;
            own.cash_rounding_increment = 5;
        })
        .await;
        let manager = shop.selling().await;
        let cashier = shop.sign_in("cashier").await;
        let payment = json!([{"tenderId": id("CASH"), "tenderedAmount": 5000}]);
        let sold =
            cashier.post("/pos/sales", crate::kit::cart(json!([crate::kit::line("TEA", 1)]), payment)).await.ok(201);
        assert_eq!(
            (&sold["cashRounding"], &sold["changeAmount"]),
            (&json!(-1), &json!(2825)),
            "one's own sale is whole"
        );
        let listed = cashier.get("/pos/sales").await.ok(200)[0].clone();
        assert_eq!(listed["totalAmount"], 2176);
        let told = ["cashRounding", "changeAmount"].map(|key| listed.get(key).is_some());
        assert_eq!(told, [!blind; 2], "{listed}");
        let known = manager.get("/pos/sales").await.ok(200)[0].clone();
        assert_eq!((&known["cashRounding"], &known["changeAmount"]), (&json!(-1), &json!(2825)));
        for column in ["cashRounding", "changeAmount"] {
            assert_eq!(cashier.get(&format!("/pos/sales?sort={column}")).await.status, 422, "no order tells it either");
            assert_eq!(cashier.get(&format!("/pos/sales?{column}=-1")).await.status, 422);
        }
    }
}

#[tokio::test]
async fn the_z_of_a_blind_store_comes_out_by_itself_only_where_whoever_closed_may_know_it() {
    let shop = Shop::that_rests().await;
    let known = people::person(&shop, "administrator").await;
    let manager = shop.sign_in_with(&known, "T1").await;
    let printer = json!({
        "address": "127.0.0.1:9", "width": 42, "codePage": "PC437", "opensDrawer": true, "automatic": true,
    });
    manager.patch(&format!("/registers/{}", id("register 01")), json!({"printer": printer})).await.ok(200);
    let cashier = shop.sign_in("cashier").await;
    for (person, printed) in [(&cashier, 0), (&manager, 1)] {
        let session = person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
        let asked = json!({
            "permission": "registers.close", "pin": known.1, "reason": "end of day", "context": {"sessionId": session["id"]},
        });
        let mut close = json!({"counts": [{"tenderId": id("CASH"), "amount": 20_000}]});
        if printed == 0 {
            let token = person.post("/pos/approvals", asked).await.ok(201)["token"].clone();
            close["approvals"] = json!([token]);
        }
        let path = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
        person.post(&path, close).await.ok(200);
        let jobs = print_job::Entity::find().filter(print_job::Column::Kind.eq("z"));
        assert_eq!(jobs.all(shop.store.test_db().reader()).await.expect("the papers").len(), printed);
    }
}

/// The sales that were opened, by the audit log.
async fn opened(shop: &Shop) -> Vec<String> {
    let rows = audit_log::Entity::find().order_by_asc(audit_log::Column::Seq);
    let rows = rows.all(shop.store.test_db().reader()).await.expect("the audit log");
    let opened = rows.into_iter().filter(|row| row.action == "sale.opened");
    opened.filter_map(|row| row.details.0["receiptNumber"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn each_sale_that_a_cashier_of_a_blind_store_opens_is_counted_but_for_the_one_just_made() {
    let shop = Shop::open().await;
    let manager = shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    let bread = || json!([crate::kit::line("BREAD", 1)]);
    let own = cashier.sell(bread()).await.ok(201);
    let others = manager.sell(bread()).await.ok(201);
    let text = |sale: &Json, key: &str| sale[key].as_str().expect("a text").to_owned();
    let path = |sale: &Json| format!("/pos/sales/{}", text(sale, "id"));
    for what in ["", "/receipt", "/receipt?format=text"] {
        assert_eq!(cashier.raw("GET", &format!("{}{what}", path(&own)), None).await.0, 200);
    }
    assert_eq!(opened(&shop).await, Vec::<String>::new(), "the till shows and prints what it has just sold");
    for what in ["", "/receipt", "/receipt?format=text"] {
        assert_eq!(cashier.raw("GET", &format!("{}{what}", path(&others)), None).await.0, 200);
    }
    cashier.get(&format!("/pos/sales/by-receipt/{}", text(&others, "receiptNumber"))).await.ok(200);
    let number = text(&others, "receiptNumber");
    assert_eq!(opened(&shop).await, vec![number.clone(); 4], "one line each time");
    // A gift receipt has no amounts.
    assert_eq!(cashier.raw("GET", &format!("{}/receipt?kind=gift", path(&others)), None).await.0, 200);
    // Whoever may close knows anyway; lists are no opening.
    manager.get(&path(&own)).await.ok(200);
    cashier.get("/pos/sales").await.ok(200);
    assert_eq!(opened(&shop).await.len(), 4);
    shop.clock.advance(6 * 60 * 1000);
    cashier.get(&path(&own)).await.ok(200);
    assert_eq!(opened(&shop).await.last(), Some(&text(&own, "receiptNumber")));
    let sees = Shop::open_with(|own| own.blind_close = false).await;
    let sold = sees.selling().await.sell(bread()).await.ok(201);
    sees.sign_in("cashier").await.get(&path(&sold)).await.ok(200);
    assert_eq!(opened(&sees).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_cashier_of_a_blind_store_who_names_a_buyer_has_opened_the_sale_however_often() {
    let shop = Shop::open().await;
    let manager = shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    let sold = manager.sell(json!([crate::kit::line("BREAD", 1)])).await.ok(201);
    let path = format!("/pos/sales/{}/buyer", sold["id"].as_str().expect("an id"));
    for times in 1..=2 {
        let named = cashier.post(&path, json!({"name": "Ada Ltd"})).await.ok(200);
        assert!(named["salePayments"].is_array(), "{named}");
        assert_eq!(opened(&shop).await.len(), times);
    }
}
