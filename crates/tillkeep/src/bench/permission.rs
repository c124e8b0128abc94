//! P8: the check of a permission, inside of this program.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tillkeep_http::auth::{Access, Assignment};
use tillkeep_model::permission::DEFAULT_ROLES;
use tillkeep_storage::entity::user;
use uuid::Uuid;

use super::figure::{Figure, Measurement, Sample};

const CHECK: &str = "one check";
const CHECKS: u32 = 200_000;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P8",
    title: "permission check, inside of the program",
    figures: &[Figure::most(CHECK, "µs", 5.0)],
    run: |_| Box::pin(async { Ok(vec![Sample::new(CHECK, micros(time()))]) }),
};

/// A person with every default role, each in a store of its own but the last one, which is asked for.
fn time() -> Duration {
    let stores: Vec<Uuid> = DEFAULT_ROLES.iter().map(|_| Uuid::now_v7()).collect();
    let assignments = DEFAULT_ROLES.iter().zip(&stores).map(|(role, store)| Assignment {
        role_id: Uuid::now_v7(),
        role_code: role.code.to_owned(),
        role_name: role.code.to_owned(),
        store_id: Some(*store),
        codes: Arc::new(role.codes().map(str::to_owned).collect::<BTreeSet<_>>()),
    });
    let access = Access::new(user::Model::default(), assignments.collect());
    let begun = Instant::now();
    for number in 0..CHECKS {
        let store = stores.get(number as usize % stores.len()).copied();
        black_box(access.may(black_box(&["pos.sell", "reports.z_report"]), black_box(store)));
    }
    begun.elapsed() / CHECKS
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
