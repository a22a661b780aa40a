-- Calls of skills: asked for by one principal, executed by another under a lease.

-- The skill that carries out tasks of a type, by name: their runs may call it although it writes outside.
alter table task_types
  add column execution_skill text check (execution_skill ~ '^[a-z0-9][a-z0-9._-]{0,199}$');

create table skill_invocations (
  tenant_id         uuid        not null references tenants,
  id                uuid        not null,
  skill_id          uuid        not null,
  workspace_id      uuid,
  -- The run it is made for, and the action that tells of it there.
  run_id            uuid,
  action_id         uuid,
  -- What lets it write outside; null where it does not.
  basis             text        check (basis in ('approval', 'execution')),
  approval_id       uuid,
  invoked_by        uuid        not null,
  inputs            jsonb       not null,
  status            text        not null default 'pending' check (status in (
                      'pending', 'running', 'succeeded', 'failed', 'cancelled')),
  -- The number of the newest attempt; 0 before the first.
  fencing_token     integer     not null default 0 check (fencing_token >= 0),
  -- Of the newest attempt.
  executor_id       uuid,
  lease_expires_at  timestamptz,
  -- When the next attempt may begin.
  available_at      timestamptz not null default clock_timestamp(),
  outputs           jsonb,
  -- What the newest attempt that failed said.
  error             jsonb,
  reason            text        check (length(reason) between 1 and 2000),
  version           integer     not null default 1,
  created_at        timestamptz(3) not null default clock_timestamp(),
  finished_at       timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, skill_id) references skills (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  foreign key (tenant_id, action_id) references run_actions (tenant_id, id),
  foreign key (tenant_id, approval_id) references approvals (tenant_id, id),
  foreign key (tenant_id, invoked_by) references principals (tenant_id, id),
  foreign key (tenant_id, executor_id) references principals (tenant_id, id),
  constraint one_use_of_an_approval unique (tenant_id, approval_id),
  constraint invocation_of_run check ((run_id is null) = (action_id is null)),
  constraint invocation_basis check ((basis is not distinct from 'approval') = (approval_id is not null)),
  constraint invocation_lease check ((status = 'running') = (lease_expires_at is not null)),
  constraint invocation_attempt check ((fencing_token = 0) = (executor_id is null)),
  constraint invocation_result check ((status = 'succeeded') = (outputs is not null)),
  constraint invocation_end check (
    (status in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
);

create index skill_invocations_by_time on skill_invocations
  (tenant_id, created_at desc, id desc);
create index skill_invocations_by_invoker on skill_invocations
  (tenant_id, invoked_by, created_at desc, id desc);
create index skill_invocations_by_skill on skill_invocations
  (tenant_id, skill_id, created_at desc, id desc);
create index skill_invocations_by_run on skill_invocations
  (tenant_id, run_id, created_at desc, id desc) where run_id is not null;
-- What waits for an executor or for a sign of life of one, the oldest first.
create index skill_invocations_open on skill_invocations (tenant_id, created_at, id)
  where status in ('pending', 'running');
-- Renewing a lease writes no index entry, and the page keeps room for the new version of the row.
alter table skill_invocations set (fillfactor = 85);

-- An end is an end.
create function refuse_ended_invocation_change() returns trigger language plpgsql as $$
begin
  raise exception 'Cannot change an invocation: it is %', old.status;
end $$;

create trigger skill_invocations_end_once before update on skill_invocations
  for each row when (old.finished_at is not null) execute function refuse_ended_invocation_change();
