//! `POST /pos/prints`: an X, a Z or a ZZ on paper. What it says is what it said when it was asked for.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, sent};
use tillkeep_model::fields::report::PRINT;
use tillkeep_model::paper::{ReportBody, ReportPaper};
use tillkeep_model::permission::code::{ReportsXReport, ReportsZReport, ReportsZzReport};
use tillkeep_model::words::{PrintState, ReportKind};
use tillkeep_model::{ErrorCode, JsonText};
use tillkeep_storage::entity::print_job;
use uuid::Uuid;

use super::x::{Which, X};
use super::{z, zz};
use crate::act::Log;
use crate::memory::Shop;
use crate::paper::PrintJob;
use crate::printers::{self, Printer};
use crate::terminal::acting_at;
use crate::{Store, bounds};

type Asks = Caller<(ReportsXReport, ReportsZReport, ReportsZzReport)>;

sent! {
    pub(super) struct Asked as "ReportPrint" by PRINT {
        /// Made by the client for this paper, and the same one when the request is sent again.
        id: Option<Uuid>,
        /// The till where it comes out; that of the sign-in when it is left out, else that of the drawer.
        terminal_id: Option<String>,
        /// `x`, `z` or `zz`.
        report: String,
        /// Of an X or a Z; of an X the open drawer of the till when it is left out.
        session_id: Option<Uuid>,
        /// Of a ZZ.
        zz_id: Option<Uuid>,
    }
}

/// What is printed, and the register that it is of.
struct Content {
    body: ReportBody,
    register_id: Option<Uuid>,
    /// Of a Z, whose papers are counted.
    session_id: Option<Uuid>,
}

pub(super) async fn ask(
    caller: Asks,
    State(store): State<Arc<Store>>,
    Body(asked): Body<Asked>,
) -> Result<Created<PrintJob>> {
    let id = bounds::document_id(asked.id)?;
    asked.check_fields(caller.now())?;
    let shop = store.shop().await?;
    let terminal = acting_at(&caller, asked.terminal_id.as_deref())?;
    let here = terminal.and_then(|terminal| shop.at_terminal(terminal)).map(|register| register.id);
    let (report, of_id, user_id) = (asked.report.clone(), asked.of_id(), caller.user_id);
    let is_it = move |stored: &print_job::Model| {
        stored.kind == report
            && stored.requested_by == Some(user_id)
            && here.is_none_or(|here| stored.register_id == here)
            && stored.of_id == of_id
    };
    let act = store.act(&caller, "report.print").creates(id, is_it);
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: PrintJob::new(&store, stored, None), new: false });
    }
    let content = asked.content(&caller, &store, &shop).await?;
    let register_id = here.or(content.register_id);
    let register_id = register_id.ok_or_else(|| Error::field("terminalId", "is required; name the till"))?;
    require_printer(&shop, register_id)?;
    let made = act.run(move |tx| {
        Box::pin(async move {
            let now = tx.now();
            let copy = match content.session_id {
                Some(session) => printers::count_z(tx, session).await?,
                None => None,
            };
            let kind = printers::kind(&content.body);
            let paper: ReportPaper = printers::paper(shop.own()?, now, copy, content.body);
            let job = print_job::Model {
                id,
                created_at: now,
                updated_at: now,
                register_id,
                kind: kind.into(),
                copy: copy.unwrap_or_default(),
                state: PrintState::Waiting.into(),
                requested_by: Some(user_id),
                content: Some(JsonText::new(&paper)),
                of_id,
                ..print_job::Model::default()
            };
            tx.insert(&job).await?;
            tx.prints();
            let details = json!({
                "report": job.kind, "copy": job.copy, "sessionId": asked.session_id, "zzId": asked.zz_id,
            });
            Ok((job, Log::Line(details)))
        })
    });
    let Created { data, new } = made.await?;
    Ok(Created { data: PrintJob::new(&store, data, None), new })
}

impl Asked {
    /// Of which drawer or which ZZ the paper is to be, where that is said.
    fn of_id(&self) -> Option<Uuid> {
        if self.report == ReportKind::Zz { self.zz_id } else { self.session_id }
    }

    /// What the paper says, for a caller who may look at it.
    async fn content(&self, caller: &Asks, store: &Store, shop: &Shop) -> Result<Content> {
        let snapshot = caller.snapshot().await?;
        let content = if self.report == ReportKind::X {
            require(caller, ReportsXReport::CODE)?;
            let which = Which { session_id: self.session_id, register_id: None, terminal_id: self.terminal_id.clone() };
            let session = which.open(caller, shop, &snapshot).await?;
            let body = X::of(caller, store, &snapshot, &session).await?.body();
            Content { body, register_id: Some(session.register_id), session_id: None }
        } else if self.report == ReportKind::Z {
            require(caller, ReportsZReport::CODE)?;
            let id = self.session_id.ok_or_else(|| Error::field("sessionId", "is required: whose Z?"))?;
            let (session, report) = z::one(&snapshot, id).await?;
            let body = ReportBody::Z(Box::new(report));
            Content { body, register_id: Some(session.register_id), session_id: Some(id) }
        } else {
            require(caller, ReportsZzReport::CODE)?;
            let id = self.zz_id.ok_or_else(|| Error::field("zzId", "is required: which ZZ?"))?;
            let zz = zz::one(&snapshot, id).await?;
            Content { register_id: zz.register_id, body: zz.body(), session_id: None }
        };
        snapshot.commit().await?;
        Ok(content)
    }
}

fn require(caller: &Asks, code: &'static str) -> Result<()> {
    if caller.may(&[code]) { Ok(()) } else { Err(Error::forbidden(&[code])) }
}

fn require_printer(shop: &Shop, register_id: Uuid) -> Result<()> {
    if shop.register(register_id).and_then(Printer::of).is_some() {
        return Ok(());
    }
    let text = "this register has no printer; set one with PATCH /registers/{id}, or print the page of GET /reports/… with \
                format=html";
    Err(Error::new(ErrorCode::PrinterUnknown, text).at("terminalId"))
}
