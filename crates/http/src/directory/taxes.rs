//! What the rates of a tax group come to, before anything is sold with them.

use serde::{Deserialize, Serialize};
use tillkeep_model::permission::code::TaxesView;
use tillkeep_model::pricing::tax_line;
use tillkeep_model::{Money, Ppm, Qty};
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::taxes;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Answer;
use crate::auth::{Caller, Home};
use crate::error::{Error, Result};
use crate::extract::Body;

/// What is asked.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = TaxPreviewQuestion)]
pub struct Question {
    tax_group_id: Uuid,
    /// Without a store: by the rates for all stores, with prices that are without tax unless the group says otherwise.
    /// A store server always means itself.
    store_id: Option<Uuid>,
    /// The price of one unit, as it is typed in that store.
    amount: Money,
    /// One, when not said.
    quantity: Option<Qty>,
}

/// A line with its taxes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TaxPreview)]
pub struct Preview {
    /// Whether the price contains its taxes there.
    price_includes_tax: bool,
    net: Money,
    tax: Money,
    total: Money,
    /// In the order in which they are taken.
    taxes: Vec<PreviewedTax>,
}

/// What one rate takes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewedTax {
    tax_rate_id: Uuid,
    code: String,
    name: String,
    rate_ppm: Ppm,
    is_compound: bool,
    base_amount: Money,
    tax_amount: Money,
}

/// `POST /taxes/preview`. Reads only.
pub async fn preview(caller: Caller<TaxesView>, Body(question): Body<Question>) -> Result<Answer<Preview>> {
    let Question { tax_group_id, store_id, amount, quantity } = question;
    let store_id = match caller.auth().home {
        Home::Store(own) => Some(store_id.unwrap_or(own)),
        Home::Hq => store_id,
    };
    let conn = caller.snapshot().await?;
    let store = match store_id {
        Some(id) => {
            caller.at_store(id)?;
            Some(
                store::Entity::find_by_id(id)
                    .one(&conn)
                    .await?
                    .ok_or_else(|| Error::field("storeId", "is no store"))?,
            )
        }
        None => None,
    };
    let group = taxes::of_store(&conn, store_id).await?.remove(&tax_group_id);
    let group = group.filter(|group| group.row.deleted_at.is_none());
    let group = group.ok_or_else(|| Error::field("taxGroupId", "is no tax group"))?;
    let inclusive = group.inclusive(store.as_ref());
    let line = tax_line(amount.times(quantity.unwrap_or(Qty::ONE)), inclusive, &group.rates, false);
    let taxes = line.taxes.into_iter().map(|amount| PreviewedTax {
        tax_rate_id: amount.rate.id,
        code: amount.rate.code,
        name: amount.rate.name,
        rate_ppm: amount.rate.rate,
        is_compound: amount.rate.compound,
        base_amount: amount.base,
        tax_amount: amount.tax,
    });
    let taxes = taxes.collect();
    Ok(Answer(Preview { price_includes_tax: inclusive, net: line.net, tax: line.tax, total: line.total, taxes }))
}
