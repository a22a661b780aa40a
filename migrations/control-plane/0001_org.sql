-- Tenants, principals, credentials, the workspace tree, and the records of idempotent requests.
-- Every key begins with tenant_id, so that the same schema can be distributed by tenant.
-- created_at of what is listed keeps milliseconds, as a page cursor does.

create table tenants (
  tenant_id   uuid        primary key,
  slug        text        not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name        text        not null,
  created_at  timestamptz not null default now()
);

-- At most one row: the first start is done once, however many ask at the same moment.
create table installation (
  only_row         boolean     primary key default true check (only_row),
  tenant_id        uuid        not null references tenants deferrable initially deferred,
  bootstrapped_at  timestamptz not null default now()
);

create table principals (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  kind          text        not null check (kind in ('human', 'agent', 'service')),
  display_name  text        not null check (length(display_name) between 1 and 200),
  status        text        not null default 'active'
                            check (status in ('active', 'suspended', 'disabled')),
  version       integer     not null default 1,
  created_at    timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);

create index principals_by_time on principals (tenant_id, created_at desc, id desc);

-- A credential is `cp_<prefix>_<secret>`; the prefix finds the row, only a hash of the secret is kept.
create table api_keys (
  tenant_id     uuid        not null,
  id            uuid        not null,
  principal_id  uuid        not null,
  name          text        not null check (length(name) between 1 and 200),
  prefix        text        not null unique,
  secret_hash   bytea       not null,
  permissions   text[]      not null check (cardinality(permissions) > 0),
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  created_at    timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id)
);

create index api_keys_by_principal on api_keys (tenant_id, principal_id, created_at desc, id desc);

create table workspaces (
  tenant_id   uuid        not null references tenants,
  id          uuid        not null,
  parent_id   uuid,
  slug        text        not null check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name        text        not null check (length(name) between 1 and 200),
  status      text        not null default 'active' check (status in ('active', 'archived')),
  version     integer     not null default 1,
  created_at  timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, parent_id) references workspaces (tenant_id, id),
  check (parent_id <> id),
  constraint workspace_slug_unique unique nulls not distinct (tenant_id, parent_id, slug)
);

create index workspaces_by_time on workspaces (tenant_id, created_at desc, id desc);

-- status is null while a command outside a transaction runs; expires_at is then the end of its lease.
create table idempotency_records (
  tenant_id     uuid        not null references tenants,
  key           text        not null,
  principal_id  uuid        not null,
  fingerprint   text        not null,
  token         uuid,
  status        integer,
  body          jsonb,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  primary key (tenant_id, key)
);

create index idempotency_records_by_expiry on idempotency_records (expires_at);
