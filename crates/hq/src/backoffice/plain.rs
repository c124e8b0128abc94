//! The handlers of the kinds that are nothing but rows: what differs between them is in [`Rules`], and which permission
//! a route needs is in the route table.

use std::borrow::Cow;
use std::future::{Future, ready};
use std::marker::PhantomData;

use tillkeep_http::describe::{Change, Draft, Listing, Lists, Write};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, Expected, Fields, ListSpec};
use tillkeep_http::{Answer, Body, Caller, Created, Id, List, NoContent, Params};
use tillkeep_model::Instant;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::Tx;
use utoipa::ToSchema;

use super::rows::{self, Kind, Rows};

/// What a kind decides on its own.
pub trait Rules: Rows<Model: ToSchema + Default> {
    const KIND: Kind;
    const LIST: ListSpec;

    /// Completes or refuses a row about to be written; `old` is the row before a change.
    fn check(
        tx: &mut Tx,
        old: Option<&Self::Model>,
        new: &mut Self::Model,
        now: Instant,
    ) -> impl Future<Output = Result<()>> + Send;

    /// What follows from a written row, in the same transaction.
    fn written(
        _: &mut Tx,
        _old: Option<&Self::Model>,
        _new: &Self::Model,
        _: Instant,
    ) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    /// Refuses to delete what is still in use, and clears away what goes with it.
    fn deletable(tx: &mut Tx, row: &Self::Model, now: Instant) -> impl Future<Output = Result<()>> + Send;
}

/// The kind `E` as the description names it.
pub struct Of<E>(PhantomData<fn() -> E>);

impl<E: Rules> Listing for Of<E> {
    type Row = E;
    const SPEC: ListSpec = E::LIST;
    const LONG: bool = true;
}

impl<E: Rules> Write for Of<E> {
    type Row = E;
    const FIELDS: Fields = E::KIND.fields();
    type More = ();

    fn name() -> Cow<'static, str> {
        E::Model::name()
    }
}

pub async fn list<E: Rules, P: Requirement>(
    caller: Caller<P>,
    Lists { query, .. }: Lists<Of<E>>,
) -> Result<List<E::Model>> {
    resource::long_list(caller.reader(), &E::LIST, &query, E::find()).await
}

pub async fn get<E: Rules, P: Requirement>(caller: Caller<P>, Id(id): Id) -> Result<Answer<E::Model>> {
    rows::find::<E>(caller.reader(), &E::KIND, id).await.map(Answer)
}

pub async fn create<E: Rules, P: Requirement>(
    caller: Caller<P>,
    Body(body): Body<Draft<Of<E>>>,
) -> Result<Created<E::Model>> {
    caller.everywhere()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, new: &mut E::Model| E::check(tx, None, new, now).await;
    let after = async |tx: &mut Tx, new: &E::Model| E::written(tx, None, new, now).await;
    rows::create::<E, P>(&caller, &E::KIND, body.keys, check, after).await
}

pub async fn edit<E: Rules, P: Requirement>(
    caller: Caller<P>,
    Id(id): Id,
    Body(body): Body<Change<Of<E>>>,
) -> Result<Answer<E::Model>> {
    caller.everywhere()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, old: &E::Model, new: &mut E::Model| E::check(tx, Some(old), new, now).await;
    let after = async |tx: &mut Tx, old: &E::Model, new: &E::Model| E::written(tx, Some(old), new, now).await;
    rows::change::<E, P>(&caller, &E::KIND, id, body.keys, check, after).await.map(Answer)
}

pub async fn delete<E: Rules, P: Requirement>(
    caller: Caller<P>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
) -> Result<NoContent> {
    caller.everywhere()?;
    let now = caller.now();
    let check = async |tx: &mut Tx, row: &E::Model| E::deletable(tx, row, now).await;
    rows::delete::<E, P>(&caller, &E::KIND, (id, expected_version), check).await?;
    Ok(NoContent)
}
