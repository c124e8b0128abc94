//! Calls over HTTP, as a person or a till makes them.

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::secrets;

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    pub base: String,
    pub token: Option<String>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Reply {
    /// The `data` of a success.
    #[track_caller]
    pub fn data(self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.text);
        self.body["data"].clone()
    }

    /// The `code` of a failure with this status.
    #[track_caller]
    pub fn refused(&self, status: u16) -> &str {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.body["code"].as_str().unwrap_or_default()
    }
}

impl Client {
    pub fn new(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("client");
        Self { http, base: format!("{url}/api/v1"), token: None }
    }

    /// A client that trusts one certificate authority.
    pub fn trusting(url: &str, authority: &str) -> Self {
        let certificate = reqwest::Certificate::from_pem(authority.as_bytes()).expect("a certificate");
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([certificate]).build().expect("client");
        Self { http, base: format!("{url}/api/v1"), token: None }
    }

    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Signs in; `None` while that does not work.
    pub async fn sign_in(&self, username: &str, pin: &str) -> Option<Self> {
        let reply =
            self.try_call(Method::POST, "/auth/login", Some(json!({"username": username, "pin": pin}))).await.ok()?;
        Some(self.with_token(reply.body["data"]["accessToken"].as_str()?))
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, Some(body)).await
    }

    /// A close that counts nothing of any tender that is counted, for whoever may answer for that.
    pub async fn nothing_counted(&self) -> Value {
        nothing_counted(&self.get("/tenders").await.data())
    }

    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PATCH, path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, None).await
    }

    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.try_call(method, path, body).await.expect("an answer")
    }

    /// A GET with more headers.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.try_call_with(Method::GET, path, None, headers).await.expect("an answer")
    }

    pub async fn try_call(&self, method: Method, path: &str, body: Option<Value>) -> reqwest::Result<Reply> {
        self.try_call_with(method, path, body, &[]).await
    }

    async fn try_call_with(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Reply> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        secrets::note_request(path, body.as_ref());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        secrets::check_answer(path, &body, &text);
        Ok(Reply { status, headers, body, text })
    }
}

/// As [`Client::nothing_counted`], of these tenders.
pub fn nothing_counted(tenders: &Value) -> Value {
    let tenders = tenders.as_array().into_iter().flatten();
    let counted = tenders.filter(|tender| tender["countsInClose"] == true);
    let counts: Value = counted.map(|tender| json!({"tenderId": tender["id"], "amount": 0})).collect();
    json!({"counts": counts, "acceptVariance": true})
}

/// The value of one line of the metrics at `url`.
pub async fn metric(url: &str, name: &str) -> Option<f64> {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let page = client.get(format!("{url}/metrics")).send().await.expect("an answer").text().await.expect("a text");
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}
