-- Each of these was looked up again for every row that a turn writes, ten times, and each look locks the row it finds: the
-- org's for all turns of that org at once. What they say holds without them. No org is ever deleted, and its id comes from whoever
-- was let in; whoever writes to the log of a conversation holds the conversation's row, as for messages and turns, and
-- whoever erases it holds that row first.
ALTER TABLE events DROP CONSTRAINT events_org_id_fkey;
ALTER TABLE conversations DROP CONSTRAINT conversations_org_id_fkey;
ALTER TABLE conversation_events DROP CONSTRAINT conversation_events_conversation_id_fkey;
