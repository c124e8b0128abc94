//! What holds of the figures of every drawer.

use super::report::ZReport;
use crate::{Money, Qty};

/// Something that does not hold: the figure, what it follows from, and both values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// As the figure is called in the JSON, with the series of receipts behind it: `tenders`, `receipts:02A`.
    pub name: String,
    /// What stands there, in minor units; thousandths of a quantity, or a number.
    pub is: i128,
    /// What the other figures come to.
    pub should_be: i128,
}

/// A list of what has to be the same.
#[derive(Default)]
struct Checks(Vec<Broken>);

impl Checks {
    fn same(&mut self, name: &str, is: i128, should_be: i128) {
        if is != should_be {
            self.0.push(Broken { name: name.to_owned(), is, should_be });
        }
    }
}

/// Which identities do not hold; nothing for a report that adds up. `exclusive_only`: no price of the store includes a tax, so
/// that what was sold less all discounts is a net amount.
///
/// Wide arithmetic: a figure that is beyond all measure breaks an identity and nothing else.
#[must_use]
pub fn identities(report: &ZReport, exclusive_only: bool) -> Vec<Broken> {
    let mut checks = Checks::default();
    documents(&mut checks, report);
    cash(&mut checks, report);
    if report.version >= ZReport::VERSION {
        sections(&mut checks, report, exclusive_only);
        numbers(&mut checks, report);
    }
    checks.0
}

fn documents(checks: &mut Checks, report: &ZReport) {
    let total = wide(report.total_amount);
    checks.same("totalAmount", total, wide(report.net_amount) + wide(report.tax_amount));
    let paid = report.tenders.iter().map(|tender| wide(tender.amount)).sum();
    checks.same("tenders", paid, total + wide(report.cash_rounding));
    let taxes = report.taxes.iter().map(|tax| wide(tax.tax_amount)).sum();
    checks.same("taxes", taxes, wide(report.tax_amount));
}

fn cash(checks: &mut Checks, report: &ZReport) {
    let cash = &report.cash;
    let moved = wide(cash.paid_in) + wide(cash.float_add) - wide(cash.paid_out) - wide(cash.drop);
    let paid = report.paid_in_cash();
    checks.same("expectedCash", wide(report.expected_cash), wide(report.opening_float) + wide(paid) + moved);
    if report.version < ZReport::VERSION {
        return;
    }
    checks.same("cash.openingFloat", wide(cash.opening_float), wide(report.opening_float));
    checks.same("cash.payments", wide(cash.payments), wide(paid));
    checks.same("cash.expected", wide(cash.expected), wide(report.expected_cash));
    if let Some(counted) = cash.counted {
        let variance = cash.variance.map_or(0, wide);
        checks.same("cash.variance", variance, wide(counted) - wide(cash.expected));
    }
}

fn sections(checks: &mut Checks, report: &ZReport, exclusive_only: bool) {
    for tender in &report.tenders {
        let parts = wide(tender.sales_amount) + wide(tender.refunds_amount);
        checks.same(&format!("tenders:{}", tender.tender_code), wide(tender.amount), parts);
    }
    let amounts = &report.amounts;
    let net = wide(report.net_amount);
    checks.same("netAmount", net, wide(amounts.net_sales) + wide(amounts.net_refunds));
    if exclusive_only {
        let off = [amounts.special_discount, amounts.line_discount, amounts.cart_discount].map(wide);
        let left = wide(amounts.list_sales) - off.iter().sum::<i128>();
        checks.same("amounts.netSales", wide(amounts.net_sales), left);
    }
    let of_departments = report.departments.iter().map(|department| wide(department.net_amount)).sum();
    checks.same("departments", of_departments, net);
    let quantity = |Qty(thousandths): Qty| i128::from(thousandths);
    let items = report.departments.iter().map(|department| quantity(department.quantity)).sum();
    checks.same("itemCount", quantity(report.item_count), items);
    let removed = &report.controls.removed;
    let lines = removed.by_cashier.iter().map(|cashier| i128::from(cashier.count)).sum();
    checks.same("controls.removed.count", i128::from(removed.count), lines);
    let amount = removed.by_cashier.iter().map(|cashier| wide(cashier.amount)).sum();
    checks.same("controls.removed.amount", wide(removed.amount), amount);
    let running = &report.running_total;
    checks.same("runningTotal.after", wide(running.after), wide(running.before) + wide(report.total_amount));
}

/// Each document has a number, and each number a document or a name among the lost ones.
fn numbers(checks: &mut Checks, report: &ZReport) {
    for receipts in &report.receipts {
        let lost: i128 = receipts.lost.iter().map(|lost| i128::from(lost.to) - i128::from(lost.from) + 1).sum();
        let given = i128::from(receipts.last) - i128::from(receipts.first) + 1;
        checks.same(&format!("receipts:{}", receipts.series), i128::from(receipts.count), given - lost);
    }
    let documents = [report.sale_count, report.refund_count, report.void_count, report.settlements.count];
    let receipts = report.receipts.iter().map(|receipts| i128::from(receipts.count)).sum();
    checks.same("receipts", receipts, documents.iter().map(|count| i128::from(*count)).sum());
}

fn wide(Money(amount): Money) -> i128 {
    i128::from(amount)
}
