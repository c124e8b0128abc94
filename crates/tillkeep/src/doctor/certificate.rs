//! Certificates: the server's own files, and what headquarters shows.

use tillkeep_http::server::tls::certificates;
use tillkeep_model::Instant;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::ages::{DAY, length};
use super::finding::{Checked, Finding, fault, note, ok, warning};
use super::installation::Installation;
use crate::configuration;

/// A certificate that is good for less is to be renewed.
const SOON: i64 = 14 * DAY;

/// What is judged of a certificate.
#[derive(Clone, Debug, Default)]
struct Shown {
    begins: Instant,
    ends: Instant,
    /// Whose it is, and who says so, as they are written.
    subject: Vec<u8>,
    issuer: Vec<u8>,
}

pub fn own(at: &Installation) -> Checked {
    let (cert, key) = at.tls();
    match configuration::tls(cert, key) {
        Err(error) => Ok(vec![fault(
            format!("the server does not start with it: {error:#}"),
            "set TLS_CERT and TLS_KEY to a certificate with its chain and its key, both PEM",
        )]),
        Ok(None) => {
            let text = format!("none: plain HTTP on {}", at.listen);
            let host = at.listen.rsplit_once(':').map_or("", |(host, _)| host);
            Ok(vec![if ["127.0.0.1", "localhost", "[::1]"].contains(&host) {
                ok(text)
            } else {
                note(format!("{text}, which is not for this machine alone; TLS has to end in front of it"))
            }])
        }
        Ok(Some(_)) => {
            let chain = certificates(cert)?;
            let shown: Vec<Option<Shown>> = chain.iter().map(|der| read(der)).collect();
            let remedy = format!("renew {}; a running server takes the new one over by itself", cert.display());
            Ok(judged("the certificate", &shown, at.clock.now(), &remedy))
        }
    }
}

/// What headquarters shows, when it shows something.
pub fn of_headquarters(der: &[u8], now: Instant) -> Vec<Finding> {
    judged("its certificate", &[read(der)], now, "renew it at headquarters")
}

fn read(der: &[u8]) -> Option<Shown> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let at = |seconds: i64| Instant::from_millis(seconds.saturating_mul(1000));
    Some(Shown {
        begins: at(certificate.validity().not_before.timestamp()),
        ends: at(certificate.validity().not_after.timestamp()),
        subject: certificate.subject().as_raw().to_vec(),
        issuer: certificate.issuer().as_raw().to_vec(),
    })
}

/// A chain from the server's own certificate on.
fn judged(what: &str, chain: &[Option<Shown>], now: Instant, remedy: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut first = None;
    for (place, shown) in chain.iter().enumerate() {
        let what = if place == 0 { what.to_owned() } else { format!("certificate {} of the chain", place + 1) };
        let Some(shown) = shown else {
            found.push(warning(format!("{what} cannot be read to its end"), remedy));
            continue;
        };
        let left = shown.ends.millis_since(now);
        first = first.or(Some(left));
        if left <= 0 {
            found.push(fault(format!("{what} ended {} ago, on {}", length(left), shown.ends), remedy));
        } else if shown.begins > now {
            found
                .push(fault(format!("{what} is good from {} on", shown.begins), "set the clock of this machine right"));
        } else if left < SOON {
            found.push(warning(format!("{what} ends in {}, on {}", length(left), shown.ends), remedy));
        }
    }
    for pair in chain.windows(2) {
        if let [Some(below), Some(above)] = pair
            && below.issuer != above.subject
        {
            found.push(warning(
                "the chain is broken: one of its certificates is not signed by the next one",
                "put the server's own certificate first in the file, and behind each the one that signed it",
            ));
            break;
        }
    }
    if found.is_empty() {
        let left = first.map(|left| format!(" for {}", length(left))).unwrap_or_default();
        found.push(ok(format!("{what} is good{left}, and fits its key")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    fn good(days: i64) -> Shown {
        let at = |days: i64| Instant::from_millis(days * DAY);
        Shown { begins: at(-1), ends: at(days), subject: b"a".to_vec(), issuer: b"b".to_vec() }
    }

    fn worst(chain: &[Option<Shown>]) -> Level {
        let found = judged("the certificate", chain, Instant::default(), "renew it");
        found.iter().map(|finding| finding.level).max().expect("a finding")
    }

    #[test]
    fn a_certificate_is_to_be_renewed_two_weeks_before_it_ends() {
        assert_eq!(worst(&[Some(good(15))]), Level::Ok);
        assert_eq!(worst(&[Some(good(13))]), Level::Warning);
        assert_eq!(worst(&[Some(good(0))]), Level::Fault);
        let later = Shown { begins: Instant::from_millis(DAY), ..good(30) };
        assert_eq!(worst(&[Some(later)]), Level::Fault);
        assert_eq!(worst(&[None]), Level::Warning);
    }

    #[test]
    fn a_chain_is_as_good_as_each_of_its_certificates_in_their_order() {
        let above = |subject: &[u8], days| Some(Shown { subject: subject.to_vec(), ..good(days) });
        assert_eq!(worst(&[Some(good(30)), above(b"b", 90)]), Level::Ok);
        assert_eq!(worst(&[Some(good(30)), above(b"c", 90)]), Level::Warning);
        assert_eq!(worst(&[Some(good(30)), above(b"b", 0)]), Level::Fault);
    }

    #[test]
    fn what_a_library_makes_is_read() {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
        params.not_after = rcgen::date_time_ymd(2020, 1, 2);
        let made = params.self_signed(&key).expect("a certificate");
        let shown = read(made.der()).expect("read");
        assert_eq!(Some(shown.ends), Instant::parse("2020-01-02T00:00:00.000Z"));
        assert_eq!(shown.subject, shown.issuer);
        assert!(read(b"no certificate").is_none());
    }
}
