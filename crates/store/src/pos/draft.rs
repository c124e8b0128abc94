//! From a priced and paid cart to the rows of a sale; all but the receipt number, which is taken last.

use tillkeep_http::shelf::shown::{special_details, tax_details, tax_lines};
use tillkeep_model::approvable::{self, Approvable};
use tillkeep_model::pricing::{Deed, Discount, Need, PaymentRow, PriceSource, Settlement};
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::SaleType;
use tillkeep_model::{Cost, Instant, JsonText, Money, ids};
use tillkeep_storage::entity::{customer, register_session, sale, sale_item, sale_payment, store};
use uuid::Uuid;

use super::cart::{Cart, DiscountEntry, Line, Payment};
use super::pricing::Priced;
use super::removed;
use super::sale_document::SaleDocument;
use crate::approvals::Approval;
use crate::customers;

/// What a sale is made of.
pub(crate) struct Draft<'a> {
    pub id: Uuid,
    pub store: &'a store::Model,
    pub session: &'a register_session::Model,
    pub cart: &'a Cart,
    pub priced: &'a Priced<'a>,
    pub settlement: &'a Settlement,
    pub customer: Option<&'a customer::Model>,
    pub cashier_id: Uuid,
    pub cashier_name: &'a str,
    /// What a second person approved of it.
    pub approvals: &'a [Approval],
    pub now: Instant,
}

impl Draft<'_> {
    pub(crate) fn document(&self) -> SaleDocument {
        let payments = payments(self.id, self.cart.payments(), self.settlement);
        SaleDocument { sale: self.sale(), items: self.items(), payments, entries: Vec::new() }
    }

    fn sale(&self) -> sale::Model {
        let cart = &self.priced.cart;
        let discount = self.cart.cart_discount.as_ref().and_then(DiscountEntry::checked);
        let reason = self.priced.cart_reason.as_ref();
        sale::Model {
            id: self.id,
            store_id: self.store.id,
            created_at: self.now,
            updated_at: self.now,
            register_id: self.session.register_id,
            register_code: self.session.register_code.clone(),
            register_session_id: self.session.id,
            sale_type: SaleType::Sale.into(),
            status: SaleStatus::Completed.into(),
            business_date: self.session.business_date.clone(),
            // A till with a clock that runs ahead cannot have begun after the end.
            started_at: self.cart.started_at.unwrap_or(self.now).min(self.now),
            completed_at: self.now,
            cashier_user_id: self.cashier_id,
            cashier_name: self.cashier_name.to_owned(),
            sales_rep_id: self.cart.sales_rep_id,
            customer_id: self.cart.customer_id,
            customer_name: self.customer.map(customers::display_name),
            currency_code: self.store.currency_code.clone(),
            tax_rounding: self.priced.tax_rounding.as_str().to_owned(),
            tax_exempt: self.priced.tax_exempt,
            list_amount: cart.list,
            special_discount: cart.special_discount,
            line_discount: cart.line_discount,
            cart_discount: cart.cart_discount,
            net_amount: cart.net,
            tax_amount: cart.tax,
            total_amount: cart.total,
            cash_rounding: self.settlement.cash_rounding,
            change_amount: self.settlement.change,
            cost_amount: Cost(cart.cost),
            tax_lines: JsonText::new(&tax_lines(&cart.tax_lines)),
            cart_discount_type: discount.map(|discount| discount.word().to_owned()),
            cart_discount_value: discount.map(Discount::value),
            cart_discount_reason: reason.map(|reason| reason.text.clone()),
            cart_discount_reason_code: reason.and_then(|reason| reason.code.clone()),
            note: self.cart.note.clone(),
            removed: removed::kept(self.cart.removed()),
            approvals: JsonText::new(&self.approvals.iter().map(Approval::to_json).collect::<Vec<_>>()),
            ..sale::Model::default()
        }
    }

    fn items(&self) -> Vec<sale_item::Model> {
        let needs = self.priced.needs();
        (0..self.priced.lines.len()).map(|place| self.item(place, &needs)).collect()
    }

    fn item(&self, place: usize, needs: &[Need]) -> sale_item::Model {
        let (item, line, amounts) =
            (&self.priced.items[place], &self.priced.lines[place], &self.priced.cart.lines[place]);
        let product = item.product;
        let entered = self.cart.lines.get(item.index).filter(|_| item.charge_of.is_none());
        let discount = entered.and_then(|line| line.line_discount.as_ref()).and_then(DiscountEntry::checked);
        let (override_reason, discount_reason) = (item.override_reason.as_ref(), item.discount_reason.as_ref());
        let overridden = line.price_source == PriceSource::Override;
        sale_item::Model {
            id: self.item_id(place),
            sale_id: self.id,
            line_no: line_no(place),
            product_id: product.id,
            sku: product.sku.clone(),
            barcode: product.barcode.clone(),
            product_name: entered.and_then(Line::name).unwrap_or(&product.name).to_owned(),
            department_id: Some(product.department_id),
            unit_of_measure: product.unit_of_measure.clone(),
            quantity: line.quantity,
            regular_price: line.regular_price,
            unit_price: line.unit_price,
            price_source: line.price_source.as_str().to_owned(),
            price_includes_tax: line.inclusive,
            list_amount: amounts.list,
            special_discount: amounts.special_discount,
            special_details: JsonText::new(&special_details(&amounts.savings, self.store.currency_exponent)),
            line_discount: amounts.line_discount,
            line_discount_type: discount.map(|discount| discount.word().to_owned()),
            line_discount_value: discount.map(Discount::value),
            discount_reason: discount_reason.map(|reason| reason.text.clone()),
            discount_reason_code: discount_reason.and_then(|reason| reason.code.clone()),
            discount_approved_by: self.discount_approver(place, needs),
            cart_discount: amounts.cart_discount,
            net_amount: amounts.net,
            tax_amount: amounts.tax,
            total_amount: amounts.total,
            tax_group_id: Some(product.tax_group_id),
            tax_details: JsonText::new(&tax_details(&amounts.taxes)),
            unit_cost: line.unit_cost.map(Cost),
            cost_amount: Cost(amounts.cost),
            override_reason: override_reason.map(|reason| reason.text.clone()),
            override_reason_code: override_reason.and_then(|reason| reason.code.clone()),
            override_approved_by: self.approver_of(&approvable::PRICE).filter(|_| overridden),
            scanned_code: entered.and_then(Line::code).map(str::to_owned),
            note: entered.and_then(|line| line.note.clone()),
            serial: entered.and_then(|line| line.serial.clone()),
            charge_of: item.charge_of.map(|line| self.item_id(line)),
            age_confirmed: entered.and_then(|line| line.age_confirmed),
            // Headquarters books the line by this, whatever it keeps of the product when the line arrives.
            tracked: Some(product.track_stock),
            ..sale_item::Model::default()
        }
    }

    /// Who approved what somebody took off a line: of a discount above the limit the one who approved that.
    fn discount_approver(&self, place: usize, needs: &[Need]) -> Option<Uuid> {
        let amounts = &self.priced.cart.lines[place];
        if amounts.line_discount + amounts.cart_discount == Money::ZERO {
            return None;
        }
        let is_beyond = |need: &Need| {
            matches!(need.deed, Deed::BeyondLimit | Deed::BelowFloor)
                && need.line.map_or(amounts.cart_discount > Money::ZERO, |line| line == place)
        };
        let beyond = self.approver_of(&approvable::BEYOND_LIMIT).filter(|_| needs.iter().any(is_beyond));
        beyond.or_else(|| self.approver_of(&approvable::DISCOUNT))
    }

    fn approver_of(&self, approvable: &'static Approvable) -> Option<Uuid> {
        approver_of(self.approvals, approvable)
    }

    /// The id of a charge is that of its line, seen another way.
    fn item_id(&self, place: usize) -> Uuid {
        match self.priced.items[place].charge_of {
            Some(line) => part(self.id, "sale_item_charge", line_no(line)),
            None => part(self.id, "sale_item", line_no(place)),
        }
    }
}

/// The rows by which `settlement` settles the document `id`, with what was entered of each payment.
pub(super) fn payments(id: Uuid, entered: &[Payment], settlement: &Settlement) -> Vec<sale_payment::Model> {
    let row = |(index, payment): (usize, &PaymentRow)| {
        let line_no = line_no(index);
        let entered = payment.index.and_then(|place| entered.get(place));
        sale_payment::Model {
            id: part(id, "sale_payment", line_no),
            sale_id: id,
            line_no,
            tender_id: Some(payment.tender_id),
            tender_code: payment.code.clone(),
            tender_kind: payment.kind.into(),
            amount: payment.amount,
            tendered_amount: payment.tendered,
            change_amount: payment.change,
            is_change: payment.is_change,
            reference: payment.reference.clone(),
            card_brand: entered.and_then(|entered| entered.card_brand.clone()),
            card_last4: entered.and_then(|entered| entered.card_last4.clone()),
            external_id: entered.and_then(|entered| entered.external_id.clone()),
            status: PaymentStatus::Captured.into(),
        }
    };
    settlement.payments.iter().enumerate().map(row).collect()
}

/// The id of a line: the same however often the document is made, and after those of the documents before it.
pub(super) fn part(id: Uuid, kind: &str, line_no: i32) -> Uuid {
    ids::beside(id, ids::line(id, kind, line_no))
}

/// Who approved it; somebody who may do it approves nothing.
pub(crate) fn approver_of(approvals: &[Approval], approvable: &'static Approvable) -> Option<Uuid> {
    approvals.iter().find(|approval| *approval.approvable() == *approvable).map(Approval::approver_id)
}

/// Lines are counted from 1.
pub(super) fn line_no(index: usize) -> i32 {
    i32::try_from(index + 1).unwrap_or(i32::MAX)
}
