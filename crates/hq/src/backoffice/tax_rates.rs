//! Tax rates.

use serde_json::json;
use tillkeep_http::error::Result;
use tillkeep_http::resource::{Check, Fields, ListSpec};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::tax_group_rate;
use tillkeep_storage::entity::tax_rate::{Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::plain;
use super::plain::Rules;
use super::refuse_in_use;
use super::rows::Kind;
use crate::routes::Routes;
use tillkeep_model::permission::code::{TaxesManage, TaxesView};

impl Rules for Entity {
    const KIND: Kind = Kind {
        name: "tax_rates",
        singular: "tax rate",
        fields: Fields {
            writable: &["code", "name", "receiptLabel", "ratePpm", "authority", "isActive"],
            required: &["code", "name", "ratePpm"],
        },
        defaults: |_| json!({"isActive": true}),
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec =
        ListSpec { search: &["code", "name"], filters: &[], sort: &["code", "name", "ratePpm", "createdAt"] };

    async fn check(_: &mut Tx, _: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        Check::default()
            .text(&row.code, "code", 20)
            .text(&row.name, "name", 100)
            .optional(row.receipt_label.as_deref(), "receiptLabel", 10)
            .optional(row.authority.as_deref(), "authority", 100)
            .range(row.rate_ppm.0, "ratePpm", 0..=1_000_000)
            .finish()
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        let used = tax_group_rate::Entity::find()
            .filter(tax_group_rate::Column::TaxRateId.eq(row.id))
            .filter(tax_group_rate::Column::DeletedAt.is_null())
            .count(tx)
            .await?;
        refuse_in_use(used, "rates of tax groups")
    }
}

/// The routes of tax rates.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, IdReused, InUse, VersionConflict};
    routes
        .get("/tax-rates", plain::list::<Entity, TaxesView>)
        .about("List tax rates.")
        .post("/tax-rates", plain::create::<Entity, TaxesManage>)
        .about("Make a tax rate.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/tax-rates/{id}", plain::edit::<Entity, TaxesManage>)
        .about("Change a tax rate.")
        .fails(&[VersionConflict, DuplicateCode])
        .delete("/tax-rates/{id}", plain::delete::<Entity, TaxesManage>)
        .about("Delete a tax rate.")
        .fails(&[VersionConflict, InUse])
}
