//! What a server measures of the machine that it stands on, for `GET /metrics`: room on the disk of its data directory, and how long
//! its own certificate is good. By itself every few seconds, as a disk may take its time: whoever asks for the figures waits for none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use metrics::gauge;
use tillkeep_http::Clock;
use tillkeep_http::server::Tls;
use tillkeep_model::Instant;
use tillkeep_storage::disk::{self, Room};
use tokio_util::sync::CancellationToken;
use x509_parser::prelude::{FromDer, X509Certificate};

const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What is measured, and by which clock.
pub struct Machine {
    data_dir: PathBuf,
    tls: Option<Tls>,
    clock: Clock,
}

impl Machine {
    pub fn new(data_dir: &Path, tls: Option<Tls>, clock: Clock) -> Self {
        Self { data_dir: data_dir.to_owned(), tls, clock }
    }

    /// Measures until the server stops.
    pub fn measure_until(self, stop: CancellationToken) {
        tokio::spawn(async move {
            loop {
                self.measure().await;
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    async fn measure(&self) {
        let data_dir = self.data_dir.clone();
        // Off the threads of requests.
        let room = tokio::task::spawn_blocking(move || disk::room(&data_dir)).await.ok().and_then(Result::ok);
        let of = |bytes: fn(Room) -> u64| room.map_or(f64::NAN, |room| figure(bytes(room)));
        gauge!("tillkeep_disk_free_bytes").set(of(|disk| disk.free));
        gauge!("tillkeep_disk_size_bytes").set(of(|disk| disk.size));
        if let Some(ends) = self.tls.as_ref().and_then(Tls::certificate).and_then(|shown| ends(&shown)) {
            gauge!("tillkeep_certificate_ends_in_seconds").set(seconds(ends, self.clock.now()));
        }
    }
}

/// Bytes as a gauge has them: the nearest float.
fn figure(bytes: u64) -> f64 {
    bytes.to_string().parse().unwrap_or(f64::NAN)
}

/// When a certificate ends.
fn ends(der: &[u8]) -> Option<Instant> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    Some(Instant::from_millis(certificate.validity().not_after.timestamp().saturating_mul(1000)))
}

/// Seconds from `now` on; below zero once it has ended.
fn seconds(ends: Instant, now: Instant) -> i32 {
    let seconds = ends.millis_since(now) / 1000;
    i32::try_from(seconds).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_to_the_last_one() {
        for bytes in [0, 1, (1 << 40) + 5] {
            assert_eq!(figure(bytes).to_string(), bytes.to_string());
        }
    }

    #[test]
    fn a_certificate_is_good_for_the_seconds_that_are_left_and_then_for_less_than_none() {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
        params.not_after = rcgen::date_time_ymd(2027, 1, 2);
        let made = params.self_signed(&key).expect("a certificate");
        let end = ends(made.der()).expect("read");
        assert_eq!(Some(end), Instant::parse("2027-01-02T00:00:00.000Z"));
        assert_eq!((seconds(end, end.plus_millis(-90_500)), seconds(end, end.plus_millis(2_000))), (90, -2));
        assert_eq!(seconds(Instant::parse("9999-12-31T23:59:59.000Z").expect("an instant"), end), i32::MAX);
        assert!(ends(b"no certificate").is_none());
    }
}
