//! What is asked of the server: kept together, because the columns of one are those of another.

/// What a head is made of, from `s` (spaces) and `c` (checkpoints).
macro_rules! head {
    ($sql:literal) => {
        concat!(
            "SELECT s.id, s.thread, s.ns, c.seq, c.id, c.parent, c.ts, c.source, c.step, m.json, c.next, c.updated,
                    o.asked, o.failed ",
            $sql
        )
    };
}

/// Metadata of `c`, and its tasks that wait or have failed.
macro_rules! beside {
    () => {
        " LEFT JOIN metas m ON m.space = c.space AND m.id = c.meta
          CROSS JOIN LATERAL (
              SELECT count(DISTINCT w.task) FILTER (WHERE w.kind = 1) AS asked,
                     count(DISTINCT w.task) FILTER (WHERE w.kind = 2) AS failed
              FROM writes w
              WHERE w.checkpoint = c.seq AND w.kind IN (1, 2) AND NOT EXISTS (
                  SELECT 1 FROM writes f WHERE f.checkpoint = w.checkpoint AND f.task = w.task
                  AND (f.kind = 0 OR f.kind = 4 AND w.kind = 1)
              )
          ) o "
    };
}

pub(super) const HEAD_OF: &str = concat!(
    head!("FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = coalesce($3::text, s.head)"),
    beside!(),
    "WHERE s.thread = $1 AND s.ns = $2"
);

/// Checkpoints and those that they build on, down to a whole state.
macro_rules! chain {
    ($sql:literal) => {
        concat!(
            "WITH RECURSIVE t (space, id, parent, depth) AS (
                 SELECT c.space, c.id, c.parent, c.depth ",
            $sql,
            " UNION
                 SELECT p.space, p.id, p.parent, p.depth FROM t
                 JOIN checkpoints p ON p.space = t.space AND p.id = t.parent
                 WHERE t.depth > 0
             )
             SELECT c.space, c.id, c.parent, c.depth, c.delta
             FROM t JOIN checkpoints c ON c.space = t.space AND c.id = t.id"
        )
    };
}

pub(super) const CHAIN_OF: &str = chain!(
    "FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = coalesce($3::text, s.head)
     WHERE s.thread = $1 AND s.ns = $2"
);

pub(in crate::postgres) const CHAINS: &str = chain!(
    "FROM unnest($1::bigint[], $2::text[]) u (space, id)
     JOIN checkpoints c ON c.space = u.space AND c.id = u.id"
);

pub(super) const WRITES_OF: &str = "
    SELECT w.checkpoint, w.task, w.path, w.idx, w.channel::bigint, w.parts, w.data
    FROM writes w
    WHERE w.checkpoint = (
        SELECT c.seq FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = coalesce($3::text, s.head)
        WHERE s.thread = $1 AND s.ns = $2
    )
    ORDER BY w.path, w.task, w.idx";

/// The last column is the place in the list of what was asked for.
pub(super) const WRITES_AT: &str = "
    SELECT w.checkpoint, w.task, w.path, w.idx, w.channel::bigint, w.parts, w.data, u.n
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY u (thread, ns, id, n)
    JOIN spaces s ON s.thread = u.thread AND s.ns = u.ns
    JOIN checkpoints c ON c.space = s.id AND c.id = u.id
    JOIN writes w ON w.checkpoint = c.seq
    ORDER BY u.n, w.path, w.task, w.idx";

pub(super) const WRITES: &str = "
    SELECT w.checkpoint, w.task, w.path, w.idx, w.channel::bigint, w.parts, w.data
    FROM writes w
    WHERE w.checkpoint = ANY($1)
    ORDER BY w.path, w.task, w.idx";

pub(super) const ITEMS: &str = "
    WITH RECURSIVE t (space, id, base) AS (
        SELECT i.space, i.id, i.base
        FROM unnest($1::bigint[], $2::bigint[]) u (space, id)
        JOIN items i ON i.space = u.space AND i.id = u.id
        UNION
        SELECT i.space, i.id, i.base FROM t JOIN items i ON i.space = t.space AND i.id = t.base
    )
    SELECT i.id, i.base, i.len, i.parts, i.data, i.whole
    FROM t JOIN items i ON i.space = t.space AND i.id = t.id";

pub(super) const PARTS: &str = "
    WITH RECURSIVE t (space, id, base, parts) AS (
        SELECT i.space, i.id, i.base, i.parts
        FROM unnest($1::bigint[], $2::bigint[]) u (space, id)
        JOIN items i ON i.space = u.space AND i.id = u.id
        UNION
        SELECT i.space, i.id, i.base, i.parts FROM t JOIN items i ON i.space = t.space AND i.id = t.base
    )
    SELECT p.id, coalesce(p.below, '{}'), p.data FROM parts p
    WHERE p.id IN (SELECT unnest(t.parts) FROM t UNION SELECT unnest($3::bigint[]))";

pub(super) const HEADS: &str = concat!(
    head!(
        "FROM spaces s CROSS JOIN LATERAL (
               SELECT * FROM checkpoints c WHERE c.space = s.id AND c.id < $3 ORDER BY c.id DESC LIMIT $4
           ) c"
    ),
    beside!(),
    "WHERE ($1::text IS NULL OR s.thread = $1) AND ($2::text IS NULL OR s.ns = $2)
     ORDER BY c.id DESC, s.thread, s.ns"
);

pub(super) const HEADS_OF_STEP: &str = concat!(
    head!(
        "FROM spaces s CROSS JOIN LATERAL (
               SELECT * FROM checkpoints c WHERE c.space = s.id AND c.step = $5 AND c.id < $3
               ORDER BY c.id DESC LIMIT $4
           ) c"
    ),
    beside!(),
    "WHERE ($1::text IS NULL OR s.thread = $1) AND ($2::text IS NULL OR s.ns = $2)
     ORDER BY c.id DESC, s.thread, s.ns"
);

pub(super) const HEADS_BY_ID: &str = concat!(
    head!("FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = $4 AND c.id < $3"),
    beside!(),
    "WHERE ($1::text IS NULL OR s.thread = $1) AND ($2::text IS NULL OR s.ns = $2)
     ORDER BY s.thread, s.ns"
);

/// Which root spaces a thread query is about; what it cannot say in SQL is looked at afterwards.
macro_rules! threads {
    ($columns:literal, $end:literal) => {
        concat!(
            "SELECT s.id, s.thread, s.ns, c.seq, c.id, c.parent, c.ts, c.source, c.step, m.json, c.next, c.updated,
                    o.asked, o.failed ",
            $columns,
            " FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = s.head",
            beside!(),
            "WHERE s.ns = '' AND ($1::text IS NULL OR position($1 IN lower(s.thread)) > 0)
               AND ($2::text IS NULL OR c.ts < $2)
               AND ($3::text IS NULL OR $3 = CASE WHEN o.asked > 0 THEN 'interrupted' WHEN o.failed > 0 THEN 'error'
                                             WHEN c.next IS NOT NULL THEN 'pending' ELSE 'idle' END) ",
            $end
        )
    };
}

pub(super) const THREADS: &str = threads!(
    ", s.checkpoints,
       (SELECT f.ts FROM checkpoints f WHERE f.space = s.id ORDER BY f.id LIMIT 1)",
    "AND (s.head < $4 OR (s.head = $4 AND s.thread > $5)) ORDER BY s.head DESC, s.thread LIMIT $6"
);
pub(super) const THREAD: &str = threads!(
    ", s.checkpoints,
       (SELECT f.ts FROM checkpoints f WHERE f.space = s.id ORDER BY f.id LIMIT 1)",
    "AND s.thread = $4"
);
pub(super) const COUNT: &str = concat!("SELECT count(*) FROM (", threads!("", ""), ") t");
