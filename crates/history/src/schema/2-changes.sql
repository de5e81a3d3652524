-- Changes: what coldpress did, as tasks with their durations. A task lies within its parent.

CREATE TABLE change (
    id            INTEGER PRIMARY KEY,
    verb          TEXT    NOT NULL,
    summary       TEXT    NOT NULL,
    began_unix_ms INTEGER NOT NULL,
    status        TEXT    NOT NULL
) STRICT;

CREATE TABLE task (
    id         INTEGER PRIMARY KEY,
    change     INTEGER NOT NULL REFERENCES change (id) ON DELETE CASCADE,
    parent     INTEGER REFERENCES task (id) ON DELETE CASCADE,
    label      TEXT    NOT NULL,
    summary    TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    -- From the start of the change.
    began_us   INTEGER NOT NULL,
    doing_us   INTEGER,
    undoing_us INTEGER
) STRICT;

CREATE INDEX task_of_change ON task (change);
