//! P12: what a large cart costs where hundreds of specials are in force, beside the same cart without one, also while
//! headquarters edits them.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Bench;
use super::chain::{Chain, text};
use super::figure::{Figure, Measurement, Sample};
use super::http::{Line, request};
use super::statistics::Times;

const LINES: usize = 100;
const SPECIALS: usize = 500;
/// Between two edits of specials.
const PAUSE: Duration = Duration::from_millis(500);

/// 99 % of a cart without specials, median and 99 % of one with them, and how the second compares.
struct Figures {
    plain: &'static str,
    special: [&'static str; 2],
    compared: &'static str,
    /// Whether somebody edits specials meanwhile.
    is_edited: bool,
}

const QUIET: Figures = Figures {
    plain: "no special, p99",
    special: ["500 specials, median", "500 specials, p99"],
    compared: "500 specials, p99, of that without",
    is_edited: false,
};
const EDITED: Figures = Figures {
    plain: "no special, edits, p99",
    special: ["500 specials, edits, median", "500 specials, edits, p99"],
    compared: "500 specials, edits, p99, of that without",
    is_edited: true,
};

pub const MEASUREMENT: Measurement = Measurement {
    id: "P12",
    title: "quote of 100 lines, each of which 500 specials concern, with two edits of them a second",
    figures: &[
        Figure::shown(QUIET.plain, "ms"),
        Figure::shown(QUIET.special[0], "ms"),
        Figure::most(QUIET.special[1], "ms", 15.0),
        Figure::most(QUIET.compared, "times", 2.0),
        Figure::shown(EDITED.plain, "ms"),
        Figure::shown(EDITED.special[0], "ms"),
        Figure::most(EDITED.special[1], "ms", 15.0),
        Figure::most(EDITED.compared, "times", 2.0),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    let (plain, cheaper) = (chain.department("PLAIN").await?, chain.department("CHEAPER").await?);
    let plain = chain.products_of(&plain, 0..LINES).await?;
    let products = chain.products_of(&cheaper, LINES..2 * LINES).await?;
    let mut specials = Vec::with_capacity(SPECIALS);
    for number in 0..SPECIALS {
        specials.push(text(&chain.admin.post("/specials", special(number, &cheaper)).await?, "id")?);
    }
    let store = chain.provision().await?;
    let server = chain.open(&store).await?;
    let there = store.caught_up(&chain, &server).await?;
    let carts = [plain, products].map(|products| {
        let lines: Vec<Value> = products.iter().map(|id| json!({"productId": id, "quantity": 3})).collect();
        json!({"lines": lines})
    });
    let cost = there.post("/pos/quote", carts[1].clone()).await?;
    if cost["specialDiscount"].as_i64().unwrap_or_default() == 0 {
        bail!("no special was charged: {}", cost["totalAmount"]);
    }
    let carts = carts.map(|cart| request("POST", "/pos/quote", &there.token, &cart.to_string()));
    both(&server.url, &carts, bench.sizes.warm_up()).await?;
    let mut samples = Vec::new();
    for figures in [QUIET, EDITED] {
        let over = CancellationToken::new();
        // Percents alone, which come first: as many edits that change a price.
        let edited = if figures.is_edited { specials[..SPECIALS / 5].to_vec() } else { Vec::new() };
        let edits = edit(chain.hq.url.clone(), chain.admin.token.clone(), edited, over.clone());
        let edits = tokio::spawn(edits);
        let [mut plain, mut special] = both(&server.url, &carts, bench.sizes.load()).await?;
        over.cancel();
        edits.await??;
        let (without, with) = (plain.percentile(99), special.percentile(99));
        samples.extend([
            Sample::new(figures.plain, without),
            Sample::new(figures.special[0], special.median()),
            Sample::new(figures.special[1], with),
            Sample::new(figures.compared, with / without.max(f64::MIN_POSITIVE)),
        ]);
    }
    server.stop().await;
    chain.stop().await;
    Ok(samples)
}

/// One of each type, by turns of a fifth each.
fn special(number: usize, department: &str) -> Value {
    let mut special = json!({
        "code": format!("SPECIAL-{number:03}"), "name": format!("Special number {number}"), "departmentId": department,
        "priority": number % 3,
    });
    let kind = match number * 5 / SPECIALS {
        0 => json!({"type": "percent_off", "percentBps": 100 + number}),
        1 => json!({"type": "amount_off", "amount": 1 + number}),
        2 => json!({"type": "fixed_price", "fixedPrice": 900 + number}),
        3 => json!({"type": "multi_buy", "bundleQuantity": 2 + number % 4, "bundlePrice": 1500 + number}),
        _ => json!({"type": "buy_x_get_y", "buyQuantity": 1 + number % 3, "getQuantity": 1, "getDiscountBps": 10_000}),
    };
    if let (Some(special), Value::Object(kind)) = (special.as_object_mut(), kind) {
        special.extend(kind);
    }
    special
}

/// Asks for both carts in turn, so that whatever else the machine does falls on both.
async fn both(url: &str, carts: &[Vec<u8>; 2], time: Duration) -> Result<[Times; 2]> {
    let mut line = Line::open(url).await?;
    let mut times = [Times::default(), Times::default()];
    let begun = Instant::now();
    while begun.elapsed() < time {
        for (cart, times) in carts.iter().zip(&mut times) {
            let sent = Instant::now();
            line.expect(cart).await?;
            times.add(sent.elapsed());
        }
    }
    Ok(times)
}

/// Somebody at headquarters who edits these specials by turns.
async fn edit(url: String, token: String, specials: Vec<String>, over: CancellationToken) -> Result<()> {
    let mut line = Line::open(&url).await?;
    for (number, id) in specials.iter().cycle().enumerate() {
        let change = json!({"percentBps": 1000 + number % 500}).to_string();
        line.expect(&request("PATCH", &format!("/specials/{id}"), &token, &change)).await?;
        if over.run_until_cancelled(tokio::time::sleep(PAUSE)).await.is_none() {
            break;
        }
    }
    Ok(())
}
