-- What somebody keeps private about a key has a history apart from what is shared, and from what others
-- keep private about the same key: one open version for each owner, one for everybody.

drop index nodes_open;
create unique index nodes_open on nodes
  (namespace_id, key, kind, (case when starts_with(audience[1], 'principal:') then audience end)) nulls not distinct
  where valid_to is null and retired_at is null;

drop index chunks_open;
create unique index chunks_open on chunks
  (namespace_id, node_key, chunk_order, (case when starts_with(audience[1], 'principal:') then audience end)) nulls not distinct
  where valid_to is null and retired_at is null;
