-- Double entry: the rows of one transfer sum to zero, and a transfer is named by the id of its wallet row. Nothing is
-- ever updated but the user of an erased person, so balances can always be added up again from the start.
-- No foreign key to orgs here, on unfolded_entries or on reservations: checking it locks the org's row, and every
-- charge of a busy org would meet there.
CREATE TABLE ledger_entries (
  id text PRIMARY KEY,
  transfer_id text NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  account text NOT NULL CHECK (account IN ('wallet', 'spend', 'funding')),
  amount_micros bigint NOT NULL,
  -- The rest describes a charge and stands on its `spend` rows alone.
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
  CONSTRAINT ledger_spend_is_its_price CHECK (
    account <> 'spend' OR (
      kind IS NOT NULL AND unit IS NOT NULL AND quantity IS NOT NULL AND unit_price_micros IS NOT NULL
      AND quantity >= 0 AND unit_price_micros >= 0 AND amount_micros = ceil(quantity * unit_price_micros)
    )
  )
);
CREATE INDEX ledger_spend_by_time ON ledger_entries (org_id, mode, created_at) WHERE account = 'spend';
CREATE INDEX ledger_spend_by_task ON ledger_entries (task_id, id DESC) WHERE account = 'spend' AND task_id IS NOT NULL;
CREATE INDEX ledger_spend_by_conversation ON ledger_entries (conversation_id, id DESC)
  WHERE account = 'spend' AND conversation_id IS NOT NULL;
CREATE INDEX ledger_spend_by_user ON ledger_entries (org_id, mode, user_id, created_at) WHERE account = 'spend';

-- Transfers wait here until the fold adds them to the totals below: charging locks no hot row.
-- user_id is '' for the org's own agent.
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

-- Also the lock of the fold: whoever writes wallets or spend_days of an org and mode holds this row first.
CREATE TABLE wallets (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  balance_micros bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, mode)
);

-- user_id '*' holds the whole org's day, '' the day of the org's own agent. Days are UTC.
CREATE TABLE spend_days (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text NOT NULL,
  day date NOT NULL,
  spend_micros bigint NOT NULL,
  PRIMARY KEY (org_id, mode, user_id, day)
);

-- What running calls may still cost. Unlogged, so that holding money before a call waits for no disk: a crash of the
-- database empties the table, and what it forgets then is a bound on calls in flight, never money.
CREATE UNLOGGED TABLE reservations (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text NOT NULL,
  amount_micros bigint NOT NULL CHECK (amount_micros >= 0),
  expires_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX reservations_by_org ON reservations (org_id, mode);

-- A threshold or cap is told once per period: the row is the proof that it was. threshold 100 is the cap itself;
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
