-- Roles, capabilities and who has them where; members of workspaces; delegations; keys of a limited
-- reach; identities of other issuers bound to principals.

-- A role belongs to the tenant, or to a workspace and what is below it.
create table roles (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  workspace_id  uuid,
  slug          text        not null check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name          text        not null check (length(name) between 1 and 200),
  description   text        not null default '' check (length(description) <= 2000),
  version       integer     not null default 1,
  created_at    timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint roles_workspace foreign key (tenant_id, workspace_id)
    references workspaces (tenant_id, id),
  constraint role_slug_unique unique nulls not distinct (tenant_id, workspace_id, slug)
);

create index roles_by_time on roles (tenant_id, created_at desc, id desc);

-- What a principal is able to do; eligibility for work, never a right.
create table capabilities (
  tenant_id    uuid        not null references tenants,
  id           uuid        not null,
  name         text        not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,99}$'),
  description  text        not null default '' check (length(description) <= 2000),
  version      integer     not null default 1,
  created_at   timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint capability_name_unique unique (tenant_id, name)
);

create index capabilities_by_time on capabilities (tenant_id, created_at desc, id desc);

-- Who has a role or a capability: everywhere, or in a workspace and what is below it.
create table assignments (
  tenant_id      uuid        not null,
  id             uuid        not null,
  principal_id   uuid        not null,
  role_id        uuid,
  capability_id  uuid,
  workspace_id   uuid,
  created_by     uuid        not null,
  created_at     timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, role_id) references roles (tenant_id, id),
  foreign key (tenant_id, capability_id) references capabilities (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  constraint one_assignment unique nulls not distinct
    (tenant_id, principal_id, role_id, capability_id, workspace_id),
  check (num_nonnulls(role_id, capability_id) = 1)
);

create index assignments_by_role on assignments (tenant_id, role_id, created_at desc, id desc)
  where role_id is not null;
create index assignments_by_capability on assignments
  (tenant_id, capability_id, created_at desc, id desc)
  where capability_id is not null;

create table workspace_members (
  tenant_id     uuid        not null,
  workspace_id  uuid        not null,
  principal_id  uuid        not null,
  added_by      uuid        not null,
  created_at    timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, workspace_id, principal_id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, added_by) references principals (tenant_id, id)
);

create index workspace_members_by_time on workspace_members
  (tenant_id, workspace_id, created_at desc, principal_id desc);

-- A person lets an agent act in the person's name.
create table delegations (
  tenant_id           uuid        not null,
  id                  uuid        not null,
  human_principal_id  uuid        not null,
  agent_principal_id  uuid        not null,
  permissions         text[]      not null check (cardinality(permissions) > 0),
  created_by          uuid        not null,
  expires_at          timestamptz,
  revoked_at          timestamptz,
  created_at          timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, human_principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, agent_principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, created_by) references principals (tenant_id, id),
  check (human_principal_id <> agent_principal_id)
);

create index delegations_by_time on delegations (tenant_id, created_at desc, id desc);
create index delegations_by_pair on delegations
  (tenant_id, agent_principal_id, human_principal_id)
  where revoked_at is null;

-- A key with a workspace sees and changes that workspace and what is below it, nothing else.
alter table api_keys add column workspace_id uuid;
alter table api_keys add constraint api_keys_workspace foreign key (tenant_id, workspace_id)
  references workspaces (tenant_id, id);
-- Made from the shell of the host for an emergency, for a few hours; never through the API.
alter table api_keys add column break_glass_reason text
  check (length(break_glass_reason) between 1 and 500);
alter table api_keys add constraint break_glass_ends
  check (break_glass_reason is null or expires_at is not null);

-- Who an identity of an OpenID Connect issuer is here, and what its tokens may do at most.
create table iam_bindings (
  tenant_id         uuid        not null,
  id                uuid        not null,
  principal_id      uuid        not null,
  issuer            text        not null check (length(issuer) between 1 and 500),
  iam_tenant_id     text        check (length(iam_tenant_id) between 1 and 255),
  iam_principal_id  text        not null check (length(iam_principal_id) between 1 and 255),
  permissions       text[]      not null check (cardinality(permissions) > 0),
  workspace_id      uuid,
  status            text        not null default 'active'
                                check (status in ('active', 'disabled', 'revoked')),
  version           integer     not null default 1,
  created_at        timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  -- One identity is one principal of one tenant: its token does not say which.
  constraint iam_identity_unique unique (issuer, iam_principal_id)
);

create index iam_bindings_by_principal on iam_bindings
  (tenant_id, principal_id, created_at desc, id desc);
