//! The names that the people of a drawer have now.

use std::collections::{BTreeSet, HashMap};

use tillkeep_model::z::{Header, ZReport};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

/// Fills in the names that `reports` lack: one statement, however many there are.
pub(super) async fn name<'a>(
    conn: &impl ConnectionTrait,
    reports: impl Iterator<Item = &'a mut ZReport>,
) -> Result<(), DbErr> {
    let mut places: Vec<(Uuid, &mut String)> = Vec::new();
    for report in reports {
        let Header { opened_by, opened_by_name, closed_by, closed_by_name, owners, .. } = &mut report.header;
        let of_header = [(*opened_by, opened_by_name), (*closed_by, closed_by_name)];
        places.extend(of_header.into_iter().filter_map(|(id, name)| Some((id?, name))));
        places.extend(owners.iter_mut().map(|owner| (owner.user_id, &mut owner.name)));
        let cashiers = &mut report.controls.removed.by_cashier;
        places.extend(cashiers.iter_mut().map(|cashier| (cashier.user_id, &mut cashier.name)));
    }
    places.retain(|(_, name)| name.is_empty());
    let people: BTreeSet<Uuid> = places.iter().map(|(id, _)| *id).collect();
    if people.is_empty() {
        return Ok(());
    }
    let users = user::Entity::find().filter(user::Column::Id.is_in(people));
    let names = users.select_only().columns([user::Column::Id, user::Column::DisplayName]);
    let names: HashMap<Uuid, String> = names.into_tuple::<(Uuid, String)>().all(conn).await?.into_iter().collect();
    for (id, place) in places {
        if let Some(name) = names.get(&id) {
            place.clone_from(name);
        }
    }
    Ok(())
}
