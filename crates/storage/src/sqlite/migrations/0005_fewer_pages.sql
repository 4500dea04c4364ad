-- A commit pays for every page that it changes, so it changes two instead of five: of the checkpoints and of their ids.
--
-- What tasks wrote, where it is short, stands in the row of their checkpoint: for each its id, its path and its writes.
-- The rest is in `writes`, as is everything of a task that asks or has failed. No row is rewritten.
ALTER TABLE checkpoints ADD COLUMN tasks BLOB;  -- NULL: none
-- Checkpoints by step, brought up to date for many at once: up to the row `epochs.stepped`. It takes the place of the index
-- `checkpoints_by_step`, which fills it and is dropped after this, unless it is damaged.
CREATE TABLE steps (
    space INTEGER NOT NULL,
    step  INTEGER NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (space, step, seq)
) WITHOUT ROWID;
ALTER TABLE epochs ADD COLUMN stepped INTEGER NOT NULL DEFAULT 0;
