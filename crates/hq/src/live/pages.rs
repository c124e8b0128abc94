//! Pages that are equal for all stores, made once and kept compressed. `docs/sync.md`, rule D12.
//!
//! A page is kept under the head that its own snapshot had. Whoever asks names the head this server knows, so a page
//! from before a change is not found any more once the change is known, and stores are notified of it only then.

use std::collections::HashMap;
use std::future::Future;
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use async_compression::Level;
use async_compression::tokio::bufread::{ZstdDecoder, ZstdEncoder};
use async_compression::zstd::CParameter;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use metrics::counter;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tillkeep_storage::DbErr;
use tillkeep_storage::tags::Head;
use tokio::io::AsyncReadExt;
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::io::ReaderStream;
use uuid::Uuid;

/// Bytes that all kept pages may take.
const ROOM: u64 = 64 << 20;
/// What a page takes besides its text.
const BESIDES: usize = 512;
/// A shorter text is kept as it is.
const WORTH_IT: usize = 512;
/// Pages that are made at once, each of which takes some megabytes meanwhile.
const MADE_AT_ONCE: usize = 4;
/// Bytes that a decoder looks back, as a power of two: those of a page. With the encoder's own choice each of a thousand
/// clients that want no zstd would take two megabytes here.
const WINDOW_LOG: u32 = 18;
/// Bytes of a page that are decoded at a time.
const PIECE: usize = 16 << 10;

/// Which page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub entity_type: &'static str,
    pub since: i64,
    pub limit: u64,
    pub head: Head,
}

/// A page as it is kept.
pub struct KeptPage {
    /// The head of the type in the snapshot that the page is from.
    pub head: Head,
    /// The tag of the version that it goes on from.
    pub since_tag: Option<Uuid>,
    /// The highest version in it, and how many rows it has.
    pub latest: i64,
    pub rows: usize,
    body: Bytes,
    /// Whether `body` is zstd; a text that this makes no smaller is kept as it is.
    is_zstd: bool,
}

impl KeptPage {
    pub async fn new(head: Head, since_tag: Option<Uuid>, (latest, rows): (i64, usize), text: String) -> Self {
        let plain = Bytes::from(text);
        let packed = if plain.len() < WORTH_IT { None } else { zstd(plain.clone()).await };
        let is_zstd = packed.is_some();
        Self { head, since_tag, latest, rows, body: packed.unwrap_or(plain), is_zstd }
    }

    fn weight(&self) -> u32 {
        u32::try_from(self.body.len() + BESIDES).unwrap_or(u32::MAX)
    }

    /// The answer. Who does not take zstd gets the text, piece by piece, and the layer that codes all other answers codes
    /// this one too.
    pub fn answer(&self, takes_zstd: bool) -> Response {
        let body = self.body.clone();
        let is_coded = self.is_zstd && takes_zstd;
        let body = if is_coded || !self.is_zstd {
            Body::from(body)
        } else {
            Body::from_stream(ReaderStream::with_capacity(ZstdDecoder::new(Cursor::new(body)), PIECE))
        };
        let mut response = body.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if is_coded {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("zstd"));
            headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        response
    }
}

/// A text, compressed beside the threads that answer; nothing when that makes it no smaller.
async fn zstd(text: Bytes) -> Option<Bytes> {
    let most = text.len();
    let runtime = tokio::runtime::Handle::current();
    let work = tokio::task::spawn_blocking(move || {
        let window = [CParameter::window_log(WINDOW_LOG)];
        let mut encoder = ZstdEncoder::with_quality_and_params(Cursor::new(text), Level::Default, &window);
        let mut bytes = Vec::new();
        runtime.block_on(encoder.read_to_end(&mut bytes)).map(|_| bytes)
    });
    let mut bytes = work.await.ok()?.ok().filter(|bytes| bytes.len() < most)?;
    bytes.shrink_to_fit();
    Some(bytes.into())
}

type Flight = Arc<OnceCell<Result<Arc<KeptPage>, DbErr>>>;

/// The pages of this server.
pub struct Pages {
    kept: Cache<Key, Arc<KeptPage>>,
    /// Pages that are being made now.
    flights: Mutex<HashMap<Key, Flight>>,
    /// Taken while a page is made: however many stores load, so many pages are in memory unpacked.
    makers: Semaphore,
}

impl Default for Pages {
    fn default() -> Self {
        Self::within(ROOM)
    }
}

impl Pages {
    /// Pages that take no more than `room` bytes together.
    fn within(room: u64) -> Self {
        let kept = Cache::builder()
            .max_capacity(room)
            .weigher(|_, page: &Arc<KeptPage>| page.weight())
            // Least recently used: the usual choice of this library keeps what was often asked for, which is pages from
            // before the last change.
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { kept, flights: Mutex::default(), makers: Semaphore::new(MADE_AT_ONCE) }
    }

    /// Bytes that the kept pages take, at the most.
    pub fn bytes(&self) -> u64 {
        self.kept.run_pending_tasks();
        self.kept.weighted_size()
    }

    /// The page of `key`, kept or read; however many ask at once, one reads. What is read has the head of `key` or a
    /// newer one, and is kept under its own.
    pub async fn get<F>(&self, key: Key, read: impl FnOnce() -> F) -> Result<Arc<KeptPage>, DbErr>
    where
        F: Future<Output = Result<KeptPage, DbErr>>,
    {
        if let Some(page) = self.kept.get(&key) {
            return Ok(hit(page));
        }
        let flight = {
            let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever read it kept it before the flight ended.
            if let Some(page) = self.kept.get(&key) {
                return Ok(hit(page));
            }
            flights.entry(key).or_default().clone()
        };
        let mut reads = false;
        let outcome = flight
            .get_or_init(async || {
                reads = true;
                let _landing = Landing { pages: self, key, flight: &flight };
                // Never closed.
                let _maker = self.makers.acquire().await.ok();
                let page = Arc::new(read().await?);
                self.kept.insert(Key { head: page.head, ..key }, page.clone());
                Ok(page)
            })
            .await;
        counter!("tillkeep_pull_pages_total", "result" => if reads { "miss" } else { "hit" }).increment(1);
        outcome.clone()
    }
}

fn hit(page: Arc<KeptPage>) -> Arc<KeptPage> {
    counter!("tillkeep_pull_pages_total", "result" => "hit").increment(1);
    page
}

/// Ends a flight, also one that is given up.
struct Landing<'a> {
    pages: &'a Pages,
    key: Key,
    flight: &'a Flight,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        let mut flights = self.pages.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.get(&self.key).is_some_and(|flight| Arc::ptr_eq(flight, self.flight)) {
            flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    const KEY: Key = Key { entity_type: "products", since: 0, limit: 100, head: at(5) };

    const fn at(version: i64) -> Head {
        Head { version, tag: None }
    }

    async fn page(head: i64) -> KeptPage {
        KeptPage::new(at(head), None, (head, 1), format!("page at {head}")).await
    }

    #[tokio::test]
    async fn many_who_ask_at_once_cost_one_read() {
        let (pages, reads, go) = (Pages::default(), AtomicUsize::new(0), Notify::new());
        let ask = async || {
            let read = async || {
                reads.fetch_add(1, Ordering::SeqCst);
                go.notified().await;
                Ok(page(5).await)
            };
            pages.get(KEY, read).await.expect("a page").head.version
        };
        let all = futures_util::future::join_all((0..50).map(|_| ask()));
        let ((), heads) = tokio::join!(async { go.notify_one() }, all);
        assert_eq!((heads, reads.load(Ordering::SeqCst)), (vec![5; 50], 1));
        assert_eq!((ask().await, reads.load(Ordering::SeqCst)), (5, 1));
    }

    #[tokio::test]
    async fn a_page_is_kept_under_the_head_that_it_was_read_at() {
        let pages = Pages::default();
        // A commit came between the question and the snapshot: the page has more than was asked for.
        assert_eq!(pages.get(KEY, async || Ok(page(6).await)).await.expect("a page").head, at(6));
        let newer = Key { head: at(6), ..KEY };
        let kept = pages.get(newer, async || Err(DbErr::Custom("read again".into()))).await.expect("it is kept");
        assert_eq!(kept.head, at(6));
        // Nothing was kept under the head that was asked for.
        assert_eq!(pages.get(KEY, async || Ok(page(5).await)).await.expect("a page").head, at(5));
    }

    #[tokio::test]
    async fn who_knows_of_a_change_does_not_get_the_page_that_was_begun_before_it() {
        let (pages, go) = (Pages::default(), Notify::new());
        let older = pages.get(KEY, async || {
            go.notified().await;
            Ok(page(5).await)
        });
        let newer = async {
            let page = pages.get(Key { head: at(6), ..KEY }, async || Ok(page(6).await)).await;
            go.notify_one();
            page
        };
        let (older, newer) = tokio::join!(older, newer);
        assert_eq!((older.expect("a page").head, newer.expect("a page").head), (at(5), at(6)));
    }

    #[tokio::test]
    async fn a_failure_reaches_all_who_wait_and_is_not_kept() {
        let (pages, reads) = (Pages::default(), AtomicUsize::new(0));
        let ask = async || {
            let read = async || {
                reads.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                Err(DbErr::Custom("away".into()))
            };
            pages.get(KEY, read).await.is_err()
        };
        let failed = futures_util::future::join_all((0..10).map(|_| ask())).await;
        assert_eq!((failed, reads.load(Ordering::SeqCst)), (vec![true; 10], 1));
        assert_eq!(pages.get(KEY, async || Ok(page(5).await)).await.expect("a page").head, at(5));
    }

    #[tokio::test]
    async fn when_the_one_who_reads_goes_away_another_one_reads() {
        let pages = Pages::default();
        let mut gone = Box::pin(pages.get(KEY, async || {
            std::future::pending::<()>().await;
            Ok(page(5).await)
        }));
        assert!(futures_util::poll!(&mut gone).is_pending());
        let mut waits = Box::pin(pages.get(KEY, async || Ok(page(5).await)));
        assert!(futures_util::poll!(&mut waits).is_pending());
        drop(gone);
        assert_eq!(waits.await.expect("a page").head, at(5));
        assert!(pages.flights.lock().expect("a lock").is_empty());
    }

    #[tokio::test]
    async fn the_kept_pages_stay_within_their_room_and_the_newest_are_kept() {
        let pages = Pages::within(100_000);
        for since in 0..200 {
            let text = noise(6000);
            let make = async || Ok(KeptPage::new(at(5), None, (5, 1), text).await);
            pages.get(Key { since, ..KEY }, make).await.expect("a page");
            // Often asked for, as every page is before the next change.
            for _ in 0..20 {
                let kept = pages.get(Key { since, ..KEY }, async || Err(DbErr::Custom("read again".into()))).await;
                assert!(kept.is_ok(), "page {since} was not kept");
            }
        }
        let bytes = pages.bytes();
        assert!((50_000..=100_000).contains(&bytes), "{bytes}");
    }

    #[tokio::test]
    async fn a_page_weighs_what_is_kept_of_it_and_is_kept_in_the_smaller_form() {
        for (text, most) in [("the same again ".repeat(20_000), 1000), (noise(20_000), 20_000)] {
            let page = KeptPage::new(at(1), None, (1, 1), text).await;
            assert!(page.is_zstd && (page.weight() as usize) < BESIDES + most, "{}", page.weight());
        }
        let short = KeptPage::new(at(1), None, (1, 1), "{}".to_owned()).await;
        assert_eq!((short.is_zstd, short.weight() as usize), (false, BESIDES + 2));
    }

    #[tokio::test]
    async fn however_many_pages_are_asked_for_at_once_few_are_made_at_once() {
        let (pages, now, most) = (Pages::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let ask = |since| {
            let make = async || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(page(5).await)
            };
            pages.get(Key { since, ..KEY }, make)
        };
        let all = futures_util::future::join_all((0..100).map(ask)).await;
        assert!(all.iter().all(Result::is_ok));
        assert_eq!(most.into_inner(), MADE_AT_ONCE);
    }

    /// Letters that no compression makes much smaller.
    fn noise(length: usize) -> String {
        let mut letters = String::new();
        while letters.len() < length {
            letters.push_str(&uuid::Uuid::new_v4().simple().to_string());
        }
        letters
    }
}
