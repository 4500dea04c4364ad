-- Threads, their namespaces ("spaces") and checkpoints. Every text that repeats is stored once and named by a number.
CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE            -- channels and nodes
);
CREATE TABLE threads (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE spaces (
    id     INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL,
    ns     TEXT NOT NULL,
    UNIQUE (thread, ns)
);
-- Metadata without source and step. A checkpoint with the same metadata as its parent shares the parent's row.
CREATE TABLE metas (
    id   INTEGER PRIMARY KEY,
    json TEXT NOT NULL
);
CREATE TABLE checkpoints (
    seq     INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL,
    id      NOT NULL,                    -- 16 bytes for a UUID, text otherwise
    parent,                              -- seq of the parent; its id (bytes or text) when it is not stored; or NULL
    ts      NOT NULL,                    -- milliseconds, or text that is not in the usual form
    source  INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    meta    INTEGER NOT NULL,
    next    BLOB,                        -- list of names
    updated BLOB,                        -- list of names; NULL when unknown
    depth   INTEGER NOT NULL,            -- deltas up to the nearest snapshot; 0: `delta` is itself a snapshot
    weight  INTEGER NOT NULL,            -- bytes of these deltas
    delta   BLOB NOT NULL                -- changed channels (version, row in items) and changed versions_seen
);
CREATE UNIQUE INDEX checkpoints_by_id ON checkpoints (space, id);
CREATE INDEX checkpoints_by_step ON checkpoints (space, step);
-- Values. A row with a base holds the items that a list has after its base.
CREATE TABLE items (
    id    INTEGER PRIMARY KEY,
    base  INTEGER,
    len   INTEGER,                       -- length of the list with this row; NULL: not a list
    level INTEGER NOT NULL,              -- how often these items were folded into a longer row
    run   INTEGER NOT NULL,              -- position in a run of rows of one level
    data  BLOB NOT NULL                  -- JSON text
);
-- One row per task: all its writes.
CREATE TABLE writes (
    id         INTEGER PRIMARY KEY,
    checkpoint INTEGER NOT NULL,
    task       NOT NULL,                 -- 16 bytes for a UUID, text otherwise
    path       TEXT NOT NULL,
    status     INTEGER NOT NULL,         -- 1: asked and not finished, 2: failed and not finished (both: 3)
    data       BLOB NOT NULL
);
CREATE UNIQUE INDEX writes_by_task ON writes (checkpoint, task);
CREATE INDEX writes_open ON writes (checkpoint) WHERE status > 0;
