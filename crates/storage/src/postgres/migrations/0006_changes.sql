-- How often a program said that it changed something: one row, raised at most a few times a second by each program.
CREATE TABLE changes (
    n bigint NOT NULL
) WITH (fillfactor = 10);                           -- room for the next versions of the row beside it

INSERT INTO changes VALUES (0);
