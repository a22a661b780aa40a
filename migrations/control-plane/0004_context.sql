-- What agents record on purpose. The journal holds reference, length and sha256 of an observation; its
-- text lives apart, so that it can be erased while the journal stays append-only. References to work
-- are checked when they are written and are not foreign keys: evidence outlives what it speaks about.

create table observations (
  tenant_id            uuid        not null references tenants,
  id                   uuid        not null,
  event_id             uuid        not null,
  author_id            uuid        not null,
  kind                 text        not null check (length(kind) between 1 and 128),
  visibility           text        not null check (visibility in ('workspace', 'private')),
  workspace_id         uuid,
  task_id              uuid,
  run_id               uuid,
  session_id           uuid,
  source               text        check (length(source) between 1 and 128),
  dedup_key            text        check (length(dedup_key) between 1 and 512),
  external_ref         jsonb,
  supersedes           uuid,
  observed_at          timestamptz not null,
  recorded_at          timestamptz not null default clock_timestamp(),
  content_length       integer     not null,
  content_sha256       text        not null,
  content_fingerprint  text        not null,
  primary key (tenant_id, id),
  unique (tenant_id, event_id),
  foreign key (tenant_id, author_id) references principals (tenant_id, id),
  foreign key (tenant_id, supersedes) references observations (tenant_id, id),
  check (source is not null or (dedup_key is null and external_ref is null))
);

-- A repeat belongs to its author: another writer's same pair is another observation.
create unique index observations_by_key on observations (tenant_id, author_id, source, dedup_key)
  where dedup_key is not null;

-- Deleting a row here is how an observation is forgotten.
create table observation_contents (
  tenant_id   uuid   not null,
  event_id    uuid   not null,
  content     text   not null,
  data        jsonb,
  assertions  jsonb,
  primary key (tenant_id, event_id),
  foreign key (tenant_id, event_id) references observations (tenant_id, event_id)
);
