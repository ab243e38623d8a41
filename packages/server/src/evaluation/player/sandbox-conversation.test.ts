import { expect, it } from 'vitest';
import { standInAnswer } from './sandbox-conversation.ts';

const wait = (type: Parameters<typeof standInAnswer>[0]['type'], details: Record<string, unknown> = {}) => ({
  type,
  purpose: type === 'approval' ? ('permission' as const) : ('answer' as const),
  details,
});
const decisionOf = (answer: ReturnType<typeof standInAnswer>) => (answer === 'ask the user' ? answer : answer.decision);

it.each([true, false, null])(
  'approves tools of servers only if the scenario does (%j) [TRUN-011, TRUN-013]',
  (approves) => {
    const answer = standInAnswer(wait('approval', { server: 'shop', tool_name: 'write' }), { approves });
    expect(decisionOf(answer)).toBe(approves === true ? 'approved' : 'denied');
  },
);

it('denies every other approval, also if the scenario approves [TRUN-014]', () => {
  const approves = true;
  const plan = { ...wait('approval', { server: 'shop' }), purpose: 'answer' as const };
  for (const each of [
    wait('approval', { tool_name: 'change' }),
    wait('approval', { server: null }),
    plan,
    wait('connect'),
    wait('handoff'),
  ]) {
    expect(decisionOf(standInAnswer(each, { approves }))).toBe('denied');
  }
});

it('leaves questions to the pretend user and runs no function', () => {
  expect(standInAnswer(wait('question'), { approves: null })).toBe('ask the user');
  expect(standInAnswer(wait('tool_call'), { approves: true })).toMatchObject({ decision: 'answered', is_error: true });
});
