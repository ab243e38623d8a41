-- Which models answer while the vendor of a deployment's own is away: by its slug, or * for all that are not named.
ALTER TABLE org_settings ADD COLUMN model_fallbacks jsonb NOT NULL DEFAULT '{}';
