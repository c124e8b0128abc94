//! From the lines of a refund and its payments to its document; all but the receipt number, which is taken last.

use serde_json::Value as Json;
use tillkeep_model::pricing::Settlement;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_model::{Cost, Instant, JsonText, Money};
use tillkeep_storage::entity::{register_session, sale, sale_item};
use uuid::Uuid;

use crate::approvals::Approval;
use crate::pos::draft;
use crate::pos::sale_document::SaleDocument;

/// Who gives money back, at which drawer, and when it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Giver {
    pub session: register_session::Model,
    pub terminal: Option<String>,
    pub cashier_id: Uuid,
    pub cashier_name: String,
    pub now: Instant,
}

/// What the head of a refund takes from the sale that it is of, or from the shop and the customer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub store_id: Uuid,
    pub original: Option<(Uuid, String)>,
    pub exchange_group_id: Option<Uuid>,
    pub customer: Option<(Uuid, Option<String>)>,
    pub sales_rep_id: Option<Uuid>,
    pub currency_code: String,
    pub tax_rounding: String,
    pub tax_exempt: bool,
    /// `sales.tax_lines` with the names of the rates.
    pub tax_names: JsonText,
    pub note: Option<String>,
}

/// The refund `id` with these lines.
pub(crate) fn refund(
    id: Uuid,
    giver: &Giver,
    terms: Terms,
    items: Vec<sale_item::Model>,
    settlement: &Settlement,
) -> SaleDocument {
    let sum = |amount: fn(&sale_item::Model) -> Money| items.iter().map(amount).sum::<Money>();
    let (original_sale_id, original_receipt_number) = terms.original.unzip();
    let (customer_id, customer_name) = terms.customer.unzip();
    let sale = sale::Model {
        id,
        store_id: terms.store_id,
        created_at: giver.now,
        updated_at: giver.now,
        register_id: giver.session.register_id,
        register_code: giver.session.register_code.clone(),
        register_session_id: giver.session.id,
        sale_type: SaleType::Refund.into(),
        status: SaleStatus::Completed.into(),
        business_date: giver.session.business_date.clone(),
        started_at: giver.now,
        completed_at: giver.now,
        cashier_user_id: giver.cashier_id,
        cashier_name: giver.cashier_name.clone(),
        sales_rep_id: terms.sales_rep_id,
        customer_id,
        customer_name: customer_name.flatten(),
        original_sale_id,
        original_receipt_number,
        exchange_group_id: terms.exchange_group_id,
        currency_code: terms.currency_code,
        tax_rounding: terms.tax_rounding,
        tax_exempt: terms.tax_exempt,
        list_amount: sum(|item| item.list_amount),
        special_discount: sum(|item| item.special_discount),
        line_discount: sum(|item| item.line_discount),
        cart_discount: sum(|item| item.cart_discount),
        net_amount: sum(|item| item.net_amount),
        tax_amount: sum(|item| item.tax_amount),
        total_amount: sum(|item| item.total_amount),
        cash_rounding: settlement.cash_rounding,
        change_amount: settlement.change,
        cost_amount: Cost(sum(|item| item.cost_amount.0)),
        tax_lines: tax_lines(&items, &terms.tax_names),
        note: terms.note,
        ..sale::Model::default()
    };
    let payments = draft::payments(id, &[], settlement);
    SaleDocument { sale, items, payments, entries: Vec::new() }
}

/// Names those who approved it, before it is stored.
pub(crate) fn approved_by(document: &mut SaleDocument, approvals: &[Approval]) {
    document.sale.approvals = JsonText::new(&approvals.iter().map(Approval::to_json).collect::<Vec<_>>());
}

/// One for each rate of the lines, as those of a sale; `named` has the names of the rates.
fn tax_lines(items: &[sale_item::Model], named: &JsonText) -> JsonText {
    let mut sums: Vec<(Json, [i64; 2])> = Vec::new();
    let details = items.iter().filter_map(|item| item.tax_details.0.as_array()).flatten();
    for detail in details.filter(|detail| is_read(detail)) {
        let figures = ["baseAmount", "taxAmount"].map(|key| detail[key].as_i64().unwrap_or_default());
        match sums.iter_mut().find(|(known, _)| known["taxRateId"] == detail["taxRateId"]) {
            Some((_, sum)) => *sum = [sum[0] + figures[0], sum[1] + figures[1]],
            None => sums.push((detail.clone(), figures)),
        }
    }
    let rates = || named.0.as_array().into_iter().flatten();
    let line = |(mut line, [base, tax]): (Json, [i64; 2])| {
        let name = rates().find(|named| named["taxRateId"] == line["taxRateId"]).map(|named| named["name"].clone());
        line["name"] = name.filter(Json::is_string).unwrap_or_else(|| line["code"].clone());
        line["baseAmount"] = base.into();
        line["taxAmount"] = tax.into();
        line
    };
    JsonText(sums.into_iter().map(line).collect())
}

/// Whether the reports of a drawer can read a tax: whoever pushed the sale may have said less of it.
fn is_read(detail: &Json) -> bool {
    detail["taxRateId"].as_str().is_some_and(|id| Uuid::parse_str(id).is_ok())
        && detail["code"].is_string()
        && detail["ratePpm"].as_i64().is_some_and(|ppm| i32::try_from(ppm).is_ok())
}
