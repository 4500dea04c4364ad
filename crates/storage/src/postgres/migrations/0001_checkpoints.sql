-- Everything lives in one schema, which is first in the search path. Text that is sorted or compared is sorted by its
-- bytes, as everywhere in Superstep. Numbers come from one sequence, a block at a time, so that a writer knows the
-- numbers of its rows before they are there.
CREATE SEQUENCE numbers INCREMENT 1024;

CREATE TABLE names (
    id   int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE           -- channels and nodes
);

-- A namespace of a thread. `epoch` counts what takes checkpoints away, so that a writer notices.
CREATE TABLE spaces (
    id          bigint PRIMARY KEY,
    thread      text COLLATE "C" NOT NULL,
    ns          text COLLATE "C" NOT NULL,
    epoch       bigint NOT NULL DEFAULT 0,
    head        text COLLATE "C" NOT NULL,          -- id of the newest checkpoint
    checkpoints bigint NOT NULL,
    UNIQUE (thread, ns)
) WITH (fillfactor = 50);                           -- room for the next version of a row beside it

-- Metadata without source and step. A checkpoint with the same metadata as its parent shares the parent's row.
CREATE TABLE metas (
    space bigint NOT NULL,
    id    bigint NOT NULL,
    run   text COLLATE "C",                         -- run_id
    json  text NOT NULL,                            -- [parents, user]
    PRIMARY KEY (space, id)
);
CREATE INDEX metas_by_run ON metas (run) WHERE run IS NOT NULL;

CREATE TABLE checkpoints (
    space   bigint NOT NULL,
    id      text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,                        -- names it in `writes`
    parent  text COLLATE "C",
    ts      text COLLATE "C" NOT NULL,
    source  smallint NOT NULL,
    step    bigint NOT NULL,
    meta    bigint NOT NULL,
    next    bytea,                                  -- list of names
    updated bytea,                                  -- list of names; NULL when unknown
    depth   bigint NOT NULL,                        -- deltas up to the nearest snapshot; 0: `delta` is one
    weight  bigint NOT NULL,                        -- bytes of these deltas
    delta   bytea NOT NULL,                         -- changed channels (version, row in items), changed versions_seen
    PRIMARY KEY (space, id)
);
CREATE INDEX checkpoints_by_step ON checkpoints (space, step);

-- Long parts of values, each once. `refs` counts the rows of `items` and `writes` that name it.
CREATE TABLE parts (
    id    bigint PRIMARY KEY,                       -- made from the content
    hash  bytea NOT NULL,                           -- more of it
    refs  bigint NOT NULL,
    below bigint[],                                 -- the parts right inside it
    data  bytea NOT NULL
);

-- Values. A row with a base holds the items that a list has after its base.
CREATE TABLE items (
    space bigint NOT NULL,
    id    bigint NOT NULL,
    base  bigint,
    len   bigint,                                   -- length of the list with this row; NULL: not a list
    level bigint NOT NULL,                          -- how often these items were folded into a longer row
    run   bigint NOT NULL,                          -- position in a run of rows of one level
    size  bigint NOT NULL,                          -- bytes of the data
    whole bigint NOT NULL,                          -- length of the JSON of the whole value
    parts bigint[],                                 -- every part that the data needs
    data  bytea NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE writes (
    checkpoint bigint NOT NULL,
    task       text COLLATE "C" NOT NULL,
    idx        int NOT NULL,
    path       text COLLATE "C" NOT NULL,
    channel    int NOT NULL,
    kind       smallint NOT NULL,                   -- 0: finishes its task, 1: asks, 2: tells of a failure, 3: neither
    parts      bigint[],                            -- every part that the data needs
    data       bytea NOT NULL,
    PRIMARY KEY (checkpoint, task, idx)
);
CREATE INDEX writes_open ON writes (checkpoint) WHERE kind IN (1, 2);

-- What is stored is already compressed where that helps.
ALTER TABLE parts ALTER data SET STORAGE EXTERNAL;
ALTER TABLE items ALTER data SET STORAGE EXTERNAL;
ALTER TABLE writes ALTER data SET STORAGE EXTERNAL;
ALTER TABLE checkpoints ALTER delta SET STORAGE EXTERNAL;

-- Undoes a commit that builds on namespaces which are no longer as its writer knows them.
CREATE FUNCTION expect(got bigint, wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF got <> wanted THEN
        RAISE EXCEPTION 'something was removed by another program' USING ERRCODE = 'SS001';
    END IF;
END $$;
