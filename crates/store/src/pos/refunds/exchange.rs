//! `POST /pos/exchanges`: goods come back and others are sold, in one act. Two documents with a number each, settled with each other
//! by the exchange tender; the customer and the drawer see the difference alone. Neither half is undone without the other.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::{Exchanged as Settled, PaymentTerms, Settlement, TenderKind, Tendered, settle_exchange};
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::entity::{customer, sale, sale_item};
use tillkeep_storage::fault;
use uuid::Uuid;

use super::booking::{self, Booking};
use super::document::{self, Giver};
use super::exchanged::{Asked, Exchange, Exchanged, Pair, in_refund, in_sale};
use super::hash::refund_hash;
use super::needs::{self, Allowed, Need};
use super::original::{Here, Original};
use super::payments::{self, Payout, paid_by};
use super::replay::By;
use super::shown::{RefundWarning, refuse_other_total};
use super::{lines, linked};
use crate::Store;
use crate::act::{Act, Acting, Log, Record, Stopped};
use crate::approvals::{PresentedApprovals, ValidApprovals};
use crate::memory::{Shop, Sold};
use crate::pos::account::OnAccount;
use crate::pos::cart_hash::cart_hash;
use crate::pos::catalog::Catalog;
use crate::pos::draft::Draft;
use crate::pos::pricing::{self, Priced, Purpose, cash_rounding};
use crate::pos::sale::{self as selling_one, Booking as SaleBooking};
use crate::pos::sale_document::SaleDocument;
use crate::pos::tenders;

pub(crate) async fn create(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Body(body): Body<Exchange>,
) -> Result<Created<Exchanged>> {
    let mut done = Box::pin(exchange(&caller, &store, body)).await?;
    done.data.find_prints(&store).await;
    Ok(done)
}

async fn exchange(caller: &Caller<PosSell>, store: &Arc<Store>, body: Exchange) -> Result<Created<Exchanged>> {
    let asked = Asked::read(body, caller.now())?;
    let mut catalog = Catalog::load(store, &asked.cart).await?;
    let shop = catalog.shop.clone();
    let by = By::new(caller, &shop, asked.terminal_id.as_deref());
    let act = store.act(caller, "sale.exchange").about(SaleDocument::table(), &asked.ids.1);
    let now = act.now();
    let snapshot = caller.snapshot().await?;
    if let Some(pair) = asked.stored(&snapshot, by).await? {
        store.wrote_numbers(store.numbers.catch_up(&snapshot).await?);
        return Ok(Exchanged::repeated(pair));
    }
    let here = Here::read(&snapshot, asked.original).await?;
    let when = (now, Purpose::Sale);
    let looked_up = pricing::terms(&snapshot, &mut catalog, store.id, &asked.cart, when).await;
    let (customer, terms) = in_sale(looked_up)?;
    let presented = PresentedApprovals::read(&snapshot, &asked.approvals).await?;
    snapshot.commit().await?;
    let giver = linked::giver(caller, &shop, asked.terminal_id.as_deref(), now)?;
    in_sale(selling_one::check_sales_rep(&shop, store.id, asked.cart.sales_rep_id))?;
    let priced = in_sale(pricing::price(&asked.cart, &catalog, terms))?;
    let cart_hash = cart_hash(&asked.cart, &priced, giver.terminal.as_deref())?;
    let exponent = shop.own()?.currency_exponent;
    in_sale(selling_one::refuse_other_total(caller, &asked.cart, &priced, &cart_hash, exponent))?;
    let mut original = Original::to_refund(store, here, asked.original).await?;
    let products = linked::products(store, &original).await?;
    let valid = presented.valid(caller, store.id).await?;
    let mut scene = Scene { caller, store, shop, asked, by, customer, giver, priced, cart_hash, products, valid };
    // What can be refused of it without headquarters is, before anything is claimed there.
    scene.taken(&original)?;
    let claim = in_refund(original.claim(store, scene.asked.ids.0, &scene.asked.refund.items).await)?;
    let said = (original.checked_at_hq, RefundWarning::of(&original));
    let done = Box::pin(scene.exchange(act, original)).await;
    let (pair, new) = claim.settled(store, done).await?;
    fault::point("exchange.committed")?;
    if !new {
        return Ok(Exchanged::repeated(pair));
    }
    Ok(Exchanged::new(pair, said.0, std::mem::take(&mut scene.priced.warnings), said.1))
}

/// Everything that an exchange is made of, but for what comes back of the sale: that is known when it is claimed.
struct Scene<'a> {
    caller: &'a Caller<PosSell>,
    store: &'a Arc<Store>,
    shop: Arc<Shop>,
    asked: Asked,
    by: By,
    customer: Option<customer::Model>,
    giver: Giver,
    priced: Priced<'a>,
    cart_hash: String,
    /// Those of the sale that goods come back of.
    products: HashMap<Uuid, Arc<Sold>>,
    valid: ValidApprovals,
}

impl Scene<'_> {
    /// The lines that come back.
    fn taken<'o>(&'o self, original: &'o Original) -> Result<Vec<lines::Taken<'o>>> {
        original.refuse_other()?;
        let refund = &self.asked.refund;
        let taken = lines::taken(&self.shop, &self.products, original, &refund.items, |item| refund.reason_of(item));
        in_refund(taken)
    }

    /// Both halves, and whether they are new: the same request may have been first.
    async fn exchange(&self, act: Act<'_>, original: Original) -> Result<(Pair, bool)> {
        let items = lines::rows(self.asked.ids.0, &self.taken(&original)?);
        let total: Money = items.iter().map(|item| item.total_amount).sum();
        in_refund(refuse_other_total(self.asked.refund.expected_total, total))?;
        let settled = self.settled(&original, total)?;
        let refund = self.refund(&original, items, &settled.refund)?;
        let (refund, refund_booking) = self.approved_refund(&original, refund, &settled.refund).await?;
        let sale_booking = self.sale(total, &settled.sale).await?;
        let booking = Both { original, refund, refund_booking, sale_booking };
        let error = match act.run(move |tx| Box::pin(booking.book(tx))).await {
            Ok(pair) => return Ok((pair, true)),
            Err(error) => error,
        };
        match self.asked.stored(self.store.reader(), self.by).await {
            Ok(Some(pair)) => Ok((pair, false)),
            // Another one was first under this id, and the claim is that one's.
            Err(reused) if reused.code() == ErrorCode::IdReused => Err(reused),
            _ => Err(error),
        }
    }

    /// How both halves are settled; `refund` is what comes back, below zero.
    fn settled(&self, original: &Original, refund: Money) -> Result<Settled> {
        let own = self.shop.own()?;
        let exchange = tenders::active(&self.shop.tenders, TenderKind::Exchange).ok_or_else(|| {
            let text = "no tender of the kind exchange is active, by which both halves are settled; switch one on at \
                        headquarters";
            Error::new(ErrorCode::NoExchangeTender, text)
        })?;
        let sale = self.priced.cart.total;
        let difference = refund + sale;
        let given_back = difference < Money::ZERO;
        let tendered: Vec<Tendered> = if given_back {
            let (paid, asked) = (paid_by(&self.shop, original), self.asked.paid_out());
            let payout = Payout {
                store: own,
                tenders: &self.shop.tenders,
                total: difference,
                has_customer: original.document.sale.customer_id.is_some(),
                original: Some(original),
                paid: &paid,
                asked: asked.as_deref(),
            };
            payout.tendered()?
        } else {
            tenders::tendered(self.asked.payments.as_deref().unwrap_or_default(), &self.shop.tenders)?
        };
        let of = if given_back { original.document.sale.customer_id } else { self.asked.cart.customer_id };
        let cash = tenders::active(&self.shop.tenders, TenderKind::Cash);
        let terms = PaymentTerms {
            rounding: cash_rounding(own),
            mirrored: None,
            has_customer: of.is_some(),
            cash: cash.as_ref(),
        };
        settle_exchange((refund, sale), &exchange, &tendered, &terms)
            .map_err(|error| if given_back { payments::refused(&error, difference) } else { tenders::refused(&error) })
    }

    /// The half that comes back, without its receipt number.
    fn refund(
        &self,
        original: &Original,
        items: Vec<sale_item::Model>,
        settlement: &Settlement,
    ) -> Result<SaleDocument> {
        let mut terms = linked::terms(self.shop.own()?, original, self.asked.refund.note.as_deref())?;
        terms.exchange_group_id = Some(self.asked.group());
        let mut refund = document::refund(self.asked.ids.0, &self.giver, terms, items, settlement);
        if original.is_lost() {
            refund.flag(sale::OF_A_LOST_SALE);
        }
        Ok(refund)
    }

    /// The same with those who approved it, and what its transaction needs.
    async fn approved_refund(
        &self,
        original: &Original,
        mut refund: SaleDocument,
        settlement: &Settlement,
    ) -> Result<(SaleDocument, Booking)> {
        let own = self.shop.own()?;
        let needs = self.needs(original, settlement)?;
        let hash = refund_hash(&refund, self.giver.terminal.as_deref())?;
        let allowed = in_refund(Allowed::new(self.caller, self.store.id, &needs, &self.valid, &hash))?;
        document::approved_by(&mut refund, &allowed.approvals);
        let (register, last) = (&self.giver.session.register_code, self.asked.refund.last_receipt.as_deref());
        let booking = Booking::new(self.store, &own.code, register, last, allowed.approvals).await?;
        Ok((refund, booking))
    }

    fn needs(&self, original: &Original, settlement: &Settlement) -> Result<Vec<Need>> {
        let (own, today) = (self.shop.own()?, &self.giver.session.business_date);
        let mut needs = linked::needs_of_lines(own, &self.products, original, &self.asked.refund.items, today);
        // What goes on into the sale is given to nobody.
        let mut given = settlement.clone();
        given.payments.retain(|row| row.kind != TenderKind::Exchange);
        needs.extend(needs::of_tenders(own, &given, &paid_by(&self.shop, original)));
        needs.push(Need::refund());
        Ok(needs)
    }

    /// The half that is sold; `refund` is what comes back against it.
    async fn sale(&self, refund: Money, settlement: &Settlement) -> Result<SaleBooking> {
        let given_back = refund + self.priced.cart.total < Money::ZERO;
        let cart = if given_back { self.asked.cart.clone() } else { self.asked.paid_cart() };
        let on_account = OnAccount::new(settlement, self.customer.as_ref());
        let approved = selling_one::approved(
            self.caller,
            self.store.id,
            &self.priced,
            &self.valid,
            on_account,
            self.cart_hash.clone(),
        );
        let (approvals, credit) = in_sale(approved.await)?;
        let draft = Draft {
            id: self.asked.ids.1,
            store: self.shop.own()?,
            session: &self.giver.session,
            cart: &cart,
            priced: &self.priced,
            settlement,
            customer: self.customer.as_ref(),
            cashier_id: self.giver.cashier_id,
            cashier_name: &self.giver.cashier_name,
            approvals: &approvals,
            now: self.giver.now,
        };
        let mut booking = SaleBooking::new(self.caller, self.store, &draft, credit).await?;
        booking.document.sale.exchange_group_id = Some(self.asked.group());
        Ok(booking)
    }
}

/// Both halves with all that their transaction needs.
struct Both {
    original: Original,
    refund: SaleDocument,
    refund_booking: Booking,
    sale_booking: SaleBooking,
}

impl Both {
    async fn book(self, tx: &mut Acting<'_>) -> std::result::Result<(Pair, Log), Stopped> {
        let Self { mut original, mut refund, refund_booking, sale_booking } = self;
        if original.read_again(&***tx).await? {
            let text = "some of this sale was given back just now; look at what is left of it and ask again";
            return Err(Error::new(ErrorCode::Conflict, text).at("refund.items").into());
        }
        refund_booking.book(tx, &mut refund).await?;
        let (sale, _) = sale_booking.book(tx).await?;
        // Last: entries stand in the outbox in the order of their numbers.
        booking::note(tx, &original, &refund).await?;
        fault::point("exchange.written")?;
        let details = json!({
            "refundId": refund.sale.id, "refundReceiptNumber": refund.sale.receipt_number,
            "originalSaleId": refund.sale.original_sale_id, "refundAmount": refund.sale.total_amount,
            "receiptNumber": sale.sale.receipt_number, "totalAmount": sale.sale.total_amount,
            "exchangeGroupId": sale.sale.exchange_group_id, "checkedAtHq": original.checked_at_hq,
            "approvals": refund.sale.approvals,
        });
        Ok(((refund, sale), Log::Line(details)))
    }
}
