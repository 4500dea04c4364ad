//! The way to a PostgreSQL server: where it is, whether it is to be trusted, and sessions on it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use parking_lot::Mutex;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use superstep::Value;
use superstep::checkpoint::StorageError;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::codec::value_cache::ValueCache;

use super::fault::{PostgresFault, is_passing};
use super::notice::Notice;

/// Idle sessions that are kept for reading.
const IDLE: usize = 4;
/// Sessions that are used at a time beside the writer's.
const SESSIONS: usize = 16;
/// How long a server that is down may take to come back before callers get an error.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how long after that other callers get the error at once.
const REFUSED_FOR: Duration = Duration::from_secs(2);
/// The schema of databases whose URL names none.
const SCHEMA: &str = "superstep";

/// About how many bytes of values are kept in memory.
const CACHED_BYTES: u64 = 64 << 20;
/// Where numbers of rows are never given again, nothing that is in memory grows old.
const EPOCH: i64 = 1;

/// Parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Address of the database, and the means to connect to it.
pub(super) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
    /// The schema that everything is in.
    pub(super) schema: String,
    /// Its address as people may see it: without the password.
    pub(super) shown: String,
    /// Where sessions are looked after.
    pub(super) runtime: Handle,
    idle: Mutex<Vec<Session>>,
    /// Sessions that may be used at a time, so that many readers do not take all that the server has.
    places: Arc<Semaphore>,
    /// Values that were stored or read lately. The sequence gives the number of a row once, so there is one epoch.
    pub(super) value_cache: ValueCache<()>,
    /// When the server last could not be reached, to spare the next callers the wait.
    unreachable: Mutex<Option<Instant>>,
    pub(super) notice: Notice,
}

impl Server {
    /// Creates the server that a URL names, `postgres://user:password@host:port/database?schema=…&sslmode=…`.
    pub(super) fn new(url: &str, runtime: Handle) -> Result<Self, StorageError> {
        let (shown, rest, own) = split(url);
        let refuse = |cause: String, remedy: &str| StorageError::Backend {
            what: format!("opening {shown}"),
            cause,
            remedy: remedy.to_owned(),
        };
        let schema = own.schema.unwrap_or_else(|| SCHEMA.to_owned());
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if schema.is_empty() || schema.len() > 63 || !schema.bytes().all(plain) {
            return Err(refuse(
                format!("{schema:?} cannot be the name of a schema"),
                "Use small letters, digits and underscores, at most 63",
            ));
        }
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            refuse(
                super::fault::cause(&error),
                "Give a URL such as postgres://user:password@host:5432/database",
            )
        })?;
        if config.get_application_name().is_none() {
            config.application_name("superstep");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        // A connection that died without a word is noticed within half a minute.
        config
            .keepalives_idle(Duration::from_secs(15))
            .keepalives_interval(Duration::from_secs(5))
            .tcp_user_timeout(Duration::from_secs(30));
        let verify = match own.sslmode.as_deref() {
            Some("verify-ca" | "verify-full") => true,
            _ => own.sslrootcert.is_some(),
        };
        if verify {
            config.ssl_mode(SslMode::Require);
        }
        let tls = tls(verify, own.sslrootcert.as_deref())
            .map_err(|cause| refuse(cause, "Check sslmode and sslrootcert in the URL"))?;
        Ok(Self {
            config,
            tls: MakeRustlsConnect::new(tls),
            schema,
            shown,
            runtime,
            value_cache: ValueCache::new(CACHED_BYTES),
            idle: Mutex::default(),
            places: Arc::new(Semaphore::new(SESSIONS)),
            unreachable: Mutex::default(),
            notice: Notice::default(),
        })
    }

    /// Returns a session that nobody else is using.
    pub(super) async fn session(self: &Arc<Self>) -> Result<Session, PostgresFault> {
        // The semaphore is never closed.
        let place = self.places.clone().acquire_owned().await.ok();
        let idle = self.idle.lock().pop();
        let mut session = match idle {
            Some(session) if !session.client.is_closed() => session,
            _ => self.connect().await?,
        };
        session.place = place;
        Ok(session)
    }

    /// Ends the transaction of a session and gives it back, while its user goes on.
    pub(super) fn end(self: &Arc<Self>, session: Session) {
        let server = self.clone();
        self.runtime.spawn(async move {
            if session.batch("COMMIT").await.is_ok() {
                server.keep(session);
            }
        });
    }

    /// Returns the value that ends with this row, when it is in memory.
    pub(super) fn cached_value(&self, row: i64) -> Option<Value> {
        self.value_cache.value(EPOCH, row)
    }

    /// Keeps the value that ends with this row in memory; it continues the value of the row `base`.
    pub(super) fn have(&self, row: i64, base: Option<i64>, value: Value, size: i64) {
        self.value_cache
            .keep(EPOCH, row, base, value, size.unsigned_abs());
    }

    /// Gives a session back that is as it was.
    pub(super) fn keep(&self, mut session: Session) {
        session.place = None;
        let mut idle = self.idle.lock();
        if idle.len() < IDLE && !session.client.is_closed() {
            idle.push(session);
        }
    }

    /// Connects, waiting for a server that is just starting again.
    pub(super) async fn connect(self: &Arc<Self>) -> Result<Session, PostgresFault> {
        let last = *self.unreachable.lock();
        let patience = match last {
            Some(last) if last.elapsed() < REFUSED_FOR => Duration::ZERO,
            _ => PATIENCE,
        };
        let server = self.clone();
        // On our own runtime: the caller may have none, or one that ends before the session does.
        let connecting = self.runtime.spawn(async move {
            let began = Instant::now();
            let mut pause = Duration::from_millis(20);
            loop {
                match server.try_connect().await {
                    Err(error) if is_passing(&error) && began.elapsed() < patience => {
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(Duration::from_millis(500));
                    }
                    outcome => return outcome,
                }
            }
        });
        let what = "connecting to the server";
        let fault = match connecting.await {
            Ok(Ok(session)) => {
                *self.unreachable.lock() = None;
                return Ok(session);
            }
            // Worded here: to a caller, a connection that could not be made is no connection that was cut.
            Ok(Err(error)) => PostgresFault::Sql(error).worded(what, &self.shown),
            Err(error) => StorageError::Backend {
                what: format!("{what} ({})", self.shown),
                cause: error.to_string(),
                remedy: "Open the database again".to_owned(),
            },
        };
        *self.unreachable.lock() = Some(Instant::now());
        Err(PostgresFault::Storage(fault))
    }

    async fn try_connect(&self) -> Result<Session, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        self.runtime.spawn(async move {
            // The client's own calls say what went wrong.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        });
        client
            // `public` is where extensions usually are.
            .batch_execute(&format!("SET search_path = \"{}\", public", self.schema))
            .await?;
        Ok(Session {
            client,
            statements: HashMap::new(),
            place: None,
        })
    }
}

/// A connection and the statements it has prepared.
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<String, Statement>,
    /// Held while it is used.
    place: Option<OwnedSemaphorePermit>,
}

impl Session {
    /// Returns the prepared statements for these; those that are new are prepared in one round trip.
    pub(super) async fn prepare_all<const N: usize>(
        &mut self,
        all: [&str; N],
    ) -> Result<[Statement; N], PostgresFault> {
        let new = all.iter().filter(|sql| !self.statements.contains_key(**sql));
        let client = &self.client;
        let prepared = new.map(|sql| async move {
            let statement = client.prepare(sql).await?;
            Ok::<_, tokio_postgres::Error>(((*sql).to_owned(), statement))
        });
        let prepared = try_join_all(prepared).await?;
        self.statements.extend(prepared);
        Ok(all.map(|sql| self.statements[sql].clone()))
    }

    /// Returns the prepared statement for `sql`.
    pub(super) async fn prepare(&mut self, sql: &str) -> Result<Statement, PostgresFault> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(super) async fn query(&mut self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, PostgresFault> {
        let statement = self.prepare(sql).await?;
        Ok(self.client.query(&statement, params).await?)
    }

    pub(super) async fn execute(&mut self, sql: &str, params: Params<'_>) -> Result<u64, PostgresFault> {
        let statement = self.prepare(sql).await?;
        Ok(self.client.execute(&statement, params).await?)
    }

    pub(super) async fn batch(&self, sql: &str) -> Result<(), PostgresFault> {
        Ok(self.client.batch_execute(sql).await?)
    }
}

/// Options of a URL that the client library does not understand.
#[derive(Default)]
struct Own {
    schema: Option<String>,
    sslmode: Option<String>,
    sslrootcert: Option<String>,
}

/// Splits a URL into the URL as it may be shown, the URL for the client library, and the options that only we
/// understand.
fn split(url: &str) -> (String, String, Own) {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let shown = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
            let user = login.split_once(':').map_or(login, |(user, _)| user);
            let at = if user.is_empty() { "" } else { "@" };
            format!("{scheme}://{user}{at}{host}/{path}")
        }
        None => "the database".to_owned(),
    };
    let (mut own, mut rest) = (Own::default(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "schema" => own.schema = Some(value.to_owned()),
            "sslrootcert" => own.sslrootcert = Some(unescape(value)),
            "sslmode" if value.starts_with("verify") => own.sslmode = Some(value.to_owned()),
            _ => rest.push(pair),
        }
    }
    let shown = match &own.schema {
        Some(schema) => format!("{shown}?schema={schema}"),
        None => shown,
    };
    let rest = match rest.is_empty() {
        true => address.to_owned(),
        false => format!("{address}?{}", rest.join("&")),
    };
    (shown, rest, own)
}

fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Creates the TLS configuration. As with libpq, a connection is encrypted when the server offers it, and the server's
/// certificate is verified only when the URL asks for it: most servers have one that nobody signed.
fn tls(verify: bool, roots: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match roots {
        Some(file) => {
            let mut store = RootCertStore::empty();
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|error| format!("{file}: {error}"))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| format!("{file}: {error}"))?;
                store
                    .add(certificate)
                    .map_err(|error| format!("{file}: {error}"))?;
            }
            builder.with_root_certificates(store).with_no_client_auth()
        }
        None => {
            let verifier: Arc<dyn ServerCertVerifier> = match verify {
                true => Arc::new(
                    rustls_platform_verifier::Verifier::new(provider).map_err(|error| error.to_string())?,
                ),
                false => Arc::new(AnyServer(provider)),
            };
            builder
                .dangerous()
                .with_custom_certificate_verifier(verifier)
                .with_no_client_auth()
        }
    };
    Ok(config)
}

/// Accepts every certificate: the connection is encrypted, and nobody says with whom.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, shown, rest) in [
            (
                "postgres://a:secret@h:1/d",
                "postgres://a@h:1/d",
                "postgres://a:secret@h:1/d",
            ),
            ("postgresql://h/d", "postgresql://h/d", "postgresql://h/d"),
            (
                "postgres://a:se@cret@h/d?sslmode=require&schema=mine",
                "postgres://a@h/d?schema=mine",
                "postgres://a:se@cret@h/d?sslmode=require",
            ),
        ] {
            let (without, address, _) = split(url);
            assert_eq!((&*without, &*address), (shown, rest));
            assert!(
                !without.contains("secret") && !without.contains("cret@"),
                "{without}"
            );
        }
        let (_, rest, own) = split("postgres://h/d?sslmode=verify-full&sslrootcert=%2Ftmp%2Fca.pem");
        assert_eq!(rest, "postgres://h/d");
        assert_eq!(own.sslmode.as_deref(), Some("verify-full"));
        assert_eq!(own.sslrootcert.as_deref(), Some("/tmp/ca.pem"));
    }
}
