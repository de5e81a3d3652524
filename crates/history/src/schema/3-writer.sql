-- Who writes a study, so that one under way is told from one whose process was killed. NULL if it was imported.

ALTER TABLE study ADD COLUMN writer TEXT;
