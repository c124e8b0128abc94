//! The people who sign in, with PINs made from the seed: shown by the command that makes the chain, and nowhere else.

use std::fmt;

use tillkeep_model::{Instant, ids, permission};
use tillkeep_storage::entity::{user, user_store_role};
use tillkeep_storage::registry;
use uuid::Uuid;

use super::names::full_name;
use super::rng::Stream;
use super::stores::{self, CODES};

const MANAGER: &str = "store_manager";
const CASHIER: &str = "cashier";
/// Cashiers of a store: one for each till.
const CASHIERS: usize = 2;
/// Manager and cashiers of a store.
const STAFF: usize = 1 + CASHIERS;

/// A user with the PIN that the row must not have.
#[derive(Clone, PartialEq, Eq)]
pub struct DemoUser {
    /// Without `pin_hash` and `pin_lookup`.
    pub model: user::Model,
    pub pin: String,
    pub role_code: &'static str,
    /// `None` is all stores.
    pub store_code: Option<&'static str>,
}

impl fmt::Debug for DemoUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DemoUser")
            .field("username", &self.model.username)
            .field("role_code", &self.role_code)
            .field("store_code", &self.store_code)
            .finish_non_exhaustive()
    }
}

pub fn id(username: &str) -> Uuid {
    ids::named(&format!("user:{username}"))
}

/// The name of the manager of the store at `index`.
pub fn manager_name(index: usize) -> String {
    let (first, last) = full_name(index * STAFF);
    format!("{first} {last}")
}

/// `admin`, then for each store its manager and its cashiers.
pub fn all(seed: u64, at: Instant, stores: usize) -> Vec<DemoUser> {
    let mut people = vec![("admin".to_owned(), "Demo Administrator".to_owned(), permission::ADMINISTRATOR, None)];
    for (index, code) in CODES.iter().copied().take(stores).enumerate() {
        people.push((format!("manager{}", index + 1), manager_name(index), MANAGER, Some(code)));
        for till in 1..=CASHIERS {
            let (first, last) = full_name(index * STAFF + till);
            people.push((
                format!("cashier{}", index * CASHIERS + till),
                format!("{first} {last}"),
                CASHIER,
                Some(code),
            ));
        }
    }
    let mut users: Vec<DemoUser> = Vec::with_capacity(people.len());
    for (number, (username, display_name, role_code, store_code)) in people.into_iter().enumerate() {
        let pin = pin(seed, &username, &users);
        let model = user::Model {
            id: id(&username),
            created_at: at,
            updated_at: at,
            username_folded: registry::fold(&username),
            display_name,
            employee_code: Some(format!("E{number:03}")),
            email: Some(format!("{username}@example.com")),
            pin_changed_at: Some(at),
            is_active: true,
            username,
            ..user::Model::default()
        };
        users.push(DemoUser { model, pin, role_code, store_code });
    }
    users
}

/// Who may do what where.
pub fn roles(at: Instant, users: &[DemoUser]) -> Vec<user_store_role::Model> {
    let row = |user: &DemoUser| {
        let place = user.store_code.unwrap_or("*");
        user_store_role::Model {
            id: ids::named(&format!("user_store_role:{}:{}:{place}", user.model.username, user.role_code)),
            created_at: at,
            updated_at: at,
            user_id: user.model.id,
            role_id: ids::role(user.role_code),
            store_id: user.store_code.map(stores::id),
            ..user_store_role::Model::default()
        }
    };
    users.iter().map(row).collect()
}

/// Six digits that no user before has and no guesser tries first.
fn pin(seed: u64, username: &str, users: &[DemoUser]) -> String {
    let mut stream = Stream::new(seed, &format!("pin:{username}"));
    loop {
        let pin = format!("{:06}", stream.below(1_000_000));
        if !is_weak(&pin) && users.iter().all(|user| user.pin != pin) {
            return pin;
        }
    }
}

/// Stricter than the rule for everybody: no repeat, run or year anywhere in it.
pub fn is_weak(pin: &str) -> bool {
    let digits = pin.as_bytes();
    let counts = |by: i16| {
        let step = |pair: &[u8]| i16::from(pair[1]) - i16::from(pair[0]) == by;
        digits.windows(3).any(|three| three.windows(2).all(step))
    };
    let repeats = |period: usize| digits.iter().zip(digits.iter().skip(period)).all(|(one, later)| one == later);
    let year = digits.windows(4).any(|four| four.starts_with(b"19") || four.starts_with(b"20"));
    counts(0) || counts(1) || counts(-1) || repeats(2) || repeats(3) || year
}
