//! TLS with rustls: certificate and key from PEM files, taken over again when the files change.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What a server needs to speak TLS.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    files: Arc<Files>,
}

/// The certificate that is shown, and where it comes from.
struct Files {
    cert: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    shown: RwLock<Arc<CertifiedKey>>,
    /// What the files were when they were read first.
    opened: Stamp,
}

/// Tells whether a file was replaced.
type Stamp = [(Option<SystemTime>, u64); 2];

impl Tls {
    /// Reads both files; an error names the one that is wrong.
    pub fn open(cert: &Path, key: &Path) -> io::Result<Self> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        // Before they are read: what is replaced from now on is seen as new.
        let opened = stamp([cert, key]);
        let shown = RwLock::new(Arc::new(load(cert, key, &provider)?));
        let (cert, key) = (cert.to_owned(), key.to_owned());
        let files = Arc::new(Files { cert, key, provider: provider.clone(), shown, opened });
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(files.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), files })
    }

    /// The certificate that is shown now, without its chain.
    pub fn certificate(&self) -> Option<CertificateDer<'static>> {
        self.files.shown.read().unwrap_or_else(PoisonError::into_inner).cert.first().cloned()
    }

    /// What makes a TLS stream of a connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }

    /// Takes over renewed files until `stop`. A pair that does not work changes nothing, and is tried again: the two
    /// files are rarely replaced in one moment.
    pub(super) async fn renew(self, stop: CancellationToken) {
        let mut known = self.files.opened;
        let mut complained = known;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.cancelled() => return,
            }
            let files = self.files.clone();
            let looked = tokio::task::spawn_blocking(move || {
                let stamp = stamp([&files.cert, &files.key]);
                (stamp != known).then(|| (stamp, load(&files.cert, &files.key, &files.provider)))
            });
            match looked.await {
                Ok(Some((stamp, Ok(renewed)))) => {
                    *self.files.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(renewed);
                    known = stamp;
                    tracing::info!(file = %self.files.cert.display(), "a renewed certificate is in use");
                }
                Ok(Some((stamp, Err(error)))) if stamp != complained => {
                    complained = stamp;
                    tracing::warn!(%error, "the new certificate cannot be used; the one before stays");
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "the certificate could not be looked at"),
            }
        }
    }
}

fn stamp(files: [&Path; 2]) -> Stamp {
    files.map(|path| {
        let found = std::fs::metadata(path).ok();
        (found.as_ref().and_then(|found| found.modified().ok()), found.map_or(0, |found| found.len()))
    })
}

impl ResolvesServerCert for Files {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.shown.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("cert", &self.cert).field("key", &self.key).finish_non_exhaustive()
    }
}

fn load(cert: &Path, key: &Path, provider: &CryptoProvider) -> io::Result<CertifiedKey> {
    let named = |what: &str, path: &Path, error: &dyn fmt::Display| {
        io::Error::other(format!("{what} {}: {error}", path.display()))
    };
    let chain = certificates(cert).map_err(|error| named("tls_cert", cert, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| named("tls_key", key, &plain(error)))?;
    CertifiedKey::from_der(chain, secret, provider).map_err(|error| {
        let text = format!("it does not fit the certificate in {}: {error}", cert.display());
        named("tls_key", key, &text)
    })
}

/// The certificates of a PEM file, at least one.
pub fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.map_err(|error| io::Error::other(plain(error)))?;
    if found.is_empty() {
        return Err(io::Error::other("there is no certificate in this file; it must be PEM"));
    }
    Ok(found)
}

fn plain(error: rustls::pki_types::pem::Error) -> String {
    match error {
        rustls::pki_types::pem::Error::Io(error) => error.to_string(),
        rustls::pki_types::pem::Error::NoItemsFound => "there is nothing of this kind in it; it must be PEM".to_owned(),
        other => other.to_string(),
    }
}
