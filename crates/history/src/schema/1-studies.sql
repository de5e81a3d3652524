-- Studies. Lists of names and values are JSON objects (`facts` of texts, `figures` of numbers), since which there are
-- depends on what was measured; SQLite's json_extract() and json_each() look into them.

CREATE TABLE study (
    -- The number of a study that was removed is not given again: somebody may still hold it.
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    kind          TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    began_unix_ms INTEGER NOT NULL,
    -- NULL if measured here.
    citation      TEXT,
    state         TEXT    NOT NULL,
    facts         TEXT    NOT NULL CHECK (json_valid(facts))
) STRICT;

CREATE TABLE contestant (
    study   INTEGER NOT NULL REFERENCES study (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    facts   TEXT    NOT NULL CHECK (json_valid(facts)),
    figures TEXT    NOT NULL CHECK (json_valid(figures)),
    PRIMARY KEY (study, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id         INTEGER PRIMARY KEY,
    study      INTEGER NOT NULL,
    contestant INTEGER NOT NULL,
    turn       INTEGER NOT NULL,
    -- Why it does not count; NULL if it does.
    excluded   TEXT,
    figures    TEXT    NOT NULL CHECK (json_valid(figures)),
    FOREIGN KEY (study, contestant) REFERENCES contestant (study, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX run_of_study ON run (study);
