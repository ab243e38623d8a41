import { describe, expect, it } from 'vitest';
import { type Interview, nextOf, readInterview, withAnswer } from './interview.ts';

const begun: Interview = { deployment: 'shop', description: 'Sells.', answers: [], latest: null };
const answered = (count: number, latest: Interview['latest'] = null): Interview => ({
  ...begun,
  answers: Array.from({ length: count }, (_, at) => ({ question: `Q${at}`, answer: `A${at}` })),
  latest,
});
const asking = (question: string) => ({ status: 'asking' as const, question, file: null, dropped: [] });

describe('the next step', () => {
  it.each([0, 4])('is a question after %i answers [ITV-011]', (count) => expect(nextOf(answered(count))).toBe('ask'));
  it.each([5, 7])('may be the end after %i', (count) => expect(nextOf(answered(count))).toBe('ask or end'));
  it.each([8, 20])('is the end after %i [ITV-011]', (count) => expect(nextOf(answered(count))).toBe('end'));
  it('is the end once the file was ready, also after a remark', () => {
    const ready = answered(5, { status: 'ready', question: null, file: { name: 'shop' }, dropped: [] });
    expect(nextOf(withAnswer(ready, 'Shorter.'))).toBe('end');
  });
});

it('reads an interview from its messages, each answer with its question', () => {
  const user = (text: string, context: Record<string, unknown> | null = null) => ({
    role: 'user',
    text,
    context,
    data: null,
  });
  const agent = (question: string) => ({ role: 'agent', text: question, context: null, data: asking(question) });
  const said = [user('Sells.', { deployment: 'shop' }), agent('Who?'), user('Cyclists'), agent('When?'), user('Daily')];
  expect(readInterview(said)).toEqual({
    deployment: 'shop',
    description: 'Sells.',
    answers: [
      { question: 'Who?', answer: 'Cyclists' },
      { question: 'When?', answer: 'Daily' },
    ],
    latest: asking('When?'),
  });
  expect(readInterview([user('Hello')])).toBeNull();
  expect(readInterview([])).toBeNull();
});
