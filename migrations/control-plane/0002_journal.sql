-- The event journal: append-only, ordered by (journal_epoch, tx_id, sequence).
-- tx_id is the transaction that wrote the row; readers stop below the oldest running transaction, so
-- whatever commits later sorts after everything already read.

-- One row. The epoch grows when a restore into a new cluster makes stored transaction ids meaningless.
create table journal_state (
  only_row           boolean     primary key default true check (only_row),
  journal_epoch      integer     not null default 1,
  system_identifier  text,
  updated_at         timestamptz not null default now()
);

insert into journal_state default values;

create table events (
  tenant_id       uuid        not null references tenants,
  journal_epoch   integer     not null,
  tx_id           xid8        not null default pg_current_xact_id(),
  sequence        bigint      generated always as identity,
  id              uuid        not null,
  type            text        not null,
  schema_version  integer     not null default 1,
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
  occurred_at     timestamptz not null default clock_timestamp(),
  primary key (tenant_id, journal_epoch, tx_id, sequence),
  unique (tenant_id, id)
);

create index events_by_entity on events
  (tenant_id, entity_type, entity_id, journal_epoch, tx_id, sequence);

create function refuse_event_change() returns trigger language plpgsql as $$
begin
  if current_setting('strata.archiving', true) = 'on' and tg_op = 'DELETE' then
    return old;
  end if;
  raise exception 'Cannot % events: the journal is append-only', lower(tg_op);
end $$;

create trigger events_append_only before update or delete on events
  for each row execute function refuse_event_change();
create trigger events_no_truncate before truncate on events
  for each statement execute function refuse_event_change();

-- Where each consumer of the journal stands, per tenant.
create table event_consumer_cursors (
  name             text        not null,
  tenant_id        uuid        not null references tenants,
  journal_epoch    integer     not null default 0,
  tx_id            xid8        not null default '0',
  sequence         bigint      not null default 0,
  status           text        not null default 'ok'
                               check (status in ('ok', 'retrying', 'parked', 'paused')),
  failure_count    integer     not null default 0,
  next_attempt_at  timestamptz,
  reason           text,
  parked_at        timestamptz,
  parked_event_id  uuid,
  last_served_at   timestamptz,
  metadata         jsonb       not null default '{}',
  updated_at       timestamptz not null default now(),
  primary key (name, tenant_id)
);

-- One row a consumer and shard; the epoch is the fence of every cursor commit.
create table event_consumer_leaders (
  name          text        not null,
  shard         integer     not null,
  shards        integer     not null,
  leader_epoch  bigint      not null default 0,
  paused_until  timestamptz,
  pause_reason  text,
  updated_at    timestamptz not null default now(),
  primary key (name, shard)
);
