-- Budgets in tokens and money: of principals, of runs, and of what runs give to their children. What a
-- project allows stands in its configuration.

-- By name, only the bounds that are set; tokens as numbers, money as decimal text.
alter table principals
  add column budget jsonb not null default '{}';

-- A run holds its budget for itself and for the runs below it from its start to its end: that is its
-- reservation, and nothing else has to be kept or given back.
alter table runs
  add column max_tokens    bigint          check (max_tokens > 0),
  add column max_cost      numeric(38, 12) check (max_cost > 0),
  -- The runs that made it by child handles, the topmost first.
  add column ancestor_ids  uuid[]          not null default '{}';

alter table child_handles
  add column max_tokens  bigint          check (max_tokens > 0),
  add column max_cost    numeric(38, 12) check (max_cost > 0);

-- What a run used together with the runs below it.
alter table run_usage
  add column tree_tokens  bigint          not null default 0,
  add column tree_cost    numeric(38, 12) not null default 0;

update run_usage
set tree_tokens = input_tokens + output_tokens + cache_read_tokens + cache_write_tokens
                  + reasoning_tokens,
    tree_cost = coalesce(cost, 0);
