//! Drawers in their order, and what the rows of their documents add up to: of so few at once that the receipts of all of them are few.

use std::collections::HashMap;

use sea_orm::{DbErr, EntityTrait, Value};
use uuid::Uuid;

use super::book_sums::{self, Sums};
use super::controls::{self, Controls};
use super::pages::{Pages, documents};
use super::second::{self, Second};
use super::source::Source;
use crate::entity::register_session::{Column, Entity, Model};
use crate::many::select_in;

/// Drawers of which the sales are added up at once: each page of their sales looks at the sales of all of them.
const AT_ONCE: usize = 20;

/// All drawers by store, register and number.
pub(super) struct Drawers<'a> {
    source: &'a Source,
    pages: Pages<'a>,
}

impl<'a> Drawers<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        // Their order by a few columns first: reports are long.
        let sql = "SELECT id, store_id, register_code, session_number FROM register_sessions WHERE $behind";
        let nothing: Value = Uuid::nil().into();
        let key = [
            ("store_id", nothing.clone()),
            ("register_code", "".into()),
            ("session_number", i32::MIN.into()),
            ("id", nothing),
        ];
        Self { source, pages: Pages::new(source, sql, [], &key) }
    }

    /// The next ids, until there is none.
    pub(super) async fn ids(&mut self) -> Result<Option<Vec<Uuid>>, DbErr> {
        let Some(rows) = self.pages.page().await? else { return Ok(None) };
        rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>().map(Some)
    }

    /// So many drawers at once.
    pub(super) fn parts(&self, ids: &[Uuid]) -> Vec<Vec<Uuid>> {
        ids.chunks(AT_ONCE.min(documents(self.source))).map(<[Uuid]>::to_vec).collect()
    }
}

/// These drawers in the order of `ids`.
pub(super) async fn load(source: &Source, ids: &[Uuid]) -> Result<Vec<Model>, DbErr> {
    let rows = select_in(&source.conn, Entity::find(), Column::Id, ids.iter().copied()).await?;
    let mut by_id: HashMap<Uuid, Model> = rows.into_iter().map(|row| (row.id, row)).collect();
    Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
}

/// What the rows of one drawer add up to.
#[derive(Default)]
pub(super) struct Added {
    pub sums: Sums,
    pub second: Second,
    pub controls: Controls,
}

impl AsMut<Sums> for Added {
    fn as_mut(&mut self) -> &mut Sums {
        &mut self.sums
    }
}

impl AsMut<Second> for Added {
    fn as_mut(&mut self) -> &mut Second {
        &mut self.second
    }
}

impl AsMut<Controls> for Added {
    fn as_mut(&mut self) -> &mut Controls {
        &mut self.controls
    }
}

pub(super) type ByDrawer = HashMap<Uuid, Added>;

/// The sums of these drawers.
pub(super) async fn add_up(source: &Source, drawers: &[Uuid]) -> Result<ByDrawer, DbErr> {
    let mut out = ByDrawer::new();
    let sql = "SELECT id, register_session_id, receipt_number, sale_type, status, list_amount, special_discount, \
               line_discount, cart_discount, net_amount, tax_amount, total_amount, cash_rounding, tax_lines, removed \
               FROM sales WHERE register_session_id IN ($list) AND $behind";
    let key = [("register_session_id", Value::from(Uuid::nil())), ("id", Uuid::nil().into())];
    let mut pages = Pages::new(source, sql, [], &key).of(drawers.iter().copied());
    while let Some(rows) = pages.page().await? {
        for row in rows {
            let of = out.entry(row.try_get("", "register_session_id")?).or_default();
            of.sums.add_sale(&row)?;
            of.second.add_sale(&row)?;
            of.controls.add_sale(&row)?;
        }
    }
    book_sums::add_payments(source, drawers, &mut out).await?;
    second::add_lines(source, drawers, &mut out).await?;
    controls::add_lines(source, drawers, &mut out).await?;
    Ok(out)
}
