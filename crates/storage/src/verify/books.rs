//! I5: the report of a closed drawer says what its rows say.

use std::collections::{BTreeMap, HashSet};

use sea_orm::DbErr;
use serde_json::Value as Json;
use tillkeep_model::Money;
use tillkeep_model::state::SessionStatus;
use uuid::Uuid;

use super::book_sums::{Sums, tax_of};
use super::controls;
use super::drawers::{self, Added, Drawers};
use super::finding::{Found, Options};
use super::second::{self, Moved};
use super::source::Source;
use super::unapplied::{self, Resolved};
use crate::Side;
use crate::document::session;
use crate::entity::register_session::Model;
use crate::numbers::Given;

pub(super) async fn reports(source: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    // At headquarters a drawer may arrive before its sales.
    if source.side == Side::Hq && !options.settled {
        return Ok(());
    }
    let (unapplied, resolved) = (unapplied::sales(source).await?, unapplied::drawers(source).await?);
    let mut judged = Judged { unapplied, resolved, running: BTreeMap::new() };
    let mut drawers = Drawers::new(source);
    while let Some(ids) = drawers.ids().await? {
        for ids in drawers.parts(&ids) {
            let mut sessions = drawers::load(source, &ids).await?;
            sessions.retain(|session| session.status == SessionStatus::Closed && session.totals.is_some());
            let ids: Vec<Uuid> = sessions.iter().map(|session| session.id).collect();
            let added = drawers::add_up(source, &ids).await?;
            for session in &sessions {
                judged.look(session, added.get(&session.id), found);
            }
        }
    }
    Ok(())
}

/// What is known of the drawers before one.
struct Judged {
    unapplied: HashSet<Uuid>,
    resolved: Resolved,
    /// The number of the last drawer of each register, its grand total, and what that would be with all drawers.
    running: BTreeMap<(Uuid, String), (i32, i64, i64)>,
}

impl Judged {
    fn look(&mut self, session: &Model, added: Option<&Added>, found: &mut Found) {
        let nothing = Added::default();
        let Added { sums, second, controls } = added.unwrap_or(&nothing);
        let judged = !self.unapplied.contains(&session.id);
        let mut wrong = differences(session, sums);
        if second::is_of_it(session) {
            wrong.extend(second::differences(session, second, sums.cash));
            wrong.extend(controls::differences(second::report(session), *controls));
        }
        for wrong in wrong.into_iter().filter(|_| judged) {
            found.add(session.store_id, session::TYPE, session.id, format!("{wrong} is not what its rows say"));
        }
        let total = sums.amounts.get("totalAmount").copied().unwrap_or_default();
        // A store that was restored goes on from the grand total it had; the first one known is taken as it is.
        let register = (session.store_id, session.register_code.clone());
        let (last, before, whole) = self.running.entry(register).or_default();
        let (with, all) = (before.saturating_add(total), whole.saturating_add(total));
        let grand = session.running_total.map_or(with, |total| total.0);
        let first = session.session_number > 1 && *before == 0;
        let judged = judged && !first && !self.resolved.between(session, *last);
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
