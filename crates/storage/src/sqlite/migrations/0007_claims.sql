-- Which run has a thread. A row stays when its run has ended, so that its claim is known as an old one.
CREATE TABLE claims (
    thread TEXT PRIMARY KEY,
    claim  TEXT NOT NULL,                -- of the run
    number INTEGER NOT NULL,             -- counts the claims of the thread
    holder TEXT NOT NULL,                -- the program, by its id and for a person
    name   TEXT NOT NULL,
    until  INTEGER NOT NULL              -- milliseconds since the Unix epoch; 0: its run has ended it
) WITHOUT ROWID;
