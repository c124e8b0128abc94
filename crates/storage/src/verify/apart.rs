//! I5: what a store keeps of its drawers in tables of their own is what the drawers say, which travel: the movements of cash and of
//! the safe. Parked carts are of this store alone, and say of themselves what became of them.

use std::collections::BTreeMap;

use sea_orm::DbErr;
use tillkeep_model::JsonText;
use tillkeep_model::words::{CashMovementKind, ParkedState};
use uuid::Uuid;

use super::finding::Found;
use super::rule::{Rule, STORE};
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::document::session;

/// A table and the column of a drawer that carries its rows to headquarters.
struct Carried {
    table: &'static str,
    column: &'static str,
}

const CARRIED: [Carried; 2] = [
    Carried { table: "cash_movements", column: "cash_movements" },
    Carried { table: "safe_movements", column: "safe_movements" },
];

/// What a movement says, wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Movement {
    drawer: Option<Uuid>,
    kind: String,
    amount: i64,
    reason: Option<String>,
    user: Option<Uuid>,
    approver: Option<Uuid>,
}

pub(super) async fn movements(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    for carried in &CARRIED {
        let (mut here, drawers) = (rows(source, carried).await?, carried_by_drawers(source, carried).await?);
        for (id, movement) in drawers {
            let text = match here.remove(&id) {
                None => "a drawer says it, and it is not here",
                Some(row) if row != movement => "is not what its drawer says",
                Some(_) => continue,
            };
            found.add(source.store, carried.table, id, text);
        }
        // One that no drawer could take waits for none: it is named as no drawer's.
        for (id, _) in here.into_iter().filter(|(_, row)| row.drawer.is_some()) {
            found.add(source.store, carried.table, id, "no drawer says it, so that headquarters never hears of it");
        }
    }
    Ok(())
}

async fn rows(source: &Source, carried: &Carried) -> Result<BTreeMap<Uuid, Movement>, DbErr> {
    let sql = format!("SELECT id, session_id, kind, amount, reason, user_id, approver_id FROM {}", carried.table);
    let mut out = BTreeMap::new();
    for row in query(&source.conn, &sql, []).await? {
        let movement = Movement {
            drawer: row.try_get("", "session_id")?,
            kind: row.try_get("", "kind")?,
            amount: row.try_get("", "amount")?,
            reason: row.try_get("", "reason")?,
            user: Some(row.try_get("", "user_id")?),
            approver: row.try_get("", "approver_id")?,
        };
        out.insert(row.try_get("", "id")?, movement);
    }
    Ok(out)
}

async fn carried_by_drawers(source: &Source, carried: &Carried) -> Result<BTreeMap<Uuid, Movement>, DbErr> {
    let column = carried.column;
    let sql = format!("SELECT id, {column} FROM {} WHERE {column} <> '[]'", session::TYPE);
    let mut out = BTreeMap::new();
    for row in query(&source.conn, &sql, []).await? {
        let drawer: Uuid = row.try_get("", "id")?;
        let list: JsonText = row.try_get("", column)?;
        for said in list.0.as_array().into_iter().flatten() {
            let text = |key: &str| said[key].as_str().map(str::to_owned);
            let id = |key: &str| said[key].as_str().and_then(|id| id.parse::<Uuid>().ok());
            let movement = Movement {
                drawer: Some(drawer),
                kind: text("type").unwrap_or_default(),
                amount: said["amount"].as_i64().unwrap_or_default(),
                reason: text("reason"),
                user: id("userId"),
                approver: id("approverId"),
            };
            out.insert(id("id").unwrap_or_default(), movement);
        }
    }
    Ok(out)
}

/// The states of a parked cart, `$1` and on.
const STATES: &[&str] = &[ParkedState::Parked.word(), ParkedState::Resumed.word(), ParkedState::Abandoned.word()];

pub(super) static RULES: &[Rule] = &[
    Rule {
        invariant: "I5",
        entity: session::TYPE,
        text: "it says how often it was opened without a sale, and its movements say another number",
        sql: "SELECT d.id, CAST(COUNT(m.id) AS BIGINT) AS wanted, CAST(d.no_sale_count AS BIGINT) AS found \
              FROM register_sessions d LEFT JOIN cash_movements m ON m.session_id = d.id AND m.kind = $1 \
              GROUP BY d.id, d.no_sale_count HAVING COUNT(m.id) <> d.no_sale_count",
        words: &[CashMovementKind::NoSale.word()],
        ..STORE
    },
    Rule {
        invariant: "I5",
        entity: "parked_carts",
        text: "its state is not what it says of itself",
        sql: "SELECT id FROM parked_carts WHERE state NOT IN ($1, $2, $3) \
              OR (state = $2 AND (sale_id IS NULL OR resumed_at IS NULL OR resumed_by IS NULL)) \
              OR (state = $3) <> (abandoned_at IS NOT NULL)",
        words: STATES,
        ..STORE
    },
    Rule {
        invariant: "I5",
        entity: "parked_carts",
        text: "another parked cart is to become the same sale",
        sql: "SELECT p.id FROM parked_carts p WHERE p.sale_id IS NOT NULL \
              AND EXISTS (SELECT 1 FROM parked_carts o WHERE o.sale_id = p.sale_id AND o.id <> p.id)",
        ..STORE
    },
    Rule {
        invariant: "I5",
        entity: "parked_carts",
        text: "waits or was given up, and the sale that it was to become is there",
        sql: "SELECT p.id FROM parked_carts p WHERE p.state IN ($1, $2) \
              AND EXISTS (SELECT 1 FROM sales s WHERE s.id = p.sale_id)",
        words: &[ParkedState::Parked.word(), ParkedState::Abandoned.word()],
        ..STORE
    },
];
