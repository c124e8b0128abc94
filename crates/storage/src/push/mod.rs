//! What HQ does with pushed envelopes: a verdict for each, exactly-once effects, nothing that blocks the rest.
//! Specification, sections 3 and 4.3; `docs/sync.md`, section 2.

mod apply;
mod decide;
pub(crate) mod effects;
mod incoming;

use std::collections::HashMap;

use sea_orm::DbErr;
use serde_json::value::RawValue;
use tillkeep_model::Instant;
use tillkeep_model::wire::{Applied, PushResult, PushStatus};
use uuid::Uuid;

use crate::sync_log::{self, Rejection};
use crate::{Change, Db, db, fault};
pub use incoming::Incoming;

/// Who pushes.
#[derive(Clone, Debug)]
pub struct Sender {
    pub store_id: Uuid,
    pub store_code: String,
}

/// HQ's word on one envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Taken; with what somebody should look at.
    Taken {
        applied: Applied,
        warnings: Vec<String>,
    },
    Refused {
        code: &'static str,
        error: String,
    },
}

impl Verdict {
    fn refused(code: &'static str, error: impl Into<String>) -> Self {
        Self::Refused { code, error: error.into() }
    }
}

/// Answers and consequences of one push.
pub struct Pushed {
    pub results: Vec<PushResult>,
    pub changes: Vec<Change>,
    pub refused: usize,
}

/// A push that the infrastructure broke off. What was committed before holds and is to be announced; nothing of the
/// failing part was applied, and the store will send it again.
#[derive(Debug)]
pub struct Interrupted {
    pub error: DbErr,
    pub changes: Vec<Change>,
}

/// Applies `envelopes` in their order and answers each one.
pub async fn push(db: &Db, sender: &Sender, envelopes: &[Box<RawValue>], now: Instant) -> Result<Pushed, Interrupted> {
    let mut results: Vec<Option<PushResult>> = vec![None; envelopes.len()];
    let mut waves: Vec<Vec<Incoming>> = Vec::new();
    if let Err(error) = fault::point("push.read") {
        return Err(Interrupted { error, changes: Vec::new() });
    }
    let mut seen: HashMap<(&'static str, Uuid), usize> = HashMap::new();
    let mut rejected = Vec::new();
    for (index, raw) in envelopes.iter().enumerate() {
        match incoming::read(index, raw, sender) {
            Ok(incoming) => {
                // An upsert cannot touch a row twice: the second envelope of an entity goes in a later wave.
                let wave = seen.entry((incoming.entity.name, incoming.id)).or_insert(0);
                if waves.len() == *wave {
                    waves.push(Vec::new());
                }
                waves[*wave].push(incoming);
                *wave += 1;
            }
            Err(rejection) => {
                results[index] = Some(rejection.result.clone());
                rejected.push(*rejection);
            }
        }
    }
    let mut changes = Vec::new();
    for mut wave in waves {
        wave.sort_by_key(|incoming| incoming.entity.push_order);
        let mut open = vec![wave.as_slice()];
        // Bulk first; what fails is halved down to the culprit.
        while let Some(part) = open.pop() {
            match db::again(|| apply::bulk(db, sender, part, now)).await {
                Ok((verdicts, news)) => {
                    changes.extend(news);
                    for (incoming, verdict) in part.iter().zip(verdicts) {
                        results[incoming.index] = Some(incoming.result(&verdict));
                    }
                }
                Err(error) if !db::is_data_fault(&error) => return Err(Interrupted { error, changes }),
                Err(_) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                }
                Err(error) => {
                    let incoming = &part[0];
                    tracing::warn!(
                        %error, entity_type = incoming.entity.name, store = sender.store_code,
                        "an envelope cannot be stored"
                    );
                    let verdict = Verdict::refused("not_storable", explain(&error));
                    results[incoming.index] = Some(incoming.result(&verdict));
                    rejected.push(incoming.rejection(&verdict));
                }
            }
        }
    }
    if let Err(error) = db::again(|| log_refusals(db, sender, &rejected, now)).await {
        return Err(Interrupted { error, changes });
    }
    let results: Vec<PushResult> = results.into_iter().flatten().collect();
    let refused = results.iter().filter(|result| result.status != PushStatus::Ok).count();
    Ok(Pushed { results, changes, refused })
}

async fn log_refusals(db: &Db, sender: &Sender, refused: &[Rejection], now: Instant) -> Result<(), DbErr> {
    if refused.is_empty() {
        return Ok(());
    }
    fault::point("push.refusals")?;
    let tx = db.begin().await?;
    sync_log::reject(&tx, sender.store_id, refused, now).await?;
    tx.commit().await?;
    Ok(())
}

/// What the database refused, for people and without its own words; a unique key is the usual reason.
fn explain(error: &DbErr) -> String {
    match db::unique_violation(error) {
        Some(fields) if fields.is_empty() => "another row has the same key".to_owned(),
        Some(fields) => format!("another row has the same key: {}", fields.join(", ")),
        None => {
            "the row cannot be stored: a value is out of bounds, missing, or names a row that does not exist".to_owned()
        }
    }
}
