-- Messages to a running turn; handles of child runs.

alter table runs
  add column message_count  integer not null default 0,
  add column child_count    integer not null default 0;

-- What people and orchestrators say to a run while it works; acknowledged in order by its holder.
create table run_control_messages (
  tenant_id             uuid        not null,
  run_id                uuid        not null,
  sequence              integer     not null check (sequence > 0),
  id                    uuid        not null,
  kind                  text        not null check (kind in (
                          'queue', 'steer', 'redirect', 'request_cancel', 'force_cancel')),
  message               text        check (length(message) between 1 and 20000),
  status                text        not null default 'accepted' check (status in (
                          'accepted', 'applied', 'rejected', 'superseded')),
  author_id             uuid        not null,
  -- Where the run was when the message was accepted.
  run_version           integer     not null,
  checkpoint_sequence   integer     not null,
  action_sequence       integer     not null,
  safe_boundary         text        check (length(safe_boundary) between 1 and 64),
  note                  text        check (length(note) between 1 and 2000),
  fencing_token         integer,
  created_at            timestamptz(3) not null default clock_timestamp(),
  settled_at            timestamptz,
  primary key (tenant_id, run_id, sequence),
  unique (tenant_id, id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  foreign key (tenant_id, author_id) references principals (tenant_id, id),
  check ((status = 'accepted') = (settled_at is null)),
  check ((status = 'applied') = (safe_boundary is not null))
);

create index run_control_messages_pending on run_control_messages (tenant_id, run_id, sequence)
  where status = 'accepted';

-- Work that a run gives to another, under less than its own rights.
create table child_handles (
  tenant_id             uuid        not null,
  id                    uuid        not null,
  run_id                uuid        not null,
  sequence              integer     not null check (sequence > 0),
  correlation_id        text        not null check (length(correlation_id) between 1 and 200),
  title                 text        not null,
  task_id               uuid        not null,
  token_hash            bytea       not null check (length(token_hash) = 32),
  permissions           text[]      not null check (array_length(permissions, 1) > 0),
  -- Names of skills the child may execute; null where the grant does not narrow them.
  skills                text[],
  max_duration_seconds  integer     check (max_duration_seconds > 0),
  max_actions           integer     check (max_actions > 0),
  cancellation_policy   text        not null check (cancellation_policy in (
                          'cascade_cooperative', 'detach')),
  expires_at            timestamptz not null,
  revoked_at            timestamptz,
  revoke_reason         text        check (length(revoke_reason) <= 2000),
  created_by            uuid        not null,
  created_at            timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint one_child_per_correlation unique (tenant_id, run_id, correlation_id),
  unique (tenant_id, run_id, sequence),
  constraint one_handle_per_child unique (tenant_id, task_id),
  unique (tenant_id, token_hash),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id)
);
