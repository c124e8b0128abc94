//! `tillkeep hq reset-pin | make-admin`: for whoever has the machine of headquarters, when no user can sign in who may.

use std::sync::Arc;

use anyhow::{Context, Result};
use tillkeep_hq::backoffice::users::rescue::{self, AdministratorsPin};
use tillkeep_hq::{Hq, Settings};
use tokio_util::sync::CancellationToken;

use crate::lock::Lock;
use crate::output::say;
use crate::{configuration, run};

/// Headquarters without its listener. Servers on `PostgreSQL` learn of what is changed here; one on a file has to be stopped,
/// since it believes that no other process writes.
async fn with_headquarters<T>(
    settings: &Settings,
    command: &'static str,
    act: impl AsyncFnOnce(&Arc<Hq>) -> Result<T>,
) -> Result<T> {
    let shared = settings.database_url.as_ref().is_some_and(|url| configuration::is_postgres(url.expose()));
    if shared {
        run::refuse_no_keys(settings)?;
    }
    let _lock = if shared { None } else { Some(Lock::take(&settings.data_dir, command)?) };
    let stop = CancellationToken::new();
    let hq = Hq::for_command(settings, run::clock(), stop.clone()).await.context("headquarters cannot be opened")?;
    let done = act(&hq).await;
    stop.cancel();
    hq.left.cancelled().await;
    hq.close().await?;
    done
}

/// Gives a user a new PIN.
pub async fn reset_pin(settings: &Settings, name: &str) -> Result<()> {
    let pin =
        with_headquarters(settings, "tillkeep hq reset-pin", async |hq| Ok(rescue::reset_pin(hq, name).await?)).await?;
    say!("{name} has the PIN {pin} now. It is not shown again; another one is chosen at the first sign-in.");
    Ok(())
}

/// Removes a user's second factors.
pub async fn reset_factor(settings: &Settings, name: &str) -> Result<()> {
    let removed =
        with_headquarters(settings, "tillkeep hq reset-factor", async |hq| Ok(rescue::reset_factor(hq, name).await?))
            .await?;
    let had = removed.factors;
    if removed.pin {
        say!(
            "{name} had {had} second factors and has none now. Another person knew the PIN: it opens nothing any more; make a new one \
             with `tillkeep hq reset-pin`."
        );
    } else {
        say!("{name} had {had} second factors and has none now; the next sign-in asks for the PIN alone.");
    }
    Ok(())
}

/// Makes a user an administrator.
pub async fn make_admin(settings: &Settings, name: &str) -> Result<()> {
    let made =
        with_headquarters(settings, "tillkeep hq make-admin", async |hq| Ok(rescue::make_admin(hq, name).await?))
            .await?;
    match made {
        AdministratorsPin::Made(pin) => say!(
            "{name} is a new administrator with the PIN {pin}. It is not shown again; another one is chosen at the first sign-in."
        ),
        AdministratorsPin::AsItWas => say!(
            "{name} is an active administrator of all stores. The PIN is as it was; `tillkeep hq reset-pin {name}` gives a new one."
        ),
        AdministratorsPin::Missing => say!(
            "{name} is an active administrator of all stores and has no PIN that can still be used; `tillkeep hq reset-pin {name}` \
             gives one."
        ),
    }
    Ok(())
}
