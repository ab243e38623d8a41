-- Ends a group of statements whose writer relied on what is no longer so.
CREATE FUNCTION expect_that(holds boolean, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF holds IS NOT TRUE THEN
    RAISE EXCEPTION 'No longer so: %.', what USING ERRCODE = 'VS001';
  END IF;
END $$;

-- As append_delta, and answers which version of the conversation's row it met and which it made. The older one stays for processes of the
-- version before, which may still run.
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
