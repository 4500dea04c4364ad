//! Items whose vectors are another embedding's, and new vectors for them.

use superstep::checkpoint::StorageError;
use superstep::store::{ItemPlace, NewVectors, Outdated};

use super::{PostgresStore, found};
use crate::postgres::fault::PostgresFault;

/// What was excluded is not outdated; before that was noted, it is what has neither words nor vectors.
const OUTDATED: &str = "
    SELECT i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, NULL::float8, i.expires_at, i.said
    FROM store_items i
    WHERE (i.embedding IS DISTINCT FROM $1 OR (cardinality(i.vectors) > 0 AND i.dims <> $2::int))
      AND i.said IS DISTINCT FROM '[]'
      AND (i.said IS NOT NULL OR i.embedding IS NOT NULL OR cardinality(i.words) > 0 OR cardinality(i.vectors) > 0)
      AND ($3::text IS NULL OR (i.ns, i.key) > (string_to_array($3, '.'), $4::text))
    ORDER BY i.ns, i.key LIMIT $5";

const RENEW: &str = "
    UPDATE store_items i SET embedding = $1, dims = u.dims, vectors = u.vectors::real[]
    FROM unnest($2::text[], $3::text[], $4::bigint[], $5::int[], $6::text[]) u (ns, key, updated_at, dims, vectors)
    WHERE i.ns = string_to_array(u.ns, '.') AND i.key = u.key AND i.updated_at = u.updated_at";

impl PostgresStore {
    pub(super) async fn find_outdated(
        &self,
        embedding: &str,
        dims: usize,
        after: Option<&ItemPlace>,
        limit: usize,
    ) -> Result<Vec<Outdated>, PostgresFault> {
        let mut session = self.server.session().await?;
        let (namespace, key) = match after {
            Some((namespace, key)) => (Some(namespace.join(".")), key.as_str()),
            None => (None, ""),
        };
        let (dims, limit) = (dims as i32, limit as i64);
        let rows = session
            .query(OUTDATED, &[&embedding, &dims, &namespace, &key, &limit])
            .await?;
        self.server.keep(session);
        let mut outdated = Vec::with_capacity(rows.len());
        for row in &rows {
            let (item, _) = found(row)?;
            let said: Option<&str> = row.try_get(8)?;
            let said = said.map(serde_json::from_str).transpose();
            outdated.push(Outdated {
                index_paths: said.map_err(|error| {
                    PostgresFault::Storage(StorageError::Corrupt {
                        place: format!("Item {:?} of {:?}", item.key, item.namespace),
                        cause: error.to_string(),
                    })
                })?,
                updated_at: item.updated_at,
                value: item.value,
                place: (item.namespace, item.key),
            });
        }
        Ok(outdated)
    }

    pub(super) async fn replace_vectors_of(
        &self,
        embedding: &str,
        renewed: &[NewVectors],
    ) -> Result<u64, PostgresFault> {
        let (mut namespaces, mut keys, mut times) = (Vec::new(), Vec::new(), Vec::new());
        let (mut dims, mut vectors) = (Vec::new(), Vec::new());
        for one in renewed {
            namespaces.push(one.place.0.join("."));
            keys.push(one.place.1.as_str());
            times.push(i64::try_from(one.updated_at).unwrap_or(i64::MAX));
            dims.push(one.vectors.first().map_or(0, |vector| vector.len() as i32));
            vectors.push(super::numbers(&one.vectors));
        }
        let mut session = self.server.session().await?;
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
            [&embedding, &namespaces, &keys, &times, &dims, &vectors];
        let count = session.execute(RENEW, &params).await?;
        self.server.keep(session);
        Ok(count)
    }
}
