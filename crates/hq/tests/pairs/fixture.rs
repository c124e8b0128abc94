//! One small chain for each try, under names of its own, and what the database has of it in the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Cost, Instant, JsonText, Money, Ppm};
use tillkeep_storage::entity::{
    customer, department, product, product_barcode, product_special, reason, role, role_permission, sales_rep, store,
    store_product, tax_group, tax_group_rate, tax_rate, tender, user, user_store_role,
};
use tillkeep_storage::raw::sea_orm::{ActiveModelBehavior, ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_storage::registry::{self, fold};
use tillkeep_storage::{Tx, barcodes, raw};
use uuid::Uuid;

use crate::backoffice::kit::{Kit, Person};

/// Rows of one kind by their names.
macro_rules! rows {
    ($of:ident $tx:ident $now:ident, $module:ident: $($name:literal { $($field:ident: $value:expr),* $(,)? }),* $(,)?) => {
        $( add($tx, $module::Model {
            id: $of.id($name), created_at: $now, updated_at: $now, $($field: $value,)* ..$module::Model::default()
        }).await; )*
    };
}

/// Where the rows of a chain are found: the table, and the column that names one of its rows.
const TABLES: &[(&str, &str)] = &[
    ("departments", "id"),
    ("tax_rates", "id"),
    ("tax_groups", "id"),
    ("tax_group_rates", "tax_group_id"),
    ("products", "id"),
    ("product_barcodes", "product_id"),
    ("store_product_dynamic", "store_id"),
    ("customers", "id"),
    ("roles", "id"),
    ("role_permissions", "role_id"),
    ("users", "id"),
    ("user_store_roles", "user_id"),
    ("stores", "id"),
    ("tenders", "id"),
    ("product_specials", "id"),
    ("sales_reps", "id"),
    ("reasons", "id"),
    ("sales", "id"),
    ("sale_items", "sale_id"),
    ("sale_payments", "sale_id"),
    ("chain_entries", "sale_id"),
    ("sale_chains", "chain_id"),
    ("register_sessions", "id"),
    ("inventory_adjustments", "id"),
    ("stock_movements", "store_id"),
    ("purchase_orders", "id"),
    ("purchase_order_items", "id"),
    ("transfers", "id"),
    ("transfer_items", "transfer_id"),
    ("sync_log", "store_id"),
];

/// What differs by nature between two tries that came to the same.
const BY_NATURE: &[&str] = &["sync_version", "customer_number", "search_text", "envelope", "hash", "retry_count"];

/// Every name that a writer may use.
pub const NAMES: &[&str] = &[
    "food",
    "drinks",
    "bread",
    "state",
    "city",
    "county",
    "luxury",
    "standard",
    "reduced",
    "special",
    "tea",
    "cake",
    "milk",
    "gone",
    "ada",
    "bob",
    "buyer",
    "seller",
    "clerk",
    "uma",
    "ute",
    "shop",
    "card",
    "voucher",
    "deposit",
    "offer",
    "second offer",
    "rita",
    "rob",
    "market",
    "fair",
    "assignment",
    "sale",
    "second sale",
    "line",
    "second line",
    "payment",
    "second payment",
    "drawer",
    "count",
    "order",
    "position",
    "transfer",
    "new shop",
    "orphan",
];

pub struct Fixture {
    number: usize,
    pub admin: Person,
    pub machine: Person,
    /// The entry that failed.
    pub failed: Uuid,
}

impl Fixture {
    pub fn id(&self, name: &str) -> Uuid {
        assert!(NAMES.contains(&name), "{name} is not in the list of names");
        Uuid::new_v5(&Uuid::nil(), format!("{} {name}", self.number).as_bytes())
    }

    /// A text that no other chain has.
    pub fn text(&self, name: &str) -> String {
        format!("{}{name}", self.tag())
    }

    fn tag(&self) -> String {
        format!("F{:06}X", self.number)
    }

    pub async fn make(kit: &Kit, admin: &Person, number: usize) -> Self {
        let now = kit.clock.now();
        let mut made = Self { number, admin: admin.clone(), machine: admin.clone(), failed: Uuid::nil() };
        let mut tx = kit.hq.db().begin().await.expect("begin");
        made.rows(&mut tx, now).await;
        kit.hq.commit(tx).await.expect("commit");
        made.machine = Person { id: made.id("shop"), token: kit.sync_token(made.id("shop")) };
        let orphan = made.envelope(
            "purchase_order_items",
            "orphan",
            "create",
            json!({"purchaseOrderId": made.id("order"), "orderedQuantity": 1}),
        );
        kit.post(&made.machine, "/sync/push", json!({"envelopes": [orphan]})).await.is(200);
        let sql = "SELECT id FROM sync_log WHERE store_id = $1 AND status = 'failed'";
        let found = raw::query(kit.hq.db().reader(), sql, [made.id("shop").into()]).await.expect("a read");
        made.failed = found[0].try_get("", "id").expect("an id");
        made
    }

    pub fn envelope(&self, entity_type: &str, name: &str, action: &str, mut data: Json) -> Json {
        let shop = self.id("shop");
        data["id"] = json!(self.id(name));
        data["storeId"] = json!(shop);
        data["createdAt"] = json!("2026-11-20T12:00:00Z");
        json!({
            "store_id": shop, "entity_type": entity_type, "entity_id": self.id(name), "action": action, "data": data,
            "timestamp": "2026-11-20T12:00:00Z",
        })
    }

    async fn rows(&self, tx: &mut Tx, now: Instant) {
        self.taxes(tx, now).await;
        self.goods(tx, now).await;
        self.people(tx, now).await;
        for name in [
            "departments",
            "tax_rates",
            "tax_groups",
            "tax_group_rates",
            "products",
            "stores",
            "store_product_dynamic",
            "roles",
            "role_permissions",
            "users",
            "user_store_roles",
            "customers",
            "tenders",
            "product_specials",
            "sales_reps",
            "reasons",
        ] {
            tx.touch(registry::find(name).expect("a type"));
        }
    }

    async fn taxes(&self, tx: &Tx, now: Instant) {
        let code = |name: &str| self.text(name);
        rows!(self tx now, department:
            "food" { code: code("food"), name: "Food".into(), is_active: true },
            "drinks" { code: code("drinks"), name: "Drinks".into(), is_active: true });
        rows!(self tx now, tax_rate:
            "state" { code: code("state"), name: "State".into(), rate_ppm: Ppm(50_000), is_active: true },
            "city" { code: code("city"), name: "City".into(), rate_ppm: Ppm(10_000), is_active: true },
            "county" { code: code("county"), name: "County".into(), rate_ppm: Ppm(20_000), is_active: true },
            "luxury" { code: code("luxury"), name: "Luxury".into(), rate_ppm: Ppm(30_000), is_active: true });
        rows!(self tx now, tax_group:
            "standard" { code: code("standard"), name: "Standard".into(), price_mode: "exclusive".into(), is_active: true },
            "reduced" { code: code("reduced"), name: "Reduced".into(), price_mode: "exclusive".into(), is_active: true });
        for (sequence, (rate, is_compound)) in [("state", false), ("city", true)].into_iter().enumerate() {
            let sequence = i32::try_from(sequence).expect("a small number") + 1;
            let row = tax_group_rate::Model {
                id: Uuid::now_v7(),
                created_at: now,
                updated_at: now,
                tax_group_id: self.id("standard"),
                tax_rate_id: self.id(rate),
                sequence,
                is_compound,
                ..tax_group_rate::Model::default()
            };
            add(tx, row).await;
        }
    }

    async fn goods(&self, tx: &Tx, now: Instant) {
        let code = |name: &str| self.text(name);
        let sku = |name: &str| (code(name), fold(&code(name)));
        for (name, deleted) in [("tea", false), ("gone", true), ("deposit", false)] {
            let (sku, sku_folded) = sku(name);
            let row = product::Model {
                id: self.id(name),
                created_at: now,
                updated_at: now,
                deleted_at: deleted.then_some(now),
                sku,
                sku_folded,
                name: name.into(),
                department_id: self.id("food"),
                tax_group_id: self.id("standard"),
                product_type: if name == "deposit" { "deposit" } else { "standard" }.into(),
                unit_of_measure: "each".into(),
                price: Money(1000),
                cost: Cost(Money(500)),
                track_stock: true,
                is_active: true,
                is_returnable: true,
                allow_discount: true,
                barcode: (name == "tea").then(|| code("bar")),
                ..product::Model::default()
            };
            add(tx, row).await;
        }
        add(
            tx,
            product_barcode::Model {
                code: code("bar"),
                normal: barcodes::normal(&code("bar")),
                product_id: self.id("tea"),
            },
        )
        .await;
        rows!(self tx now, store: "shop" {
            code: code("S"), name: "Shop".into(), country_code: "US".into(), timezone: "UTC".into(),
            currency_code: "USD".into(), currency_exponent: 2, locale: "en-US".into(), is_active: true,
            sync_token_version: 1, tax_rounding: "line".into(), cash_rounding_increment: 1,
            cash_rounding_mode: "nearest".into(), business_day_start: "04:00".into(), max_session_hours: 30,
            first_seen_at: Some(now), scale_barcode_rules: JsonText::empty_list(),
        });
        add(
            tx,
            store_product::Model {
                id: tillkeep_model::ids::store_product(self.id("shop"), self.id("tea")),
                created_at: now,
                updated_at: now,
                store_id: self.id("shop"),
                product_id: self.id("tea"),
                price: Money(1000),
                cost: Cost(Money(500)),
                is_stocked: true,
                ..store_product::Model::default()
            },
        )
        .await;
    }

    async fn people(&self, tx: &Tx, now: Instant) {
        let code = |name: &str| self.text(name);
        rows!(self tx now, role:
            "buyer" { code: code("buyer").to_lowercase(), name: "Buyer".into() },
            "clerk" { code: code("clerk").to_lowercase(), name: "Clerk".into() });
        let held = tillkeep_model::ids::permission("products.view");
        add(tx, role_permission::Model { role_id: self.id("buyer"), permission_id: held }).await;
        rows!(self tx now, user: "uma" {
            username: code("uma"), username_folded: fold(&code("uma")), display_name: "Uma".into(), is_active: true,
        });
        rows!(self tx now, user_store_role: "assignment" { user_id: self.id("uma"), role_id: self.id("clerk"), store_id: Some(self.id("shop")) });
        rows!(self tx now, customer: "ada" {
            customer_number: code("C1"), first_name: Some("Ada".into()), synced: true, is_active: true,
        });
        let many = (Some(3), Some(Money(2500)));
        rows!(self tx now, product_special: "offer" {
            code: code("offer"), name: "Offer".into(), department_id: Some(self.id("food")), mix_group: Some(code("mix")),
            kind: "multi_buy".into(), bundle_quantity: many.0, bundle_price: many.1, days_of_week: 127, is_active: true,
        });
        rows!(self tx now, sales_rep: "rita" { code: code("R1"), name: "Rita".into(), commission_basis: "net_sales".into(), is_active: true });
        rows!(self tx now, reason: "fair" { code: code("fair"), name: "Fair".into(), kind: "discount".into(), is_active: true });
        rows!(self tx now, tender: "card" { code: code("card"), name: "Card".into(), kind: "card".into(), is_active: true });
    }

    /// What the database has of this chain, in words that are the same for every chain.
    pub async fn state(&self, kit: &Kit) -> BTreeSet<String> {
        let ids: BTreeMap<String, &str> = NAMES.iter().map(|name| (self.id(name).to_string(), *name)).collect();
        let list = ids.keys().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ");
        let of = |(table, column): &(&str, &str)| {
            format!(
                "SELECT '{table}' AS kind, to_jsonb(r)::text AS content FROM {table} r WHERE r.{column} IN ({list})"
            )
        };
        let sql = TABLES.iter().map(of).collect::<Vec<_>>().join(" UNION ALL ");
        let rows = raw::query(kit.hq.db().reader(), &sql, []).await.expect("a read");
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for row in rows {
            let (kind, text): (String, String) =
                (row.try_get("", "kind").expect("a kind"), row.try_get("", "content").expect("a row"));
            let small = self.tag().to_lowercase();
            // As the end of a receipt number is found by.
            let backwards: String = small.chars().rev().collect();
            let mut text = text.replace(&self.tag(), "").replace(&small, "").replace(&backwards, "");
            for (id, name) in &ids {
                text = text.replace(id, name);
            }
            let json: Map<String, Json> = serde_json::from_str(&text).expect("an object");
            *seen.entry(format!("{kind} {}", plain(json))).or_default() += 1;
        }
        seen.into_iter().map(|(row, times)| format!("{times} x {row}")).collect()
    }
}

/// A row without what differs by nature.
fn plain(mut row: Map<String, Json>) -> Json {
    row.retain(|key, _| !BY_NATURE.contains(&key.as_str()));
    for (key, value) in &mut row {
        let is_secret = key.starts_with("pin_");
        let is_time = key.ends_with("_at") || key == "sessions_valid_from";
        if is_time || is_secret || key == "payload" {
            *value = json!(!value.is_null());
        } else if value.as_str().is_some_and(|text| text.parse::<Uuid>().is_ok()) {
            *value = json!("an id");
        }
    }
    Json::Object(row)
}

async fn add<M, A>(tx: &Tx, row: M)
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait + ActiveModelBehavior + Send,
    A::Entity: EntityTrait,
{
    A::Entity::insert(row.into_active_model()).exec_without_returning(tx).await.expect("a row");
}
