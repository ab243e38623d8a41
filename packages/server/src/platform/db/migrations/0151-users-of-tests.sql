-- The user that a test of a file is played as: an id, and references to secrets of the company by the names of the user's.
ALTER TABLE scenarios ADD COLUMN IF NOT EXISTS acts_as json;
