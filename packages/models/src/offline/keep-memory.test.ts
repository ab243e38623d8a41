import { describe, expect, it } from 'vitest';
import { answer, user } from './offline-model.fixture.ts';

const schema = {
  type: 'object',
  properties: {
    facts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, kind: { type: 'string' }, said_by_user: { type: 'boolean' } },
        required: ['text', 'kind', 'said_by_user'],
      },
    },
    outdated: { type: 'array', items: { type: 'integer' } },
  },
  required: ['facts', 'outdated'],
};

async function kept(lines: string[], known: string[] = []) {
  const facts = known.map((text, at) => `${at + 1}. ${text}`).join('\n');
  const message = `<data-1 of="known facts">\n${facts}\n</data-1>\n\n<data-2 of="conversation">\n${lines.join('\n')}\n</data-2>`;
  const { text } = await answer([user(message)], { purpose: 'keep_memory', outputSchema: schema });
  const { facts: found, outdated } = JSON.parse(text);
  expect(outdated).toEqual([]);
  return found.map((fact: { text: string; kind: string }) => [fact.text, fact.kind]);
}

describe('keepMemory', () => {
  it('keeps what the user said about themselves', async () => {
    expect(await kept(['User: My name is Ana and I am allergic to nuts', 'Agent: Noted.'])).toEqual([
      ['The user’s name is Ana.', 'identity'],
      ['The user is allergic to nuts.', 'identity'],
    ]);
    expect(
      await kept([
        'User: Hi! I live in Oslo. Please remember that I prefer tea.',
        'I never eat fish, and my sister is Eva.',
        'Agent: I live in a computer.',
        "User: I don't eat meat; call me Joe.",
      ]),
    ).toEqual([
      ['The user lives in Oslo.', 'identity'],
      ['The user prefers tea.', 'preference'],
      ['The user never eats fish.', 'preference'],
      ['The user’s sister is Eva.', 'relationship'],
      ['The user does not eat meat.', 'preference'],
      ['The user’s name is Joe.', 'identity'],
    ]);
  });

  it.each([
    'What is the weather in Oslo?',
    'Do I like tea?',
    'I have a question about my order',
    'I want to return the lamp',
    'Where is my parcel?',
    'Thanks',
    '',
  ])('keeps nothing of %j', async (said) => {
    expect(await kept([`User: ${said}`, 'Agent: My name is Vestra and I like tea.'])).toEqual([]);
  });

  it('keeps nothing that is already known', async () => {
    expect(await kept(['User: I am allergic to nuts.'], ['The user is allergic to nuts.', 'I like tea.'])).toEqual([]);
  });
});
