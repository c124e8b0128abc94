//! Who asks headquarters: a person who signs in with a PIN, for as long as this takes, or whoever has an access token.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tillkeep_http::Secret;
use tillkeep_model::ErrorCode;

use super::is_standard;
use super::line::{Headquarters, Heard};
use super::patience::Patience;
use crate::secret;

/// How long the end of a session may take; it ends by itself too.
const END_WITHIN: Duration = Duration::from_secs(5);

/// By what somebody is known.
pub enum By {
    Pin { name: String, file: Option<PathBuf> },
    Token { file: Option<PathBuf> },
}

/// A headquarters that knows who asks.
pub struct Session {
    pub hq: Headquarters,
    /// Begun here, to be ended here.
    is_own: bool,
}

/// What a sign-in answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignedIn {
    access_token: Secret,
    user: User,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    must_change_pin: bool,
    #[serde(default)]
    second_factor: SecondFactor,
}

#[derive(Default, Deserialize)]
struct SecondFactor {
    missing: bool,
}

impl By {
    fn file(&self) -> Option<&Path> {
        let (Self::Pin { file, .. } | Self::Token { file }) = self;
        file.as_deref().filter(|path| !is_standard(path))
    }

    pub fn reads_standard_input(&self) -> bool {
        self.file().is_none()
    }
}

/// Signs in, or takes the token that is given.
pub async fn sign_in(hq: Headquarters, by: &By) -> Result<Session> {
    match by {
        By::Token { .. } => {
            let token = secret::read(by.file(), "the access token").await?;
            Ok(Session { hq: hq.with_token(&token)?, is_own: false })
        }
        By::Pin { name, .. } => {
            let pin = secret::read(by.file(), &format!("the PIN of {name}")).await?;
            with_pin(hq, name, &pin).await
        }
    }
}

async fn with_pin(hq: Headquarters, name: &str, pin: &Secret) -> Result<Session> {
    let heard = answered(&hq, name, pin).await?;
    if heard.status == StatusCode::UNAUTHORIZED && heard.code() == Some(ErrorCode::SecondFactorRequired) {
        bail!(
            "{name} signs in with a second factor too, which this command does not ask for. Take an access token by POST \
             /api/v1/auth/login with a code and name its file with --token-file, or use an account that needs none"
        );
    }
    if heard.status == StatusCode::UNAUTHORIZED {
        return Err(hq.refused(&heard).context(format!("{name} cannot sign in")));
    }
    let SignedIn { access_token, user } = hq.data(&heard)?;
    let session = Session { hq: hq.with_token(&access_token)?, is_own: true };
    let lacking = if user.must_change_pin {
        "has to choose another PIN first"
    } else if user.second_factor.missing {
        "has to set up a second factor first"
    } else {
        return Ok(session);
    };
    let url = session.hq.url.clone();
    session.end().await;
    bail!("{name} {lacking}: sign in at {url} with a browser")
}

/// What a sign-in is answered. While headquarters says when to come again, that is waited for.
async fn answered(hq: &Headquarters, name: &str, pin: &Secret) -> Result<Heard> {
    let body = json!({"username": name, "pin": pin.expose()});
    let mut patience = Patience::default();
    loop {
        let heard = hq.ask(hq.request(Method::POST, "/auth/login", &[])?.json(&body)).await?;
        let asked_to_wait = heard.retry_after.filter(|_| heard.comes_again());
        let Some(seconds) = asked_to_wait.and_then(|asked| patience.wait(asked)) else { return Ok(heard) };
        let why = format!("{:#}", hq.refused(&heard));
        tracing::warn!(why, seconds, "nobody is signed in yet; it is tried again");
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

impl Session {
    /// Ends what was begun here.
    pub async fn end(self) {
        if !self.is_own {
            return;
        }
        let ended = async {
            let request = self.hq.request(Method::POST, "/auth/logout", &[])?;
            anyhow::Ok(self.hq.send(request.timeout(END_WITHIN)).await?)
        };
        if let Err(error) = ended.await {
            tracing::debug!(%error, "the session ends by itself later");
        }
    }
}
