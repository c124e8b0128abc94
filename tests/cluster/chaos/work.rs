//! What goes on meanwhile: tills that sell, undo, give back and exchange, and an office that edits what they sell.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::dice::Dice;
use crate::kit::{Client, Shift, id};

/// What there is to sell, the newest last. The office adds to it, so that price edits meet the first sales of a product.
#[derive(Clone)]
pub struct Goods(Arc<Mutex<Vec<String>>>);

impl Goods {
    pub fn new(products: Vec<String>) -> Self {
        Self(Arc::new(Mutex::new(products)))
    }

    fn add(&self, product: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(product);
    }

    /// The newest one every third time, else any.
    fn any(&self, dice: &mut Dice) -> String {
        let products = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = if dice.below(3) == 0 { products.len() - 1 } else { dice.below(products.len()) };
        products[place].clone()
    }
}

pub fn at_work(mut shift: Shift, goods: Goods, seed: u64, stop: Arc<AtomicBool>) -> JoinHandle<Shift> {
    tokio::spawn(async move {
        let mut dice = Dice(seed);
        while !stop.load(Ordering::Relaxed) {
            let product = goods.any(&mut dice);
            match dice.below(40) {
                0 => shift.drawer(true).await,
                1 => shift.customer("Hopper").await,
                2 => shift.receive(&product, 5).await,
                drawn @ 3..12 => {
                    let line = json!({"type": "percent", "bps": 100 * drawn, "reason": "A friend"});
                    let cart = json!({"type": "amount", "amount": drawn, "reasonCode": "staff"});
                    shift.sell_for_less(&product, 3, line, cart).await;
                }
                12 => drop(shift.void().await),
                13..16 => drop(shift.give_back().await),
                16 => drop(shift.exchange(&product).await),
                _ => drop(shift.sell(&product, 1).await),
            }
            sleep(dice.millis(5, 40)).await;
        }
        shift
    })
}

/// Who edits, and what.
pub struct Office {
    pub admin: Client,
    /// A product, but for its SKU.
    pub product: Value,
    /// The role with permissions that come and go.
    pub role: String,
    /// A special on everything, which begins and ends.
    pub special: String,
}

impl Office {
    /// A special on a department, on which discounts may be given too; its id.
    pub async fn special(admin: &Client, department: &str) -> String {
        let special = json!({
            "code": "ALWAYS", "name": "Always cheaper", "type": "percent_off", "percentBps": 1000, "isStackable": true,
            "departmentId": department,
        });
        id(&admin.post("/specials", special).await.data())
    }
}

/// Edits at headquarters: prices, products that come and go and that stay, a customer, what a role may do. How many answers
/// were wrong.
pub fn at_office(office: Office, goods: Goods, stop: Arc<AtomicBool>) -> JoinHandle<usize> {
    tokio::spawn(async move {
        let Office { admin, product, role, special } = office;
        let mut dice = Dice(1);
        let (mut turn, mut wrong) = (0, 0);
        while !stop.load(Ordering::Relaxed) {
            turn += 1;
            let call = match turn % 7 {
                kind @ (0 | 3) => {
                    let mut product = product.clone();
                    product["sku"] = format!("T{}", uuid::Uuid::now_v7().simple()).into();
                    let made = admin.try_call(Method::POST, "/products", Some(product)).await;
                    if let Ok(made) = made
                        && made.status.is_success()
                    {
                        let made = id(&made.body["data"]);
                        if kind == 3 {
                            goods.add(made);
                            continue;
                        }
                        sleep(Duration::from_millis(50)).await;
                        drop(admin.try_call(Method::DELETE, &format!("/products/{made}"), None).await);
                    }
                    continue;
                }
                1 => {
                    let codes = if turn % 2 == 0 { json!(["pos.sell"]) } else { json!(["pos.sell", "inventory.view"]) };
                    let path = format!("/roles/{role}/permissions");
                    admin.try_call(Method::PUT, &path, Some(json!({"permissions": codes}))).await
                }
                6 => {
                    let change = json!({"percentBps": 100 + turn % 2000, "isActive": turn % 3 > 0});
                    admin.try_call(Method::PATCH, &format!("/specials/{special}"), Some(change)).await
                }
                2 => admin.try_call(Method::POST, "/customers", Some(json!({"lastName": "Office"}))).await,
                _ => {
                    let path = format!("/products/{}", goods.any(&mut dice));
                    admin.try_call(Method::PATCH, &path, Some(json!({"price": 1000 + turn}))).await
                }
            };
            if let Ok(reply) = call
                && reply.status.is_server_error()
                && reply.status != 503
            {
                eprintln!("headquarters answered {}: {}", reply.status, reply.text);
                wrong += 1;
            }
            sleep(Duration::from_millis(60)).await;
        }
        wrong
    })
}
