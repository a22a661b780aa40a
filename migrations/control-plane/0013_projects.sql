-- Projects: what makes a workspace one, the templates they follow, and their configuration over time.

-- A version never changes: a change is the next version.
create table project_templates (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  key           text        not null check (key ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  version       integer     not null check (version > 0),
  display_name  text        not null check (length(display_name) between 1 and 200),
  description   text        not null default '',
  lifecycle     jsonb       not null,
  config        jsonb       not null,
  created_by    uuid        not null,
  created_at    timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint one_template_per_version unique (tenant_id, key, version),
  foreign key (tenant_id, created_by) references principals (tenant_id, id)
);

create index project_templates_by_time on project_templates (tenant_id, created_at desc, id desc);

create table projects (
  tenant_id         uuid        not null references tenants,
  id                uuid        not null,
  workspace_id      uuid        not null,
  template_key      text,
  template_version  integer,
  status_key        text        not null,
  -- Copied from the lifecycle, so that no listing has to read the template.
  status_category   text        not null check (status_category in (
                      'open', 'active', 'blocked',
                      'terminal_success', 'terminal_failure', 'terminal_cancelled')),
  status            text        not null default 'active' check (status in ('active', 'archived')),
  owner_id          uuid,
  start_date        date,
  target_date       date,
  settings          jsonb       not null default '{}' check (not settings ? 'governance'),
  active_revision   integer,
  last_revision     integer     not null default 0,
  version           integer     not null default 1,
  created_by        uuid        not null,
  created_at        timestamptz(3) not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (tenant_id, id),
  constraint one_project_per_workspace unique (tenant_id, workspace_id),
  constraint projects_workspace foreign key (tenant_id, workspace_id)
    references workspaces (tenant_id, id),
  constraint projects_template foreign key (tenant_id, template_key, template_version)
    references project_templates (tenant_id, key, version),
  constraint projects_owner foreign key (tenant_id, owner_id) references principals (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  check ((template_key is null) = (template_version is null)),
  check (target_date >= start_date)
);

create index projects_by_time on projects (tenant_id, created_at desc, id desc);

create table project_config_revisions (
  tenant_id   uuid        not null,
  project_id  uuid        not null,
  revision    integer     not null check (revision > 0),
  id          uuid        not null,
  config      jsonb       not null,
  comment     text        check (length(comment) between 1 and 2000),
  created_by  uuid        not null,
  created_at  timestamptz(3) not null default now(),
  primary key (tenant_id, project_id, revision),
  foreign key (tenant_id, project_id) references projects (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id)
);

alter table projects
  add constraint projects_active_revision foreign key (tenant_id, id, active_revision)
    references project_config_revisions (tenant_id, project_id, revision);

create function refuse_version_change() returns trigger language plpgsql as $$
begin
  raise exception 'Cannot % %: a version never changes', lower(tg_op), tg_table_name;
end $$;

create trigger project_templates_fixed before update or delete on project_templates
  for each row execute function refuse_version_change();
create trigger project_config_revisions_fixed before update or delete on project_config_revisions
  for each row execute function refuse_version_change();
