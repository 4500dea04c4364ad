//! A session on a server, whose statements only read.

use futures::join;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::langgraph::rows::{Fault, Meter};
use crate::postgres::PostgresFault;

/// Text before each statement. No statement comes near to these times: their rows and bytes are counted.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '2s'; \
                     SET LOCAL search_path = pg_catalog; SET LOCAL jit = off";

/// A value of a statement, with its type.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A session for the reads of one operation.
pub(super) struct ReadSession<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) client: Client,
    pub(super) meter: &'a Meter,
}

impl ReadSession<'_> {
    /// Executes a statement that reads, in a transaction of its own.
    pub(super) fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        let client = &self.client;
        // Sent together: the transaction lasts as long as the server needs for the rows. Nothing is prepared, so that
        // this works behind a pooler, which gives each transaction another session.
        let done = async {
            let (begun, rows, ended) = join!(
                client.batch_execute(BEGIN),
                client.query_typed(sql, params),
                client.batch_execute("COMMIT")
            );
            begun?;
            let rows = rows?;
            ended?;
            Ok::<_, tokio_postgres::Error>(rows)
        };
        let done = self.runtime.block_on(done);
        self.meter.note(done.as_ref().map_or(0, Vec::len));
        done.map_err(|error| Fault::Server(PostgresFault::from(error)))
    }
}
