-- Search over everything at once: one view of what can be found by words, and what names are found by.

-- `grp` is what an item has its neighbours in: a session, a task, a document; `shape` chooses how its
-- length is judged. Nothing redacted and no
-- placeholder (its name stands in the fact that made it) is found by words.
create view searchable as
select namespace_id, item, observation_id as id, 'observation' as kind, session_key as grp, actor_id as author,
       occurred_at as starts_at, valid_to, ingested_at, closed_at, retired_at, superseded_by,
       scopes, audience, 'short' as shape, terms, term_tfs, term_count
from observations
where status <> 'redacted'
union all
select namespace_id, item, 'chunk:' || item as id, 'chunk' as kind, node_key as grp, null as author,
       valid_from as starts_at, valid_to, ingested_at, closed_at, retired_at, null as superseded_by,
       scopes, audience, case doc_type when 'code' then 'code' else 'document' end as shape,
       terms, term_tfs, term_count
from chunks
union all
select namespace_id, item, 'node:' || key as id, 'entity' as kind, null as grp, null as author,
       valid_from as starts_at, valid_to, ingested_at, closed_at, retired_at, null as superseded_by,
       scopes, audience, 'short' as shape, terms, term_tfs, term_count
from nodes
where not placeholder
union all
select namespace_id, item, fact_id as id, 'fact' as kind, null as grp, null as author,
       starts_at, valid_to, ingested_at, closed_at, retired_at, superseded_by,
       scopes, audience, 'short' as shape, terms, term_tfs, term_count
from edges
where fact_id is not null and not evidence_lost;

-- A write is seen by the next search, which must not walk a list of pending entries first.
alter index observations_terms set (fastupdate = off);
alter index chunks_terms set (fastupdate = off);
alter index nodes_terms set (fastupdate = off);
alter index edges_terms set (fastupdate = off);

create index nodes_by_alias on nodes using gin (aliases) with (fastupdate = off)
  where aliases <> '{}';

-- Names are also given by their end ("search.ts", "pay" for "service:pay").
create index nodes_by_end on nodes (namespace_id, (reverse(key) collate "C"))
  where retired_at is null;

-- The newest of what somebody stated, and of what merely happened to tasks and runs, apart: one busy task
-- must not push out what was decided.
create index observations_stated on observations (namespace_id, occurred_at desc, ingested_at desc)
  where kind !~ '^(task|run|claim|session)[.]';
create index observations_lifecycle on observations (namespace_id, occurred_at desc, ingested_at desc)
  where kind ~ '^(task|run|claim|session)[.]';
