//! The server itself: whether it runs and answers, or could listen.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use tokio::net::{TcpSocket, lookup_host};

use super::asking::{self, Heard};
use super::finding::{Checked, Finding, Unchecked, fault, note, ok, warning};
use super::installation::Installation;
use crate::lock::Holder;

/// A server that runs answers; where none runs, its ports are free.
pub async fn served(at: Arc<Installation>) -> Checked {
    let Some(Holder { note: who, url }) = &at.holder else {
        let mut found = vec![note("it does not run")];
        for (what, listen) in [("listen (TILLKEEP_LISTEN)", &*at.listen), ("metrics_listen", at.metrics_listen())] {
            if !listen.is_empty() {
                found.push(free(what, listen).await);
            }
        }
        return Ok(found);
    };
    let Some(url) = url else {
        return Ok(vec![note(format!("the data directory is in use by {who}, which does not listen"))]);
    };
    let asked = match asking::client_of_this_machine() {
        Ok(client) => asking::ask(&client, url, "/ready", &at.clock).await,
        Err(error) => Err(error),
    };
    if asked.is_err() {
        at.wait_no_more();
    }
    Ok(vec![match asked {
        Ok(Heard { status: 200, .. }) => ok(format!("it runs and is ready: {who}")),
        Ok(Heard { status, .. }) => fault(
            format!("it runs and is not ready, GET /ready says {status}: {who}"),
            "its log says why: the database does not answer, or it is about to stop",
        ),
        Err(error) => fault(
            format!("it has the data directory and does not answer ({error}): {who}"),
            "look at its log, and restart it; a kill loses no answered sale",
        ),
    }])
}

/// Whether a server could listen there. Nothing listens: whoever holds the port is not noticed, and notices nothing.
async fn free(what: &str, listen: &str) -> Finding {
    let port = listen.rsplit(':').next().unwrap_or_default();
    match bound(listen).await {
        Ok(()) => ok(format!("{what} {listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => fault(
            format!("{what} {listen} is taken by another program: the server would not start"),
            format!("`ss -ltnp 'sport = :{port}'` says by which; stop that, or name another address"),
        ),
        Err(error) => fault(
            format!("{what} {listen} cannot be listened on: {error}"),
            "name an address of this machine, with a port above 1023 unless the server may use the lower ones",
        ),
    }
}

async fn bound(listen: &str) -> io::Result<()> {
    let mut failed = io::Error::new(ErrorKind::InvalidInput, "it names no address");
    for address in lookup_host(listen).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // As the server does, which comes back while old connections of it fade.
        socket.set_reuseaddr(true)?;
        match socket.bind(address) {
            Ok(()) => return Ok(()),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// What a running store says is wrong with it.
pub async fn alarms(at: Arc<Installation>) -> Checked {
    let Some(url) = at.url() else {
        return Err(Unchecked::Because("the server does not run, and says nothing of itself".to_owned()));
    };
    if at.url_that_answers().is_none() {
        return Err(Unchecked::Because("the server does not answer".to_owned()));
    }
    let client = asking::client_of_this_machine().map_err(Unchecked::Failed)?;
    let heard = asking::ask(&client, url, "/ready", &at.clock).await.map_err(Unchecked::Failed)?;
    let said = heard.data();
    let mut found = Vec::new();
    for alarm in said["alarms"].as_array().into_iter().flatten() {
        let of = |name: &str| alarm[name].as_str().unwrap_or_default().to_owned();
        found.push(warning(
            format!("alarm {} since {}", of("code"), of("since")),
            format!("docs/operations.md, Alarms of a store, says what to do about {}", of("code")),
        ));
    }
    match gauge_of(&at, "tillkeep_unstored_types").await {
        Some(0) => {}
        Some(types) => found.push(fault(
            format!("of {types} types the store could not store what it pulled"),
            "its log says why (`a type could not be stored`): make room, update the store, or put back a backup",
        )),
        None => {
            found.push(note("whether it could store what it pulled is not checked: its /metrics do not answer here"));
        }
    }
    if found.is_empty() {
        found.push(ok("none"));
    }
    Ok(found)
}

/// A whole figure of the running server, by its name.
pub async fn gauge_of(at: &Installation, name: &str) -> Option<u64> {
    let url = at.url_that_answers()?;
    let apart = at.metrics_listen();
    let base = if apart.is_empty() { url.to_owned() } else { format!("http://{apart}") };
    let client = asking::client_of_this_machine().ok()?;
    let heard = asking::ask(&client, &base, "/metrics", &at.clock).await.ok()?;
    gauge(&heard.text, name).filter(|_| heard.status == 200)
}

fn gauge(page: &str, name: &str) -> Option<u64> {
    let figure = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    figure.split('.').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_figure_is_found_by_its_whole_name() {
        let page = "# HELP tillkeep_hq_connected 1 while\ntillkeep_hq_connected_seconds 9\ntillkeep_hq_connected 1\n\
                    tillkeep_alarms{alarm=\"clock_off\"} 0\n";
        assert_eq!(gauge(page, "tillkeep_hq_connected"), Some(1));
        assert_eq!(gauge(page, "tillkeep_alarms"), None);
        assert_eq!(gauge("tillkeep_hq_connected 2.0", "tillkeep_hq_connected"), Some(2));
    }

    #[tokio::test]
    async fn a_port_that_another_program_listens_on_is_taken_and_free_when_it_is_gone() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let listen = taken.local_addr().expect("an address").to_string();
        let found = free("listen", &listen).await;
        assert!(found.level == Level::Fault && found.text.contains(&listen), "{found:?}");
        assert!(found.remedy.is_some_and(|remedy| remedy.contains("ss -ltnp")));
        drop(taken);
        assert_eq!(free("listen", &listen).await.level, Level::Ok);
        assert_eq!(free("listen", "192.0.2.1:8080").await.level, Level::Fault, "no address of this machine");
    }
}
