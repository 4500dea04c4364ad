//! Schemas of a server's database in which a LangGraph program keeps its threads.

use superstep::checkpoint::StorageError;
use tokio::runtime::Handle;
use tokio_postgres::SimpleQueryMessage;

use super::{PostgresFault, ServerAddress};

/// The statement, sent as one text: nothing is left behind in a session that a pooler gives to others.
const FIND: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = '10s'; SET LOCAL search_path = pg_catalog; \
                    SELECT n.nspname FROM pg_namespace n WHERE n.nspname !~ '^pg_(temp|toast)' AND EXISTS \
                    (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'checkpoints' \
                    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')) AND EXISTS \
                    (SELECT FROM pg_class c WHERE c.relnamespace = n.oid \
                    AND c.relname IN ('checkpoint_blobs', 'checkpoint_writes') \
                    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')) ORDER BY 1 LIMIT 1000; COMMIT";

/// Lists the schemas of a database that have LangGraph's tables, in the order of their names: all of them, whichever the
/// address `postgres://…` or `langgraph:postgres://…` names.
pub async fn langgraph_schemas(url: &str) -> Result<Vec<String>, StorageError> {
    let address = ServerAddress::read(url.strip_prefix("langgraph:").unwrap_or(url))?;
    let found = async {
        let client = address.connect(&Handle::current()).await?;
        client.simple_query(FIND).await
    };
    let rows = found.await.map_err(|error| {
        PostgresFault::from(error).worded_reading("looking for the tables of LangGraph", &address.shown)
    })?;
    let names = rows.into_iter().filter_map(|row| match row {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    Ok(names.collect())
}
