//! The sale that money is given back of: from this store's own rows, or as headquarters has it.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::permission::Requirement;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::wire::{ClaimLine, ClaimRequest, GivenBack, PaidBack, SaleAtHq};
use tillkeep_model::words::SaleType;
use tillkeep_model::{ErrorCode, Qty};
use tillkeep_storage::DbErr;
use tillkeep_storage::document::flags::NOT_AT_HQ;
use tillkeep_storage::entity::sale_item;
use tillkeep_storage::fault;
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::forsaken;
use super::typed::{RefundItem, item_field};
use crate::Store;
use crate::act;
use crate::headquarters::{Asked, UnderWay, Waits};
use crate::pos::sale_document::{self, SaleDocument};

/// What this store itself has of a sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Here {
    /// Nothing of a sale of another store, or of one that a lost database took along.
    document: Option<SaleDocument>,
    /// The refunds of it that were made here.
    refunds: Vec<SaleDocument>,
}

/// A sale, and what was given back of it.
#[derive(Clone, Debug)]
pub(crate) struct Original {
    pub document: SaleDocument,
    /// Its rows are here: they say what was given back.
    pub is_here: bool,
    /// The refunds of it that were made here.
    pub refunds: Vec<SaleDocument>,
    /// What headquarters knows of, claims that are open among them.
    pub given_back: Vec<GivenBack>,
    /// To which tenders, as headquarters has it.
    pub paid_back: Vec<PaidBack>,
    /// Whether headquarters was asked, and answered.
    pub checked_at_hq: bool,
    /// How much of each line went before this refund, in the order in which headquarters held what comes back. Another one that is
    /// booked meanwhile comes after it, and has a part of its own.
    starts: HashMap<Uuid, Qty>,
    /// How long headquarters is waited for.
    waits: Waits,
}

/// How headquarters is asked for a sale.
enum Asks<'a> {
    Id(Uuid),
    Number(&'a str),
}

impl Here {
    pub(crate) async fn read(conn: &impl ConnectionTrait, id: Uuid) -> Result<Self, DbErr> {
        Ok(Self { document: act::find(conn, id).await?, refunds: refunds_of(conn, id).await? })
    }
}

/// The refunds of a sale that were made at this store, the first one first.
pub(crate) async fn refunds_of(conn: &impl ConnectionTrait, id: Uuid) -> Result<Vec<SaleDocument>, DbErr> {
    SaleDocument::load_all(conn, sale_document::refund_rows(conn, id).await?).await
}

/// 404.
pub(crate) fn not_found() -> Error {
    Error::new(ErrorCode::SaleNotFound, "there is no such sale; look it up by the number of its receipt")
}

/// 503: only headquarters knows of what another store sold.
fn elsewhere_unreachable() -> Error {
    let text = "this store did not make this sale, and headquarters, which knows of it, cannot be reached now; try again when \
                there is a line, or give back without a receipt where the store allows it";
    Error::new(ErrorCode::HqUnreachable, text).retry_after(30)
}

impl Original {
    /// The sale `id` with what headquarters says of it; `receipt` is its number, where that is known.
    pub(crate) async fn find(store: &Store, here: Here, id: Uuid, receipt: Option<&str>) -> Result<Self> {
        let mut own = match Self::of_here(here) {
            Ok(own) => own,
            Err(refunds) => {
                let asks = receipt.map_or(Asks::Id(id), Asks::Number);
                let found = Self::elsewhere(store, refunds, &asks).await?;
                return if found.document.sale.id == id { Ok(found) } else { Err(not_found()) };
            }
        };
        if let Asked::Answered(found) = store.hq.sale_by_id(&store.sync, own.waits, id).await {
            (own.given_back, own.paid_back) =
                found.map(|found| (found.given_back, found.paid_back)).unwrap_or_default();
            own.checked_at_hq = true;
            own.leave_out_forsaken(store).await?;
        }
        Ok(own)
    }

    /// The sale `id` for a refund: headquarters is asked what was given back of it when that is claimed.
    pub(crate) async fn to_refund(store: &Store, here: Here, id: Uuid) -> Result<Self> {
        match Self::of_here(here) {
            Ok(own) => Ok(own),
            Err(refunds) => Self::elsewhere(store, refunds, &Asks::Id(id)).await,
        }
    }

    /// As this store has it; the refunds that it made of another store's sale when it does not.
    fn of_here(Here { document, refunds }: Here) -> std::result::Result<Self, Vec<SaleDocument>> {
        let Some(document) = document else { return Err(refunds) };
        let (given_back, paid_back) = (Vec::new(), Vec::new());
        Ok(Self {
            document,
            is_here: true,
            refunds,
            given_back,
            paid_back,
            checked_at_hq: false,
            starts: HashMap::new(),
            waits: Waits::begin(),
        })
    }

    /// The sale with the number of a receipt of another store.
    pub(crate) async fn by_receipt<P: Requirement>(caller: &Caller<P>, store: &Store, number: &str) -> Result<Self> {
        let mut found = Self::elsewhere(store, Vec::new(), &Asks::Number(number)).await?;
        found.refunds = refunds_of(caller.reader(), found.document.sale.id).await?;
        Ok(found)
    }

    /// As headquarters has it.
    async fn elsewhere(store: &Store, refunds: Vec<SaleDocument>, asks: &Asks<'_>) -> Result<Self> {
        let waits = Waits::begin();
        let asked = match asks {
            Asks::Id(id) => store.hq.sale_by_id(&store.sync, waits, *id).await,
            Asks::Number(number) => {
                let code = ReceiptNumber::parse(number).ok_or_else(not_found)?.store_code;
                store.hq.sale_at(&store.sync, waits, &code, number).await
            }
        };
        match asked {
            Asked::Answered(Some(found)) => {
                let found = Self::as_it_travels(found, refunds, waits);
                let mut found = found.map_err(|error| elsewhere_unreachable().because(error))?;
                found.leave_out_forsaken(store).await?;
                Ok(found)
            }
            Asked::Answered(None) => Err(not_found()),
            Asked::Refused { code, text, .. } => Err(Error::new(code, text)),
            Asked::Unreachable => Err(elsewhere_unreachable()),
        }
    }

    fn as_it_travels(found: SaleAtHq, refunds: Vec<SaleDocument>, waits: Waits) -> serde_json::Result<Self> {
        let SaleAtHq { sale, given_back, paid_back, .. } = found;
        Ok(Self {
            document: SaleDocument {
                sale: serde_json::from_value(sale.clone())?,
                items: lines(&sale, "saleItems")?,
                payments: lines(&sale, "salePayments")?,
                entries: lines(&sale, "chainEntries")?,
            },
            is_here: false,
            refunds,
            given_back,
            paid_back,
            checked_at_hq: true,
            starts: HashMap::new(),
            waits,
        })
    }

    /// Claims of this store that nothing came of hold nothing: they are given up when they stand in the way.
    async fn leave_out_forsaken(&mut self, store: &Store) -> Result<()> {
        let forsaken = forsaken::among(store, self.document.sale.id, &self.given_back).await?;
        self.given_back.retain(|given| given.receipt_number.is_some() || !forsaken.contains(&given.refund_id));
        Ok(())
    }

    /// Refuses what is no sale that money comes back of.
    pub(crate) fn refuse_other(&self) -> Result<()> {
        let sale = &self.document.sale;
        if sale.sale_type != SaleType::Sale {
            let text = format!("{} is no sale: nothing is given back of it", sale.receipt_number);
            return Err(Error::new(ErrorCode::NotRefundable, text));
        }
        if sale.status == SaleStatus::Voided {
            let text = format!("{} was voided: its money was given back with that", sale.receipt_number);
            return Err(Error::new(ErrorCode::SaleVoided, text));
        }
        Ok(())
    }

    pub(crate) fn line(&self, id: Uuid) -> Option<&sale_item::Model> {
        self.document.items.iter().find(|item| item.id == id)
    }

    /// How much of a line was given back, or is about to be, as far as is known here: by the refunds of this store and what headquarters
    /// names, each once. A store that got its documents back may know of it by the line alone.
    pub(crate) fn done(&self, line: &sale_item::Model) -> Qty {
        self.given(line, |_| true)
    }

    /// Where in a line the part begins that comes back now.
    pub(crate) fn start(&self, line: &sale_item::Model) -> Qty {
        self.starts.get(&line.id).copied().unwrap_or_else(|| self.done(line))
    }

    /// [`Original::done`] without claims: of those some come to nothing.
    pub(crate) fn stored(&self, line: &sale_item::Model) -> Qty {
        self.given(line, |given| given.receipt_number.is_some())
    }

    fn given(&self, line: &sale_item::Model, counts: impl Fn(&GivenBack) -> bool) -> Qty {
        let by_store = self.refunds.iter().flat_map(|refund| &refund.items);
        let own: Qty =
            by_store.filter(|item| item.original_sale_item_id == Some(line.id)).map(|item| -item.quantity).sum();
        let is_own = |given: &GivenBack| self.refunds.iter().any(|refund| refund.sale.id == given.refund_id);
        let others =
            self.given_back.iter().filter(|given| given.sale_item_id == line.id && !is_own(given) && counts(given));
        let others: Qty = others.map(|given| given.quantity).sum();
        (own + others).max(line.refunded_quantity)
    }

    /// What was given back to tenders by refunds that are not here.
    pub(crate) fn paid_elsewhere(&self) -> impl Iterator<Item = &PaidBack> {
        self.paid_back.iter().filter(|paid| self.refunds.iter().all(|refund| refund.sale.id != paid.refund_id))
    }

    /// What of a line may still be given back.
    pub(crate) fn left(&self, line: &sale_item::Model) -> Qty {
        (line.quantity - self.done(line)).max(Qty::ZERO)
    }

    /// 409 with the first of `items` of which more is asked back than is left.
    pub(crate) fn refuse_over(&self, items: &[RefundItem]) -> Result<()> {
        for (index, item) in items.iter().enumerate() {
            let Some(line) = self.line(item.sale_item_id) else { continue };
            let left = self.left(line);
            if item.quantity <= left {
                continue;
            }
            let text = format!(
                "of line {} ({}) {left} may still come back, not {}: {} were sold",
                line.line_no, line.product_name, item.quantity, line.quantity
            );
            return Err(Error::new(ErrorCode::OverRefund, text)
                .at(item_field(index, "quantity"))
                .with("lineNo", line.line_no)
                .with("saleItemId", line.id)
                .with("refundableQuantity", left));
        }
        Ok(())
    }

    /// A user at headquarters settled it without applying it: nobody will find it there.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_here
            && self.document.sale.flags.0.as_array().is_some_and(|flags| flags.iter().any(|flag| flag == NOT_AT_HQ))
    }

    /// Reads again what this store has of it; whether other money comes back of that than before.
    pub(crate) async fn read_again(&mut self, conn: &impl ConnectionTrait) -> Result<bool> {
        let here = Here::read(conn, self.document.sale.id).await?;
        let document = here.document.filter(|_| self.is_here);
        let ids = |refunds: &[SaleDocument]| refunds.iter().map(|refund| refund.sale.id).collect::<Vec<Uuid>>();
        let is_other = ids(&here.refunds) != ids(&self.refunds)
            || document.as_ref().is_some_and(|now| differ(now, &self.document));
        self.refunds = here.refunds;
        if let Some(document) = document {
            self.document = document;
        }
        Ok(is_other)
    }

    /// Claims at headquarters what the refund `refund` takes, so that no other store gives the same back meanwhile.
    pub(crate) async fn claim(&mut self, store: &Store, refund: Uuid, items: &[RefundItem]) -> Result<Claim> {
        let lines = items.iter().map(|item| ClaimLine { sale_item_id: item.sale_item_id, quantity: item.quantity });
        let request = ClaimRequest { id: refund, lines: lines.collect() };
        let sale = self.document.sale.id;
        let claim = Claim { sale, refund, waits: self.waits, _under_way: store.hq.gives_back(refund) };
        match forsaken::claim(store, self.waits, sale, &request).await? {
            Asked::Answered(answer) => {
                // What this very refund gave back is no other one's.
                let others = answer.given_back.into_iter().filter(|given| given.refund_id != refund);
                (self.given_back, self.checked_at_hq) = (others.collect(), true);
                self.paid_back = answer.paid_back.into_iter().filter(|paid| paid.refund_id != refund).collect();
                self.starts = self.document.items.iter().map(|line| (line.id, self.done(line))).collect();
                fault::point("refund.claimed")?;
                Ok(claim)
            }
            Asked::Refused { code, text, details } => {
                self.given_back = forsaken::given_back(&details);
                self.refuse_over(items)?;
                Err(Error::new(code, text))
            }
            // It may have arrived all the same, and only the answer not.
            Asked::Unreachable if self.is_here => {
                self.checked_at_hq = false;
                Ok(claim)
            }
            Asked::Unreachable => {
                claim.release(store).await;
                Err(elsewhere_unreachable())
            }
        }
    }
}

/// What headquarters holds, or may hold, for a refund until that arrives.
#[derive(Debug)]
pub(crate) struct Claim {
    sale: Uuid,
    refund: Uuid,
    waits: Waits,
    _under_way: UnderWay,
}

impl Claim {
    /// Gives it back when `done` came to nothing. What may have happened all the same keeps it.
    pub(crate) async fn settled<T>(self, store: &Store, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            // Of an id that is taken it is the claim of that one.
            if !error.code().may_have_happened() && error.code() != ErrorCode::IdReused {
                self.release(store).await;
            }
        }
        done
    }

    /// Nobody waits for it where there is no line.
    async fn release(&self, store: &Store) {
        drop(store.hq.release(&store.sync, self.waits.to_give_up(), self.sale, self.refund).await);
    }
}

/// Whether a sale is another one than before for what comes back of it: not when it was sent or printed meanwhile.
fn differ(now: &SaleDocument, before: &SaleDocument) -> bool {
    now.sale.status != before.sale.status
        || now.sale.flags != before.sale.flags
        || now.items != before.items
        || now.payments != before.payments
}

fn lines<T: DeserializeOwned>(sale: &serde_json::Value, key: &str) -> serde_json::Result<Vec<T>> {
    let lines = sale.get(key).cloned().filter(|lines| !lines.is_null());
    Ok(lines.map(serde_json::from_value).transpose()?.unwrap_or_default())
}
