-- Domain packs: the kinds and relations of a domain, in versions that never change. 0 owns what all
-- namespaces share; a tenant's packs belong to a namespace.
create table packs (
  namespace_id  bigint       not null,
  name          text         not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  version       text         not null check (version ~ '^[0-9A-Za-z][0-9A-Za-z.+-]{0,31}$'),
  content_hash  text         not null,
  manifest      jsonb        not null,
  created_at    timestamptz  not null default now(),
  primary key (namespace_id, name, version)
);

-- Which packs count in a namespace, in order, and whether nothing else is accepted. Null packages leave a
-- snapshot free to name any shared pack.
create table namespace_settings (
  namespace_id  bigint       primary key references namespaces (id),
  strict        boolean      not null default false,
  packages      text[],
  updated_at    timestamptz  not null default now()
);

-- When a source first gave an attribute (`p:<name>`) or the title (`t`) the value it still gives, where
-- that was before this version. A source that repeats itself does not become more recent by it.
alter table snapshot_entities add column since jsonb not null default '{}';
