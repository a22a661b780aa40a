-- The workspaces that items of a namespace are kept to. A decision point is asked which of them somebody
-- sees; finding them among the items would read all of these.
create table namespace_workspaces (
  namespace_id  bigint  not null references namespaces (id),
  -- The id alone, without `workspace:`.
  workspace     text    not null,
  primary key (namespace_id, workspace)
);

create function note_workspaces() returns trigger language plpgsql as $$
begin
  insert into namespace_workspaces (namespace_id, workspace)
  select distinct a.namespace_id, substr(scope, 11)
  from added as a
  cross join unnest(a.audience) as scope
  where starts_with(a.audience[1], 'workspace:')
  on conflict do nothing;
  return null;
end
$$;

do $$
declare
  item_table text;
begin
  foreach item_table in array array['observations', 'chunks', 'nodes', 'edges'] loop
    execute format(
      'create trigger note_workspaces_of_new after insert on %I
       referencing new table as added for each statement execute function note_workspaces()',
      item_table);
    execute format(
      'create trigger note_workspaces_of_changed after update on %I
       referencing new table as added for each statement execute function note_workspaces()',
      item_table);
    execute format(
      'insert into namespace_workspaces (namespace_id, workspace)
       select distinct namespace_id, substr(scope, 11)
       from %I
       cross join unnest(audience) as scope
       where starts_with(audience[1], ''workspace:'')
       on conflict do nothing',
      item_table);
  end loop;
end
$$;
