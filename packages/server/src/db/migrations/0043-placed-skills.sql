-- Skills that were put on a computer: by the name of their folder, with the hash of what lies there.
ALTER TABLE computer_preparations DROP CONSTRAINT computer_preparations_kind_check;
ALTER TABLE computer_preparations ADD CONSTRAINT computer_preparations_kind_check
  CHECK (kind IN ('file', 'repo', 'setup', 'skill', 'upload'));
