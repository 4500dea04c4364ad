-- Which run has a thread. A row stays when its run has ended, so that its claim is known as an old one.
CREATE TABLE claims (
    thread text COLLATE "C" PRIMARY KEY,
    claim  text NOT NULL,                           -- of the run
    number bigint NOT NULL,                         -- counts the claims of the thread
    holder text NOT NULL,                           -- the program, by its id and for a person
    name   text NOT NULL,
    until  bigint NOT NULL                          -- milliseconds since the Unix epoch; 0: its run has ended it
) WITH (fillfactor = 50);                           -- room for the next version of a row beside it

CREATE FUNCTION claim_clock() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Refuses a claim that is not the thread's.
CREATE FUNCTION refuse_claim(of text, holder text, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'another run went on with the thread'
        USING ERRCODE = 'SS003', DETAIL = json_build_object('thread', of, 'holder', holder, 'name', name)::text;
END $$;

-- Compares what a commit shows and undoes the commit when that is refused. Two that take the claim of a thread at the same
-- time: the one that comes second waits for the end of the other, and each statement of a function sees what was done until
-- it begins. What `shown` says is described in the source (`postgres/claims.rs`).
CREATE FUNCTION show_claim(shown json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of    text := shown->>'thread';
    ends  boolean := (shown->>'ends')::boolean;
    lasts bigint := (shown->>'length')::bigint;
    take  json := shown->'take';
    had   claims;
    there boolean;
    now   bigint;
    ahead bigint;
    head  text;
BEGIN
    LOOP
        SELECT * INTO had FROM claims c WHERE c.thread = of FOR NO KEY UPDATE;
        there := FOUND;
        now := claim_clock();
        IF there AND had.claim = shown->>'claim' THEN
            IF had.until = 0 THEN
                IF NOT ends THEN PERFORM refuse_claim(of, NULL, NULL); END IF;
                RETURN;
            END IF;
            ahead := greatest(had.until - now, 0);
            IF ends THEN
                UPDATE claims c SET until = 0 WHERE c.thread = of;
                EXIT;
            ELSIF ahead < lasts - lasts / 3 OR ahead > lasts THEN
                UPDATE claims c SET until = now + lasts WHERE c.thread = of;
            END IF;
            RETURN;
        END IF;
        IF take IS NULL THEN
            PERFORM refuse_claim(of, had.holder, had.name);
        END IF;
        IF there AND had.until > now THEN
            IF (take->>'beside_own')::boolean AND had.holder = take->>'holder' THEN RETURN; END IF;
            IF take->>'over' <> 'always' AND take->>'only' IS DISTINCT FROM had.claim THEN
                RAISE EXCEPTION 'a run has the thread' USING ERRCODE = 'SS002', DETAIL = json_build_object(
                    'thread', of, 'claim', had.claim, 'number', had.number, 'holder', had.holder, 'name', had.name,
                    'remaining', had.until - now)::text;
            END IF;
        END IF;
        IF (take->>'seen')::bigint <> coalesce(2 * had.number + (had.until = 0)::int, 0) THEN
            PERFORM refuse_claim(of, had.holder, had.name);
        END IF;
        IF take->>'onto' IS NOT NULL THEN
            SELECT s.head INTO head FROM spaces s WHERE s.thread = of AND s.ns = '';
            IF coalesce(head, '') <> take->>'onto' THEN
                PERFORM refuse_claim(of, had.holder, had.name);
            END IF;
        END IF;
        IF there THEN
            UPDATE claims c SET claim = shown->>'claim', number = c.number + 1, holder = take->>'holder',
                name = take->>'name', until = CASE WHEN ends THEN 0 ELSE now + lasts END WHERE c.thread = of;
            EXIT;
        END IF;
        INSERT INTO claims (thread, claim, number, holder, name, until) VALUES (of, shown->>'claim', 1,
            take->>'holder', take->>'name', CASE WHEN ends THEN 0 ELSE now + lasts END) ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
    END LOOP;
    IF ends AND NOT (shown->>'stored')::boolean THEN
        DELETE FROM claims c WHERE c.thread = of AND NOT EXISTS (SELECT 1 FROM spaces s WHERE s.thread = of);
    END IF;
END $$;

CREATE FUNCTION show_claims(shown text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM show_claim(t.value) FROM (SELECT value FROM json_array_elements(shown::json)) t;
END $$;
