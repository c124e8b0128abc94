//! Sales and refunds: written once by their store, then voided or refunded. HQ never refuses money.

use tillkeep_model::Money;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::sale_check::{self, LineFigures, Price, SaleFigures};
use tillkeep_model::state::{PaymentStatus, SaleStatus, may_follow};
use tillkeep_model::words::SaleType;

use super::{
    Awaited, Beyond, Clash, Exported, Facts, Form, Numbering, Pushed, Reckoned, Reference, Restored, States, UsedId,
    Whole, WriteContext,
};
use crate::document::movement::{Kind, Movement, Position};
use crate::entity::sale::{Model, from_its_end};
use crate::entity::{sale_item, sale_payment};
use crate::rows::owners::ALL_OF_IT;

pub const TYPE: &str = "sales";

/// The flag of a payment on an account that was below zero after it, and was not said to be meant so: two tills, or two stores,
/// have both taken what was owed once.
pub const OVERPAID: &str = "overpaid";

/// Places of its lines and payments among its children in the registry.
const ITEMS: usize = 0;
const PAYMENTS: usize = 1;

static NUMBER: Numbering = Numbering {
    kind: "receipt",
    table: TYPE,
    column: "receipt_number",
    store: "store_id",
    register: Some("register_code"),
    form: Form::Text { infix: "-" },
    clash: Clash::Flagged("duplicate_receipt_number"),
};

pub static SALE: Pushed = Pushed {
    owned,
    beyond: Beyond::Cut,
    used_id: UsedId::Another,
    states: Some(States {
        column: "status",
        may_follow: may_follow::<SaleStatus>,
        by_action: &[("void", SaleStatus::Voided.word())],
        made_by_hq: None,
        merged: None,
        reckoned: Some(Reckoned {
            states: &[SaleStatus::PartiallyRefunded.word(), SaleStatus::Refunded.word()],
            means: SaleStatus::Completed.word(),
        }),
    }),
    parent: None,
    may_be_deleted: None,
    append_only_lists: &[],
    kept: None,
    number: Some(&NUMBER),
    printed: &["receipt_number"],
    times: &["created_at", "started_at", "completed_at"],
    day: Some("business_date"),
    // It is looked for by the end of its number, which never changes.
    complete: Some(|row, _| {
        let ending = row.text(NUMBER.column).map(|number| from_its_end(&number));
        row.set("receipt_end", ending.into());
    }),
    movements: Some(|document, position| {
        let sale = document.row.typed::<Model>();
        sale.map_or_else(Vec::new, |sale| movements(sale, document.lines_of(ITEMS), position))
    }),
    charged: Some(charged),
    has_account: false,
    checks: Some(checks),
    awaited: &[
        Awaited { lines: Some(ITEMS), column: "product_id", names: Reference::Product },
        Awaited { lines: None, column: "customer_id", names: Reference::Customer },
        Awaited { lines: None, column: "register_session_id", names: Reference::Session },
        Awaited { lines: None, column: "original_sale_id", names: Reference::Sale },
        Awaited { lines: Some(ITEMS), column: "original_sale_item_id", names: Reference::SaleItem },
    ],
    flags: Some(flags),
    reckoned: &["refunded_amount", "refunded_quantity"],
    restored: Some(Restored { registers: false }),
    exported: Some(Exported {
        amounts: &["net_amount", "tax_amount", "total_amount", "cash_rounding", "refunded_amount"],
        quantities: &[],
    }),
    acts: &[],
};

fn owned(context: WriteContext<'_>) -> &'static [&'static str] {
    if context.new {
        ALL_OF_IT
    } else {
        // It never changes; a headquarters that did not know of it yet has not taken it.
        &["status", "voided_at", "voided_by", "void_reason", "void_reason_code", "buyer", "prepaid"]
    }
}

fn charged(document: &Whole<'_>) -> i128 {
    if document.row.typed::<Model>().is_none_or(|sale| sale.status == SaleStatus::Voided) {
        return 0;
    }
    let payments = document.lines_of::<sale_payment::Model>(PAYMENTS);
    let on_account = payments.filter(|payment| payment.tender_kind == TenderKind::OnAccount);
    let counted = on_account.filter(|payment| payment.status != PaymentStatus::Voided);
    counted.map(|payment| i128::from(payment.amount.0)).sum()
}

fn checks(document: &Whole<'_>) -> Vec<&'static str> {
    let Some(sale) = document.row.typed::<Model>() else { return Vec::new() };
    let items = document.lines_of::<sale_item::Model>(ITEMS);
    let lines: Vec<LineFigures> = items
        .map(|item| LineFigures {
            price: Price {
                list: item.list_amount,
                special: item.special_discount,
                line: item.line_discount,
                cart: item.cart_discount,
            },
            inclusive: item.price_includes_tax,
            net: item.net_amount,
            tax: item.tax_amount,
            total: item.total_amount,
        })
        .collect();
    let payments = document.lines_of::<sale_payment::Model>(PAYMENTS);
    let counted =
        payments.filter(|payment| payment.status != PaymentStatus::Voided || sale.status == SaleStatus::Voided);
    let payments: Vec<Money> = counted.map(|payment| payment.amount).collect();
    sale_check::flags(&SaleFigures {
        is_refund: sale.sale_type == SaleType::Refund,
        is_settlement: sale.sale_type == SaleType::Settlement,
        is_exempt: sale.tax_exempt,
        price: Price {
            list: sale.list_amount,
            special: sale.special_discount,
            line: sale.line_discount,
            cart: sale.cart_discount,
        },
        net: sale.net_amount,
        tax: sale.tax_amount,
        total: sale.total_amount,
        cash_rounding: sale.cash_rounding,
        lines: &lines,
        payments: &payments,
    })
}

fn flags(document: &Whole<'_>, facts: &Facts) -> Vec<&'static str> {
    let Some(sale) = document.row.typed::<Model>() else { return Vec::new() };
    let is_deleted = sale.customer_id.is_some_and(|id| facts.customers.get(&id) == Some(&true));
    let session = facts.sessions.get(&sale.register_session_id);
    let is_closed = session.is_some_and(|session| session.is_closed_to(&sale.receipt_number));
    let all = [(is_deleted, "deleted_customer"), (is_closed, "closed_day")];
    all.into_iter().filter_map(|(is, flag)| is.then_some(flag)).collect()
}

/// The stock that a sale moves, at its till and at HQ. A void reverses what the sale took, in movements of their own, so
/// that both may arrive in either order.
pub fn movements<'a>(
    sale: &Model,
    items: impl IntoIterator<Item = &'a sale_item::Model>,
    position: Option<Position>,
) -> Vec<Movement> {
    let (refund, voided) = (sale.sale_type == SaleType::Refund, sale.status == SaleStatus::Voided);
    let at = Some(sale.completed_at).filter(|at| !at.is_unset()).unwrap_or(sale.created_at);
    let mut movements = Vec::new();
    for item in items {
        // What names no product moves nothing; HQ flags it as of a product that it does not know.
        if item.product_id.is_nil() || (refund && item.restock == Some(false)) {
            continue;
        }
        let base = Movement {
            kind: if refund { Kind::Refund } else { Kind::Sale },
            product_id: item.product_id,
            change: -item.quantity,
            source_id: sale.id,
            line_id: item.id,
            business_date: sale.business_date.clone(),
            at,
            received: false,
            // What is returned to the shelf comes in at the cost at which it left.
            unit_cost: item.unit_cost.filter(|_| refund).map(|cost| cost.0),
            tracked: item.tracked,
            // What a store says of the average cost counts where it is known what is newer.
            average_after: item.average_cost_after.filter(|_| refund).map(|cost| cost.0).zip(position),
        };
        if voided {
            let leaves = Movement { unit_cost: None, average_after: None, ..base.clone() };
            movements.push(Movement { kind: Kind::SaleVoid, change: -base.change, ..leaves });
        }
        movements.push(base);
    }
    movements
}
