-- A gate whose yes no longer counts can be withdrawn; nothing else about a decision ever changes.

drop trigger approvals_decided_once on approvals;

create trigger approvals_decided_once before update on approvals
  for each row
  when (old.status <> 'pending' and (old.status <> 'approved' or new.status <> 'cancelled'))
  execute function refuse_second_decision();
