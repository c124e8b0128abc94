//! The address of a database on `PostgreSQL`: what cannot work in it, and what is meant when its server is not trusted.

use std::borrow::Cow;
use std::fs;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, Error as TlsError};
use sea_orm::{DbErr, RuntimeErr, sqlx};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// Parameters that the driver knows, and what begins that of one setting; [`WANTED`] is read here. It would leave others aside, and
/// a misspelt `sslmode` with them.
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
    WANTED,
];
/// Which of several servers is meant.
const WANTED: &str = "target_session_attrs";
const ROOT: &str = "sslrootcert";
const ONE_SETTING: &str = "options[";

/// The servers of an address, and which of them is meant.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub hosts: Vec<PgConnectOptions>,
    pub wanted: Wanted,
}

/// Which of several servers is meant, in the words of `PostgreSQL`'s own clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
}

const WORDS: [(&str, Wanted); 5] = [
    ("any", Wanted::Any),
    ("read-write", Wanted::ReadWrite),
    ("read-only", Wanted::ReadOnly),
    ("primary", Wanted::Primary),
    ("standby", Wanted::Standby),
];

impl Wanted {
    pub(crate) fn word(self) -> &'static str {
        WORDS.iter().find(|(_, wanted)| *wanted == self).map_or("any", |(word, _)| word)
    }
}

/// Says what is wrong with the address of a database and the files that it names, whoever answers there, and never the
/// password.
pub fn check(url: &str) -> Result<(), String> {
    if url.starts_with("sqlite:") {
        return Ok(());
    }
    read(url).map(drop)
}

/// As [`check`], for the database that headquarters writes to.
pub fn check_writable(url: &str) -> Result<(), String> {
    if url.starts_with("sqlite:") {
        return Ok(());
    }
    match wanted_in(&parameters_of(url))? {
        None | Some(Wanted::ReadWrite | Wanted::Primary) => check(url),
        Some(other) => {
            let word = other.word();
            Err(format!("{WANTED} in the address of the database is {word}: headquarters writes to it, say read-write"))
        }
    }
}

fn unreadable() -> String {
    "the address of the database cannot be read; write postgres://user:password@host:5432/name".to_owned()
}

fn parameters_of(url: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let query = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    form_urlencoded::parse(query.as_bytes()).collect()
}

fn wanted_in(parameters: &[(Cow<'_, str>, Cow<'_, str>)]) -> Result<Option<Wanted>, String> {
    let Some((_, value)) = parameters.iter().find(|(name, _)| name == WANTED) else { return Ok(None) };
    let found = WORDS.iter().find(|(word, _)| word == value).map(|(_, wanted)| *wanted);
    found.map(Some).ok_or_else(|| {
        let words = WORDS.map(|(word, _)| word).join(", ");
        format!("{WANTED} in the address of the database is {value}: it is one of {words}")
    })
}

/// The address with each of its hosts alone.
fn each_host(url: &str) -> Result<Vec<String>, String> {
    let (scheme, rest) = url.split_once("://").ok_or_else(unreadable)?;
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (tail, query) = tail.split_once('?').unwrap_or((tail, ""));
    let of_driver: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with(WANTED)).collect();
    // A password may have an @ in it that is not encoded, and commas.
    let (who, hosts) = authority.rfind('@').map_or(("", authority), |at| authority.split_at(at + 1));
    let hosts: Vec<&str> = hosts.split(',').collect();
    if hosts.len() > 1 && hosts.iter().any(|host| host.split(':').next().is_none_or(str::is_empty)) {
        return Err("one of the hosts in the address of the database is missing; write postgres://user:password@one:5432,two:5432/name".to_owned());
    }
    let query = of_driver.join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    Ok(hosts.iter().map(|host| format!("{scheme}://{who}{host}{tail}{mark}{query}")).collect())
}

/// Reads an address of `PostgreSQL`, as [`check`] does. Of several servers the one is meant that can be written, unless it says
/// something else.
pub(crate) fn read(url: &str) -> Result<Address, String> {
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(unreadable());
    }
    let parameters = parameters_of(url);
    let wanted = wanted_in(&parameters)?;
    let urls = each_host(url)?;
    for (name, value) in &parameters {
        if ["host", "hostaddr", "port"].contains(&&**name) && (urls.len() > 1 || value.contains(',')) {
            return Err(format!(
                "{name} in the address of the database is for one server; write several between commas before the name of the \
                 database: postgres://user:password@one:5432,two:5432/name"
            ));
        }
        if !PARAMETERS.contains(&&**name) && !name.starts_with(ONE_SETTING) {
            return Err(format!("the address of the database has the parameter {name}, which means nothing"));
        }
        if name.ends_with("mode") && value.parse::<PgSslMode>().is_err() {
            return Err(format!(
                "{name} in the address of the database is {value}: it is disable, prefer, require, verify-ca or verify-full"
            ));
        }
    }
    let hosts: Vec<PgConnectOptions> =
        urls.iter().map(|url| url.parse().map_err(|_| unreadable())).collect::<Result<_, _>>()?;
    let verifies = hosts.iter().all(|host| matches!(host.get_ssl_mode(), PgSslMode::VerifyCa | PgSslMode::VerifyFull));
    for (name, file) in parameters.iter().filter(|(name, _)| [ROOT, "ssl-root-cert", "ssl-ca"].contains(&&**name)) {
        if !verifies {
            return Err(format!("{name} is in the address of the database, but only sslmode=verify-full looks at it"));
        }
        check_authorities(file).map_err(|wrong| format!("{name} {file}: {wrong}"))?;
    }
    let wanted = wanted.unwrap_or(if hosts.len() > 1 { Wanted::ReadWrite } else { Wanted::Any });
    Ok(Address { hosts, wanted })
}

/// The address as the programs of `PostgreSQL` take it, and the password apart from it: what stands in a command is shown to
/// everybody on the machine.
pub fn for_programs(url: &str) -> Result<(String, Option<String>), String> {
    let address = read(url)?;
    let (scheme, rest) = url.split_once("://").ok_or_else(unreadable)?;
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (who, hosts) = authority.rsplit_once('@').map_or((None, authority), |(who, hosts)| (Some(who), hosts));
    let (user, mut password) = match who.map(|who| who.split_once(':').ok_or(who)) {
        Some(Ok((user, password))) => (user, Some(percent_decode_str(password).decode_utf8_lossy().into_owned())),
        Some(Err(user)) => (user, None),
        None => ("", None),
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters_of(url) {
        let name = match &*name {
            "password" => {
                password = Some(value.into_owned());
                continue;
            }
            "ssl-mode" => "sslmode",
            "ssl-root-cert" | "ssl-ca" => ROOT,
            "ssl-cert" => "sslcert",
            "ssl-key" => "sslkey",
            // These are the driver's own, or set below.
            "statement-cache-capacity" | "application_name" | WANTED => continue,
            name if name.starts_with(ONE_SETTING) => continue,
            name => name,
        };
        query.append_pair(name, &value);
    }
    query.append_pair(WANTED, address.wanted.word()).append_pair("application_name", "tillkeep backup");
    // They know a space by its number alone.
    let query = query.finish().replace('+', "%20");
    let path = tail.split(['?', '#']).next().unwrap_or_default();
    let at = if user.is_empty() { "" } else { "@" };
    Ok((format!("{scheme}://{user}{at}{hosts}{path}?{query}"), password))
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
        for (query, reason) in [
            ("sslmod=verify-full".to_owned(), "parameter sslmod,"),
            ("sslmode=verify_full".to_owned(), "sslmode in the address of the database is verify_full"),
            ("sslmode=require&sslrootcert=/ca.pem".to_owned(), "only sslmode=verify-full looks at it"),
            ("sslrootcert=/ca.pem".to_owned(), "only sslmode=verify-full looks at it"),
            (root(&nothing), "nothing.pem: No such file"),
            (root(&text), "text.pem: it has no certificate"),
            ("port=many".to_owned(), "cannot be read"),
            ("target_session_attrs=writable".to_owned(), "is writable: it is one of any, read-write"),
            ("host=a,b".to_owned(), "host in the address of the database is for one server"),
            ("port=5432,5433".to_owned(), "port in the address of the database is for one server"),
        ] {
            let error = check(&format!("postgres://till:hunter2@db/chain?{query}")).expect_err("refused");
            assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
        }
        for url in ["postgres://till:hunt/er2@db:x", "mysql://till:hunter2@db/chain", "hunter2"] {
            let error = check(url).expect_err("refused");
            assert!(error.contains("postgres://user:password@host") && !error.contains("hunter2"), "{error}");
        }
        for query in ["", "?sslmode=prefer", "?sslmode=verify-full", "?application_name=a&options[search_path]=b"] {
            assert_eq!(check(&format!("postgres://till:hunter2@db:5432/chain{query}")), Ok(()));
        }
    }

    #[test]
    fn the_programs_of_postgresql_are_given_the_same_servers_and_the_password_apart() {
        let own = "target_session_attrs=any&application_name=tillkeep%20backup";
        for (url, address, password) in [
            ("postgres://till:hunt%40er2@db:5433/chain", "postgres://till@db:5433/chain?OWN", Some("hunt@er2")),
            ("postgres://till:hun,t@er2@db/chain", "postgres://till@db/chain?OWN", Some("hun,t@er2")),
            ("postgres://till@db/chain?password=hunter2", "postgres://till@db/chain?OWN", Some("hunter2")),
            ("postgres://db/chain", "postgres://db/chain?OWN", None),
            (
                "postgresql://till@db?ssl-mode=require&statement-cache-capacity=5&options[a]=b&application_name=a&options=-c x=y",
                "postgresql://till@db?sslmode=require&options=-c%20x%3Dy&OWN",
                None,
            ),
        ] {
            let expected = (address.replace("OWN", own), password.map(str::to_owned));
            assert_eq!(for_programs(url), Ok(expected), "{url}");
        }
        let (address, password) = for_programs("postgres://till:hunter2@one:5433,two/chain").expect("an address");
        assert!(
            address.starts_with("postgres://till@one:5433,two/chain?target_session_attrs=read-write&"),
            "{address}"
        );
        assert_eq!(password.as_deref(), Some("hunter2"));
    }

    #[test]
    fn an_address_may_name_several_servers_of_which_the_one_is_meant_that_can_be_written() {
        let places = |url: &str| {
            let address = read(url).expect(url);
            let of = |host: &PgConnectOptions| {
                assert_eq!((host.get_username(), host.get_database()), ("till", Some("chain")), "{url}");
                format!("{}:{}", host.get_host(), host.get_port())
            };
            (address.hosts.iter().map(of).collect::<Vec<_>>(), address.wanted)
        };
        let both = |wanted| (vec!["one:5433".to_owned(), "two:5432".to_owned()], wanted);
        assert_eq!(places("postgres://till:hunter2@one:5433,two/chain"), both(Wanted::ReadWrite));
        let url = "postgres://till:hun,t@er2@one:5433,two:5432/chain?sslmode=require&target_session_attrs=any";
        assert_eq!(places(url), both(Wanted::Any));
        let url = "postgres://till@one:5433,two/chain?target_session_attrs=standby&application_name=a";
        assert_eq!(places(url), both(Wanted::Standby));
        assert_eq!(places("postgres://till@db/chain"), (vec!["db:5432".to_owned()], Wanted::Any));
        for (url, reason) in [
            ("postgres://till:hunter2@one:5433,/chain", "one of the hosts"),
            ("postgres://till:hunter2@:5432,two/chain", "one of the hosts"),
            ("postgres://till:hunter2@one,two:x/chain", "cannot be read"),
            (
                "postgres://till:hunter2@one,two/chain?port=5432",
                "port in the address of the database is for one server",
            ),
            ("postgres://till:hunter2@one,two/chain?sslrootcert=/ca.pem", "only sslmode=verify-full looks at it"),
        ] {
            let error = check(url).expect_err("refused");
            assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
        }
        let url = |word: &str| format!("postgres://till:hunter2@one,two/chain?target_session_attrs={word}");
        for (word, is_right) in [("read-write", true), ("primary", true), ("any", false), ("standby", false)] {
            assert_eq!(check_writable(&url(word)).is_ok(), is_right, "{word}");
        }
    }
}
