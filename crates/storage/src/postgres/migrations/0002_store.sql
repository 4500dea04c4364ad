-- Long-term memory. A namespace is a list of labels, so that those below another follow it.
CREATE TABLE store_items (
    ns         text[] COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text NOT NULL,                       -- JSON
    created_at bigint NOT NULL,                     -- milliseconds since the Unix epoch, like all times
    updated_at bigint NOT NULL,
    ttl        bigint,
    expires_at bigint,
    words      text[] COLLATE "C" NOT NULL,         -- what a search finds it by, as often as they occur
    dims       int NOT NULL,                        -- length of a vector
    vectors    real[] NOT NULL,                     -- all its vectors, one after the other
    PRIMARY KEY (ns, key)
);
CREATE INDEX store_items_by_word ON store_items USING gin (words);
CREATE INDEX store_items_by_end ON store_items (expires_at) WHERE expires_at IS NOT NULL;
