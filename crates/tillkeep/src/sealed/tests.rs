//! Files of another program of the same format, and what is not let through.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

const IDENTITY: &str = "AGE-SECRET-KEY-1A8ZPPZ4H8YHQXWMHMZH4H3PFJZX5YJFUXMMVSUNQS0HG4ZTYTA5Q25VXSQ";
const RECIPIENT: &str = "age1nl8awhtw734fu8gwury92hzr239ccfrecmhjm0xxkx8zg5cgfs6qy74yks";
/// What `rage` made for that recipient, with a stanza that means nothing to anybody.
const OF_RAGE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBXT2pjZE13WktHYndiWFVRTFgvcU5LRGRHQVBPV3VodDNFUGpOWHhEWmhj\
    ClFyMmRvSitRUEtENDNQZjRIY21iMGk3QlZNNGhyVHVTVlp4d0Q3ZkJGY3MKLT4gaXd8KC1ncmVhc2UgTE1RcWZDICxdeTgpCkxJMVFQd1EvYk5zYlhIMAot\
    LS0gRVhHalBzaHdmMlhGN0ZQaHJYK09NQURRbngwLytJMW5MNnUyTVEyd3ZGdwoDku38zeZMa5nMJlJCNUNoLsI3jwoq19T4e9jnrFxBCzJWSgMzuyNdVup1\
    TKQ/77bGR34=";

struct Place {
    dir: tempfile::TempDir,
    identities: Vec<Identity>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("identity");
        fs::write(&file, format!("# public key: {RECIPIENT}\n\n{IDENTITY}\n")).expect("a file");
        let identities = identities(&file).expect("an identity");
        Self { dir, identities }
    }

    fn opened(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let (sealed, plain) = (self.dir.path().join("sealed"), self.dir.path().join("plain"));
        fs::write(&sealed, bytes).expect("a file");
        Opened::open(&sealed, &self.identities)?.write(&mut File::create(&plain).expect("a file"))?;
        Ok(fs::read(&plain).expect("a file"))
    }

    fn sealed(&self, plain: &[u8]) -> Vec<u8> {
        let (from, to) = (self.dir.path().join("from"), self.dir.path().join("to"));
        fs::write(&from, plain).expect("a file");
        let recipient = RECIPIENT.parse().expect("a recipient");
        seal(&from, &mut File::create(&to).expect("a file"), &recipient).expect("sealed");
        assert!(is_sealed(&to).expect("a file") && !is_sealed(&from).expect("a file"));
        fs::read(&to).expect("a file")
    }
}

#[test]
fn a_file_that_another_program_of_the_format_made_is_opened() {
    let bytes = STANDARD.decode(OF_RAGE).expect("bytes");
    assert_eq!(Place::new().opened(&bytes).expect("opened"), b"what the shop sold\n");
}

#[test]
fn what_is_sealed_is_opened_again_whatever_its_length() {
    let place = Place::new();
    for length in [0, 1, chunks::PLAIN - 1, chunks::PLAIN, chunks::PLAIN + 1, 3 * chunks::PLAIN] {
        let plain: Vec<u8> = (0..251).cycle().take(length).collect();
        let sealed = place.sealed(&plain);
        assert!(length < 100 || !sealed.windows(100).any(|part| part == &plain[..100]), "it can be read");
        assert!(place.opened(&sealed).expect("opened") == plain, "{length}");
    }
}

#[test]
fn a_changed_byte_a_missing_end_and_another_identity_are_noticed() {
    let place = Place::new();
    let sealed = place.sealed(&vec![7; 2 * chunks::PLAIN]);
    for at in [0, 30, 80, 120, 200, 250, 300, sealed.len() / 2, sealed.len() - 1] {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(place.opened(&changed).is_err(), "byte {at} of {}", sealed.len());
    }
    let a_chunk = chunks::PLAIN + 16;
    for end in [0, 10, 100, sealed.len() - a_chunk, sealed.len() - 1] {
        assert!(place.opened(&sealed[..end]).is_err(), "cut off at {end}");
    }
    let mut more = sealed.clone();
    more.push(0);
    assert!(place.opened(&more).is_err(), "something stands behind it");
    let other = PrivateKey::generate(&X25519).map(Identity).expect("a key");
    let said = Place { identities: vec![other], ..place }.opened(&sealed).expect_err("refused");
    assert!(said.to_string().contains("another recipient"), "{said}");
}

#[test]
fn a_recipient_that_is_mistyped_is_refused_and_an_identity_in_its_place_is_not_shown() {
    assert!(RECIPIENT.parse::<Recipient>().is_ok());
    assert!(RECIPIENT.to_uppercase().parse::<Recipient>().is_ok());
    for wrong in [
        RECIPIENT.replacen('8', "9", 1),
        RECIPIENT[..61].to_owned(),
        "age1".to_owned(),
        "backup".to_owned(),
        String::new(),
    ] {
        let said = wrong.parse::<Recipient>().expect_err("refused");
        assert!(said.contains("age1") && said.contains("age-keygen"), "{said}");
    }
    let said = IDENTITY.parse::<Recipient>().expect_err("refused");
    assert!(said.contains("secret") && !said.contains(IDENTITY), "{said}");
}

#[test]
fn a_file_without_an_identity_is_refused_by_its_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("identity.txt");
    for text in ["", "# a comment\n", RECIPIENT, &IDENTITY[..70], "age-encryption.org/v1\n-> scrypt"] {
        fs::write(&file, text).expect("a file");
        let said = identities(&file).err().expect("refused").to_string();
        assert!(said.contains("identity.txt") && !said.contains(&IDENTITY[..70]), "{said}");
    }
}
