-- What bounds are held against: the sums of each month (UTC) by where the work was and who did it. Adding
-- up days, which are also apart by model, took 400 ms for 300,000 of them, under the lock of a start.

create table usage_months (
  tenant_id     uuid    not null references tenants,
  principal_id  uuid    not null,
  month         date    not null check (extract(day from month) = 1),
  workspace_id  uuid,
  -- Of all classes.
  tokens        bigint  not null,
  cost          numeric(38, 12) not null,
  constraint one_usage_per_month
    unique nulls not distinct (tenant_id, principal_id, month, workspace_id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id)
);

create index usage_months_by_workspace on usage_months (tenant_id, workspace_id, month);

insert into usage_months (tenant_id, principal_id, month, workspace_id, tokens, cost)
select tenant_id, principal_id, date_trunc('month', day)::date, workspace_id,
       sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens
           + reasoning_tokens),
       coalesce(sum(cost), 0)
from usage_days
group by tenant_id, principal_id, date_trunc('month', day), workspace_id;

-- Programs may leave dollars out of some totals: the next that has them is found without reading those.
create index usage_lines_with_dollars on usage_lines
  (tenant_id, principal_id, cli_session_id, series, run_started_at, run_id, sequence)
  where usd_figure is not null;
