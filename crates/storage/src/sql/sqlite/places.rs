//! The places of values in a text, as `SQLite` counts them.
//!
//! One text serves both databases, with `$1`, `$2`, … as `PostgreSQL` has them. To `SQLite` these are names: each is looked for among
//! all before it when a text is prepared, and in the same way when it is asked for, so that a list of 5 000 values took the time
//! of 25 million comparisons. Numbers are no names.

use std::borrow::Cow;
use std::fmt::Write;

/// `sql` with `?` for each `$n` where they stand in the order of their numbers, and else with `?n`. In either case the value
/// of `$n` is bound to the place with the number `n`.
pub(super) fn counted(sql: &str) -> Cow<'_, str> {
    if !sql.contains('$') {
        return sql.into();
    }
    let places = places(sql);
    let in_order = places.iter().zip(1..).all(|(place, next)| place.number == next);
    let (mut text, mut done) = (String::with_capacity(sql.len()), 0);
    for place in places {
        text.push_str(&sql[done..place.from]);
        text.push('?');
        if !in_order {
            // A text takes everything.
            let _written = write!(text, "{}", place.number);
        }
        done = place.to;
    }
    text.push_str(&sql[done..]);
    text.into()
}

/// A `$n` of a text: its number, and where it stands.
struct Place {
    number: usize,
    from: usize,
    to: usize,
}

fn places(sql: &str) -> Vec<Place> {
    let bytes = sql.as_bytes();
    let (mut places, mut quote, mut at) = (Vec::new(), None, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match (quote, byte) {
            // A quote inside of quotes is written twice: it ends them, and the next one begins them again.
            (Some(open), _) => quote = (byte != open).then_some(open),
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'$') => {
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                if let Ok(number) = sql[at..at + digits].parse() {
                    places.push(Place { number, from: at - 1, to: at + digits });
                }
                at += digits;
            }
            _ => {}
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_their_order_have_no_number_and_others_keep_theirs() {
        for (sql, wanted) in [
            ("SELECT 1", "SELECT 1"),
            ("UPDATE t SET a = ? WHERE b = ?", "UPDATE t SET a = ? WHERE b = ?"),
            ("VALUES ($1, 0, $2), ($3, 0, $4)", "VALUES (?, 0, ?), (?, 0, ?)"),
            ("VALUES ($1, $2), ($1, $3)", "VALUES (?1, ?2), (?1, ?3)"),
            ("SET a = $2 WHERE b = $1", "SET a = ?2 WHERE b = ?1"),
            (
                "SELECT '$1', \"$2\", 'it''s $3' FROM t WHERE a = $1",
                "SELECT '$1', \"$2\", 'it''s $3' FROM t WHERE a = ?",
            ),
            ("SELECT data -> '$.a', $1 || 'é$2'", "SELECT data -> '$.a', ? || 'é$2'"),
        ] {
            assert_eq!(counted(sql), wanted, "{sql}");
        }
    }

    #[test]
    fn no_place_has_a_name_that_would_be_looked_for_among_all_others() {
        let conn = rusqlite::Connection::open_in_memory().expect("a database");
        let list: Vec<String> = (1..=5_000).map(|number| format!("${number}")).collect();
        let sql = format!("SELECT 1 WHERE 1 IN ({})", list.join(", "));
        let prepared = conn.prepare(&counted(&sql)).expect("a statement");
        assert_eq!(prepared.parameter_count(), 5_000);
        assert!((1..=5_000).all(|place| prepared.parameter_name(place).is_none()));
    }
}
