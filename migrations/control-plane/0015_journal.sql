-- The cold half of the journal, and how far each tenant's events have been moved there and removed.

-- Same columns as events; a row is in exactly one of the two.
create table events_archive (
  tenant_id       uuid        not null references tenants,
  journal_epoch   integer     not null,
  tx_id           xid8        not null,
  sequence        bigint      not null,
  id              uuid        not null,
  type            text        not null,
  schema_version  integer     not null,
  entity_type     text        not null,
  entity_id       text        not null,
  entity_version  integer     not null,
  workspace_id    uuid,
  actor_id        uuid,
  session_id      uuid,
  correlation_id  text,
  causation_id    text,
  request_id      text,
  trace_run_id    text,
  iam_actor_id    text,
  payload         jsonb       not null,
  occurred_at     timestamptz not null,
  primary key (tenant_id, journal_epoch, tx_id, sequence),
  unique (tenant_id, id)
);

create index events_archive_by_entity on events_archive
  (tenant_id, entity_type, entity_id, journal_epoch, tx_id, sequence);

create trigger events_archive_append_only before update or delete on events_archive
  for each row execute function refuse_event_change();
create trigger events_archive_no_truncate before truncate on events_archive
  for each statement execute function refuse_event_change();

-- Every event up to "archived" has left events; every event up to "pruned" is gone. Floors only rise.
create table journal_floors (
  tenant_id          uuid        not null references tenants,
  archived_epoch     integer     not null default 0,
  archived_tx_id     xid8        not null default '0',
  archived_sequence  bigint      not null default 0,
  pruned_epoch       integer     not null default 0,
  pruned_tx_id       xid8        not null default '0',
  pruned_sequence    bigint      not null default 0,
  version            integer     not null default 1,
  updated_at         timestamptz not null default now(),
  primary key (tenant_id),
  check ((pruned_epoch, pruned_tx_id, pruned_sequence)
         <= (archived_epoch, archived_tx_id, archived_sequence))
);

-- What readers read. One statement sees both halves in one snapshot, so a move under way neither hides
-- an event nor shows it twice.
create view journal with (security_invoker = true) as
  select tenant_id, journal_epoch, tx_id, sequence, id, type, schema_version, entity_type, entity_id,
         entity_version, workspace_id, actor_id, session_id, correlation_id, causation_id, request_id,
         trace_run_id, iam_actor_id, payload, occurred_at
  from events_archive
  union all
  select tenant_id, journal_epoch, tx_id, sequence, id, type, schema_version, entity_type, entity_id,
         entity_version, workspace_id, actor_id, session_id, correlation_id, causation_id, request_id,
         trace_run_id, iam_actor_id, payload, occurred_at
  from events;
