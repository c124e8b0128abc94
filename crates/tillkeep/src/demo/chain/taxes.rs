//! Taxes: invented rates, for show. One catalogue serves stores in different tax areas, because the rows of a group may
//! name a store.

use tillkeep_model::{Instant, Ppm, ids};
use tillkeep_storage::entity::{store, tax_group, tax_group_rate, tax_rate};
use uuid::Uuid;

use super::columns::text;
use super::stores::Town;

/// Code, name, label on the receipt, rate, authority.
const RATES: [(&str, &str, &str, i32, &str); 7] = [
    ("NY", "New York sales tax", "A", 88_750, "New York"),
    ("CHI", "Chicago sales tax", "B", 102_500, "Chicago"),
    ("DEN-STATE", "Colorado state tax", "C", 29_000, "Colorado"),
    ("DEN-CITY", "Denver city tax", "D", 51_500, "Denver"),
    ("CHI-FOOD", "Chicago food tax", "E", 22_500, "Chicago"),
    ("CAFE-S", "Service tax", "F", 50_000, "Harbor & Pine demo authority"),
    ("CAFE-L", "Levy on service", "G", 30_000, "Harbor & Pine demo authority"),
];

/// What a product points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Standard,
    Food,
    Cafe,
    /// Seeded at every headquarters.
    None,
}

impl Group {
    const fn code(self) -> &'static str {
        match self {
            Self::Standard => "STD",
            Self::Food => "FOOD",
            Self::Cafe => "CAFE",
            Self::None => "NONE",
        }
    }

    pub fn id(self) -> Uuid {
        ids::named(&format!("tax_group:{}", self.code()))
    }
}

fn rate_id(code: &str) -> Uuid {
    ids::named(&format!("tax_rate:{code}"))
}

pub fn rates(at: Instant) -> Vec<tax_rate::Model> {
    let rate = |(code, name, label, ppm, authority): (&str, &str, &str, i32, &str)| tax_rate::Model {
        id: rate_id(code),
        created_at: at,
        updated_at: at,
        code: code.to_owned(),
        name: name.to_owned(),
        receipt_label: text(label),
        rate_ppm: Ppm(ppm),
        authority: text(authority),
        is_active: true,
        ..tax_rate::Model::default()
    };
    RATES.into_iter().map(rate).collect()
}

pub fn groups(at: Instant) -> Vec<tax_group::Model> {
    let group = |(group, name, price_mode): (Group, &str, &str)| tax_group::Model {
        id: group.id(),
        created_at: at,
        updated_at: at,
        code: group.code().to_owned(),
        name: name.to_owned(),
        price_mode: price_mode.to_owned(),
        is_default: group == Group::Standard,
        is_active: true,
        ..tax_group::Model::default()
    };
    [
        (Group::Standard, "Standard rate", "store_default"),
        (Group::Food, "Groceries", "store_default"),
        (Group::Cafe, "Cafe", "inclusive"),
    ]
    .into_iter()
    .map(group)
    .collect()
}

pub fn group_rates(at: Instant, stores: &[store::Model]) -> Vec<tax_group_rate::Model> {
    let row = |group: Group, store: Option<&store::Model>, sequence, rate: &str, is_compound| {
        let place = store.map_or("*", |store| &store.code);
        tax_group_rate::Model {
            id: ids::named(&format!("tax_group_rate:{}:{rate}:{place}", group.code())),
            created_at: at,
            updated_at: at,
            tax_group_id: group.id(),
            tax_rate_id: rate_id(rate),
            store_id: store.map(|store| store.id),
            sequence,
            is_compound,
            ..tax_group_rate::Model::default()
        }
    };
    let mut rows = vec![row(Group::Cafe, None, 1, "CAFE-S", false), row(Group::Cafe, None, 2, "CAFE-L", true)];
    for (index, store) in stores.iter().enumerate() {
        let here = Some(store);
        match Town::new(index) {
            Town::NewYork => rows.push(row(Group::Standard, here, 1, "NY", false)),
            Town::Chicago => {
                rows.push(row(Group::Standard, here, 1, "CHI", false));
                rows.push(row(Group::Food, here, 1, "CHI-FOOD", false));
            }
            Town::Denver => rows.extend([
                row(Group::Standard, here, 1, "DEN-STATE", false),
                row(Group::Standard, here, 2, "DEN-CITY", false),
            ]),
        }
    }
    rows
}
