-- `writes.kind` is also 4: it withdraws the questions of its task, and 5: it has asked again. The one takes the place of
-- the other.
--
-- Tasks of outermost graphs whose questions wait. A commit that writes what may change that calls `ask` or `answer` last, and
-- rows that go take theirs with them.
CREATE TABLE waiting (
    id         text COLLATE "C" NOT NULL,           -- of the checkpoint
    thread     text COLLATE "C" NOT NULL,
    task       text COLLATE "C" NOT NULL,
    checkpoint bigint NOT NULL,                     -- its seq
    space      bigint NOT NULL,
    PRIMARY KEY (id, thread, task)
);
CREATE UNIQUE INDEX waiting_by_task ON waiting (checkpoint, task);
CREATE INDEX waiting_by_thread ON waiting (thread, id);

-- What the table is to hold.
CREATE VIEW asked AS
SELECT c.id, s.thread, w.task, w.checkpoint, c.space
FROM writes w JOIN checkpoints c ON c.seq = w.checkpoint JOIN spaces s ON s.id = c.space AND s.ns = ''
WHERE w.kind = 1 AND NOT EXISTS (
    SELECT 1 FROM writes f WHERE f.checkpoint = w.checkpoint AND f.task = w.task AND f.kind IN (0, 4)
);

-- Tasks wrote a question, or withdrew theirs, or asked again. Two programs may do so for one task at the same time, and one
-- may answer meanwhile: the one that comes second waits for the end of the other, and each statement of a function sees what
-- was done until it begins. `written` is there to be worked out first.
CREATE FUNCTION ask(written bigint, of bigint[], by text[], spaces bigint[], ids text[], threads text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('superstep waiting', t.checkpoint))
    FROM (SELECT DISTINCT unnest(of) AS checkpoint ORDER BY 1) t;
    DELETE FROM waiting w USING unnest(of, by) u (checkpoint, task)
    WHERE w.checkpoint = u.checkpoint AND w.task = u.task;
    INSERT INTO waiting (id, thread, task, checkpoint, space)
    SELECT u.id, u.thread, u.task, u.checkpoint, u.space
    FROM unnest(of, by, spaces, ids, threads) u (checkpoint, task, space, id, thread)
    WHERE EXISTS (SELECT 1 FROM writes w WHERE w.checkpoint = u.checkpoint AND w.task = u.task AND w.kind = 1)
      AND NOT EXISTS (SELECT 1 FROM writes w WHERE w.checkpoint = u.checkpoint AND w.task = u.task AND w.kind IN (0, 4))
    ON CONFLICT DO NOTHING;
END $$;

-- Tasks of these checkpoints wrote what finishes them.
CREATE FUNCTION answer(checkpoints bigint[], of bigint[], by text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('superstep waiting', t.checkpoint))
    FROM unnest(checkpoints) t (checkpoint);
    DELETE FROM waiting w WHERE w.checkpoint = ANY(checkpoints)
    AND EXISTS (SELECT 1 FROM unnest(of, by) u (checkpoint, task) WHERE u.checkpoint = w.checkpoint AND u.task = w.task);
END $$;

CREATE FUNCTION ask_no_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM waiting WHERE checkpoint = OLD.checkpoint AND task = OLD.task;
    RETURN NULL;
END $$;
CREATE TRIGGER writes_gone AFTER DELETE ON writes FOR EACH ROW WHEN (OLD.kind = 1) EXECUTE FUNCTION ask_no_more();

-- Older releases did not withdraw questions that a new input came after; that is made up for, so that they wait for nobody.
INSERT INTO names (name) SELECT '__withdrawn__' WHERE EXISTS (SELECT 1 FROM writes WHERE kind = 1) ON CONFLICT DO NOTHING;
INSERT INTO writes (checkpoint, task, idx, path, channel, kind, data)
SELECT DISTINCT w.checkpoint, w.task, -6, w.path, n.id, 4, convert_to('{"why":"a new input came after it"}', 'UTF8')
FROM asked a JOIN writes w ON w.checkpoint = a.checkpoint AND w.task = a.task AND w.kind = 1
JOIN checkpoints i ON i.space = a.space AND i.parent = a.id AND i.source = 0
JOIN names n ON n.name = '__withdrawn__';
INSERT INTO waiting (id, thread, task, checkpoint, space) SELECT id, thread, task, checkpoint, space FROM asked
ON CONFLICT DO NOTHING;
