-- Days after which a conversation without activity is deleted; null: never.
ALTER TABLE org_settings ADD COLUMN conversation_retention_days integer
  CHECK (conversation_retention_days BETWEEN 1 AND 36500);
