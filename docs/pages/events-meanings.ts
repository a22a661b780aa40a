import type { EventType } from '#contract/events.ts'

/** When each event is written, in both languages; a missing one does not compile. */
export const MEANINGS: Readonly<Record<EventType, { en: string; ru: string }>> = {
  'tenant.bootstrapped': { en: 'The first tenant was made', ru: 'Создан первый tenant' },
  'principal.created': {
    en: 'A person, an agent or a service was added',
    ru: 'Добавлен человек, агент или сервис',
  },
  'principal.updated': {
    en: 'A principal was renamed, suspended, disabled or reactivated',
    ru: 'Principal переименован, приостановлен, отключён или включён снова',
  },
  'webhook.created': {
    en: 'An address is told of events from now on',
    ru: 'Адресу теперь сообщают о событиях',
  },
  'webhook.updated': {
    en: 'Its address, filter or description changed',
    ru: 'Изменились его адрес, фильтр или описание',
  },
  'webhook.deleted': { en: 'A webhook was removed', ru: 'Webhook удалён' },
  'webhook.secret_rotated': {
    en: 'A webhook got a new secret; the one before signs too for a while',
    ru: 'Webhook получил новый секрет; прежний ещё некоторое время подписывает вместе с ним',
  },
  'webhook.paused': {
    en: 'Nothing is sent to it any more, by request or because its receiver failed',
    ru: 'Ему больше ничего не посылается: так попросили или получатель не отвечает',
  },
  'webhook.resumed': { en: 'It is sent to again', ru: 'Ему снова посылают' },
  'webhook.dead_letters_redriven': {
    en: 'Events that had been given up are tried again',
    ru: 'События, от доставки которых отказались, пробуются снова',
  },
  'webhook.dead_letter_skipped': {
    en: 'An event that had been given up will not be delivered',
    ru: 'Событие, от доставки которого отказались, доставлено не будет',
  },
  'api_key.created': { en: 'A key was issued', ru: 'Выпущен ключ' },
  'api_key.revoked': { en: 'A key was revoked', ru: 'Ключ отозван' },
  'break_glass_key.created': {
    en: 'A key for an emergency was made from the shell of the host',
    ru: 'Из командной строки сервера выпущен ключ для чрезвычайного случая',
  },
  'iam_binding.created': {
    en: 'An identity of another issuer was bound to a principal',
    ru: 'Identity другого издателя привязана к principal',
  },
  'iam_binding.updated': {
    en: 'What a bound identity may do changed, or the binding ended',
    ru: 'Изменены права привязанной identity, или привязка прекращена',
  },
  'workspace.created': { en: 'A workspace was created', ru: 'Создан workspace' },
  'workspace.updated': { en: 'Its name or slug changed', ru: 'Изменились имя или slug' },
  'workspace.moved': {
    en: 'A workspace was put under another parent',
    ru: 'Workspace перенесён к другому родителю',
  },
  'workspace.archived': { en: 'A workspace was closed', ru: 'Workspace закрыт' },
  'workspace_type.created': { en: 'A kind of workspace was named', ru: 'Создан тип workspace' },
  'workspace_type.updated': {
    en: 'A kind of workspace or its place in the tree changed',
    ru: 'Изменился тип workspace или его место в дереве',
  },
  'workspace.member_added': {
    en: 'A principal became a member of a workspace',
    ru: 'Principal стал участником workspace',
  },
  'workspace.member_removed': {
    en: 'A principal is a member of a workspace no longer',
    ru: 'Principal больше не участник workspace',
  },
  'role.created': { en: 'A role was added', ru: 'Добавлена роль' },
  'role.updated': { en: 'A role was renamed or described', ru: 'Изменены имя или описание роли' },
  'role.assigned': { en: 'A principal got a role', ru: 'Principal получил роль' },
  'role.revoked': { en: 'A principal lost a role', ru: 'Principal лишился роли' },
  'capability.created': { en: 'A capability was added', ru: 'Добавлена capability' },
  'capability.updated': {
    en: 'The description of a capability changed',
    ru: 'Изменено описание capability',
  },
  'capability.assigned': {
    en: 'A principal was recorded to have a capability',
    ru: 'Записано, что principal обладает capability',
  },
  'capability.revoked': {
    en: 'A principal has a capability no longer',
    ru: 'Principal больше не обладает capability',
  },
  'skill.registered': {
    en: 'A version of a skill was registered',
    ru: 'Зарегистрирована версия навыка (skill)',
  },
  'skill.updated': {
    en: 'A skill was described, deprecated or disabled',
    ru: 'Навык описан заново, объявлен устаревшим или отключён',
  },
  'skill.assigned': { en: 'A principal got a skill', ru: 'Principal получил навык' },
  'skill.revoked': { en: 'A principal lost a skill', ru: 'Principal лишился навыка' },
  'skill_invocation.requested': { en: 'A skill was called', ru: 'Навык вызван' },
  'skill_invocation.claimed': {
    en: 'An executor began an attempt at a call',
    ru: 'Исполнитель начал попытку выполнить вызов',
  },
  'skill_invocation.retry_scheduled': {
    en: 'An attempt failed or was lost, and another may follow',
    ru: 'Попытка не удалась или потеряна, возможна следующая',
  },
  'skill_invocation.succeeded': { en: 'A call of a skill succeeded', ru: 'Вызов навыка выполнен' },
  'skill_invocation.failed': {
    en: 'A call of a skill failed for good',
    ru: 'Вызов навыка окончательно не удался',
  },
  'skill_invocation.cancelled': {
    en: 'A call was called off, or what it was for has ended',
    ru: 'Вызов отменён, или то, ради чего он был, завершилось',
  },
  'delegation.created': {
    en: 'A person let an agent act in the person’s name',
    ru: 'Человек разрешил агенту действовать от своего имени',
  },
  'delegation.revoked': { en: 'A delegation ended', ru: 'Делегирование прекращено' },
  'project_template.created': {
    en: 'A version of a project template was added',
    ru: 'Добавлена версия шаблона проекта',
  },
  'project.created': { en: 'A workspace became a project', ru: 'Workspace стал проектом' },
  'project.updated': {
    en: 'Owner, dates or settings of a project changed',
    ru: 'Изменились владелец, даты или настройки проекта',
  },
  'project.status_changed': {
    en: 'A project moved to another status',
    ru: 'Проект перешёл в другой статус',
  },
  'project.archived': { en: 'A project was closed', ru: 'Проект закрыт' },
  'project.config_revision_created': {
    en: 'A configuration of a project was written down',
    ru: 'Записана ревизия конфигурации проекта',
  },
  'project.config_revision_activated': {
    en: 'A configuration of a project came into force',
    ru: 'Ревизия конфигурации проекта вступила в силу',
  },
  'session.opened': { en: 'A harness opened a session', ru: 'Харнесс открыл сессию' },
  'session.closed': {
    en: 'A session was closed; its claims were released',
    ru: 'Сессия закрыта, её claims отпущены',
  },
  'session.expired': {
    en: 'The lease of a session ended',
    ru: 'Аренда сессии истекла',
  },
  'task_type.created': {
    en: 'A version of a task type was added',
    ru: 'Добавлена версия типа задач',
  },
  'task.created': { en: 'A task was created', ru: 'Создана задача' },
  'task.updated': { en: 'A task was changed', ru: 'Задача изменена' },
  'task.claimed': { en: 'Somebody took a task', ru: 'Кто-то взял задачу' },
  'task.completed': { en: 'A task was completed', ru: 'Задача завершена' },
  'task.relation_added': {
    en: 'A task was related to another',
    ru: 'Задача связана с другой',
  },
  'task.relation_removed': { en: 'A relation was removed', ru: 'Связь убрана' },
  'comment.created': { en: 'Somebody commented on a task', ru: 'Кто-то прокомментировал задачу' },
  'comment.updated': { en: 'An author changed a comment', ru: 'Автор изменил комментарий' },
  'external_reference.added': {
    en: 'A task, a workspace or an artifact got a name in another system',
    ru: 'Задача, workspace или артефакт получили имя в другой системе',
  },
  'external_reference.removed': {
    en: 'A name in another system was removed',
    ru: 'Имя в другой системе убрано',
  },
  'goal.created': { en: 'A goal was created', ru: 'Создана цель' },
  'goal.updated': { en: 'A goal was changed', ru: 'Цель изменена' },
  'claim.released': { en: 'A claim was given back', ru: 'Claim отпущен' },
  'claim.expired': { en: 'The lease of a claim ended', ru: 'Аренда claim истекла' },
  'run.started': { en: 'An attempt at a task began', ru: 'Началась попытка выполнения' },
  'run.checkpoint_recorded': { en: 'A run recorded a checkpoint', ru: 'Записан checkpoint' },
  'run.succeeded': { en: 'A run ended with success', ru: 'Прогон завершился успехом' },
  'run.failed': { en: 'A run ended without success', ru: 'Прогон завершился неудачей' },
  'run.cancelled': { en: 'A run was cancelled', ru: 'Прогон отменён' },
  'run.suspended': {
    en: 'A run stopped for now; its claim was released',
    ru: 'Прогон приостановлен, его claim отпущен',
  },
  'run.cancel_requested': {
    en: 'The holder of a run was asked to stop it',
    ru: 'Владельца прогона попросили его остановить',
  },
  'run.late_usage_recorded': {
    en: 'Use of a run was told after it had ended',
    ru: 'О расходе прогона сообщено после его конца',
  },
  'price_table.created': {
    en: 'Prices were set from a moment on',
    ru: 'Заданы цены, действующие с некоторого момента',
  },
  'control_message.accepted': {
    en: 'Something was said to a running run',
    ru: 'Работающему прогону отправлено сообщение',
  },
  'control_message.settled': {
    en: 'A message to a run was applied, rejected or superseded',
    ru: 'Сообщение прогону применено, отклонено или вытеснено',
  },
  'child_run.created': {
    en: 'A run gave a part of its work to a child run',
    ru: 'Прогон передал часть работы дочернему прогону',
  },
  'child_run.revoked': {
    en: 'The handle of a child run was ended',
    ru: 'Доступ дочернего прогона отозван',
  },
  'artifact.created': { en: 'An artifact was published', ru: 'Опубликован артефакт' },
  'approval.requested': {
    en: 'Somebody was asked to approve a task or an artifact',
    ru: 'Запрошено согласование задачи или результата',
  },
  'approval.approved': {
    en: 'The revision that was asked about was approved',
    ru: 'Ревизия, о которой спрашивали, согласована',
  },
  'approval.rejected': {
    en: 'The revision that was asked about was rejected',
    ru: 'Ревизия, о которой спрашивали, отклонена',
  },
  'approval.cancelled': {
    en: 'The request for an approval was withdrawn undecided',
    ru: 'Запрос согласования отозван без решения',
  },
  'observation.recorded': {
    en: 'A finding, a decision or the like was recorded',
    ru: 'Записаны вывод, решение или иное наблюдение',
  },
  'observation.erased': {
    en: 'What an observation said was erased',
    ru: 'Стёрто то, что говорило наблюдение',
  },
  'knowledge.snapshot_reconciled': {
    en: 'Memory was brought to the state of a snapshot',
    ru: 'Память приведена к состоянию снимка',
  },
  'knowledge.changed': {
    en: 'What a snapshot changed, by key',
    ru: 'Что изменил снимок, по ключам',
  },
  'knowledge.document_stored': { en: 'A document was stored', ru: 'Документ сохранён' },
  'knowledge.document_deleted': { en: 'A document was deleted', ru: 'Документ удалён' },
  'knowledge.pack_registered': {
    en: 'A version of a domain pack was registered',
    ru: 'Зарегистрирована версия доменного пакета',
  },
  'knowledge.packs_chosen': {
    en: 'The packs of a tree of workspaces were chosen',
    ru: 'Выбраны пакеты дерева workspace',
  },
  'context_adapter.redriven': {
    en: 'An operator had a delivery tried again',
    ru: 'Оператор повторил доставку',
  },
  'event_journal.archived': {
    en: 'Old events were moved to the archive',
    ru: 'Старые события перенесены в архив',
  },
  'event_journal.pruned': {
    en: 'Archived events were deleted for good',
    ru: 'События из архива удалены навсегда',
  },
  'context_adapter.rebuilt': {
    en: 'An operator sent the delivery back',
    ru: 'Оператор отмотал доставку назад',
  },
}
