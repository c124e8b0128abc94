//! Sales and refunds: written once by their store, then voided or refunded. HQ never refuses money.

use tillkeep_model::Money;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::sale_check::{self, LineFigures, SaleFigures};
use tillkeep_model::state::{MayFollow, PaymentStatus, SaleStatus, may_follow};

use super::{
    Act, Awaited, Beyond, Clash, Exported, Facts, Form, Maker, Named, Numbering, Parent, Pushed, Restored, UsedId,
    Whole, WriteContext,
};
use crate::document::movement::{Kind, Movement, Position};
use crate::entity::sale::Model;
use crate::entity::{sale_item, sale_payment};
use crate::rows::Row;
use crate::rows::owners::ALL_OF_IT;

pub const TYPE: &str = "sales";

/// The flag of a sale whose drawer HQ does not have yet.
pub const UNKNOWN_SESSION: &str = "unknown_session";
/// The flag of a sale whose customer HQ does not have yet.
pub const UNKNOWN_CUSTOMER: &str = "unknown_customer";

/// Places of its lines and payments among its children in the registry.
const ITEMS: usize = 0;
const PAYMENTS: usize = 1;

const REFUND: &str = "refund";

static NUMBER: Numbering = Numbering {
    kind: "receipt",
    table: TYPE,
    column: "receipt_number",
    store: "store_id",
    register: Some("register_code"),
    form: Form::Text { infix: "-" },
    clash: Clash::Flagged("duplicate_receipt_number"),
};

pub struct Sale;

impl Pushed for Sale {
    fn order(&self) -> u8 {
        6
    }

    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str] {
        if context.new {
            ALL_OF_IT
        } else {
            &["status", "refunded_amount", "refunded_quantity", "voided_at", "voided_by", "void_reason"]
        }
    }

    fn beyond(&self) -> Beyond {
        Beyond::Cut
    }

    fn used_id(&self) -> UsedId {
        UsedId::Another
    }

    fn states(&self) -> Option<MayFollow> {
        Some(may_follow::<SaleStatus>)
    }

    fn is_co_written(&self) -> bool {
        false
    }

    fn sent_status(&self, action: &str, row: &dyn Row) -> Option<String> {
        if action == "void" { Some(SaleStatus::Voided.into()) } else { row.text("status") }
    }

    fn next_status(&self, _: WriteContext<'_>, sent: Option<&str>, _: &mut dyn Row) -> Option<String> {
        // One writer: the way was judged before.
        sent.map(str::to_owned)
    }

    fn parent(&self) -> Option<Parent> {
        None
    }

    fn may_be_deleted(&self, _: Option<&dyn Row>) -> bool {
        false
    }

    fn append_only_lists(&self) -> &'static [&'static str] {
        &[]
    }

    fn number(&self) -> Option<&'static Numbering> {
        Some(&NUMBER)
    }

    fn printed(&self) -> &'static [&'static str] {
        &["receipt_number"]
    }

    fn times(&self) -> &'static [&'static str] {
        &["created_at", "started_at", "completed_at"]
    }

    fn complete(&self, _: &mut dyn Row, _: &Maker<'_>) {}

    fn movements(&self, document: &Whole<'_>, position: Option<Position>) -> Vec<Movement> {
        let Some(sale) = document.row.typed() else { return Vec::new() };
        movements(sale, document.lines_of(ITEMS), position)
    }

    fn charged(&self, document: &Whole<'_>) -> i128 {
        if document.row.typed::<Model>().is_none_or(|sale| sale.status == SaleStatus::Voided) {
            return 0;
        }
        let payments = document.lines_of::<sale_payment::Model>(PAYMENTS);
        let on_account = payments.filter(|payment| payment.tender_kind == TenderKind::OnAccount.as_str());
        let counted = on_account.filter(|payment| payment.status != PaymentStatus::Voided);
        counted.map(|payment| i128::from(payment.amount.0)).sum()
    }

    fn checks(&self, document: &Whole<'_>) -> Vec<&'static str> {
        let Some(sale) = document.row.typed::<Model>() else { return Vec::new() };
        let items = document.lines_of::<sale_item::Model>(ITEMS);
        let lines: Vec<LineFigures> = items
            .map(|item| LineFigures { net: item.net_amount, tax: item.tax_amount, total: item.total_amount })
            .collect();
        let payments = document.lines_of::<sale_payment::Model>(PAYMENTS);
        let counted =
            payments.filter(|payment| payment.status != PaymentStatus::Voided || sale.status == SaleStatus::Voided);
        let payments: Vec<Money> = counted.map(|payment| payment.amount).collect();
        sale_check::flags(&SaleFigures {
            net: sale.net_amount,
            tax: sale.tax_amount,
            total: sale.total_amount,
            cash_rounding: sale.cash_rounding,
            lines: &lines,
            payments: &payments,
        })
    }

    fn named(&self, document: &Whole<'_>) -> Named {
        Named {
            products: document.lines_of::<sale_item::Model>(ITEMS).map(|item| item.product_id).collect(),
            customer: document.row.uuid("customer_id"),
            session: document.row.uuid("register_session_id").filter(|id| !id.is_nil()),
        }
    }

    fn flags(&self, document: &Whole<'_>, facts: &Facts) -> Vec<&'static str> {
        let named = self.named(document);
        let customer = named.customer.and_then(|id| match facts.customers.get(&id) {
            None => Some(UNKNOWN_CUSTOMER),
            Some(true) => Some("deleted_customer"),
            Some(false) => None,
        });
        let receipt = document.row.text(NUMBER.column).unwrap_or_default();
        let session = named.session.and_then(|id| match facts.sessions.get(&id) {
            None => Some(UNKNOWN_SESSION),
            Some(session) => session.is_closed_to(&receipt).then_some("closed_day"),
        });
        [facts.unknown_product(&named), customer, session].into_iter().flatten().collect()
    }

    fn awaited(&self) -> Option<Awaited> {
        None
    }

    fn restored(&self) -> Option<Restored> {
        Some(Restored { place: 2, registers: false })
    }

    fn exported(&self) -> Option<Exported> {
        let amounts = &["net_amount", "tax_amount", "total_amount", "cash_rounding", "refunded_amount"];
        Some(Exported { place: 1, amounts, quantities: &[] })
    }

    fn acts(&self) -> &'static [Act] {
        &[]
    }
}

/// The stock that a sale moves, at its till and at HQ. A void reverses what the sale took, in movements of their own, so
/// that both may arrive in either order.
pub fn movements<'a>(
    sale: &Model,
    items: impl IntoIterator<Item = &'a sale_item::Model>,
    position: Option<Position>,
) -> Vec<Movement> {
    let (refund, voided) = (sale.sale_type == REFUND, sale.status == SaleStatus::Voided);
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
            unit_cost: item.unit_cost.filter(|_| refund),
            tracked: item.tracked,
            // What a store says of the average cost counts where it can be told what is newer.
            average_after: item.average_cost_after.filter(|_| refund).zip(position),
        };
        if voided {
            let leaves = Movement { unit_cost: None, average_after: None, ..base.clone() };
            movements.push(Movement { kind: Kind::SaleVoid, change: -base.change, ..leaves });
        }
        movements.push(base);
    }
    movements
}
