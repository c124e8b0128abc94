//! `GET /reports/x`: an open drawer as it is now. It is stored nowhere and may be asked for again and again.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Caller, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::paper::ReportBody;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::ReportsXReport;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::{self, BlindDepartment, Own, OwnMovement, XReport, ZReport};
use tillkeep_storage::entity::register_session::{self, Model};
use tillkeep_storage::reports::drawer;
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use utoipa::ToSchema;
use uuid::Uuid;

use super::asked::Asked;
use crate::memory::Shop;
use crate::paper::{Form, Paper};
use crate::sessions::drawer::open_at;
use crate::sessions::totals::Totals;
use crate::sessions::view::knows;
use crate::terminal::Terminal;
use crate::{Store, printers};

/// The codes with which a caller looks at drawers that are not their own.
const OF_OTHERS: [&str; 1] = ["reports.view_local"];

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = XQuery)]
pub(super) struct Query {
    session_id: Option<Uuid>,
    /// Its open drawer.
    register_id: Option<Uuid>,
    /// The open drawer of this till; that of the sign-in when nothing is said.
    terminal_id: Option<String>,
    /// `json` when not said.
    format: Option<Form>,
    /// Of a text and for a printer 32, 42 or 48 letters (42 when not said); of a page 58 or 80 mm (80 when not said).
    width: Option<u32>,
}

/// All of it, or what somebody sees who may not know what should be in the drawer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = X)]
pub(super) enum X {
    All(Box<ZReport>),
    Blind(Box<XReport>),
}

impl X {
    /// Of an open drawer, for `caller`.
    pub(super) async fn of<P: Requirement>(
        caller: &Caller<P>,
        store: &Store,
        conn: &impl ConnectionTrait,
        session: &Model,
    ) -> Result<Self> {
        let report = Totals::load(conn, session).await?;
        if knows(caller, store).await? {
            return Ok(Self::All(Box::new(report)));
        }
        let own = Own {
            departments: departments(conn, session.id, caller.user_id).await?,
            movements: movements(session, caller.user_id),
        };
        Ok(Self::Blind(Box::new(z::blind(&report, own))))
    }

    /// On paper.
    pub(super) fn body(self) -> ReportBody {
        match self {
            Self::All(report) => ReportBody::X(report),
            Self::Blind(report) => ReportBody::BlindX(report),
        }
    }
}

pub(super) async fn show(
    caller: Caller<ReportsXReport>,
    State(store): State<Arc<Store>>,
    Params(query): Params<Query>,
) -> Result<Paper<X>> {
    let shop = store.shop().await?;
    let which = Which { session_id: query.session_id, register_id: query.register_id, terminal_id: query.terminal_id };
    let snapshot = caller.snapshot().await?;
    let session = which.open(&caller, &shop, &snapshot).await?;
    let x = X::of(&caller, &store, &snapshot, &session).await?;
    snapshot.commit().await?;
    let (own, now) = (shop.own()?, caller.now());
    let paper = |x: X| printers::paper(own, now, None, x.body());
    Asked::new(query.format, query.width).shown(x, paper, own, shop.register(session.register_id))
}

/// A drawer, as it is asked for.
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(super) struct Which {
    pub session_id: Option<Uuid>,
    pub register_id: Option<Uuid>,
    pub terminal_id: Option<String>,
}

impl Which {
    /// The open drawer that is meant, which the caller may look at.
    pub(super) async fn open<P: Requirement>(
        self,
        caller: &Caller<P>,
        shop: &Shop,
        conn: &impl ConnectionTrait,
    ) -> Result<Model> {
        let session = match (self.session_id, self.register_id) {
            (Some(id), _) => {
                let session = register_session::Entity::find_by_id(id).one(conn).await?;
                Some(session.ok_or_else(|| Error::not_found("register session"))?)
            }
            (None, Some(register)) => open_at(conn, register).await?,
            (None, None) => {
                let terminal = Terminal::new(self.terminal_id);
                match shop.at_terminal(terminal.named_or_own(caller)?) {
                    Some(register) => open_at(conn, register.id).await?,
                    None => None,
                }
            }
        };
        let session = session.filter(|session| session.status != SessionStatus::Closed).ok_or_else(|| {
            let text = "no drawer is open there; the figures of a closed one are in GET /reports/z/{sessionId}";
            Error::new(ErrorCode::NoOpenSession, text)
        })?;
        refuse_another(caller, shop, &session)?;
        Ok(session)
    }
}

/// Whoever may not look at others' drawers looks at their own, and at that of the till where they signed in.
fn refuse_another<P: Requirement>(caller: &Caller<P>, shop: &Shop, session: &Model) -> Result<()> {
    let here = caller.terminal_id.as_deref().and_then(|terminal| shop.at_terminal(terminal));
    let is_here = here.is_some_and(|register| register.id == session.register_id);
    let is_own = session.owner() == caller.user_id;
    if is_here || is_own || caller.may(&OF_OTHERS) {
        return Ok(());
    }
    let text = "this is the drawer of another user at another till; looking at it needs reports.view_local";
    Err(Error::new(ErrorCode::Scope, text).with("required", OF_OTHERS))
}

/// What a user sold and gave back, without amounts.
async fn departments(conn: &impl ConnectionTrait, session: Uuid, user: Uuid) -> Result<Vec<BlindDepartment>> {
    let mut own: Vec<BlindDepartment> = drawer::departments(conn, session, Some(user))
        .await?
        .into_iter()
        .map(|department| BlindDepartment {
            department_id: department.id,
            name: department.name.unwrap_or_default(),
            quantity: department.quantity,
        })
        .collect();
    own.sort_by_cached_key(|department| {
        (department.name.is_empty(), department.name.clone(), department.department_id)
    });
    Ok(own)
}

/// What a user put into the drawer and took out of it.
fn movements(session: &Model, user: Uuid) -> Vec<OwnMovement> {
    let all = session.cash_movements.0.as_array().into_iter().flatten();
    let own = all.filter(|movement| Uuid::deserialize(&movement["userId"]).is_ok_and(|by| by == user));
    own.filter_map(|movement| OwnMovement::deserialize(movement).ok()).collect()
}
