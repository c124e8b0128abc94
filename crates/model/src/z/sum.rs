//! The sum of reports: every figure of a ZZ.

use super::report::{
    Amounts, Cash, Controls, Counted, Denomination, Department, Header, Receipts, Removed, RemovedBy, Settlements,
    TaxTotal, TenderTotal, ZReport,
};
use crate::{Money, Qty};

/// A figure that can be added to another one of its kind.
trait Sum {
    fn add(&mut self, other: &Self);
}

impl Sum for i64 {
    fn add(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

impl Sum for Money {
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }
}

impl Sum for Qty {
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }
}

/// A flag is up for all when it is for one of them.
impl Sum for bool {
    fn add(&mut self, other: &Self) {
        *self |= *other;
    }
}

/// Adds each of these fields.
macro_rules! summed {
    ($($type:ty { $($field:ident),+ })+) => {$(
        impl Sum for $type {
            fn add(&mut self, other: &Self) {
                $(self.$field.add(&other.$field);)+
            }
        }
    )+};
}
summed! {
    Settlements { count, amount }
    TenderTotal { count, amount, sales_amount, refunds_amount }
    TaxTotal { base_amount, tax_amount }
    Amounts { list_sales, special_discount, line_discount, cart_discount, net_sales, net_refunds }
    Department { quantity, net_amount }
    Denomination { count }
    Counted { count, amount }
    RemovedBy { count, amount }
}

/// Rows of the same thing become one; the others follow in their order.
fn join<T: Sum + Clone, K: PartialEq>(rows: &mut Vec<T>, others: &[T], key: impl Fn(&T) -> K) {
    for other in others {
        match rows.iter_mut().find(|row| key(row) == key(other)) {
            Some(row) => row.add(other),
            None => rows.push(other.clone()),
        }
    }
}

/// Unknown and known is unknown.
fn known(one: Option<Money>, other: Option<Money>) -> Option<Money> {
    let (mut sum, other) = one.zip(other)?;
    sum.add(&other);
    Some(sum)
}

impl Sum for Cash {
    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.opening_float, other.opening_float),
            (&mut self.payments, other.payments),
            (&mut self.paid_in, other.paid_in),
            (&mut self.float_add, other.float_add),
            (&mut self.paid_out, other.paid_out),
            (&mut self.drop, other.drop),
            (&mut self.expected, other.expected),
        ];
        for (sum, other) in pairs {
            sum.add(&other);
        }
        self.counted = known(self.counted, other.counted);
        self.variance = known(self.variance, other.variance);
        join(&mut self.denominations, &other.denominations, |each| each.value);
        self.denominations.sort_by_key(|each| std::cmp::Reverse(each.value));
    }
}

impl Sum for Removed {
    fn add(&mut self, other: &Self) {
        self.count.add(&other.count);
        self.amount.add(&other.amount);
        join(&mut self.by_cashier, &other.by_cashier, |each| each.user_id);
    }
}

impl Sum for Controls {
    fn add(&mut self, other: &Self) {
        self.price_overrides.add(&other.price_overrides);
        self.manual_discounts.add(&other.manual_discounts);
        self.no_sale_count.add(&other.no_sale_count);
        self.parked_abandoned.add(&other.parked_abandoned);
        self.parked_open.add(&other.parked_open);
        self.approvals.add(&other.approvals);
        self.removed.add(&other.removed);
        self.paid_out_beyond_cash.add(&other.paid_out_beyond_cash);
    }
}

/// Of the headers what is true of all of them.
impl Sum for Header {
    fn add(&mut self, other: &Self) {
        self.session_id = None;
        self.session_number = None;
        if self.register_code != other.register_code {
            self.register_code.clear();
        }
        if self.business_date != other.business_date {
            self.business_date.clear();
        }
        (self.opened_by, self.closed_by) = (None, None);
        self.opened_by_name.clear();
        self.closed_by_name.clear();
        self.opened_at = self.opened_at.into_iter().chain(other.opened_at).min();
        self.closed_at = self.closed_at.max(other.closed_at);
        self.owners.clear();
        self.forced.add(&other.forced);
    }
}

/// A range that begins where the last one of its series ended goes on; any other one is a row of its own, so that what is missing
/// between drawers is not counted as missing in them.
fn follow(rows: &mut Vec<Receipts>, others: &[Receipts]) {
    for other in others {
        let before =
            rows.iter_mut().find(|row| row.series == other.series && row.last.checked_add(1) == Some(other.first));
        match before {
            Some(row) => {
                row.last = other.last;
                row.count.add(&other.count);
                row.lost.extend_from_slice(&other.lost);
            }
            None => rows.push(other.clone()),
        }
    }
}

impl ZReport {
    /// Adds the figures of the next drawer. Of a figure that is not known of both the sum is not known; the older version is that of
    /// the sum, for its fields are all that both have.
    pub(super) fn add(&mut self, next: &Self) {
        self.version = self.version.min(next.version);
        let counts = [
            (&mut self.sale_count, next.sale_count),
            (&mut self.refund_count, next.refund_count),
            (&mut self.void_count, next.void_count),
        ];
        for (sum, other) in counts {
            sum.add(&other);
        }
        let amounts = [
            (&mut self.net_amount, next.net_amount),
            (&mut self.tax_amount, next.tax_amount),
            (&mut self.total_amount, next.total_amount),
            (&mut self.cash_rounding, next.cash_rounding),
            (&mut self.opening_float, next.opening_float),
            (&mut self.expected_cash, next.expected_cash),
            (&mut self.void_amount, next.void_amount),
        ];
        for (sum, other) in amounts {
            sum.add(&other);
        }
        self.settlements.add(&next.settlements);
        self.item_count.add(&next.item_count);
        join(&mut self.tenders, &next.tenders, |row| (row.tender_id, row.tender_code.clone(), row.tender_kind.clone()));
        join(&mut self.taxes, &next.taxes, |row| (row.tax_rate_id, row.code.clone(), row.rate_ppm));
        join(&mut self.departments, &next.departments, |row| (row.department_id, row.name.clone()));
        self.header.add(&next.header);
        self.amounts.add(&next.amounts);
        self.cash.add(&next.cash);
        self.controls.add(&next.controls);
        follow(&mut self.receipts, &next.receipts);
        self.first_receipt_number = self.first_receipt_number.take().or_else(|| next.first_receipt_number.clone());
        self.last_receipt_number = next.last_receipt_number.clone().or_else(|| self.last_receipt_number.take());
        self.running_total.after = next.running_total.after;
        self.chain = next.chain.clone().or_else(|| self.chain.take());
        let flags = next.flags.iter().filter(|flag| !self.flags.contains(flag)).cloned().collect::<Vec<_>>();
        self.flags.extend(flags);
    }

    /// Adds what another register took: its running total is one more, and there is no chain and no range of both.
    pub(super) fn add_register(&mut self, other: &Self) {
        let mut running = self.running_total.clone();
        running.before.add(&other.running_total.before);
        running.after.add(&other.running_total.after);
        self.add(other);
        self.running_total = running;
        (self.chain, self.first_receipt_number, self.last_receipt_number) = (None, None, None);
    }
}
