//! Asks the signing device for what is stored: what was committed just before a crash is found in the chains at the next start.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::words::SignatureState;
use tillkeep_storage::DbErr;
use tillkeep_storage::fiscal::signatures::{self, Outcome};

use crate::Store;
use crate::signer::Signer;

/// How long the device may take for one signature.
const PATIENCE: Duration = Duration::from_secs(10);
/// After that a device that did not sign is asked again.
const AGAIN: Duration = Duration::from_secs(30);

impl Store {
    /// The device that signs what this store makes from here on. Before its background work is started; false when there is one.
    pub fn sign_with(&self, signer: Arc<dyn Signer>) -> bool {
        self.signing.set(signer)
    }

    /// Asks the device for all that has no signature, the oldest first, until it does not sign; how many entries it signed.
    pub async fn sign_what_waits(&self) -> Result<u64, DbErr> {
        let Some(device) = self.signing.signer().cloned() else { return Ok(0) };
        let now = self.clock.now();
        let id = self.id;
        self.by_itself(move |tx| Box::pin(async move { signatures::collect(tx, id, now).await })).await?;
        let mut signed = 0;
        // What it did not sign before is older than what waits.
        for state in [SignatureState::CouldNotSign, SignatureState::Waiting] {
            loop {
                let unsigned = signatures::unsigned(self.reader(), state).await?;
                if unsigned.is_empty() {
                    break;
                }
                for entry in unsigned {
                    let said = ask(&*device, &entry.hash).await;
                    let is_signed = said.is_ok();
                    let outcome = Outcome { entry_id: entry.entry_id, said };
                    let (name, now) = (device.name(), self.clock.now());
                    self.by_itself(move |tx| Box::pin(async move { signatures::keep(tx, &name, &outcome, now).await }))
                        .await?;
                    if !is_signed {
                        return Ok(signed);
                    }
                    signed += 1;
                }
            }
        }
        Ok(signed)
    }
}

async fn ask(signer: &dyn Signer, hash: &str) -> Result<String, String> {
    let said = tokio::time::timeout(PATIENCE, signer.sign(hash)).await;
    let said =
        said.unwrap_or_else(|_| Err(format!("{} gave no answer within {} s", signer.name(), PATIENCE.as_secs())));
    said.inspect_err(|error| tracing::warn!(signer = %signer.name(), error, "the signing device did not sign"))
}

/// Signs until the store stops; ends at once where there is no device.
pub(crate) async fn run(store: Arc<Store>) {
    while store.signing.signer().is_some() {
        tokio::select! {
            signed = store.sign_what_waits() => if let Err(error) = signed {
                tracing::warn!(%error, "signatures cannot be kept");
            },
            // What the device said and nobody kept it is asked once more.
            () = store.stop.cancelled() => return,
        }
        tokio::select! {
            () = store.stop.cancelled() => return,
            () = store.signing.rung() => {}
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}
