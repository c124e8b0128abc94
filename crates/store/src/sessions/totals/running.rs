//! What a register took in all its life: each close goes on from the one before, and so does its chain of documents.

use tillkeep_model::z::{ChainHead, RunningTotal, ZReport};
use tillkeep_model::{JsonText, Money};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::register_session::{self, Column, Entity};
use tillkeep_storage::fiscal::heads;
use tillkeep_storage::numbers::Given;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

/// So many drawers before one are looked at. Those that come back after a later one was closed are among the last ones.
const LOOKED_AT: u64 = 30;

pub(super) async fn add(
    conn: &impl ConnectionTrait,
    report: &mut ZReport,
    session: &register_session::Model,
) -> Result<(), DbErr> {
    let before = running_total(conn, session).await?;
    report.running_total = RunningTotal { before, after: before + report.total_amount };
    let head = heads::of_register(conn, session.store_id, session.register_id, &session.register_code).await?;
    report.chain = head.map(|head| ChainHead {
        chain_id: head.chain_id,
        number: head.number,
        hash: head.hash,
        running_total: head.running_total,
    });
    Ok(())
}

/// A drawer that is closed, and what its register had taken by then, as its report says.
struct Closed {
    number: i32,
    total: Option<Money>,
    after: Money,
}

/// The grand total of a register up to the drawer before `session`; it is never reset. Numbers of a series with a letter come after
/// those without, so that it goes on from one series to the next.
async fn running_total(conn: &impl ConnectionTrait, session: &register_session::Model) -> Result<Money, DbErr> {
    let mut rows: Vec<(i32, Money, Option<JsonText>)> = Entity::find()
        .select_only()
        .columns([Column::SessionNumber, Column::RunningTotal, Column::Totals])
        .filter(Column::RegisterCode.eq(session.register_code.as_str()))
        .filter(Column::SessionNumber.lt(session.session_number))
        .filter(Column::RunningTotal.is_not_null())
        .order_by_desc(Column::SessionNumber)
        .limit(LOOKED_AT)
        .into_tuple()
        .all(conn)
        .await?;
    rows.reverse();
    let total = |totals: Option<JsonText>| totals?.0["totalAmount"].as_i64().map(Money);
    Ok(whole(rows.into_iter().map(|(number, after, totals)| Closed { number, total: total(totals), after })))
}

/// What a register took up to the last of `drawers`, which come by their numbers. One that was closed while those before it were
/// lost, and not back yet, goes on from less than there was: what they took is counted from the next one on. Where numbers are
/// missing, nobody knows but the drawer after them what they took.
fn whole(drawers: impl Iterator<Item = Closed>) -> Money {
    let mut last: Option<(Given, Money)> = None;
    for drawer in drawers {
        let number = Given::session(drawer.number.into());
        let whole = match (last, drawer.total) {
            (Some((before, whole)), Some(total)) if number.follows(&before) => whole + total,
            _ => drawer.after,
        };
        last = Some((number, whole));
    }
    last.map_or(Money::ZERO, |(_, whole)| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_after_a_later_close_is_in_the_total_and_what_is_missing_is_taken_as_it_was_said() {
        let of = |drawers: &[(i32, i64, i64)]| {
            let closed = |(number, total, after): &(i32, i64, i64)| Closed {
                number: *number,
                total: Some(Money(*total)),
                after: Money(*after),
            };
            whole(drawers.iter().map(closed)).0
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[(4, 100, 900), (5, 50, 950)]), 950, "of the first one that is known what it says");
        assert_eq!(of(&[(1, 100, 100), (2, 50, 150), (3, 7, 107)]), 157, "2 was not here when 3 was closed");
        assert_eq!(of(&[(1, 100, 100), (2, 50, 150), (3, 7, 107), (4, 1, 158)]), 158, "and is counted once");
        assert_eq!(
            of(&[(1, 100, 100), (2, 50, 150), (100_001, 7, 7)]),
            157,
            "a series with a letter began without them"
        );
        assert_eq!(
            of(&[(1, 100, 100), (2, 50, 150), (2, 7, 107)]),
            157,
            "two copies of a store have both opened a second one"
        );
        assert_eq!(of(&[(1, 100, 100), (3, 7, 157)]), 157, "2 is in what 3 says, and nowhere else");
        assert_eq!(of(&[(1, 100, 100), (2, -30, 70)]), 70);
    }
}
