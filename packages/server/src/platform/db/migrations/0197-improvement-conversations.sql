-- The conversations that insights quote and improvements use. New rows and old ones allow all, as before.
ALTER TABLE org_settings ADD COLUMN improvement_conversations text NOT NULL DEFAULT 'all'
  CHECK (improvement_conversations IN ('all', 'rated', 'none'));
