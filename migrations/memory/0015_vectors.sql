-- How far a namespace is embedded by the model configured now. Its lease says which process works on it; whoever
-- comes after a process that died goes on where that one stopped.
create table vector_progress (
  namespace_id  bigint       primary key references namespaces (id),
  model         text         not null,
  -- Whether everything there is is being read for the first time.
  reading       boolean      not null,
  -- Changes up to this version are embedded, once that is over.
  version       bigint       not null,
  -- How far the reading has come, or the embedding of the next version when that is of many items.
  after_item    bigint       not null,
  -- Grows with every batch of vectors: indexes in processes read what is newer than theirs.
  seq           bigint       not null default 0,
  lease         uuid,
  leased_until  timestamptz  not null default '-infinity'
);

-- One vector an item, as bytes from -127 to 127 times `scale`.
create table vectors (
  namespace_id  bigint  not null references namespaces (id),
  item          bigint  not null,
  model         text    not null,
  seq           bigint  not null,
  scale         real    not null,
  vector        bytea   not null,
  primary key (namespace_id, item)
);

create index vectors_by_seq on vectors (namespace_id, seq);

-- What is removed or redacted has no vector from the same moment on, whoever removes it.
create function forget_vectors() returns trigger language plpgsql as $$
begin
  delete from vectors v using gone g where v.namespace_id = g.namespace_id and v.item = g.item;
  return null;
end
$$;

create function forget_redacted_vectors() returns trigger language plpgsql as $$
begin
  delete from vectors v using now_so n
  where v.namespace_id = n.namespace_id and v.item = n.item and n.status = 'redacted';
  return null;
end
$$;

create trigger observations_forget_vectors after delete on observations
  referencing old table as gone for each statement execute function forget_vectors();
create trigger chunks_forget_vectors after delete on chunks
  referencing old table as gone for each statement execute function forget_vectors();
create trigger nodes_forget_vectors after delete on nodes
  referencing old table as gone for each statement execute function forget_vectors();
create trigger edges_forget_vectors after delete on edges
  referencing old table as gone for each statement execute function forget_vectors();
create trigger observations_redact_vectors after update on observations
  referencing new table as now_so for each statement execute function forget_redacted_vectors();
