//! Which processes are found to run at once, and which of two goes on.

use super::*;

fn at(seconds: i64) -> Instant {
    Instant::default().plus_millis(seconds * 1000)
}

/// A process with what it has to present.
struct Copy {
    instance: Uuid,
    nonce: Option<Uuid>,
    made: Made,
}

impl Copy {
    fn start() -> Self {
        Self { instance: Uuid::new_v4(), nonce: None, made: Made::default() }
    }

    /// One that says how many receipts it has made.
    fn with(receipts: i64) -> Self {
        let mut copy = Self::start();
        copy.made(receipts);
        copy
    }

    fn made(&mut self, receipts: i64) {
        self.made.series = Some([("receipt:01".to_owned(), receipts)].into());
    }

    /// A handshake with an answer that comes; false when it is refused.
    fn handshake(&mut self, hq: &mut Processes, now: Instant) -> bool {
        let refused = hq.sign(self.instance, self.nonce, now).refused.is_some();
        if !refused {
            self.nonce = Some(hq.give(self.instance, &self.made, now));
        }
        !refused
    }

    /// A handshake with an answer that goes nowhere, with what it presented then.
    fn late(&self, hq: &mut Processes, nonce: Option<Uuid>, now: Instant) {
        if hq.sign(self.instance, nonce, now).refused.is_none() {
            hq.give(self.instance, &self.made, now);
        }
    }

    /// A quiet cycle.
    fn cycle(&mut self, hq: &mut Processes, now: Instant) -> bool {
        let sign = hq.sign(self.instance, self.nonce, now);
        if sign.asks || sign.refused.is_some() {
            return self.handshake(hq, now) && hq.sign(self.instance, self.nonce, now).refused.is_none();
        }
        true
    }

    fn starts(&mut self, hq: &mut Processes, now: Instant) {
        assert!(self.handshake(hq, now) && self.cycle(hq, now));
    }
}

/// Two that come one after the other, both awake from `seconds` on: whether the first one goes on, and why.
fn meet(hq: &mut Processes, first: &mut Copy, later: &mut Copy, seconds: i64) -> (bool, Because, bool) {
    first.cycle(hq, at(seconds));
    later.cycle(hq, at(seconds + 1));
    let goes_on = first.cycle(hq, at(seconds + 2));
    assert_eq!(later.cycle(hq, at(seconds + 3)), !goes_on, "one of the two is the store");
    let refused = hq.refusal(if goes_on { later.instance } else { first.instance }).expect("one is refused");
    (goes_on, refused.because, refused.sends)
}

#[test]
fn restarts_and_whatever_arrives_late_or_twice_are_never_called_two() {
    let mut hq = Processes::default();
    let mut ended: Vec<Copy> = Vec::new();
    for round in 0..200_usize {
        let mut process = Copy::with(i64::try_from(round % 7).expect("small"));
        let now = at(i64::try_from(round * 500).expect("small"));
        assert!(process.handshake(&mut hq, now), "{round}");
        for _ in 0..round % 4 {
            assert!(process.cycle(&mut hq, now), "{round}");
            // Its own request once more, and those of processes before it.
            process.late(&mut hq, process.nonce, now);
            for old in ended.iter().rev().take(3) {
                old.late(&mut hq, old.nonce, now);
                old.late(&mut hq, None, now);
                hq.sign(old.instance, old.nonce, now);
            }
            // The first handshake of a process that ended before it was heard.
            Copy::start().late(&mut hq, None, now);
        }
        ended.push(process);
    }
    assert_eq!(hq.running_twice(at(0)), None);
    assert!(hq.refused.is_empty());
}

#[test]
fn of_two_that_run_at_once_the_one_heard_later_is_refused_within_a_cycle_of_both() {
    let mut hq = Processes::default();
    let (mut first, mut later) = (Copy::start(), Copy::start());
    first.starts(&mut hq, at(0));
    later.starts(&mut hq, at(5));
    assert_eq!(hq.running_twice(at(5)), None, "it may be a restart");
    assert!(first.cycle(&mut hq, at(30)));
    assert_eq!(hq.running_twice(at(30)), None, "the other one may have ended meanwhile");
    assert!(!later.cycle(&mut hq, at(35)));
    assert_eq!(hq.running_twice(at(35)), Some(at(35)));
    assert_eq!(hq.refusal(later.instance).expect("refused"), Refusal { because: Because::Earlier, sends: false });
    assert!(first.cycle(&mut hq, at(60)) && !later.handshake(&mut hq, at(65)));
    assert!(hq.running_twice(at(66)).is_some());
    // It is stopped: after a while nothing is shown, and its name stays refused.
    assert_eq!(hq.running_twice(at(365)), None);
    assert!(!later.handshake(&mut hq, at(400)));
    // The other one starts again.
    let mut restarted = Copy::start();
    assert!(restarted.handshake(&mut hq, at(401)) && restarted.cycle(&mut hq, at(431)));
}

#[test]
fn who_takes_over_is_the_store_and_the_other_one_is_refused_also_after_headquarters_restarted() {
    let mut hq = Processes::default();
    let (mut first, mut later) = (Copy::start(), Copy::start());
    first.starts(&mut hq, at(0));
    later.starts(&mut hq, at(5));
    assert!(first.cycle(&mut hq, at(30)) && !later.cycle(&mut hq, at(35)));
    hq.take_over(later.instance, at(40));
    assert!(later.handshake(&mut hq, at(40)) && later.cycle(&mut hq, at(70)));
    assert!(!first.cycle(&mut hq, at(71)));
    let mut restarted = Processes { refused: hq.refused, ..Processes::default() };
    assert!(
        later.handshake(&mut restarted, at(100))
            && later.cycle(&mut restarted, at(101))
            && !first.handshake(&mut restarted, at(102))
    );
    assert_eq!(restarted.running_twice(at(103)), Some(at(40)));
}

#[test]
fn of_two_copies_the_one_with_newer_documents_goes_on_and_at_a_tie_the_one_heard_while_the_other_was_silent() {
    // How many the first one had made when it fell silent, and the other one when it woke; whether it was silent for an hour.
    let cases = [
        (5, 8, true, (false, Because::Newer, true)),
        (5, 5, true, (false, Because::Heard, true)),
        (5, 3, true, (true, Because::Torn, true)),
        (5, 8, false, (false, Because::Newer, true)),
        (5, 5, false, (true, Because::Earlier, false)),
        (5, 3, false, (true, Because::Newer, false)),
    ];
    for (of_first, of_later, silent, expected) in cases {
        let mut hq = Processes::default();
        let (mut first, mut later) = (Copy::with(3), Copy::with(3));
        first.starts(&mut hq, at(0));
        first.made(of_first);
        later.starts(&mut hq, at(10));
        later.made(of_later);
        let wakes = if silent { 3600 } else { 30 };
        for seconds in (40..wakes).step_by(30) {
            assert!(later.cycle(&mut hq, at(seconds)));
        }
        let met = meet(&mut hq, &mut first, &mut later, wakes);
        assert_eq!(met, expected, "{of_first} and {of_later}, silent: {silent}");
    }
}

#[test]
fn a_process_that_thaws_wins_nothing_by_what_it_asks_before_its_handshake() {
    let mut hq = Processes::default();
    let (mut frozen, mut other) = (Copy::with(5), Copy::with(5));
    frozen.starts(&mut hq, at(0));
    other.starts(&mut hq, at(100));
    other.made(9);
    for seconds in 3600..3700 {
        // Its push, which presents nothing, its question with the old nonce, and a handshake of before that comes late.
        assert_eq!(hq.sign(frozen.instance, None, at(seconds)).news, None);
        let sign = hq.sign(frozen.instance, frozen.nonce, at(seconds));
        assert_eq!((sign.news, sign.refused), (None, None));
        assert!(sign.asks, "it is asked who it is");
        frozen.late(&mut hq, frozen.nonce, at(seconds));
        assert!(other.cycle(&mut hq, at(seconds)));
    }
    assert_eq!(meet(&mut hq, &mut frozen, &mut other, 3700), (false, Because::Newer, true));
}

#[test]
fn a_replacement_that_ended_while_the_other_one_was_frozen_takes_nothing_from_it() {
    let mut hq = Processes::default();
    let (mut frozen, mut other) = (Copy::with(5), Copy::with(5));
    frozen.starts(&mut hq, at(0));
    other.starts(&mut hq, at(100));
    other.made(9);
    for seconds in (130..3600).step_by(30) {
        assert!(other.cycle(&mut hq, at(seconds)));
    }
    for seconds in (3600..7200).step_by(30) {
        assert!(frozen.cycle(&mut hq, at(seconds)), "no other process is there");
    }
    assert_eq!(hq.running_twice(at(7200)), None);
}

#[test]
fn numbers_that_a_process_took_over_from_the_other_one_are_none_that_it_made() {
    let mut hq = Processes::default();
    let (mut frozen, mut other) = (Copy::with(5), Copy::with(5));
    frozen.starts(&mut hq, at(0));
    other.starts(&mut hq, at(100));
    other.made(9);
    assert!(frozen.cycle(&mut hq, at(110)));
    // The answer named higher numbers, and it has sold one since.
    frozen.made(10);
    assert!(frozen.handshake(&mut hq, at(111)) && frozen.cycle(&mut hq, at(112)));
    assert_eq!(meet(&mut hq, &mut frozen, &mut other, 113), (false, Because::Newer, true));
}

#[test]
fn they_are_none_that_it_made_when_the_other_one_was_answered_in_between_either() {
    let mut hq = Processes::default();
    let (mut frozen, mut other) = (Copy::with(2), Copy::with(2));
    frozen.starts(&mut hq, at(0));
    frozen.made(3);
    other.starts(&mut hq, at(1));
    other.made(5);
    assert!(frozen.handshake(&mut hq, at(2)));
    // The answer named the numbers of the other one, whose next answer is under way when this one is asked again.
    frozen.made(5);
    assert!(other.handshake(&mut hq, at(3)));
    assert!(frozen.cycle(&mut hq, at(4)));
    assert!(other.cycle(&mut hq, at(5)));
    assert_eq!(hq.refusal(frozen.instance), Some(Refusal { because: Because::Newer, sends: true }));
}

#[test]
fn what_a_process_sold_long_after_it_met_the_other_one_counts() {
    let mut hq = Processes::default();
    let (mut first, mut frozen) = (Copy::with(2), Copy::with(2));
    first.starts(&mut hq, at(0));
    frozen.starts(&mut hq, at(1));
    assert!(first.cycle(&mut hq, at(30)));
    // It sells for an hour while the other one, which has sold one, is frozen.
    first.made(9);
    frozen.made(3);
    assert!(frozen.handshake(&mut hq, at(3600)));
    assert!(first.cycle(&mut hq, at(3601)));
    assert!(!frozen.cycle(&mut hq, at(3602)));
    assert_eq!(hq.refusal(frozen.instance), Some(Refusal { because: Because::Newer, sends: false }));
}

#[test]
fn what_an_older_headquarters_noted_is_read_and_what_is_noted_now_it_can_read() {
    let instance = Uuid::from_u128(1);
    let noted = format!(
        r#"{{"turn": 2, "known": [{{"instance": "{instance}", "given": [["{instance}", 2]], "alive": [1, 2]}}],
            "refused": [{{"instance": "{0}", "other": "{instance}", "since": "2026-11-25T10:00:00Z", "heard_at": null}}]}}"#,
        Uuid::from_u128(2)
    );
    let read: Processes = serde_json::from_str(&noted).expect("as it was");
    assert!(read.expects(instance, Some(instance)));
    let refused = Refusal { because: Because::Earlier, sends: false };
    assert_eq!(read.refusal(Uuid::from_u128(2)), Some(refused));
    let again: serde_json::Value = serde_json::to_value(&read).expect("JSON");
    for key in ["instance", "given", "alive"] {
        assert!(!again["known"][0][key].is_null(), "{key}");
    }
}
