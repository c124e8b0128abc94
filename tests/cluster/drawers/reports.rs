//! What is added up over drawers: ZZ reports, the safe, and the books of headquarters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use uuid::Uuid;

use super::identities::{Broken, number};
use super::kept::{Drawer, Kept, Moved, Zz};

/// The ZZ reports of a store take each closed drawer once, in whole numbers from 1 on, and add up what its Z says.
pub fn of_zzs(kept: &Kept, zzs: &[Zz], broken: &mut Broken) {
    // Each register has its own, and so has the store.
    let of_drawers = kept.drawers.values().map(|drawer| Some(drawer.register.clone()));
    let registers: BTreeSet<Option<String>> = of_drawers.chain([None]).collect();
    for register in &registers {
        let series: Vec<&Zz> = zzs.iter().filter(|zz| zz.register == *register).collect();
        let of_series: Vec<(Uuid, &Drawer)> = kept
            .drawers
            .iter()
            .filter(|(_, drawer)| register.as_ref().is_none_or(|code| drawer.register == *code))
            .map(|(id, drawer)| (*id, drawer))
            .collect();
        let mark = |drawer: &Drawer| if register.is_some() { drawer.zz } else { drawer.store_zz };
        let mut running = 0;
        for (number_of_it, zz) in (1..).zip(&series) {
            let of = format!("ZZ {number_of_it} of {register:?}");
            broken.that(zz.number == number_of_it, || format!("{of}: it says {}", zz.number));
            let taken: Vec<&(Uuid, &Drawer)> =
                of_series.iter().filter(|(_, drawer)| mark(drawer) == Some(zz.number)).collect();
            running = of_zz(&of, zz, &taken, running, broken);
        }
        let left = of_series.iter().filter(|(_, drawer)| mark(drawer).is_none()).count();
        broken.that(left == 0, || format!("{left} drawers are in no ZZ of {register:?}"));
    }
}

/// The running total after it.
fn of_zz(of: &str, zz: &Zz, taken: &[&(Uuid, &Drawer)], before: i64, broken: &mut Broken) -> i64 {
    let rows = zz.report["rows"].as_array().cloned().unwrap_or_default();
    let said: BTreeSet<Uuid> = rows.iter().filter_map(|row| row["sessionId"].as_str()?.parse().ok()).collect();
    let marked: BTreeSet<Uuid> = taken.iter().map(|(id, _)| *id).collect();
    broken.that(said.len() == rows.len() && said == marked, || {
        format!("{of}: it has {} rows, and {} drawers say its number", rows.len(), marked.len())
    });
    for place in SUMS {
        let sum: i64 = taken.iter().map(|(_, drawer)| number(&drawer.z, place)).sum();
        let is = number(&zz.report["sums"], place);
        broken.that(is == sum, || format!("{of}: {place} is {is}, and its drawers come to {sum}"));
    }
    broken.that(zz.report["gaps"] == Value::Array(Vec::new()), || format!("{of}: gaps {}", zz.report["gaps"]));
    let after = before + taken.iter().map(|(_, drawer)| number(&drawer.z, "/totalAmount")).sum::<i64>();
    let (from, to) = (number(&zz.report, "/runningTotal/before"), number(&zz.report, "/runningTotal/after"));
    broken
        .that((from, to) == (before, after), || format!("{of}: it runs from {from} to {to}, not {before} to {after}"));
    after
}

/// Figures of a Z that are added up.
const SUMS: &[&str] = &[
    "/saleCount",
    "/refundCount",
    "/voidCount",
    "/netAmount",
    "/taxAmount",
    "/totalAmount",
    "/cashRounding",
    "/openingFloat",
    "/expectedCash",
    "/amounts/listSales",
    "/amounts/netSales",
    "/amounts/netRefunds",
    "/cash/payments",
    "/cash/paidIn",
    "/cash/floatAdd",
    "/cash/paidOut",
    "/cash/drop",
    "/controls/noSaleCount",
];

/// What should be in the safe: drops, counted cash and corrections less floats, what was added to them and deposits.
pub fn in_the_safe(kept: &Kept, cash: &BTreeMap<Uuid, Moved>, safe: &BTreeMap<Uuid, Moved>) -> i64 {
    let of = |rows: &BTreeMap<Uuid, Moved>, kind: &str| -> i64 {
        rows.values().filter(|row| row.kind == kind).map(|row| row.amount).sum()
    };
    let counted: i64 = kept.drawers.values().filter_map(|drawer| drawer.counted).sum();
    let floats: i64 = kept.drawers.values().map(|drawer| drawer.float).sum();
    of(cash, "drop") + counted + of(safe, "correction") - floats - of(cash, "float_add") - of(safe, "deposit")
}

/// Net, tax, total and rounding of all Z reports.
pub fn of_drawers(kept: &Kept) -> [i64; 4] {
    let places = ["/netAmount", "/taxAmount", "/totalAmount", "/cashRounding"];
    places.map(|place| kept.drawers.values().map(|drawer| number(&drawer.z, place)).sum())
}

/// The same of all documents that are not voided.
pub fn of_documents(kept: &Kept) -> [i64; 4] {
    let mut sums = [0; 4];
    for document in kept.documents.values().filter(|document| !document.is_voided) {
        for (sum, amount) in sums.iter_mut().zip([document.net, document.tax, document.total, document.rounding]) {
            *sum += amount;
        }
    }
    sums
}

/// Headquarters has each row of a store as the store has it.
pub fn at_headquarters(store: &Kept, hq: &Kept, broken: &mut Broken) {
    same("drawer", &store.drawers, &hq.drawers, broken);
    same("document", &store.documents, &hq.documents, broken);
    same("payment", &store.payments, &hq.payments, broken);
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    store: &BTreeMap<Uuid, T>,
    hq: &BTreeMap<Uuid, T>,
    broken: &mut Broken,
) {
    for (id, row) in store {
        broken.that(hq.get(id) == Some(row), || format!("the {what} {id}: {row:?}, at headquarters {:?}", hq.get(id)));
    }
    broken.that(store.len() == hq.len(), || format!("{} of {what}, at headquarters {}", store.len(), hq.len()));
}
