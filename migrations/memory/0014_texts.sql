-- Texts can be kept to those that carry something: a collection, a product, a version.
create index chunks_meta on chunks using gin (meta jsonb_path_ops) with (fastupdate = off)
  where meta <> '{}';
