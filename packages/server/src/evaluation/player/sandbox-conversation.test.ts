import { expect, it } from 'vitest';
import { standInAnswer } from './sandbox-conversation.ts';

const wait = (type: Parameters<typeof standInAnswer>[0]['type'], details: Record<string, unknown> = {}) => ({
  type,
  purpose: type === 'approval' ? ('permission' as const) : ('answer' as const),
  details,
});
const decisionOf = (answer: ReturnType<typeof standInAnswer>) => (answer === 'ask the user' ? answer : answer.decision);

it.each([true, false, null])(
  'approves functions and tools of servers only if the scenario does (%j) [TRUN-011, TRUN-013, TRUN-702]',
  (approves) => {
    for (const details of [{ server: 'shop', tool_name: 'write' }, { tool_name: 'change' }]) {
      const answer = standInAnswer(wait('approval', details), { approves, functions: ['change'] });
      expect(decisionOf(answer)).toBe(approves === true ? 'approved' : 'denied');
    }
  },
);

it('denies every other approval, also if the scenario approves [TRUN-014]', () => {
  const approves = true;
  const plan = { ...wait('approval', { server: 'shop' }), purpose: 'answer' as const };
  for (const each of [
    wait('approval', { tool_name: 'run_command' }),
    wait('approval', { server: null }),
    { ...wait('approval', { tool_name: 'change' }), purpose: 'answer' as const },
    plan,
    wait('connect'),
    wait('handoff'),
  ]) {
    expect(decisionOf(standInAnswer(each, { approves, functions: ['change'] }))).toBe('denied');
  }
});

it('leaves questions to the pretend user and runs no function', () => {
  expect(standInAnswer(wait('question'), { approves: null, functions: [] })).toBe('ask the user');
  expect(standInAnswer(wait('tool_call'), { approves: true, functions: [] })).toMatchObject({
    decision: 'answered',
    is_error: true,
  });
});
