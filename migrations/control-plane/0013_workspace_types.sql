-- Kinds of workspaces, and where in the tree a workspace of each kind may stand.

create table workspace_types (
  tenant_id     uuid        not null references tenants,
  id            uuid        not null,
  key           text        not null check (key ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  display_name  text        not null check (length(display_name) between 1 and 200),
  description   text        not null default '',
  allow_root    boolean     not null,
  -- Keys of the types below which it may stand; null for below anything.
  parent_types  text[],
  version       integer     not null default 1,
  created_at    timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint workspace_type_key_unique unique (tenant_id, key)
);

create index workspace_types_by_time on workspace_types (tenant_id, created_at desc, id desc);

alter table workspaces
  add column type_key text,
  add constraint workspaces_type foreign key (tenant_id, type_key)
    references workspace_types (tenant_id, key);
