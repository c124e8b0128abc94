//! What of sales is shown in lists. In a store that closes blind a list tells the total of each sale, and nothing of how it was
//! paid: who counts a drawer could add the cash up. One sale that is opened by itself is shown whole. `docs/domain.md`, "Drawer".

use std::borrow::Cow;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use tillkeep_storage::entity::sale;
use tillkeep_storage::row_schema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{__dev::ComposeSchema, ToSchema};

/// What of a sale tells how it was paid: of its own row, and beside that where it is shown whole.
const TELLING: [&str; 4] = ["cashRounding", "changeAmount", "salePayments", "chainEntries"];

/// A sale in a list.
pub struct ListedSale {
    row: sale::Model,
    knows: bool,
}

impl ListedSale {
    /// `row` as it is shown to a user who `knows` what should be in the drawers of its store or does not.
    #[must_use]
    pub const fn new(row: sale::Model, knows: bool) -> Self {
        Self { row, knows }
    }
}

impl Serialize for ListedSale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.knows {
            return self.row.serialize(serializer);
        }
        told(serde_json::to_value(&self.row).map_err(S::Error::custom)?).serialize(serializer)
    }
}

/// A sale as JSON, without what tells how it was paid.
#[must_use]
pub fn told(mut sale: Json) -> Json {
    if let Json::Object(entries) = &mut sale {
        entries.retain(|key, _| !TELLING.contains(&key.as_str()));
    }
    sale
}

/// That of a sale, which nobody may rely on who is not told how it was paid.
impl ComposeSchema for ListedSale {
    fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        let mut schema = row_schema::of_row::<sale::Entity>();
        if let Schema::Object(object) = &mut schema {
            object.required.retain(|key| !TELLING.contains(&key.as_str()));
        }
        schema.into()
    }
}

impl ToSchema for ListedSale {
    fn name() -> Cow<'static, str> {
        "ListedSale".into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        row_schema::used(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tillkeep_model::Money;

    use super::*;

    #[test]
    fn a_list_tells_how_a_sale_was_paid_to_those_alone_who_know_the_drawer() {
        let row = sale::Model {
            total_amount: Money(1999),
            cash_rounding: Money(1),
            change_amount: Money(3000),
            ..sale::Model::default()
        };
        let known = serde_json::to_value(ListedSale::new(row.clone(), true)).expect("a row");
        assert_eq!((&known["cashRounding"], &known["changeAmount"]), (&json!(1), &json!(3000)));
        let told = serde_json::to_value(ListedSale::new(row, false)).expect("a row");
        assert_eq!(told["totalAmount"], 1999);
        assert!(TELLING.iter().all(|key| told.get(key).is_none()), "{told}");
        let keys = |json: &Json| json.as_object().map_or(0, serde_json::Map::len);
        assert_eq!(keys(&known) - keys(&told), 2);
    }
}
