-- Observations whose assertions could not all be used, in the order of their arrival.
create index observations_pending on observations (namespace_id, item)
  where status in ('received', 'partially_processed', 'failed');
