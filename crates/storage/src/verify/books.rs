//! I5: the report of a closed drawer says what its rows say.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, Value};
use serde_json::Value as Json;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::{PaymentStatus, SaleStatus, SessionStatus};
use tillkeep_model::words::{Reported, SaleType};
use tillkeep_model::{JsonText, Money};
use uuid::Uuid;

use super::controls;
use super::finding::{Found, Options};
use super::second::{self, Moved, Second, add};
use super::source::{Source, having};
use crate::Side;
use crate::db::query;
use crate::document::session;
use crate::entity::register_session::{Column, Entity, Model};
use crate::entity::sale;
use crate::numbers::Given;
use crate::reports::sums::{amount, summed};
use crate::rows::Of;
use crate::sync_log::RESOLVED;

/// What the rows of one drawer add up to. Not the code that makes the report: one mistake must not be made twice.
#[derive(Default)]
struct Sums {
    documents: i64,
    counts: BTreeMap<&'static str, i64>,
    amounts: BTreeMap<&'static str, i64>,
    tenders: BTreeMap<(String, String), (i64, i64)>,
    taxes: BTreeMap<(String, String), i64>,
    cash: i64,
    /// How often something was paid on an account, and how much.
    settlements: (i64, i64),
}

pub(super) async fn reports(source: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    // At headquarters a drawer may arrive before its sales.
    if source.side == Side::Hq && !options.settled {
        return Ok(());
    }
    let closed =
        Entity::find().filter(Column::Status.eq(SessionStatus::Closed.word())).filter(Column::Totals.is_not_null());
    let closed = closed.order_by_asc(Column::StoreId).order_by_asc(Column::RegisterCode);
    let sessions = closed.order_by_asc(Column::SessionNumber).all(&source.conn).await?;
    if sessions.is_empty() {
        return Ok(());
    }
    let sums = add_up(source).await?;
    let (second, controls) = (second::add_up(source).await?, controls::add_up(source).await?);
    let (nothing, no_more) = (Sums::default(), Second::default());
    let unapplied = unapplied(source).await?;
    let resolved = resolved(source).await?;
    let mut running: BTreeMap<(Uuid, &str), (i32, i64, i64)> = BTreeMap::new();
    for session in &sessions {
        let sums = sums.get(&session.id).unwrap_or(&nothing);
        let judged = !unapplied.contains(&session.id);
        let mut wrong = differences(session, sums);
        if second::is_of_it(session) {
            let rows = second.get(&session.id).unwrap_or(&no_more);
            wrong.extend(second::differences(session, rows, sums.cash));
            let rows = controls.get(&session.id).copied().unwrap_or_default();
            wrong.extend(controls::differences(second::report(session), rows));
        }
        for wrong in wrong.into_iter().filter(|_| judged) {
            found.add(session.store_id, session::TYPE, session.id, format!("{wrong} is not what its rows say"));
        }
        let total = sums.amounts.get("totalAmount").copied().unwrap_or_default();
        // A store that was restored goes on from the grand total it had; the first one known is taken as it is.
        let (last, before, whole) = running.entry((session.store_id, &session.register_code)).or_default();
        let (with, all) = (before.saturating_add(total), whole.saturating_add(total));
        let grand = session.running_total.map_or(with, |total| total.0);
        let first = session.session_number > 1 && *before == 0;
        let judged = judged && !first && !resolved.between(session, *last);
        // What came back after a later drawer was closed is in the total of the one after that.
        let differs = grand != with && grand != all;
        let number = Given::session(session.session_number.into());
        *whole = if number.follows(&Given::session((*last).into())) { all } else { grand };
        (*last, *before) = (session.session_number, grand);
        if judged && differs {
            let text = "the grand total is not the one before and this drawer's total";
            found.add(session.store_id, session::TYPE, session.id, text);
        }
    }
    Ok(())
}

/// At headquarters: the drawers of sales that a user decided not to apply. Their reports count what is not there.
async fn unapplied(source: &Source) -> Result<HashSet<Uuid>, DbErr> {
    let mut drawers = HashSet::new();
    if source.side != Side::Hq {
        return Ok(drawers);
    }
    let mut sales: Vec<Uuid> = Vec::new();
    // What a later envelope settled is here, and has no resolver.
    let sql = "SELECT entity_id, envelope FROM sync_log WHERE entity_type = 'sales' AND status = $1 \
               AND resolved_by IS NOT NULL";
    for row in query(&source.conn, sql, [RESOLVED.into()]).await? {
        sales.extend(row.try_get::<String>("", "entity_id")?.parse::<Uuid>().ok());
        drawers.extend(row.try_get::<Option<String>>("", "envelope")?.as_deref().and_then(drawer_of));
    }
    // The sale itself may be here, and a change of it was refused.
    let rows = having(source, &Of::<sale::Entity>::NEW, "id", &sales).await?;
    drawers.extend(rows.iter().filter_map(|row| row.uuid("register_session_id")));
    Ok(drawers)
}

/// The drawer that the sale in an envelope names, in either spelling.
fn drawer_of(envelope: &str) -> Option<Uuid> {
    let envelope: Json = serde_json::from_str(envelope).ok()?;
    let named = |key: &str| -> Option<Uuid> { envelope["data"][key].as_str()?.parse().ok() };
    named("registerSessionId").or_else(|| named("register_session_id"))
}

/// At headquarters: the drawers of which a user decided not to apply what their store said. The grand total of the next
/// drawer counts them.
#[derive(Default)]
struct Resolved {
    numbers: BTreeMap<(Uuid, String), BTreeSet<i32>>,
    /// Stores with one of which not even the number can be read.
    unknown: HashSet<Uuid>,
}

impl Resolved {
    /// Whether one of them lies between `session` and the drawer with the number `last` before it.
    fn between(&self, session: &Model, last: i32) -> bool {
        let gap = last + 1..session.session_number;
        if gap.is_empty() {
            return false;
        }
        let numbers = self.numbers.get(&(session.store_id, session.register_code.clone()));
        self.unknown.contains(&session.store_id) || numbers.is_some_and(|numbers| numbers.range(gap).next().is_some())
    }
}

async fn resolved(source: &Source) -> Result<Resolved, DbErr> {
    let mut out = Resolved::default();
    if source.side != Side::Hq {
        return Ok(out);
    }
    let sql = "SELECT store_id, entity_id, envelope FROM sync_log WHERE entity_type = 'register_sessions' \
               AND status = $1 AND resolved_by IS NOT NULL";
    let mut here = Vec::new();
    for row in query(&source.conn, sql, [RESOLVED.into()]).await? {
        let store: Uuid = row.try_get("", "store_id")?;
        match row.try_get::<Option<String>>("", "envelope")?.as_deref().and_then(number_of) {
            Some((register, number)) => {
                out.numbers.entry((store, register)).or_default().insert(number);
            }
            None => {
                out.unknown.insert(store);
            }
        }
        here.extend(row.try_get::<String>("", "entity_id")?.parse::<Uuid>().ok());
    }
    // The drawer itself may be here, and its close was refused.
    for row in having(source, &Of::<Entity>::NEW, "id", &here).await? {
        let number = row.integer("session_number").and_then(|number| i32::try_from(number).ok());
        if let (Some(store), Some(register), Some(number)) = (row.uuid("store_id"), row.text("register_code"), number) {
            out.numbers.entry((store, register)).or_default().insert(number);
        }
    }
    Ok(out)
}

/// Register and number of the drawer in an envelope, in either spelling.
fn number_of(envelope: &str) -> Option<(String, i32)> {
    let envelope: Json = serde_json::from_str(envelope).ok()?;
    let named = |keys: [&str; 2]| keys.map(|key| &envelope["data"][key]).into_iter().find(|value| !value.is_null());
    let number = named(["sessionNumber", "session_number"])?.as_i64()?;
    Some((named(["registerCode", "register_code"])?.as_str()?.to_owned(), i32::try_from(number).ok()?))
}

async fn add_up(source: &Source) -> Result<BTreeMap<Uuid, Sums>, DbErr> {
    let mut out: BTreeMap<Uuid, Sums> = BTreeMap::new();
    let sql = "SELECT register_session_id AS session, sale_type, status, net_amount, tax_amount, total_amount, \
               cash_rounding, tax_lines FROM sales";
    for row in query(&source.conn, sql, []).await? {
        let sums = out.entry(row.try_get("", "session")?).or_default();
        let (kind, status): (String, String) = (row.try_get("", "sale_type")?, row.try_get("", "status")?);
        sums.documents += 1;
        if status == SaleStatus::Voided {
            *sums.counts.entry("voidCount").or_default() += 1;
            continue;
        }
        match Reported::<SaleType>::read(&kind) {
            Reported::Known(SaleType::Refund) => *sums.counts.entry("refundCount").or_default() += 1,
            Reported::Known(SaleType::Settlement) => sums.settlements.0 += 1,
            _ => *sums.counts.entry("saleCount").or_default() += 1,
        }
        for (key, column) in [
            ("netAmount", "net_amount"),
            ("taxAmount", "tax_amount"),
            ("totalAmount", "total_amount"),
            ("cashRounding", "cash_rounding"),
        ] {
            add(sums.amounts.entry(key).or_default(), row.try_get("", column)?);
        }
        let lines: JsonText = row.try_get("", "tax_lines")?;
        for line in lines.0.as_array().into_iter().flatten() {
            add(sums.taxes.entry(tax_of(line)).or_default(), line["taxAmount"].as_i64().unwrap_or_default());
        }
    }
    let sql = format!(
        "SELECT session, tender_code, tender_kind, CAST(COUNT(*) AS BIGINT) AS count, {} \
         FROM (SELECT s.register_session_id AS session, p.tender_code, p.tender_kind, p.amount \
         FROM sale_payments p JOIN sales s ON s.id = p.sale_id WHERE s.status <> $1 AND p.status <> $2) paid \
         GROUP BY session, tender_code, tender_kind",
        summed("amount", "TRUE")
    );
    let voided = [SaleStatus::Voided.word(), PaymentStatus::Voided.word()];
    for row in query(&source.conn, &sql, voided.map(Value::from)).await? {
        let sums = out.entry(row.try_get("", "session")?).or_default();
        let (code, kind): (String, String) = (row.try_get("", "tender_code")?, row.try_get("", "tender_kind")?);
        let (count, amount) = (row.try_get("", "count")?, amount(&row, "amount")?.0);
        if kind == TenderKind::Cash {
            add(&mut sums.cash, amount);
        }
        sums.tenders.insert((code, kind), (count, amount));
    }
    settled(source, &mut out).await?;
    Ok(out)
}

/// Adds what customers have paid of what they owe.
async fn settled(source: &Source, out: &mut BTreeMap<Uuid, Sums>) -> Result<(), DbErr> {
    let sql = format!(
        "SELECT session, {} FROM (SELECT s.register_session_id AS session, p.amount \
         FROM sale_payments p JOIN sales s ON s.id = p.sale_id \
         WHERE s.status <> $1 AND p.status <> $2 AND p.tender_kind = $3 AND s.sale_type = $4) paid GROUP BY session",
        summed("amount", "TRUE")
    );
    let words = [
        SaleStatus::Voided.word(),
        PaymentStatus::Voided.word(),
        TenderKind::OnAccount.word(),
        SaleType::Settlement.word(),
    ];
    for row in query(&source.conn, &sql, words.map(Value::from)).await? {
        let settled = amount(&row, "amount")?.0.saturating_neg();
        out.entry(row.try_get("", "session")?).or_default().settlements.1 = settled;
    }
    Ok(())
}

fn tax_of(line: &Json) -> (String, String) {
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("taxRateId"))
}

/// The names of the figures in which a report differs from its rows.
fn differences(session: &Model, sums: &Sums) -> Vec<String> {
    let report = session.totals.as_ref().map_or(&Json::Null, |totals| &totals.0);
    let mut wrong = Vec::new();
    for key in ["saleCount", "refundCount", "voidCount"] {
        if report[key].as_i64() != Some(sums.counts.get(key).copied().unwrap_or_default()) {
            wrong.push(format!("totals.{key}"));
        }
    }
    for key in ["netAmount", "taxAmount", "totalAmount", "cashRounding"] {
        if report[key].as_i64() != Some(sums.amounts.get(key).copied().unwrap_or_default()) {
            wrong.push(format!("totals.{key}"));
        }
    }
    let mut tenders = BTreeMap::new();
    for tender in report["tenders"].as_array().into_iter().flatten() {
        let text = |key: &str| tender[key].as_str().unwrap_or_default().to_owned();
        let of: &mut (i64, i64) = tenders.entry((text("tenderCode"), text("tenderKind"))).or_default();
        of.0 = of.0.saturating_add(tender["count"].as_i64().unwrap_or_default());
        of.1 = of.1.saturating_add(tender["amount"].as_i64().unwrap_or_default());
    }
    let mut taxes: BTreeMap<(String, String), i64> = BTreeMap::new();
    for line in report["taxes"].as_array().into_iter().flatten() {
        let of = taxes.entry(tax_of(line)).or_default();
        *of = of.saturating_add(line["taxAmount"].as_i64().unwrap_or_default());
    }
    let moved = if second::knows_movements(session) { Moved::of(session).net() } else { 0 };
    let cash = [session.opening_float.0, sums.cash, moved];
    let expected = Money::from_wide(cash.into_iter().map(i128::from).sum());
    // A report of a release that took no such payments says nothing of them.
    let settled = ["count", "amount"].map(|key| report["settlements"][key].as_i64().unwrap_or_default());
    let further = [
        (settled != [sums.settlements.0, sums.settlements.1], "totals.settlements"),
        (tenders != sums.tenders, "totals.tenders"),
        (taxes != sums.taxes, "totals.taxes"),
        (session.sale_count.map(i64::from) != Some(sums.documents), "saleCount"),
        (session.expected_cash != Some(expected), "expectedCash"),
    ];
    wrong.extend(further.into_iter().filter(|(wrong, _)| *wrong).map(|(_, name)| name.to_owned()));
    wrong
}
