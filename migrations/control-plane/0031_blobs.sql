-- Content that is too large for a row: kept in a store of objects, uploaded in parts.

-- What a tenant has, by what it is: small content in the row, other content as an object in the store.
alter table artifact_contents rename to blobs;
alter index artifact_contents_pkey rename to blobs_pkey;
alter table blobs
  alter column content drop not null,
  add column object_key text check (length(object_key) between 1 and 500),
  -- SHA-256 of each MiB in turn, 32 bytes apiece.
  add column block_digests bytea,
  -- When to look whether anything still refers to it; null when something does.
  add column collect_after timestamptz,
  add constraint blobs_in_one_place check (num_nonnulls(content, object_key) = 1),
  add constraint blobs_digests check (
    (object_key is null) = (block_digests is null)
    and length(block_digests) = 32 * ((size_bytes + 1048575) / 1048576)),
  add unique (tenant_id, object_key);

create index blobs_to_collect on blobs (collect_after) where collect_after is not null;
create index artifacts_by_content on artifacts (tenant_id, content_sha256)
  where content_sha256 is not null;

-- Objects in the store that no blob owns: being written, parts of uploads, and what is to be removed.
-- Written down before the first byte goes to the store, so nothing there is unknown here.
create table loose_objects (
  tenant_id     uuid        not null references tenants,
  object_key    text        not null check (length(object_key) between 1 and 500),
  remove_after  timestamptz not null,
  -- Somebody has begun to remove it: it can be kept no more.
  removing      boolean     not null default false,
  primary key (tenant_id, object_key)
);

create index loose_objects_by_due on loose_objects (remove_after);

create table artifact_uploads (
  tenant_id      uuid        not null,
  id             uuid        not null,
  principal_id   uuid        not null,
  task_id        uuid,
  workspace_id   uuid,
  claim_id       uuid,
  fencing_token  integer,
  media_type     text        check (length(media_type) between 1 and 255),
  size_bytes     integer     not null check (size_bytes >= 0),
  sha256         text        not null check (sha256 ~ '^[0-9a-f]{64}$'),
  status         text        not null default 'open'
                             check (status in ('open', 'completed', 'aborted')),
  -- Set when all of it is there: until the upload expires, this is what keeps the blob.
  blob_sha256    text        check (blob_sha256 = sha256),
  expires_at     timestamptz not null,
  created_at     timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id),
  foreign key (tenant_id, principal_id) references principals (tenant_id, id),
  foreign key (tenant_id, task_id) references tasks (tenant_id, id),
  foreign key (tenant_id, workspace_id) references workspaces (tenant_id, id),
  foreign key (tenant_id, claim_id) references claims (tenant_id, id),
  foreign key (tenant_id, blob_sha256) references blobs (tenant_id, sha256),
  check ((status = 'completed') = (blob_sha256 is not null))
);

create index artifact_uploads_by_expiry on artifact_uploads (expires_at);
create index artifact_uploads_by_blob on artifact_uploads (tenant_id, blob_sha256)
  where blob_sha256 is not null;

create table artifact_upload_parts (
  tenant_id   uuid        not null,
  upload_id   uuid        not null,
  number      integer     not null check (number between 1 and 1000),
  size_bytes  integer     not null check (size_bytes >= 0),
  sha256      text        not null check (sha256 ~ '^[0-9a-f]{64}$'),
  object_key  text        not null,
  primary key (tenant_id, upload_id, number),
  unique (tenant_id, object_key),
  foreign key (tenant_id, upload_id) references artifact_uploads (tenant_id, id) on delete cascade,
  foreign key (tenant_id, object_key) references loose_objects (tenant_id, object_key)
);
