//! `tillkeep store certificate`: a certificate that the tills of a shop can be told to trust, by an authority of this store alone.
//!
//! Browsers give a page over plain HTTP neither camera nor service worker, and no public authority makes certificates for a
//! machine of a shop's own network. So the store gets an authority of its own, which each till trusts once; certificates under
//! it are renewed without touching the tills again.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use chrono::{Datelike, Days, NaiveDate};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tillkeep_http::{Clock, files};

use crate::output::say;

/// Days for which a certificate of a server is good: browsers of tablets take none that is good for longer than 398.
const DAYS: u64 = 396;
/// Days for which an authority is good. Each till has to be told of the next one.
const DAYS_OF_AUTHORITY: u64 = 3650;
/// A till whose clock is behind is no stranger.
const DAYS_BEFORE: u64 = 1;
/// By what a store is reached on its own machine, whatever it is called.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The files, all of them in a folder of their own.
struct Place {
    secret: PathBuf,
    trusted: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Place {
    fn within(data_dir: &Path) -> Result<Self> {
        let folder = std::path::absolute(data_dir).context("the data directory")?.join("tls");
        Ok(Self {
            secret: folder.join("authority.json"),
            trusted: folder.join("authority.crt"),
            certificate: folder.join("store.pem"),
            key: folder.join("store.key"),
        })
    }

    fn folder(&self) -> Result<&Path> {
        self.secret.parent().context("a folder")
    }

    /// Makes the folder; who may not read the data directory may not read this one.
    fn make(&self) -> Result<()> {
        let folder = self.folder()?;
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())
    }
}

/// The authority of this store, as it is kept. Who has it can pass for any server to who trusts it.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Authority {
    name: String,
    valid_until: NaiveDate,
    certificate: String,
    key: String,
    /// The names that were asked for, for when it is renewed.
    names: Vec<String>,
    /// SHA-256 of the files that were written, to know them again.
    written: BTreeSet<String>,
}

impl Authority {
    /// What is kept; `None` before the first time.
    fn read(path: &Path) -> Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| path.display().to_string())?,
        };
        let kept = serde_json::from_str(&text).with_context(|| {
            format!("{} is no authority that this command wrote; move it to another place", path.display())
        })?;
        Ok(Some(kept))
    }

    fn new(today: NaiveDate) -> Result<Self> {
        let key = KeyPair::generate().context("a key")?;
        let mark = hex::encode(&Sha256::digest(key.public_key_raw())[..4]);
        let name = format!("Tillkeep store authority {mark}");
        let valid_until = after(today, DAYS_OF_AUTHORITY)?;
        let mut params = params_of(&name)?;
        period(&mut params, today, valid_until)?;
        let certificate = params.self_signed(&key).context("the authority")?.pem();
        let (names, written) = (Vec::new(), BTreeSet::new());
        Ok(Self { name, valid_until, certificate, key: key.serialize_pem(), names, written })
    }

    /// A certificate for `hosts` and its key, both as PEM.
    fn issue(&self, hosts: &[String], today: NaiveDate, until: NaiveDate) -> Result<(String, String)> {
        let own = KeyPair::from_pem(&self.key).context("the key of the authority cannot be read")?;
        let issuer = Issuer::new(params_of(&self.name)?, own);
        let mut params = CertificateParams::new(hosts).context("the names")?;
        params.distinguished_name.push(DnType::CommonName, "Tillkeep store");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        period(&mut params, today, until)?;
        let key = KeyPair::generate().context("a key")?;
        let certificate = params.signed_by(&key, &issuer).context("the certificate")?;
        Ok((certificate.pem(), key.serialize_pem()))
    }

    /// Refuses a file that is there and was not written here.
    fn refuse_foreign(&self, path: &Path) -> Result<()> {
        match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Ok(content) if self.written.contains(&mark(&content)) => Ok(()),
            Ok(_) => bail!("{} is not what this command wrote; move it to another place first", path.display()),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// By what a person at a till compares it with what they see there.
    fn fingerprint(&self) -> Result<String> {
        let der = CertificateDer::from_pem_slice(self.certificate.as_bytes());
        let der = der.ok().context("the certificate of the authority cannot be read")?;
        let bytes: Vec<String> = Sha256::digest(&der)[..].iter().map(|byte| format!("{byte:02X}")).collect();
        Ok(bytes.join(":"))
    }
}

/// What makes an authority one that signs certificates of servers, and no other authority.
fn params_of(name: &str) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).context("the authority")?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn period(params: &mut CertificateParams, today: NaiveDate, until: NaiveDate) -> Result<()> {
    let day = |date: NaiveDate| -> Result<_> {
        Ok(date_time_ymd(date.year(), u8::try_from(date.month())?, u8::try_from(date.day())?))
    };
    let begins = today.checked_sub_days(Days::new(DAYS_BEFORE)).context("the clock of this machine is off")?;
    params.not_before = day(begins)?;
    params.not_after = day(until)?;
    Ok(())
}

fn after(today: NaiveDate, days: u64) -> Result<NaiveDate> {
    today.checked_add_days(Days::new(days - DAYS_BEFORE)).context("the clock of this machine is off")
}

fn mark(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// Makes the authority where there is none, and a certificate under it.
pub fn make(data_dir: &Path, names: Vec<String>) -> Result<()> {
    if !data_dir.is_dir() {
        bail!("{} is not there; name the data directory of the store", data_dir.display());
    }
    for name in &names {
        check(name)?;
    }
    let today = Clock::default().now().utc().date_naive();
    let place = Place::within(data_dir)?;
    let mut authority = Authority::read(&place.secret)?.map_or_else(|| Authority::new(today), Ok)?;
    if authority.valid_until <= today {
        bail!(
            "the authority of this store ended on {}. Move the folder {} to another place: the next one is made then, which \
             each till has to be told of",
            authority.valid_until,
            place.folder()?.display()
        );
    }
    if !names.is_empty() {
        authority.names = names;
    } else if authority.names.is_empty() {
        // Kept from now on: at a renewal the network may be away, or the address another one.
        authority.names = found();
    }
    let hosts = hosts(&authority.names);
    let until = after(today, DAYS)?.min(authority.valid_until);
    let (certificate, key) = authority.issue(&hosts, today, until)?;
    let trusted = authority.certificate.clone();
    let contents = [(&place.trusted, trusted), (&place.certificate, certificate), (&place.key, key)];
    for (path, _) in &contents {
        authority.refuse_foreign(path)?;
    }
    // Before the files: whatever ends this in between, the next run knows them as its own.
    authority.written.extend(contents.iter().map(|(_, content)| mark(content.as_bytes())));
    place.make()?;
    write(&place.secret, serde_json::to_string_pretty(&authority)?.as_bytes())?;
    for (path, content) in &contents {
        write(path, content.as_bytes())?;
    }
    tell(&place, &authority, &hosts, until)
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    files::write_secret(path, content).with_context(|| path.display().to_string())
}

fn tell(place: &Place, authority: &Authority, hosts: &[String], until: NaiveDate) -> Result<()> {
    say!("A certificate for {}, good until {until}. Run this again before: tills notice nothing.", hosts.join(", "));
    say!("");
    say!("For the store, in its environment. A running one that has it already takes the new one over by itself.");
    say!("  TLS_CERT={}", place.certificate.display());
    say!("  TLS_KEY={}", place.key.display());
    say!("");
    say!(
        "For each till, to be trusted once; docs/operations.md says where Android, iPad, Windows and Chrome OS ask for it."
    );
    say!("  {}", place.trusted.display());
    say!("  {}, good until {}", authority.name, authority.valid_until);
    say!("  SHA-256 {}", authority.fingerprint()?);
    say!("");
    say!("Keep {} to this machine: who has it can pass for any site to these tills.", place.secret.display());
    let host = hosts.first().map_or("localhost", String::as_str);
    let host = if host.parse::<Ipv6Addr>().is_ok() { format!("[{host}]") } else { host.to_owned() };
    say!("Then open https://{host}:8081/till there, with the port of the store.");
    Ok(())
}

/// Refuses what is neither a name nor an address.
fn check(name: &str) -> Result<()> {
    if name.parse::<IpAddr>().is_ok() || is_name(name) {
        return Ok(());
    }
    bail!(
        "--name {name:?} is neither a name nor an address; write till.shop.example or 192.168.1.20, without https:// and \
         without a port"
    )
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (1..=63).contains(&part.len()) && is_plain && !part.starts_with('-') && !part.ends_with('-')
    };
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= 253 && name.split('.').all(is_part) && !name.rsplit('.').next().is_some_and(is_number)
}

/// By what tills may reach the store: what was asked for or found, and the machine itself.
fn hosts(names: &[String]) -> Vec<String> {
    let mut hosts = names.to_vec();
    for own in OWN {
        if !hosts.iter().any(|host| host == own) {
            hosts.push(own.to_owned());
        }
    }
    hosts
}

/// The name of this machine, what it is called where no server gives names, and its addresses.
fn found() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = Some(text.trim()).filter(|name| is_name(name) && !OWN.contains(name));
    let local = name.filter(|name| !name.contains('.')).map(|name| format!("{name}.local"));
    let names = name.map(str::to_owned).into_iter().chain(local);
    names.chain(addresses().iter().map(ToString::to_string)).collect()
}

/// From where this machine would send to the world and to the networks that shops have. Nothing is sent. Addresses of IPv6 are
/// left out: machines change them by themselves.
pub fn addresses() -> BTreeSet<IpAddr> {
    const TO: [Ipv4Addr; 4] = [
        Ipv4Addr::new(192, 0, 2, 1),
        Ipv4Addr::new(10, 0, 0, 1),
        Ipv4Addr::new(172, 16, 0, 1),
        Ipv4Addr::new(192, 168, 0, 1),
    ];
    let from = |to: &Ipv4Addr| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect((*to, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    TO.iter().filter_map(from).filter(|address| !address.is_loopback() && !address.is_unspecified()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_name_or_an_address_and_no_link() {
        for name in ["till", "till.shop.example", "a-1.local", "192.168.1.20", "::1", "fd00::7"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", ".", "till..shop", "-till", "till-", "https://till", "till:8081", "1.2.3.999", "tíll", "a b"]
        {
            let said = check(name).expect_err(name).to_string();
            assert!(said.contains("--name") && said.contains("till.shop.example"), "{said}");
        }
    }

    #[test]
    fn a_certificate_of_a_server_is_good_for_less_than_tablets_refuse() {
        let today = NaiveDate::from_ymd_opt(2028, 2, 29).expect("a day");
        let (begins, ends) = (today - Days::new(DAYS_BEFORE), after(today, DAYS).expect("a day"));
        assert_eq!((ends - begins).num_days(), 396);
        let end = after(today, DAYS_OF_AUTHORITY).expect("a day");
        assert_eq!((end - begins).num_days(), 3650);
    }

    #[test]
    fn what_a_machine_is_called_comes_first_and_itself_last() {
        let asked = ["till.shop.example".to_owned(), "127.0.0.1".to_owned()];
        assert_eq!(hosts(&asked), ["till.shop.example", "127.0.0.1", "localhost", "::1"]);
        let found = hosts(&found());
        assert!(OWN.iter().all(|own| found.iter().filter(|host| host == own).count() == 1), "{found:?}");
    }

    #[test]
    fn an_authority_that_is_read_again_issues_under_its_own_name() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 20).expect("a day");
        let made = Authority::new(today).expect("an authority");
        let kept: Authority = serde_json::from_str(&serde_json::to_string(&made).expect("JSON")).expect("as kept");
        assert_eq!((&kept.name, &kept.key), (&made.name, &made.key));
        let until = after(today, DAYS).expect("a day");
        let first = kept.issue(&hosts(&[]), today, until).expect("a certificate");
        let second = kept.issue(&hosts(&[]), today, until).expect("a certificate");
        assert_ne!(first.1, second.1, "each has a key of its own");
        assert_eq!(kept.fingerprint().expect("a fingerprint").len(), 95);
    }
}
