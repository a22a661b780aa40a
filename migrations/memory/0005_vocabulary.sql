-- The words of a namespace, as analysed: terms are stored as hashes, and a misspelt word, or a name in
-- another script, can only be compared with words.
create table vocabulary (
  namespace_id  bigint  not null references namespaces (id),
  word          text    not null check (char_length(word) between 1 and 80),
  version       bigint  not null,
  primary key (namespace_id, word)
);

create index vocabulary_by_version on vocabulary (namespace_id, version);
