import type { Command } from '@vestra/contract/derive/commands';
import type { Terminal } from './terminal.ts';

/** Prompts for a missing secret value without echo: as a flag it would stay in the shell history. */
export async function withSecret(
  { isInteractive }: Terminal,
  { name }: Command,
  flags: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const isGiven = flags.value !== undefined || flags.body !== undefined;
  if (name !== 'secrets set' || isGiven || !isInteractive) return flags;
  const { askHidden } = await import('./prompts.ts');
  return { ...flags, value: await askHidden('The value') };
}
