//! What the sender of the outbox makes of each answer that is no verdict. `docs/sync.md`, rules U2 and U4.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::{Cycle, Round, Sender};

use crate::kit::{Shop, line};

/// How a push is answered.
#[derive(Clone)]
enum Answer {
    /// With a status and a body, by headquarters or by something in between.
    Says { status: u16, body: String, from_hq: bool },
    /// As headquarters does, which takes everything, without its mark.
    Unmarked,
    /// As one does that speaks the specification alone, which names no field: another spelling, no types, another order.
    InOtherWords,
    /// With a verdict on each entry but the last one.
    OfSome,
    /// With verdicts on other entities.
    OfOthers,
    /// Not at all.
    Breaks,
    /// Headquarters takes it, and says `try_later` of what is poison.
    Judges,
}

/// A line on which everything or some entries fare badly, until it is mended; other requests are answered well.
struct Line {
    answer: Mutex<Option<Answer>>,
    retry_after: Mutex<Option<Duration>>,
    /// Only requests with an entry of this type fare badly, where one is named.
    poison: Option<&'static str>,
    /// The numbers of the entries that each push had.
    pushed: Mutex<Vec<Vec<i64>>>,
    /// Whether it answers anything else.
    well: bool,
    /// How often it was asked something else.
    asked: AtomicUsize,
    /// The page of a network answers everything.
    portal: AtomicBool,
    /// What the store said of itself.
    said: Mutex<Vec<String>>,
}

impl Line {
    fn new(answer: Answer) -> Self {
        Self { answer: Mutex::new(Some(answer)), ..Self::good() }
    }

    fn good() -> Self {
        let (answer, retry_after, pushed, asked, portal, said) = Default::default();
        Self { answer, retry_after, poison: None, pushed, well: true, asked, portal, said }
    }

    fn mend(&self) {
        *self.answer.lock().expect("not poisoned") = None;
    }

    fn sizes(&self) -> Vec<usize> {
        self.pushed.lock().expect("not poisoned").iter().map(Vec::len).collect()
    }
}

fn says(status: u16, code: Option<&str>) -> Answer {
    let body = code.map_or(Json::Null, |code| json!({"success": false, "error": "words", "code": code}));
    Answer::Says { status, body: body.to_string(), from_hq: true }
}

fn between(status: u16, body: &str) -> Answer {
    Answer::Says { status, body: body.to_owned(), from_hq: false }
}

#[async_trait::async_trait]
impl Transport for Line {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let reply = |status, from_hq, body: String| {
            let retry_after = *self.retry_after.lock().expect("not poisoned");
            Ok(Reply { status, from_hq, retry_after, body: body.into() })
        };
        if self.portal.load(Ordering::SeqCst) {
            return reply(200, false, PAGE.to_owned());
        }
        if request.path == "/handshake" {
            let answer = json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            });
            return reply(200, true, answer.to_string());
        }
        if let Some(said) = request.path.strip_prefix("/versions?") {
            self.said.lock().expect("not poisoned").push(said.to_owned());
        }
        if request.path.starts_with("/versions") {
            self.asked.fetch_add(1, Ordering::SeqCst);
            return if self.well {
                reply(200, true, json!({"epoch": "e", "versions": {}}).to_string())
            } else {
                reply(502, false, String::new())
            };
        }
        let sent: Json = serde_json::from_slice(&request.json.unwrap_or_default()).expect("JSON");
        let entries = sent["envelopes"].as_array().expect("envelopes").clone();
        let seqs = entries.iter().filter_map(|entry| entry["seq"].as_i64()).collect();
        self.pushed.lock().expect("not poisoned").push(seqs);
        let bad = |entry: &Json| self.poison.is_none_or(|name| entry["entity_type"] == name);
        let answer = self.answer.lock().expect("not poisoned").clone().filter(|_| entries.iter().any(bad));
        let results = |id: Option<&str>, later: bool| {
            let of = |entry: &Json| {
                let mut result =
                    json!({"entity_type": entry["entity_type"], "entity_id": entry["entity_id"], "status": "ok"});
                if let Some(id) = id {
                    result["entity_id"] = id.into();
                }
                if later && bad(entry) {
                    (result["status"], result["code"]) = (json!("error"), json!("try_later"));
                }
                result
            };
            json!({"results": entries.iter().map(of).collect::<Vec<_>>()}).to_string()
        };
        match answer {
            None => reply(200, true, results(None, false)),
            Some(Answer::Judges) => reply(200, true, results(None, true)),
            Some(Answer::Unmarked) => reply(200, false, results(None, false)),
            Some(Answer::InOtherWords) => {
                let of = |entry: &Json| json!({"entityId": entry["entity_id"], "status": "ok"});
                reply(200, false, json!({"results": entries.iter().rev().map(of).collect::<Vec<_>>()}).to_string())
            }
            Some(Answer::OfSome) => {
                let mut some: Json = serde_json::from_str(&results(None, false)).expect("JSON");
                some["results"].as_array_mut().expect("results").pop();
                reply(200, true, some.to_string())
            }
            Some(Answer::OfOthers) => reply(200, true, results(Some("01939e3c-0000-7000-8000-000000000001"), false)),
            Some(Answer::Says { status, body, from_hq }) => reply(status, from_hq, body),
            Some(Answer::Breaks) => Err("reset".to_owned()),
        }
    }
}

/// A shop with an opened drawer, a customer and two sales in its outbox.
async fn shop(hq: &Arc<Line>) -> Shop {
    let shop = Shop::standing_still(hq.clone()).await;
    let till = shop.selling().await;
    till.post("/customers", json!({"lastName": "Poison"})).await.ok(201);
    for _ in 0..2 {
        till.sell(json!([line("TEA", 1)])).await.ok(201);
    }
    assert_eq!(shop.outbox().await.len(), 4);
    shop
}

async fn attempts(shop: &Shop) -> i32 {
    shop.outbox().await.iter().map(|entry| entry.attempts).sum()
}

/// What three rounds came to that begin with an empty memory: the sizes of the pushes, how often something else was asked, the
/// last round.
async fn rounds(hq: &Line, shop: &Shop, answer: Answer, retry_after: Option<Duration>) -> (Vec<usize>, usize, Round) {
    *hq.answer.lock().expect("not poisoned") = Some(answer);
    *hq.retry_after.lock().expect("not poisoned") = retry_after;
    hq.pushed.lock().expect("not poisoned").clear();
    hq.asked.store(0, Ordering::SeqCst);
    let mut sender = Sender::default();
    let mut last = Round::Sent;
    for _ in 0..3 {
        last = sender.step(&shop.store).await;
    }
    assert_eq!(attempts(shop).await, 0, "none of these is a verdict");
    assert_eq!(shop.outbox().await.len(), 4, "nothing was taken");
    assert!(shop.outbox().await.iter().all(|entry| entry.waits_alone_since.is_none()), "none is worse than the others");
    (hq.sizes(), hq.asked.load(Ordering::SeqCst), last)
}

const PAGE: &str = "<!doctype html><title>413 Request Entity Too Large</title>";

#[tokio::test]
async fn what_gets_no_verdict_while_headquarters_answers_others_is_halved() {
    let hq = Arc::new(Line::good());
    let shop = shop(&hq).await;
    for (name, answer) in [
        ("an error of a gateway in JSON", between(500, r#"{"error":"upstream"}"#)),
        ("a limit on size of a gateway", between(413, PAGE)),
        ("a code of ours from a gateway", between(422, r#"{"error":"no","code":"validation"}"#)),
        ("a proxy that wants a sign-in", between(401, "")),
        ("a firewall", between(403, PAGE)),
        ("not found", between(404, "")),
        ("too many", between(429, "")),
        ("bad gateway", between(502, "")),
        ("a proxy that is busy", between(503, "")),
        ("a redirection", between(302, "")),
        ("headquarters cannot read it", says(400, Some("unreadable_json"))),
        ("headquarters knows no such route", says(404, None)),
        ("headquarters takes nothing so large", says(413, Some("payload_too_large"))),
        ("headquarters refuses the whole", says(422, Some("validation"))),
        ("a code of a newer release", says(422, Some("of_a_newer_release"))),
        ("headquarters fails", says(500, Some("internal"))),
    ] {
        let (sizes, asked, last) = rounds(&hq, &shop, answer, None).await;
        assert_eq!((sizes, asked), (vec![4, 2, 1], 3), "{name}");
        assert!(matches!(last, Round::Compare(_)), "{name}: {last:?}");
    }
}

#[tokio::test]
async fn a_success_without_a_verdict_on_each_entry_is_doubted_three_times_and_then_halved_without_a_question() {
    for (name, answer) in [
        ("a page in the place of an answer", between(200, PAGE)),
        ("the same with the mark", Answer::Says { status: 200, body: PAGE.to_owned(), from_hq: true }),
        ("JSON of another server", between(200, r#"{"success":true}"#)),
        ("no results", between(200, r#"{"results":[]}"#)),
        ("verdicts on others", Answer::OfOthers),
        ("verdicts on some", Answer::OfSome),
    ] {
        let hq = Arc::new(Line::good());
        let shop = shop(&hq).await;
        let (sizes, asked, last) = rounds(&hq, &shop, answer, None).await;
        assert_eq!((sizes, asked), (vec![4, 4, 4], 0), "{name}");
        assert_eq!(last, Round::Wait(Duration::from_millis(100)), "{name}: the half of it next");
        let mut sender = Sender::default();
        for _ in 0..9 {
            sender.step(&shop.store).await;
        }
        // By themselves they take turns.
        assert_eq!(hq.sizes()[3..], [4, 4, 4, 2, 1, 1, 1, 1, 1], "{name}");
        assert_eq!(hq.asked.load(Ordering::SeqCst), 0, "{name}");
        let alone = hq.pushed.lock().expect("not poisoned")[7..].concat();
        assert_eq!(alone[..4].iter().collect::<BTreeSet<_>>().len(), 4, "{name}: {alone:?}");
        assert_eq!(alone[0], alone[4], "{name}: {alone:?}");
        assert_eq!(attempts(&shop).await, 0, "{name}");
    }
}

#[tokio::test]
async fn a_verdict_on_each_entry_counts_marked_or_not_and_in_whatever_words_and_order() {
    for answer in [Answer::Unmarked, Answer::InOtherWords] {
        let hq = Arc::new(Line::new(answer));
        let shop = shop(&hq).await;
        assert_eq!(Sender::default().step(&shop.store).await, Round::Sent);
        assert_eq!((hq.sizes(), shop.outbox().await.len()), (vec![4], 0));
    }
}

#[tokio::test]
async fn a_page_of_the_network_sets_no_entry_aside_and_all_go_when_it_is_gone() {
    let hq = Arc::new(Line::new(between(200, PAGE)));
    let shop = shop(&hq).await;
    let mut sender = Sender::default();
    send(&mut sender, &shop, 40).await;
    let waiting = shop.outbox().await;
    assert!(waiting.iter().all(|entry| entry.waits_alone_since.is_none() && entry.attempts == 0), "{waiting:?}");
    hq.mend();
    send(&mut sender, &shop, 4).await;
    assert_eq!(shop.outbox().await.len(), 0);
    assert_eq!(hq.sizes().last_chunk::<3>(), Some(&[1, 2, 1]), "more at once when one gets through");
}

#[tokio::test]
async fn the_word_of_headquarters_that_it_cannot_now_halves_nothing_and_is_obeyed() {
    let hq = Arc::new(Line::good());
    let shop = shop(&hq).await;
    for (status, code) in [
        (503, Some("unavailable")),
        (503, Some("store_not_ready")),
        (429, Some("too_many_requests")),
        (503, None),
        (429, None),
    ] {
        let seven = Duration::from_secs(7);
        let (sizes, asked, last) = rounds(&hq, &shop, says(status, code), Some(seven)).await;
        let obeyed = Round::Obey(seven);
        assert_eq!((sizes, asked, last), (vec![4, 4, 4], 0, obeyed), "{status} {code:?}");
        let (sizes, asked, last) = rounds(&hq, &shop, says(status, code), None).await;
        assert_eq!((sizes, asked), (vec![4, 4, 4], 0), "{status} {code:?}");
        assert!(matches!(last, Round::Wait(_)), "{last:?}");
        // The same where a gateway dropped the mark.
        let Answer::Says { body, .. } = says(status, code) else { panic!("it says something") };
        let (sizes, asked, last) = rounds(&hq, &shop, between(status, &body), Some(seven)).await;
        assert_eq!((sizes, asked, last), (vec![4, 4, 4], 0, obeyed), "{status} {code:?} without the mark");
    }
}

#[tokio::test]
async fn what_headquarters_says_of_the_token_the_epoch_or_the_line_halves_nothing() {
    let hq = Arc::new(Line::good());
    let shop = shop(&hq).await;
    for (status, code) in [
        (401, None),
        (403, Some("forbidden")),
        (409, Some("epoch_changed")),
        (408, Some("request_timeout")),
        (408, None),
        (400, Some("incomplete_body")),
    ] {
        let (sizes, asked, last) = rounds(&hq, &shop, says(status, code), None).await;
        assert_eq!((sizes, asked), (vec![4, 4, 4], 0), "{status} {code:?}");
        assert!(matches!(last, Round::Wait(_)), "{status} {code:?}: {last:?}");
    }
}

#[tokio::test]
async fn while_headquarters_answers_nothing_else_either_nothing_is_halved() {
    let hq = Arc::new(Line { well: false, ..Line::good() });
    let shop = shop(&hq).await;
    for answer in [says(500, Some("internal")), between(502, ""), Answer::Breaks] {
        let (sizes, _, last) = rounds(&hq, &shop, answer, None).await;
        assert_eq!(sizes, [4, 4, 4]);
        assert!(matches!(last, Round::Wait(_)), "{last:?}");
    }
}

#[tokio::test]
async fn a_store_says_since_when_something_in_between_answers_until_headquarters_does() {
    let hq = Arc::new(Line::new(between(403, PAGE)));
    let shop = shop(&hq).await;
    let person = shop.sign_in("administrator").await;
    let (mut sender, mut cycle) = (Sender::default(), Cycle::default());
    let shown = async || person.get("/sync/status").await.ok(200)["alarms"].clone();
    let said = || hq.said.lock().expect("not poisoned").last().cloned().unwrap_or_default();
    assert_eq!(shown().await, json!([]));
    let since = shop.clock.now();
    sender.step(&shop.store).await;
    let alarm = json!([{"code": "answered_in_between", "since": since}]);
    assert_eq!(shown().await, alarm);
    shop.clock.pass(60_000);
    sender.step(&shop.store).await;
    // Other requests get through, and say it.
    cycle.step(&shop.store).await;
    assert_eq!(shown().await, alarm);
    assert!(said().contains("&alarms=answered_in_between"), "{}", said());
    hq.mend();
    send(&mut sender, &shop, 3).await;
    assert_eq!((shown().await, shop.outbox().await.len()), (json!([]), 0));

    // The page of a network answers everything: who hears of it does so when it is gone.
    hq.portal.store(true, Ordering::SeqCst);
    let since = shop.clock.now();
    cycle.step(&shop.store).await;
    assert_eq!(shown().await, json!([{"code": "answered_in_between", "since": since}]));
    hq.portal.store(false, Ordering::SeqCst);
    cycle.step(&shop.store).await;
    assert!(said().contains("&alarms=answered_in_between"), "{}", said());
    assert_eq!(shown().await, json!([]));
    cycle.step(&shop.store).await;
    assert!(!said().contains("alarms"), "{}", said());
    // A gateway that says that no server is there tells the truth.
    *hq.answer.lock().expect("not poisoned") = Some(between(503, ""));
    person.sell(json!([line("TEA", 1)])).await.ok(201);
    sender.step(&shop.store).await;
    assert_eq!(shown().await, json!([]));
}

/// Sends until nothing more is sent within `rounds`.
async fn send(sender: &mut Sender, shop: &Shop, rounds: u32) {
    for _ in 0..rounds {
        sender.step(&shop.store).await;
        // What waits alone rests by this clock.
        shop.clock.pass(20_000);
    }
}

#[tokio::test]
async fn an_entry_that_no_gateway_lets_through_waits_alone_while_the_rest_goes_on_and_goes_when_it_does() {
    let answers = [
        between(403, "forbidden word"),
        between(200, PAGE),
        says(500, Some("internal")),
        Answer::Breaks,
        Answer::Judges,
    ];
    for answer in answers {
        let hq = Arc::new(Line { poison: Some("customers"), ..Line::new(answer) });
        let shop = shop(&hq).await;
        let customer =
            shop.outbox().await.iter().find(|entry| entry.entity_type == "customers").expect("one").entity_id;
        send(&mut Sender::default(), &shop, 30).await;
        let left = shop.outbox().await;
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!((left[0].entity_id, left[0].attempts), (customer, 0));
        assert!(left[0].last_error.is_some());
        let since = left[0].waits_alone_since.expect("it waits alone");

        // It goes on waiting alone after a restart, and later entries of its entity wait behind it; others do not.
        let mut sender = Sender::default();
        let before = hq.sizes().len();
        shop.sign_in("administrator").await.sell(json!([line("TEA", 1)])).await.ok(201);
        send(&mut sender, &shop, 4).await;
        assert_eq!(hq.sizes()[before], 1, "the new sale goes first, and without it");
        let left = shop.outbox().await;
        assert_eq!(left.iter().map(|entry| entry.entity_id).collect::<Vec<_>>(), [customer]);
        assert_eq!(left[0].waits_alone_since, Some(since), "since it first did");

        hq.mend();
        send(&mut sender, &shop, 2).await;
        assert_eq!(shop.outbox().await.len(), 0);
    }
}

#[tokio::test]
async fn when_all_pushes_fail_for_long_nothing_is_dead_and_all_of_it_goes_once_they_do_not() {
    let hq = Arc::new(Line::new(between(500, r#"{"error":"upstream"}"#)));
    let shop = shop(&hq).await;
    let mut sender = Sender::default();
    send(&mut sender, &shop, 60).await;
    let waiting = shop.outbox().await;
    assert_eq!(waiting.iter().map(|entry| entry.attempts).collect::<Vec<_>>(), [0; 4]);
    assert!(waiting.iter().all(|entry| entry.waits_alone_since.is_none()), "no other one got a verdict");
    let tried: BTreeSet<i64> =
        hq.pushed.lock().expect("not poisoned").iter().rev().take(4).flatten().copied().collect();
    assert_eq!(tried.len(), 4, "they take turns");

    hq.mend();
    send(&mut sender, &shop, 4).await;
    assert_eq!(shop.outbox().await.len(), 0);
    assert_eq!(hq.sizes().last_chunk::<3>(), Some(&[1, 2, 1]), "more at once when one gets through");
}

#[tokio::test]
async fn what_waits_alone_for_a_quarter_of_an_hour_is_shown_to_people() {
    let hq = Arc::new(Line { poison: Some("customers"), ..Line::new(between(403, "forbidden word")) });
    let shop = shop(&hq).await;
    let person = shop.sign_in("administrator").await;
    let stuck = async || person.get("/sync/status").await.ok(200)["outboxStuck"].clone();
    let mut sender = Sender::default();
    for _ in 0..20 {
        sender.step(&shop.store).await;
    }
    let list = person.get("/sync/outbox").await.ok(200);
    assert_eq!((list[0]["entityType"].as_str(), list[0]["attempts"].as_i64()), (Some("customers"), Some(0)));
    assert!(
        list[0]["waitsAloneSince"].is_string()
            && list[0]["lastError"].as_str().is_some_and(|text| text.contains("403"))
    );
    assert_eq!(stuck().await, 0);
    shop.clock.pass(15 * 60_000);
    assert_eq!(stuck().await, 1);
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    // A clock that is set back a day hides nothing.
    shop.clock.advance(-24 * 3_600_000);
    // Whoever looks signs in again: a sign-in of a time to come is none.
    let person = shop.sign_in("administrator").await;
    let stuck = async || person.get("/sync/status").await.ok(200)["outboxStuck"].clone();
    assert_eq!(stuck().await, 1);
    hq.mend();
    shop.clock.pass(20_000);
    sender.step(&shop.store).await;
    assert_eq!(stuck().await, 0);
}

#[tokio::test]
async fn what_waits_alone_has_every_second_turn_however_many_customers_wait_as_well() {
    let hq = Arc::new(Line::new(Answer::Judges));
    let shop = shop(&hq).await;
    let person = shop.sign_in("administrator").await;
    for nth in 0..5 {
        person.post("/customers", json!({"lastName": format!("Customer {nth}")})).await.ok(201);
    }
    let mut sender = Sender::default();
    send(&mut sender, &shop, 9).await;
    let outbox = shop.outbox().await;
    let is_customer = |seq: &i64| outbox.iter().any(|entry| entry.seq == *seq && entry.entity_type == "customers");
    let pushed = hq.pushed.lock().expect("not poisoned").clone();
    let turns: Vec<bool> = pushed[1..].iter().map(|seqs| seqs.iter().any(is_customer)).collect();
    assert_eq!(turns, [false, true, false, true, false, true, false, true], "{pushed:?}");
    let customers: BTreeSet<i64> = pushed[1..].concat().into_iter().filter(is_customer).collect();
    assert_eq!(customers.len(), 4, "they take turns as well");
}
