//! What is taken and what is refused.

use super::*;

#[test]
fn the_built_in_file_is_complete() {
    let built = Config::builder().add_source(File::from_str(DEFAULT, FileFormat::Toml)).build().expect("built");
    let configuration: Configuration = built.try_deserialize().expect("complete");
    assert_eq!(configuration.store.sync_interval_ms, 30_000);
}

#[test]
fn trusted_proxies_are_networks_and_what_is_none_is_named() {
    let read = |text: &str| {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        std::fs::write(&path, text).expect("write");
        load(Some(&path)).map_err(|error| format!("{error:#}"))
    };
    let listed = read("[hq]\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]\n").expect("sound");
    assert_eq!(listed.hq.trusted_proxies.0.len(), 2);
    let text = read("[store]\ntrusted_proxies = \"10.0.0.0/8, 192.0.2.7\"\n").expect("sound");
    assert_eq!(text.store.trusted_proxies.0[1].to_string(), "192.0.2.7/32");
    assert!(read("[hq]\ntrusted_proxies = [\"proxy\"]\n").expect_err("refused").contains("\"proxy\""));
}

#[test]
fn too_few_connections_for_every_purpose_are_refused() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    for (connections, sound) in [(11, false), (12, true)] {
        std::fs::write(&path, format!("[hq]\ndatabase_connections = {connections}\n")).expect("write");
        assert_eq!(load(Some(&path)).is_ok(), sound, "{connections}");
    }
}

#[test]
fn a_server_on_postgresql_leaves_within_ten_seconds_and_one_on_a_file_at_once_unless_it_is_said() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    for (text, seconds) in [
        ("", Some(0)),
        ("database_url = 'postgres://db/chain'", Some(10)),
        ("database_url = 'postgres://db/chain'\nleave_seconds = 0", Some(0)),
        ("leave_seconds = 300", Some(300)),
        ("leave_seconds = 301", None),
    ] {
        std::fs::write(&path, format!("[hq]\n{text}\n")).expect("write");
        let left = load(Some(&path)).ok().map(|configuration| leave(&configuration.hq).as_secs());
        assert_eq!(left, seconds, "{text}");
    }
}

#[test]
fn successes_stay_in_the_log_for_a_month_at_the_least_or_for_good() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    for (days, sound) in [(0, true), (1, false), (29, false), (30, true), (36_500, true), (36_501, false)] {
        std::fs::write(&path, format!("[hq]\nsync_log_days = {days}\n")).expect("write");
        let read = load(Some(&path)).map_err(|error| format!("{error:#}"));
        assert_eq!(read.as_ref().map(|set| set.hq.sync_log_days).ok(), sound.then_some(days), "{read:?}");
        assert!(sound || read.is_err_and(|error| error.contains("hq.sync_log_days (SYNC_LOG_DAYS)")));
    }
}

#[test]
fn a_read_replica_is_one_of_a_postgresql_and_its_password_is_not_printed() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    let read = |text: &str| {
        std::fs::write(&path, format!("[hq]\n{text}\n")).expect("write");
        load(Some(&path)).expect("sound as a file").hq
    };
    let replica = "database_read_url = 'postgres://till:hunter2@replica/chain'";
    let primary = "database_url = 'postgres://till:hunter2@db/chain'";
    for (text, reason) in [
        (replica.to_owned(), "the read replica of a PostgreSQL"),
        (format!("{primary}\ndatabase_read_url = 'hunter2'"), "database_read_url (DATABASE_READ_URL): the address"),
        (format!("{primary}\n{replica}\nread_replica_max_lag_seconds = 1"), "between 2 and 3600"),
    ] {
        let error = format!("{:#}", database(&read(&text)).expect_err("refused"));
        assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
    }
    let hq = read(&format!("{primary}\n{replica}"));
    assert!(database(&hq).is_ok() && !format!("{hq:#?}").contains("hunter2"));
}

#[test]
fn a_least_length_that_no_pin_could_have_is_refused() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    for (length, sound) in [(3, false), (4, true), (12, true), (13, false)] {
        std::fs::write(&path, format!("[hq.auth]\npin_min_length = {length}\n")).expect("write");
        assert_eq!(load(Some(&path)).is_ok(), sound, "{length}");
    }
}

#[test]
fn who_signs_in_with_a_pin_alone_is_one_of_three_words_and_everybody_unless_said() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("write");
        load(Some(&path)).map_err(|error| format!("{error:#}"))
    };
    let built = read("").expect("sound");
    assert_eq!((built.hq.auth.pin_login_at_hq, built.store.tills.enrolled_only), (PinLogin::Scoped, false));
    for (word, meant) in [("all", PinLogin::All), ("scoped", PinLogin::Scoped), ("off", PinLogin::Off)] {
        let text = format!("[hq.auth]\npin_login_at_hq = '{word}'\n[store.tills]\nenrolled_only = true\n");
        let set = read(&text).expect("sound");
        assert_eq!(
            (sign_in_at_hq(&set.hq).expect("sound").pin_login_at_hq, set.store.tills.enrolled_only),
            (meant, true)
        );
        assert!(sign_in_at_store(&set.store).expect("sound").enrolled_only);
    }
    let error = read("[hq.auth]\npin_login_at_hq = 'some'\n").expect_err("refused");
    assert!(error.contains("some") && error.contains("scoped"), "{error}");
}

#[test]
fn who_shows_a_second_factor_is_one_of_three_words_and_whoever_has_one_unless_said() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("write");
        load(Some(&path)).map_err(|error| format!("{error:#}"))
    };
    let built = read("").expect("sound");
    assert_eq!(sign_in_at_hq(&built.hq).expect("sound").second_factor, SecondFactor::Optional);
    for (word, meant) in
        [("off", SecondFactor::Off), ("optional", SecondFactor::Optional), ("required", SecondFactor::Required)]
    {
        let set = read(&format!("[hq.auth]\nsecond_factor = '{word}'\n")).expect("sound");
        assert_eq!(sign_in_at_hq(&set.hq).expect("sound").second_factor, meant);
    }
    let error = read("[hq.auth]\nsecond_factor = 'always'\n").expect_err("refused");
    assert!(error.contains("always") && error.contains("required"), "{error}");
}

#[test]
fn a_printed_configuration_has_no_password() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    std::fs::write(&path, "[hq]\ndatabase_url = 'postgres://till:hunter2@db/chain'\n").expect("write");
    let shown = format!("{:#?}", load(Some(&path)).expect("sound"));
    assert!(shown.contains("till:***@db/chain") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_broker_that_cannot_be_one_is_refused_and_its_password_is_not_printed() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    let read = |text: &str| {
        std::fs::write(&path, format!("[hq]\n{text}\n")).expect("write");
        load(Some(&path)).expect("sound as a file").hq
    };
    for (text, what) in [
        ("nats_url = 'https://till:hunter2@mq'", "nats_url (NATS_URL): address 1: "),
        ("nats_ca_file = 'ca.pem'", "nats_ca_file (NATS_CA_FILE) is set, nats_url (NATS_URL) is not"),
        ("nats_url = 'tls://mq'\nnats_ca_file = '/nowhere/ca.pem'", "nats_ca_file (NATS_CA_FILE) /nowhere/ca.pem: "),
        ("nats_credentials_file = 'hq.creds'", "nats_credentials_file (NATS_CREDENTIALS_FILE) is set"),
    ] {
        let error = format!("{:#}", broker(&read(text)).expect_err("refused"));
        assert!(error.contains(what) && !error.contains("hunter2"), "{error}");
    }
    assert!(broker(&read("")).expect("none").is_none());
    let hq = read("nats_url = 'nats://till:hunter2@127.0.0.1:9'");
    let shown = format!("{hq:#?} {:?}", broker(&hq).expect("one that does not answer"));
    assert!(shown.contains("***@127.0.0.1:9") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn half_of_a_certificate_is_refused_by_the_name_of_the_other_half() {
    let error = |cert: &str, key: &str| match tls(Path::new(cert), Path::new(key)) {
        Ok(_) => panic!("accepted"),
        Err(error) => format!("{error:#}"),
    };
    assert!(error("cert.pem", "").contains("TLS_KEY"));
    assert!(error("", "key.pem").contains("TLS_CERT"));
    assert!(error("/nowhere/cert.pem", "/nowhere/key.pem").contains("tls_cert /nowhere/cert.pem"));
    assert!(tls(Path::new(""), Path::new("")).expect("none").is_none());
}

#[test]
fn an_address_that_is_none_is_refused_by_its_key_before_anything_is_made() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("write");
        load(Some(&path)).map_err(|error| format!("{error:#}"))
    };
    for (text, key) in [
        ("[hq]\nlisten = 5", "hq.listen (TILLKEEP_LISTEN)"),
        ("[hq]\nlisten = ''", "hq.listen"),
        ("[store]\nlisten = '127.0.0.1:99999'", "store.listen (TILLKEEP_LISTEN)"),
        ("[store]\nlisten = ':8081'", "store.listen"),
        ("[hq]\nmetrics_listen = 'localhost'", "hq.metrics_listen (METRICS_LISTEN)"),
        ("[hq]\npublic_url = 'hq.example.com'", "hq.public_url (PUBLIC_URL)"),
        ("[hq]\npublic_url = 'https://hq.example.com/?a=b'", "hq.public_url"),
        ("[store]\nhq_url = 'htps://hq.example.com'", "store.hq_url (HQ_URL)"),
        ("[store]\nhq_url = 'https://'", "store.hq_url"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(key), "{text}: {error}");
    }
    for text in
        ["[hq]\nlisten = '[::1]:0'", "[hq]\nlisten = 'localhost:80'", "[hq]\npublic_url = 'https://hq.example.com/'"]
    {
        assert!(read(text).is_ok(), "{text}");
    }
}

#[test]
fn what_is_shown_is_a_file_that_says_the_same_without_passwords() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    std::fs::write(&path, "[hq]\ndatabase_url = 'postgres://till:hunter2@db/chain'\ntrusted_proxies = '::1'\n")
        .expect("write");
    let text = shown(&load(Some(&path)).expect("sound")).expect("shown");
    assert!(text.contains("till:***@db/chain") && !text.contains("hunter2"), "{text}");
    std::fs::write(&path, &text).expect("write");
    let again = load(Some(&path)).expect("sound as a file");
    assert_eq!(shown(&again).expect("shown"), text);
}

#[test]
fn the_help_of_a_server_has_every_key_and_variable() {
    let helps = [("hq", help("hq")), ("store", help("store"))];
    for (variable, keys) in VARIABLES {
        for key in *keys {
            let (section, name) = key.split_once('.').expect("a section");
            let help = &helps.iter().find(|(known, _)| *known == section).expect("a server").1;
            let line = help.lines().find(|line| line.split_whitespace().next() == Some(name));
            assert!(line.is_some_and(|line| line.ends_with(variable)), "{key}: {help}");
        }
    }
    assert!(helps[0].1.contains("ADMIN_PIN") && helps[1].1.contains("SYNC_TOKEN"));
    assert!(helps[1].1.contains("tills.enrolled_only"));
}

#[test]
fn a_misspelt_key_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    std::fs::write(&path, "[store]\nsync_intervall_ms = 5\n").expect("write");
    let error = format!("{:#}", load(Some(&path)).expect_err("refused"));
    assert!(error.contains("sync_intervall_ms"), "{error}");
}

#[test]
fn origins_of_tills_are_named_as_browsers_name_them_and_none_is_let_in_unless_said() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("tillkeep.toml");
    let read = |list: &str| {
        std::fs::write(&path, format!("[store.tills]\nallowed_origins = {list}\n")).expect("write");
        load(Some(&path)).map_err(|error| format!("{error:#}"))
    };
    let names = |list: &str| -> Vec<String> {
        read(list).expect("sound").store.tills.allowed_origins.names().map(str::to_owned).collect()
    };
    assert_eq!(load(None).expect("the built-in one").store.tills.allowed_origins.names().count(), 0);
    let both = ["https://till.example.com", "http://localhost:5173"];
    assert_eq!(names("['https://till.example.com', 'http://localhost:5173']"), both);
    assert_eq!(names("'https://till.example.com, http://localhost:5173'"), both);
    for (text, remedy) in [
        ("*", "name each origin"),
        ("https://*.example.com", "name each origin"),
        ("https://till.example.com/", "ends with a slash"),
        ("https://till.example.com/app", "write https://till.example.com"),
        ("https://Till.example.com", "write https://till.example.com"),
        ("https://till.example.com:443", "write https://till.example.com"),
        ("till.example.com", "is no origin"),
        ("file:///till.html", "is no origin of pages"),
        ("null", "is no origin"),
    ] {
        let error = read(&format!("['{text}']")).expect_err(text);
        assert!(error.contains(remedy) && error.contains("allowed_origins"), "{error}");
    }
}
