-- Who works on what right now. Each takeover raises the epoch, and a step is written only under the epoch that owns its
-- run, so a process that was frozen or cut off and wakes up writes nothing.

-- One sequence for all runs: a run that ended and starts again never gets an epoch that somebody may still hold.
CREATE SEQUENCE run_epochs AS bigint;

CREATE TABLE runs (
  id text PRIMARY KEY,
  epoch bigint NOT NULL,
  owner text NOT NULL,
  lease_until timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX runs_by_lease ON runs (lease_until);
