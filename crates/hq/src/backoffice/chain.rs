//! What a new store of the chain begins with where it says nothing else: country, currency, time zone and language. Each store keeps
//! its own from then on. Prices are typed in the currency of the chain, also before there is a store.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use tillkeep_http::describe;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::{Answer, Body, Caller};
use tillkeep_model::fields::shape::exponent;
use tillkeep_model::fields::store::open_price_at_most;
use tillkeep_model::permission::SignedIn;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_model::{ErrorCode, Instant, Money, fields};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{audit, settings};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;

use super::conflict::{self, Named};
use crate::Hq;
use crate::address::{Address, Asked};
use crate::state::Routes;

/// What the audit log calls it.
const AUDITED: &str = "chain";

/// Decimals of a currency of which none are known.
const DECIMALS: i16 = 2;

/// What new stores begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Defaults {
    /// 0 before somebody has said them.
    version: i64,
    country_code: String,
    currency_code: String,
    timezone: String,
    locale: String,
}

/// Those of a store that says nothing, in the rule book.
impl Default for Defaults {
    fn default() -> Self {
        Self {
            version: 0,
            country_code: "US".to_owned(),
            currency_code: "USD".to_owned(),
            timezone: "UTC".to_owned(),
            locale: "en-US".to_owned(),
        }
    }
}

impl Defaults {
    fn read(text: Option<&str>) -> Result<Self> {
        text.map_or_else(|| Ok(Self::default()), |text| Ok(serde_json::from_str(text)?))
    }

    pub(crate) async fn load(conn: &impl ConnectionTrait) -> Result<Self> {
        Self::read(settings::get(conn, settings::CHAIN).await?.as_deref())
    }

    /// Those that no other request changes before the transaction ends.
    async fn locked(conn: &impl ConnectionTrait) -> Result<Self> {
        let unsaid = serde_json::to_string(&Self::default())?;
        Self::read(Some(&settings::get_to_change(conn, settings::CHAIN, || unsaid).await?))
    }

    fn exponent(&self) -> i16 {
        exponent(&self.currency_code).unwrap_or(DECIMALS)
    }

    /// Gives a new store what was not `sent` of it.
    pub(crate) fn fill(&self, row: &mut store::Model, sent: &Map<String, Json>) {
        let left_out = |key: &str| !sent.contains_key(key);
        if left_out("countryCode") {
            row.country_code.clone_from(&self.country_code);
        }
        if left_out("timezone") {
            row.timezone.clone_from(&self.timezone);
        }
        if left_out("locale") {
            row.locale.clone_from(&self.locale);
        }
        if !left_out("currencyCode") {
            return;
        }
        row.currency_code.clone_from(&self.currency_code);
        if left_out("currencyExponent") {
            row.currency_exponent = self.exponent();
        }
        if left_out("maxOpenPrice") {
            row.max_open_price = Some(Money(open_price_at_most(row.currency_exponent)));
        }
    }

    fn check(&self, now: Instant) -> Result<()> {
        let mut check = Check::default();
        for (field, value) in [
            ("countryCode", &self.country_code),
            ("currencyCode", &self.currency_code),
            ("timezone", &self.timezone),
            ("locale", &self.locale),
        ] {
            check.by_book(&fields::store::BOOK, ("", field), value.as_str(), now);
        }
        check.finish()
    }
}

/// The chain, as every page needs it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Chain)]
pub(super) struct View {
    /// Whether somebody has said what stands here; otherwise it is what a store has that says nothing.
    is_set: bool,
    /// For `expectedVersion`.
    version: i64,
    country_code: String,
    currency_code: String,
    /// Decimals of that currency, and of the prices of products.
    currency_exponent: i16,
    timezone: String,
    locale: String,
    /// There are products with prices: another currency must have as many decimals.
    decimals_locked: bool,
    /// How others reach this headquarters, as far as it knows: what stands on a sheet for a new colleague.
    address: Option<Address>,
}

impl View {
    fn new(defaults: Defaults, decimals_locked: bool, address: Option<Address>) -> Self {
        Self {
            is_set: defaults.version > 0,
            version: defaults.version,
            currency_exponent: defaults.exponent(),
            country_code: defaults.country_code,
            currency_code: defaults.currency_code,
            timezone: defaults.timezone,
            locale: defaults.locale,
            decimals_locked,
            address,
        }
    }
}

/// What changes; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ChainChange)]
pub(super) struct Change {
    #[schema(schema_with = country_code, required = false)]
    country_code: Option<String>,
    #[schema(schema_with = currency_code, required = false)]
    currency_code: Option<String>,
    #[schema(schema_with = timezone, required = false)]
    timezone: Option<String>,
    #[schema(schema_with = locale, required = false)]
    locale: Option<String>,
    /// The `version` that the change is based on; another one is refused.
    expected_version: Option<i64>,
}

fn country_code() -> RefOr<Schema> {
    describe::of_book(&fields::store::BOOK, "countryCode")
}

fn currency_code() -> RefOr<Schema> {
    describe::of_book(&fields::store::BOOK, "currencyCode")
}

fn timezone() -> RefOr<Schema> {
    describe::of_book(&fields::store::BOOK, "timezone")
}

fn locale() -> RefOr<Schema> {
    describe::of_book(&fields::store::BOOK, "locale")
}

impl Change {
    fn of(self, old: &Defaults) -> Defaults {
        Defaults {
            version: old.version + 1,
            country_code: self.country_code.unwrap_or_else(|| old.country_code.clone()),
            currency_code: self.currency_code.unwrap_or_else(|| old.currency_code.clone()),
            timezone: self.timezone.unwrap_or_else(|| old.timezone.clone()),
            locale: self.locale.unwrap_or_else(|| old.locale.clone()),
        }
    }
}

/// `GET /chain`
pub(super) async fn get(caller: Caller<SignedIn>, State(hq): State<Arc<Hq>>, asked: Asked) -> Result<Answer<View>> {
    let conn = caller.reader();
    Ok(Answer(View::new(Defaults::load(conn).await?, has_products(conn).await?, hq.address(&asked))))
}

/// `PATCH /chain`: stores that are there keep theirs.
pub(super) async fn edit(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    asked: Asked,
    Body(body): Body<Change>,
) -> Result<Answer<View>> {
    caller.everywhere()?;
    let act = caller.begin().await?;
    let old = Defaults::locked(&*act).await?;
    let named = Named { entity_type: AUDITED, id: None, changed_at: None };
    let current = || Ok(serde_json::to_value(&old)?);
    conflict::refuse_outdated(&act, &named, (body.expected_version, old.version), current).await?;
    let new = body.of(&old);
    new.check(caller.now())?;
    let decimals_locked = has_products(&*act).await?;
    if decimals_locked && new.exponent() != old.exponent() {
        let text = format!(
            "products have prices with {} decimals, and {} has {}; choose a currency with as many",
            old.exponent(),
            new.currency_code,
            new.exponent()
        );
        return Err(Error::new(ErrorCode::CurrencyLocked, text).at("currencyCode"));
    }
    // Said for the first time, what was guessed is a decision too.
    let is_new = old.version == 0 || Defaults { version: old.version, ..new.clone() } != old;
    if !is_new {
        return Ok(Answer(View::new(old, decimals_locked, hq.address(&asked))));
    }
    settings::set(&*act, settings::CHAIN, &serde_json::to_string(&new)?).await?;
    let details = json!({"from": old, "to": new});
    act.done(audit::Entry { entity_type: Some(AUDITED), details, ..caller.audit("chain.edit") }).await?;
    Ok(Answer(View::new(new, decimals_locked, hq.address(&asked))))
}

/// What prices of products are in: the currency that all stores share, else that of the chain; and its decimals.
pub(super) async fn of_prices(conn: &impl ConnectionTrait) -> Result<(String, i16)> {
    let mut shared: Vec<(String, i16)> = store::Entity::find()
        .select_only()
        .columns([store::Column::CurrencyCode, store::Column::CurrencyExponent])
        .filter(store::Column::DeletedAt.is_null())
        .distinct()
        .into_tuple()
        .all(conn)
        .await?;
    if let (1, Some(one)) = (shared.len(), shared.pop()) {
        return Ok(one);
    }
    let defaults = Defaults::load(conn).await?;
    let exponent = defaults.exponent();
    Ok((defaults.currency_code, exponent))
}

async fn has_products(conn: &impl ConnectionTrait) -> Result<bool> {
    let found = product::Entity::find()
        .select_only()
        .column(product::Column::Id)
        .filter(product::Column::DeletedAt.is_null())
        .limit(1)
        .into_tuple::<Uuid>()
        .one(conn)
        .await?;
    Ok(found.is_some())
}

/// The routes of the chain.
pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get("/chain", get)
        .about("What new stores begin with, the currency of prices, and how others reach this headquarters.")
        .patch("/chain", edit)
        .about("Change what new stores begin with; stores that are there keep theirs.")
        .fails(&[ErrorCode::VersionConflict, ErrorCode::CurrencyLocked])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_said_is_what_the_rule_book_gives_a_store() {
        let initial = fields::store::BOOK.initial(&Map::new());
        let Ok(Json::Object(defaults)) = serde_json::to_value(Defaults::default()) else { panic!("no object") };
        for (key, value) in defaults.iter().filter(|(key, _)| *key != "version") {
            assert_eq!(initial.get(key), Some(value), "{key}");
        }
        assert_eq!(initial["currencyExponent"], Defaults::default().exponent());
    }

    #[test]
    fn a_store_begins_with_what_it_does_not_say_itself() {
        let defaults = Defaults { currency_code: "JPY".to_owned(), locale: "ja".to_owned(), ..Defaults::default() };
        let filled = |sent: Json| {
            let Json::Object(sent) = sent else { panic!("no object") };
            let mut row = store::Model { currency_code: "EUR".to_owned(), currency_exponent: 2, ..Default::default() };
            defaults.fill(&mut row, &sent);
            (row.currency_code, row.currency_exponent, row.max_open_price, row.locale)
        };
        let of_chain = ("JPY".to_owned(), 0, Some(Money(10_000)), "ja".to_owned());
        assert_eq!(filled(json!({"code": "S01"})), of_chain);
        let own = ("EUR".to_owned(), 2, None, String::new());
        assert_eq!(filled(json!({"currencyCode": "EUR", "locale": ""})), own);
    }
}
