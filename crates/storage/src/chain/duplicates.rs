//! Rows that most likely stand for the same as a new one; only a person can tell.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect};

use crate::entity::customer::{Column, Entity, Model};
use crate::many::tuples_in;

/// Rows that are named at the most.
const MOST: u64 = 5;

/// The telephone numbers and mail addresses, as they are compared, of living customers who have one of these.
pub async fn contacts(
    conn: &impl ConnectionTrait,
    phones: Vec<String>,
    emails: Vec<String>,
) -> Result<HashMap<String, String>, DbErr> {
    let living = Entity::find()
        .select_only()
        .columns([Column::CustomerNumber, Column::PhoneDigits, Column::EmailFolded])
        .filter(Column::DeletedAt.is_null())
        .filter(Column::MergedIntoId.is_null());
    let mut found = HashMap::new();
    for (column, list) in [(Column::PhoneDigits, phones), (Column::EmailFolded, emails)] {
        let rows: Vec<(String, Option<String>, Option<String>)> = tuples_in(conn, living.clone(), column, list).await?;
        for (number, phone, email) in rows {
            found.extend([phone, email].into_iter().flatten().map(|contact| (contact, number.clone())));
        }
    }
    Ok(found)
}

/// Customers with the telephone number or the mail address of `row`, in whatever letters, but those merged into others.
pub async fn of_customer(conn: &impl ConnectionTrait, row: &Model) -> Result<Vec<Model>, DbErr> {
    let mut same = Condition::any();
    if let Some(phone) = row.phone_digits.as_deref().filter(|digits| !digits.is_empty()) {
        same = same.add(Column::PhoneDigits.eq(phone));
    }
    if let Some(email) = row.email_folded.as_deref().filter(|email| !email.is_empty()) {
        same = same.add(Column::EmailFolded.eq(email));
    }
    if same.is_empty() {
        return Ok(Vec::new());
    }
    let others = Entity::find().filter(same).filter(Column::DeletedAt.is_null()).filter(Column::MergedIntoId.is_null());
    others.limit(MOST).all(conn).await
}
