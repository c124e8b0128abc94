//! What an envelope may do to the row of which it tells.

use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::group::Group;
use crate::document::WriteContext;
use crate::envelope::dated::Dated;
use crate::envelope::{Incoming, Keys};

/// What one envelope may do to its row.
pub(super) struct Edit<'a> {
    pub group: &'a Group<'a>,
    pub incoming: &'a Incoming<'a>,
    /// The id of its row at HQ.
    pub id: Uuid,
    pub dated: Dated,
    pub keys: &'a Keys,
    pub context: WriteContext<'a>,
    pub owned: &'a [&'a str],
    pub applied: Applied,
}
