//! The figures of one drawer, open or closed: X and Z reports have them from one function. What belongs to a drawer names it, and no
//! time decides that.

mod cash;
mod controls;
mod header;
mod receipts;
mod running;
mod sales;
mod settle;
mod stored;

pub(crate) use settle::{settle, tell};
pub(crate) use stored::stored;

use tillkeep_http::error::Result;
use tillkeep_model::Money;
use tillkeep_model::z::{TenderTotal, ZReport, identities};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::reports::drawer;
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

/// What there is to be known of a drawer.
pub(crate) struct Totals;

impl Totals {
    /// As it is now. A report that does not add up says so.
    pub(crate) async fn load(conn: &impl ConnectionTrait, session: &register_session::Model) -> Result<ZReport> {
        let documents = drawer::documents(conn, session.id).await?;
        let departments = drawer::departments(conn, session.id, None).await?;
        let tenders = drawer::tenders(conn, session.id).await?;
        let is_exclusive = departments.iter().all(|department| department.inclusive == 0);
        let mut report = ZReport { version: ZReport::VERSION, ..ZReport::default() };
        report.opening_float = session.opening_float;
        report.settlements.amount = drawer::settled(&tenders);
        report.tenders = tenders.into_iter().map(total_of).collect();
        sales::add(&mut report, &documents);
        receipts::add(conn, &mut report, session, &documents).await?;
        controls::add(conn, &mut report, session, &documents, &departments).await?;
        sales::add_departments(&mut report, departments);
        cash::add(&mut report, session);
        running::add(conn, &mut report, session).await?;
        report.header = session.header();
        header::name(conn, std::iter::once(&mut report)).await?;
        if !identities(&report, is_exclusive).is_empty() {
            report.flags.push(ZReport::DOES_NOT_ADD_UP.to_owned());
        }
        Ok(report)
    }
}

fn total_of(tender: drawer::Tender) -> TenderTotal {
    TenderTotal {
        tender_id: tender.id,
        tender_code: tender.code,
        tender_kind: tender.kind,
        count: tender.count,
        amount: tender.amount,
        sales_amount: tender.amount - tender.refunds,
        refunds_amount: tender.refunds,
    }
}

/// The payments with one tender.
pub(crate) fn paid_with(report: &ZReport, tender_id: Uuid) -> Money {
    report.tenders.iter().filter(|tender| tender.tender_id == Some(tender_id)).map(|tender| tender.amount).sum()
}

/// How many documents of any kind it counts: headquarters compares it with what arrived.
pub(crate) fn documents(report: &ZReport) -> i32 {
    let count = report.sale_count + report.refund_count + report.void_count + report.settlements.count;
    i32::try_from(count).unwrap_or(i32::MAX)
}
