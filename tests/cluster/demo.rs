//! `tillkeep demo`, as who tries it meets it: what it prints is enough to begin.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::kit::{Client, eventually};

struct Demo {
    process: Child,
    /// What it printed up to the end of its accounts.
    text: String,
}

impl Demo {
    fn start(dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
        command.args(["demo", "--stores", "2", "--pace", "600", "--data-dir"]).arg(dir).env_clear();
        // It ends its servers by `kill`.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut demo = Self { process: process.expect("the program runs"), text: String::new() };
        let lines = BufReader::new(demo.process.stdout.take().expect("output")).lines().map_while(Result::ok);
        let mut has_accounts = false;
        for line in lines {
            has_accounts |= line.trim_start().starts_with("Account");
            if has_accounts && line.is_empty() {
                return demo;
            }
            demo.text.push_str(&line);
            demo.text.push('\n');
        }
        panic!("it ended at once: {}", demo.text);
    }

    /// The address and the account in the line that begins so.
    fn place(&self, begin: &str) -> (&str, &str, &str) {
        let line = self.text.lines().find(|line| line.trim_start().starts_with(begin));
        let words: Vec<&str> = line.unwrap_or_else(|| panic!("{begin} in {}", self.text)).split(' ').collect();
        let after = |word: &str| {
            let at = words.iter().position(|have| *have == word)?;
            words.get(at + 1).copied()
        };
        (after("Open").unwrap_or_default(), after("as").expect("a name"), after("PIN").expect("a PIN"))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It ends its servers.
        drop(Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status());
        drop(self.process.wait());
    }
}

async fn page(url: &str) -> (u16, String) {
    let browser = reqwest::Client::builder().no_proxy().build().expect("a client");
    let answer = browser.get(url).header("accept", "text/html").send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a text"))
}

fn count(list: &Json) -> Option<usize> {
    list.as_array().map(Vec::len)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_prints_three_places_with_who_signs_in_and_leaves_its_last_store_to_the_reader() {
    let dir = TempDir::new().expect("dir");
    let demo = Demo::start(dir.path());
    let (hq, name, pin) = demo.place("Headquarters");
    let admin = Client::new(hq).sign_in(name, pin).await.expect("the administrator signs in");
    assert_eq!(page(hq).await.0, 200);

    let (pages, name, pin) = demo.place("Store S02");
    assert!(page(pages).await.1.starts_with("<!doctype html>"), "{pages}");
    let url = pages.strip_suffix("/store").expect("the pages of the store");
    let manager = Client::new(url).sign_in(name, pin).await.expect("the manager signs in");
    let registers = manager.get("/registers").await.data();
    assert_eq!((count(&registers), &registers[0]["openSession"]), (Some(1), &Json::Null), "{registers}");
    for path in ["/devices", "/register-sessions", "/pos/sales"] {
        assert_eq!(manager.get(path).await.data(), json!([]), "{path}: nobody was there before the reader");
    }
    let stock = manager.get("/inventory?sort=-quantity&pageSize=1").await.data();
    assert!(stock[0]["quantity"].as_f64().is_some_and(|quantity| quantity > 0.0), "{stock}");

    let (till, of_manager, _) = demo.place("Till of S02");
    assert_eq!((till.strip_suffix("/till"), of_manager), (Some(url), name));
    assert!(page(till).await.1.starts_with("<!doctype html>"), "{till}");
    let (_, _, pin) = demo.place("Then sell as");
    let terminal = &registers[0]["terminalId"];
    let body = json!({"pin": pin, "storeId": stock[0]["storeId"], "terminalId": terminal});
    let signed_in = Client::new(url).post("/auth/pin-login", body).await.data();
    let cashier = Client::new(url).with_token(signed_in["accessToken"].as_str().expect("a token"));
    let begin = cashier.get("/pos/bootstrap").await.data();
    assert_eq!((&begin["register"]["id"], &begin["session"]), (&registers[0]["id"], &Json::Null));
    assert_eq!(count(&cashier.get("/pos/products?pageSize=5").await.data()), Some(5), "products to sell");

    eventually("the other store sells by itself", async || {
        let sales = admin.get("/sales?saleType=sale&pageSize=5").await.data();
        (count(&sales)? > 0).then_some(())
    })
    .await;
    assert_eq!(manager.get("/pos/sales").await.data(), json!([]), "and nobody in the reader's");
}
