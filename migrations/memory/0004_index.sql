-- What an index in a process is built from: the place of a chunk beside what a search in the database needs.
create or replace view searchable as
select namespace_id, item, observation_id as id, 'observation' as kind, session_key as grp, actor_id as author,
       occurred_at as starts_at, valid_to, ingested_at, closed_at, retired_at, superseded_by,
       scopes, audience, 'short' as shape, terms, term_tfs, term_count, 0 as place
from observations
where status <> 'redacted'
union all
select namespace_id, item, 'chunk:' || item as id, 'chunk' as kind, node_key as grp, null as author,
       valid_from as starts_at, valid_to, ingested_at, closed_at, retired_at, null as superseded_by,
       scopes, audience, case doc_type when 'code' then 'code' else 'document' end as shape,
       terms, term_tfs, term_count, chunk_order as place
from chunks
union all
select namespace_id, item, 'node:' || key as id, 'entity' as kind, null as grp, null as author,
       valid_from as starts_at, valid_to, ingested_at, closed_at, retired_at, null as superseded_by,
       scopes, audience, 'short' as shape, terms, term_tfs, term_count, 0 as place
from nodes
where not placeholder
union all
select namespace_id, item, fact_id as id, 'fact' as kind, null as grp, null as author,
       starts_at, valid_to, ingested_at, closed_at, retired_at, superseded_by,
       scopes, audience, 'short' as shape, terms, term_tfs, term_count, 0 as place
from edges
where fact_id is not null and not evidence_lost;
