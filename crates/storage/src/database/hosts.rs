//! The servers that the address of a database names, and which of them is connected to. The driver knows one host: what it is
//! given follows the server that is meant, which a failover makes another one. Each connection is asked again before it is used.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as Moment};

use sea_orm::{DbErr, RuntimeErr, sqlx};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, PgConnection, PgPool};
use tokio::time::{sleep, timeout};

use crate::address::{self, Address, Wanted};

/// Between two looks at the server that is connected to.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A server that is silent for so long is not the one.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// Between two tries to reach a `PostgreSQL` that starts.
const TRY_EVERY: Duration = Duration::from_millis(500);

/// What the connection is called that looks.
const LOOK_OUT: &str = "tillkeep look-out";

/// What holds on each connection of a pool.
pub(crate) type Settings = &'static [(&'static str, &'static str)];

/// The servers of one address.
pub(crate) struct Hosts {
    address: Address,
    chosen: AtomicUsize,
    /// When another one was chosen last: connections from before lead to the one that was left.
    moved_at: Arc<Mutex<Option<Moment>>>,
    fed: Mutex<Vec<Fed>>,
}

/// A pool that is notified of the server that is chosen.
struct Fed {
    pool: PgPool,
    name: String,
    settings: Settings,
}

/// How a server stands.
#[derive(Clone, Copy, Debug)]
struct Role {
    is_standby: bool,
    is_read_only: bool,
}

impl Wanted {
    fn takes(self, role: Role) -> bool {
        match self {
            Self::Any => true,
            Self::ReadWrite => !role.is_read_only,
            Self::ReadOnly => role.is_read_only,
            Self::Primary => !role.is_standby,
            Self::Standby => role.is_standby,
        }
    }
}

async fn role_of(conn: &mut PgConnection) -> Result<Role, sqlx::Error> {
    let sql = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
    let (is_standby, is_read_only) = sqlx::query_as(sql).fetch_one(conn).await?;
    Ok(Role { is_standby, is_read_only })
}

/// A connection to one server, and how that stands.
async fn reach(host: &PgConnectOptions) -> Result<(PgConnection, Role), sqlx::Error> {
    let reached = timeout(ANSWERS_WITHIN, async {
        let mut conn = host.connect().await?;
        let role = role_of(&mut conn).await?;
        Ok((conn, role))
    });
    reached.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

/// As the driver's errors come through the ORM, with what they mean for the address.
pub(crate) fn of_connection(error: sqlx::Error) -> DbErr {
    address::explained(DbErr::Conn(RuntimeErr::SqlxError(error.into())))
}

/// Whether a server cannot be reached yet and may be soon: it starts, or its machine does.
fn may_be_starting(error: &sqlx::Error) -> bool {
    use std::io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable, NotFound, TimedOut,
        UnexpectedEof,
    };
    match error {
        // 57P01 and 57P02 it is being stopped, 57P03 it does not take connections yet.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| code.starts_with("57P0")),
        // What a resolver says has no kind of its own: the name of a machine that is away may not be known.
        sqlx::Error::Io(error) if error.to_string().contains("failed to lookup address") => true,
        // No file of a socket, when there is no host.
        sqlx::Error::Io(error) => matches!(
            error.kind(),
            ConnectionAborted
                | ConnectionRefused
                | ConnectionReset
                | HostUnreachable
                | NetworkUnreachable
                | NotFound
                | TimedOut
                | UnexpectedEof
        ),
        sqlx::Error::PoolTimedOut => true,
        _ => false,
    }
}

impl Hosts {
    /// The servers at `url`, the one of which is chosen that is meant; where one server is named, that one, whether it is there or
    /// not.
    pub(crate) async fn find(url: &str) -> Result<Arc<Self>, DbErr> {
        let hosts = Self::at(url)?;
        if hosts.are_followed() {
            let (chosen, _) = hosts.choose().await?;
            hosts.chosen.store(chosen, Ordering::Relaxed);
        }
        Ok(hosts)
    }

    /// As [`Hosts::find`], without looking who is there.
    pub(crate) fn at(url: &str) -> Result<Arc<Self>, DbErr> {
        let Address { hosts, wanted } = address::read(url).map_err(DbErr::Custom)?;
        let hosts = hosts.into_iter().map(|host| host.application_name(LOOK_OUT).disable_statement_logging()).collect();
        let address = Address { hosts, wanted };
        Ok(Arc::new(Self { address, chosen: AtomicUsize::new(0), moved_at: Arc::default(), fed: Mutex::default() }))
    }

    fn are_followed(&self) -> bool {
        self.address.hosts.len() > 1 || self.address.wanted != Wanted::Any
    }

    /// The first server that is the one that is meant, in the order of the address, with a connection to it.
    async fn choose(&self) -> Result<(usize, PgConnection), DbErr> {
        self.look().await.map_err(|(error, _)| error)
    }

    /// As [`Hosts::choose`]; beside an error, whether it may pass by itself.
    async fn look(&self) -> Result<(usize, PgConnection), (DbErr, bool)> {
        let (mut away, mut fault, mut others) = (None, None, 0);
        // The one that is connected to first: another one that can be written may be what was left.
        let chosen = self.chosen.load(Ordering::Relaxed);
        let mut hosts: Vec<_> = self.address.hosts.iter().enumerate().collect();
        hosts.sort_by_key(|(number, _)| *number != chosen);
        for (number, host) in hosts {
            match reach(host).await {
                Ok((conn, role)) if self.address.wanted.takes(role) => return Ok((number, conn)),
                Ok(_) => others += 1,
                Err(error) if may_be_starting(&error) => away = Some(error),
                // Another one may be the one that is meant.
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        if let Some(error) = fault {
            return Err((of_connection(error), false));
        }
        let error = match away {
            Some(error) if others == 0 => of_connection(error),
            _ => DbErr::Conn(RuntimeErr::Internal(format!(
                "of the servers in the address of the database {others} answer, and none of them is {}",
                self.address.wanted.word()
            ))),
        };
        Err((error, true))
    }

    /// Waits until the one that is meant takes connections. What does not pass by itself, such as a wrong password, is an error at
    /// once.
    pub(crate) async fn wait(&self, patience: Duration) -> Result<(), DbErr> {
        let begun = Moment::now();
        let mut is_said = false;
        loop {
            let Err((error, may_pass)) = self.look().await else { return Ok(()) };
            if !may_pass || begun.elapsed() >= patience {
                return Err(error);
            }
            if !is_said {
                is_said = true;
                let seconds = patience.as_secs();
                tracing::warn!(%error, seconds, "PostgreSQL takes no connections yet: this server waits for it, so long at the most");
            }
            sleep(TRY_EVERY).await;
        }
    }

    /// How to connect to the one that is chosen.
    pub(crate) fn options(&self, name: &str, settings: Settings) -> PgConnectOptions {
        let chosen = self.address.hosts.get(self.chosen.load(Ordering::Relaxed));
        let host = chosen.or(self.address.hosts.first()).cloned().unwrap_or_default();
        host.application_name(name).options(settings.iter().copied())
    }

    /// How a pool of connections to the one that is chosen is made.
    pub(crate) fn pool(&self, connections: u32) -> PgPoolOptions {
        // A database that is away refuses or is silent; whoever asks is to hear so while they still wait.
        let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(Duration::from_secs(5));
        let pool = pool.after_connect(|conn, _| {
            Box::pin(async move {
                // Envelopes are long. A server that was built without it packs them as it always did.
                match sqlx::raw_sql("SET default_toast_compression = 'lz4'").execute(conn).await {
                    Err(error) if error.as_database_error().is_none() => Err(error),
                    _ => Ok(()),
                }
            })
        });
        if !self.are_followed() {
            return pool;
        }
        let (wanted, moved_at) = (self.address.wanted, self.moved_at.clone());
        // In place of the ping: the server may be there and not be the one any more.
        pool.test_before_acquire(false).before_acquire(move |conn, made| {
            let moved_at = *moved_at.lock().unwrap_or_else(PoisonError::into_inner);
            let is_left = moved_at.is_some_and(|at| made.age >= at.elapsed());
            Box::pin(async move { Ok(!is_left && role_of(conn).await.is_ok_and(|role| wanted.takes(role))) })
        })
    }

    /// Has a pool follow the server that is chosen.
    pub(crate) fn feed(&self, pool: PgPool, name: &str, settings: Settings) {
        self.fed.lock().unwrap_or_else(PoisonError::into_inner).push(Fed { pool, name: name.to_owned(), settings });
    }

    /// Follows the server that is meant, until the pools are closed. Where one is named there is nothing to follow.
    pub(crate) fn follow(self: &Arc<Self>) {
        let pool = self.fed.lock().unwrap_or_else(PoisonError::into_inner).first().map(|fed| fed.pool.clone());
        let Some(pool) = pool.filter(|_| self.are_followed()) else { return };
        let hosts = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = hosts.watch() => {}
                () = pool.close_event() => {}
            }
        });
    }

    async fn watch(&self) {
        let mut lookout: Option<PgConnection> = None;
        loop {
            if let Some(conn) = &mut lookout {
                let role = timeout(ANSWERS_WITHIN, role_of(conn)).await;
                if !role.is_ok_and(|role| role.is_ok_and(|role| self.address.wanted.takes(role))) {
                    lookout = None;
                }
            }
            // While there is none, those who ask get that answer.
            if lookout.is_none()
                && let Ok((chosen, conn)) = self.choose().await
            {
                lookout = Some(conn);
                self.go_to(chosen);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    fn go_to(&self, chosen: usize) {
        if self.chosen.swap(chosen, Ordering::Relaxed) == chosen {
            return;
        }
        if let Some(host) = self.address.hosts.get(chosen) {
            tracing::warn!(
                host = host.get_host(),
                port = host.get_port(),
                "another server is the database from now on"
            );
        }
        for Fed { pool, name, settings } in &*self.fed.lock().unwrap_or_else(PoisonError::into_inner) {
            pool.set_connect_options(self.options(name, settings));
        }
        *self.moved_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Moment::now());
    }
}
