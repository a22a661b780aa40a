-- When each version was made: an index that is of a version tells by it whether the log goes on from there,
-- or the database was restored meanwhile and another version has the number. The log is kept short; an
-- index that is older than its beginning is read anew.
alter table changes add column written_at timestamptz not null default now();
