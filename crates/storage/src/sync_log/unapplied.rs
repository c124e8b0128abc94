//! Documents that headquarters refused and that a user resolved without applying them. What such a sale put on an account is
//! owed all the same, and the drawer that it is of names it. `docs/sync.md`, rule U12.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use tillkeep_model::{Instant, Money, ids};
use uuid::Uuid;

use crate::db::execute;
use crate::document::{Pushed, Reference, Whole};
use crate::entity::sync_log;
use crate::entity::unapplied_document::{Column, Entity, Model};
use crate::envelope::{Sender, Shape};
use crate::many::{execute_in, find_in};
use crate::registry::{self, SyncType};
use crate::{Tx, accounts, envelope, kept_ids};

/// Notes the documents of entries that a user resolves, as far as headquarters does not have them, and puts on accounts what
/// they have put there at their store.
pub async fn leave(tx: &mut Tx, resolved: &[sync_log::Model], now: Instant) -> Result<(), DbErr> {
    for entry in resolved {
        let entity = registry::find(&entry.entity_type).filter(|entity| !entity.is_pulled());
        let Some((entity, pushed)) = entity.and_then(|entity| Some((entity, entity.push?))) else { continue };
        let Ok(id) = entry.entity_id.parse::<Uuid>() else { continue };
        if is_here(tx, entity, entry.store_id, id).await? {
            continue;
        }
        let envelope_says =
            entry.envelope.as_deref().and_then(|envelope| read(entity, pushed, envelope, entry.store_id));
        let mut document = Model {
            store_id: entry.store_id,
            entity_type: entity.name.to_owned(),
            entity_id: id,
            noted_at: now,
            ..envelope_says.unwrap_or_default()
        };
        if let Some(sent) = document.session_id {
            let kept = kept_ids::kept(&**tx, entry.store_id, Reference::Session.table(), [sent]).await?;
            document.session_id = Some(kept.get(&sent).copied().unwrap_or(sent));
        }
        add(tx, document, now).await?;
    }
    Ok(())
}

/// Notes one, unless it is noted already.
async fn add(tx: &mut Tx, mut document: Model, now: Instant) -> Result<(), DbErr> {
    let key = (document.store_id, document.entity_type.clone(), document.entity_id);
    if Entity::find_by_id(key).one(&**tx).await?.is_some() {
        return Ok(());
    }
    if let Some(customer) = document.customer_id {
        match accounts::raise(tx, vec![(customer, i128::from(document.on_account.0))], now).await {
            // That may be why it was refused: it stays on the account that its store keeps.
            Err(error) if accounts::is_out_of_bounds(&error) => document.on_account = Money::ZERO,
            raised => raised?,
        }
    }
    let sql = "INSERT INTO unapplied_documents (store_id, entity_type, entity_id, session_id, number, customer_id, \
               on_account, noted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = [
        document.store_id.into(),
        document.entity_type.into(),
        document.entity_id.into(),
        document.session_id.into(),
        document.number.into(),
        document.customer_id.into(),
        document.on_account.into(),
        document.noted_at.into(),
    ];
    execute(&**tx, sql, values).await?;
    Ok(())
}

/// Whether headquarters has the document that `store` calls `id`.
async fn is_here(tx: &Tx, entity: &SyncType, store: Uuid, id: Uuid) -> Result<bool, DbErr> {
    let rows = entity.table.having(tx, "id", &[id, ids::elsewhere(store, id)], false).await?;
    Ok(rows.iter().any(|row| row.uuid("store_id") == Some(store)))
}

/// What an envelope tells of its document, as far as it can be read: it was refused for something that cannot.
fn read(entity: &SyncType, pushed: &Pushed, envelope: &str, store: Uuid) -> Option<Model> {
    let incoming = envelope::read(0, envelope, &Sender::of_store(store, String::new())).ok()?;
    let (row, lines) = incoming.as_far_as_it_can_be_read(&Shape::new(entity, pushed))?;
    let whole = Whole::new(&*row, &lines);
    let (named, charged) = (pushed.named(&whole), pushed.charged(&whole));
    Some(Model {
        session_id: named.session,
        number: pushed.printed.first().and_then(|column| row.text(column)),
        customer_id: named.customer,
        on_account: i64::try_from(charged).map_or(Money::ZERO, Money),
        ..Model::default()
    })
}

/// Documents that come after all are noted no more; what they had put on accounts, to be taken back there, as they put it there
/// themselves now.
pub(crate) async fn arrived(
    tx: &Tx,
    entity: &SyncType,
    store: Uuid,
    sent: &[Uuid],
) -> Result<Vec<(Uuid, i128)>, DbErr> {
    if entity.is_pulled() {
        return Ok(Vec::new());
    }
    let before = [store.into(), entity.name.into()];
    let sql = "SELECT entity_id, customer_id, on_account FROM unapplied_documents \
               WHERE store_id = $1 AND entity_type = $2 AND entity_id IN ($list)";
    let found = find_in(&**tx, sql, &before, sent.iter().copied()).await?;
    let (mut gone, mut charges): (Vec<Uuid>, _) = (Vec::new(), Vec::new());
    for row in &found {
        gone.push(row.try_get("", "entity_id")?);
        let amount = i128::from(row.try_get::<i64>("", "on_account")?);
        charges.extend(row.try_get::<Option<Uuid>>("", "customer_id")?.map(|customer| (customer, -amount)));
    }
    let sql = "DELETE FROM unapplied_documents WHERE store_id = $1 AND entity_type = $2 AND entity_id IN ($list)";
    execute_in(&**tx, sql, &before, gone).await?;
    Ok(charges)
}

/// Those of these drawers.
pub async fn of_sessions(
    conn: &impl ConnectionTrait,
    sessions: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Vec<Model>>, DbErr> {
    let mut out: HashMap<Uuid, Vec<Model>> = HashMap::new();
    for document in Entity::find().filter(Column::SessionId.is_in(sessions)).all(conn).await? {
        out.entry(document.session_id.unwrap_or_default()).or_default().push(document);
    }
    Ok(out)
}

/// What a store hears of a document that a user resolved: whether headquarters has it, and whether what it put on an account is
/// in the balance there; `None` for a type that stores pull.
pub(crate) async fn standing(tx: &Tx, store: Uuid, entity_type: &str, id: &str) -> Result<Option<(bool, bool)>, DbErr> {
    let entity = registry::find(entity_type).filter(|entity| entity.is_pushed() && !entity.is_pulled());
    let (Some(entity), Ok(id)) = (entity, id.parse::<Uuid>()) else { return Ok(None) };
    let noted = Entity::find_by_id((store, entity.name.to_owned(), id)).one(&**tx).await?;
    let charged = noted.is_some_and(|document| document.on_account != Money::ZERO);
    Ok(Some((is_here(tx, entity, store, id).await?, charged)))
}
