import { mapLimited } from '../../async/map-limited.ts';
import { type Asked, judgeLine, type Transcript } from '../engine/api.ts';
import type { PlayedScenario } from './tables.ts';
import type { Findings } from './verdict.ts';

const sideBySide = 4;

/** Each line is judged by a call of its own. */
export async function judgeScenario(
  ask: (asked: Asked) => Promise<string>,
  { success_criteria, must_never }: Pick<PlayedScenario, 'success_criteria' | 'must_never'>,
  transcript: Transcript['witnessed'],
): Promise<Findings> {
  const lines = [
    ...success_criteria.map((text) => ({ kind: 'criterion' as const, text })),
    ...must_never.map((text) => ({ kind: 'must_never' as const, text })),
  ];
  const found = await mapLimited(sideBySide, lines, async (line) => {
    const { holds, reason } = await judgeLine(ask, { line, transcript });
    return { text: line.text, holds, reason };
  });
  return { criteria: found.slice(0, success_criteria.length), mustNever: found.slice(success_criteria.length) };
}
