-- Every command writes events and most change a task; both get cheaper where nothing is lost.

-- Every writer of a tenant had to lock the tenant's one row for it, and tenants are never removed: the tenant of
-- an event is that of the credential, or of the row that changed.
alter table events drop constraint events_tenant_id_fkey;

-- Most tasks have no assignee, and nobody looks for those by it.
create index tasks_assigned on tasks (tenant_id, assignee_id, created_at desc, id desc)
  where assignee_id is not null;
drop index tasks_by_assignee;
