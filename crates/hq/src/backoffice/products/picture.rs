//! The picture of a product: `PUT`, `DELETE` and `GET /products/{id}/picture`. The product has its hash, which travels to the
//! stores; the picture itself is fetched by those whose tills ask for it.

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_http::describe::{Argument, Operation};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract;
use tillkeep_http::pictures::{LARGE, Picture, SMALL, one_of_ours, row, unknown};
use tillkeep_http::resource::Expected;
use tillkeep_http::{Answer, Caller, Id, NoContent, Params};
use tillkeep_model::permission::code::{ProductsEdit, ProductsView};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::product::{Entity, Model};
use tillkeep_storage::{Tx, pictures};
use utoipa::ToSchema;

use super::scaled::scaled;
use crate::backoffice::plain::Rules;
use crate::backoffice::rows;
use crate::state::Routes;

/// Bytes of an upload at the most.
const MOST: usize = 2 << 20;
/// What it may call itself; what it is, it says by how it begins.
const KINDS: [&str; 4] = ["image/jpeg", "image/png", "image/webp", "application/octet-stream"];

/// A file as it is sent.
struct Upload(Bytes);

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(essence)) {
            let text = format!("send the file itself, with Content-Type: {}", KINDS.join(", "));
            return Err(Error::new(ErrorCode::UnsupportedMediaType, text));
        }
        let (mut stream, mut file) = (request.into_body().into_data_stream(), BytesMut::new());
        while let Some(piece) = stream.try_next().await.map_err(|error| extract::unread(&error))? {
            if file.len() + piece.len() > MOST {
                let text = format!("more than {} MiB; send a smaller picture", MOST >> 20);
                return Err(Error::new(ErrorCode::PayloadTooLarge, text));
            }
            file.extend_from_slice(&piece);
        }
        Ok(Self(file.freeze()))
    }
}

impl Argument for Upload {
    fn describe(operation: &mut Operation) {
        operation.file(
            "A JPEG, PNG or WebP file of at most 2 MiB and 40 million pixels; its own `image/…` type does as well.",
        );
    }
}

/// Which picture is asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ProductPictureQuery)]
struct Asked {
    /// Pixels of a side: 320 when not said, or 96.
    size: Option<i32>,
    /// The `pictureHash` of the product: with it the answer may be kept for a year.
    hash: Option<String>,
}

/// `PUT /products/{id}/picture`
async fn put(
    caller: Caller<ProductsEdit>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
    Upload(file): Upload,
) -> Result<Answer<Model>> {
    caller.everywhere()?;
    let made = scaled(file).await?;
    let now = caller.now();
    let edit = async |tx: &mut Tx, old: &Model, new: &mut Model| -> Result<Json> {
        rows::refuse_outdated::<Entity>(tx, &Entity::KIND, expected_version, old).await?;
        for (size, picture) in [(LARGE, &made.large), (SMALL, &made.small)] {
            pictures::keep(&*tx, row(&made.hash, size, picture, now)).await?;
        }
        new.picture_hash = Some(made.hash.clone());
        let_go(tx, old, new, now).await?;
        Ok(difference(old, new))
    };
    let after = async |tx: &mut Tx, _: &Model, _: &Model| -> Result<()> {
        pictures::forget_unused(&*tx, now).await?;
        Ok(())
    };
    rows::update::<Entity, _>(&caller, &Entity::KIND, ("edit", id), edit, after).await.map(Answer)
}

/// `DELETE /products/{id}/picture`
async fn delete(
    caller: Caller<ProductsEdit>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
) -> Result<NoContent> {
    caller.everywhere()?;
    let now = caller.now();
    let edit = async |tx: &mut Tx, old: &Model, new: &mut Model| -> Result<Json> {
        rows::refuse_outdated::<Entity>(tx, &Entity::KIND, expected_version, old).await?;
        new.picture_hash = None;
        let_go(tx, old, new, now).await?;
        Ok(difference(old, new))
    };
    let after = async |tx: &mut Tx, _: &Model, _: &Model| -> Result<()> {
        pictures::forget_unused(&*tx, now).await?;
        Ok(())
    };
    rows::update::<Entity, _>(&caller, &Entity::KIND, ("edit", id), edit, after).await?;
    Ok(NoContent)
}

/// The picture that the product had, when it is another one now.
async fn let_go(tx: &Tx, old: &Model, new: &Model, now: Instant) -> Result<()> {
    if let Some(hash) = old.picture_hash.as_ref().filter(|_| old.picture_hash != new.picture_hash) {
        pictures::let_go(tx, hash, now).await?;
    }
    Ok(())
}

fn difference(old: &Model, new: &Model) -> Json {
    json!({"from": {"pictureHash": old.picture_hash}, "to": {"pictureHash": new.picture_hash}})
}

/// `GET /products/{id}/picture`
async fn get(
    caller: Caller<ProductsView>,
    Id(id): Id,
    headers: HeaderMap,
    Params(asked): Params<Asked>,
) -> Result<Picture> {
    let size = one_of_ours(asked.size)?;
    let product = rows::find::<Entity>(caller.reader(), &Entity::KIND, id).await?;
    let hash = product.picture_hash.ok_or_else(unknown)?;
    let content = pictures::find(caller.reader(), &hash, size).await?.ok_or_else(unknown)?;
    let is_fixed = asked.hash.as_deref() == Some(hash.as_str());
    Picture::new(&headers, (&hash, size), &content, is_fixed)
}

/// The routes of pictures.
pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get("/products/{id}/picture", get)
        .about("The picture of a product, as a square of 320 or 96 pixels.")
        .put("/products/{id}/picture", put)
        .about("Give a product a picture, or another one; it is scaled down and written anew, without what the file says of itself.")
        .fails(&[ErrorCode::VersionConflict])
        .delete("/products/{id}/picture", delete)
        .about("Take the picture of a product away.")
        .fails(&[ErrorCode::VersionConflict])
}
