-- Changes: what coldpress did, as tasks with their durations.

CREATE TABLE change (
    id            INTEGER PRIMARY KEY,
    verb          TEXT    NOT NULL,
    summary       TEXT    NOT NULL,
    began_unix_ms INTEGER NOT NULL,
    -- NULL if it is under way, or its process was killed, or nobody stated it.
    took_us       INTEGER,
    -- NULL if measured here.
    citation      TEXT,
    status        TEXT    NOT NULL
) STRICT;

CREATE INDEX change_of_verb ON change (verb, id);

-- In the order of a listing: what a task consists of stands behind it, one level deeper.
CREATE TABLE task (
    change     INTEGER NOT NULL REFERENCES change (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    label      TEXT    NOT NULL,
    summary    TEXT    NOT NULL,
    status     TEXT,
    -- From the start of the change.
    began_us   INTEGER NOT NULL,
    doing_us   INTEGER,
    undoing_us INTEGER,
    -- Whose times are summed; NULL for what was done in one go.
    threads    INTEGER,
    PRIMARY KEY (change, number)
) STRICT, WITHOUT ROWID;
