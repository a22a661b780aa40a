-- The memory service: namespaces, evidence (observations), documents (chunks), the graph (nodes,
-- edges), and the ledger of reconciled sources.
--
-- Every row belongs to one namespace, whose number stands first in every key. Every writer locks the
-- row of its namespace first, so inside a namespace there is one writer at a time and every write has a
-- version; item numbers are taken from the same row and are dense and distinct over all four kinds.
--
-- Time, alike in the four item tables: [valid_from, valid_to) is when something held in the world
-- (null is open), ingested_at is when we learnt it, closed_at is when we learnt valid_to, retired_at is
-- when a corrected row took this one's place. A row is true at T as known at K when
--   ingested_at <= K and (retired_at is null or retired_at > K)
--   and start <= T and (valid_to is null or valid_to > T or closed_at > K)
-- where start is occurred_at of an observation, starts_at of an edge, valid_from of the others.

create table instance (
  only_row    boolean     primary key default true check (only_row),
  id          uuid        not null default gen_random_uuid(),
  created_at  timestamptz not null default now()
);

insert into instance default values;

create table namespaces (
  namespace   text        primary key check (namespace ~ '^[a-z0-9][a-z0-9._:-]{0,199}$'),
  id          bigint      not null unique generated always as identity,
  -- Grows by one with every write transaction; an index in a process compares it with its own.
  version     bigint      not null default 0,
  -- The last item number given out.
  last_item   bigint      not null default 0,
  created_at  timestamptz not null default now()
);

-- What each version of a namespace changed, without gaps. `kind` names an item table.
create table changes (
  namespace_id  bigint    not null references namespaces (id),
  version       bigint    not null,
  kind          text      not null check (kind in ('observation', 'chunk', 'node', 'edge')),
  items         bigint[]  not null,
  primary key (namespace_id, version, kind)
);

-- Rows that are neither closed nor retired, and the sum of their term counts.
create table namespace_stats (
  namespace_id  bigint  not null references namespaces (id),
  kind          text    not null check (kind in ('observation', 'chunk', 'node', 'edge')),
  items         bigint  not null default 0,
  words         bigint  not null default 0,
  primary key (namespace_id, kind)
);

-- Who sees an item: its workspaces, else its principals, else everybody in the namespace.
create function audience_of(scopes text[]) returns text[]
language sql immutable parallel safe
return coalesce(
  nullif(array(select s from unnest(scopes) as s where starts_with(s, 'workspace:')), '{}'::text[]),
  array(select s from unnest(scopes) as s where starts_with(s, 'principal:'))
);

-- Evidence as received. Only the status columns and the end of validity change.
create table observations (
  namespace_id       bigint      not null references namespaces (id),
  item               bigint      not null,
  observation_id     text        not null check (observation_id ~ '^obs-[0-9a-f]{24}$'),
  source_system      text,
  source_stream      text,
  external_id        text,
  kind               text        not null,
  occurred_at        timestamptz not null,
  valid_to           timestamptz,
  ingested_at        timestamptz not null default now(),
  closed_at          timestamptz,
  retired_at         timestamptz,
  -- What this one replaces, as its sender names it: an observation id, the external id of another
  -- observation of the same stream, or the id of a subject of type `observation`.
  supersedes         text,
  superseded_by      text,
  actor_type         text,
  actor_id           text,
  subject_type       text,
  subject_id         text,
  scopes             text[]      not null default '{}',
  audience           text[]      not null generated always as (audience_of(scopes)) stored,
  -- `session:<id>`, else `task:<id>`: what the observation has its neighbours in.
  session_key        text,
  title              text,
  content            text,
  data               jsonb,
  assertions         jsonb       not null default '[]',
  provenance         jsonb,
  content_hash       text        not null,
  status             text        not null default 'received'
                     check (status in ('received', 'processed', 'partially_processed', 'failed', 'redacted')),
  status_detail      text,
  processed_at       timestamptz,
  -- What the writer was allowed to write when it did; null is unrestricted.
  writer_visibility  text[],
  terms              bigint[]    not null default '{}',
  term_tfs           smallint[]  not null default '{}',
  term_count         integer     not null default 0,
  primary key (namespace_id, observation_id),
  unique (namespace_id, item),
  check (valid_to is null or valid_to >= occurred_at),
  check (cardinality(terms) = cardinality(term_tfs))
);

create index observations_terms on observations using gin (terms);
create index observations_by_time on observations (namespace_id, occurred_at desc, ingested_at desc);
create index observations_by_session on observations (namespace_id, session_key, occurred_at, item)
  where session_key is not null;

create index observations_by_subject on observations (namespace_id, subject_id, subject_type)
  where subject_id is not null;
create index observations_by_supersedes on observations (namespace_id, supersedes)
  where supersedes is not null;

-- Texts of documents and of text assertions, in order. A replaced version is closed, never removed.
create table chunks (
  namespace_id    bigint      not null references namespaces (id),
  item            bigint      not null,
  node_key        text        not null,
  chunk_order     integer     not null check (chunk_order >= 0),
  -- The type of the document: `code` is scored and split as code.
  doc_type        text        not null default 'document',
  title           text,
  heading         text,
  text            text        not null,
  source_path     text,
  observation_id  text,
  meta            jsonb       not null default '{}',
  scopes          text[]      not null default '{}',
  audience        text[]      not null generated always as (audience_of(scopes)) stored,
  valid_from      timestamptz not null,
  valid_to        timestamptz,
  ingested_at     timestamptz not null default now(),
  closed_at       timestamptz,
  retired_at      timestamptz,
  terms           bigint[]    not null default '{}',
  term_tfs        smallint[]  not null default '{}',
  term_count      integer     not null default 0,
  primary key (namespace_id, item),
  check (cardinality(terms) = cardinality(term_tfs))
);

create unique index chunks_open on chunks (namespace_id, node_key, chunk_order)
  where valid_to is null and retired_at is null;
create index chunks_by_node on chunks (namespace_id, node_key, chunk_order, valid_from);
create index chunks_terms on chunks using gin (terms);
create index chunks_by_observation on chunks (namespace_id, observation_id)
  where observation_id is not null;

-- Entities, documents and notes, one row per version. A placeholder stands for an end of a fact that
-- nobody has described yet.
create table nodes (
  namespace_id    bigint      not null references namespaces (id),
  item            bigint      not null,
  key             text        not null,
  kind            text        not null,
  title           text        not null,
  properties      jsonb       not null default '{}',
  aliases         text[]      not null default '{}',
  source_path     text,
  source_id       text,
  observation_id  text,
  provenance      jsonb,
  confidence      real        check (confidence between 0 and 1),
  origin          text        not null default 'agent' check (origin in ('agent', 'vault', 'snapshot')),
  placeholder     boolean     not null default false,
  scopes          text[]      not null default '{}',
  audience        text[]      not null generated always as (audience_of(scopes)) stored,
  valid_from      timestamptz not null,
  valid_to        timestamptz,
  ingested_at     timestamptz not null default now(),
  closed_at       timestamptz,
  retired_at      timestamptz,
  last_seen       timestamptz not null default now(),
  -- When each thing about it was said during this version: the title as `t`, properties as `p:<name>`.
  said            jsonb       not null default '{}',
  terms           bigint[]    not null default '{}',
  term_tfs        smallint[]  not null default '{}',
  term_count      integer     not null default 0,
  primary key (namespace_id, item),
  check (valid_to is null or valid_to >= valid_from),
  check (cardinality(terms) = cardinality(term_tfs))
);

create unique index nodes_open on nodes (namespace_id, key, kind)
  where valid_to is null and retired_at is null;
create index nodes_by_key on nodes (namespace_id, key, valid_from);
create index nodes_by_kind on nodes (namespace_id, kind, key)
  where retired_at is null;
create index nodes_terms on nodes using gin (terms);
create index nodes_by_observation on nodes (namespace_id, observation_id)
  where observation_id is not null;

-- Facts (they have a fact_id) and links between nodes, by the keys of their ends.
create table edges (
  namespace_id     bigint      not null references namespaces (id),
  item             bigint      not null,
  fact_id          text        check (fact_id ~ '^fact-[0-9a-f]{24}$'),
  subject          text        not null,
  subject_kind     text        not null,
  predicate        text        not null,
  object           text        not null,
  object_kind      text        not null,
  attributes       jsonb       not null default '{}',
  valid_from       timestamptz,
  valid_to         timestamptz,
  observed_at      timestamptz not null,
  -- A fact without valid_from held for ever, but is told from its first evidence on.
  starts_at        timestamptz not null generated always as (coalesce(valid_from, observed_at)) stored,
  ingested_at      timestamptz not null default now(),
  closed_at        timestamptz,
  retired_at       timestamptz,
  evidence         text        not null default 'asserted'
                   check (evidence in ('asserted', 'extracted', 'inferred', 'derived')),
  confidence       real        not null default 1 check (confidence between 0 and 1),
  observation_ids  text[]      not null default '{}',
  evidence_lost    boolean     not null default false,
  supersedes       text,
  superseded_by    text,
  source_path      text,
  origin           text        not null default 'agent' check (origin in ('agent', 'vault', 'snapshot')),
  provenance       jsonb,
  snapshot_source  text,
  snapshot_scope   text,
  snapshot_id      text,
  scopes           text[]      not null default '{}',
  audience         text[]      not null generated always as (audience_of(scopes)) stored,
  terms            bigint[]    not null default '{}',
  term_tfs         smallint[]  not null default '{}',
  term_count       integer     not null default 0,
  primary key (namespace_id, item),
  check (cardinality(terms) = cardinality(term_tfs))
);

create unique index edges_by_fact on edges (namespace_id, fact_id)
  where fact_id is not null and retired_at is null;
create index edges_by_subject on edges (namespace_id, subject, predicate);
create index edges_by_object on edges (namespace_id, object, predicate);
create index edges_terms on edges using gin (terms);
create index edges_by_supersedes on edges (namespace_id, supersedes)
  where supersedes is not null;
create index edges_by_observation on edges using gin (observation_ids);

-- How far each stream of a sender has been received; compared with the sender's cursor after a restore.
create table streams (
  namespace_id  bigint      not null references namespaces (id),
  system        text        not null,
  stream        text        not null,
  -- The sender's journal epoch, transaction and sequence, in this order of significance.
  position_e    integer     not null,
  position_t    numeric(20) not null,
  position_s    bigint      not null,
  received      bigint      not null default 0,
  updated_at    timestamptz not null default now(),
  primary key (namespace_id, system, stream)
);

-- Each (source, scope) that was ever reconciled, and the state of its open versions.
create table sources (
  namespace_id  bigint      not null references namespaces (id),
  source_no     integer     not null,
  source        text        not null,
  scope         text        not null,
  state_token   text        not null,
  -- Of the newest accepted snapshot: none older is accepted.
  observed_at   timestamptz,
  primary key (namespace_id, source_no),
  unique (namespace_id, source, scope)
);

-- Accepted snapshots with the answer they were given.
create table snapshots (
  namespace_id  bigint      not null,
  source_no     integer     not null,
  snapshot_id   text        not null,
  -- Version of the namespace that the snapshot made.
  version       bigint      not null,
  observed_at   timestamptz not null,
  ingested_at   timestamptz not null default now(),
  pack          text,
  -- Of everything the snapshot said, to tell a repeat from another content under the same id.
  content_hash  text        not null,
  counters      jsonb       not null,
  primary key (namespace_id, source_no, snapshot_id),
  foreign key (namespace_id, source_no) references sources (namespace_id, source_no)
);

-- What each source said, one row per version of an entity or a relation; nothing is ever removed.
create table snapshot_entities (
  namespace_id   bigint      not null,
  source_no      integer     not null,
  kind           text        not null,
  key            text        not null,
  opened_by      bigint      not null,
  closed_by      bigint,
  title          text        not null,
  attributes     jsonb       not null default '{}',
  aliases        text[]      not null default '{}',
  scopes         text[]      not null default '{}',
  provenance     jsonb,
  source_path    text,
  content_hash   text        not null,
  valid_from     timestamptz not null,
  valid_to       timestamptz,
  ingested_at    timestamptz not null default now(),
  closed_at      timestamptz,
  -- Whether the version ended because the same source said something newer about the entity.
  superseded     boolean     not null default false,
  primary key (namespace_id, source_no, kind, key, opened_by),
  foreign key (namespace_id, source_no) references sources (namespace_id, source_no)
);

create unique index snapshot_entities_open on snapshot_entities (namespace_id, kind, key, source_no)
  where closed_by is null;

create table snapshot_relations (
  namespace_id   bigint      not null,
  source_no      integer     not null,
  -- Hash of relation and both ends.
  identity       text        not null,
  opened_by      bigint      not null,
  closed_by      bigint,
  relation       text        not null,
  from_kind      text        not null,
  from_key       text        not null,
  to_kind        text        not null,
  to_key         text        not null,
  attributes     jsonb       not null default '{}',
  scopes         text[]      not null default '{}',
  provenance     jsonb,
  content_hash   text        not null,
  -- Null while an end is missing: the relation waits for it.
  fact_id        text,
  valid_from     timestamptz not null,
  valid_to       timestamptz,
  ingested_at    timestamptz not null default now(),
  closed_at      timestamptz,
  superseded     boolean     not null default false,
  primary key (namespace_id, source_no, identity, opened_by),
  foreign key (namespace_id, source_no) references sources (namespace_id, source_no)
);

create unique index snapshot_relations_open on snapshot_relations (namespace_id, source_no, identity)
  where closed_by is null;
create index snapshot_relations_waiting_from on snapshot_relations (namespace_id, from_key)
  where closed_by is null and fact_id is null;
create index snapshot_relations_waiting_to on snapshot_relations (namespace_id, to_key)
  where closed_by is null and fact_id is null;

-- What a context answer was made of. Written outside the read's transaction.
create table context_traces (
  namespace_id  bigint      not null references namespaces (id),
  trace_id      text        not null check (trace_id ~ '^ctx-[0-9a-f]{16}$'),
  created_at    timestamptz not null default now(),
  trace         jsonb       not null,
  primary key (namespace_id, trace_id)
);

create index context_traces_by_time on context_traces (namespace_id, created_at);
