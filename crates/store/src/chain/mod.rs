//! The chain of documents of each register: the entry of a document, made in its transaction, and its signature, made after it.
//! `docs/chain.md`.

pub(crate) mod signing;

use tillkeep_model::words::ChainKind;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::chain_entry;
use tillkeep_storage::fiscal::{self, Register, Rows};

use crate::act::Acting;

/// A document that has places in a chain.
pub(crate) trait Chained {
    fn rows(&self) -> Rows<'_>;
    fn entries(&mut self) -> &mut Vec<chain_entry::Model>;
}

/// Makes the next entry of the chain of its register and of the series with this letter, which `document` gets; it is stored with its
/// lines. After its receipt number and its amounts are what they will be, and before it is queued: the entry travels with it.
pub(crate) async fn add<D: Chained>(
    tx: &mut Acting<'_>,
    document: &mut D,
    kind: ChainKind,
    letter: &str,
) -> Result<(), DbErr> {
    let at = tx.now();
    let rows = document.rows();
    let sale = rows.sale;
    let (store_id, register_id, register_code) = (sale.store_id, sale.register_id, sale.register_code.as_str());
    let register = Register { store_id, register_id, register_code, letter };
    let entry = fiscal::next(&**tx, &register, kind, at, &rows).await?;
    document.entries().push(entry);
    Ok(())
}
