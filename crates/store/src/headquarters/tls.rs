//! Whom a store takes for its headquarters: one set of roots for requests and for the socket.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls_platform_verifier::Verifier;
use tillkeep_http::server::tls::certificates;

/// Trusts what the operating system trusts, and the certificates in `ca_file`.
pub fn trusting(ca_file: Option<&Path>) -> io::Result<Arc<ClientConfig>> {
    let extra = match ca_file {
        Some(path) => certificates(path)
            .map_err(|error| io::Error::other(format!("hq_ca_file (HQ_CA_FILE) {}: {error}", path.display())))?,
        None => Vec::new(),
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, provider.clone())
        .map_err(|error| io::Error::other(format!("the certificates to trust cannot be read: {error}")))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
