-- Appends text of many replies at once, by the rules of append_reply_delta. It waits for nobody: a conversation that another
-- transaction holds is left out, as is a run with another owner. The caller must name each conversation once.
-- The owners are read by the second statement, whose snapshot is taken after the conversations were locked.
-- The settings keep PostgreSQL from planning each call anew, and from reading whole tables while they look small.
CREATE FUNCTION append_reply_deltas(
  conversation_ids text[], run_ids text[], epochs bigint[], event_ids text[], turn_ids text[], deltas json[], holds uuid[],
  used_so_far json[]
)
RETURNS TABLE (id text, seq bigint, created_at timestamptz, version_before text, version text) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  places bigint[];
  versions text[];
BEGIN
  SELECT array_agg(free.place), array_agg(free.version) INTO places, versions FROM (
    SELECT given.place, c.xmin::text AS version
    FROM unnest(conversation_ids) WITH ORDINALITY AS given (conversation, place)
      JOIN conversations AS c ON c.id = given.conversation
    FOR NO KEY UPDATE OF c SKIP LOCKED
  ) AS free;
  RETURN QUERY
    WITH owned AS MATERIALIZED (
      SELECT given.conversation, given.event, given.turn, given.delta, given.hold, given.used, free.version
      FROM unnest(conversation_ids, run_ids, epochs, event_ids, turn_ids, deltas, holds, used_so_far)
          WITH ORDINALITY AS given (conversation, run, epoch, event, turn, delta, hold, used, place)
        JOIN unnest(places, versions) AS free (place, version) ON free.place = given.place
        JOIN runs ON runs.id = given.run AND runs.epoch = given.epoch
    ),
    moved AS (
      UPDATE conversations AS c SET last_event_seq = c.last_event_seq + 1
      FROM owned WHERE c.id = owned.conversation
      RETURNING c.id, c.last_event_seq, c.xmin::text AS version, owned.version AS version_before, owned.event, owned.turn, owned.delta
    ),
    noted AS (
      UPDATE reservations AS r
      SET used = COALESCE(owned.used, r.used), expires_at = clock_timestamp() + interval '15 minutes'
      FROM owned WHERE r.id = owned.hold
    ),
    written AS (
      INSERT INTO conversation_events (conversation_id, seq, id, type, turn_id, data)
      SELECT moved.id, moved.last_event_seq, moved.event, 'reply.delta', moved.turn, moved.delta FROM moved
    )
    SELECT moved.id, moved.last_event_seq, now(), moved.version_before, moved.version FROM moved;
END $$;
