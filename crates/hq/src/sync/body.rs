//! The body of a push: unpacked piece by piece, within limits that hold while it is read.

use std::ops::Range;

use async_compression::tokio::bufread::{GzipDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use futures_util::TryStreamExt;
use serde::Deserialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract;
use tillkeep_http::nesting::{Mark, Nesting};
use tillkeep_model::wire::{MAX_ENVELOPES, MAX_PUSH_BYTES, PushRequest};
use tillkeep_model::{ByName, ErrorCode};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::io::StreamReader;
use uuid::Uuid;

use crate::live::queue::{BodyReservation, PushQueue};

/// The window of a zstd stream at the most, as a power of two: 8 MiB, what RFC 8878 asks every decoder for.
const WINDOW_LOG: u32 = 23;
/// Bytes that are unpacked and looked at before others get their turn on the thread.
const PIECE: usize = 256 << 10;

/// The text of a body, with the limits enforced while it is read. `large` hears when it takes much memory.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    queue: &PushQueue,
    reservation: &mut BodyReservation,
    large: &(dyn Fn() + Sync),
) -> Result<Vec<u8>> {
    let stream = body.into_data_stream().map_err(std::io::Error::other);
    let raw = StreamReader::new(stream);
    let encoding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("identity");
    match encoding {
        "identity" | "" => read_to_limit(raw, queue, reservation, large).await,
        "gzip" => read_to_limit(GzipDecoder::new(raw), queue, reservation, large).await,
        "zstd" => {
            let decoder = ZstdDecoder::with_params(raw, &[DParameter::window_log_max(WINDOW_LOG)]);
            read_to_limit(decoder, queue, reservation, large).await
        }
        other => {
            let text = format!("Content-Encoding {other} is not understood; send gzip, zstd or nothing");
            Err(Error::new(ErrorCode::UnsupportedMediaType, text))
        }
    }
}

async fn read_to_limit(
    reader: impl AsyncRead + Unpin,
    queue: &PushQueue,
    reservation: &mut BodyReservation,
    large: &(dyn Fn() + Sync),
) -> Result<Vec<u8>> {
    let (mut bytes, mut seen, mut counted) = (Vec::new(), Nesting::default(), Counted::default());
    let mut reader = std::pin::pin!(reader);
    loop {
        let before = bytes.len();
        if before == bytes.capacity() {
            bytes.reserve_exact(before.max(PIECE).min(MAX_PUSH_BYTES + 1 - before));
            queue.grow(reservation, bytes.capacity().min(MAX_PUSH_BYTES))?;
            if reservation.is_large() {
                large();
            }
        }
        // Never more than a piece at once: a small packet may unfold to very much.
        let mut piece = reader.as_mut().take(PIECE as u64);
        if piece.read_buf(&mut bytes).await.map_err(|error| extract::unread(&error))? == 0 {
            return Ok(bytes);
        }
        if bytes.len() > MAX_PUSH_BYTES {
            let text = format!("more than {} MiB; send fewer envelopes at a time", MAX_PUSH_BYTES >> 20);
            return Err(Error::new(ErrorCode::PayloadTooLarge, text));
        }
        let mut piece = bytes[before..].iter();
        while let Some(mark) = seen.next_mark(&mut piece) {
            if seen.is_too_deep() {
                return Err(Error::new(ErrorCode::UnreadableJson, "the JSON is nested too deep"));
            }
            counted.take(mark)?;
        }
        tokio::task::yield_now().await;
    }
}

/// Counts the elements of a list in the outermost object, which is that of the envelopes.
#[derive(Default)]
struct Counted {
    in_list: bool,
    commas: usize,
}

impl Counted {
    #[inline]
    fn take(&mut self, Mark { byte, before, behind }: Mark) -> Result<()> {
        if before == 1 && behind == 2 {
            (self.in_list, self.commas) = (byte == b'[', 0);
        } else if before == 2 && self.in_list && byte == b',' {
            self.commas += 1;
            if self.commas >= MAX_ENVELOPES {
                let text = format!("more than {MAX_ENVELOPES} envelopes; send at most {MAX_ENVELOPES} in one request");
                return Err(Error::new(ErrorCode::TooManyEnvelopes, text));
            }
        }
        Ok(())
    }
}

/// A request that was read.
pub(super) struct Parsed {
    pub text: String,
    /// Where in the text each envelope is.
    pub envelopes: Vec<Range<usize>>,
    pub instance: Option<Uuid>,
}

/// Reads the request beside the threads that answer.
pub(super) async fn parse(bytes: Vec<u8>) -> Result<Parsed> {
    tokio::task::spawn_blocking(move || {
        let text = String::from_utf8(bytes)
            .map_err(|error| Error::new(ErrorCode::UnreadableJson, format!("the body is not UTF-8: {error}")))?;
        let (envelopes, instance) = outline(&text)?;
        Ok(Parsed { text, envelopes, instance })
    })
    .await
    .map_err(|error| Error::internal(error))?
}

fn outline(text: &str) -> Result<(Vec<Range<usize>>, Option<Uuid>)> {
    let mut json = serde_json::Deserializer::from_str(text);
    let request = PushRequest::deserialize(ByName(&mut json)).and_then(|request| json.end().map(|()| request));
    let PushRequest { envelopes, instance } = request.map_err(|error| {
        Error::new(ErrorCode::UnreadableJson, format!("the body must be {{\"envelopes\": […]}}: {error}"))
    })?;
    let place = |envelope: &&serde_json::value::RawValue| {
        let start = envelope.get().as_ptr().addr() - text.as_ptr().addr();
        start..start + envelope.get().len()
    };
    Ok((envelopes.first.iter().map(place).collect(), instance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> Result<usize> {
        let (mut seen, mut counted) = (Nesting::default(), Counted::default());
        let mut rest = text.as_bytes().iter();
        while let Some(mark) = seen.next_mark(&mut rest) {
            counted.take(mark)?;
        }
        assert!(!seen.is_too_deep(), "not deep");
        Ok(counted.commas)
    }

    #[test]
    fn the_envelopes_of_a_request_are_counted_whatever_is_in_them() {
        let many = |element: &str, count: usize| format!(r#"{{"envelopes": [{}]}}"#, vec![element; count].join(","));
        for element in ["{}", "1", r#"{"a": [1, 2, {"b": ","}], "c": "],[\\\","}"#, r#""a, \", b""#] {
            assert_eq!(count(&many(element, 1000)).expect("a thousand"), 999, "{element}");
            assert!(count(&many(element, 1001)).is_err(), "{element}");
        }
    }

    #[test]
    fn each_envelope_is_found_where_it_is() {
        let text = r#"{"instance": null, "envelopes": [ {"a": "ü"}, 7 ,"x"]}"#;
        let (places, _) = outline(text).expect("a request");
        assert_eq!(places.into_iter().map(|place| &text[place]).collect::<Vec<_>>(), [r#"{"a": "ü"}"#, "7", r#""x""#]);
    }
}
