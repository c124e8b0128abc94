//! I5, at a store: a report of several drawers (ZZ) says the sums of the drawers that say that they are in it.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{DbErr, EntityTrait};
use serde_json::Value as Json;
use tillkeep_model::Money;
use uuid::Uuid;

use super::drawers;
use super::finding::Found;
use super::pages::{Pages, documents};
use super::second::quantity;
use super::source::Source;
use super::zz::came_back;
use crate::Side;
use crate::db::query;
use crate::document::flags::has_foreign_number;
use crate::document::session;
use crate::entity::register_session::Model;
use crate::entity::zz_report::{self, Column, Entity};
use crate::many::{find_in, select_in};

const REPORTS: &str = "zz_reports";

/// Reports that are looked at at once, each of some hundred drawers.
const AT_ONCE: usize = 20;

/// Figures of a report that are those of its drawers together, as the JSON of both calls them.
const SUMMED: [&str; 18] = [
    "/saleCount",
    "/refundCount",
    "/voidCount",
    "/settlements/count",
    "/settlements/amount",
    "/netAmount",
    "/taxAmount",
    "/totalAmount",
    "/cashRounding",
    "/openingFloat",
    "/expectedCash",
    "/voidAmount",
    "/amounts/netSales",
    "/amounts/netRefunds",
    "/cash/paidIn",
    "/cash/floatAdd",
    "/cash/paidOut",
    "/cash/drop",
];

pub(super) async fn reports(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    let again = again(source).await?;
    let mut pages = Pages::by_id(source, "SELECT id FROM zz_reports WHERE $behind", []);
    while let Some(rows) = pages.page().await? {
        let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        for ids in ids.chunks(AT_ONCE) {
            let reports = select_in(&source.conn, Entity::find(), Column::Id, ids.iter().copied()).await?;
            let sums = add_up(source, &reports).await?;
            let nothing = Sums::default();
            for report in &reports {
                if again.contains(&report.id) {
                    found.add(source.store, REPORTS, report.id, "another report has its number");
                }
                for wrong in sums.get(&key_of(report)).unwrap_or(&nothing).differences(report) {
                    found.add(source.store, REPORTS, report.id, format!("{wrong} is not what its drawers say"));
                }
            }
        }
    }
    // The reports of a database that was lost went with it: their drawers came back, and say what is needed.
    if came_back(source).await? {
        return Ok(());
    }
    named_only(source, found).await
}

/// Reports with a number that one before them has.
async fn again(source: &Source) -> Result<BTreeSet<Uuid>, DbErr> {
    let sql = "SELECT id FROM zz_reports r WHERE EXISTS (SELECT 1 FROM zz_reports o WHERE o.zz_number = r.zz_number \
               AND (o.register_code = r.register_code OR (o.register_code IS NULL AND r.register_code IS NULL)) \
               AND o.id < r.id)";
    query(&source.conn, sql, []).await?.iter().map(|row| row.try_get("", "id")).collect()
}

/// Drawers that say that they are in a report that is not here.
async fn named_only(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let drawers = "d.id, d.store_id, d.register_code, d.session_number, d.flags";
    let sql = format!(
        "SELECT {drawers}, d.zz_number AS number, 1 AS place FROM register_sessions d WHERE d.zz_number IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM zz_reports r WHERE r.register_code = d.register_code \
         AND r.zz_number = d.zz_number) \
         UNION ALL SELECT {drawers}, d.store_zz_number, 2 FROM register_sessions d WHERE d.store_zz_number IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM zz_reports r WHERE r.register_code IS NULL \
         AND r.zz_number = d.store_zz_number) \
         ORDER BY store_id, register_code, session_number, place"
    );
    for row in query(&source.conn, &sql, []).await? {
        if !has_foreign_number(&row.try_get("", "flags")?) {
            let number: i32 = row.try_get("", "number")?;
            let text = format!("says that it is in report {number} of several drawers, which is not here");
            found.add(source.store, session::TYPE, row.try_get::<Uuid>("", "id")?, text);
        }
    }
    Ok(())
}

/// A report, by its register and number; of the whole store without a register.
type Key = (Option<String>, i32);

fn key_of(report: &zz_report::Model) -> Key {
    (report.register_code.clone(), report.zz_number)
}

/// The sums of the drawers of these reports.
async fn add_up(source: &Source, reports: &[zz_report::Model]) -> Result<HashMap<Key, Sums>, DbErr> {
    let mut sums: HashMap<Key, Sums> = reports.iter().map(|report| (key_of(report), Sums::default())).collect();
    for (column, is_of_store) in [("zz_number", false), ("store_zz_number", true)] {
        let of_kind = reports.iter().filter(|report| report.register_code.is_none() == is_of_store);
        let numbers: BTreeSet<i32> = of_kind.map(|report| report.zz_number).collect();
        let sql = format!("SELECT id FROM register_sessions WHERE {column} IN ($list)");
        let rows = find_in(&source.conn, &sql, &[], numbers).await?;
        let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        for ids in ids.chunks(documents(source)) {
            let mut page = drawers::load(source, ids).await?;
            page.retain(|drawer| !has_foreign_number(&drawer.flags));
            for drawer in page {
                let register = (!is_of_store).then(|| drawer.register_code.clone());
                let number = if is_of_store { drawer.store_zz_number } else { drawer.zz_number };
                if let Some(sums) = number.and_then(|number| sums.get_mut(&(register, number))) {
                    sums.add(&drawer);
                }
            }
        }
    }
    Ok(sums)
}

fn at(json: &Json, pointer: &str) -> i64 {
    json.pointer(pointer).and_then(Json::as_i64).unwrap_or_default()
}

/// What the drawers of one report say.
#[derive(Default)]
struct Sums {
    /// As [`SUMMED`] has them: what a store says is any number.
    figures: [i128; SUMMED.len()],
    items: i128,
    drawers: BTreeSet<Uuid>,
    dates: Option<(String, String)>,
    numbers: Option<(i32, i32)>,
}

impl Sums {
    fn add(&mut self, drawer: &Model) {
        if let Some(totals) = &drawer.totals {
            for (sum, pointer) in self.figures.iter_mut().zip(SUMMED) {
                *sum += i128::from(at(&totals.0, pointer));
            }
            self.items += i128::from(quantity(&totals.0["itemCount"]).unwrap_or_default());
        }
        self.drawers.insert(drawer.id);
        let (date, number) = (&drawer.business_date, drawer.session_number);
        self.dates = Some(match self.dates.take() {
            Some((from, to)) => (from.min(date.clone()), to.max(date.clone())),
            None => (date.clone(), date.clone()),
        });
        self.numbers = Some(self.numbers.map_or((number, number), |(from, to)| (from.min(number), to.max(number))));
    }

    /// The names of the figures in which a report differs from its drawers.
    fn differences(&self, report: &zz_report::Model) -> Vec<String> {
        let totals = &report.totals.0;
        // What does not fit is the largest number.
        let most = |sum: i128| Money::from_wide(sum).0;
        let mut wrong: Vec<String> = SUMMED
            .into_iter()
            .zip(self.figures)
            .filter(|(pointer, sum)| at(totals, &format!("/sums{pointer}")) != most(*sum))
            .map(|(pointer, _)| format!("totals.sums{}", pointer.replace('/', ".")))
            .collect();
        let rows = totals["rows"].as_array().into_iter().flatten();
        let rows: BTreeSet<Uuid> = rows.filter_map(|row| row["sessionId"].as_str()?.parse().ok()).collect();
        let (from_date, to_date) = self.dates.as_ref().map(|(from, to)| (from.as_str(), to.as_str())).unzip();
        let (from, to) = self.numbers.unzip();
        let is_of_register = report.register_code.is_some();
        let further = [
            (quantity(&totals["sums"]["itemCount"]).unwrap_or_default() != most(self.items), "totals.sums.itemCount"),
            (rows != self.drawers, "totals.rows"),
            (from_date != Some(report.from_date.as_str()), "fromDate"),
            (to_date != Some(report.to_date.as_str()), "toDate"),
            (is_of_register && report.from_session_number != from, "fromSessionNumber"),
            (is_of_register && report.to_session_number != to, "toSessionNumber"),
        ];
        wrong.extend(further.into_iter().filter(|(wrong, _)| *wrong).map(|(_, name)| name.to_owned()));
        wrong
    }
}
