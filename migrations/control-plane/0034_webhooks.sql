-- Webhooks: who is told of which events at which address, what was tried, and what could not be delivered.
-- Where a webhook stands in the journal is a row of event_consumer_cursors, as for every consumer.

-- A consumer that is served in turns: who holds the lease works, the token is the fence of every write.
alter table event_consumer_cursors
  add column lease_token    bigint      not null default 0,
  add column leased_until   timestamptz,
  -- A turn is wanted although nothing new stands in the journal.
  add column wanted_at      timestamptz,
  -- What it has not read stays in the journal.
  add column holds_journal  boolean     not null default true;

create table webhooks (
  tenant_id           uuid        not null,
  id                  uuid        not null,
  -- Whose rights decide what is sent.
  owner_id            uuid        not null,
  -- Only what belongs to it or is below it is sent.
  workspace_id        uuid,
  url                 text        not null check (length(url) between 1 and 2048),
  description         text        not null default '' check (length(description) <= 500),
  filter              jsonb       not null default '{}',
  status              text        not null default 'active' check (status in ('active', 'paused')),
  pause_reason        text        check (length(pause_reason) <= 200),
  -- What signs a message is needed in the clear.
  secret              bytea       not null check (length(secret) between 24 and 64),
  previous_secret     bytea,
  previous_until      timestamptz,
  -- Events given up since the last one that arrived.
  dead_in_a_row       integer     not null default 0,
  version             integer     not null default 1,
  created_at          timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, owner_id) references principals (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  check ((status = 'paused') = (pause_reason is not null)),
  check ((previous_secret is null) = (previous_until is null))
);

create index webhooks_by_time on webhooks (tenant_id, created_at desc, id desc);

-- The last attempts of each webhook.
create table webhook_deliveries (
  tenant_id    uuid        not null,
  id           uuid        not null,
  webhook_id   uuid        not null,
  event_id     uuid        not null,
  event_type   text        not null,
  attempt      integer     not null,
  outcome      text        not null check (outcome in ('delivered', 'failed', 'dead')),
  http_status  integer,
  error        text        check (length(error) <= 200),
  duration_ms  integer     not null,
  created_at   timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade
);

create index webhook_deliveries_by_time on webhook_deliveries
  (tenant_id, webhook_id, created_at desc, id desc);

-- Events that were given up after the last attempt, until somebody decides about them.
create table webhook_dead_letters (
  tenant_id      uuid        not null,
  webhook_id     uuid        not null,
  id             uuid        not null,
  event_type     text        not null,
  journal_epoch  integer     not null,
  tx_id          xid8        not null,
  sequence       bigint      not null,
  attempts       integer     not null,
  http_status    integer,
  error          text        check (length(error) <= 200),
  -- Somebody asked for another attempt.
  redrive_at     timestamptz,
  created_at     timestamptz(3) not null default clock_timestamp(),
  -- The id is that of the event.
  primary key (tenant_id, webhook_id, id),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade
);

create index webhook_dead_letters_by_time on webhook_dead_letters
  (tenant_id, webhook_id, created_at desc, id desc);
