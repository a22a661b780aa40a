-- Keys with placeholders are found whatever these are called: `/users/{id}` by `/users/{userId}`.
create index nodes_by_template on nodes (namespace_id, (regexp_replace(key, '[{][^{}]*[}]', '{}', 'g')))
  where strpos(key, '{') > 0;
