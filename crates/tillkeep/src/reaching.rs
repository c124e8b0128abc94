//! How a command reaches a server: whom it goes to and trusts, and what helps where that fails.

use std::io;
use std::path::Path;

use reqwest::{Client, ClientBuilder, redirect};
use rustls::ClientConfig;
use tillkeep_store::headquarters::trusting;

/// What rustls says of a certificate that it does not take.
pub const DISTRUST: &str = "invalid peer certificate";

/// By what somebody tells a command where headquarters is, and whom to trust there.
pub struct Told {
    pub url: &'static str,
    pub ca: &'static str,
}

/// Who goes where it is sent: through no proxy of the environment, and to nobody whom an answer names.
pub fn client() -> ClientBuilder {
    Client::builder().redirect(redirect::Policy::none()).no_proxy()
}

/// The same, with the trust that the server of a store has.
pub fn client_of_store(ca_file: Option<&Path>) -> io::Result<ClientBuilder> {
    let tls = trusting(ca_file)?;
    Ok(client().tls_backend_preconfigured(ClientConfig::clone(&tls)))
}

/// What helps where TLS fails, by the words of the library; `None` where something else does.
pub fn remedy(words: &str, Told { url, ca }: &Told) -> Option<String> {
    let remedy = if words.contains("UnknownIssuer") {
        format!(
            "its certificate is by an authority that this machine does not know: name that authority's file with {ca}"
        )
    } else if words.contains("not valid for name") {
        format!("its certificate has another name: use that name in {url}, or give headquarters one for this name")
    } else if words.contains("certificate expired") {
        "its certificate has ended, or the clock of this machine is wrong: renew the one, set the other".to_owned()
    } else if words.contains("not valid yet") {
        "its certificate begins later: the clock of this machine is behind; set it (timedatectl set-ntp true)"
            .to_owned()
    } else if words.contains("certificate") {
        format!("look at the certificate of headquarters; with an authority of its own name that one's file with {ca}")
    } else if words.contains("InvalidContentType") || words.contains("corrupt message") {
        format!("it speaks no TLS there: look at the port, and at http or https in {url}")
    } else {
        return None;
    };
    Some(remedy)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::CertificateError;
    use rustls::pki_types::{ServerName, UnixTime};

    use super::*;

    #[test]
    fn what_helps_with_a_certificate_follows_from_the_words_of_the_library() {
        const TOLD: Told = Told { url: "--there", ca: "--authority" };
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let expected = ServerName::try_from("hq.example.com").expect("a name");
        let of_name = CertificateError::NotValidForNameContext { expected, presented: vec!["other".to_owned()] };
        for (error, word, names_authority) in [
            (CertificateError::UnknownIssuer, "does not know", true),
            (of_name, "in --there", false),
            (CertificateError::ExpiredContext { time: at(9), not_after: at(1) }, "has ended", false),
            (CertificateError::NotValidYetContext { time: at(1), not_before: at(9) }, "begins later", false),
            (CertificateError::BadSignature, "look at the certificate", true),
        ] {
            let words = rustls::Error::InvalidCertificate(error).to_string();
            let said = remedy(&words, &TOLD).unwrap_or_else(|| panic!("nothing helps with {words}"));
            assert!(words.contains(DISTRUST) && said.contains(word), "{words}: {said}");
            assert_eq!(said.contains("--authority"), names_authority, "{words}: {said}");
        }
        assert!(
            remedy("received corrupt message of type InvalidContentType", &TOLD)
                .is_some_and(|said| said.contains("no TLS"))
        );
        assert_eq!(remedy("Connection refused (os error 111)", &TOLD), None);
    }
}
