-- Deployments, their versions and what was live when. All of it is shared by both modes of an org.

-- Versions are numbered from 1 without gaps and are never removed one by one, so every number up to newest_version
-- names a version: the pointers need no foreign keys of their own.
CREATE TABLE deployments (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  newest_version integer NOT NULL DEFAULT 1,
  draft_version integer NOT NULL DEFAULT 1 CHECK (draft_version BETWEEN 1 AND newest_version),
  live_version integer CHECK (live_version BETWEEN 1 AND newest_version),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, slug)
);
CREATE INDEX deployments_by_org ON deployments (org_id, id DESC);
CREATE INDEX deployments_by_name ON deployments (org_id, name, id);

-- Written once and never changed. `json` and not `jsonb`: the keys stay in the order in which they were sent, so that
-- the arguments of a function and the file that is given back read as their author wrote them.
CREATE TABLE deployment_versions (
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  version integer NOT NULL CHECK (version >= 1),
  org_id text NOT NULL,
  note text,
  manifest json NOT NULL,
  -- The file's tests, routines and webhooks, which are no part of the manifest.
  file_objects json NOT NULL,
  changed text[] NOT NULL,
  -- Ids of the MCP servers, skills, notebooks and files that the manifest names.
  uses text[] NOT NULL,
  created_by_type text NOT NULL,
  created_by_id text NOT NULL,
  created_by_name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, version)
);
CREATE INDEX deployment_versions_by_use ON deployment_versions USING gin (uses);

-- A stack: a promotion puts a row on top, a rollback takes the top one away. The row at the top is the live version.
CREATE TABLE live_promotions (
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  height integer NOT NULL CHECK (height >= 1),
  org_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, height)
);

-- The org's default goes with its deployment.
ALTER TABLE orgs ADD CONSTRAINT orgs_default_deployment_fkey
  FOREIGN KEY (default_deployment) REFERENCES deployments ON DELETE SET NULL;
CREATE INDEX orgs_by_default_deployment ON orgs (default_deployment) WHERE default_deployment IS NOT NULL;
