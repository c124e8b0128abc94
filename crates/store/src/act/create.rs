//! Acts that make something under an id of its client's making: whoever sends the same once more gets what is there.

use std::marker::PhantomData;

use tillkeep_http::Created;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::Act;
use super::acting::{Acting, Doing};
use super::record::{self, Record};
use super::stopped::Stopped;

/// An act that makes a `D`.
pub struct Creation<'a, D, S> {
    act: Act<'a>,
    id: Uuid,
    is_same: S,
    made: PhantomData<fn() -> D>,
}

impl<'a> Act<'a> {
    /// The act makes `id`, an id of its client's making. `is_same` says whether one that is there is what is asked for now.
    pub fn creates<D: Record, S: Fn(&D) -> bool>(self, id: Uuid, is_same: S) -> Creation<'a, D, S> {
        Creation { act: self.about(D::table(), &id), id, is_same, made: PhantomData }
    }
}

impl<D: Record, S: Fn(&D) -> bool> Creation<'_, D, S> {
    /// As [`Act::now`].
    pub const fn now(&self) -> Instant {
        self.act.now
    }

    /// What is there already when the request is a repeated one, or 409 when it asks for something else. Asked before
    /// anything that may have changed since the first time is looked at.
    pub async fn stored(&self, conn: &impl ConnectionTrait) -> Result<Option<D>> {
        let Some(stored) = record::find::<D>(conn, self.id).await? else { return Ok(None) };
        if !(self.is_same)(&stored) {
            let text = format!(
                "this id belongs to {} with other content or of another till; give each an id of its own",
                D::NOUN
            );
            return Err(Error::new(ErrorCode::IdReused, text).at("id"));
        }
        // Its first answer may have failed before its number was in the file.
        let store = self.act.store;
        store.wrote_numbers(store.numbers.catch_up(conn).await?);
        Ok(Some(stored))
    }

    /// Does it, with `work`, which stores what it makes. When the same request comes twice at once, the one that comes
    /// second is stopped by something that the first one did, and is answered with what is there.
    pub async fn run<W>(self, work: W) -> Result<Created<D>>
    where
        W: for<'b, 'tx> FnOnce(&'b mut Acting<'tx>) -> Doing<'b, D> + Send + 'static,
    {
        let stopped = match self.act.clone().perform(work).await {
            Ok(data) => return Ok(Created::new(data)),
            Err(Stopped::Failed(error)) => return Err(error.into()),
            Err(stopped) => stopped,
        };
        match self.stored(self.act.store.reader()).await? {
            Some(data) => Ok(Created { data, new: false }),
            None => Err(stopped.into()),
        }
    }
}
