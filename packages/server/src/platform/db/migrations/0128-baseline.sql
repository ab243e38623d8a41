-- The schema of a new database. Databases that ran version 0.2.0 have it already.
-- Later changes are in files with higher numbers.

-- ---------------------------------------------------------------------------
-- Platform: requests, jobs, runs, settings
-- ---------------------------------------------------------------------------

CREATE TABLE orgs (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active',
  max_org_daily_micros bigint NOT NULL DEFAULT 1000000000,
  -- The org's data key, wrapped by the server's master key.
  wrapped_data_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Settings that all processes on this database share, sealed under the master key.
CREATE TABLE server_settings (
  name text PRIMARY KEY,
  sealed_value bytea NOT NULL
);

-- A create claims its key in its own transaction. A second call with the same key waits on this row and then finds
-- the first answer.
CREATE TABLE idempotency_keys (
  org_id text NOT NULL,
  mode text NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status integer,
  answer bytea,
  encrypted boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE rate_windows (
  bucket text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  used integer NOT NULL
);

-- Background work. A row is a hint that there may be something to do; the row that it names is the truth.
CREATE TABLE jobs (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  -- The id of the row that the job is about, to find rows without a job.
  key text,
  -- The org, a space and a hash of the user. Empty in a queue whose slots are not shared.
  share text COLLATE "C" NOT NULL DEFAULT '',
  payload jsonb NOT NULL,
  -- A worker may take the job from then on. A worker that takes it moves this ahead by its lease, so jobs of a dead
  -- worker become due by themselves.
  due_at timestamptz NOT NULL DEFAULT now(),
  is_held boolean NOT NULL DEFAULT false,
  -- Incremented by each claim. A result under an old claim is ignored.
  attempts integer NOT NULL DEFAULT 0,
  -- Failures of the handler, not deaths of the worker.
  failures integer NOT NULL DEFAULT 0,
  given_up_at timestamptz,
  given_up text,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX jobs_by_key ON jobs (name, key);
CREATE INDEX jobs_due ON jobs (name, share, due_at, id);
CREATE INDEX jobs_given_up ON jobs (given_up_at) WHERE given_up_at IS NOT NULL;

-- One sequence for all runs, so that a run that ended and starts again never gets an epoch that a process may still
-- hold.
CREATE SEQUENCE run_epochs AS bigint;

-- The process that works on a run. Each takeover raises the epoch, and steps are written only under the current
-- epoch. A process that was frozen or cut off and wakes up writes nothing.
CREATE TABLE runs (
  id text PRIMARY KEY,
  epoch bigint NOT NULL,
  owner text NOT NULL,
  lease_until timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX runs_by_lease ON runs (lease_until);

-- Aborts a group of statements if the rows that it was decided on have changed.
CREATE FUNCTION expect_that(holds boolean, what text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF holds IS NOT TRUE THEN
    RAISE EXCEPTION 'No longer so: %.', what USING ERRCODE = 'VS001';
  END IF;
END $$;

-- Contents of the file store that may belong to no file. The row is written before the upload and when a file is
-- deleted, and removed once a file uses the content or the content is gone. It survives a crash in between.
CREATE TABLE unused_contents (
  org_id text NOT NULL,
  name text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, name)
);
CREATE INDEX unused_contents_by_age ON unused_contents (since);

-- ---------------------------------------------------------------------------
-- Account: keys, members, sign-in, audit, events
-- ---------------------------------------------------------------------------

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  secret_hash bytea NOT NULL UNIQUE,
  last4 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_by_org ON api_keys (org_id, mode, id DESC);

-- Secrets that a roll replaced. They stay after their grace period, so that a late caller gets key_expired and not
-- key_invalid.
CREATE TABLE rolled_key_secrets (
  secret_hash bytea PRIMARY KEY,
  key_id text NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);

-- user_id is empty for a secret of the org.
CREATE TABLE secrets (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text NOT NULL DEFAULT '',
  name text NOT NULL,
  sealed_value bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, user_id, name)
);

-- The primary key begins with the org. With an index on the id alone, the planner would read the newer rows of every
-- other org to find one page.
CREATE TABLE audit_entries (
  id text NOT NULL,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  action text NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  target_type text,
  target_id text,
  ip text,
  request_id text,
  details jsonb NOT NULL DEFAULT '{}',
  -- Set on key use only: one row per key and minute.
  used_minute timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, id),
  UNIQUE (actor_id, used_minute)
);
CREATE INDEX audit_entries_by_action ON audit_entries (org_id, mode, action, id DESC);
CREATE INDEX audit_entries_by_actor ON audit_entries (org_id, mode, actor_id, id DESC);
CREATE INDEX audit_entries_by_age ON audit_entries (created_at);

-- Webhook events, as GET /v1/events lists them. No foreign key to orgs: checking it would lock the org's row for
-- every event.
CREATE TABLE events (
  id text NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  type text NOT NULL,
  deployment_id text,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX events_by_age ON events (created_at);
CREATE INDEX events_by_type ON events (org_id, mode, type, id DESC);

-- One login opens every org that the person belongs to.
CREATE TABLE logins (
  email text PRIMARY KEY,
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  email text NOT NULL,
  name text,
  role text NOT NULL,
  status text NOT NULL,
  invite_hash bytea UNIQUE,
  invite_expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- A membership created by an identity provider cannot be opened by a password: a login with the same email may
  -- belong to another person.
  opened_by text NOT NULL DEFAULT 'password' CHECK (opened_by IN ('password', 'identity', 'both')),
  UNIQUE (org_id, email)
);
CREATE INDEX members_by_email ON members (email);
CREATE INDEX members_by_org ON members (org_id, id DESC);

-- Accounts at an org's identity provider.
CREATE TABLE member_identities (
  member_id text PRIMARY KEY REFERENCES members ON DELETE CASCADE,
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  issuer text NOT NULL,
  subject text NOT NULL,
  email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, issuer, subject)
);

-- An org's single sign-on. It belongs to the org and not to a mode, like the members.
CREATE TABLE identity_providers (
  org_id text PRIMARY KEY REFERENCES orgs ON DELETE CASCADE,
  issuer text NOT NULL,
  client_id text NOT NULL,
  sealed_client_secret bytea,
  allowed_domains text[] NOT NULL,
  default_role text,
  role_claim text,
  roles_by_claim jsonb NOT NULL,
  password_sign_in boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Passkeys open the same orgs as the password of their login.
CREATE TABLE passkeys (
  id text PRIMARY KEY,
  email text NOT NULL REFERENCES logins ON DELETE CASCADE,
  name text NOT NULL,
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  -- The last counter of the device, if it counts.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_by_email ON passkeys (email, id DESC);

-- A session opens every org of its login. A session that an identity provider opened is limited to that member.
CREATE TABLE console_sessions (
  token_hash bytea PRIMARY KEY,
  email text REFERENCES logins ON DELETE CASCADE,
  csrf_token text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The default is for processes of an older version that may still run.
  id text NOT NULL DEFAULT 'cses_' || left(replace(gen_random_uuid()::text, '-', ''), 24),
  user_agent text,
  ip text,
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  member_id text REFERENCES members ON DELETE CASCADE,
  CHECK ((email IS NULL) <> (member_id IS NULL))
);
CREATE INDEX console_sessions_by_email ON console_sessions (email);
CREATE UNIQUE INDEX console_sessions_by_id ON console_sessions (id);
CREATE INDEX console_sessions_by_member ON console_sessions (member_id) WHERE member_id IS NOT NULL;

-- Links to choose a new password. A link created by an org is valid only while the login opens that org alone. Links
-- created by the operator have no org.
CREATE TABLE password_resets (
  token_hash bytea PRIMARY KEY,
  email text NOT NULL REFERENCES logins ON DELETE CASCADE,
  org_id text REFERENCES orgs ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX password_resets_by_email ON password_resets (email);

-- Sign-ins that a browser began and did not finish. The browser holds the secret that state and nonce are derived
-- from; the row ensures that it is used once.
CREATE TABLE sign_in_attempts (
  token_hash bytea PRIMARY KEY,
  kind text NOT NULL,
  org_id text REFERENCES orgs ON DELETE CASCADE,
  member_id text REFERENCES members ON DELETE CASCADE,
  email text REFERENCES logins ON DELETE CASCADE,
  return_to text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_by_expiry ON sign_in_attempts (expires_at);

-- MCP clients that registered themselves over OAuth.
CREATE TABLE registered_mcp_clients (
  id text PRIMARY KEY,
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX registered_mcp_clients_by_use ON registered_mcp_clients (last_used_at);

-- MCP clients that a member has allowed. Codes and tokens are stored as hashes. A grant is deleted with its member.
CREATE TABLE mcp_grants (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  member_id text NOT NULL REFERENCES members ON DELETE CASCADE,
  client_id text NOT NULL,
  client_name text NOT NULL,
  client_address text NOT NULL,
  is_verified boolean NOT NULL,
  scopes text[] NOT NULL,
  -- How often the refresh token was exchanged; 0 until the client fetched its first tokens.
  generation integer NOT NULL DEFAULT 0 CHECK (generation >= 0),
  renewed_at timestamptz,
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mcp_grants_by_client ON mcp_grants (client_id);
CREATE INDEX mcp_grants_by_expiry ON mcp_grants (expires_at);
CREATE INDEX mcp_grants_by_member ON mcp_grants (member_id, id DESC);
CREATE INDEX mcp_grants_by_org ON mcp_grants (org_id, mode, id DESC);

CREATE TABLE mcp_authorization_codes (
  code_hash bytea PRIMARY KEY,
  grant_id text NOT NULL REFERENCES mcp_grants ON DELETE CASCADE,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  used_at timestamptz,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mcp_authorization_codes_by_expiry ON mcp_authorization_codes (expires_at);
CREATE INDEX mcp_authorization_codes_by_grant ON mcp_authorization_codes (grant_id);

CREATE TABLE mcp_tokens (
  token_hash bytea PRIMARY KEY,
  grant_id text NOT NULL REFERENCES mcp_grants ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
  generation integer NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mcp_tokens_by_expiry ON mcp_tokens (expires_at);
CREATE INDEX mcp_tokens_by_grant ON mcp_tokens (grant_id);

-- ---------------------------------------------------------------------------
-- Billing: ledger, holds, alerts
-- ---------------------------------------------------------------------------

-- Double entry: the rows of one transfer sum to zero, and a transfer is named by the id of its wallet row. Rows are
-- never updated, except for the user of an erased person, so balances can always be recomputed. No foreign key to
-- orgs here, on unfolded_entries or on reservations: checking it would lock the org's row for every charge.
CREATE TABLE ledger_entries (
  id text PRIMARY KEY,
  transfer_id text NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  account text NOT NULL CHECK (account IN ('wallet', 'spend', 'funding')),
  amount_micros bigint NOT NULL,
  -- Set on `spend` rows only, like all columns from here to turn_id.
  kind text,
  model text,
  quantity numeric,
  unit text,
  unit_price_micros numeric,
  user_id text,
  deployment_id text,
  conversation_id text,
  task_id text,
  turn_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  is_estimated boolean NOT NULL DEFAULT false,
  -- A charge is rounded to a whole micro-dollar as one sum, so each item is the whole number below or above its own
  -- price.
  CONSTRAINT ledger_spend_is_its_price CHECK (
    account <> 'spend' OR (
      kind IS NOT NULL AND unit IS NOT NULL AND quantity IS NOT NULL AND unit_price_micros IS NOT NULL
      AND quantity >= 0 AND unit_price_micros >= 0 AND abs(amount_micros - quantity * unit_price_micros) < 1
    )
  )
);
CREATE INDEX ledger_spend_by_conversation ON ledger_entries (conversation_id, id DESC)
  WHERE account = 'spend' AND conversation_id IS NOT NULL;
CREATE INDEX ledger_spend_by_task ON ledger_entries (task_id, id DESC)
  WHERE account = 'spend' AND task_id IS NOT NULL;
CREATE INDEX ledger_spend_by_time ON ledger_entries (org_id, mode, created_at) WHERE account = 'spend';
CREATE INDEX ledger_spend_by_user ON ledger_entries (org_id, mode, user_id, created_at) WHERE account = 'spend';

-- Transfers that are not yet added to wallets and spend_days, so that a charge locks no hot row. user_id is '' for
-- the org's own agent.
CREATE TABLE unfolded_entries (
  org_id text NOT NULL,
  mode text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  wallet_micros bigint NOT NULL,
  spend_micros bigint NOT NULL,
  user_id text NOT NULL,
  day date NOT NULL,
  PRIMARY KEY (org_id, mode, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The row is also the lock for adding up: lock it before writing wallets or spend_days of an org and mode.
CREATE TABLE wallets (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  balance_micros bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, mode)
);

-- user_id '*' is the whole org, '' the org's own agent. Days are UTC.
CREATE TABLE spend_days (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text NOT NULL,
  day date NOT NULL,
  spend_micros bigint NOT NULL,
  PRIMARY KEY (org_id, mode, user_id, day)
);

-- Money held for running calls. Unlogged, so that a hold does not wait for the disk. A database crash empties the
-- table, which forgets a limit on running calls and never money.
CREATE UNLOGGED TABLE reservations (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text NOT NULL,
  amount_micros bigint NOT NULL CHECK (amount_micros >= 0),
  expires_at timestamptz NOT NULL,
  run_id text,
  -- Usage of the call so far. Stopping the run deletes the hold and charges this in one transaction, so that it is
  -- charged once.
  used json,
  -- Since when a computer runs for the call.
  metered_since timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX reservations_by_org ON reservations (org_id, mode);
CREATE INDEX reservations_by_run ON reservations (run_id) WHERE run_id IS NOT NULL;

-- Alerts that were sent, so that each threshold and cap alerts once per period. Threshold 100 is the cap itself;
-- user_id is '' for the org's caps.
CREATE TABLE usage_alerts_told (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  cap text NOT NULL,
  user_id text NOT NULL,
  period text NOT NULL,
  threshold integer NOT NULL,
  PRIMARY KEY (org_id, mode, cap, user_id, period, threshold)
);

-- ---------------------------------------------------------------------------
-- Agents: deployments, versions, notebooks, skills, tool servers
-- ---------------------------------------------------------------------------

-- Deployments and versions are shared by both modes. Versions are numbered from 1 without gaps and never deleted one
-- by one, so the version columns need no foreign keys.
CREATE TABLE deployments (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  -- A live content fix gets a number of its own without becoming the newest version, so last_version may be higher.
  newest_version integer NOT NULL DEFAULT 1,
  draft_version integer NOT NULL DEFAULT 1,
  live_version integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_version integer NOT NULL DEFAULT 1,
  UNIQUE (org_id, slug),
  CHECK (newest_version BETWEEN 1 AND last_version),
  CHECK (draft_version BETWEEN 1 AND last_version),
  CHECK (live_version BETWEEN 1 AND last_version)
);
CREATE INDEX deployments_by_name ON deployments (org_id, name, id);
CREATE INDEX deployments_by_org ON deployments (org_id, id DESC);

-- Written once; only `missing` changes. `json` and not `jsonb` keeps keys in the order in which they were sent, so
-- that a file reads as its author wrote it.
CREATE TABLE deployment_versions (
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  version integer NOT NULL CHECK (version >= 1),
  org_id text NOT NULL,
  note text,
  manifest json NOT NULL,
  -- The file's tests, routines and webhooks, which are not part of the manifest.
  file_objects json NOT NULL,
  changed text[] NOT NULL,
  -- Ids of the tool servers, skills, notebooks and files that the manifest names.
  uses text[] NOT NULL,
  created_by_type text NOT NULL,
  created_by_id text NOT NULL,
  created_by_name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The revision of each notebook and the hash of each skill.
  content json NOT NULL,
  -- Ids that were deleted since.
  missing text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (deployment_id, version)
);
CREATE INDEX deployment_versions_by_use ON deployment_versions USING gin (uses);

-- A stack: a promotion pushes a row and a rollback removes the top one. The top row is the live version.
CREATE TABLE live_promotions (
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  height integer NOT NULL CHECK (height >= 1),
  org_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, height)
);

-- Settings that an org has per mode, so that a test key cannot change what live users get.
CREATE TABLE org_settings (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  allowed_return_urls text[] NOT NULL DEFAULT '{}',
  allowed_embed_origins text[] NOT NULL DEFAULT '{}',
  default_deployment text REFERENCES deployments ON DELETE SET NULL,
  require_user boolean NOT NULL DEFAULT false,
  memory_panel boolean NOT NULL DEFAULT false,
  memory_mode text NOT NULL DEFAULT 'vestra',
  memory_endpoint text,
  otlp_endpoint text,
  otlp_headers_secret text,
  org_daily_micros bigint DEFAULT 100000000,
  user_daily_micros bigint DEFAULT 10000000,
  org_monthly_micros bigint,
  user_monthly_micros bigint,
  alert_thresholds integer[] NOT NULL DEFAULT '{50,80,95}',
  -- Fallback models by deployment slug, or * for all others.
  model_fallbacks jsonb NOT NULL DEFAULT '{}',
  -- The signing secret of the memory endpoint is derived from this number. The one before stays valid for a day.
  memory_secret_number integer NOT NULL DEFAULT 0,
  memory_secret_rolled_at timestamptz,
  -- First words of session pages by deployment slug, or * for all others.
  openings jsonb NOT NULL DEFAULT '{}',
  -- Whether exported traces include message content.
  otlp_content boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, mode)
);
CREATE INDEX org_settings_by_default_deployment ON org_settings (default_deployment)
  WHERE default_deployment IS NOT NULL;
-- A CORS preflight names an origin and no org.
CREATE INDEX org_settings_by_embed_origin ON org_settings USING gin (allowed_embed_origins);

-- The category of each tool of a version, decided when the version first ran with that description. A later release
-- with other word lists changes nothing for a version in use; a changed description is decided again.
CREATE TABLE tool_categories (
  deployment_id text NOT NULL,
  version integer NOT NULL,
  -- The name that the model calls.
  tool text NOT NULL,
  -- SHA-256.
  description_hash bytea NOT NULL,
  -- Null if no approval category applies.
  category text,
  -- What the server said when the tool first waited for approval. A tool that once waited keeps waiting in that
  -- version, whatever its server says later.
  was_read_only boolean NOT NULL DEFAULT false,
  PRIMARY KEY (deployment_id, version, tool, description_hash),
  FOREIGN KEY (deployment_id, version) REFERENCES deployment_versions ON DELETE CASCADE
);

-- Notebooks are shared by both modes. Each change of a notebook's documents is a revision.
CREATE TABLE notebooks (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  -- Users whose agents may read it; null: all users.
  reader_ids text[],
  document_count integer NOT NULL DEFAULT 0 CHECK (document_count BETWEEN 0 AND 1000),
  bytes integer NOT NULL DEFAULT 0 CHECK (bytes BETWEEN 0 AND 5242880),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  revision integer NOT NULL DEFAULT 1,
  UNIQUE (org_id, slug)
);
CREATE INDEX notebooks_by_org ON notebooks (org_id, id DESC);

-- A document never changes. `revisions` are the notebook revisions that contain it, open-ended while it is in the
-- newest. A document in no newest and no fixed revision is deleted.
CREATE TABLE documents (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  notebook_id text NOT NULL REFERENCES notebooks ON DELETE CASCADE,
  title text NOT NULL,
  content_type text NOT NULL,
  -- Text search configuration for stemming. Not a regconfig: pg_upgrade rejects tables that contain one.
  language text NOT NULL,
  bytes integer NOT NULL,
  sha256 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revisions int4multirange NOT NULL
);
CREATE INDEX documents_by_notebook ON documents (notebook_id, id DESC);
CREATE INDEX documents_in_newest ON documents (notebook_id, id DESC) WHERE upper_inf(revisions);
CREATE INDEX documents_kept_for_versions ON documents (notebook_id, sha256) WHERE NOT upper_inf(revisions);

-- The text of a document, cut into passages; joined in order they are the text again, byte for byte. Search reads
-- `search` for every candidate, so rows of up to a page stay uncompressed in the table.
CREATE TABLE document_passages (
  document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
  position integer NOT NULL,
  notebook_id text NOT NULL,
  language text NOT NULL,
  text text NOT NULL,
  search tsvector NOT NULL,
  -- Headings above the passage, outermost first, for citations.
  heading text NOT NULL DEFAULT '',
  page integer,
  PRIMARY KEY (document_id, position)
) WITH (toast_tuple_target = 8160);
-- The notebook is part of the index, because a common word would otherwise read the passages of every org. It is an
-- array since GIN indexes plain text only by an extension. Without a pending list, searches after a large upload cost
-- the same as others.
CREATE INDEX document_passages_by_words ON document_passages USING gin ((ARRAY[notebook_id]), search) WITH (fastupdate = off);

-- Progress of embedding a document, per model. Vectors of two models are never compared. While a new model indexes
-- all documents, processes that use the old one keep its vectors.
CREATE TABLE document_indexes (
  document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
  model text NOT NULL,
  total integer NOT NULL,
  -- Windows that have vectors, counted from the first. A writer updates it from the value that it read, so only one
  -- of two processes succeeds.
  windows integer NOT NULL DEFAULT 0,
  begun_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  PRIMARY KEY (document_id, model)
);

-- Sentence vectors of a document and the passage of each, one row per batch of windows, so that finished batches can
-- be searched while the rest is computed.
CREATE TABLE document_vectors (
  document_id text NOT NULL,
  model text NOT NULL,
  positions integer[] NOT NULL,
  vectors bytea NOT NULL,
  first_window integer NOT NULL,
  PRIMARY KEY (document_id, model, first_window),
  FOREIGN KEY (document_id, model) REFERENCES document_indexes ON DELETE CASCADE
);
-- Vectors do not compress. PostgreSQL 15 has no STORAGE clause in CREATE TABLE.
ALTER TABLE document_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

-- Skills are shared by both modes. The slug finds a skill again; the name is what agents call it, and two deployments
-- may each have a skill of the same name.
CREATE TABLE skills (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  description text NOT NULL,
  -- Number and file hash of the current version.
  version_number integer NOT NULL DEFAULT 1 CHECK (version_number >= 1),
  hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  name text NOT NULL,
  UNIQUE (org_id, slug)
);
CREATE INDEX skills_by_org ON skills (org_id, id DESC);

-- Numbered from 1 without gaps; each names the one before. Name and description are those of SKILL.md in that
-- version.
CREATE TABLE skill_versions (
  skill_id text NOT NULL REFERENCES skills ON DELETE CASCADE,
  number integer NOT NULL CHECK (number >= 1),
  hash text NOT NULL,
  parent_hash text,
  created_at timestamptz NOT NULL DEFAULT now(),
  name text NOT NULL,
  description text NOT NULL,
  PRIMARY KEY (skill_id, number),
  CHECK ((parent_hash IS NULL) = (number = 1))
);
CREATE INDEX skill_versions_by_hash ON skill_versions (skill_id, hash, number DESC);

-- File texts, stored once per org no matter how many skills and versions contain them.
CREATE TABLE skill_texts (
  org_id text NOT NULL REFERENCES orgs,
  sha256 text NOT NULL,
  bytes integer NOT NULL CHECK (bytes BETWEEN 0 AND 1048576),
  content text NOT NULL,
  PRIMARY KEY (org_id, sha256)
);

-- The files of a hash. Versions with the same hash share them.
CREATE TABLE skill_files (
  skill_id text NOT NULL REFERENCES skills ON DELETE CASCADE,
  hash text NOT NULL,
  path text NOT NULL,
  org_id text NOT NULL,
  sha256 text NOT NULL,
  PRIMARY KEY (skill_id, hash, path),
  FOREIGN KEY (org_id, sha256) REFERENCES skill_texts
);
CREATE INDEX skill_files_by_text ON skill_files (org_id, sha256);

-- Tool servers are shared by both modes.
CREATE TABLE mcp_servers (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  -- SHA-256 of the canonical URL, because a URL can be longer than an index entry. Servers may share a URL; a
  -- deployment file means the oldest.
  address_sha256 text NOT NULL,
  -- Credentials appear as ${secret:NAME} and ${user_secret:NAME}, never by value. `json` keeps the order in which
  -- headers were sent.
  headers json NOT NULL,
  -- Applies to every deployment that uses the server.
  deny text[] NOT NULL DEFAULT '{}',
  require_approval text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Whether the server may ask the agent's model.
  sampling boolean NOT NULL DEFAULT false,
  UNIQUE (org_id, slug)
);
CREATE INDEX mcp_servers_by_address ON mcp_servers (org_id, address_sha256, id);
CREATE INDEX mcp_servers_by_org ON mcp_servers (org_id, id DESC);

-- Tool servers and apps that are unreachable, so that each outage is reported once.
CREATE TABLE tool_outages (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The id of a tool server or app.
  server_id text NOT NULL,
  -- True if a secret or sign-in of one user is missing.
  is_personal boolean NOT NULL,
  -- Empty: all users, or the org's own agent.
  user_key text NOT NULL,
  reason text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, server_id, is_personal, user_key)
);

-- ---------------------------------------------------------------------------
-- Users and their memory
-- ---------------------------------------------------------------------------

-- The org chooses the ids of its users. Modes are separate.
CREATE TABLE users (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  id text NOT NULL,
  name text,
  email text,
  locale text,
  timezone text,
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active',
  daily_cap_micros bigint,
  monthly_cap_micros bigint,
  default_deployment text REFERENCES deployments ON DELETE SET NULL,
  is_service_user boolean NOT NULL DEFAULT false,
  -- Set while the erasure runs. Nothing acts for the user from then on.
  erasing_since timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX users_being_erased ON users (erasing_since) WHERE erasing_since IS NOT NULL;
CREATE INDEX users_by_email ON users (org_id, mode, email, created_at DESC, id DESC) WHERE email IS NOT NULL;
CREATE INDEX users_by_time ON users (org_id, mode, created_at DESC, id DESC);

-- Facts about a user. user_id null: facts of the org's own agent. The foreign key stops a late writer from restoring
-- what an erasure removed.
CREATE TABLE memories (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  id text NOT NULL,
  user_id text,
  text text NOT NULL,
  kind text NOT NULL,
  source text NOT NULL,
  -- SHA-256 of the text without case, punctuation and spacing, so that a fact is stored once.
  fingerprint bytea NOT NULL,
  search tsvector NOT NULL,
  -- 512 signed bytes. No vector extension: a search compares at most the 2,000 facts of one user.
  vector bytea,
  vector_model text,
  observed_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, mode, id),
  UNIQUE NULLS NOT DISTINCT (org_id, mode, user_id, fingerprint),
  FOREIGN KEY (org_id, mode, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX memories_by_user ON memories (org_id, mode, user_id, observed_at DESC, id DESC);

-- A user's profile, rewritten when its facts change.
CREATE TABLE memory_profiles (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  markdown text NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE NULLS NOT DISTINCT (org_id, mode, user_id),
  FOREIGN KEY (org_id, mode, user_id) REFERENCES users ON DELETE CASCADE
);

-- ---------------------------------------------------------------------------
-- Engine: conversations, turns, tasks, steps, interactions, files
-- ---------------------------------------------------------------------------

-- Lock this row before changing the conversation, its turns, tasks or interactions.
CREATE TABLE conversations (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text,
  deployment_id text,
  deployment_version integer,
  status text NOT NULL DEFAULT 'idle',
  metadata jsonb NOT NULL DEFAULT '{}',
  last_event_seq bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_active_at timestamptz NOT NULL DEFAULT now(),
  -- The version named with `@`; null: the version that the mode runs.
  pinned_version integer,
  turn_count integer NOT NULL DEFAULT 0,
  -- Counts of open turns, tasks and interactions. Status and the next reply are derived from them.
  queued_turns integer NOT NULL DEFAULT 0,
  open_tasks integer NOT NULL DEFAULT 0,
  open_interactions integer NOT NULL DEFAULT 0,
  -- The turn whose reply is running; others wait behind it.
  replying_turn_id text,
  -- A test conversation: in no list and no webhook.
  is_hidden boolean NOT NULL DEFAULT false,
  -- Replaces all messages up to summary_until in the prompt.
  summary text,
  summary_until text,
  -- When to extract memories from the messages after remembered_until.
  memory_due_at timestamptz,
  remembered_until text,
  -- Earliest possible time of the first event, for retention. An index by age on the events would cost a write per
  -- event.
  events_kept_from timestamptz NOT NULL DEFAULT now(),
  -- Delimiter of untrusted text in prompts. It stays the same in a conversation, so that the vendor's prompt cache
  -- keeps working.
  fence text NOT NULL DEFAULT substr(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 1, 24),
  -- Failures in a row of that extraction.
  memory_tries integer NOT NULL DEFAULT 0
);
CREATE INDEX conversations_by_first_event ON conversations (events_kept_from);
CREATE INDEX conversations_by_org ON conversations (org_id, mode, id DESC);
CREATE INDEX conversations_by_user ON conversations (org_id, mode, user_id, id DESC);
CREATE INDEX conversations_to_remember ON conversations (memory_due_at) WHERE memory_due_at IS NOT NULL;

-- The event log of a conversation. `seq` has no gaps and is never reused. No foreign key: writers hold the
-- conversation's row, and the erasure deletes these rows by conversation. The same holds for the tables below.
CREATE TABLE conversation_events (
  conversation_id text NOT NULL,
  seq bigint NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  task_id text,
  turn_id text,
  data json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (conversation_id, seq)
);
CREATE INDEX conversation_events_by_task ON conversation_events (conversation_id, task_id, seq)
  WHERE task_id IS NOT NULL;

CREATE TABLE messages (
  conversation_id text NOT NULL,
  id text NOT NULL,
  turn_id text NOT NULL,
  turn_ordinal integer NOT NULL,
  task_id text,
  role text NOT NULL CHECK (role IN ('user', 'agent', 'work')),
  text text NOT NULL,
  -- `json` keeps the order of keys.
  data json,
  context json,
  attachments jsonb NOT NULL DEFAULT '[]',
  -- Milliseconds, like list cursors: with a finer time a message could fall between two pages.
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  is_cut boolean NOT NULL DEFAULT false,
  PRIMARY KEY (conversation_id, id)
);
-- A rating names only the message.
CREATE INDEX messages_by_id ON messages (id);
CREATE INDEX messages_by_time ON messages (conversation_id, created_at, id);
-- Each reply reads the files of its conversation; without this it would read all messages.
CREATE INDEX messages_with_files ON messages (conversation_id, id) WHERE attachments <> '[]';

CREATE TABLE turns (
  conversation_id text NOT NULL,
  ordinal integer NOT NULL,
  id text NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text,
  deployment_id text NOT NULL,
  deployment_version integer NOT NULL,
  -- `queued` is shown as `replying`.
  state text NOT NULL CHECK (state IN ('queued', 'replying', 'waiting', 'working', 'settled', 'failed', 'stopped')),
  -- The message's options beyond its text.
  request json NOT NULL,
  -- Who sent the message: the person, or the service for them.
  origin text NOT NULL,
  message_id text NOT NULL,
  reply_message_id text NOT NULL,
  -- The history of the reply, fixed at its start, so that another process continues with the same.
  history_until text,
  base_summary text,
  base_from text,
  fence text NOT NULL,
  active_ms bigint NOT NULL DEFAULT 0,
  reply_text text,
  reply_data json,
  acknowledgement text,
  task_id text,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  -- Test conversations on the draft read the newest content; all others read what their version fixed.
  reads_newest boolean NOT NULL DEFAULT false,
  -- Tools that the run did without, and why.
  missing_tools json,
  -- The model reached its output limit.
  reply_is_cut boolean NOT NULL DEFAULT false,
  PRIMARY KEY (conversation_id, ordinal)
);
CREATE UNIQUE INDEX turns_by_id ON turns (id);
CREATE INDEX turns_replying ON turns (created_at) WHERE state = 'replying';

CREATE TABLE tasks (
  org_id text NOT NULL,
  mode text NOT NULL,
  id text NOT NULL,
  conversation_id text NOT NULL,
  turn_id text NOT NULL,
  user_id text,
  deployment_id text NOT NULL,
  deployment_version integer NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'working', 'waiting', 'done', 'failed')),
  title text,
  -- The orchestrator's instruction; null if the message itself is the instruction.
  brief text,
  progress json NOT NULL DEFAULT '[]',
  result_text text,
  result_data json,
  outcome_met boolean,
  outcome_reason text,
  error_code text,
  error_message text,
  is_hidden boolean NOT NULL DEFAULT false,
  fence text NOT NULL,
  active_ms bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  missing_tools json,
  result_is_cut boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX tasks_by_conversation ON tasks (conversation_id, id);
CREATE INDEX tasks_by_status ON tasks (org_id, mode, status, id DESC);
CREATE INDEX tasks_by_user ON tasks (org_id, mode, user_id, id DESC);
CREATE INDEX tasks_open ON tasks (id) WHERE status IN ('queued', 'working', 'waiting');
CREATE INDEX tasks_running ON tasks (updated_at) WHERE status IN ('queued', 'working');

-- Messages from the person to a task that is running.
CREATE TABLE work_notes (
  task_id text NOT NULL,
  id text NOT NULL,
  text text NOT NULL,
  -- Number of steps that the task had when it read the note; null until then.
  step_index integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (task_id, id)
);

-- The trace that people read and the checkpoint that another process continues from. A run is the reply of a turn, or
-- a task.
CREATE TABLE run_steps (
  run_id text NOT NULL,
  step_index integer NOT NULL,
  -- `judge`, `stopped` and `failed` are calls that were paid for without being a step of the run.
  kind text NOT NULL CHECK (kind IN ('model', 'summary', 'judge', 'stopped', 'failed')),
  text text NOT NULL,
  notice text,
  covers integer,
  model text NOT NULL,
  input_tokens integer NOT NULL,
  output_tokens integer NOT NULL,
  cache_read_tokens integer NOT NULL,
  cost_micros bigint NOT NULL,
  started_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  is_cut boolean NOT NULL DEFAULT false,
  cache_write_tokens integer NOT NULL DEFAULT 0,
  -- The model's reasoning as its vendor wants it back. Sent to that model only and never shown.
  reasoning json,
  PRIMARY KEY (run_id, step_index)
);
CREATE INDEX run_steps_by_age ON run_steps (created_at);

CREATE TABLE run_calls (
  run_id text NOT NULL,
  step_index integer NOT NULL,
  position integer NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  arguments json NOT NULL,
  started_at timestamptz,
  output text,
  is_error boolean,
  result_from text,
  finished_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Pictures and recordings of the result: [{file_id, media_type, bytes, width, height}].
  media json,
  -- How to ask the MCP server about a call that it continues by itself.
  under_way jsonb,
  PRIMARY KEY (run_id, step_index, position)
);
CREATE UNIQUE INDEX run_calls_by_id ON run_calls (id);

CREATE TABLE interactions (
  org_id text NOT NULL,
  mode text NOT NULL,
  id text NOT NULL,
  user_id text,
  conversation_id text NOT NULL,
  turn_id text NOT NULL,
  task_id text,
  run_id text NOT NULL,
  call_id text,
  purpose text CHECK (purpose IN ('permission', 'connection', 'input', 'answer')),
  kind text NOT NULL,
  type text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'resolved', 'cancelled', 'expired')),
  summary text NOT NULL,
  moves_money boolean,
  requires_present_user boolean NOT NULL,
  nonce text,
  questions json,
  details json NOT NULL,
  decision text,
  answers json,
  reason text,
  message text,
  -- The answer as the agent reads it.
  output text,
  is_error boolean,
  is_hidden boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  resolved_at timestamptz,
  -- The browser that the person is asked to take over.
  browser json,
  -- Set for calls of functions, to find and claim them.
  deployment_id text,
  taken_by text,
  taken_until timestamptz,
  -- How often the call was claimed.
  attempts integer NOT NULL DEFAULT 0,
  progress text,
  approver text NOT NULL DEFAULT 'user' CHECK (approver IN ('user', 'org')),
  -- State that the call of a tool server continues with after the answer. Never shown.
  kept json,
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX interactions_by_conversation ON interactions (conversation_id, id DESC);
CREATE INDEX interactions_by_status ON interactions (org_id, mode, status, id DESC);
CREATE INDEX interactions_by_user ON interactions (org_id, mode, user_id, id DESC);
CREATE INDEX interactions_due ON interactions (expires_at) WHERE status = 'pending';
CREATE INDEX interactions_of_run ON interactions (run_id);
CREATE INDEX interactions_pending ON interactions (conversation_id) WHERE status = 'pending';
CREATE INDEX interactions_to_take ON interactions (org_id, mode, deployment_id, id)
  WHERE status = 'pending' AND type = 'tool_call' AND (NOT is_hidden);

-- The page at the moment of a hand-off, as a data URI. Read with one interaction, never in a list.
CREATE TABLE interaction_frames (
  org_id text NOT NULL,
  mode text NOT NULL,
  interaction_id text NOT NULL,
  frame text NOT NULL,
  PRIMARY KEY (org_id, mode, interaction_id),
  FOREIGN KEY (org_id, mode, interaction_id) REFERENCES interactions (org_id, mode, id) ON DELETE CASCADE
);

-- The bytes are in the file store under their hash.
CREATE TABLE files (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  filename text,
  mime_type text,
  size_bytes bigint,
  sha256 text NOT NULL,
  source text NOT NULL,
  task_id text,
  conversation_id text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX files_by_content ON files (org_id, sha256);
CREATE INDEX files_by_conversation ON files (org_id, mode, conversation_id, source, id DESC)
  WHERE conversation_id IS NOT NULL;
CREATE INDEX files_by_org ON files (org_id, mode, source, id DESC);
CREATE INDEX files_by_task ON files (org_id, mode, task_id, source, id DESC) WHERE task_id IS NOT NULL;
CREATE INDEX files_by_user ON files (org_id, mode, user_id, source, id DESC);
-- Files of tool results are in no list and are deleted with the trace.
CREATE INDEX files_of_tools_by_age ON files (created_at) WHERE source = 'tool';

-- Appends text of a reply, only for the current owner of the run. It locks the conversation first and then checks the
-- owner, because stopping or taking over a run holds that lock. Returns the row version that it found and the one
-- that it created.
CREATE FUNCTION append_reply_delta(
  conversation text, run text, owner_epoch bigint, event_id text, turn text, delta json, hold uuid, used_so_far json
)
RETURNS TABLE (seq bigint, created_at timestamptz, version_before text, version text) LANGUAGE plpgsql AS $$
DECLARE
  next_seq bigint;
  met_version text;
  next_version text;
BEGIN
  SELECT last_event_seq + 1, xmin::text INTO next_seq, met_version FROM conversations WHERE id = conversation FOR NO KEY UPDATE;
  PERFORM FROM runs WHERE id = run AND epoch = owner_epoch;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE conversations SET last_event_seq = next_seq WHERE id = conversation RETURNING xmin::text INTO next_version;
  IF hold IS NOT NULL THEN
    UPDATE reservations
      SET used = COALESCE(used_so_far, used), expires_at = clock_timestamp() + interval '15 minutes' WHERE id = hold;
  END IF;
  RETURN QUERY INSERT INTO conversation_events AS e (conversation_id, seq, id, type, turn_id, data)
    VALUES (conversation, next_seq, event_id, 'reply.delta', turn, delta) RETURNING e.seq, e.created_at, met_version, next_version;
END $$;

-- ---------------------------------------------------------------------------
-- Computers
-- ---------------------------------------------------------------------------

CREATE SEQUENCE computer_numbers;

-- The computer of each user, and of each org's own agent. Its folder in the data folder is named by its number.
CREATE TABLE computers (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- Empty: the org's own agent.
  user_key text NOT NULL,
  number bigint NOT NULL DEFAULT nextval('computer_numbers') UNIQUE,
  -- The process that runs it, until held_until.
  held_by text,
  held_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- It stays awake at least until then.
  keep_until timestamptz,
  -- Set while it is woken in advance.
  waking_since timestamptz,
  -- The address at which other processes reach the holder.
  held_at text,
  -- Incremented by each new holder. Writes of an earlier holder are refused.
  epoch bigint NOT NULL DEFAULT 0,
  -- The last copy of the home folder in the file store. Preparations after saved_at are not in it.
  saved_name text,
  saved_sha256 text,
  saved_bytes bigint,
  saved_at timestamptz,
  PRIMARY KEY (org_id, mode, user_key)
);
CREATE INDEX computers_waking ON computers (org_id) WHERE waking_since IS NOT NULL;

-- Processes that can run computers, until `seen_until`.
CREATE TABLE computer_hosts (
  id text PRIMARY KEY,
  address text NOT NULL,
  has_browser boolean NOT NULL,
  seen_until timestamptz NOT NULL
);

-- Files, repos, setup scripts, skills and uploads that are on a computer. The row is written afterwards, so a
-- preparation that a crash cut off is done again.
CREATE TABLE computer_preparations (
  org_id text NOT NULL,
  mode text NOT NULL,
  user_key text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('file', 'repo', 'setup', 'skill', 'upload')),
  -- The path; for a setup the hash of the script; for an upload the message and the path.
  key text NOT NULL,
  fingerprint text NOT NULL,
  prepared_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, user_key, kind, key),
  FOREIGN KEY (org_id, mode, user_key) REFERENCES computers ON DELETE CASCADE
);

-- ---------------------------------------------------------------------------
-- Integrations: apps, functions, embedded sessions, clients of other APIs
-- ---------------------------------------------------------------------------

-- Sign-ins of users to apps. All except the newest of a user and app are pending or failed.
CREATE TABLE connections (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  id text NOT NULL,
  -- Empty: the org's own agent.
  user_key text NOT NULL,
  app text NOT NULL,
  -- Tokens are sent to this URL only.
  server_url text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'connected', 'failed')),
  account text,
  return_url text,
  -- SHA-256 of the OAuth state; null once it came back.
  state_hash bytea UNIQUE,
  authorization_server json,
  -- The pending sign-in, then the tokens; null after a failure.
  sealed bytea,
  -- Incremented by each new token.
  token_epoch integer NOT NULL DEFAULT 0,
  token_expires_at timestamptz,
  -- One process renews the token; the others wait until then.
  renewing_until timestamptz,
  -- Of a pending sign-in.
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  auth text NOT NULL DEFAULT 'oauth' CHECK (auth IN ('oauth', 'api_key')),
  renews boolean NOT NULL DEFAULT false,
  -- The last error, in plain words.
  problem text,
  PRIMARY KEY (org_id, mode, id),
  CONSTRAINT connections_sign_in CHECK ((auth = 'api_key') = (authorization_server IS NULL))
);
CREATE INDEX connections_by_age ON connections (updated_at) WHERE status <> 'connected';
CREATE INDEX connections_by_app ON connections (org_id, mode, app, id DESC);
CREATE INDEX connections_by_user ON connections (org_id, mode, user_key, id DESC);
CREATE UNIQUE INDEX connections_in_use ON connections (org_id, mode, user_key, app) WHERE status = 'connected';

-- OAuth clients that this server registered with an app's authorization server, per org.
CREATE TABLE app_clients (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  app text NOT NULL,
  server_url text NOT NULL,
  issuer text NOT NULL,
  redirect_uri text NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, app, server_url, issuer, redirect_uri)
);

-- OAuth clients that an org registered with an app itself. Each belongs to one authorization server, and its secret
-- is sent to no other.
CREATE TABLE own_app_clients (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  app text NOT NULL,
  server_url text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  auth_method text CHECK (auth_method IN ('client_secret_basic', 'client_secret_post', 'none')),
  -- The client secret; null for a public client.
  sealed bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, app)
);

-- The URL that answers the functions of a deployment, per mode.
CREATE TABLE function_endpoints (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  url text NOT NULL,
  -- The last failed call.
  last_failure text,
  last_failed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, deployment_id)
);

-- As for webhooks: a roll sets an end for the secret in use and adds another. Calls are signed with every valid one.
CREATE TABLE function_endpoint_secrets (
  org_id text NOT NULL,
  mode text NOT NULL,
  deployment_id text NOT NULL,
  sealed_secret bytea NOT NULL,
  -- Null for the secret in use.
  valid_until timestamptz,
  PRIMARY KEY (org_id, mode, deployment_id, sealed_secret),
  FOREIGN KEY (org_id, mode, deployment_id) REFERENCES function_endpoints ON DELETE CASCADE
);
CREATE UNIQUE INDEX function_endpoint_secrets_in_use ON function_endpoint_secrets (org_id, mode, deployment_id)
  WHERE valid_until IS NULL;

CREATE TABLE sessions (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  conversation_id text,
  token_hash bytea NOT NULL UNIQUE,
  chat boolean NOT NULL,
  screen text NOT NULL,
  voice text,
  memory boolean NOT NULL,
  driver text NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  deployment_id text,
  -- Greeting and suggestions of the session page.
  opening jsonb,
  -- Number of voice calls begun. Only the last one continues, in whichever process.
  voice_calls integer NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX sessions_by_user ON sessions (org_id, mode, user_id, created_at DESC);

-- Responses of the OpenAI-style and AG-UI routes. A client that resends the whole conversation with each message
-- finds it again by its digest.
CREATE TABLE client_answers (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL,
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  turn_id text NOT NULL,
  after_seq bigint NOT NULL,
  model text NOT NULL,
  tool_names json NOT NULL,
  is_structured boolean NOT NULL,
  is_kept boolean NOT NULL,
  request_digest text NOT NULL,
  talk_digest text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The response that this one continues, as the OpenAI API shows it.
  previous_id text
);
CREATE INDEX client_answers_by_conversation ON client_answers (conversation_id);
CREATE INDEX client_answers_by_request ON client_answers (org_id, mode, request_digest);
CREATE INDEX client_answers_by_talk ON client_answers (org_id, mode, talk_digest) WHERE talk_digest IS NOT NULL;

-- ---------------------------------------------------------------------------
-- Automation: routines, batches, webhooks
-- ---------------------------------------------------------------------------

-- Messages that are sent on a schedule or by a call, per mode.
CREATE TABLE routines (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- Null: the org's own agent.
  user_id text,
  -- Null until a run creates one.
  conversation_id text REFERENCES conversations ON DELETE SET NULL,
  -- Null: the default of the user, then of the org. A routine is deleted with its deployment, because no other agent
  -- was chosen for it.
  deployment_id text REFERENCES deployments ON DELETE CASCADE,
  deployment_version integer CHECK (deployment_version >= 1),
  managed_by text CHECK (managed_by = 'file'),
  name text NOT NULL,
  ask text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('schedule', 'trigger', 'app_event')),
  -- The words that the cron expression was read from.
  every text,
  cron text,
  timezone text,
  -- Whether the routine names a time zone; otherwise the user's applies.
  own_timezone boolean NOT NULL DEFAULT false,
  -- `json` keeps the order of keys.
  filters json,
  enabled boolean NOT NULL DEFAULT true,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'failed')),
  last_run_at timestamptz,
  next_run_at timestamptz,
  run_count integer NOT NULL DEFAULT 0 CHECK (run_count >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Whether the caller named the conversation. A conversation that a run created is replaced if the routine's
  -- deployment changed.
  own_conversation boolean NOT NULL DEFAULT false,
  -- Created by the agent on its user's request.
  made_by_agent boolean NOT NULL DEFAULT false,
  -- Why the last due run did not happen; null after a run.
  last_error json,
  CHECK (deployment_version IS NULL OR deployment_id IS NOT NULL),
  CHECK (managed_by IS NULL OR deployment_id IS NOT NULL),
  CHECK (((kind = 'schedule') = (cron IS NOT NULL)) AND ((cron IS NULL) = (timezone IS NULL))),
  CHECK (kind = 'schedule' OR every IS NULL),
  CHECK (kind <> 'schedule' OR filters IS NULL),
  CHECK (next_run_at IS NULL OR (kind = 'schedule' AND enabled AND status = 'active'))
);
CREATE INDEX routines_by_conversation ON routines (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX routines_by_deployment ON routines (deployment_id) WHERE deployment_id IS NOT NULL;
CREATE INDEX routines_by_user ON routines (org_id, mode, user_id, id DESC);
CREATE INDEX routines_due ON routines (next_run_at) WHERE enabled AND status = 'active' AND next_run_at IS NOT NULL;
-- If thousands are due at once, each org gets its first ones in turn.
CREATE INDEX routines_due_by_org ON routines (org_id, next_run_at)
  WHERE enabled AND status = 'active' AND next_run_at IS NOT NULL;
-- The next apply finds a routine by name and user. Routines created over the API may share both.
CREATE UNIQUE INDEX routines_of_file ON routines (deployment_id, mode, name, COALESCE(user_id, ''))
  WHERE managed_by = 'file';

-- Routines that the agent created in a test. They never run.
CREATE TABLE pretended_routines (
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  id text NOT NULL,
  name text NOT NULL,
  ask text NOT NULL,
  every text,
  cron text NOT NULL,
  timezone text NOT NULL,
  PRIMARY KEY (conversation_id, id)
);

-- One conversation per item. The batch's row is the lock of its slots: lock it, after the conversation if there is
-- one, before giving out a slot.
CREATE TABLE batches (
  org_id text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  id text NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'cancelled', 'completed')),
  deployment_id text REFERENCES deployments ON DELETE SET NULL,
  concurrency integer NOT NULL CHECK (concurrency BETWEEN 1 AND 100),
  item_count integer NOT NULL CHECK (item_count BETWEEN 1 AND 5000),
  metadata json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the batch last looked for items to start.
  advanced_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  -- Set at the end, so that a list of batches reads no items.
  final_counts json,
  final_micros bigint,
  PRIMARY KEY (org_id, mode, id),
  CHECK (status <> 'completed' OR completed_at IS NOT NULL),
  CHECK (((completed_at IS NULL) = (final_counts IS NULL)) AND ((completed_at IS NULL) = (final_micros IS NULL)))
);
CREATE INDEX batches_unfinished ON batches (advanced_at) WHERE completed_at IS NULL;

CREATE TABLE batch_items (
  batch_id text NOT NULL,
  item_index integer NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  -- Null: the org's own agent, or an erased user.
  user_id text,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  -- An item that waits for a person gives up its slot and wants one again after the answer.
  slot text CHECK (slot IN ('held', 'given_up', 'wanted')),
  -- Null once it is in the conversation.
  message text,
  context json,
  metadata json NOT NULL,
  conversation_id text,
  turn_id text,
  task_id text,
  -- Of an item that never became a turn.
  error_code text,
  error_message text,
  -- Set at the end.
  cost_micros bigint,
  finished_at timestamptz,
  PRIMARY KEY (batch_id, item_index),
  CHECK ((status = 'running') = (slot IS NOT NULL)),
  CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
);
CREATE UNIQUE INDEX batch_items_by_turn ON batch_items (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX batch_items_by_user ON batch_items (org_id, mode, user_id) WHERE user_id IS NOT NULL;
-- The org's own agent works on a few items at a time, across batches.
CREATE INDEX batch_items_of_own_agent ON batch_items (org_id, mode) WHERE slot = 'held' AND user_id IS NULL;
CREATE INDEX batch_items_queued ON batch_items (batch_id, item_index)
  WHERE status = 'queued' AND user_id IS NOT NULL;
CREATE INDEX batch_items_queued_of_org ON batch_items (batch_id, item_index)
  WHERE status = 'queued' AND user_id IS NULL;
CREATE INDEX batch_items_running ON batch_items (batch_id, slot) WHERE status = 'running';

-- Webhook endpoints are separate per mode.
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The deployment whose file declares it; null if it was created over the API.
  deployment_id text REFERENCES deployments ON DELETE CASCADE,
  managed_by text CHECK (managed_by = 'file'),
  url text NOT NULL,
  -- Event types, or '*' alone.
  events text[] NOT NULL CHECK (cardinality(events) >= 1),
  description text,
  active boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Since when every attempt failed; null after a success.
  failing_since timestamptz,
  last_failed_at timestamptz,
  CHECK ((managed_by IS NULL) = (deployment_id IS NULL))
);
CREATE INDEX webhook_endpoints_by_org ON webhook_endpoints (org_id, mode, id DESC);
CREATE INDEX webhook_endpoints_of_file ON webhook_endpoints (deployment_id, mode) WHERE deployment_id IS NOT NULL;

-- Signing secrets, sealed under the org's data key and bound to their endpoint. A roll sets an end for the secret in
-- use and adds another. Deliveries are signed with every valid one.
CREATE TABLE webhook_secrets (
  endpoint_id text NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
  sealed_secret bytea NOT NULL,
  -- Null for the secret in use.
  valid_until timestamptz,
  PRIMARY KEY (endpoint_id, sealed_secret)
);
CREATE UNIQUE INDEX webhook_secrets_in_use ON webhook_secrets (endpoint_id) WHERE valid_until IS NULL;

-- Each attempt is a row, written in the transaction of its event. Pending attempts are a partition of their own:
-- finding due attempts reads over dead index entries, and only a small table is vacuumed often enough. No foreign
-- keys: checking them would lock rows that all events of the org share, and endpoint or event may be deleted first.
CREATE TABLE webhook_deliveries (
  org_id text NOT NULL,
  mode text NOT NULL,
  endpoint_id text NOT NULL,
  id text NOT NULL,
  event_id text NOT NULL,
  event_type text NOT NULL,
  -- Counts all attempts for this event and endpoint, manual ones included.
  attempt integer NOT NULL CHECK (attempt >= 1),
  -- Position in the retry schedule; null for a manual attempt, which has no successor.
  step integer CHECK (step >= 1),
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
  status_code integer,
  duration_ms integer,
  error text,
  -- Of a pending attempt its own time, of a failed one that of the next.
  next_attempt_at timestamptz,
  -- A dispatcher may take it from then on and moves it ahead by a lease. `-infinity` is at once, whatever the
  -- dispatcher's clock says. Null when the attempt is over.
  due_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, endpoint_id, id, status),
  CHECK ((status = 'pending') = (due_at IS NOT NULL))
) PARTITION BY LIST (status);

CREATE TABLE webhook_deliveries_pending PARTITION OF webhook_deliveries FOR VALUES IN ('pending');
CREATE INDEX webhook_deliveries_due ON webhook_deliveries_pending (due_at);
CREATE INDEX webhook_deliveries_due_by_endpoint ON webhook_deliveries_pending (endpoint_id, due_at, id);
CREATE INDEX webhook_deliveries_pending_by_event ON webhook_deliveries_pending (event_id, endpoint_id);

CREATE TABLE webhook_deliveries_made PARTITION OF webhook_deliveries FOR VALUES IN ('succeeded', 'failed');
-- For retention.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries_made (created_at);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries_made (event_id, endpoint_id);

-- ---------------------------------------------------------------------------
-- Evaluation: scenarios, test runs, replays, feedback
-- ---------------------------------------------------------------------------

-- Scenarios and test runs are shared by both modes. A run has the mode that it is played and charged in.
CREATE TABLE scenarios (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  name text NOT NULL,
  persona text NOT NULL,
  goal text NOT NULL,
  success_criteria text[] NOT NULL,
  must_never text[] NOT NULL,
  -- `json` keeps the order of keys.
  tool_results json,
  approves boolean,
  managed_by text CHECK (managed_by = 'file'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Answers of tools to particular arguments.
  recorded_calls json
);
CREATE INDEX scenarios_by_deployment ON scenarios (deployment_id, id DESC);
-- The next apply finds a test by its name. Scenarios created over the API may share one.
CREATE UNIQUE INDEX scenarios_of_file ON scenarios (deployment_id, name) WHERE managed_by = 'file';

CREATE TABLE test_runs (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  version integer NOT NULL CHECK (version >= 1),
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  promote_on_pass boolean NOT NULL,
  resumes integer NOT NULL DEFAULT 0 CHECK (resumes >= 0),
  error_code text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Remarks for the reader of the run.
  note text,
  CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE INDEX test_runs_by_deployment ON test_runs (deployment_id, id DESC);
CREATE INDEX test_runs_by_version ON test_runs (deployment_id, version, id DESC);
CREATE INDEX test_runs_open ON test_runs (created_at) WHERE status IN ('queued', 'running');

-- One row per scenario of a run, with the scenario as it was when the run was created. No foreign key: the result
-- stays readable after the scenario was changed or deleted.
CREATE TABLE test_run_results (
  run_id text NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  scenario_id text NOT NULL,
  org_id text NOT NULL,
  scenario json NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  -- The judge's verdict per line; empty until then.
  criteria json NOT NULL DEFAULT '[]',
  must_never json NOT NULL DEFAULT '[]',
  conversation_id text,
  transcript json NOT NULL DEFAULT '[]',
  duration_ms integer NOT NULL DEFAULT 0 CHECK (duration_ms >= 0),
  cost_micros bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  error_code text,
  -- A play that a restart interrupted continues in the same conversation.
  started_at timestamptz,
  -- Details that the code cannot carry, such as which server was unreachable.
  error_message text,
  judged_by text,
  PRIMARY KEY (run_id, scenario_id)
);

-- The test run that a deployment waits for in a mode. A later apply, promotion or rollback in that mode deletes or
-- replaces the row, so that an outdated run promotes nothing.
CREATE TABLE pending_promotions (
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  org_id text NOT NULL,
  run_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, mode)
);

-- Real conversations that another version answers again. A replay belongs to the mode of its conversations. No
-- foreign key to the deployment: erasing a user must find copies of their messages after it was deleted.
CREATE TABLE replays (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  deployment_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'error', 'cancelled')),
  resumes integer NOT NULL DEFAULT 0 CHECK (resumes >= 0),
  error_code text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE INDEX replays_by_deployment ON replays (deployment_id, mode, id DESC);
CREATE INDEX replays_open ON replays (created_at) WHERE status IN ('queued', 'running');

CREATE TABLE replay_talks (
  replay_id text NOT NULL REFERENCES replays ON DELETE CASCADE,
  position integer NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  source_id text NOT NULL,
  user_id text,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'same', 'different', 'failed', 'cancelled')),
  conversation_id text,
  exchanges json NOT NULL DEFAULT '[]',
  judged_by text,
  duration_ms integer NOT NULL DEFAULT 0 CHECK (duration_ms >= 0),
  cost_micros bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  error_code text,
  error_message text,
  started_at timestamptz,
  PRIMARY KEY (replay_id, position)
);
CREATE INDEX replay_talks_by_user ON replay_talks (org_id, mode, user_id) WHERE user_id IS NOT NULL;

-- One rating per message and rater; the last one counts. Deleted with its conversation.
CREATE TABLE message_feedback (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  message_id text NOT NULL,
  deployment_id text NOT NULL,
  deployment_version integer NOT NULL,
  rater_type text NOT NULL CHECK (rater_type IN ('user', 'member', 'key')),
  -- Empty for a user without an id, such as the org's own agent.
  rater_id text NOT NULL,
  rating text NOT NULL CHECK (rating IN ('good', 'bad')),
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (conversation_id, message_id, rater_type, rater_id)
);
CREATE INDEX message_feedback_by_deployment ON message_feedback (org_id, mode, deployment_id, id DESC);
