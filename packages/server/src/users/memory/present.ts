import type { FactRow, MemoryItem, ProfileRow } from './tables.ts';

export const presentFact = ({ id, text, kind, source, observed_at }: FactRow): MemoryItem => ({
  object: 'memory',
  id,
  text,
  kind,
  source,
  observed_at: observed_at.toISOString(),
});

export const presentProfile = ({ markdown, updated_at }: ProfileRow) => ({
  markdown,
  updated_at: updated_at.toISOString(),
});
