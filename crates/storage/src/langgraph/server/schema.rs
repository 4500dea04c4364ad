//! The schema of a server's database in which LangGraph's tables are: found by their columns, and chosen by the address
//! where there are several.

use std::collections::{BTreeMap, BTreeSet};

use superstep::checkpoint::StorageError;
use tokio_postgres::types::Type;

use super::session::ReadSession;
use crate::langgraph::rows::Fault;
use crate::postgres::ServerAddress;

const TABLES: [&str; 3] = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];
/// The table of the program's store, which may be elsewhere.
const STORE: &str = "store";

/// Columns that are read, with their types.
const COLUMNS: [(&str, &[(&str, &str)]); 3] = [
    (
        "checkpoints",
        &[
            ("thread_id", "text"),
            ("checkpoint_ns", "text"),
            ("checkpoint_id", "text"),
            ("parent_checkpoint_id", "text"),
            ("checkpoint", "jsonb"),
            ("metadata", "jsonb"),
        ],
    ),
    (
        "checkpoint_blobs",
        &[
            ("thread_id", "text"),
            ("checkpoint_ns", "text"),
            ("channel", "text"),
            ("version", "text"),
            ("type", "text"),
            ("blob", "bytea"),
        ],
    ),
    (
        "checkpoint_writes",
        &[
            ("thread_id", "text"),
            ("checkpoint_ns", "text"),
            ("checkpoint_id", "text"),
            ("task_id", "text"),
            ("idx", "integer"),
            ("channel", "text"),
            ("type", "text"),
            ("blob", "bytea"),
        ],
    ),
];

/// Names of the tables, and which columns of later releases they have.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) schema: String,
    /// Set when writes say their task's path.
    pub(super) has_paths: bool,
    /// Present when there is a store in the same schema that may be read; set when its items expire.
    pub(super) store: Option<bool>,
}

impl Layout {
    /// Returns the name of a table as statements have it.
    pub(super) fn table(&self, name: &str) -> String {
        format!("\"{}\".{name}", self.schema.replace('"', "\"\""))
    }

    pub(super) fn tables(&self) -> Vec<String> {
        TABLES.iter().map(|name| self.table(name)).collect()
    }
}

/// FoundTables of a schema that have names of LangGraph's.
#[derive(Debug, Default)]
struct FoundTables {
    /// Columns with their types.
    columns: BTreeMap<String, BTreeMap<String, String>>,
    /// Those that are something else than tables.
    others: Vec<String>,
    /// Those that the role may not read.
    closed: Vec<String>,
}

/// Finds the schemas with LangGraph's tables.
fn found(session: &ReadSession<'_>) -> Result<BTreeMap<String, FoundTables>, Fault> {
    let sql = "SELECT n.nspname::text, c.relname::text, c.relkind::text, a.attname::text, \
               format_type(a.atttypid, NULL), \
               has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') \
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
               WHERE c.relname = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
               AND n.nspname !~ '^pg_(temp|toast)' LIMIT 20000";
    let names: Vec<&str> = TABLES.into_iter().chain([STORE]).collect();
    let mut schemas: BTreeMap<String, FoundTables> = BTreeMap::new();
    for row in session.query(sql, &[(&names, Type::TEXT_ARRAY)])? {
        let (schema, table, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        let known = schemas.entry(schema).or_default();
        if !matches!(&*kind, "r" | "p") && !known.others.contains(&table) {
            known.others.push(table.clone());
        }
        let may_read: bool = row.get(5);
        if !may_read && !known.closed.contains(&table) {
            known.closed.push(table.clone());
        }
        known
            .columns
            .entry(table)
            .or_default()
            .insert(row.get(3), row.get(4));
    }
    // `checkpoints` alone is a name that others use.
    schemas.retain(|_, tables| {
        let has = |name: &str| tables.columns.contains_key(name);
        has("checkpoints") && (has("checkpoint_blobs") || has("checkpoint_writes"))
    });
    Ok(schemas)
}

/// Returns the schema that a session of the address looks into first, where somebody has set that.
fn on_path(session: &ReadSession<'_>, among: &BTreeSet<&str>) -> Result<Option<String>, Fault> {
    // The statement's own transaction has a path of its own: what it was before is the session's.
    let sql = "SELECT reset_val FROM pg_settings WHERE name = 'search_path' AND reset_val <> boot_val";
    let rows = session.query(sql, &[])?;
    let Some(path) = rows.first().map(|row| row.get::<_, String>(0)) else {
        return Ok(None);
    };
    let names = path.split(',').map(|name| name.trim().trim_matches('"'));
    Ok(names
        .into_iter()
        .find(|name| among.contains(name))
        .map(str::to_owned))
}

/// Returns whether the database has tables of LangGraph, in the schema that the address names if it names one.
pub(super) fn has_one(session: &ReadSession<'_>, address: &ServerAddress) -> Result<bool, Fault> {
    let schemas = found(session)?;
    Ok(match &address.schema {
        Some(name) => schemas.contains_key(name),
        None => !schemas.is_empty(),
    })
}

/// Chooses the schema to read; `None` when the database has no tables of LangGraph.
pub(super) fn choose(session: &ReadSession<'_>, address: &ServerAddress) -> Result<Option<Layout>, Fault> {
    let schemas = found(session)?;
    let names: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
    let listed = || names.iter().copied().collect::<Vec<_>>().join(", ");
    let name = match (&address.schema, names.len()) {
        (_, 0) => return Ok(None),
        (Some(name), _) if names.contains(&**name) => name.clone(),
        (Some(name), _) => {
            let cause = format!(
                "its schema {name:?} has no tables of LangGraph; those that have: {}",
                listed()
            );
            return Err(address
                .refused(cause, "Name one of them with ?schema=NAME")
                .into());
        }
        (None, 1) => listed(),
        (None, _) => match on_path(session, &names)? {
            Some(name) => name,
            None => {
                let cause = format!("several of its schemas have tables of LangGraph: {}", listed());
                return Err(address
                    .refused(cause, "Name one of them behind the address with ?schema=NAME")
                    .into());
            }
        },
    };
    let Some(tables) = schemas.get(&name) else {
        return Ok(None);
    };
    checked(&name, tables, address).map_err(Fault::from).map(Some)
}

/// Refuses tables that are not of the form that PostgresSaver gives them.
fn checked(schema: &str, tables: &FoundTables, address: &ServerAddress) -> Result<Layout, StorageError> {
    const OTHER: &str = "Give the address that PostgresSaver was opened with";
    let checkpoints = tables.columns.get("checkpoints");
    if checkpoints
        .is_some_and(|columns| !columns.contains_key("checkpoint_id") && columns.contains_key("checkpoint"))
    {
        let cause = format!(
            "the tables of LangGraph in {schema:?} are of ShallowPostgresSaver, which keeps no history and which no release \
             of today reads"
        );
        return Err(address.refused(
            cause,
            "Use PostgresSaver in the program; its threads have their whole history",
        ));
    }
    if let Some(table) = tables.others.iter().find(|name| *name != STORE) {
        let cause =
            format!("{schema:?} has something else than a table in the place of LangGraph's {table:?}");
        return Err(address.refused(cause, OTHER));
    }
    for (table, wanted) in COLUMNS {
        let Some(columns) = tables.columns.get(table) else {
            let cause = format!("{schema:?} has no table {table:?} beside the others of LangGraph");
            return Err(address.refused(cause, "Let the program call setup() of its saver once"));
        };
        for (column, kind) in wanted {
            let found = columns.get(*column).map(String::as_str);
            // A name may be as long as the program likes it.
            if found != Some(*kind) && !(*kind == "text" && found == Some("character varying")) {
                let cause = match found {
                    None => format!("LangGraph's table {table:?} in {schema:?} has no column {column:?}"),
                    Some(found) => format!(
                        "column {column:?} of LangGraph's table {table:?} in {schema:?} is {found} and not {kind}"
                    ),
                };
                return Err(address.refused(cause, OTHER));
            }
        }
    }
    if let Some(table) = tables.closed.iter().find(|name| *name != STORE) {
        let cause = format!("the role may not read LangGraph's table {table:?} in {schema:?}");
        let remedy = format!(
            "Let it: GRANT USAGE ON SCHEMA \"{schema}\" TO role; GRANT SELECT ON ALL TABLES IN SCHEMA \"{schema}\" TO role"
        );
        return Err(address.refused(cause, &remedy));
    }
    let has_paths = tables
        .columns
        .get("checkpoint_writes")
        .is_some_and(|columns| columns.contains_key("task_path"));
    let is_usable = ![&tables.others, &tables.closed]
        .iter()
        .any(|names| names.iter().any(|name| name == STORE));
    let store = tables.columns.get(STORE).filter(|columns| {
        let has = |name: &str, kind: &str| columns.get(name).is_some_and(|found| found == kind);
        is_usable
            && has("prefix", "text")
            && has("key", "text")
            && has("value", "jsonb")
            && columns.contains_key("updated_at")
    });
    Ok(Layout {
        schema: schema.to_owned(),
        has_paths,
        store: store.map(|columns| columns.contains_key("expires_at")),
    })
}
