-- Values whose JSON text is short stand in `checkpoints.delta` and not in a row of `items`. No row is rewritten; the number
-- of this schema keeps older releases from reading such a file.
--
-- How often rows were removed: their numbers may be given again, so what a program keeps of them in memory is worth
-- something only as long as this has not changed.
CREATE TABLE epochs (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    removals INTEGER NOT NULL
);
INSERT INTO epochs VALUES (1, 0);
