-- Long parts of values (text, items of lists, members of objects), each stored once and found again by its content.
-- A part only ever refers to parts with a smaller id.
CREATE TABLE parts (
    id   INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,               -- of the text in `data`
    size INTEGER NOT NULL,               -- length of the JSON with everything it refers to
    refs BLOB,                           -- parts it refers to; NULL: none
    data BLOB NOT NULL
);
CREATE INDEX parts_by_hash ON parts (hash);
-- How many rows refer to a part beyond the first: in a table of its own, so that counting rewrites no long row.
CREATE TABLE shares (
    part INTEGER PRIMARY KEY,
    more INTEGER NOT NULL
);
ALTER TABLE items ADD COLUMN refs BLOB;     -- parts that `data` refers to; NULL: none
ALTER TABLE items ADD COLUMN size INTEGER;  -- length of the JSON of the whole value, with its base; NULL: not known
