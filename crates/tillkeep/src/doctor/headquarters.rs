//! The line of a store: whether headquarters answers, as the server of the store would trust it.

use std::sync::Arc;

use super::certificate;
use super::finding::{Checked, Level, fault, ok, warning};
use super::installation::Installation;
use crate::reaching::{self, Told};

const TOLD: Told = Told { url: "HQ_URL", ca: "HQ_CA_FILE" };

pub async fn answers(at: Arc<Installation>) -> Checked {
    let url = &at.configuration.store.hq_url;
    let heard = match at.headquarters().await? {
        Ok(heard) => heard,
        Err(error) => return Ok(vec![fault(format!("{url} does not answer: {error}"), remedy(url, error))]),
    };
    if heard.version().is_none() {
        return Ok(vec![fault(
            format!("something else answers at {url}: GET /health says {}, and nothing of headquarters", heard.status),
            "sign in at the network if it asks for that, or set HQ_URL to the address of headquarters",
        )]);
    }
    let mut found = Vec::new();
    if let Some(der) = &heard.certificate {
        // The chain was verified: what ends soon is what is left to say.
        found = certificate::of_headquarters(der, at.clock.now());
        found.retain(|finding| finding.level > Level::Ok);
    }
    found.push(ok(format!("{url} answers")));
    if url.starts_with("http:") && at.configuration.store.allow_insecure {
        found.push(warning(
            "the token and the PIN key travel in plain HTTP (ALLOW_INSECURE_HQ)",
            "set HQ_URL to an https:// address, unless the network itself is encrypted",
        ));
    }
    Ok(found)
}

fn remedy(url: &str, error: &str) -> String {
    reaching::remedy(error, &TOLD).unwrap_or_else(|| {
        format!("`curl -v {url}/health` from here; see HQ_URL, the network and its names. The store sells on meanwhile")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_depends_on_whether_the_line_or_the_trust_fails() {
        assert!(remedy("https://hq", "invalid peer certificate: UnknownIssuer").contains("HQ_CA_FILE"));
        assert!(remedy("https://hq", "Connection refused (os error 111)").contains("curl -v https://hq/health"));
    }
}
