//! `POST /registers/{id}/open`.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Caller, Created, Id, sent};
use tillkeep_model::approvable::FLOAT;
use tillkeep_model::fields::session::{OPENING, SESSION};
use tillkeep_model::permission::code::{PosSell, RegistersOpen};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{ErrorCode, JsonText, Money};
use tillkeep_storage::entity::{register, register_session};
use tillkeep_storage::numbers::Numbering;
use tillkeep_storage::parked_carts;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::denominations;
use super::drawer::{open_at, require_user};
use crate::act::{Acting, Log, Stopped};
use crate::approvals::{Approval, PresentedApprovals, Scope, ValidApprovals};
use crate::memory::Shop;
use crate::terminal::Reach;
use crate::{Store, day};

sent! {
    #[derive(Default)]
    #[expect(clippy::struct_field_names, reason = "the names on the wire")]
    pub(crate) struct Opening as "SessionOpening" by OPENING {
        opening_float: Option<Money>,
        denominations: Option<Json>,
        note: Option<String>,
        opened_for_user_id: Option<Uuid>,
        /// Tokens of `POST /pos/approvals`.
        #[serde(default)]
        approvals: Vec<String>,
    }
}

impl Opening {
    /// The coins and notes of `float`, as they are kept.
    fn denominations(&self, float: Money) -> Result<Option<JsonText>> {
        let kept = self.denominations.as_ref().map(|said| denominations::read(said, float)).transpose();
        Ok(kept.map_err(|problem| Error::field("denominations", problem))?.map(JsonText))
    }
}

pub(crate) async fn open(
    caller: Caller<(RegistersOpen, PosSell)>,
    State(store): State<Arc<Store>>,
    Id(register_id): Id,
    OptionalBody(body): OptionalBody<Opening>,
) -> Result<Created<register_session::Model>> {
    body.check_fields(caller.now())?;
    let shop = store.shop().await?;
    shop.own()?;
    let opened_by = opened_for(&caller, body.opened_for_user_id).await?;
    let approvals = PresentedApprovals::read(caller.reader(), &body.approvals).await?.valid(&caller, store.id).await?;
    let id = Uuid::now_v7();
    let act = store.act(&caller, "session.open").about(SESSION.table, &id);
    let request = Request {
        id,
        register_id,
        shop,
        opened_by,
        approvals,
        any_float: caller.may(FLOAT.holders),
        reach: Reach::new(&caller),
        numbering: store.numbering().await?,
        body,
    };
    Ok(Created::new(act.run(move |tx| Box::pin(request.open(tx))).await?))
}

/// What the transaction needs.
struct Request {
    id: Uuid,
    register_id: Uuid,
    shop: Arc<Shop>,
    opened_by: Uuid,
    approvals: ValidApprovals,
    /// Whether the caller may open the drawer with another float than the register's.
    any_float: bool,
    reach: Reach,
    numbering: Numbering,
    body: Opening,
}

impl Request {
    async fn open(self, tx: &mut Acting<'_>) -> std::result::Result<(register_session::Model, Log), Stopped> {
        let settings = self.shop.own()?;
        let register = register::Entity::find_by_id(self.register_id).one(&**tx).await?;
        let register = register.ok_or_else(|| Error::not_found("register"))?;
        if !register.is_active {
            let text = "this register is not active; set isActive with PATCH /registers/{id}";
            return Err(Error::new(ErrorCode::Conflict, text).into());
        }
        self.reach.check(&register)?;
        let default = register.default_float.unwrap_or(settings.default_float);
        let opening_float = self.body.opening_float.unwrap_or(default);
        let approval = self.approval(register.id, opening_float, default)?;
        let opening_denominations = self.body.denominations(opening_float)?;
        if let Some(session) = open_at(&**tx, register.id).await? {
            let text = format!("session {} of this register is still open; close it first", session.session_number);
            return Err(Error::new(ErrorCode::SessionAlreadyOpen, text).with("sessionId", session.id).into());
        }
        if let Some(approval) = approval {
            tx.consume(approval, self.id).await?;
        }
        let number = tx.number(&self.numbering.series("session", &register.code)).await?.of_session();
        let now = tx.now();
        let session = register_session::Model {
            id: self.id,
            store_id: settings.id,
            created_at: now,
            updated_at: now,
            register_id: register.id,
            register_code: register.code,
            session_number: i32::try_from(number).map_err(|error| Error::internal(error))?,
            status: SessionStatus::Open.into(),
            business_date: day::today(settings, now),
            opened_by: self.opened_by,
            opened_at: now,
            opening_float,
            opening_denominations,
            ..register_session::Model::default()
        };
        tx.insert(&session).await?;
        parked_carts::count_in(&**tx, &register.terminal_id, session.id).await?;
        let details = json!({"openingFloat": opening_float, "openedBy": self.opened_by, "note": self.body.note});
        Ok((session, Log::Line(details)))
    }

    /// The approval of `float`, when the caller needs one.
    fn approval(&self, register_id: Uuid, float: Money, default: Money) -> Result<Option<&Approval>> {
        if float == default || self.any_float {
            return Ok(None);
        }
        let approval = self.approvals.require(&FLOAT, &Scope::Float { register_id, amount: float });
        approval.map(Some).map_err(|_| {
            let text = format!("the float is {}; another one needs registers.open or an approval of it", default.0);
            Error::new(ErrorCode::FloatNotDefault, text)
                .with("required", FLOAT.holders)
                .with("approvable", true)
                .at("openingFloat")
        })
    }
}

/// The owner of the drawer: the caller, or a cashier for whom the caller may open it.
async fn opened_for(caller: &Caller<(RegistersOpen, PosSell)>, other: Option<Uuid>) -> Result<Uuid> {
    let Some(other) = other.filter(|other| *other != caller.user_id) else { return Ok(caller.user_id) };
    if !caller.may(FLOAT.holders) {
        // Not to be approved: only a caller who holds the code says, in their own name, who owns a drawer.
        let text = "opening a drawer for another user needs registers.open";
        return Err(Error::new(ErrorCode::Forbidden, text).with("required", FLOAT.holders));
    }
    require_user(caller.reader(), other, "openedForUserId").await?;
    Ok(other)
}
