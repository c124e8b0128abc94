//! Papers of drawers: what they say is kept with their job, so that it does not change while it waits. The head with the name of the
//! store is put on when they are printed.

use serde::Deserialize;
use tillkeep_model::paper::{ReportBody, ReportPaper, Shop as Head};
use tillkeep_model::words::{PrintState, ReportKind};
use tillkeep_model::z::ZReport;
use tillkeep_model::{Instant, JsonText, ids};
use tillkeep_storage::entity::{print_job, register_session, store};
use tillkeep_storage::sea_orm::ConnectionTrait;
use tillkeep_storage::{DbErr, Tx, settings};
use uuid::Uuid;

use super::settings::Printer;
use crate::act::{Acting, Stopped};
use crate::memory::Shop;

/// How often the Z of a session came out besides the first one. It stays at this store: a session that is pushed does not have it.
fn copies_of(session: Uuid) -> String {
    format!("z_copies:{session}")
}

/// The last copy of a Z; nothing when it was not printed yet.
pub(crate) async fn z_copies(conn: &impl ConnectionTrait, session: Uuid) -> Result<Option<i32>, DbErr> {
    Ok(settings::get(conn, &copies_of(session)).await?.and_then(|copies| copies.parse().ok()))
}

/// Counts one more paper of a Z: which copy it is, and nothing for the first one.
pub(crate) async fn count_z(tx: &Tx, session: Uuid) -> Result<Option<i32>, DbErr> {
    let copy = z_copies(tx, session).await?.map(|copies| copies + 1);
    settings::set(tx, &copies_of(session), &copy.unwrap_or_default().to_string()).await?;
    Ok(copy)
}

/// A paper in the words of this store.
pub(crate) fn paper(store: &store::Model, printed_at: Instant, copy: Option<i32>, body: ReportBody) -> ReportPaper {
    ReportPaper {
        locale: store.locale.clone(),
        currency_code: store.currency_code.clone(),
        currency_exponent: store.currency_exponent,
        time_zone: store.timezone.clone(),
        shop: Head::default(),
        printed_at,
        copy,
        body,
    }
}

/// Which paper it is.
pub(crate) const fn kind(body: &ReportBody) -> ReportKind {
    match body {
        ReportBody::X(_) | ReportBody::BlindX(_) => ReportKind::X,
        ReportBody::Z(_) => ReportKind::Z,
        ReportBody::Zz(_) => ReportKind::Zz,
        ReportBody::Movement(_) => ReportKind::Movement,
    }
}

/// What the paper of `job` says, if it is one of a drawer.
pub(crate) fn paper_of(job: &print_job::Model) -> Option<ReportPaper> {
    ReportPaper::deserialize(&job.content.as_ref()?.0).ok()
}

/// Whether the paper of `job` says what should be in a drawer.
pub(crate) fn tells(job: &print_job::Model) -> bool {
    let says = |body| matches!(body, ReportBody::X(_) | ReportBody::Z(_) | ReportBody::Zz(_));
    paper_of(job).is_some_and(|paper| says(paper.body))
}

/// Has the Z of `session` printed once its close is committed, where its register prints by itself.
pub(crate) async fn queue_z(
    tx: &mut Acting<'_>,
    shop: &Shop,
    session: &register_session::Model,
    report: ZReport,
) -> Result<(), Stopped> {
    let printer = shop.register(session.register_id).and_then(Printer::of);
    if !printer.is_some_and(|printer| printer.automatic) {
        return Ok(());
    }
    let now = tx.now();
    let copy = count_z(tx, session.id).await?;
    let paper = paper(shop.own()?, now, copy, ReportBody::Z(Box::new(report)));
    let job = print_job::Model {
        id: ids::beside(session.id, ids::named(&format!("print:z:{}", session.id))),
        created_at: now,
        updated_at: now,
        register_id: session.register_id,
        kind: ReportKind::Z.into(),
        copy: copy.unwrap_or_default(),
        state: PrintState::Waiting.into(),
        requested_by: session.closed_by,
        content: Some(JsonText::new(&paper)),
        ..print_job::Model::default()
    };
    tx.insert(&job).await?;
    tx.prints();
    Ok(())
}

/// `job` comes out once more: as a copy, unless it is known that it did not come out before.
pub(crate) async fn again(tx: &Tx, job: &mut print_job::Model) -> Result<(), DbErr> {
    let Some(mut paper) = paper_of(job).filter(|_| job.state != PrintState::Failed) else { return Ok(()) };
    let copy = match &paper.body {
        ReportBody::Z(report) => match report.header.session_id {
            Some(session) => count_z(tx, session).await?.unwrap_or(1),
            None => job.copy + 1,
        },
        ReportBody::X(_) | ReportBody::BlindX(_) | ReportBody::Zz(_) | ReportBody::Movement(_) => job.copy + 1,
    };
    (job.copy, paper.copy) = (copy, Some(copy));
    job.content = Some(JsonText::new(&paper));
    Ok(())
}
