-- Previews of the conversations that older versions created. Until it ends, these cannot be deleted. Messages do not wait.
INSERT INTO conversation_previews (conversation_id, org_id, mode, preview, words)
SELECT c.id, c.org_id, c.mode, first.preview, to_tsvector('simple', lower(first.preview))
FROM conversations c
CROSS JOIN LATERAL (
  SELECT left(btrim(regexp_replace(left(m.text, 1000), '\s+', ' ', 'g')), 200) AS preview FROM turns t
  JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = t.message_id
  WHERE t.conversation_id = c.id AND t.ordinal = 1
) AS first
WHERE first.preview <> ''
ON CONFLICT DO NOTHING;
