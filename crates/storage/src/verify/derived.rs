//! I7: columns that each server derives from others are what those give. They do not travel, so that no comparison of rows
//! sees them.

use sea_orm::DbErr;
use uuid::Uuid;

use super::finding::Found;
use super::pages::Pages;
use super::source::Source;
use crate::{Side, registry, sought};

pub(super) async fn columns(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    for entity in registry::ALL {
        for derived in entity.derived {
            let (table, column) = (entity.name, derived.column);
            let sql = format!("SELECT id, {} AS origin, {column} AS derived FROM {table} WHERE $behind", derived.from);
            let mut pages = Pages::by_id(source, &sql, []);
            while let Some(rows) = pages.page().await? {
                for row in rows {
                    let origin: Option<String> = row.try_get("", "origin")?;
                    let kept: Option<String> = row.try_get("", "derived")?;
                    // Nothing is kept as such, or as an empty text.
                    if origin.as_deref().map(derived.by).unwrap_or_default() != kept.unwrap_or_default() {
                        let text = format!("its {column} is not what its {} gives", derived.from);
                        found.add(source.store, table, row.try_get::<Uuid>("", "id")?, text);
                    }
                }
            }
        }
    }
    if source.side == Side::Hq { found_by(source, found).await } else { Ok(()) }
}

/// What rows are looked for by is what their columns give. One without a text is found all the same.
async fn found_by(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    for sought in &sought::ALL {
        let sql = format!("SELECT {} FROM {} WHERE $behind", sought.read(), sought.table);
        let mut pages = Pages::by_id(source, &sql, []);
        while let Some(rows) = pages.page().await? {
            for row in rows {
                let (kept, text) = sought.texts(&row);
                if kept.is_some_and(|kept| kept != text) {
                    let text = format!("what it is looked for by is not what its {} give", sought.columns.join(", "));
                    found.add(source.store, sought.table, row.try_get::<Uuid>("", "id")?, text);
                }
            }
        }
    }
    Ok(())
}
