//! What must hold of the closed drawers of a store: `docs/domain.md`, and what is said of X, Z and ZZ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use uuid::Uuid;

use super::kept::{Document, Drawer, Kept, Moved, Payment};
use super::till::Book;

/// What does not hold, one line each.
#[derive(Default)]
pub struct Broken(Vec<String>);

impl Broken {
    pub fn that(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    fn same(&mut self, of: &str, name: &str, is: i64, should_be: i64) {
        self.that(is == should_be, || format!("{of}: {name} is {is}, and should be {should_be}"));
    }

    /// Each figure of `z`, by its place there.
    fn figures(&mut self, of: &str, z: &Value, figures: &[(&str, i64)]) {
        for (place, should_be) in figures {
            let is = z.pointer(place).and_then(Value::as_i64);
            self.that(is == Some(*should_be), || format!("{of}: {place} is {is:?}, and should be {should_be}"));
        }
    }

    /// Fails with the first of them, when there are any.
    #[track_caller]
    pub fn none(self, of: &str) {
        let first = self.0.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.0.is_empty(), "{} identities are broken of {of}:\n{first}", self.0.len());
    }
}

pub fn number(z: &Value, place: &str) -> i64 {
    z.pointer(place).and_then(Value::as_i64).unwrap_or_default()
}

/// What was sold, given back and paid in one drawer.
#[derive(Default)]
struct Content<'a> {
    documents: Vec<&'a Document>,
    payments: Vec<&'a Payment>,
}

impl Content<'_> {
    /// The sum of what is not voided, of one kind or of all.
    fn sum(&self, kind: Option<&str>, of: impl Fn(&Document) -> i64) -> i64 {
        self.valid(kind).map(of).sum()
    }

    fn count(&self, kind: &str) -> i64 {
        len(self.valid(Some(kind)).count())
    }

    fn valid(&self, kind: Option<&str>) -> impl Iterator<Item = &Document> {
        let of_kind = move |document: &&Document| kind.is_none_or(|kind| document.kind == kind);
        self.documents.iter().copied().filter(|document| !document.is_voided).filter(of_kind)
    }

    fn voided(&self) -> i64 {
        len(self.documents.iter().filter(|document| document.is_voided).count())
    }

    fn cash(&self) -> i64 {
        self.payments.iter().filter(|payment| payment.is_cash).map(|payment| payment.amount).sum()
    }
}

fn len(count: usize) -> i64 {
    i64::try_from(count).expect("few")
}

/// Every identity of every closed drawer, and of each register from drawer to drawer.
pub fn of_all(kept: &Kept, broken: &mut Broken) {
    let mut contents: BTreeMap<Uuid, Content> = kept.drawers.keys().map(|id| (*id, Content::default())).collect();
    for document in kept.documents.values() {
        match contents.get_mut(&document.drawer) {
            Some(content) => content.documents.push(document),
            None => broken.that(false, || format!("{} is of no drawer", document.receipt)),
        }
    }
    for payment in kept.payments.values() {
        if let Some(content) = contents.get_mut(&payment.drawer) {
            content.payments.push(payment);
        }
    }
    let mut registers: BTreeMap<&str, Vec<(&Drawer, &Content)>> = BTreeMap::new();
    for (id, drawer) in kept.drawers.iter().filter(|(_, drawer)| drawer.is_closed) {
        registers.entry(&drawer.register).or_default().push((drawer, &contents[id]));
    }
    for drawers in registers.values_mut() {
        drawers.sort_by_key(|(drawer, _)| drawer.number);
        of_register(drawers, broken);
    }
}

/// Drawers of one register, the oldest first.
fn of_register(drawers: &[(&Drawer, &Content)], broken: &mut Broken) {
    let (mut running, mut receipts, mut entries) = (0, 0, 0);
    for (place, (drawer, content)) in drawers.iter().enumerate() {
        let of = format!("drawer {} of register {}", drawer.number, drawer.register);
        broken.same(&of, "its number", drawer.number.into(), len(place) + 1);
        of_documents(&of, drawer, content, broken);
        of_tenders(&of, drawer, content, broken);
        of_cash(&of, drawer, content, broken);
        of_receipts(&of, drawer, content, &mut receipts, broken);
        let total = content.sum(None, |document| document.total);
        let figures = [("/runningTotal/before", running), ("/runningTotal/after", running + total)];
        broken.figures(&of, &drawer.z, &figures);
        running += total;
        broken.that(drawer.running == Some(running), || format!("{of}: its running total is {:?}", drawer.running));
        // A document and its void are an entry each.
        entries += len(content.documents.len()) + content.voided();
        if entries > 0 {
            broken.figures(&of, &drawer.z, &[("/chain/number", entries)]);
        }
    }
}

fn of_documents(of: &str, drawer: &Drawer, content: &Content, broken: &mut Broken) {
    let sales = Some("sale");
    let net_sales = content.sum(sales, |document| document.net);
    let off = content.sum(sales, |document| document.special + document.line + document.cart);
    let list = content.sum(sales, |document| document.list);
    let figures = [
        ("/saleCount", content.count("sale")),
        ("/refundCount", content.count("refund")),
        ("/settlements/count", content.count("settlement")),
        ("/voidCount", content.voided()),
        ("/netAmount", content.sum(None, |document| document.net)),
        ("/taxAmount", content.sum(None, |document| document.tax)),
        ("/totalAmount", content.sum(None, |document| document.total)),
        ("/cashRounding", content.sum(None, |document| document.rounding)),
        ("/amounts/listSales", list),
        ("/amounts/specialDiscount", content.sum(sales, |document| document.special)),
        ("/amounts/lineDiscount", content.sum(sales, |document| document.line)),
        ("/amounts/cartDiscount", content.sum(sales, |document| document.cart)),
        ("/amounts/netSales", net_sales),
        ("/amounts/netRefunds", content.sum(Some("refund"), |document| document.net)),
    ];
    broken.figures(of, &drawer.z, &figures);
    let z = &drawer.z;
    broken.same(of, "net and tax", number(z, "/netAmount") + number(z, "/taxAmount"), number(z, "/totalAmount"));
    // Prices are without their taxes here.
    broken.same(of, "what is left of the list", list - off, net_sales);
    let documents = drawer.documents.map(i64::from);
    broken.that(documents == Some(len(content.documents.len())), || format!("{of}: it says {documents:?} documents"));
    broken.that(z["flags"].as_array().is_none_or(Vec::is_empty), || format!("{of}: it has flags: {}", z["flags"]));
    broken.that(z["header"]["forced"] == drawer.forced, || format!("{of}: was it closed by force?"));
}

fn of_tenders(of: &str, drawer: &Drawer, content: &Content, broken: &mut Broken) {
    let mut paid: BTreeMap<&str, i64> = BTreeMap::new();
    for payment in &content.payments {
        *paid.entry(&payment.tender).or_default() += payment.amount;
    }
    let rows = drawer.z["tenders"].as_array().cloned().unwrap_or_default();
    let said: BTreeMap<&str, i64> =
        rows.iter().map(|row| (row["tenderCode"].as_str().unwrap_or_default(), number(row, "/amount"))).collect();
    broken.that(paid == said, || format!("{of}: {paid:?} was paid, and it says {said:?}"));
    let due = number(&drawer.z, "/totalAmount") + number(&drawer.z, "/cashRounding");
    broken.same(of, "what was paid", said.values().sum(), due);
}

fn of_cash(of: &str, drawer: &Drawer, content: &Content, broken: &mut Broken) {
    let moved = |kind: &str| -> i64 {
        let all = drawer.moved.as_array().into_iter().flatten();
        all.filter(|movement| movement["type"] == kind).map(|movement| number(movement, "/amount")).sum()
    };
    let [paid_in, float_add, paid_out, drop] = ["paid_in", "float_add", "paid_out", "drop"].map(moved);
    let expected = drawer.float + content.cash() + paid_in + float_add - paid_out - drop;
    let figures = [
        ("/openingFloat", drawer.float),
        ("/cash/openingFloat", drawer.float),
        ("/cash/payments", content.cash()),
        ("/cash/paidIn", paid_in),
        ("/cash/floatAdd", float_add),
        ("/cash/paidOut", paid_out),
        ("/cash/drop", drop),
        ("/cash/expected", expected),
        ("/expectedCash", expected),
        ("/controls/noSaleCount", drawer.no_sales.into()),
    ];
    broken.figures(of, &drawer.z, &figures);
    broken.that(drawer.expected == Some(expected), || format!("{of}: {:?} is expected", drawer.expected));
    let variance = drawer.counted.map(|counted| counted - expected);
    broken.that(drawer.variance == variance, || format!("{of}: the variance is {:?}", drawer.variance));
    broken.that(drawer.counted.is_none() == drawer.forced, || format!("{of}: {:?} was counted", drawer.counted));
    for (place, is) in [("/cash/counted", drawer.counted), ("/cash/variance", variance)] {
        let said = drawer.z.pointer(place).and_then(Value::as_i64);
        broken.that(said == is, || format!("{of}: {place} is {said:?}, and should be {is:?}"));
    }
    let opened = drawer.moved.as_array().into_iter().flatten().filter(|movement| movement["type"] == "no_sale").count();
    broken.same(of, "openings for no sale", drawer.no_sales.into(), len(opened));
}

/// They go on after `before`, which is that of the drawer before.
fn of_receipts(of: &str, drawer: &Drawer, content: &Content, before: &mut i64, broken: &mut Broken) {
    let mut numbers: Vec<i64> = Vec::new();
    for document in &content.documents {
        let number = document.receipt.rsplit('-').next().and_then(|number| number.parse().ok());
        numbers.push(number.expect("a receipt number"));
    }
    numbers.sort_unstable();
    let first = *before + 1;
    *before += len(numbers.len());
    broken.that(numbers.iter().copied().eq(first..=*before), || {
        format!("{of}: receipts {first} to {before} are not each there once: {numbers:?}")
    });
    if numbers.is_empty() {
        broken.that(drawer.z["receipts"] == Value::Array(Vec::new()), || format!("{of}: it names receipts"));
        return;
    }
    let figures =
        [("/receipts/0/first", first), ("/receipts/0/last", *before), ("/receipts/0/count", len(numbers.len()))];
    broken.figures(of, &drawer.z, &figures);
    let ends = [(&drawer.first_receipt, first), (&drawer.last_receipt, *before)];
    for (named, number) in ends {
        let is = named.as_deref().and_then(|named| named.rsplit('-').next()?.parse::<i64>().ok());
        broken.that(is == Some(number), || format!("{of}: {named:?} is not receipt {number}"));
    }
}

/// Each movement is in one drawer, and is the same there as in the table `moved` of its store. `of` says which of the two lists
/// of a drawer it is.
pub fn of_movements(kept: &Kept, moved: &BTreeMap<Uuid, Moved>, of: impl Fn(&Drawer) -> &Value, broken: &mut Broken) {
    let mut carried: BTreeMap<Uuid, Moved> = BTreeMap::new();
    for (drawer_id, drawer) in &kept.drawers {
        for movement in of(drawer).as_array().into_iter().flatten() {
            let id: Uuid = movement["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
            let kind = movement["type"].as_str().expect("a kind").to_owned();
            let one = Moved { drawer: Some(*drawer_id), kind, amount: number(movement, "/amount") };
            broken.that(carried.insert(id, one).is_none(), || format!("the movement {id} is in two places"));
        }
    }
    for (id, one) in moved {
        let there = carried.get(id);
        broken.that(there == Some(one), || format!("the movement {id} is {one:?}, and its drawer has {there:?}"));
    }
    broken.that(carried.len() == moved.len(), || {
        format!("drawers carry {} movements, and there are {}", carried.len(), moved.len())
    });
}

/// What tills were answered is there, and nothing else.
pub fn of_answers(
    book: &Book,
    kept: &Kept,
    (cash, safe): (&BTreeMap<Uuid, Moved>, &BTreeMap<Uuid, Moved>),
    broken: &mut Broken,
) {
    let totals: BTreeMap<Uuid, i64> = book.documents.iter().map(|sold| (sold.sale, sold.total.0)).collect();
    broken.that(totals.len() == book.documents.len(), || "an answer came twice for one document".to_owned());
    let there: BTreeMap<Uuid, i64> = kept.documents.iter().map(|(id, document)| (*id, document.total)).collect();
    for (id, total) in &totals {
        let is = there.get(id);
        broken.that(is == Some(total), || format!("the document {id} came to {total}, and {is:?} is kept"));
    }
    let documents: BTreeSet<Uuid> = totals.keys().copied().collect();
    let voided = kept.documents.iter().filter(|(_, document)| document.is_voided).map(|(id, _)| *id);
    let ids = |rows: &BTreeMap<Uuid, Moved>| rows.keys().copied().collect::<BTreeSet<Uuid>>();
    let pairs: [(&str, &BTreeSet<Uuid>, BTreeSet<Uuid>); 4] = [
        ("documents", &documents, there.keys().copied().collect()),
        ("voids", &book.voided, voided.collect()),
        ("movements of cash", &book.moved, ids(cash)),
        ("movements of the safe", &book.safe, ids(safe)),
    ];
    for (what, answered, there) in &pairs {
        let (lost, foreign) = (answered.difference(there).count(), there.difference(answered).count());
        broken.that(lost == 0, || format!("{lost} {what} that were answered are lost"));
        broken.that(foreign == 0, || format!("{foreign} {what} are there that nobody was answered"));
        let refused = there.intersection(&book.refused).count();
        broken.that(refused == 0, || format!("{refused} {what} are there that were refused"));
    }
    for id in &book.closed {
        broken.that(kept.drawers.get(id).is_some_and(|drawer| drawer.is_closed), || format!("{id} is not closed"));
    }
    for line in &book.wrong {
        broken.that(false, || format!("a right request was answered with {line}"));
    }
}
