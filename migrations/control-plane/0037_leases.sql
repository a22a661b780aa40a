-- Renewing a lease is what a fleet does most often. It changes no indexed column any more, so it writes no
-- index entry, and the pages keep room for the new version of the row. Whose time is up is found among the
-- active ones, which are few however many have ended.

create index sessions_active on sessions (tenant_id, id) where status = 'active';
drop index sessions_by_expiry;
drop index claims_by_expiry;

alter table sessions set (fillfactor = 70);
alter table claims set (fillfactor = 85);
