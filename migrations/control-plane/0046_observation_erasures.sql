-- What was erased, and whether memory has confirmed it. The content is gone with the transaction that writes
-- the row here; memory is told outside of it, and again until it confirms.
create table observation_erasures (
  tenant_id        uuid        not null,
  observation_id   uuid        not null,
  event_id         uuid        not null,
  mode             text        not null check (mode in ('redact', 'purge')),
  requested_by     uuid        not null,
  requested_at     timestamptz not null default clock_timestamp(),
  -- Null until memory has erased it; then how much it removed.
  confirmed_at     timestamptz,
  receipt          jsonb,
  attempts         integer     not null default 0,
  next_attempt_at  timestamptz not null default clock_timestamp(),
  last_failure     text,
  primary key (tenant_id, observation_id),
  foreign key (tenant_id, observation_id) references observations (tenant_id, id),
  foreign key (tenant_id, requested_by) references principals (tenant_id, id),
  check ((confirmed_at is null) = (receipt is null))
);

create index observation_erasures_due on observation_erasures (next_attempt_at)
  where confirmed_at is null;
