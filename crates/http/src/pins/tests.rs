use tempfile::TempDir;

use super::*;

struct Server {
    dir: TempDir,
    pins: Pins,
}

impl Server {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("dir");
        let pins = Pins::open(&dir.path().join("pin.key"), 1).expect("pins");
        Self { dir, pins }
    }

    fn hq() -> Self {
        let hq = Self::new();
        hq.pins.ensure_key().expect("a key");
        hq
    }

    /// Headquarters with the key file that release 0.1.0 left behind.
    fn former_hq() -> Self {
        let hq = Self::new();
        let key = STANDARD.encode(files::random::<32>());
        let key = PinKey {
            id: "former".to_owned(),
            key,
            salt: STANDARD.encode(files::random::<16>()),
            own: None,
            own_salt: None,
        };
        hq.pins.install(&key).expect("kept");
        hq.pins.ensure_key().expect("a root");
        hq
    }

    fn store(key: &PinKey) -> Self {
        let store = Self::new();
        store.pins.install(key).expect("kept");
        store
    }

    fn again(&self) -> Pins {
        Pins::open(&self.dir.path().join("pin.key"), 1).expect("pins")
    }
}

#[tokio::test]
async fn a_pin_is_found_by_its_look_up_key_and_verified_by_its_hash() {
    let hq = Server::new();
    assert_eq!(hq.pins.verify("4821", None).await.expect_err("no key yet").code(), ErrorCode::StoreNotReady);
    hq.pins.ensure_key().expect("a key");
    let hashed = hq.pins.hash("4821").await.expect("hash");
    assert_eq!(hq.pins.lookup("4821").await.expect("lookup"), std::slice::from_ref(&hashed.lookup));
    assert!(hq.pins.verify("4821", Some(hashed.hash.clone())).await.expect("verify"));
    assert!(!hq.pins.verify("4822", Some(hashed.hash.clone())).await.expect("verify"));
    assert!(!hq.pins.verify("4821", None).await.expect("decoy"));
    assert!(hq.again().verify("4821", Some(hashed.hash.clone())).await.expect("verify"), "the key survives a restart");
    let twice = hq.pins.hash("4821").await.expect("hash");
    assert!(twice.hash != hashed.hash && twice.lookup == hashed.lookup, "a salt for each person");
    for broken in [&hashed.hash[..20], &hashed.hash.replace("v=1$", "v=1$AA"), "", "$argon2id-hmac$v=1$AA$AA"] {
        assert!(!hq.pins.verify("4821", Some(broken.to_owned())).await.expect("verify"), "{broken}");
    }
}

#[tokio::test]
async fn what_one_store_verifies_a_pin_with_is_worth_nothing_with_another_stores_key() {
    let hq = Server::hq();
    let stores = [Uuid::now_v7(), Uuid::now_v7()];
    let keys = stores.map(|store| hq.pins.for_store(store, true, false).expect("a key"));
    let [one, two] = [Server::store(&keys[0]), Server::store(&keys[1])];
    assert!(keys.iter().all(|key| key.key.is_empty()), "no key of the whole chain");
    assert!(keys[0].own != keys[1].own && one.pins.key_id() == Some(keys[0].id.clone()));
    let hashed = hq.pins.hash("739154").await.expect("hash");
    let (hash, lookup) = hq.pins.derived(stores[0], &hashed.hash).expect("derived");
    assert_eq!(one.pins.lookup("739154").await.expect("lookup"), std::slice::from_ref(&lookup));
    assert!(one.pins.verify("739154", Some(hash.clone())).await.expect("verify"));
    assert!(!one.pins.verify("739155", Some(hash.clone())).await.expect("verify"));
    assert!(!two.pins.verify("739154", Some(hash.clone())).await.expect("verify"), "another store's");
    assert_ne!(two.pins.lookup("739154").await.expect("lookup"), [lookup]);
    assert!(!hq.pins.verify("739154", Some(hash)).await.expect("verify"), "nor at headquarters");
    assert!(!one.pins.verify("739154", Some(hashed.hash)).await.expect("verify"), "nor headquarters' at a store");
    assert!(one.pins.hash("739154").await.is_err(), "a store makes no PINs");
}

#[tokio::test]
async fn pins_from_before_are_verified_with_the_key_of_the_chain_until_it_leaves_the_stores() {
    let hq = Server::former_hq();
    let (hash, lookup) = hq.pins.secrets().expect("secrets").hash_as_former("739154");
    assert!(is_former(&hash) && hq.pins.derived(Uuid::nil(), &hash).is_none());
    let hashed = hq.pins.hash("739154").await.expect("hash");
    assert!(!is_former(&hashed.hash) && hashed.lookups().any(|kept| kept == lookup), "taken is taken");
    let store = Uuid::now_v7();
    let with = hq.pins.for_store(store, true, false).expect("a key");
    let without = hq.pins.for_store(store, false, false).expect("a key");
    assert_ne!(with.id, without.id, "the store asks for the other one");
    let till = Server::store(&with);
    for server in [&hq, &till] {
        assert!(server.pins.lookup("739154").await.expect("lookup").contains(&lookup));
        assert!(server.pins.verify("739154", Some(hash.clone())).await.expect("verify"));
        assert!(!server.pins.verify("739155", Some(hash.clone())).await.expect("verify"));
    }
    let (derived, _) = hq.pins.derived(store, &hashed.hash).expect("derived");
    till.pins.install(&without).expect("kept");
    assert!(!till.pins.verify("739154", Some(hash.clone())).await.expect("verify"));
    assert!(till.pins.verify("739154", Some(derived)).await.expect("verify"));
    // A store of release 0.1.0 knows the key of the chain alone.
    let old = Server::store(&hq.pins.for_former_store().expect("a key"));
    assert!(old.pins.verify("739154", Some(hash)).await.expect("verify"));
    assert_eq!(old.pins.lookup("739154").await.expect("lookup"), [lookup]);
}

#[tokio::test]
async fn a_store_with_a_salt_of_its_own_has_look_ups_that_no_table_of_another_store_gives() {
    let hq = Server::hq();
    let stores = [Uuid::now_v7(), Uuid::now_v7()];
    let keys = stores.map(|store| hq.pins.for_store(store, false, true).expect("a key"));
    let [one, two] = [Server::store(&keys[0]), Server::store(&keys[1])];
    let hashed = hq.pins.hash("739154").await.expect("hash");
    let made =
        hq.pins.own_lookups(stores[0], vec![hashed.hash.clone(), "$argon2id$former".into()]).await.expect("made");
    let lookup = made[0].clone().expect("a look-up");
    let (hash, without) = hq.pins.derived(stores[0], &hashed.hash).expect("derived");
    // Whom it has not reloaded since it got the salt is found as before.
    let both = vec![lookup.clone(), without.clone()];
    assert_eq!((one.pins.lookup("739154").await.expect("lookup"), made[1].as_deref()), (both, None));
    let of_two = two.pins.lookup("739154").await.expect("lookup");
    assert!(!of_two.contains(&lookup) && !of_two.contains(&without));
    // With both keys in hand, what is slow of a look-up is still another one for each store.
    let stolen = Server::store(&PinKey { own: keys[1].own.clone(), ..keys[0].clone() });
    assert_ne!(stolen.pins.lookup("739154").await.expect("lookup")[0], of_two[0]);
    // A store of an earlier release goes on without one.
    let earlier = Server::store(&hq.pins.for_store(stores[0], false, false).expect("a key"));
    assert_eq!(earlier.pins.lookup("739154").await.expect("lookup"), [without]);
    assert!(one.pins.verify("739154", Some(hash.clone())).await.expect("verify"));
    assert!(earlier.pins.verify("739154", Some(hash)).await.expect("verify"), "the hash is the same");
    let before = (one.pins.computed(), earlier.pins.computed());
    one.pins.lookup("1").await.expect("lookup");
    earlier.pins.lookup("1").await.expect("lookup");
    assert_eq!((one.pins.computed() - before.0, earlier.pins.computed() - before.1), (2, 1));
}

#[tokio::test]
async fn what_stores_ask_has_a_place_of_its_own_and_delays_no_sign_in_here() {
    let hq = Server::hq();
    let asked = hq.pins.for_stores();
    let all = u32::try_from(1 + QUEUE).expect("a few");
    let held = asked.places.waiting.clone().acquire_many_owned(all).await.expect("open");
    let refused = asked.verify("4821", None).await.expect_err("no place");
    assert_eq!(refused.code(), ErrorCode::TooManyRequests);
    assert!(!hq.pins.verify("4821", None).await.expect("a place"));
    drop(held);
    // Nor the other way round.
    let _held = hq.pins.places.running.clone().acquire_owned().await.expect("open");
    assert!(!asked.verify("4821", None).await.expect("a place"));
    assert_eq!(hq.pins.computed(), 2, "counted together");
}

#[test]
fn only_who_has_had_a_stores_key_can_name_a_form_of_it() {
    let hq = Server::former_hq();
    let stores = [Uuid::now_v7(), Uuid::now_v7()];
    for (former, salt) in [(false, false), (false, true), (true, false), (true, true)] {
        let id = hq.pins.for_store(stores[0], former, salt).expect("a key").id;
        assert!(hq.pins.is_key_of(stores[0], &id) && !hq.pins.is_key_of(stores[1], &id));
    }
    let former = Server::store(&hq.pins.for_former_store().expect("a key"));
    assert!(hq.pins.is_key_of(stores[0], &former.pins.key_id().expect("a name")), "one that was upgraded");
    assert!(!hq.pins.is_key_of(stores[0], "former") && !hq.pins.is_key_of(stores[0], ""));
}

#[test]
fn the_root_of_headquarters_is_made_once_and_that_of_a_store_never() {
    let hq = Server::hq();
    assert_eq!(hq.again().root().id, hq.pins.root().id);
    let former = Server::former_hq();
    assert_eq!(former.again().root().id, former.pins.root().id);
    let store = Server::store(&hq.pins.for_store(Uuid::nil(), true, true).expect("a key"));
    for other in [former, store, Server::new()] {
        assert_ne!(other.pins.root().id, hq.pins.root().id);
    }
}
