//! The address of a database on `PostgreSQL`: what cannot work in it, and what is meant when its server is not trusted.

use std::fs;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, Error as TlsError};
use sea_orm::{DbErr, RuntimeErr, sqlx};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// Parameters that the driver knows, and what begins that of one setting. It would leave others aside, and a misspelt
/// `sslmode` with them.
const PARAMETERS: &[&str] = &[
    "sslmode",
    "ssl-mode",
    ROOT,
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];
const ROOT: &str = "sslrootcert";
const ONE_SETTING: &str = "options[";

/// Says what is wrong with the address of a database and the files that it names, whoever answers there, and never the
/// password.
pub fn check(url: &str) -> Result<(), String> {
    let unreadable = || "the address of the database cannot be read; write postgres://user:password@host:5432/name";
    if url.starts_with("sqlite:") {
        return Ok(());
    }
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(unreadable().to_owned());
    }
    let query = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    let parameters: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    for (name, value) in &parameters {
        if !PARAMETERS.contains(&&**name) && !name.starts_with(ONE_SETTING) {
            return Err(format!("the address of the database has the parameter {name}, which means nothing"));
        }
        if name.ends_with("mode") && value.parse::<PgSslMode>().is_err() {
            return Err(format!(
                "{name} in the address of the database is {value}: it is disable, prefer, require, verify-ca or verify-full"
            ));
        }
    }
    let options: PgConnectOptions = url.parse().map_err(|_| unreadable().to_owned())?;
    let verifies = matches!(options.get_ssl_mode(), PgSslMode::VerifyCa | PgSslMode::VerifyFull);
    for (name, file) in parameters.iter().filter(|(name, _)| [ROOT, "ssl-root-cert", "ssl-ca"].contains(&&**name)) {
        if !verifies {
            return Err(format!("{name} is in the address of the database, but only sslmode=verify-full looks at it"));
        }
        check_authorities(file).map_err(|wrong| format!("{name} {file}: {wrong}"))?;
    }
    Ok(())
}

fn check_authorities(file: &str) -> Result<(), String> {
    let pem = fs::read(file).map_err(|error| error.to_string())?;
    let mut authorities = CertificateDer::pem_slice_iter(&pem).peekable();
    if authorities.peek().is_none() {
        return Err("it has no certificate in the form PEM".to_owned());
    }
    let mut roots = rustls::RootCertStore::empty();
    authorities
        .try_for_each(|read| roots.add(read.map_err(|error| error.to_string())?).map_err(|error| error.to_string()))
}

/// `error`, or what it means for the address when its server could not be trusted.
pub(crate) fn explained(error: DbErr) -> DbErr {
    let DbErr::Conn(RuntimeErr::SqlxError(cause)) = &error else { return error };
    let meaning = match &**cause {
        sqlx::Error::Tls(cause) if cause.to_string().contains("does not support TLS") => {
            "PostgreSQL does not speak TLS there, and sslmode in the address of the database asks for it".to_owned()
        }
        sqlx::Error::Tls(cause) => format!("sslmode in the address of the database: {cause}"),
        sqlx::Error::Io(cause) => match cause.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>()) {
            Some(cause) => of_certificate(cause),
            None => return error,
        },
        _ => return error,
    };
    DbErr::Custom(meaning)
}

fn of_certificate(cause: &TlsError) -> String {
    let remedy = match cause {
        TlsError::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "the host in the address of the database is none of its names",
        TlsError::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "name the certificate of its authority with sslrootcert in the address of the database"
        }
        TlsError::InvalidCertificate(_) => "sslmode in the address of the database asks for one that is good",
        _ => return format!("PostgreSQL and sslmode in the address of the database do not agree: {cause}"),
    };
    format!("the certificate of PostgreSQL is not trusted ({cause}): {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_would_leave_aside_or_not_look_at_is_refused_by_name() {
        let dir = tempfile::tempdir().expect("dir");
        let (nothing, text) = (dir.path().join("nothing.pem"), dir.path().join("text.pem"));
        fs::write(&text, "no certificate").expect("a file");
        let root = |file: &std::path::Path| format!("sslmode=verify-full&sslrootcert={}", file.display());
        for (query, told) in [
            ("sslmod=verify-full".to_owned(), "parameter sslmod,"),
            ("sslmode=verify_full".to_owned(), "sslmode in the address of the database is verify_full"),
            ("sslmode=require&sslrootcert=/ca.pem".to_owned(), "only sslmode=verify-full looks at it"),
            ("sslrootcert=/ca.pem".to_owned(), "only sslmode=verify-full looks at it"),
            (root(&nothing), "nothing.pem: No such file"),
            (root(&text), "text.pem: it has no certificate"),
            ("port=many".to_owned(), "cannot be read"),
        ] {
            let error = check(&format!("postgres://till:hunter2@db/chain?{query}")).expect_err("refused");
            assert!(error.contains(told) && !error.contains("hunter2"), "{error}");
        }
        for url in ["postgres://till:hunt/er2@db:x", "mysql://till:hunter2@db/chain", "hunter2"] {
            let error = check(url).expect_err("refused");
            assert!(error.contains("postgres://user:password@host") && !error.contains("hunter2"), "{error}");
        }
        for query in ["", "?sslmode=prefer", "?sslmode=verify-full", "?application_name=a&options[search_path]=b"] {
            assert_eq!(check(&format!("postgres://till:hunter2@db:5432/chain{query}")), Ok(()));
        }
    }
}
