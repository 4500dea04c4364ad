-- Vectors of different embeddings cannot be compared, so each item names its own; NULL where that was not noted.
ALTER TABLE store_items ADD embedding text;
-- What its put said about how it is found, as JSON: paths, none of them when nothing is to find it; NULL: nothing.
ALTER TABLE store_items ADD said text;
