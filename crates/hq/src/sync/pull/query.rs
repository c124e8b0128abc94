//! What a pull asks for.

use serde::Deserialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::MAX_PULL_LIMIT;
use tillkeep_storage::registry::{self, SyncType};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::sync::protocol::ignored;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PullQuery)]
pub(crate) struct Query {
    #[schema(required)]
    entity_type: Option<String>,
    #[schema(value_type = Option<i64>, minimum = 0)]
    since_version: Option<String>,
    #[schema(value_type = Option<i32>, minimum = 1, maximum = 10_000)]
    limit: Option<String>,
    /// The epoch that the cursor is from.
    epoch: Option<String>,
    /// The `tag` of the answer that the cursor is from.
    #[schema(value_type = Option<Uuid>)]
    since_tag: Option<String>,
    /// Up to which version the caller has the type, where it asks ahead of that; else it has what is up to `since_version`.
    #[schema(value_type = Option<i64>, minimum = 0)]
    has_version: Option<String>,
}

/// The same, understood.
pub(crate) struct Asked {
    pub entity: &'static SyncType,
    pub since: i64,
    /// Up to which version the caller has the type.
    pub has: i64,
    /// `None` is all rows.
    pub limit: Option<u64>,
    /// The caller says that its cursor is from this database.
    pub same_epoch: bool,
    pub since_tag: Option<Uuid>,
}

impl Query {
    /// What is asked for of the database with this `epoch`.
    pub(crate) fn understood(self, epoch: &str) -> Result<Asked> {
        let name = self.entity_type.as_deref().unwrap_or_default();
        let entity = registry::find(name).filter(|entity| entity.is_pulled()).ok_or_else(|| {
            ignored("pull_type");
            Error::new(ErrorCode::UnknownEntityType, format!("{name:?} is not a type that stores pull"))
                .at("entity_type")
        })?;
        let since = version("since_version", self.since_version.as_deref().unwrap_or("0"))?;
        let has = self.has_version.as_deref().map_or(Ok(since), |text| version("has_version", text))?;
        let limit = match self.limit.as_deref().map(str::parse::<u64>) {
            None => None,
            Some(Ok(limit)) if (1..=MAX_PULL_LIMIT).contains(&limit) => Some(limit),
            Some(_) => return Err(bad("limit", "must be a whole number between 1 and 10000")),
        };
        if self.epoch.as_deref().is_some_and(|sent| sent != epoch) {
            let text = "this database is not the one the cursor is from; reload";
            return Err(Error::new(ErrorCode::EpochChanged, text).with("epoch", epoch));
        }
        let since_tag = self.since_tag.as_deref().map(str::parse::<Uuid>).transpose();
        let since_tag =
            since_tag.map_err(|_| bad("since_tag", "must be the tag of the answer that since_version is from"))?;
        Ok(Asked { entity, since, has, limit, same_epoch: self.epoch.is_some(), since_tag })
    }
}

fn version(field: &str, text: &str) -> Result<i64> {
    let version = text.parse::<i64>().ok().filter(|version| *version >= 0);
    version.ok_or_else(|| bad(field, "must be a whole number, 0 or more"))
}

fn bad(field: &str, text: &str) -> Error {
    Error::new(ErrorCode::BadRequest, format!("{field} {text}")).at(field)
}
