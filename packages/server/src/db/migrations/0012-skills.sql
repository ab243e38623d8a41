-- Skills are shared by both modes of an org.
CREATE TABLE skills (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  -- The name in SKILL.md.
  slug text NOT NULL,
  description text NOT NULL,
  -- Of the current version: its place in the chain, and the hash of its files.
  version_number integer NOT NULL DEFAULT 1 CHECK (version_number >= 1),
  hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, slug)
);
CREATE INDEX skills_by_org ON skills (org_id, id DESC);

-- Numbered from 1 without gaps; each names the one before. Files that come back have the hash they had before.
CREATE TABLE skill_versions (
  skill_id text NOT NULL REFERENCES skills ON DELETE CASCADE,
  number integer NOT NULL CHECK (number >= 1),
  hash text NOT NULL,
  parent_hash text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (skill_id, number),
  CHECK ((parent_hash IS NULL) = (number = 1))
);

-- The text of files, once per org however many versions and skills hold it.
CREATE TABLE skill_texts (
  org_id text NOT NULL REFERENCES orgs,
  sha256 text NOT NULL,
  bytes integer NOT NULL CHECK (bytes BETWEEN 0 AND 1048576),
  content text NOT NULL,
  PRIMARY KEY (org_id, sha256)
);

-- The files behind a hash; two versions with the same hash share them.
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
