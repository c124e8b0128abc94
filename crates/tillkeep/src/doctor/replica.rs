//! The read replica of headquarters' `PostgreSQL`, where one is configured.

use std::sync::Arc;

use tillkeep_storage::doctor;

use super::ages::length;
use super::finding::{Checked, Finding, hint, ok, warning};
use super::installation::Installation;

pub async fn follows(at: Arc<Installation>) -> Checked {
    let hq = &at.configuration.hq;
    if hq.database_read_url.is_empty() {
        return Ok(Vec::new());
    }
    let behind = doctor::behind(at.tables()?, hq.database_read_url.expose()).await;
    let most_ms = i64::try_from(hq.read_replica_max_lag_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    Ok(vec![match behind {
        Ok(behind) => of_lag(behind, most_ms),
        Err(error) => warning(
            format!("it cannot be read: {error}"),
            "see DATABASE_READ_URL and that the replica runs; lists are read from the database meanwhile",
        ),
    }])
}

fn of_lag(behind_ms: Option<i64>, most_ms: i64) -> Finding {
    match behind_ms {
        None => hint(
            "it has no note of this database: no server has used it yet, or it is the replica of another one",
            "start headquarters with DATABASE_READ_URL; if this stays so, name the replica of this database there",
        ),
        Some(behind) if behind > most_ms => warning(
            format!("it is {} behind, and is not used beyond {}", length(behind), length(most_ms)),
            "see pg_stat_replication at the primary, and the load of the replica",
        ),
        Some(behind) => ok(format!("it is {} behind", length(behind))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_replica_may_be_behind_for_as_long_as_it_is_used() {
        let level = |behind| of_lag(behind, 30_000).level;
        assert_eq!((level(Some(0)), level(Some(30_000))), (Level::Ok, Level::Ok));
        assert_eq!((level(Some(30_001)), level(None)), (Level::Warning, Level::Hint));
    }
}
