//! Sales that headquarters refused and that were resolved without applying them. `docs/sync.md`, rule U12.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, nodes};
use uuid::Uuid;

use super::kit::{Kit, Person, id_of};

struct Site {
    kit: Kit,
    admin: Person,
    store: Uuid,
    token: String,
    customer: Uuid,
    drawer: Uuid,
    sale: Uuid,
}

impl Site {
    async fn new() -> Self {
        let kit = Kit::new().await;
        let admin = kit.admin().await;
        let store = kit.store("S01").await;
        let token = kit.sync_token(store);
        let [customer, drawer, sale] = std::array::from_fn(|_| Uuid::now_v7());
        let site = Self { kit, admin, store, token, customer, drawer, sale };
        let ada = json!({"id": customer, "customerNumber": "S01-000001", "firstName": "Ada"});
        assert_eq!(site.push(1, "customers", customer, "create", ada).await["status"], "ok");
        let opened = json!({"id": drawer, "registerCode": "01", "sessionNumber": 1, "status": "open",
                            "businessDate": "2026-11-20"});
        assert_eq!(site.push(2, "register_sessions", drawer, "create", opened).await["status"], "ok");
        site
    }

    async fn push(&self, seq: i64, name: &str, id: Uuid, action: &str, data: Json) -> Json {
        let envelope = json!({
            "store_id": self.store, "entity_type": name, "entity_id": id, "action": action, "data": data,
            "timestamp": format!("2026-11-20T12:00:{seq:02}Z"), "seq": seq, "node_epoch": "here",
        });
        self.kit.push(&self.token, &[envelope]).await[0].clone()
    }

    /// A sale of 9.00 on account.
    fn sold(&self) -> Json {
        json!({
            "id": self.sale, "receiptNumber": "S01-01-000001", "registerCode": "01", "registerSessionId": self.drawer,
            "customerId": self.customer, "saleType": "sale", "status": "completed", "businessDate": "2026-11-20",
            "netAmount": 900, "taxAmount": 0, "totalAmount": 900,
            "saleItems": [{"lineNo": 1, "quantity": 1, "netAmount": 900, "totalAmount": 900}],
            "salePayments": [{"lineNo": 1, "tenderKind": "on_account", "tenderCode": "ACC", "amount": 900,
                              "status": "captured"}],
        })
    }

    /// Has one refused that cannot be read, and resolves it.
    async fn resolve(&self) {
        let mut unreadable = self.sold();
        unreadable["totalAmount"] = json!("nine");
        unreadable["saleItems"][0]["quantity"] = json!(["one"]);
        let result = self.push(3, "sales", self.sale, "create", unreadable).await;
        assert_eq!((&result["status"], &result["code"]), (&json!("error"), &json!("bad_data")), "{result}");
        let failed = self.kit.get(&self.admin, "/sync/errors").await.data();
        let path = format!("/sync/resolve/{}", id_of(&failed[0]));
        self.kit.post(&self.admin, &path, json!({})).await.is(200);
        self.kit.post(&self.admin, &path, json!({})).await.is(409);
    }

    async fn balance(&self) -> Json {
        let path = format!("/customers/{}", self.customer);
        self.kit.get(&self.admin, &path).await.data()["accountBalance"].clone()
    }

    async fn named_by_the_drawer(&self) -> Json {
        let path = format!("/register-sessions/{}", self.drawer);
        self.kit.get(&self.admin, &path).await.data()["notAtHeadquarters"].clone()
    }

    /// What the checker says of accounts, and what it names.
    async fn verified(&self) -> (Vec<String>, Vec<String>) {
        let source = Source::new(self.kit.hq.db().reader(), Side::Hq).await.expect("a source");
        let findings = verify::run(Some(&source), &[], &Options::default()).await.expect("a verdict");
        let of_accounts = findings.into_iter().filter(|finding| finding.entity == "customers");
        let named = source.not_at_headquarters().await.expect("the documents");
        (of_accounts.map(|finding| finding.to_string()).collect(), named)
    }
}

#[tokio::test]
async fn a_sale_on_account_that_was_resolved_is_owed_at_headquarters_and_by_its_drawer_named() {
    let site = Site::new().await;
    assert_eq!((site.balance().await, site.named_by_the_drawer().await), (json!(0), json!([])));
    site.resolve().await;
    assert_eq!(site.balance().await, 900);
    assert_eq!(site.named_by_the_drawer().await, json!([{"id": site.sale, "receiptNumber": "S01-01-000001"}]));
    let (findings, named) = site.verified().await;
    assert_eq!(findings, Vec::<String>::new());
    assert!(named.len() == 1 && named[0].contains(&site.sale.to_string()), "{named:?}");
    let tx = site.kit.hq.db().begin().await.expect("a transaction");
    let settled = nodes::to_acknowledge(&tx, site.store, "ticket").await.expect("what is settled");
    let settled: Vec<_> = settled
        .into_iter()
        .map(|settled| (settled.acknowledged.at_headquarters, settled.acknowledged.charged))
        .collect();
    assert_eq!(settled, [(Some(false), true)]);
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn what_a_resolved_sale_put_on_an_account_moves_once_when_it_comes_after_all() {
    let site = Site::new().await;
    site.resolve().await;
    let result = site.push(4, "sales", site.sale, "update", site.sold()).await;
    assert_eq!((&result["status"], &result["applied"]), (&json!("ok"), &json!("inserted")), "{result}");
    assert_eq!((site.balance().await, site.named_by_the_drawer().await), (json!(900), json!([])));
    assert_eq!(site.verified().await, (Vec::new(), Vec::new()));
    let mut void = site.sold();
    void["status"] = json!("voided");
    site.push(5, "sales", site.sale, "void", void).await;
    assert_eq!(site.balance().await, 0);
    assert_eq!(site.verified().await, (Vec::new(), Vec::new()));
}
