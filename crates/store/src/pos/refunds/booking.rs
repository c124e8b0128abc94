//! What stores a refund, in its transaction: a refund alone, or one half of an exchange.

use std::sync::Arc;

use tillkeep_http::error::Result;
use tillkeep_model::pricing::Part;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::ChainKind;
use tillkeep_model::{Cost, Money, Qty};
use tillkeep_storage::document::sale::movements;
use tillkeep_storage::entity::{customer, sale_item};
use tillkeep_storage::numbers::{Given, Series};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use tillkeep_storage::{DbErr, accounts};
use uuid::Uuid;

use super::original::Original;
use crate::Store;
use crate::act::{Acting, Stopped};
use crate::approvals::Approval;
use crate::chain;
use crate::memory::Shop;
use crate::pos::printed::{self, Printed};
use crate::pos::sale_document::SaleDocument;
use crate::printers;
use crate::sessions::selling;

/// What the transaction needs beside the document.
pub(crate) struct Booking {
    store_code: String,
    series: Series,
    /// What the till has printed last, if it says so.
    printed: Option<Printed>,
    pub approvals: Vec<Approval>,
    shop: Arc<Shop>,
}

impl Booking {
    /// Of a refund at the register with this code.
    pub(crate) async fn new(
        store: &Arc<Store>,
        store_code: &str,
        register_code: &str,
        last_receipt: Option<&str>,
        approvals: Vec<Approval>,
    ) -> Result<Self> {
        Ok(Self {
            store_code: store_code.to_owned(),
            series: store.numbering().await?.series("receipt", register_code),
            printed: printed::read(last_receipt)?.map(|last| Printed { store: store.clone(), last }),
            approvals,
            shop: store.shop().await?,
        })
    }

    /// Stores `refund`, which has its number and its moment then, with all that it moves. Goods come first: their average cost after
    /// that stands in its lines.
    pub(crate) async fn book(self, tx: &mut Acting<'_>, refund: &mut SaleDocument) -> std::result::Result<(), Stopped> {
        let sale = &refund.sale;
        let id = sale.id;
        let of = (sale.store_id, self.store_code.as_str(), sale.register_code.as_str());
        let Given { letter, number } = printed::number(tx, &self.series, of, self.printed).await?;
        let register_code = format!("{}{letter}", sale.register_code);
        let receipt = ReceiptNumber { store_code: self.store_code, register_code, number };
        refund.sale.receipt_number = receipt.to_string();
        refund.done_at(tx.now(), tx.is_clock_corrected());
        restock(tx, refund).await?;
        chain::add(tx, refund, ChainKind::Refund, &letter).await?;
        tx.insert(refund).await?;
        // The drawer may have been closed since it was looked at.
        selling::require_open(&***tx, refund.sale.register_session_id).await?;
        for lines in refund.lines(&***tx) {
            tx.insert_lines(lines).await?;
        }
        tx.insert_lines(refund.newest_entry(&***tx)).await?;
        for approval in &self.approvals {
            tx.consume(approval, id).await?;
        }
        printers::queue(tx, &self.shop, &refund.sale, &refund.payments).await?;
        Ok(credit(tx, refund).await?)
    }
}

/// Puts on the shelf what goes back there, and notes the average cost after that.
async fn restock(tx: &mut Acting<'_>, refund: &mut SaleDocument) -> std::result::Result<(), DbErr> {
    let back = movements(&refund.sale, &refund.items, None);
    let effects = tx.apply_stock(refund.sale.store_id, back, tx.now()).await?;
    for item in refund.items.iter_mut().filter(|item| item.restock != Some(false) && item.tracked != Some(false)) {
        item.average_cost_after = effects.levels.get(&item.product_id).and_then(|level| level.average).map(Cost);
    }
    Ok(())
}

/// Takes what comes back on an account off what is owed there.
async fn credit(tx: &Acting<'_>, refund: &SaleDocument) -> std::result::Result<(), DbErr> {
    let amount = refund.on_account();
    let Some(customer) = refund.sale.customer_id.filter(|_| amount != Money::ZERO) else { return Ok(()) };
    let payer = payer(&***tx, customer).await?;
    accounts::charge(tx, refund.sale.id, payer, amount).await
}

/// On whose account a customer buys: a duplicate's is the one it was merged into.
async fn payer(conn: &impl ConnectionTrait, customer: Uuid) -> std::result::Result<Uuid, DbErr> {
    let row = customer::Entity::find_by_id(customer).one(conn).await?;
    Ok(row.and_then(|row| row.merged_into_id).unwrap_or(customer))
}

/// Notes in the sale how much of it has come back with `refund`, and sends that to headquarters. What another store sold is not here.
pub(crate) async fn note(
    tx: &mut Acting<'_>,
    original: &Original,
    refund: &SaleDocument,
) -> std::result::Result<(), DbErr> {
    if !original.is_here {
        return Ok(());
    }
    let mut sale = original.document.clone();
    let taken = |line: &sale_item::Model| -> Qty {
        refund.items.iter().filter(|item| item.original_sale_item_id == Some(line.id)).map(|item| -item.quantity).sum()
    };
    for item in &mut sale.items {
        item.refunded_quantity = original.stored(item) + taken(item);
    }
    let back =
        |item: &sale_item::Model| Part::new(item.quantity, Qty::ZERO, item.refunded_quantity).of(item.total_amount);
    sale.sale.refunded_amount = sale.items.iter().map(back).sum();
    let is_whole = sale.items.iter().all(|item| item.refunded_quantity >= item.quantity);
    let status = if is_whole { SaleStatus::Refunded } else { SaleStatus::PartiallyRefunded };
    sale.sale.status = status.into();
    (sale.sale.updated_at, sale.sale.synced) = (tx.now(), false);
    tx.update(&sale).await?;
    tx.update_lines::<sale_item::Entity>(&sale.items).await
}
