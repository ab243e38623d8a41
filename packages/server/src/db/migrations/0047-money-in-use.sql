-- What the call behind a hold has used so far, at its prices, and since when a computer runs for it. Whoever stops the run
-- takes the hold away and charges this in one transaction: it is charged once, by whichever process does it. A crash of
-- the database forgets it with the hold, and then nobody pays for it.
ALTER TABLE reservations ADD COLUMN run_id text, ADD COLUMN used json, ADD COLUMN metered_since timestamptz;
CREATE INDEX reservations_by_run ON reservations (run_id) WHERE run_id IS NOT NULL;

-- A charge is rounded to a whole micro-dollar as one sum, so each of its items is the whole number below or above its own
-- price. What was charged before was rounded up item by item, which is within this: no row needs to be looked at.
ALTER TABLE ledger_entries ADD COLUMN is_estimated boolean NOT NULL DEFAULT false;
ALTER TABLE ledger_entries DROP CONSTRAINT ledger_spend_is_its_price;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_spend_is_its_price CHECK (
  account <> 'spend' OR (
    kind IS NOT NULL AND unit IS NOT NULL AND quantity IS NOT NULL AND unit_price_micros IS NOT NULL
    AND quantity >= 0 AND unit_price_micros >= 0 AND abs(amount_micros - quantity * unit_price_micros) < 1
  )
) NOT VALID;

-- Calls that are no step of the run but were paid for in it: one that was stopped or failed, one that judged the work.
ALTER TABLE run_steps ADD COLUMN cache_write_tokens integer NOT NULL DEFAULT 0;
ALTER TABLE run_steps DROP CONSTRAINT run_steps_kind_check;
ALTER TABLE run_steps ADD CONSTRAINT run_steps_kind_check
  CHECK (kind IN ('model', 'summary', 'judge', 'stopped', 'failed')) NOT VALID;

-- As before, and in the same round trip: what the call has used when this text was written. The function of six
-- parameters stays for processes of the version before.
CREATE FUNCTION append_delta(
  conversation text, run text, owner_epoch bigint, event_id text, turn text, delta json, hold uuid, used_so_far json
)
RETURNS TABLE (seq bigint, created_at timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  next_seq bigint;
BEGIN
  SELECT last_event_seq + 1 INTO next_seq FROM conversations WHERE id = conversation FOR NO KEY UPDATE;
  PERFORM FROM runs WHERE id = run AND epoch = owner_epoch;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE conversations SET last_event_seq = next_seq WHERE id = conversation;
  IF hold IS NOT NULL THEN
    UPDATE reservations
      SET used = COALESCE(used_so_far, used), expires_at = clock_timestamp() + interval '15 minutes' WHERE id = hold;
  END IF;
  RETURN QUERY INSERT INTO conversation_events AS e (conversation_id, seq, id, type, turn_id, data)
    VALUES (conversation, next_seq, event_id, 'reply.delta', turn, delta) RETURNING e.seq, e.created_at;
END $$;
