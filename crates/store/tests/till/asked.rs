//! People of whom a store asks headquarters, and what it keeps of them. `docs/security.md`, PINs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_storage::entity::{kept_verifier, pin_attempt, user, user_store_role};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;
use uuid::Uuid;

use crate::kit::devices::{Device, WRONG};
use crate::kit::{Shop, people};

/// So long a user waits for headquarters, as docs/security.md tells.
const AT_THE_MOST: Duration = Duration::from_secs(2);
const DAY: i64 = 24 * 3600 * 1000;

/// A headquarters that knows one person by name and PIN, and hands out what the test says.
#[derive(Default)]
struct Knows {
    gone: AtomicBool,
    /// It does not have the question.
    is_older: AtomicBool,
    never_answers: AtomicBool,
    /// It hands out what verifies everybody, or what verifies only who is named.
    keeps_no_verifier: AtomicBool,
    /// A user went on waiting for that answer beyond the documented time.
    was_waited_for: AtomicBool,
    who: Mutex<Option<(String, Json)>>,
    /// Rows that are pulled next, by type.
    rows: Mutex<Vec<(&'static str, Json)>>,
    asked: Mutex<Vec<Json>>,
}

impl Knows {
    fn moves(&self, entity: &'static str, rows: Json) {
        self.rows.lock().expect("not poisoned").push((entity, rows));
    }

    fn asked(&self) -> usize {
        self.asked.lock().expect("not poisoned").len()
    }

    async fn no_answer(&self) -> Result<Reply, String> {
        self.asked.lock().expect("not poisoned").push(Json::Null);
        tokio::time::sleep(AT_THE_MOST + Duration::from_millis(1)).await;
        // Whoever gave up by then does so before this goes on, however late the machine looks at the two.
        tokio::task::yield_now().await;
        self.was_waited_for.store(true, Ordering::SeqCst);
        std::future::pending().await
    }

    fn sign_in(&self, request: &Request) -> (u16, Json) {
        let asked: Json = serde_json::from_slice(request.json.as_deref().unwrap_or_default()).expect("JSON");
        self.asked.lock().expect("not poisoned").push(asked.clone());
        let who = self.who.lock().expect("not poisoned");
        let found = who.as_ref().filter(|(pin, _)| asked["pin"] == *pin).map(|(_, answer)| answer.clone());
        match found {
            _ if self.is_older.load(Ordering::SeqCst) => (404, json!({"error": "no such route", "code": "not_found"})),
            Some(answer) => (200, answer),
            None => (401, json!({"error": "the name or the PIN is wrong", "code": "invalid_credentials"})),
        }
    }
}

#[async_trait::async_trait]
impl Transport for Knows {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        if self.gone.load(Ordering::SeqCst) {
            return Err("no line".to_owned());
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let rows = self.rows.lock().expect("not poisoned").clone();
        let days = if self.keeps_no_verifier.load(Ordering::SeqCst) { 0 } else { 7 };
        let (status, body) = match path {
            "/handshake" => (
                200,
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z", "keepVerifierDays": days,
                }),
            ),
            "/versions" => {
                let heads = |name: &str| rows.iter().filter(|(entity, _)| *entity == name).count();
                (
                    200,
                    json!({"epoch": "e", "versions": {"users": heads("users"), "user_store_roles": heads("user_store_roles")}}),
                )
            }
            "/sign-in" if self.never_answers.load(Ordering::SeqCst) => return self.no_answer().await,
            "/sign-in" => self.sign_in(&request),
            _ => {
                let name = query.split('&').find_map(|part| part.strip_prefix("entity_type=")).unwrap_or_default();
                let since = query.split('&').find_map(|part| part.strip_prefix("since_version=")).unwrap_or_default();
                let since: usize = since.parse().expect("a version");
                let of_type: Vec<_> = rows.iter().filter(|(entity, _)| *entity == name).map(|(_, row)| row).collect();
                let rows: Vec<_> = of_type.iter().skip(since).collect();
                (
                    200,
                    json!({
                        "entity_type": name, "since_version": since, "rows": rows, "latest_version": of_type.len(),
                    }),
                )
            }
        };
        Ok(Reply { status, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

/// A shop with a line, and a user of all stores whom it cannot verify.
struct Scene {
    hq: Arc<Knows>,
    shop: Shop,
    id: Uuid,
    pin: String,
    name: String,
}

async fn scene() -> Scene {
    let hq = Arc::new(Knows::default());
    scene_in(hq.clone(), Shop::with_line(hq).await).await
}

async fn scene_in(hq: Arc<Knows>, shop: Shop) -> Scene {
    let (id, pin) = people::person(&shop, "administrator").await;
    let mut row = shop.user(id).await;
    let verifiers = json!({
        "userId": id, "pinHash": row.pin_hash.take(), "pinLookup": row.pin_lookup.take(), "pinChangedAt": null,
        "keepDays": 7,
    });
    let name = row.username.clone();
    shop.put::<user::Entity>(row).await;
    shop.everywhere(id).await;
    *hq.who.lock().expect("not poisoned") = Some((pin.clone(), verifiers));
    let scene = Scene { hq, shop, id, pin, name };
    scene.cycle().await;
    scene
}

impl Shop {
    async fn user(&self, id: Uuid) -> user::Model {
        user::Entity::find_by_id(id).one(self.store.test_db().reader()).await.expect("a read").expect("a user")
    }

    async fn put<E>(&self, row: E::Model)
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel>,
        E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
    {
        let tx = self.store.test_db().begin().await.expect("a transaction");
        E::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
    }

    /// The role of the user counts everywhere from now on.
    async fn everywhere(&self, id: Uuid) -> user_store_role::Model {
        let all = user_store_role::Entity::find().all(self.store.test_db().reader()).await.expect("a read");
        let mut role = all.into_iter().find(|role| role.user_id == id).expect("a role");
        role.store_id = None;
        self.put::<user_store_role::Entity>(role.clone()).await;
        role
    }
}

impl Scene {
    async fn cycle(&self) {
        Cycle::default().step(&self.shop.store).await;
    }

    async fn lose_the_line(&self) {
        self.hq.gone.store(true, Ordering::SeqCst);
        self.cycle().await;
    }

    fn device(&self) -> Device {
        Device::at(&self.shop, "192.0.2.1")
    }

    async fn pin_login(&self) -> u16 {
        self.device().pin("T1", &self.pin).await.status
    }

    async fn login(&self) -> u16 {
        self.device().login(&self.name, &self.pin).await.status
    }

    async fn kept(&self) -> usize {
        self.shop.count::<kept_verifier::Entity>().await
    }

    /// The person as headquarters sends them, with a change.
    async fn row(&self, change: impl FnOnce(&mut user::Model)) -> Json {
        let mut row = self.shop.user(self.id).await;
        change(&mut row);
        serde_json::to_value(row).expect("JSON")
    }
}

#[tokio::test]
async fn headquarters_is_not_asked_where_its_answer_could_not_be_another_one() {
    let hq = Arc::new(Knows { keeps_no_verifier: AtomicBool::new(true), ..Knows::default() });
    let scene = scene_in(hq.clone(), Shop::with_line(hq).await).await;
    assert_eq!((scene.pin_login().await, scene.login().await, scene.hq.asked()), (401, 401, 0));
}

#[tokio::test]
async fn a_user_of_all_stores_signs_in_while_there_is_a_line_and_for_a_week_without_one() {
    for by_name in [false, true] {
        let scene = scene().await;
        let sign_in = async || if by_name { scene.login().await } else { scene.pin_login().await };
        assert_eq!((sign_in().await, scene.hq.asked(), scene.kept().await), (200, 1, 1));
        let asked = scene.hq.asked.lock().expect("not poisoned")[0].clone();
        assert_eq!(asked.get("username").is_some(), by_name);
        // Known here, so that headquarters is not asked.
        assert_eq!((sign_in().await, scene.hq.asked()), (200, 1));
        scene.lose_the_line().await;
        assert_eq!((scene.login().await, scene.pin_login().await), (200, 200), "either way");
        scene.shop.clock.advance(6 * DAY);
        assert_eq!(sign_in().await, 200);
        scene.shop.clock.advance(DAY);
        assert_eq!(sign_in().await, 401, "it is over");
        scene.hq.gone.store(false, Ordering::SeqCst);
        scene.cycle().await;
        assert_eq!(sign_in().await, 200);
    }
}

#[tokio::test]
async fn without_a_line_before_or_with_a_headquarters_that_does_not_know_the_question_what_is_here_judges() {
    let scene = scene().await;
    let wrong = scene.device().pin("T1", WRONG).await;
    wrong.refused(401, "invalid_credentials");
    scene.hq.is_older.store(true, Ordering::SeqCst);
    let answer = scene.device().pin("T1", &scene.pin).await;
    answer.refused(401, "invalid_credentials");
    assert_eq!(answer.body["error"], wrong.body["error"]);
    scene.hq.is_older.store(false, Ordering::SeqCst);
    scene.lose_the_line().await;
    let asked = scene.hq.asked();
    scene.shop.clock.advance(60_000);
    assert_eq!((scene.pin_login().await, scene.hq.asked()), (401, asked));
    // People of the store sign in all the same.
    let known = people::person(&scene.shop, "cashier").await;
    scene.shop.clock.advance(60_000);
    scene.shop.sign_in_with(&known, "T1").await;
}

#[tokio::test]
async fn a_headquarters_that_never_answers_keeps_no_user_waiting_beyond_the_documented_time() {
    let scene = scene().await;
    scene.hq.never_answers.store(true, Ordering::SeqCst);
    assert_eq!((scene.login().await, scene.hq.asked()), (401, 1));
    assert!(!scene.hq.was_waited_for.load(Ordering::SeqCst), "two seconds at the most");
}

#[tokio::test]
async fn a_user_of_all_stores_approves_at_a_till_as_well() {
    let scene = scene().await;
    let cashier = scene.shop.sign_in("cashier").await;
    let asked = scene.hq.asked();
    scene.device().approval(&cashier, &scene.pin).await.is(201);
    assert_eq!((scene.hq.asked(), scene.kept().await), (asked + 1, 1));
}

#[tokio::test]
async fn the_counters_of_the_store_count_before_anybody_is_asked_and_a_right_one_takes_its_try_back() {
    let hq = Arc::new(Knows::default());
    let scene = scene_in(hq.clone(), Shop::standing_still(hq).await).await;
    assert_eq!((scene.pin_login().await, scene.login().await), (200, 200));
    let counters = pin_attempt::Entity::find().all(scene.shop.store.test_db().reader()).await.expect("the counters");
    assert!(counters.iter().all(|row| row.wrong_today == 0), "{counters:?}");
    let asked = scene.hq.asked();
    for _ in 0..3 {
        assert_eq!(scene.device().guess("T1").await, 401);
    }
    assert_eq!((scene.device().guess("T1").await, scene.hq.asked()), (429, asked + 3));
}

#[tokio::test]
async fn a_pulled_change_of_pin_state_or_roles_takes_what_is_kept_at_once_and_another_change_does_not() {
    let later = Instant::parse("2026-11-20T14:00:01Z").expect("an instant");
    for change in ["PIN", "ended", "state", "deleted", "role", "other store's role"] {
        let scene = scene().await;
        assert_eq!((scene.pin_login().await, scene.kept().await), (200, 1), "{change}");
        let stays = change == "other store's role";
        match change {
            // Nothing of a PIN that ended is seen but that its person was changed.
            "ended" => scene.hq.moves("users", scene.row(|row| row.updated_at = later).await),
            "PIN" => scene.hq.moves("users", scene.row(|row| row.pin_changed_at = Some(later)).await),
            "state" => scene.hq.moves("users", scene.row(|row| row.is_active = false).await),
            "deleted" => scene.hq.moves("users", scene.row(|row| row.deleted_at = Some(later)).await),
            _ => {
                let mut role = scene.shop.everywhere(scene.id).await;
                if stays {
                    role = user_store_role::Model { id: Uuid::now_v7(), store_id: Some(Uuid::now_v7()), ..role };
                } else {
                    role.deleted_at = Some(later);
                }
                scene.hq.moves("user_store_roles", serde_json::to_value(role).expect("JSON"));
            }
        }
        scene.cycle().await;
        assert_eq!(scene.kept().await, usize::from(stays), "{change}");
        scene.lose_the_line().await;
        assert_eq!(scene.pin_login().await, if stays { 200 } else { 401 }, "{change}");
    }
}

#[tokio::test]
async fn what_headquarters_withdraws_from_all_stores_is_kept_for_a_week_of_those_who_signed_in_within_thirty_days() {
    for (days, kept) in [(29, 1), (31, 0)] {
        let hq = Arc::new(Knows::default());
        let shop = Shop::with_line(hq.clone()).await;
        let (id, pin) = people::person(&shop, "administrator").await;
        shop.everywhere(id).await;
        let (other, _) = people::person(&shop, "administrator").await;
        shop.everywhere(other).await;
        let (cashier, _) = people::person(&shop, "cashier").await;
        let name = shop.user(id).await.username;
        let scene = Scene { hq, shop, id, pin, name };
        assert_eq!(scene.pin_login().await, 200);
        scene.shop.clock.advance(days * DAY);
        // No other user signed in lately, and a role here that ends is no withdrawal from all stores.
        for person in [id, other, cashier] {
            let mut row = scene.shop.user(person).await;
            (row.pin_hash, row.pin_lookup) = (None, None);
            scene.hq.moves("users", serde_json::to_value(row).expect("JSON"));
        }
        scene.cycle().await;
        assert_eq!((scene.kept().await, scene.shop.user(id).await.pin_hash), (kept, None), "{days}");
        scene.lose_the_line().await;
        assert_eq!(scene.pin_login().await, if kept == 1 { 200 } else { 401 });
        scene.shop.clock.advance(7 * DAY);
        assert_eq!(scene.pin_login().await, 401);
    }
}
