-- Sessions, tasks, claims, runs, checkpoints and artifacts.
-- Leases are judged by the database clock: expires_at is compared with clock_timestamp(), never with a
-- time that a process brought along.

create table sessions (
  tenant_id          uuid        not null,
  id                 uuid        not null,
  principal_id       uuid        not null,
  client_name        text        not null check (length(client_name) between 1 and 200),
  client_version     text        check (length(client_version) <= 100),
  metadata           jsonb       not null default '{}',
  on_behalf_of       uuid,
  harness_type       text,
  harness_version    text,
  protocol_version   text,
  capabilities       text[]      not null default '{}',
  hostname           text,
  environment        jsonb,
  control_level      text        not null check (control_level in ('human_operated', 'connected')),
  status             text        not null default 'active'
                                 check (status in ('active', 'closed', 'expired')),
  ttl_seconds        integer     not null check (ttl_seconds > 0),
  expires_at         timestamptz not null,
  last_heartbeat_at  timestamptz not null default clock_timestamp(),
  ended_at           timestamptz,
  version            integer     not null default 1,
  created_at         timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  constraint sessions_on_behalf_of foreign key (tenant_id, on_behalf_of)
    references principals (tenant_id, id),
  check ((status = 'active') = (ended_at is null))
);

create index sessions_by_principal on sessions (tenant_id, principal_id, created_at desc, id desc);
-- For the reaper, which serves every tenant of its database.
create index sessions_by_expiry on sessions (expires_at) where status = 'active';

-- The last public number of a tenant's tasks.
create table task_numbers (
  tenant_id    uuid    primary key references tenants,
  last_number  bigint  not null
);

create table tasks (
  tenant_id           uuid        not null references tenants,
  id                  uuid        not null,
  number              bigint      not null,
  title               text        not null check (length(title) between 1 and 500),
  description         text        not null default '',
  type_key            text        not null default 'task',
  type_version        integer     not null default 1,
  status              text        not null,
  -- Copied from the type's lifecycle, so that no query has to read the type.
  status_category     text        not null check (status_category in (
                        'open', 'active', 'blocked',
                        'terminal_success', 'terminal_failure', 'terminal_cancelled')),
  priority            text        not null check (priority in ('critical', 'high', 'medium', 'low')),
  priority_rank       smallint    not null generated always as (
                        case priority when 'critical' then 0 when 'high' then 1
                                      when 'medium' then 2 else 3 end) stored,
  owner_id            uuid,
  assignee_id         uuid,
  workspace_id        uuid,
  goal_id             uuid,
  -- The fencing token of the newest claim; every claim takes the next one.
  last_fencing_token  integer     not null default 0,
  custom_fields       jsonb       not null default '{}',
  start_date          date,
  due_date            date,
  origin              jsonb,
  acceptance          jsonb       not null default '[]',
  evidence            jsonb       not null default '[]',
  requirements        jsonb       not null default '{}',
  version             integer     not null default 1,
  created_by          uuid        not null,
  created_at          timestamptz(3) not null default now(),
  updated_at          timestamptz not null default now(),
  completed_at        timestamptz,
  primary key (tenant_id, id),
  unique (tenant_id, number),
  constraint tasks_owner foreign key (tenant_id, owner_id) references principals (tenant_id, id),
  constraint tasks_assignee foreign key (tenant_id, assignee_id) references principals (tenant_id, id),
  constraint tasks_creator foreign key (tenant_id, created_by) references principals (tenant_id, id),
  constraint tasks_workspace foreign key (tenant_id, workspace_id)
    references workspaces (tenant_id, id)
);

create index tasks_by_time on tasks (tenant_id, created_at desc, id desc);
create index tasks_by_status on tasks (tenant_id, status, created_at desc, id desc);
create index tasks_by_workspace on tasks (tenant_id, workspace_id, created_at desc, id desc);
create index tasks_by_assignee on tasks (tenant_id, assignee_id, created_at desc, id desc);
-- Work that may be free: stays small however many tasks are finished.
create index tasks_unfinished on tasks (tenant_id, priority_rank, created_at, id)
  where status_category in ('open', 'active');

create table claims (
  tenant_id      uuid        not null,
  id             uuid        not null,
  task_id        uuid        not null,
  session_id     uuid        not null,
  principal_id   uuid        not null,
  fencing_token  integer     not null check (fencing_token > 0),
  status         text        not null default 'active'
                             check (status in ('active', 'released', 'expired')),
  intent         text        check (length(intent) between 1 and 2000),
  ttl_seconds    integer     not null check (ttl_seconds > 0),
  expires_at     timestamptz not null,
  end_reason     text,
  ended_at       timestamptz,
  version        integer     not null default 1,
  created_at     timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions (tenant_id, id),
  constraint one_claim_per_token unique (tenant_id, task_id, fencing_token),
  check ((status = 'active') = (ended_at is null))
);

create unique index one_active_claim_per_task on claims (tenant_id, task_id)
  where status = 'active';
create index claims_by_session on claims (tenant_id, session_id) where status = 'active';
create index claims_by_principal on claims (tenant_id, principal_id, created_at desc, id desc)
  where status = 'active';
-- For the reaper, which serves every tenant of its database.
create index claims_by_expiry on claims (expires_at) where status = 'active';

create table runs (
  tenant_id             uuid        not null,
  id                    uuid        not null,
  task_id               uuid        not null,
  claim_id              uuid        not null,
  session_id            uuid        not null,
  principal_id          uuid        not null,
  fencing_token         integer     not null check (fencing_token > 0),
  attempt               integer     not null check (attempt > 0),
  status                text        not null default 'running'
                        check (status in ('running', 'succeeded', 'failed', 'cancelled', 'suspended')),
  input                 jsonb,
  output                jsonb,
  reason                text,
  model                 text,
  max_duration_seconds  integer     check (max_duration_seconds > 0),
  max_actions           integer     check (max_actions > 0),
  checkpoint_count      integer     not null default 0,
  version               integer     not null default 1,
  created_at            timestamptz(3) not null default clock_timestamp(),
  finished_at           timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, claim_id) references claims (tenant_id, id),
  constraint one_run_per_attempt unique (tenant_id, task_id, attempt),
  check ((status = 'running') = (finished_at is null))
);

create unique index one_running_run_per_claim on runs (tenant_id, claim_id)
  where status = 'running';
create index runs_by_task on runs (tenant_id, task_id, created_at desc, id desc);
create index runs_by_time on runs (tenant_id, created_at desc, id desc);
create index runs_by_principal on runs (tenant_id, principal_id, created_at desc, id desc)
  where status = 'running';
create index runs_suspended on runs (tenant_id, principal_id, finished_at desc, id desc)
  where status = 'suspended';

create table run_checkpoints (
  tenant_id      uuid        not null,
  run_id         uuid        not null,
  sequence       integer     not null check (sequence > 0),
  id             uuid        not null,
  kind           text        not null check (length(kind) between 1 and 128),
  data           jsonb       not null,
  fencing_token  integer     not null,
  created_at     timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, run_id, sequence),
  foreign key (tenant_id, run_id) references runs (tenant_id, id)
);

-- Content by what it is: equal bytes of a tenant are stored once.
create table artifact_contents (
  tenant_id   uuid        not null references tenants,
  sha256      text        not null check (sha256 ~ '^[0-9a-f]{64}$'),
  size_bytes  integer     not null,
  content     bytea       not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, sha256),
  check (size_bytes = length(content))
);

-- Append-only: a new revision names the artifact it supersedes.
create table artifacts (
  tenant_id               uuid        not null references tenants,
  id                      uuid        not null,
  type                    text        not null check (length(type) between 1 and 100),
  name                    text        not null check (length(name) between 1 and 300),
  uri                     text        check (length(uri) between 1 and 2000),
  content_sha256          text,
  media_type              text,
  size_bytes              integer,
  metadata                jsonb       not null default '{}',
  task_id                 uuid,
  run_id                  uuid,
  workspace_id            uuid,
  supersedes_artifact_id  uuid,
  claim_id                uuid,
  fencing_token           integer,
  created_by              uuid        not null,
  created_at              timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  foreign key (tenant_id, claim_id) references claims (tenant_id, id),
  foreign key (tenant_id, content_sha256) references artifact_contents (tenant_id, sha256),
  foreign key (tenant_id, supersedes_artifact_id) references artifacts (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  constraint artifacts_workspace foreign key (tenant_id, workspace_id)
    references workspaces (tenant_id, id),
  check (uri is null or content_sha256 is null),
  check ((content_sha256 is null) = (size_bytes is null)),
  check (supersedes_artifact_id <> id)
);

-- One successor at most, so a chain of revisions has exactly one head.
create unique index one_successor_per_artifact on artifacts (tenant_id, supersedes_artifact_id)
  where supersedes_artifact_id is not null;
create index artifacts_by_time on artifacts (tenant_id, created_at desc, id desc);
create index artifacts_by_task on artifacts (tenant_id, task_id, created_at desc, id desc);
create index artifacts_by_run on artifacts (tenant_id, run_id, created_at desc, id desc);
create index artifacts_by_workspace on artifacts (tenant_id, workspace_id, created_at desc, id desc);
