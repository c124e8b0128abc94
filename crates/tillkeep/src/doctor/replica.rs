//! The read replica of headquarters' `PostgreSQL`, where one is configured.

use std::sync::Arc;

use tillkeep_storage::doctor::{self, Lag};

use super::ages::length;
use super::finding::{Checked, Finding, hint, ok, warning};
use super::installation::Installation;

pub async fn follows(at: Arc<Installation>) -> Checked {
    let hq = &at.configuration.hq;
    if hq.database_read_url.is_empty() {
        return Ok(Vec::new());
    }
    let lag = doctor::behind(at.tables()?, hq.database_read_url.expose()).await;
    let most_ms = i64::try_from(hq.read_replica_max_lag_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    Ok(vec![match lag {
        Ok(lag) => of_lag(lag, most_ms),
        Err(error) => warning(
            format!("it cannot be read: {error}"),
            "see DATABASE_READ_URL and that the replica runs; lists are read from the database meanwhile",
        ),
    }])
}

fn of_lag(lag: Lag, most_ms: i64) -> Finding {
    match lag {
        Lag::Unused => hint("no server has used it yet", "start headquarters with DATABASE_READ_URL"),
        Lag::Stranger => warning(
            "it has nothing of what servers note in this database, and is not used: it is the replica of another one, or does not follow",
            "name the replica of this database in DATABASE_READ_URL, and see pg_stat_replication at the primary",
        ),
        Lag::Behind(behind) if behind > most_ms => warning(
            format!("it is {} behind, and is not used beyond {}", length(behind), length(most_ms)),
            "see pg_stat_replication at the primary, and the load of the replica",
        ),
        Lag::Behind(behind) => ok(format!("it is {} behind", length(behind))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_replica_may_be_behind_for_as_long_as_it_is_used() {
        let level = |behind| of_lag(behind, 30_000).level;
        assert_eq!((level(Lag::Behind(0)), level(Lag::Behind(30_000))), (Level::Ok, Level::Ok));
        assert_eq!((level(Lag::Behind(30_001)), level(Lag::Stranger)), (Level::Warning, Level::Warning));
        assert_eq!(level(Lag::Unused), Level::Hint);
    }
}
