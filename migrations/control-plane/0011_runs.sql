-- Budgets, two-phase actions, suspension and requested cancellation of runs.

alter table runs
  add column action_count             integer     not null default 0,
  add column waiting_for_approval_id  uuid,
  add column cancel_requested_at      timestamptz,
  add column cancel_requested_by      uuid,
  add column cancel_request_reason    text        check (length(cancel_request_reason) <= 2000),
  -- What the agent was told to obey when the run started: the texts change, this stays.
  add column instructions_hash        text        check (instructions_hash ~ '^[0-9a-f]{64}$'),
  add column instructions_refs        jsonb       not null default '[]',
  add constraint runs_cancel_request check
    ((cancel_requested_at is null) = (cancel_requested_by is null)),
  add constraint runs_waiting_only_when_suspended check
    (waiting_for_approval_id is null or status = 'suspended');

-- What a run did, written before and after it happens: what is only started may have had its effect.
create table run_actions (
  tenant_id           uuid        not null,
  run_id              uuid        not null,
  sequence            integer     not null check (sequence > 0),
  id                  uuid        not null,
  action              text        not null check (length(action) between 1 and 200),
  status              text        not null
                                  check (status in ('started', 'succeeded', 'failed', 'cancelled')),
  skill               text        check (length(skill) between 1 and 200),
  external_reference  text        check (length(external_reference) between 1 and 1000),
  metadata            jsonb       not null default '{}',
  fencing_token       integer     not null,
  created_at          timestamptz(3) not null default clock_timestamp(),
  finished_at         timestamptz,
  primary key (tenant_id, run_id, sequence),
  unique (tenant_id, id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  check ((status = 'started') = (finished_at is null))
);
