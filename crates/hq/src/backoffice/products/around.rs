//! What stands around products that are about to be written: the rows that they name, those that name them, and whose their codes
//! are. It is read for all of them at once, however many there are.

use std::collections::{BTreeSet, HashMap};

use tillkeep_http::error::Result;
use tillkeep_http::resource::Check;
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::entity::{department, supplier, tax_group};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_storage::{Tx, barcodes};
use uuid::Uuid;

pub(in crate::backoffice) use super::charges::Pair;
use super::charges::{self, ByCharge};
use super::codes;
use crate::backoffice::references::living;

/// As far as these products are concerned.
pub(in crate::backoffice) struct Around {
    departments: BTreeSet<Uuid>,
    tax_groups: BTreeSet<Uuid>,
    suppliers: BTreeSet<Uuid>,
    /// The products that are newly charges, deleted ones not among them.
    pub(super) charges: HashMap<Uuid, Model>,
    pub(super) charged: ByCharge,
    /// By form of a code the product that has it.
    pub(super) owners: HashMap<String, Uuid>,
}

/// What a product newly has in one of its columns.
fn newly<T: Copy + PartialEq>((old, row): &Pair<'_>, part: fn(&Model) -> T) -> Option<T> {
    let value = part(row);
    old.is_none_or(|old| part(old) != value).then_some(value)
}

/// What has to be looked up for some products.
struct Wanted {
    departments: BTreeSet<Uuid>,
    tax_groups: BTreeSet<Uuid>,
    suppliers: BTreeSet<Uuid>,
    charges: BTreeSet<Uuid>,
    /// Products that must not be the charge of another.
    uncharged: BTreeSet<Uuid>,
    forms: BTreeSet<String>,
}

impl Wanted {
    fn by(pairs: &[Pair<'_>]) -> Self {
        let named = |part: fn(&Model) -> Option<Uuid>| -> BTreeSet<Uuid> {
            pairs.iter().filter_map(|pair| newly(pair, part).flatten()).collect()
        };
        let is_uncharged = |pair: &Pair<'_>| {
            newly(pair, |row| row.charge_product_id).flatten().is_some() || charges::is_no_charge_any_more(*pair)
        };
        let codes = pairs.iter().flat_map(|(_, row)| codes::codes(row));
        Self {
            departments: named(|row| Some(row.department_id)),
            tax_groups: named(|row| Some(row.tax_group_id)),
            suppliers: named(|row| row.default_supplier_id),
            charges: named(|row| row.charge_product_id),
            uncharged: pairs.iter().filter(|pair| is_uncharged(pair)).map(|(_, row)| row.id).collect(),
            forms: codes.map(|code| barcodes::normal(&code)).collect(),
        }
    }
}

impl Around {
    /// What is named is locked: nobody deletes it or makes it another kind of row before this is written.
    pub(in crate::backoffice) async fn of(tx: &Tx, pairs: &[Pair<'_>]) -> Result<Self> {
        let wanted = Wanted::by(pairs);
        Ok(Self {
            departments: known::<department::Entity>(tx, wanted.departments).await?,
            tax_groups: known::<tax_group::Entity>(tx, wanted.tax_groups).await?,
            suppliers: known::<supplier::Entity>(tx, wanted.suppliers).await?,
            charges: as_written(of_charges(tx, wanted.charges).await?, pairs),
            charged: charges::charged(tx, wanted.uncharged).await?,
            owners: barcodes::owners(tx, wanted.forms).await?,
        })
    }

    /// Says what is wrong with the rows that a product newly names.
    pub(super) fn others(&self, check: &mut Check, pair: Pair<'_>) {
        let is_one = |known: &BTreeSet<Uuid>, id: Option<Uuid>| id.is_none_or(|id| known.contains(&id));
        check.that(
            is_one(&self.departments, newly(&pair, |row| row.department_id)),
            "departmentId",
            "is no department",
        );
        check.that(is_one(&self.tax_groups, newly(&pair, |row| row.tax_group_id)), "taxGroupId", "is no tax group");
        let supplier = newly(&pair, |row| row.default_supplier_id).flatten();
        check.that(is_one(&self.suppliers, supplier), "defaultSupplierId", "is no supplier");
        charges::check((&self.charges, &self.charged), check, pair);
    }
}

async fn known<E: EntityTrait>(tx: &Tx, ids: BTreeSet<Uuid>) -> Result<BTreeSet<Uuid>> {
    if ids.is_empty() { Ok(ids) } else { living::<E>(tx, ids).await }
}

/// As they are about to be, of those that are written in the same moment.
fn as_written(mut charges: HashMap<Uuid, Model>, pairs: &[Pair<'_>]) -> HashMap<Uuid, Model> {
    for (_, row) in pairs {
        if let Some(charge) = charges.get_mut(&row.id) {
            charge.clone_from(row);
        }
    }
    charges
}

async fn of_charges(tx: &Tx, ids: BTreeSet<Uuid>) -> Result<HashMap<Uuid, Model>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = Entity::find().filter(Column::Id.is_in(ids)).filter(Column::DeletedAt.is_null());
    let found = found.order_by_asc(Column::Id).lock_shared().all(tx).await?;
    Ok(found.into_iter().map(|row| (row.id, row)).collect())
}
