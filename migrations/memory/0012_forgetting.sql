-- What was forgotten, by its key alone, and who did what to the knowledge of a namespace.

-- An observation that was erased: the same one, sent again, is recognised and not used. It says nothing of
-- what was erased. `scopes` are those that hide it, so that nobody else is told.
create table tombstones (
  namespace_id    bigint      not null references namespaces (id),
  observation_id  text        not null check (observation_id ~ '^obs-[0-9a-f]{24}$'),
  mode            text        not null check (mode in ('redact', 'purge')),
  scopes          text[]      not null default '{}',
  erased_at       timestamptz not null,
  -- How much was removed.
  removed         jsonb       not null,
  primary key (namespace_id, observation_id)
);

-- The trail of a namespace: rows are only added.
create table audit_events (
  namespace_id  bigint      not null references namespaces (id),
  audit_id      text        not null check (audit_id ~ '^audit:[0-9a-f]{24}$'),
  -- What it belongs to: a task, a run, a request.
  trace_id      text        not null,
  action        text        not null,
  -- Label of the credential that acted.
  actor         text        not null,
  target        text,
  details       jsonb       not null default '{}',
  scopes        text[]      not null default '{}',
  audience      text[]      not null generated always as (audience_of(scopes)) stored,
  recorded_at   timestamptz not null default clock_timestamp(),
  primary key (namespace_id, audit_id)
);

create index audit_events_by_trace on audit_events (namespace_id, trace_id, recorded_at);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit events are never changed or removed' using errcode = 'restrict_violation';
end $$;

create trigger audit_events_append_only before update or delete on audit_events
  for each row execute function refuse_audit_change();
create trigger audit_events_no_truncate before truncate on audit_events
  for each statement execute function refuse_audit_change();

-- Words that no item holds any more leave the indexes too; items of such an entry are hashes of words.
alter table changes drop constraint changes_kind_check;
alter table changes add constraint changes_kind_check
  check (kind in ('observation', 'chunk', 'node', 'edge', 'word'));

-- The items that a trace names, so that it goes with the first of them that is purged.
alter table context_traces add column items text[] not null default '{}';

update context_traces
set items = array(
  select distinct named ->> 0
  from jsonb_path_query(trace, '$.selected[*].id') as named
  union
  select distinct named ->> 0
  from jsonb_path_query(trace, '$.dropped[*].id') as named);

create index context_traces_by_item on context_traces using gin (items);
