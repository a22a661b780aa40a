-- Task types, relations between tasks, comments, external references and goals.

-- A version of a type never changes: tasks point at the version they were made with.
create table task_types (
  tenant_id             uuid        not null references tenants,
  key                   text        not null check (key ~ '^[a-z][a-z0-9_-]{0,63}$'),
  version               integer     not null check (version > 0),
  id                    uuid        not null,
  display_name          text        not null check (length(display_name) between 1 and 200),
  description           text        not null default '',
  lifecycle             jsonb       not null,
  custom_fields_schema  jsonb,
  instructions          text        check (octet_length(instructions) between 1 and 16384),
  context_schema        jsonb,
  approval_schema       jsonb,
  artifact_schema       jsonb,
  -- Null for what comes with the product.
  created_by            uuid,
  created_at            timestamptz(3) not null default now(),
  primary key (tenant_id, key, version),
  unique (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id)
);

create index task_types_by_time on task_types (tenant_id, created_at desc, id desc);

create function refuse_task_type_change() returns trigger language plpgsql as $$
begin
  raise exception 'Cannot % a task type: its versions never change', lower(tg_op);
end $$;

create trigger task_types_immutable before update on task_types
  for each row execute function refuse_task_type_change();

-- The type of tasks that name none.
create function insert_default_task_type(tenant uuid) returns void language sql as $$
  insert into task_types (tenant_id, key, version, id, display_name, lifecycle)
  values (tenant, 'default', 1, gen_random_uuid(), 'Task', '{
    "statuses": [
      {"key": "open", "category": "open"},
      {"key": "in_progress", "category": "active"},
      {"key": "blocked", "category": "blocked"},
      {"key": "completed", "category": "terminal_success"},
      {"key": "cancelled", "category": "terminal_cancelled"}
    ],
    "transitions": [
      {"from": "open", "to": "in_progress"},
      {"from": "open", "to": "blocked"},
      {"from": "open", "to": "cancelled"},
      {"from": "open", "to": "completed"},
      {"from": "in_progress", "to": "open"},
      {"from": "in_progress", "to": "blocked"},
      {"from": "in_progress", "to": "cancelled"},
      {"from": "in_progress", "to": "completed"},
      {"from": "blocked", "to": "open"},
      {"from": "blocked", "to": "in_progress"},
      {"from": "blocked", "to": "cancelled"},
      {"from": "cancelled", "to": "open"}
    ],
    "initialStatus": "open",
    "claimStatus": "in_progress",
    "releaseStatus": "open",
    "completionStatus": "completed"
  }')
$$;

create function give_default_task_type() returns trigger language plpgsql as $$
begin
  perform insert_default_task_type(new.tenant_id);
  return null;
end $$;

create trigger tenants_default_task_type after insert on tenants
  for each row execute function give_default_task_type();

select insert_default_task_type(tenant_id) from tenants;

update tasks set type_key = 'default' where type_key = 'task';
alter table tasks alter column type_key drop default;
alter table tasks alter column type_version drop default;
alter table tasks add constraint tasks_type foreign key (tenant_id, type_key, type_version)
  references task_types (tenant_id, key, version);

-- Goals: what tasks are for.
create table goals (
  tenant_id       uuid        not null references tenants,
  id              uuid        not null,
  title           text        not null check (length(title) between 1 and 500),
  description     text        not null default '',
  status          text        not null check (status in (
                    'proposed', 'active', 'paused', 'achieved', 'abandoned')),
  workspace_id    uuid,
  owner_id        uuid,
  parent_goal_id  uuid,
  criteria        jsonb       not null default '[]',
  created_from    text        check (length(created_from) between 1 and 500),
  version         integer     not null default 1,
  created_by      uuid        not null,
  created_at      timestamptz(3) not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, owner_id) references principals (tenant_id, id),
  foreign key (tenant_id, parent_goal_id) references goals (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  check (parent_goal_id <> id)
);

create index goals_by_time on goals (tenant_id, created_at desc, id desc);
create index goals_by_workspace on goals (tenant_id, workspace_id, created_at desc, id desc);
create index goals_by_parent on goals (tenant_id, parent_goal_id, created_at desc, id desc);

alter table tasks add constraint tasks_goal foreign key (tenant_id, goal_id)
  references goals (tenant_id, id);
create index tasks_by_goal on tasks (tenant_id, goal_id, created_at desc, id desc)
  where goal_id is not null;

-- Read as a sentence: "from <type> to". Of the types that have a direction none may go in a circle.
create table task_relations (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  type          text        not null check (type in (
                  'parent', 'depends_on', 'spawned_by', 'relates_to')),
  from_task_id  uuid        not null,
  to_task_id    uuid        not null,
  created_by    uuid        not null,
  created_at    timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, from_task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, to_task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  constraint task_relation_unique unique (tenant_id, from_task_id, type, to_task_id),
  check (from_task_id <> to_task_id)
);

create unique index one_parent_per_task on task_relations (tenant_id, from_task_id)
  where type = 'parent';
-- "relates to" is the same in both directions.
create unique index one_relates_to_per_pair on task_relations
  (tenant_id, least(from_task_id, to_task_id), greatest(from_task_id, to_task_id))
  where type = 'relates_to';
create index task_relations_by_target on task_relations (tenant_id, to_task_id, type, from_task_id);

create table task_comments (
  tenant_id      uuid        not null references tenants,
  id             uuid        not null,
  task_id        uuid        not null,
  author_id      uuid        not null,
  body           text        not null check (length(body) between 1 and 20000),
  -- The run that the comment was made in, under the claim of its task.
  run_id         uuid,
  claim_id       uuid,
  fencing_token  integer,
  version        integer     not null default 1,
  created_at     timestamptz(3) not null default clock_timestamp(),
  updated_at     timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, author_id) references principals (tenant_id, id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  foreign key (tenant_id, claim_id) references claims (tenant_id, id),
  check ((claim_id is null) = (fencing_token is null)),
  check (run_id is null or claim_id is not null)
);

create index task_comments_by_task on task_comments (tenant_id, task_id, created_at, id);

-- Every version of every comment, the present one too.
create table task_comment_revisions (
  tenant_id   uuid        not null,
  comment_id  uuid        not null,
  version     integer     not null check (version > 0),
  body        text        not null,
  created_at  timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, comment_id, version),
  foreign key (tenant_id, comment_id) references task_comments (tenant_id, id)
);

-- What something here is called elsewhere. One name elsewhere is one thing here.
create table external_references (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  system        text        not null check (length(system) between 1 and 100),
  type          text        not null check (length(type) between 1 and 100),
  external_id   text        not null check (length(external_id) between 1 and 500),
  url           text        check (length(url) between 1 and 2000),
  task_id       uuid,
  workspace_id  uuid,
  artifact_id   uuid,
  created_by    uuid        not null,
  created_at    timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint external_reference_unique unique (tenant_id, system, type, external_id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, artifact_id) references artifacts (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  check (num_nonnulls(task_id, workspace_id, artifact_id) = 1)
);

create index external_references_of_task on external_references
  (tenant_id, task_id, created_at desc, id desc) where task_id is not null;
create index external_references_of_workspace on external_references
  (tenant_id, workspace_id, created_at desc, id desc) where workspace_id is not null;
create index external_references_of_artifact on external_references
  (tenant_id, artifact_id, created_at desc, id desc) where artifact_id is not null;
