//! How a store stands, in one word.

use serde::Serialize;
use utoipa::ToSchema;

/// How a store stands: the worst that is so, from the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = DashboardState)]
pub(crate) enum Rank {
    /// Entries of it were given up after ten refusals.
    Dead,
    /// Two copies of it run at once.
    Twice,
    /// It was handed rows that it cannot store.
    Unstored,
    /// It has an alarm other than that of its clock.
    Alarmed,
    /// It is not connected, and was before.
    Silent,
    /// Entries of it failed.
    Failed,
    /// It is connected, and its oldest entry has waited for more than five minutes.
    Stuck,
    /// Its clock is more than two minutes off.
    Clock,
    /// It is loading what headquarters has.
    Loading,
    /// It does not have the newest of some type.
    Behind,
    /// Entries of it wait to be sent.
    Waiting,
    /// It is connected, and nothing is wrong.
    Well,
    /// It was never started.
    Never,
    /// It is not in use.
    #[default]
    Inactive,
}
