-- Everybody who ever changed what a task asks for, not only the last one: none of them approves it.

create table task_revisers (
  tenant_id     uuid  not null,
  task_id       uuid  not null,
  principal_id  uuid  not null,
  primary key (tenant_id, task_id, principal_id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id)
);

insert into task_revisers (tenant_id, task_id, principal_id)
select tenant_id, id, revised_by
from tasks
where revised_by is not null;

alter table tasks drop column revised_by;
