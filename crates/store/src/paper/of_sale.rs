//! From the rows of a document to a paper. Nothing is read here, and nothing reckoned again: what was booked is what is printed,
//! of a document of an earlier release too.

use serde::Deserialize;
use tillkeep_model::calendar::Calendar;
use tillkeep_model::paper::{
    Approved, Line, Other, Price, Receipt, Reference, Saving, Signature, Tender, Totals, Voided, approved, discount,
    is_english, special,
};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::{PaperKind, Reported, SaleType, SignatureState};
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::{chain_signature, print_job, sale, sale_item, sale_payment, store, tender};

use super::rows::{Rows, list};
use super::shop::{buyer, shop};
use super::taxes::Taxes;

/// Which paper of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub kind: PaperKind,
    /// Which copy, from 1; 0 for one that was not counted.
    pub copy: Option<i32>,
}

impl Wanted {
    /// The paper that a job is.
    pub(super) fn of(job: &print_job::Model) -> Self {
        let copy = (job.copy > 0).then_some(job.copy);
        match kind(&job.kind) {
            PaperKind::Sale if copy.is_some() => Self { kind: PaperKind::Copy, copy },
            kind => Self { kind, copy },
        }
    }
}

/// What a newer program calls another word is the receipt.
pub(super) fn kind(word: &str) -> PaperKind {
    match Reported::read(word) {
        Reported::Known(kind) => kind,
        Reported::Other(_) => PaperKind::Sale,
    }
}

/// One of `sale_items.special_details`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Special {
    name: String,
    text: String,
    amount: Money,
}

/// One of `sales.approvals`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Approval {
    permission: String,
    approver_name: String,
}

/// A paper of what `rows` are of.
pub(crate) fn of_sale(rows: &Rows, store: &store::Model, tenders: &[tender::Model], wanted: Wanted) -> Receipt {
    let is_gift = wanted.kind == PaperKind::Gift;
    let receipt = whole(rows, store, tenders, wanted);
    if is_gift { without_amounts(receipt) } else { receipt }
}

fn whole(rows: &Rows, store: &store::Model, tenders: &[tender::Model], wanted: Wanted) -> Receipt {
    let sale = &rows.document.sale;
    let clock = Calendar::new(&store.timezone, &store.business_day_start);
    let local = |at: Instant| clock.wall_clock(at).format("%Y-%m-%dT%H:%M:%S").to_string();
    let at = Some(sale.completed_at).filter(|at| !at.is_unset()).unwrap_or(sale.created_at);
    let is_voided = sale.status == SaleStatus::Voided;
    let taxes = Taxes::of(rows);
    let reason = common_reason(rows);
    Receipt {
        kind: wanted.kind,
        document: kind_of(sale),
        number: sale.receipt_number.clone(),
        barcode: sale.receipt_number.clone(),
        copy: wanted.copy,
        voided: is_voided.then(|| Voided {
            local_time: sale.voided_at.map(local).unwrap_or_default(),
            reason: sale.void_reason.clone(),
        }),
        locale: store.locale.clone(),
        currency_code: sale.currency_code.clone(),
        currency_exponent: store.currency_exponent,
        shop: shop(store),
        at,
        local_time: local(at),
        business_date: sale.business_date.clone(),
        register_code: sale.register_code.clone(),
        cashier_name: sale.cashier_name.clone(),
        customer_name: sale.customer_name.clone(),
        buyer: buyer(sale, rows.customer.as_ref(), store).filter(|_| wanted.kind == PaperKind::Invoice),
        original: sale.original_receipt_number.as_ref().map(|number| Reference {
            number: number.clone(),
            reason: reason.clone(),
            total: None,
        }),
        refunds: rows.refunds.iter().map(reference).collect(),
        other_half: rows.other_half.as_ref().map(|other| Other {
            document: kind_of(other),
            number: other.receipt_number.clone(),
            total: Some(other.total_amount),
        }),
        lines: rows.document.items.iter().map(|item| line(item, store, &taxes, reason.is_some())).collect(),
        totals: Some(totals(rows, store)),
        taxes: taxes.table(rows),
        tenders: paid(rows, tenders),
        approvals: approvals(sale, &store.locale),
        signature: rows.signature.as_ref().and_then(signature),
        note: sale.note.clone(),
    }
}

/// For whoever gets a present: no amounts, and nothing of who bought it.
fn without_amounts(mut receipt: Receipt) -> Receipt {
    receipt.lines.iter_mut().for_each(|line| line.price = None);
    (receipt.totals, receipt.other_half, receipt.customer_name) = (None, None, None);
    (receipt.note, receipt.signature) = (None, None);
    receipt.refunds.clear();
    receipt.taxes.clear();
    receipt.tenders.clear();
    receipt.approvals.clear();
    receipt
}

/// What a document is; what a newer program calls another word is printed as a sale.
pub(super) fn kind_of(sale: &sale::Model) -> SaleType {
    match Reported::read(&sale.sale_type) {
        Reported::Known(kind) => kind,
        Reported::Other(_) => SaleType::Sale,
    }
}

fn reference(refund: &sale::Model) -> Reference {
    Reference { number: refund.receipt_number.clone(), reason: None, total: Some(refund.total_amount) }
}

/// Why all of it was given back, of a refund with a receipt; nothing when its lines have several reasons.
fn common_reason(rows: &Rows) -> Option<String> {
    rows.document.sale.original_receipt_number.as_ref()?;
    let mut reasons = rows.document.items.iter().map(|item| item.return_reason.as_ref());
    let first = reasons.next()??;
    reasons.all(|reason| reason == Some(first)).then(|| first.clone())
}

fn line(item: &sale_item::Model, store: &store::Model, taxes: &Taxes, has_common_reason: bool) -> Line {
    Line {
        name: item.product_name.clone(),
        quantity: item.quantity,
        unit: item.unit_of_measure.clone(),
        note: item.note.clone(),
        serial: item.serial.clone(),
        is_charge: item.charge_of.is_some(),
        reason: item.return_reason.clone().filter(|_| !has_common_reason),
        price: Some(Price {
            unit: item.unit_price,
            list: item.list_amount,
            savings: savings(item, &store.locale),
            amount: item.list_amount - item.special_discount - item.line_discount,
            tax_mark: taxes.mark(item),
        }),
    }
}

/// What was taken off a line. Specials have words of their own in English; in other languages their names say it. Where they do
/// not add up to what was booked, as of a document that was made before they were kept, the sum stands alone.
fn savings(item: &sale_item::Model, locale: &str) -> Vec<Saving> {
    let specials = list::<Special>(&item.special_details);
    let named = specials.iter().map(|special| special.amount).sum::<Money>() == item.special_discount;
    let in_words = |special: Special| {
        let own = if is_english(locale) && !special.text.is_empty() { special.text } else { special.name };
        Saving { text: own, amount: special.amount }
    };
    let mut savings: Vec<Saving> = if named {
        specials.into_iter().map(in_words).collect()
    } else {
        vec![Saving { text: special(locale).to_owned(), amount: item.special_discount }]
    };
    if item.line_discount != Money::ZERO {
        let said = (item.line_discount_type.as_deref(), item.line_discount_value);
        let text = discount(locale, said, item.discount_reason.as_deref(), false);
        savings.push(Saving { text, amount: item.line_discount });
    }
    savings.retain(|saving| saving.amount != Money::ZERO);
    savings
}

fn totals(rows: &Rows, store: &store::Model) -> Totals {
    let sale = &rows.document.sale;
    let saved = sale.special_discount + sale.line_discount + sale.cart_discount;
    let subtotal = sale.list_amount - saved;
    let said = (sale.cart_discount_type.as_deref(), sale.cart_discount_value);
    let cart_discount = (sale.cart_discount != Money::ZERO).then(|| Saving {
        text: discount(&store.locale, said, sale.cart_discount_reason.as_deref(), true),
        amount: sale.cart_discount,
    });
    Totals {
        list: sale.list_amount,
        saved,
        cart_discount,
        subtotal,
        tax_added: sale.total_amount - subtotal,
        total: sale.total_amount,
        cash_rounding: sale.cash_rounding,
        due: sale.total_amount + sale.cash_rounding,
        change: sale.change_amount,
        tax_exempt: sale.tax_exempt,
        settled: (kind_of(sale) == SaleType::Settlement).then(|| -rows.document.on_account()),
    }
}

/// By what it was paid. Change in cash has a place of its own; what a settlement takes off the account is its sum.
fn paid(rows: &Rows, tenders: &[tender::Model]) -> Vec<Tender> {
    let is_settlement = kind_of(&rows.document.sale) == SaleType::Settlement;
    let payments = rows.document.payments.iter().filter(|payment| !payment.is_change);
    let shown = payments.filter(|payment| !(is_settlement && payment.tender_kind == TenderKind::OnAccount));
    let one = |payment: &sale_payment::Model| {
        let named = tenders.iter().find(|tender| Some(tender.id) == payment.tender_id);
        Tender {
            name: named.map_or(&payment.tender_code, |tender| &tender.name).clone(),
            kind: payment.tender_kind.clone(),
            amount: payment.amount,
            tendered: payment.tendered_amount.filter(|tendered| *tendered != payment.amount),
            card_brand: payment.card_brand.clone(),
            card_last4: payment.card_last4.clone(),
            reference: payment.reference.clone(),
        }
    };
    shown.map(one).collect()
}

fn approvals(sale: &sale::Model, locale: &str) -> Vec<Approved> {
    let one = |approval: Approval| Approved {
        text: approved(locale, &approval.permission),
        permission: approval.permission,
        by: approval.approver_name,
    };
    list::<Approval>(&sale.approvals).into_iter().map(one).collect()
}

fn signature(row: &chain_signature::Model) -> Option<Signature> {
    let Reported::Known(state) = Reported::<SignatureState>::read(&row.state) else { return None };
    Some(Signature { state, signer: row.signer.clone(), value: row.signature.clone() })
}
