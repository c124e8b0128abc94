//! What is posted of sales. `docs/integrate.md`, "Sales by webhook".

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::value::RawValue;
use tillkeep_model::Cost;
use tillkeep_storage::DbErr;
use tillkeep_storage::alerts::sales::{self, News};
use tillkeep_storage::entity::{alert_hook, sale};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::Hq;
use crate::backoffice::sale_documents::{self, SaleView};

/// What this is among what may be posted to an address; alerts and tests have words of their own.
const KIND: &str = "sales";
/// Sales of one message at the most, and the bytes of them with which it is full: a sale may have hundreds of lines.
const MOST: usize = 100;
const FULL: usize = 1 << 20;
/// Sales that are read together until it is full: most of a hundred large ones would be read for nothing.
const PART: usize = 8;

/// The body of a post.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    /// The same for every try.
    event: Uuid,
    kind: &'static str,
    /// Which database gives the positions; another one after a restore.
    epoch: &'a str,
    /// The message has what was stored behind this position …
    after: i64,
    /// … up to this one.
    up_to: i64,
    sales: Vec<Told>,
    headquarters: Option<&'a str>,
}

#[derive(Serialize)]
struct Told {
    position: i64,
    /// As `GET /sales/{id}` answers it to somebody who sees all stores and no costs.
    sale: Box<RawValue>,
}

/// What a receiver is told next.
pub(super) struct Message {
    pub event_id: Uuid,
    pub up_to: i64,
    /// Nothing where there are no sales for it up to there.
    pub body: Option<String>,
}

impl Message {
    /// The message that is under way to `hook`, or the next one. At a further try its sales are the same, as they are by then.
    pub(super) async fn next(hq: &Hq, hook: &alert_hook::Model) -> Result<Self, DbErr> {
        let event_id = hook.event_id.unwrap_or_else(Uuid::now_v7);
        let conn = hq.db_of_alerts().snapshot().await?;
        let until = match hook.sending_to {
            Some(until) => until,
            None => sales::head(&conn).await?,
        };
        let mut page = sales::page(&conn, hook, until, MOST).await?;
        let documents = documents(&conn, &page, hook.sending_to.is_none()).await?;
        let mut up_to = until;
        if hook.sending_to.is_none() {
            let (read, fits) = (page.len(), fitting(&page, &documents));
            page.truncate(fits);
            let is_cut = read == MOST || fits < read;
            up_to = page.last().filter(|_| is_cut).map_or(until, |news| news.place);
        }
        let sales = told(&page, documents);
        let body = Body {
            event: event_id,
            kind: KIND,
            epoch: &hq.epoch,
            after: hook.told_to,
            up_to,
            sales,
            headquarters: hq.public_url.as_deref(),
        };
        let body = if body.sales.is_empty() { None } else { Some(written(&body)?) };
        Ok(Self { event_id, up_to, body })
    }
}

fn written(value: &impl Serialize) -> Result<String, DbErr> {
    serde_json::to_string(value).map_err(|error| DbErr::Custom(error.to_string()))
}

/// The documents of what is told, as JSON: of a new message until it is full, and of one that is under way all.
async fn documents(
    conn: &impl ConnectionTrait,
    page: &[News],
    is_new: bool,
) -> Result<HashMap<Uuid, Box<RawValue>>, DbErr> {
    let mut documents: HashMap<Uuid, Box<RawValue>> = HashMap::new();
    let mut bytes = 0;
    for part in page.chunks(if is_new { PART } else { MOST }) {
        let ids = part.iter().map(|news| news.sale_id).filter(|id| !documents.contains_key(id)).collect();
        let found = read(conn, ids).await?;
        bytes += found.values().map(|document| document.get().len()).sum::<usize>();
        documents.extend(found);
        if is_new && bytes > FULL {
            break;
        }
    }
    Ok(documents)
}

/// Documents as JSON. Costs are nobody's business outside of the chain.
async fn read(conn: &impl ConnectionTrait, ids: HashSet<Uuid>) -> Result<HashMap<Uuid, Box<RawValue>>, DbErr> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = sale::Entity::find().filter(sale::Column::Id.is_in(ids)).all(conn).await?;
    let views = sale_documents::load(conn, rows, |_| true).await?;
    let raw = |view: &SaleView| RawValue::from_string(written(view)?).map_err(|error| DbErr::Custom(error.to_string()));
    Cost::without(true, || views.iter().map(|view| Ok((view.id(), raw(view)?))).collect())
}

/// How many of `page` go into one message: one at least, and then until it is full.
fn fitting(page: &[News], documents: &HashMap<Uuid, Box<RawValue>>) -> usize {
    let (mut bytes, mut seen) = (0, HashSet::new());
    let goes_in = |news: &&News| {
        let is_first = seen.is_empty();
        if seen.insert(news.sale_id) {
            bytes += documents.get(&news.sale_id).map_or(0, |document| document.get().len());
        }
        is_first || bytes <= FULL
    };
    page.iter().take_while(goes_in).count()
}

/// Each sale once, at the last of its positions: it is told as it is now.
fn told(page: &[News], mut documents: HashMap<Uuid, Box<RawValue>>) -> Vec<Told> {
    let last: HashMap<Uuid, i64> = page.iter().map(|news| (news.sale_id, news.place)).collect();
    let is_last = |news: &&News| last.get(&news.sale_id) == Some(&news.place);
    let told = |news: &News| Some(Told { position: news.place, sale: documents.remove(&news.sale_id)? });
    page.iter().filter(is_last).filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(place: i64, sale: u128) -> News {
        News { place, sale_id: Uuid::from_u128(sale) }
    }

    fn of_bytes(sale: u128, bytes: usize) -> (Uuid, Box<RawValue>) {
        let text = format!("\"{}\"", "a".repeat(bytes - 2));
        (Uuid::from_u128(sale), RawValue::from_string(text).expect("JSON"))
    }

    #[test]
    fn a_sale_that_was_stored_twice_is_told_once_where_it_was_last() {
        let page = [news(1, 7), news(2, 8), news(5, 7)];
        let documents = HashMap::from([of_bytes(7, 3), of_bytes(8, 3)]);
        let told = told(&page, documents);
        assert_eq!(told.iter().map(|told| told.position).collect::<Vec<_>>(), [2, 5]);
    }

    #[test]
    fn a_message_is_full_by_its_bytes_and_has_one_sale_at_least() {
        let page = [news(1, 1), news(2, 2), news(3, 1), news(4, 3)];
        for (sizes, fits) in [([10, 10, 10], 4), ([FULL + 1, 10, 10], 1), ([FULL - 20, 20, 10], 3), ([10, FULL, 10], 1)]
        {
            let documents = (1..).zip(sizes).map(|(sale, bytes)| of_bytes(sale, bytes)).collect();
            assert_eq!(fitting(&page, &documents), fits, "{sizes:?}");
        }
    }

    #[test]
    fn a_message_has_the_keys_of_the_docs() {
        let told = vec![Told { position: 1, sale: RawValue::from_string("{}".to_owned()).expect("JSON") }];
        let (epoch, event) = ("", Uuid::nil());
        let body = Body { event, kind: KIND, epoch, after: 0, up_to: 1, sales: told, headquarters: None };
        let body: serde_json::Value = serde_json::from_str(&written(&body).expect("JSON")).expect("JSON");
        let docs = include_str!("../../../../docs/integrate.md");
        let keys = |body: &serde_json::Value| body.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        let all: Vec<String> = keys(&body).into_iter().chain(keys(&body["sales"][0])).collect();
        for key in &all {
            assert!(docs.contains(&format!("\"{key}\":")), "{key} is not in docs/integrate.md");
        }
        assert_eq!(all.len(), 9);
    }
}
