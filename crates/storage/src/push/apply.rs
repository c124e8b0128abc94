//! Applying a batch of envelopes set-wise: rows, effects and log entries together, in the transaction of the caller. Each
//! group of one type goes through four steps: judge, merge, effects, store.

use std::collections::BTreeMap;

use sea_orm::DbErr;
use tillkeep_model::Instant;
use uuid::Uuid;

use super::group::{Answers, Group};
use super::{effects, judge, merge, newcomers, store};
use crate::envelope::{Ignored, Incoming, Sender, Verdict};
use crate::stock::Product;
use crate::sync_log::{self, Priors};
use crate::{Tx, audit, fault};

/// What a batch came to.
pub(super) struct Outcome {
    pub verdicts: Vec<Verdict>,
    /// Values by type that their sender does not own, and keys that are not known.
    pub ignored: Vec<(&'static str, u64)>,
    /// Older refusals were closed, of which the sender is to learn.
    pub healed: bool,
    /// What is to be written down of it as the last thing before the commit.
    pub audits: Vec<audit::Entry>,
}

/// The products that batches of one transaction have read, for those after them.
pub(super) type Products = BTreeMap<Uuid, Product>;

/// Applies `batch`: no entity twice, parents first.
pub(super) async fn bulk(
    tx: &mut Tx,
    sender: &Sender,
    batch: &[Incoming<'_>],
    products: &mut Products,
    now: Instant,
) -> Result<Outcome, DbErr> {
    let priors = sync_log::priors(tx, sender.store_id, batch, now).await?;
    let mut verdicts = Vec::with_capacity(batch.len());
    let (mut ignored, mut audits) = (Vec::new(), Vec::new());
    for envelopes in batch.chunk_by(|a, b| a.entity.name == b.entity.name) {
        let Some(group) = Group::new(sender, envelopes, now) else { continue };
        let mut counted = Ignored::default();
        verdicts.extend(of_one_type(tx, &group, (&priors, &mut *products), &mut counted, &mut audits).await?);
        if counted.count > 0 {
            ignored.push((group.entity.name, counted.count));
        }
    }
    fault::point("push.effects")?;
    let healed = sync_log::record(tx, sender, batch, &verdicts, &priors, now).await?;
    fault::point("push.log")?;
    Ok(Outcome { verdicts, ignored, healed, audits })
}

async fn of_one_type(
    tx: &mut Tx,
    group: &Group<'_>,
    (priors, products): (&Priors, &mut Products),
    ignored: &mut Ignored,
    audits: &mut Vec<audit::Entry>,
) -> Result<Vec<Verdict>, DbErr> {
    let mut answers = Answers::new(group.envelopes.len());
    let judged = judge::judge(tx, group, priors, &mut answers).await?;
    let mut merged = merge::merge(tx, group, judged, ignored, &mut answers).await?;
    newcomers::limit(tx, group, &mut merged, &mut answers).await?;
    audits.extend(merged.iter_mut().filter_map(|document| document.audit.take()));
    let effects = effects::effects(tx, group, &mut merged, &mut answers).await?;
    store::store(tx, group, merged, (effects, products), &mut answers).await?;
    Ok(answers.into_verdicts())
}
