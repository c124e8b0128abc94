//! Pictures of products, which a store fetches when a till asks for them first. A cashier waits: two seconds, and none where there
//! is no line.

use std::time::Duration;

use bytes::Bytes;
use tillkeep_http::pictures::BEGINNING;
use tokio::time::timeout;

use super::client::HqClient;
use super::state::SyncState;
use super::transport::Request;

const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// Bytes of a picture at the most: what is larger is none of ours.
const LARGEST: usize = 512 << 10;

impl HqClient {
    /// The picture with this hash; none where there is no line, no answer in time, or no such picture.
    pub async fn picture(&self, line: &SyncState, hash: &str, size: i32) -> Option<Bytes> {
        if self.speaks_the_specification_alone() || !line.has_line() {
            return None;
        }
        let asked = self.deliver(Request::get(format!("/pictures/{hash}?size={size}")));
        match timeout(ANSWERS_WITHIN, asked).await {
            // What is in between answers everything with a page of its own.
            Ok(Ok(reply)) if reply.status == 200 && is_a_picture(&reply.body) => Some(reply.body),
            Ok(Ok(reply)) => {
                tracing::info!(hash, status = reply.status, "headquarters has no such picture");
                None
            }
            Ok(Err(error)) => {
                tracing::info!(%error, hash, "a picture cannot be fetched");
                None
            }
            Err(_) => {
                tracing::info!(hash, "a picture did not come in time");
                None
            }
        }
    }
}

fn is_a_picture(body: &[u8]) -> bool {
    body.starts_with(&BEGINNING) && body.len() <= LARGEST
}
