//! Where a PIN is typed. A till that a manager enrolled says so with its key; it is then counted by itself, and stands where its
//! register stands.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use sha2::{Digest, Sha256};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{ReportsZReport, StoresEdit};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::{device, register};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::{Auth, HasAuth, Home};
use crate::error::{Error, Result};
use crate::request::Guest;

pub static HEADER: HeaderName = HeaderName::from_static("tillkeep-device");

/// Who enrols devices.
pub type Enroller = (StoresEdit, ReportsZReport);

/// Characters of a key at the most; what is longer is none.
const LONGEST: usize = 100;

/// An enrolled till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub id: Uuid,
    /// That of its register.
    pub terminal_id: String,
}

/// Where a request comes from: the address, and the till, when it is an enrolled one.
#[derive(Clone, Debug)]
pub struct Origin {
    pub address: IpAddr,
    pub device: Option<Device>,
    /// At headquarters, of the key that a browser keeps; of anything else that was sent in its place when it has none yet.
    pub browser: Option<String>,
}

/// A key as it is kept. It is random and long, so that no slow hash is needed, and none is found by trying.
pub fn key_hash(key: &str) -> String {
    hex::encode(Sha256::digest(key.as_bytes()))
}

/// The device of a request, if it names one; a key that is unknown or revoked is 401. Headquarters enrols no devices: there it is
/// the key of a browser, and no request is refused for it.
async fn device_of(auth: &Auth, headers: &HeaderMap) -> Result<Option<Device>> {
    let Some(key) = headers.get(&HEADER).filter(|_| auth.home != Home::Hq) else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| key.len() <= LONGEST).ok_or_else(unknown)?;
    let conn = auth.db.reader();
    let found = device::Entity::find()
        .filter(device::Column::KeyHash.eq(key_hash(key)))
        .filter(device::Column::RevokedAt.is_null())
        .one(conn)
        .await?
        .ok_or_else(unknown)?;
    let register = register::Entity::find_by_id(found.register_id).one(conn).await?.ok_or_else(unknown)?;
    Ok(Some(Device { id: found.id, terminal_id: register.terminal_id }))
}

pub(super) fn unknown() -> Error {
    let text = "this device is not enrolled, or not any more; a manager enrols it with POST /api/v1/devices";
    Error::new(ErrorCode::DeviceUnknown, text)
}

/// 403: the terminal that is named is not the one where this is done.
pub fn wrong_terminal(text: &'static str) -> Error {
    Error::new(ErrorCode::WrongTerminal, text).at("terminalId")
}

impl Origin {
    /// Refuses an enrolled till that says it is another one, and one that is not enrolled where all must be.
    pub fn stands_at(&self, auth: &Auth, terminal_id: &str) -> Result<()> {
        match &self.device {
            Some(device) if device.terminal_id != terminal_id => Err(wrong_terminal(
                "this device is enrolled for another till; leave its key out, or name its own terminal",
            )),
            None if auth.enrolled_only => Err(unknown()),
            _ => Ok(()),
        }
    }
}

/// Refuses `person`, after a right PIN, at a device that is not enrolled where all must be, unless they can enrol it.
pub(crate) async fn may_sign_in(auth: &Auth, device: Option<&Device>, person: Uuid) -> Result<()> {
    if !auth.enrolled_only || device.is_some() {
        return Ok(());
    }
    let access = auth.access_of(person).await?;
    let enrols = access.is_some_and(|access| access.may(&Enroller::any_of(), auth.home_store()));
    if enrols { Ok(()) } else { Err(unknown()) }
}

impl Device {
    /// Notes that a user signs in here, in the transaction of that; 401 when it was revoked meanwhile.
    pub(crate) async fn seen(&self, tx: &Tx, now: Instant) -> Result<()> {
        #[expect(clippy::disallowed_methods, reason = "devices stay at their server")]
        let seen = device::Entity::update_many()
            .col_expr(device::Column::LastSeenAt, Expr::value(now))
            .filter(device::Column::Id.eq(self.id))
            .filter(device::Column::RevokedAt.is_null())
            .exec(tx)
            .await?;
        if seen.rows_affected == 0 { Err(unknown()) } else { Ok(()) }
    }
}

impl<S: HasAuth> FromRequestParts<S> for Origin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let auth = state.auth();
        let device = device_of(auth, &parts.headers).await?;
        if device.is_some() {
            Guest::is_known(&parts.extensions);
        }
        let browser = parts.headers.get(&HEADER).filter(|_| auth.home == Home::Hq);
        let browser = browser.map(|key| key_hash(&String::from_utf8_lossy(key.as_bytes())));
        Ok(Self { address: auth.client_address(parts), device, browser })
    }
}
