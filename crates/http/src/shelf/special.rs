//! Specials: which concern a product, which are in force, and what they say to a customer.

use tillkeep_model::calendar::Calendar;
use tillkeep_model::pricing::{Deal, GroupDeal, Saving, Special, SpecialType, UnitDeal};
use tillkeep_model::special::{Moment, Window};
use tillkeep_model::words::Reported;
use tillkeep_model::{Bps, Instant, Money};
use tillkeep_storage::entity::product_special::Model;
use tillkeep_storage::entity::store;
use uuid::Uuid;

/// When and for whom a cart of `store` is priced.
pub fn moment(store: &store::Model, at: Instant, has_customer: bool) -> Moment {
    let calendar = Calendar::new(&store.timezone, &store.business_day_start);
    Moment { store: store.id, local: calendar.wall_clock(at), has_customer }
}

/// The special of a row, when it is in force at `moment`.
pub fn in_force(row: &Model, moment: &Moment) -> Option<Special> {
    is_in_force(row, moment).then(|| of_row(row)).flatten()
}

/// Whether a special holds at `moment`, whatever it is worth.
pub fn is_in_force(row: &Model, moment: &Moment) -> bool {
    row.is_active
        && row.deleted_at.is_none()
        && row.store_id.is_none_or(|only| only == moment.store)
        && (moment.has_customer || !row.requires_customer)
        && window(row).holds(moment.local)
}

/// Whether a special names this product, or no product and its department.
pub fn concerns(row: &Model, product_id: Uuid, department_id: Option<Uuid>) -> bool {
    match (row.product_id, row.department_id) {
        (Some(product), _) => product == product_id,
        (None, department) => department.is_some() && department == department_id,
    }
}

fn window(row: &Model) -> Window<'_> {
    Window {
        start_date: row.start_date.as_deref(),
        end_date: row.end_date.as_deref(),
        days_of_week: row.days_of_week,
        start_time: row.start_time.as_deref(),
        end_time: row.end_time.as_deref(),
    }
}

/// What a row is to the prices; nothing for a type of a newer release, or one without its figures.
pub fn of_row(row: &Model) -> Option<Special> {
    let deal = match Reported::read(&row.kind) {
        Reported::Known(SpecialType::PercentOff) => Deal::Unit(UnitDeal::Percent(row.percent_bps?)),
        Reported::Known(SpecialType::AmountOff) => Deal::Unit(UnitDeal::Amount(row.amount?)),
        Reported::Known(SpecialType::FixedPrice) => Deal::Unit(UnitDeal::Fixed(row.fixed_price?)),
        Reported::Known(SpecialType::BuyXGetY) => Deal::Group(GroupDeal::BuyGet {
            buy: row.buy_quantity?.into(),
            get: row.get_quantity?.into(),
            off: row.get_discount_bps?,
        }),
        Reported::Known(SpecialType::MultiBuy) => {
            Deal::Group(GroupDeal::Bundle { units: row.bundle_quantity?.into(), price: row.bundle_price? })
        }
        Reported::Other(_) => return None,
    };
    Some(Special {
        id: row.id,
        code: row.code.clone(),
        name: row.name.clone(),
        deal,
        mix_group: row.mix_group.clone().filter(|name| !name.is_empty()),
        max_per_sale: row.max_per_sale.map(i64::from),
        priority: row.priority,
        is_stackable: row.is_stackable,
    })
}

/// The deal as a receipt says it: "3 for 10.00", "20 % off".
pub fn words(deal: Deal, exponent: i16) -> String {
    let amount = |amount: Money| decimal(amount, exponent);
    match deal {
        Deal::Unit(UnitDeal::Percent(bps)) => format!("{} % off", percent(bps)),
        Deal::Unit(UnitDeal::Amount(off)) => format!("{} off", amount(off)),
        Deal::Unit(UnitDeal::Fixed(price)) => format!("now {}", amount(price)),
        Deal::Group(GroupDeal::BuyGet { buy, get, off: Bps(10_000) }) => format!("buy {buy}, get {get} free"),
        Deal::Group(GroupDeal::BuyGet { buy, get, off }) => format!("buy {buy}, get {get} at {} % off", percent(off)),
        Deal::Group(GroupDeal::Bundle { units, price }) => format!("{units} for {}", amount(price)),
    }
}

/// What a line saves by a special, in words for a receipt: "Coffee week: 3 for 10.00, saves 1.97".
pub fn saves(saving: &Saving, exponent: i16) -> String {
    let special = &saving.special;
    format!("{}: {}, saves {}", special.name, words(special.deal, exponent), decimal(saving.amount, exponent))
}

/// Minor units as people write them.
fn decimal(amount: Money, exponent: i16) -> String {
    let Some(places) = usize::try_from(exponent).ok().filter(|places| *places > 0) else { return amount.0.to_string() };
    let digits = format!("{:0>width$}", amount.0.unsigned_abs(), width = places + 1);
    let (whole, rest) = digits.split_at(digits.len() - places);
    format!("{}{whole}.{rest}", if amount.0 < 0 { "-" } else { "" })
}

fn percent(bps: Bps) -> String {
    let text = decimal(Money(bps.0.into()), 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use tillkeep_model::ids;

    use super::*;

    fn special(change: impl FnOnce(&mut Model)) -> Model {
        let mut row = Model {
            id: ids::named("special"),
            code: "S".into(),
            name: "Special".into(),
            kind: "percent_off".into(),
            percent_bps: Some(Bps(2000)),
            product_id: Some(ids::named("tea")),
            days_of_week: 127,
            is_active: true,
            ..Model::default()
        };
        change(&mut row);
        row
    }

    #[test]
    fn a_special_concerns_its_store_product_or_department_and_customers() {
        type Case = (fn(&mut Model), bool, bool);
        let here = store::Model { id: ids::named("here"), timezone: "America/New_York".into(), ..Default::default() };
        // Nine in the morning of a Friday in New York, and two in the afternoon in London.
        let at = Instant::parse("2026-11-20T14:00:00Z").expect("an instant");
        let cases: [Case; 12] = [
            (|_| (), false, true),
            (|row| row.is_active = false, false, false),
            (|row| row.deleted_at = Some(Instant::default()), false, false),
            (|row| row.store_id = Some(ids::named("here")), false, true),
            (|row| row.store_id = Some(ids::named("elsewhere")), false, false),
            (|row| row.product_id = Some(ids::named("coffee")), false, false),
            (|row| (row.product_id, row.department_id) = (None, Some(ids::named("drinks"))), false, true),
            (|row| (row.product_id, row.department_id) = (None, Some(ids::named("bread"))), false, false),
            (|row| row.requires_customer = true, false, false),
            (|row| row.requires_customer = true, true, true),
            // The clock of the store counts.
            (|row| (row.start_time, row.end_time) = (Some("09:00".into()), Some("10:00".into())), false, true),
            (|row| (row.start_time, row.end_time) = (Some("14:00".into()), Some("15:00".into())), false, false),
        ];
        for (place, (change, has_customer, expected)) in cases.into_iter().enumerate() {
            let row = special(change);
            let found = in_force(&row, &moment(&here, at, has_customer)).is_some()
                && concerns(&row, ids::named("tea"), Some(ids::named("drinks")));
            assert_eq!(found, expected, "case {place}");
        }
    }

    #[test]
    fn a_row_without_the_figures_of_its_type_or_of_a_newer_type_is_worth_nothing() {
        for change in [
            (|row| row.percent_bps = None) as fn(&mut Model),
            |row| row.kind = "buy_x_get_y".into(),
            |row| row.kind = "loyalty_points".into(),
        ] {
            assert_eq!(of_row(&special(change)), None);
        }
    }

    #[test]
    fn deals_are_said_in_words() {
        let buy = |off| Deal::Group(GroupDeal::BuyGet { buy: 2, get: 1, off: Bps(off) });
        for (deal, exponent, text) in [
            (Deal::Unit(UnitDeal::Percent(Bps(2000))), 2, "20 % off"),
            (Deal::Unit(UnitDeal::Percent(Bps(1250))), 2, "12.5 % off"),
            (Deal::Unit(UnitDeal::Amount(Money(5))), 2, "0.05 off"),
            (Deal::Unit(UnitDeal::Fixed(Money(850))), 0, "now 850"),
            (Deal::Group(GroupDeal::Bundle { units: 3, price: Money(10_000) }), 3, "3 for 10.000"),
            (buy(10_000), 2, "buy 2, get 1 free"),
            (buy(5_000), 2, "buy 2, get 1 at 50 % off"),
        ] {
            assert_eq!(words(deal, exponent), text);
        }
    }
}
