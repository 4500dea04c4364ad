//! Items whose vectors are another embedding's, and new vectors for them.

use std::cmp::Ordering;

use redis::Value;
use superstep::checkpoint::StorageError;
use superstep::store::{ItemPlace, Items, NewVectors, Outdated};

use super::{Change, ExpiredItems, PAGE, items_key, joined, kept, labels};
use crate::redis::server::{Server, bytes, parts, text};

impl Server {
    /// Reads outdated items by namespace and key, a number at a time, so that the server and this program use little
    /// memory.
    pub(super) async fn outdated_items(
        &self,
        embedding: &str,
        dims: usize,
        after: Option<&ItemPlace>,
        limit: usize,
    ) -> Result<Vec<Outdated>, StorageError> {
        const WHAT: &str = "looking for items to embed again";
        let after = after.map(|(namespace, key)| (joined(namespace), key.as_str()));
        let mut found = Vec::new();
        for namespace in self.namespaces(&[]).await? {
            let here = after.as_ref().map(|(last, key)| (namespace.cmp(last), *key));
            if matches!(here, Some((Ordering::Less, _))) {
                continue;
            }
            let mut ask = redis::cmd("HKEYS");
            ask.arg(items_key(self, &namespace));
            let keys = parts(self.call(ask, WHAT).await?).into_iter().map(text);
            let mut keys: Vec<String> = match here {
                Some((Ordering::Equal, last)) => keys.filter(|key| key.as_str() > last).collect(),
                _ => keys.collect(),
            };
            keys.sort_unstable();
            for keys in keys.chunks(PAGE) {
                let mut ask = redis::cmd("HMGET");
                ask.arg(items_key(self, &namespace)).arg(keys);
                let mut items = Items::new();
                for (key, stored) in keys.iter().zip(parts(self.call(ask, WHAT).await?)) {
                    // Removed meanwhile.
                    if stored == Value::Nil {
                        continue;
                    }
                    let place = (labels(&namespace), key.clone());
                    let kept = kept(&place, &bytes(stored))?;
                    items.insert(place, kept);
                }
                found.extend(items.outdated(embedding, dims, None, limit - found.len()));
                if found.len() == limit {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    pub(super) async fn replace_vectors(
        &self,
        embedding: &str,
        renewed: Vec<NewVectors>,
    ) -> Result<u64, StorageError> {
        let mut change = Change::new(self, 0, ExpiredItems::Seen);
        let mut count = 0;
        for renewed in renewed {
            let place = renewed.place.clone();
            let namespace = joined(&place.0);
            let mut ask = redis::cmd("HGET");
            ask.arg(items_key(self, &namespace)).arg(&place.1);
            let stored = bytes(self.call(ask, "embedding items again").await?);
            if stored.is_empty() {
                continue;
            }
            let mut items = Items::new();
            items.insert(place.clone(), kept(&place, &stored)?);
            let Some((_, kept)) = items.with_vectors(embedding, renewed) else {
                continue;
            };
            let text = serde_json::to_vec(&kept).map_err(|error| StorageError::Backend {
                what: format!("storing {:?}", place.1),
                cause: error.to_string(),
                remedy: "Write a value that JSON can express".to_owned(),
            })?;
            // What was read, without its first line, which may change: by then it is another value or it is this one.
            let value = stored.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default();
            change.add(self, "renew", &namespace, &place.1, vec![value.to_vec(), text]);
            count += 1;
        }
        let kept_as_they_were = change.run(self).await?;
        Ok(count - kept_as_they_were)
    }
}
