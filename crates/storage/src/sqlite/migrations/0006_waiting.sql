-- Checkpoints of outermost graphs whose questions wait. Triggers keep it, in the transaction of whatever stores or removes
-- what a task wrote, and only where that asks or has asked: bit 1 of `writes.status`.
CREATE TABLE waiting (
    checkpoint INTEGER PRIMARY KEY,      -- seq
    space      INTEGER NOT NULL,
    id         NOT NULL,                 -- as in `checkpoints`
    tasks      INTEGER NOT NULL          -- how many of its tasks ask
);
CREATE INDEX waiting_by_id ON waiting (id, space, tasks);
CREATE INDEX waiting_by_space ON waiting (space);
CREATE TRIGGER writes_ask AFTER INSERT ON writes WHEN NEW.status & 1 BEGIN
    INSERT INTO waiting (checkpoint, space, id, tasks)
    SELECT c.seq, c.space, c.id, 1 FROM checkpoints c JOIN spaces s ON s.id = c.space AND s.ns = ''
    WHERE c.seq = NEW.checkpoint
    ON CONFLICT (checkpoint) DO UPDATE SET tasks = tasks + 1;
END;
CREATE TRIGGER writes_ask_again AFTER UPDATE OF status ON writes WHEN NEW.status & 1 AND NOT OLD.status & 1 BEGIN
    INSERT INTO waiting (checkpoint, space, id, tasks)
    SELECT c.seq, c.space, c.id, 1 FROM checkpoints c JOIN spaces s ON s.id = c.space AND s.ns = ''
    WHERE c.seq = NEW.checkpoint
    ON CONFLICT (checkpoint) DO UPDATE SET tasks = tasks + 1;
END;
CREATE TRIGGER writes_ask_no_more AFTER UPDATE OF status ON writes WHEN OLD.status & 1 AND NOT NEW.status & 1 BEGIN
    UPDATE waiting SET tasks = tasks - 1 WHERE checkpoint = OLD.checkpoint;
    DELETE FROM waiting WHERE checkpoint = OLD.checkpoint AND tasks < 1;
END;
CREATE TRIGGER writes_gone AFTER DELETE ON writes WHEN OLD.status & 1 BEGIN
    UPDATE waiting SET tasks = tasks - 1 WHERE checkpoint = OLD.checkpoint;
    DELETE FROM waiting WHERE checkpoint = OLD.checkpoint AND tasks < 1;
END;
-- 1: the table has what was asked before there was one. A program fills it when it opens the file, after this.
ALTER TABLE epochs ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
