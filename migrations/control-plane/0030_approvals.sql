-- Approvals: who is asked for a yes, to what exactly, and what the answer was.

-- Counts the changes of what a task asks for. Unlike the version it stays while the task is worked on.
alter table tasks
  add column revision    integer not null default 1 check (revision > 0),
  -- Who made the revision; null for the first, which the creator made.
  add column revised_by  uuid,
  add constraint tasks_reviser foreign key (tenant_id, revised_by)
    references principals (tenant_id, id);

-- Tasks from before there were requirements ask for nothing, and say so as all others do.
update tasks
set requirements = '{"roles": [], "capabilities": [], "skills": []}'::jsonb || requirements
where not requirements ?& array['roles', 'capabilities', 'skills'];

alter table tasks
  alter column requirements set default '{"roles": [], "capabilities": [], "skills": []}',
  add constraint tasks_requirements
    check (requirements ?& array['roles', 'capabilities', 'skills']);

create table approvals (
  tenant_id              uuid        not null references tenants,
  id                     uuid        not null,
  task_id                uuid,
  -- What of the task is to be approved; null when that is the artifact alone, which belongs to the task.
  task_revision          integer     check (task_revision > 0),
  -- An artifact is one revision of its chain.
  artifact_id            uuid,
  -- The first revision of the chain: what all of them have in common.
  artifact_root_id       uuid,
  workspace_id           uuid,
  required_role_id       uuid,
  assigned_principal_id  uuid,
  gate                   boolean     not null,
  comment                text        check (length(comment) between 1 and 2000),
  -- How many runs of the task had been started by then.
  after_attempt          integer     check (after_attempt >= 0),
  -- The claim under which it was asked for, if any.
  claim_id               uuid,
  fencing_token          integer,
  status                 text        not null default 'pending'
                                     check (status in (
                                       'pending', 'approved', 'rejected', 'cancelled')),
  requested_by           uuid        not null,
  decided_by             uuid,
  decided_at             timestamptz,
  decision_comment       text        check (length(decision_comment) between 1 and 2000),
  version                integer     not null default 1,
  created_at             timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, artifact_id) references artifacts (tenant_id, id),
  foreign key (tenant_id, artifact_root_id) references artifacts (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, required_role_id) references roles (tenant_id, id),
  foreign key (tenant_id, assigned_principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, claim_id) references claims (tenant_id, id),
  foreign key (tenant_id, requested_by) references principals (tenant_id, id),
  foreign key (tenant_id, decided_by) references principals (tenant_id, id),
  constraint approvals_one_addressee check
    (num_nonnulls(required_role_id, assigned_principal_id) = 1),
  constraint approvals_of_something check (num_nonnulls(task_revision, artifact_id) > 0),
  constraint approvals_gate_of_task check (task_revision is not null or not gate),
  constraint approvals_by_another check
    (status not in ('approved', 'rejected') or decided_by <> requested_by),
  check (task_revision is null or task_id is not null),
  check ((task_id is null) = (after_attempt is null)),
  check ((artifact_id is null) = (artifact_root_id is null)),
  check ((claim_id is null) = (fencing_token is null)),
  check ((status = 'pending') = (decided_by is null)),
  check ((status = 'pending') = (decided_at is null)),
  check (status <> 'pending' or decision_comment is null)
);

create index approvals_by_time on approvals (tenant_id, created_at desc, id desc);
create index approvals_by_task on approvals (tenant_id, task_id, created_at desc, id desc);
create index approvals_by_artifact on approvals (tenant_id, artifact_id, created_at desc, id desc)
  where artifact_id is not null;
create index approvals_by_workspace on approvals
  (tenant_id, workspace_id, created_at desc, id desc);
create index approvals_of_role on approvals
  (tenant_id, required_role_id, created_at desc, id desc) where required_role_id is not null;
create index approvals_of_person on approvals
  (tenant_id, assigned_principal_id, created_at desc, id desc)
  where assigned_principal_id is not null;
-- What may keep a task from being claimed or completed.
create index approval_gates on approvals (tenant_id, task_id)
  where gate and status in ('pending', 'approved');

-- A decision is made once; nothing about an approval changes afterwards.
create function refuse_second_decision() returns trigger language plpgsql as $$
begin
  raise exception 'Cannot change an approval: it is %', old.status;
end $$;

create trigger approvals_decided_once before update on approvals
  for each row when (old.status <> 'pending') execute function refuse_second_decision();

alter table runs add constraint runs_waiting_for_approval
  foreign key (tenant_id, waiting_for_approval_id) references approvals (tenant_id, id);
