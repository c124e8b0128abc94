//! From a priced and paid cart to the rows of a sale; all but the receipt number, which is taken last.

use tillkeep_model::approvable;
use tillkeep_model::pricing::{PriceSource, Settlement};
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::SaleType;
use tillkeep_model::{Cost, Instant, JsonText, ids};
use tillkeep_storage::entity::{customer, register_session, sale, sale_item, sale_payment, store};
use uuid::Uuid;

use super::cart::Cart;
use super::pricing::Priced;
use super::quote::{tax_details, tax_lines};
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
        SaleDocument { sale: self.sale(), items: self.items(), payments: self.payments() }
    }

    fn sale(&self) -> sale::Model {
        let cart = &self.priced.cart;
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
            approvals: JsonText::new(&self.approvals.iter().map(Approval::to_json).collect::<Vec<_>>()),
            ..sale::Model::default()
        }
    }

    fn items(&self) -> Vec<sale_item::Model> {
        (0..self.priced.lines.len()).map(|index| self.item(index)).collect()
    }

    fn item(&self, index: usize) -> sale_item::Model {
        let (product, line, amounts) =
            (self.priced.products[index], &self.priced.lines[index], &self.priced.cart.lines[index]);
        let line_no = line_no(index);
        let overridden = line.price_source == PriceSource::Override;
        let approved = self.approvals.iter().find(|approval| *approval.approvable() == approvable::PRICE);
        sale_item::Model {
            id: self.part("sale_item", line_no),
            sale_id: self.id,
            line_no,
            product_id: product.id,
            sku: product.sku.clone(),
            barcode: product.barcode.clone(),
            product_name: product.name.clone(),
            department_id: Some(product.department_id),
            unit_of_measure: product.unit_of_measure.clone(),
            quantity: line.quantity,
            regular_price: line.regular_price,
            unit_price: line.unit_price,
            price_source: line.price_source.as_str().to_owned(),
            price_includes_tax: line.inclusive,
            list_amount: amounts.list,
            special_discount: amounts.special_discount,
            line_discount: amounts.line_discount,
            cart_discount: amounts.cart_discount,
            net_amount: amounts.net,
            tax_amount: amounts.tax,
            total_amount: amounts.total,
            tax_group_id: Some(product.tax_group_id),
            tax_details: JsonText::new(&tax_details(&amounts.taxes)),
            unit_cost: line.unit_cost.map(Cost),
            cost_amount: Cost(amounts.cost),
            override_reason: self.cart.lines[index].reason().map(str::to_owned),
            override_approved_by: approved.filter(|_| overridden).map(Approval::approver_id),
            age_confirmed: self.cart.lines[index].age_confirmed,
            // Headquarters books the line by this, whatever it keeps of the product when the line arrives.
            tracked: Some(product.track_stock),
            ..sale_item::Model::default()
        }
    }

    /// The id of a line: the same however often the sale is made, and after those of the sales before it.
    fn part(&self, kind: &str, line_no: i32) -> Uuid {
        ids::beside(self.id, ids::line(self.id, kind, line_no))
    }

    fn payments(&self) -> Vec<sale_payment::Model> {
        let row = |(index, payment): (usize, &tillkeep_model::pricing::PaymentRow)| {
            let line_no = line_no(index);
            sale_payment::Model {
                id: self.part("sale_payment", line_no),
                sale_id: self.id,
                line_no,
                tender_id: Some(payment.tender_id),
                tender_code: payment.code.clone(),
                tender_kind: payment.kind.into(),
                amount: payment.amount,
                tendered_amount: payment.tendered,
                change_amount: payment.change,
                is_change: payment.is_change,
                reference: payment.reference.clone(),
                status: PaymentStatus::Captured.into(),
                ..sale_payment::Model::default()
            }
        };
        self.settlement.payments.iter().enumerate().map(row).collect()
    }
}

/// Lines are counted from 1.
fn line_no(index: usize) -> i32 {
    i32::try_from(index + 1).unwrap_or(i32::MAX)
}
