-- Skills: what can be called, by whom, and where.

create table skills (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  name          text        not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,199}$'),
  version       text        not null check (version ~ '^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$'),
  description   text        not null default '' check (length(description) <= 2000),
  status        text        not null default 'active'
                            check (status in ('active', 'deprecated', 'disabled')),
  protocol      text        not null
                            check (protocol in ('mcp', 'http', 'local', 'opencode', 'custom')),
  side_effects  text        not null
                            check (side_effects in ('none', 'external_read', 'external_write')),
  risk_level    text        not null check (risk_level in ('low', 'medium', 'high', 'critical')),
  contract      jsonb       not null,
  -- Of the row; the version of the skill is a name.
  row_version   integer     not null default 1,
  created_by    uuid        not null,
  created_at    timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  constraint skill_version_unique unique (tenant_id, name, version)
);

create index skills_by_time on skills (tenant_id, created_at desc, id desc);

-- What was agreed on under a name and a version stays; so does the end of a skill.
create function refuse_skill_change() returns trigger language plpgsql as $$
begin
  if (new.id, new.name, new.version, new.protocol, new.side_effects, new.risk_level, new.contract)
     is distinct from
     (old.id, old.name, old.version, old.protocol, old.side_effects, old.risk_level, old.contract)
  then
    raise exception 'Cannot change a skill: what it is stays with its version';
  end if;
  if array_position(array['active', 'deprecated', 'disabled'], new.status)
     < array_position(array['active', 'deprecated', 'disabled'], old.status)
  then
    raise exception 'Cannot change a skill: its status only moves towards its end';
  end if;
  return new;
end $$;

create trigger skills_immutable before update on skills
  for each row execute function refuse_skill_change();

-- A skill is given like a role or a capability: everywhere, or in a workspace and what is below it.
alter table assignments
  add column skill_id uuid,
  add foreign key (tenant_id, skill_id) references skills (tenant_id, id),
  drop constraint one_assignment,
  add constraint one_assignment unique nulls not distinct
    (tenant_id, principal_id, role_id, capability_id, skill_id, workspace_id),
  drop constraint assignments_check,
  add constraint assignments_of_one check (num_nonnulls(role_id, capability_id, skill_id) = 1);

create index assignments_by_skill on assignments (tenant_id, skill_id, created_at desc, id desc)
  where skill_id is not null;
