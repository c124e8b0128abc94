//! A customer pays what is owed: `POST /pos/sales` with `settlement` in place of lines. It is a document of no lines and a total of
//! 0: its tenders pay, and its part on account gets that off what is owed. `docs/domain.md`, "Payments on accounts".

use std::collections::BTreeMap;
use std::sync::Arc;

use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Caller, Created};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::{self, TenderKind, settle_account};
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::{customer, register_session, sale, store};
use tillkeep_storage::fault;
use uuid::Uuid;

use super::account::{OnAccount, Owed};
use super::cart::{Cart, Settlement};
use super::pricing::cash_rounding;
use super::printed::Printed;
use super::sale::{Booking, Credit, Sold, check_sales_rep, repeated};
use super::sale_document::SaleDocument;
use super::tenders::{self, Settling};
use super::{draft, removed, replay};
use crate::Store;
use crate::customers;
use crate::memory::Shop;
use crate::sessions::selling;
use crate::terminal::acting_at;

/// Books what `cart` asks for, which was checked, under `id`.
pub(super) async fn create(
    caller: &Caller<PosSell>,
    store: &Arc<Store>,
    id: Uuid,
    cart: &Cart,
    asked: &Settlement,
) -> Result<Created<Sold>> {
    let shop = store.shop().await?;
    let here = caller.terminal_id.as_deref().or(cart.terminal_id.as_deref());
    let register = here.and_then(|terminal| shop.at_terminal(terminal)).map(|register| register.id);
    let act = store.act(caller, "sale.settle");
    let act = act.creates(id, |stored| replay::is_same_settlement(stored, cart, asked, register));
    let now = act.now();
    let snapshot = caller.snapshot().await?;
    if let Some(stored) = act.stored(&snapshot).await? {
        return Ok(repeated(stored));
    }
    let customer = customers::buyer(&snapshot, cart.customer_id).await?;
    let customer = customer.ok_or_else(|| Error::field("customerId", "is required: who pays what is owed?"))?;
    let owed = Owed { customer: customer.id, amount: asked.amount, prepay: asked.prepay.unwrap_or_default() };
    owed.require(&snapshot).await?;
    snapshot.commit().await?;

    let settings = shop.own()?;
    let session = selling::session(&shop, acting_at(caller, cart.terminal_id.as_deref())?, now)?;
    check_sales_rep(&shop, store.id, cart.sales_rep_id)?;
    let settlement = settled(cart, asked, &shop)?;
    let paid = Paid { id, cart, asked, settlement: &settlement, settings, session, customer: &customer, now };
    let document = paid.document((caller.user_id, caller.name()));
    let booking = Booking {
        lines: document.lines(caller.reader()),
        document,
        printed: cart.printed()?.map(|last| Printed { store: store.clone(), last }),
        store_code: settings.code.clone(),
        series: store.numbering().await?.series("receipt", &session.register_code),
        products: BTreeMap::new(),
        below_zero: true,
        approvals: Vec::new(),
        credit: Some(Credit {
            part: OnAccount::paid_off(customer.id, asked.amount),
            unlimited: true,
            approver_id: None,
        }),
        owed: Some(owed),
        shop: shop.clone(),
        withdrawn: store.withdrawn.clone(),
    };
    let made = act.run(move |tx| Box::pin(booking.book(tx))).await?;
    fault::point("sale.committed")?;
    if !made.new {
        return Ok(repeated(made.data));
    }
    Ok(Created::new(Sold { document: made.data, warnings: Vec::new(), print: None }))
}

/// How `cart` pays it.
fn settled(cart: &Cart, asked: &Settlement, shop: &Shop) -> Result<pricing::Settlement> {
    let on_account = tenders::active(&shop.tenders, TenderKind::OnAccount).ok_or_else(|| {
        let text = "no tender of the kind on_account is active, so nothing is owed here; make one at headquarters";
        Error::new(ErrorCode::TenderRule, text).at("settlement")
    })?;
    let rounding = cash_rounding(shop.own()?);
    Settling { tenders: &shop.tenders, rounding, has_customer: true }
        .settled(cart.payments(), |tendered, terms| settle_account(asked.amount, &on_account, tendered, terms))
}

/// A payment of what is owed, as it was made.
struct Paid<'a> {
    id: Uuid,
    cart: &'a Cart,
    asked: &'a Settlement,
    settlement: &'a pricing::Settlement,
    settings: &'a store::Model,
    session: &'a register_session::Model,
    customer: &'a customer::Model,
    now: Instant,
}

impl Paid<'_> {
    /// All but its receipt number, taken in by the cashier with this id and name.
    fn document(&self, (cashier_user_id, cashier_name): (Uuid, &str)) -> SaleDocument {
        let sale = sale::Model {
            id: self.id,
            store_id: self.settings.id,
            created_at: self.now,
            updated_at: self.now,
            register_id: self.session.register_id,
            register_code: self.session.register_code.clone(),
            register_session_id: self.session.id,
            sale_type: SaleType::Settlement.into(),
            status: SaleStatus::Completed.into(),
            business_date: self.session.business_date.clone(),
            started_at: self.cart.started_at.unwrap_or(self.now).min(self.now),
            completed_at: self.now,
            cashier_user_id,
            cashier_name: cashier_name.to_owned(),
            sales_rep_id: self.cart.sales_rep_id,
            customer_id: self.cart.customer_id,
            customer_name: Some(customers::display_name(self.customer)),
            currency_code: self.settings.currency_code.clone(),
            tax_rounding: self.settings.tax_rounding.clone(),
            cash_rounding: self.settlement.cash_rounding,
            change_amount: self.settlement.change,
            note: self.cart.note.clone(),
            removed: removed::kept(self.cart.removed()),
            prepaid: self.asked.prepay.unwrap_or_default(),
            ..sale::Model::default()
        };
        let payments = draft::payments(self.id, self.cart.payments(), self.settlement);
        SaleDocument { sale, items: Vec::new(), payments, entries: Vec::new() }
    }
}
