//! I5: what a store keeps of its drawers in tables of their own is what the drawers say, which travel: the movements of cash and of
//! the safe. Parked carts are of this store alone, and say of themselves what became of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::DbErr;
use tillkeep_model::JsonText;
use tillkeep_model::words::{CashMovementKind, ParkedState};
use uuid::Uuid;

use super::finding::Found;
use super::pages::{Pages, documents};
use super::rule::{Rule, STORE};
use super::source::Source;
use crate::Side;
use crate::db::Row;
use crate::document::session;
use crate::many::find_in;

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
        let elsewhere = said_by_drawers(source, carried, found).await?;
        unsaid(source, carried, &elsewhere, found).await?;
    }
    Ok(())
}

/// What drawers say is here; the movements that another drawer says than the one that they are of.
async fn said_by_drawers(source: &Source, carried: &Carried, found: &mut Found) -> Result<HashSet<Uuid>, DbErr> {
    let mut elsewhere = HashSet::new();
    let sql = format!("SELECT id FROM {} WHERE {} <> '[]' AND $behind", session::TYPE, carried.column);
    let mut pages = Pages::by_id(source, &sql, []);
    while let Some(rows) = pages.page().await? {
        let drawers: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        for drawers in drawers.chunks(documents(source)) {
            let said = of_drawers(source, carried, drawers).await?;
            let ids: BTreeSet<Uuid> = said.iter().map(|(id, _)| *id).collect();
            let sql = format!("SELECT {COLUMNS} FROM {} WHERE id IN ($list)", carried.table);
            let here: HashMap<Uuid, Movement> =
                find_in(&source.conn, &sql, &[], ids).await?.iter().map(row).collect::<Result<_, _>>()?;
            for (id, movement) in said {
                let text = match here.get(&id) {
                    None => "a drawer says it, and it is not here",
                    Some(row) if *row != movement => {
                        if row.drawer != movement.drawer {
                            elsewhere.insert(id);
                        }
                        "is not what its drawer says"
                    }
                    Some(_) => continue,
                };
                found.add(source.store, carried.table, id, text);
            }
        }
    }
    Ok(elsewhere)
}

/// What is here, and no drawer says it. One that no drawer could take waits for none: it is named as no drawer's.
async fn unsaid(source: &Source, carried: &Carried, elsewhere: &HashSet<Uuid>, found: &mut Found) -> Result<(), DbErr> {
    let sql = format!("SELECT id, session_id FROM {} WHERE session_id IS NOT NULL AND $behind", carried.table);
    let mut pages = Pages::by_id(source, &sql, []);
    while let Some(rows) = pages.page().await? {
        let of = |row: &Row| Ok((row.try_get("", "id")?, row.try_get("", "session_id")?));
        let movements: Vec<(Uuid, Uuid)> = rows.iter().map(of).collect::<Result<_, DbErr>>()?;
        let drawers: BTreeSet<Uuid> = movements.iter().map(|(_, drawer)| *drawer).collect();
        let drawers: Vec<Uuid> = drawers.into_iter().collect();
        let mut said: HashSet<Uuid> = HashSet::new();
        for drawers in drawers.chunks(documents(source)) {
            said.extend(of_drawers(source, carried, drawers).await?.into_iter().map(|(id, _)| id));
        }
        for (id, _) in movements.into_iter().filter(|(id, _)| !said.contains(id) && !elsewhere.contains(id)) {
            found.add(source.store, carried.table, id, "no drawer says it, so that headquarters never hears of it");
        }
    }
    Ok(())
}

const COLUMNS: &str = "id, session_id, kind, amount, reason, user_id, approver_id";

fn row(row: &Row) -> Result<(Uuid, Movement), DbErr> {
    let movement = Movement {
        drawer: row.try_get("", "session_id")?,
        kind: row.try_get("", "kind")?,
        amount: row.try_get("", "amount")?,
        reason: row.try_get("", "reason")?,
        user: Some(row.try_get("", "user_id")?),
        approver: row.try_get("", "approver_id")?,
    };
    Ok((row.try_get("", "id")?, movement))
}

/// What these drawers say.
async fn of_drawers(source: &Source, carried: &Carried, drawers: &[Uuid]) -> Result<Vec<(Uuid, Movement)>, DbErr> {
    let column = carried.column;
    let sql = format!("SELECT id, {column} FROM {} WHERE {column} <> '[]' AND id IN ($list)", session::TYPE);
    let mut out = Vec::new();
    for row in find_in(&source.conn, &sql, &[], drawers.iter().copied()).await? {
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
            out.push((id("id").unwrap_or_default(), movement));
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
