//! What the fields of a special say of each other, and of what they name.

use tillkeep_http::error::Result;
use tillkeep_http::resource::Check;
use tillkeep_model::fields::special::{figures, is_of_groups};
use tillkeep_model::pricing::SpecialType;
use tillkeep_model::words::Reported;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::product_special::{Column, Model};
use tillkeep_storage::entity::{department, product, store};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, ModelTrait, QueryFilter, QuerySelect, Value};
use uuid::Uuid;

use crate::backoffice::references::lives;

/// Every figure that some type has.
pub(super) const FIGURES: [(&str, Column); 8] = [
    ("percentBps", Column::PercentBps),
    ("amount", Column::Amount),
    ("fixedPrice", Column::FixedPrice),
    ("buyQuantity", Column::BuyQuantity),
    ("getQuantity", Column::GetQuantity),
    ("getDiscountBps", Column::GetDiscountBps),
    ("bundleQuantity", Column::BundleQuantity),
    ("bundlePrice", Column::BundlePrice),
];

pub(super) fn type_of(row: &Model) -> Option<SpecialType> {
    match Reported::read(&row.kind) {
        Reported::Known(kind) => Some(kind),
        Reported::Other(_) => None,
    }
}

fn is_said(row: &Model, column: Column) -> bool {
    let value = row.get(column);
    value != value.as_null()
}

/// Another type takes away the figures of the former one that were not sent.
pub(super) fn follow_type(old: &Model, row: &mut Model, is_sent: impl Fn(&str) -> bool) {
    let (Some(kind), true) = (type_of(row), old.kind != row.kind) else { return };
    for (field, column) in FIGURES {
        if !figures(kind).contains(&field) && !is_sent(field) {
            let nothing: Value = row.get(column).as_null();
            row.set(column, nothing);
        }
    }
}

pub(super) fn check(check: &mut Check, old: Option<&Model>, row: &Model) {
    let differs =
        |columns: &[Column]| old.is_none_or(|old| columns.iter().any(|column| old.get(*column) != row.get(*column)));
    let deal = FIGURES.map(|(_, column)| column);
    if differs(&[Column::Kind]) || differs(&deal) || differs(&[Column::MixGroup]) {
        check_figures(check, row);
    }
    if differs(&[Column::ProductId, Column::DepartmentId]) {
        match (row.product_id, row.department_id) {
            (None, None) => check.that(false, "productId", "is required, or departmentId: what the special is on"),
            (Some(_), Some(_)) => check.that(
                false,
                "departmentId",
                "must be left out or null beside productId: a special is on one of both",
            ),
            _ => check,
        };
    }
    if differs(&[Column::StartDate, Column::EndDate]) {
        let turned = row.start_date.as_ref().zip(row.end_date.as_ref()).is_some_and(|(start, end)| start > end);
        check.that(!turned, "endDate", "must not be before startDate; both days are of the special");
    }
    if differs(&[Column::StartTime, Column::EndTime]) {
        let text =
            "must be sent with the other time of day, or neither of them; a time up to the start is on the next day";
        check.that(row.start_time.is_some() || row.end_time.is_none(), "startTime", text);
        check.that(row.end_time.is_some() || row.start_time.is_none(), "endTime", text);
    }
}

/// A special has exactly the figures of its type.
fn check_figures(check: &mut Check, row: &Model) {
    // What is no type was refused by the book.
    let Some(kind) = type_of(row) else { return };
    for (field, column) in FIGURES {
        let wanted = figures(kind).contains(&field);
        let text = if wanted {
            format!("is required for {}", kind.word())
        } else {
            format!("is of another type than {}: leave it out, or send null", kind.word())
        };
        check.that(wanted == is_said(row, column), field, &text);
    }
    if let Some(group) = &row.mix_group {
        let text = "is for buy_x_get_y and multi_buy alone, which count units: leave it out, or send null";
        check.that(is_of_groups(kind), "mixGroup", text);
        check.that(group.trim() == group, "mixGroup", "must not begin or end with a space");
    }
}

/// What a special newly names.
pub(super) async fn check_others(tx: &Tx, check: &mut Check, old: Option<&Model>, row: &Model) -> Result<()> {
    let is_new = |id: fn(&Model) -> Option<Uuid>| old.is_none_or(|old| id(old) != id(row));
    if let Some(id) = row.department_id.filter(|_| is_new(|row| row.department_id)) {
        check.that(lives::<department::Entity>(tx, id).await?, "departmentId", "is no department");
    }
    if let Some(id) = row.store_id.filter(|_| is_new(|row| row.store_id)) {
        check.that(lives::<store::Entity>(tx, id).await?, "storeId", "is no store");
    }
    let is_other = is_new(|row| row.product_id) || old.is_none_or(|old| old.kind != row.kind);
    if let Some(id) = row.product_id.filter(|_| is_other) {
        check_product(tx, check, row, id).await?;
    }
    Ok(())
}

/// A special on what never gets one would be believed and never be charged.
async fn check_product(tx: &Tx, check: &mut Check, row: &Model, id: Uuid) -> Result<()> {
    use product::Column;
    let found = product::Entity::find_by_id(id).filter(Column::DeletedAt.is_null()).lock_shared().one(tx).await?;
    let Some(product) = found else {
        check.that(false, "productId", "is no product");
        return Ok(());
    };
    let text = format!("{} has no price of its own: what is typed at the till gets no special", product.sku);
    check.that(!product.is_open_price, "productId", &text);
    let charged = product::Entity::find().filter(Column::ChargeProductId.eq(id)).filter(Column::DeletedAt.is_null());
    let text = format!("{} is the charge of another product, which gets no special", product.sku);
    check.that(charged.limit(1).one(tx).await?.is_none(), "productId", &text);
    if type_of(row).is_some_and(is_of_groups) {
        let text =
            format!("{} is weighed or measured: only percent_off, amount_off and fixed_price are for it", product.sku);
        check.that(!product.is_weighed && product.quantity_decimals < 3, "type", &text);
    }
    Ok(())
}
