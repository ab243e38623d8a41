-- Which agent answers in a session, and what its page says before the first message.
ALTER TABLE sessions
  ADD COLUMN deployment_id text,
  ADD COLUMN opening jsonb;
UPDATE sessions SET deployment_id = conversations.deployment_id
FROM conversations WHERE conversations.id = sessions.conversation_id;

-- A user's newest session is looked for when one asks to go on where the last ended.
DROP INDEX sessions_by_user;
CREATE INDEX sessions_by_user ON sessions (org_id, mode, user_id, created_at DESC);

-- What pages say first: by the slug of a deployment, or * for all that are not named.
ALTER TABLE org_settings ADD COLUMN openings jsonb NOT NULL DEFAULT '{}';

-- A browser asks, before it sends a token, whether pages of an origin may: it is not known then of which org.
CREATE INDEX org_settings_by_embed_origin ON org_settings USING gin (allowed_embed_origins);
