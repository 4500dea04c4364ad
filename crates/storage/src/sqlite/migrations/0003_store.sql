-- Long-term memory. Labels of a namespace are joined with periods, which no label holds.
CREATE TABLE store_items (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,            -- a JSON object
    created_at INTEGER NOT NULL,         -- milliseconds since the Unix epoch, as the other times
    updated_at INTEGER NOT NULL,
    ttl        INTEGER,                  -- milliseconds; NULL: it lives forever
    expires_at INTEGER,
    UNIQUE (namespace, key)
);
CREATE INDEX store_items_by_update ON store_items (updated_at DESC, namespace, key);
CREATE INDEX store_items_by_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL;
-- The words of items, already cut and folded: the tokenizer only separates them. No text is stored a second time.
CREATE VIRTUAL TABLE store_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
-- Vectors of different embeddings cannot be compared, so each names its own.
CREATE TABLE store_embeddings (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE store_vectors (
    id        INTEGER PRIMARY KEY,
    item      INTEGER NOT NULL,
    embedding INTEGER NOT NULL,
    data      BLOB NOT NULL              -- 32-bit floats, little endian
);
CREATE INDEX store_vectors_by_item ON store_vectors (item);
