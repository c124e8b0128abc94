//! Specials are known here and not charged yet. The cashier sees which ones are in force for a cart, so that no user
//! believes the customer got them.

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::pricing::PriceSource;
use tillkeep_model::special::Window;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::product_special::Model;
use tillkeep_storage::entity::{sale_item, store};
use tillkeep_storage::sea_orm::ConnectionTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use super::cart::Cart;
use super::catalog::Catalog;
use super::sale_document::SaleDocument;
use crate::day;
use crate::memory::specials::{concerning, concerns};

/// Something that the cashier should know, though nothing is wrong with the request.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Warning {
    /// `special_not_charged`.
    code: &'static str,
    message: String,
    special_id: Uuid,
    special_code: String,
    special_name: String,
    line_no: usize,
    product_id: Uuid,
}

/// A line that a special could change the price of, with those that concern it.
struct Line<'a> {
    no: usize,
    product_id: Uuid,
    specials: Vec<&'a Model>,
}

/// What is in force for the lines of `cart` at this moment of the store, and is not charged. A line whose price a user
/// typed has no special.
pub(crate) fn of_cart(
    cart: &Cart,
    catalog: &Catalog,
    store: &store::Model,
    at: Instant,
    has_customer: bool,
) -> Vec<Warning> {
    let lines = cart.lines.iter().enumerate();
    let lines = lines.filter(|(_, line)| line.open_price.is_none() && line.unit_price_override.is_none());
    let lines: Vec<Line> = lines
        .filter_map(|(index, line)| {
            let sold = catalog.products.get(&line.product_id)?;
            let specials = sold.specials.iter().map(|special| &**special).collect();
            Some(Line { no: index + 1, product_id: line.product_id, specials })
        })
        .collect();
    not_charged(store, at, has_customer, &lines)
}

/// The same of a sale as it is stored, by the specials that are known now.
pub(crate) async fn of_sale(
    conn: &impl ConnectionTrait,
    store: &store::Model,
    document: &SaleDocument,
) -> Result<Vec<Warning>, DbErr> {
    let typed = [PriceSource::Open.as_str(), PriceSource::Override.as_str()];
    let items: Vec<_> = document.items.iter().filter(|item| !typed.contains(&item.price_source.as_str())).collect();
    let sold: Vec<_> = items.iter().map(|item| (item.product_id, item.department_id)).collect();
    let specials = concerning(conn, store.id, &sold).await?;
    let line = |item: &&sale_item::Model| Line {
        no: usize::try_from(item.line_no).unwrap_or_default(),
        product_id: item.product_id,
        specials: specials.iter().filter(|special| concerns(special, item.product_id, item.department_id)).collect(),
    };
    let lines: Vec<Line> = items.iter().map(line).collect();
    let sale = &document.sale;
    Ok(not_charged(store, sale.completed_at, sale.customer_id.is_some(), &lines))
}

/// One warning for each line and special in force for it, by line.
fn not_charged(store: &store::Model, at: Instant, has_customer: bool, lines: &[Line]) -> Vec<Warning> {
    let local = day::wall_clock(store, at);
    let in_force = |special: &&&Model| {
        special.is_active
            && special.deleted_at.is_none()
            && special.store_id.is_none_or(|only| only == store.id)
            && (has_customer || !special.requires_customer)
            && window(special).holds(local)
    };
    let of_line = |line: &Line| {
        let specials = line.specials.iter().filter(in_force);
        specials.map(|special| warning(special, line)).collect::<Vec<_>>()
    };
    lines.iter().flat_map(of_line).collect()
}

fn window(special: &Model) -> Window<'_> {
    Window {
        start_date: special.start_date.as_deref(),
        end_date: special.end_date.as_deref(),
        days_of_week: special.days_of_week,
        start_time: special.start_time.as_deref(),
        end_time: special.end_time.as_deref(),
    }
}

fn warning(special: &Model, line: &Line<'_>) -> Warning {
    Warning {
        code: "special_not_charged",
        message: format!("{} is in force and is not charged by this release", special.name),
        special_id: special.id,
        special_code: special.code.clone(),
        special_name: special.name.clone(),
        line_no: line.no,
        product_id: line.product_id,
    }
}

#[cfg(test)]
mod tests {
    use tillkeep_model::ids;

    use super::*;

    type Case = (fn(&mut Model), bool, usize);

    /// How many warnings a line of tea has, or several.
    fn warnings(specials: &[Model], store: &store::Model, at: Instant, has_customer: bool, lines: usize) -> usize {
        let (tea, drinks) = (ids::named("tea"), Some(ids::named("drinks")));
        let of_tea = || specials.iter().filter(|special| concerns(special, tea, drinks)).collect();
        let lines: Vec<Line> = (1..=lines).map(|no| Line { no, product_id: tea, specials: of_tea() }).collect();
        not_charged(store, at, has_customer, &lines).len()
    }

    fn special(change: impl FnOnce(&mut Model)) -> Model {
        let mut special = Model {
            id: ids::named("special"),
            code: "S".into(),
            name: "Special".into(),
            product_id: Some(ids::named("tea")),
            days_of_week: 127,
            is_active: true,
            ..Model::default()
        };
        change(&mut special);
        special
    }

    #[test]
    fn a_special_concerns_its_store_product_or_department_and_customers() {
        let here = store::Model { id: ids::named("here"), timezone: "America/New_York".into(), ..Default::default() };
        // Nine in the morning of a Friday in New York, and two in the afternoon in London.
        let at = Instant::parse("2026-11-20T14:00:00Z").expect("an instant");
        let cases: [Case; 12] = [
            (|_| (), false, 1),
            (|row| row.is_active = false, false, 0),
            (|row| row.deleted_at = Some(Instant::default()), false, 0),
            (|row| row.store_id = Some(ids::named("here")), false, 1),
            (|row| row.store_id = Some(ids::named("elsewhere")), false, 0),
            (|row| row.product_id = Some(ids::named("coffee")), false, 0),
            (|row| (row.product_id, row.department_id) = (None, Some(ids::named("drinks"))), false, 1),
            (|row| (row.product_id, row.department_id) = (None, Some(ids::named("bread"))), false, 0),
            (|row| row.requires_customer = true, false, 0),
            (|row| row.requires_customer = true, true, 1),
            // The clock of the store counts.
            (|row| (row.start_time, row.end_time) = (Some("09:00".into()), Some("10:00".into())), false, 1),
            (|row| (row.start_time, row.end_time) = (Some("14:00".into()), Some("15:00".into())), false, 0),
        ];
        for (place, (change, has_customer, expected)) in cases.into_iter().enumerate() {
            let found = warnings(&[special(change)], &here, at, has_customer, 1);
            assert_eq!(found, expected, "case {place}");
        }
        let all = warnings(&[special(|_| ()), special(|_| ())], &here, at, false, 2);
        assert_eq!(all, 4, "each of both lines");
    }
}
