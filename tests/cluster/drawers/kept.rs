//! What a database has of the drawers of one store: the rows as they are, read by statements of these tests.

use std::collections::BTreeMap;

use serde_json::Value;
use tillkeep_model::JsonText;
use tillkeep_storage::raw::Row;
use tillkeep_storage::sea_orm::Value as Bound;
use tillkeep_storage::{Connection, Db, raw};
use uuid::Uuid;

/// A drawer, open or closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawer {
    pub register: String,
    pub number: i32,
    pub is_closed: bool,
    pub forced: bool,
    pub float: i64,
    pub expected: Option<i64>,
    pub counted: Option<i64>,
    pub variance: Option<i64>,
    pub no_sales: i32,
    pub documents: Option<i32>,
    pub running: Option<i64>,
    pub first_receipt: Option<String>,
    pub last_receipt: Option<String>,
    pub zz: Option<i32>,
    pub store_zz: Option<i32>,
    /// The movements that it carries, of cash and of the safe.
    pub moved: Value,
    pub safe: Value,
    /// Its Z.
    pub z: Value,
}

/// A sale or a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub drawer: Uuid,
    pub receipt: String,
    pub kind: String,
    pub is_voided: bool,
    pub list: i64,
    pub special: i64,
    pub line: i64,
    pub cart: i64,
    pub net: i64,
    pub tax: i64,
    pub total: i64,
    pub rounding: i64,
}

/// A payment of a document that is not voided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub drawer: Uuid,
    pub tender: String,
    pub is_cash: bool,
    pub amount: i64,
}

#[derive(Debug, Default, PartialEq)]
pub struct Kept {
    pub drawers: BTreeMap<Uuid, Drawer>,
    pub documents: BTreeMap<Uuid, Document>,
    pub payments: BTreeMap<Uuid, Payment>,
}

/// A row of `cash_movements` or `safe_movements`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The drawer that carries it.
    pub drawer: Option<Uuid>,
    pub kind: String,
    pub amount: i64,
}

/// A row of `zz_reports`.
#[derive(Clone, Debug)]
pub struct Zz {
    /// None of the whole store.
    pub register: Option<String>,
    pub number: i32,
    pub report: Value,
}

impl Kept {
    /// What the database at `url` has of `store`; that of a store and that of headquarters call it by the same names.
    pub async fn read(url: &str, store: &str) -> Self {
        let store: Uuid = store.parse().expect("an id");
        let conn = Db::open_to_read(url).await.expect("the database");
        let mut kept = Self::default();
        let sql = "SELECT id, register_code, session_number, status, forced, opening_float, expected_cash, counted_cash, \
                   cash_variance, no_sale_count, sale_count, running_total, first_receipt_number, last_receipt_number, \
                   zz_number, store_zz_number, cash_movements, safe_movements, totals \
                   FROM register_sessions WHERE store_id = $1";
        for row in rows(&conn, sql, [store.into()]).await {
            kept.drawers.insert(id(&row), drawer(&row));
        }
        let sql = "SELECT id, register_session_id, receipt_number, sale_type, status, list_amount, special_discount, \
                   line_discount, cart_discount, net_amount, tax_amount, total_amount, cash_rounding \
                   FROM sales WHERE store_id = $1";
        for row in rows(&conn, sql, [store.into()]).await {
            kept.documents.insert(id(&row), document(&row));
        }
        let sql = "SELECT p.id, s.register_session_id, p.tender_code, p.tender_kind, p.amount \
                   FROM sale_payments p JOIN sales s ON s.id = p.sale_id \
                   WHERE s.store_id = $1 AND s.status <> 'voided' AND p.status <> 'voided'";
        for row in rows(&conn, sql, [store.into()]).await {
            kept.payments.insert(id(&row), payment(&row));
        }
        conn.close().await.expect("closed");
        kept
    }
}

/// The movements of a store, from `cash_movements` or `safe_movements`.
pub async fn moved(url: &str, table: &str) -> BTreeMap<Uuid, Moved> {
    let conn = Db::open_to_read(url).await.expect("the database");
    let mut moved = BTreeMap::new();
    for row in rows(&conn, &format!("SELECT id, session_id, kind, amount FROM {table}"), []).await {
        let (drawer, kind) = (row.try_get("", "session_id").expect("a drawer"), text(&row, "kind"));
        moved.insert(id(&row), Moved { drawer, kind, amount: number(&row, "amount") });
    }
    conn.close().await.expect("closed");
    moved
}

/// The reports over reports of a store, by number.
pub async fn zzs(url: &str) -> Vec<Zz> {
    let conn = Db::open_to_read(url).await.expect("the database");
    let sql = "SELECT register_code, zz_number, totals FROM zz_reports ORDER BY zz_number";
    let mut zzs = Vec::new();
    for row in rows(&conn, sql, []).await {
        zzs.push(Zz {
            register: row.try_get("", "register_code").expect("a code"),
            number: row.try_get("", "zz_number").expect("a number"),
            report: json(&row, "totals"),
        });
    }
    conn.close().await.expect("closed");
    zzs
}

async fn rows<const N: usize>(conn: &Connection, sql: &str, values: [Bound; N]) -> Vec<Row> {
    raw::query(conn, sql, values).await.expect(sql)
}

fn drawer(row: &Row) -> Drawer {
    let maybe = |column: &str| -> Option<i64> { row.try_get("", column).expect(column) };
    let whole = |column: &str| -> Option<i32> { row.try_get("", column).expect(column) };
    let said = |column: &str| -> Option<String> { row.try_get("", column).expect(column) };
    Drawer {
        register: text(row, "register_code"),
        number: row.try_get("", "session_number").expect("a number"),
        is_closed: text(row, "status") == "closed",
        forced: row.try_get("", "forced").expect("a flag"),
        float: number(row, "opening_float"),
        expected: maybe("expected_cash"),
        counted: maybe("counted_cash"),
        variance: maybe("cash_variance"),
        no_sales: row.try_get("", "no_sale_count").expect("a number"),
        documents: whole("sale_count"),
        running: maybe("running_total"),
        first_receipt: said("first_receipt_number"),
        last_receipt: said("last_receipt_number"),
        zz: whole("zz_number"),
        store_zz: whole("store_zz_number"),
        moved: json(row, "cash_movements"),
        safe: json(row, "safe_movements"),
        z: json(row, "totals"),
    }
}

fn document(row: &Row) -> Document {
    Document {
        drawer: row.try_get("", "register_session_id").expect("a drawer"),
        receipt: text(row, "receipt_number"),
        kind: text(row, "sale_type"),
        is_voided: text(row, "status") == "voided",
        list: number(row, "list_amount"),
        special: number(row, "special_discount"),
        line: number(row, "line_discount"),
        cart: number(row, "cart_discount"),
        net: number(row, "net_amount"),
        tax: number(row, "tax_amount"),
        total: number(row, "total_amount"),
        rounding: number(row, "cash_rounding"),
    }
}

fn payment(row: &Row) -> Payment {
    Payment {
        drawer: row.try_get("", "register_session_id").expect("a drawer"),
        tender: text(row, "tender_code"),
        is_cash: text(row, "tender_kind") == "cash",
        amount: number(row, "amount"),
    }
}

fn id(row: &Row) -> Uuid {
    row.try_get("", "id").expect("an id")
}

fn text(row: &Row, column: &str) -> String {
    row.try_get("", column).expect(column)
}

fn number(row: &Row, column: &str) -> i64 {
    row.try_get("", column).expect(column)
}

/// Null where there is nothing.
fn json(row: &Row, column: &str) -> Value {
    let kept: Option<JsonText> = row.try_get("", column).expect(column);
    kept.map_or(Value::Null, |kept| kept.0)
}
