-- Prices, and what runs used and cost. Token counts are whole tokens, amounts whole numbers of the
-- currency with up to 12 decimals: the product of a token count and a price per million is always exact.

-- Every price of a tenant is in one currency, so that costs can be added up.
create table tenant_currencies (
  tenant_id  uuid  not null references tenants,
  currency   text  not null check (currency ~ '^[A-Z]{3}$'),
  primary key (tenant_id),
  unique (tenant_id, currency)
);

-- A version never changes: a change is the next version.
create table price_tables (
  tenant_id       uuid        not null references tenants,
  version         integer     not null check (version > 0),
  id              uuid        not null,
  currency        text        not null,
  effective_from  timestamptz not null,
  entries         jsonb       not null,
  comment         text        check (length(comment) between 1 and 2000),
  created_by      uuid        not null,
  created_at      timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, version),
  unique (tenant_id, id),
  foreign key (tenant_id, currency) references tenant_currencies (tenant_id, currency),
  foreign key (tenant_id, created_by) references principals (tenant_id, id)
);

create index price_tables_in_force on price_tables (tenant_id, effective_from desc, version desc);
create index price_tables_by_time on price_tables (tenant_id, created_at desc, id desc);

create trigger price_tables_fixed before update or delete on price_tables
  for each row execute function refuse_version_change();

-- What the holder of a run told about its use, once for each sequence.
create table usage_reports (
  tenant_id       uuid        not null,
  run_id          uuid        not null,
  sequence        integer     not null check (sequence > 0),
  id              uuid        not null,
  mode            text        not null
                              check (mode in ('delta', 'cumulative', 'cumulative_by_model')),
  cli_session_id  text        check (length(cli_session_id) between 1 and 200),
  -- SHA-256 of what was told: the same sequence with something else is refused.
  fingerprint     text        not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  -- Null for what was told after the run had ended, under no claim.
  fencing_token   integer,
  created_at      timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, run_id, sequence),
  unique (tenant_id, id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id),
  check (mode = 'delta' or cli_session_id is not null)
);

-- What a report amounts to, by model: what was used since the report before, and what that cost by the
-- price table in force at the time. Neither is ever changed.
create table usage_lines (
  tenant_id           uuid        not null,
  run_id              uuid        not null,
  sequence            integer     not null,
  position            integer     not null check (position > 0),
  provider            text        not null check (length(provider) <= 100),
  model               text        not null check (length(model) between 1 and 200),
  input_tokens        bigint      not null check (input_tokens >= 0),
  output_tokens       bigint      not null check (output_tokens >= 0),
  cache_read_tokens   bigint      not null check (cache_read_tokens >= 0),
  cache_write_tokens  bigint      not null check (cache_write_tokens >= 0),
  reasoning_tokens    bigint      not null check (reasoning_tokens >= 0),
  unpriced_tokens     bigint      not null check (unpriced_tokens >= 0),
  cost                numeric(38, 12) check (cost >= 0),
  reported_usd        numeric(38, 12) check (reported_usd >= 0),
  price_version       integer,
  unpriced            text        check (unpriced in (
                                    'no_price_table', 'unknown_model', 'token_class')),
  is_new_session      boolean     not null,
  -- Of cumulative figures: whose series they belong to and what they were.
  principal_id        uuid        not null,
  run_started_at      timestamptz(3) not null,
  cli_session_id      text,
  series              text,
  figures             jsonb,
  usd_figure          numeric(38, 12),
  primary key (tenant_id, run_id, sequence, position),
  foreign key (tenant_id, run_id, sequence)
    references usage_reports (tenant_id, run_id, sequence),
  foreign key (tenant_id, price_version) references price_tables (tenant_id, version),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  check ((cost is null) = (price_version is null)),
  check ((cost is null) = (unpriced is not null)),
  check ((series is null) = (figures is null) and (series is null) = (cli_session_id is null)),
  check (usd_figure is null or series is not null)
);

-- The figures of a session of a program in their order, however many runs it goes on over.
create index usage_lines_by_series on usage_lines
  (tenant_id, principal_id, cli_session_id, series, run_started_at, run_id, sequence)
  where series is not null;

-- The sum of each run.
create table run_usage (
  tenant_id           uuid        not null,
  run_id              uuid        not null,
  last_sequence       integer     not null,
  input_tokens        bigint      not null,
  output_tokens       bigint      not null,
  cache_read_tokens   bigint      not null,
  cache_write_tokens  bigint      not null,
  reasoning_tokens    bigint      not null,
  unpriced_tokens     bigint      not null,
  cost                numeric(38, 12),
  reported_usd        numeric(38, 12),
  primary key (tenant_id, run_id),
  foreign key (tenant_id, run_id) references runs (tenant_id, id)
);

-- The sums of each day (UTC) by where the work was, who did it, and with which model.
create table usage_days (
  tenant_id           uuid        not null references tenants,
  principal_id        uuid        not null,
  day                 date        not null,
  workspace_id        uuid,
  provider            text        not null,
  model               text        not null,
  input_tokens        bigint      not null,
  output_tokens       bigint      not null,
  cache_read_tokens   bigint      not null,
  cache_write_tokens  bigint      not null,
  reasoning_tokens    bigint      not null,
  unpriced_tokens     bigint      not null,
  cost                numeric(38, 12),
  reported_usd        numeric(38, 12),
  constraint one_usage_per_day
    unique nulls not distinct (tenant_id, principal_id, day, workspace_id, provider, model),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id)
);

create index usage_days_by_workspace on usage_days (tenant_id, workspace_id, day);
