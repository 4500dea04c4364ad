-- A commit that takes a claim counts up the epoch of the thread's outermost namespace. A program that knows the epoch
-- knows whose the thread is, and its commits need not show the claim again for a while. They update or look at the row of
-- the namespace; what a claim is taken onto is therefore read under a lock of that row, after those that are on their way.
CREATE OR REPLACE FUNCTION show_claim(shown json) RETURNS void LANGUAGE plpgsql AS $$
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
        SELECT s.head INTO head FROM spaces s WHERE s.thread = of AND s.ns = '' FOR NO KEY UPDATE;
        IF coalesce(head, '') <> take->>'onto' THEN
            PERFORM refuse_claim(of, had.holder, had.name);
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
