//! Brings the schema of a database up to date.
//!
//! The table `migrations` says what was done. Migrations are numbered SQL files; a released file is never edited.
//! All that are missing are applied in one transaction under an advisory lock, so that programs which start together
//! do not do it twice.

use superstep::checkpoint::StorageError;

use super::fault::PostgresFault;
use super::server::{Server, Session};

const MIGRATIONS: &[(&str, &str)] = &[
    (
        "0001_checkpoints",
        include_str!("migrations/0001_checkpoints.sql"),
    ),
    ("0002_store", include_str!("migrations/0002_store.sql")),
    ("0003_embeddings", include_str!("migrations/0003_embeddings.sql")),
    ("0004_waiting", include_str!("migrations/0004_waiting.sql")),
    ("0005_claims", include_str!("migrations/0005_claims.sql")),
    ("0006_changes", include_str!("migrations/0006_changes.sql")),
    ("0007_takeovers", include_str!("migrations/0007_takeovers.sql")),
];

/// "SStp" in ASCII: the first half of the advisory lock; the second is a hash of the schema's name.
const LOCK: i32 = 0x5353_7470;

/// Returns whether the schema contains nothing of ours.
pub(super) async fn is_new(server: &Server, session: &mut Session) -> Result<bool, PostgresFault> {
    Ok(version(server, session).await? == 0)
}

/// Migrates an older or empty schema; refuses a newer one.
pub(super) async fn prepare(server: &Server, session: &mut Session) -> Result<(), PostgresFault> {
    if version(server, session).await? == MIGRATIONS.len() as i64 {
        return Ok(());
    }
    session.batch("BEGIN").await?;
    let outcome = migrate(server, session).await;
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    outcome.and(session.batch(end).await)
}

async fn migrate(server: &Server, session: &mut Session) -> Result<(), PostgresFault> {
    let schema = &server.schema;
    session
        .query("SELECT pg_advisory_xact_lock($1, hashtext($2))", &[&LOCK, schema])
        .await?;
    // Again, under the lock: another program may just have done it.
    let done = version(server, session).await?;
    if done == 0 {
        let exists = session
            .query("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[schema])
            .await?;
        // Not IF NOT EXISTS: that asks for the right to create schemas even when there is one.
        if exists.is_empty() {
            session.batch(&format!("CREATE SCHEMA \"{schema}\"")).await?;
        }
        session
            .batch(
                "CREATE TABLE IF NOT EXISTS migrations (
                     version bigint PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now()
                 )",
            )
            .await?;
    }
    for (index, (name, sql)) in MIGRATIONS
        .iter()
        .enumerate()
        .skip(usize::try_from(done).unwrap_or(0))
    {
        let number = index as i64 + 1;
        tracing::info!(database = server.shown, schema = number, "migrating the database");
        session.batch(sql).await?;
        session
            .execute(
                "INSERT INTO migrations (version, name) VALUES ($1, $2)",
                &[&number, name],
            )
            .await?;
    }
    Ok(())
}

/// Returns the newest migration that was applied; 0 for none.
async fn version(server: &Server, session: &mut Session) -> Result<i64, PostgresFault> {
    let table = format!("\"{}\".migrations", server.schema);
    let known = session
        .query("SELECT to_regclass($1) IS NOT NULL", &[&table])
        .await?;
    if !known.iter().any(|row| row.get(0)) {
        return Ok(0);
    }
    let rows = session
        .query("SELECT coalesce(max(version), 0) FROM migrations", &[])
        .await?;
    let found: i64 = rows.first().map_or(0, |row| row.get(0));
    let supported = MIGRATIONS.len() as i64;
    if found > supported {
        return Err(StorageError::NewerSchema {
            place: server.shown.clone(),
            found,
            supported,
        }
        .into());
    }
    Ok(found)
}
