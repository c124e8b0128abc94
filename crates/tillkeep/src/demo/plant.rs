//! Plants the demo chain in a headquarters database.

use anyhow::{Context, Result, bail};
use chrono::NaiveDate;
use serde_json::json;
use tillkeep_hq::{Hq, Settings};
use tillkeep_http::Clock;
use tillkeep_http::tokens::{STORE_SYNC, SyncClaims};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::audit;
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::EntityTrait;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::chain::{self, Chain};
use crate::lock::Lock;

/// A user of the demo.
#[derive(Clone)]
pub struct Account {
    pub username: String,
    pub pin: String,
    pub role: &'static str,
    pub store_code: Option<String>,
}

/// A store of the demo with what it needs to start.
pub struct PlantedStore {
    pub id: Uuid,
    pub code: String,
    pub sync_token: String,
    pub opening_stock: Vec<(Uuid, Qty, Money)>,
}

/// The chain that a database now has.
pub struct Planted {
    pub accounts: Vec<Account>,
    pub stores: Vec<PlantedStore>,
}

impl Planted {
    pub fn account(&self, username: &str) -> Result<Account> {
        let found = self.accounts.iter().find(|account| account.username == username);
        found.cloned().with_context(|| format!("the demo has no {username}"))
    }

    /// The first account of a role in a store.
    pub fn of_store(&self, role: &str, code: &str) -> Result<Account> {
        let fits = |account: &&Account| account.role == role && account.store_code.as_deref() == Some(code);
        self.accounts.iter().find(fits).cloned().with_context(|| format!("the demo has no {role} in {code}"))
    }
}

/// Writes the chain into the database of `settings`, which must be empty or hold this very chain.
pub async fn plant(settings: &Settings, seed: u64, stores: usize) -> Result<Planted> {
    let anchor = NaiveDate::from_ymd_opt(2026, 11, 15).context("the anchor date")?;
    let chain = chain::chain(seed, anchor, stores);
    let _lock = Lock::take(&settings.data_dir, "tillkeep hq seed-demo")?;
    let stop = CancellationToken::new();
    let hq = Hq::open(settings, Clock::default(), stop.clone()).await.context("headquarters' database")?;
    let is_empty = hq.has_no_users().await?;
    hq.from_the_machine(async |tx| {
        let present = store::Entity::find().all(&*tx).await?;
        if !present.is_empty() || !is_empty {
            if !chain.stores.iter().all(|store| present.iter().any(|row| row.id == store.id)) {
                bail!("this database has data that is not the demo chain; give the demo a directory of its own");
            }
            return Ok(((), None));
        }
        let mut failed = None;
        let hash = |user: &chain::DemoUser| match hq.auth.pins.hash_here(&user.pin) {
            Ok(hashed) => (hashed.hash, hashed.lookup),
            Err(error) => {
                failed = Some(error);
                (String::new(), String::new())
            }
        };
        chain::write(tx, &chain, hash).await?;
        if let Some(error) = failed {
            bail!("a PIN could not be hashed: {error}");
        }
        let details = json!({"seed": seed, "stores": chain.stores.len()});
        Ok(((), Some(audit::Entry { action: "demo.seed", details, ..audit::Entry::default() })))
    })
    .await?;
    let planted = planted(&hq, &chain)?;
    stop.cancel();
    hq.close().await?;
    Ok(planted)
}

fn planted(hq: &Hq, chain: &Chain) -> Result<Planted> {
    let accounts = chain
        .users
        .iter()
        .map(|user| Account {
            username: user.model.username.clone(),
            pin: user.pin.clone(),
            role: user.role_code,
            store_code: user.store_code.map(str::to_owned),
        })
        .collect();
    let stores = chain
        .stores
        .iter()
        .map(|store| {
            let claims = SyncClaims {
                store_id: Some(store.id),
                store_code: store.code.clone(),
                kind: STORE_SYNC.to_owned(),
                tv: store.sync_token_version,
                iat: hq.clock.now().millis() / 1000,
                jti: Some(Uuid::now_v7()),
            };
            Ok(PlantedStore {
                id: store.id,
                code: store.code.clone(),
                sync_token: hq.auth.tokens.sign_sync(&claims).context("a sync token could not be signed")?,
                opening_stock: chain::opening_stock(chain, &store.code),
            })
        })
        .collect::<Result<_>>()?;
    Ok(Planted { accounts, stores })
}
