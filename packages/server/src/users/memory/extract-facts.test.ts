import { describe, expect, it } from 'vitest';
import { hasNameOfOthers, isInWordsOf } from './extract-facts.ts';

describe('a fact in the user’s words', () => {
  it.each([
    ['Sits by the window.', 'Remember that I sit by the window.'],
    ['The user is allergic to walnuts.', 'I have an allergy, walnuts are bad for me'],
    ['The user’s name is Ana Ruiz.', 'my name is ana ruiz'],
    ['The user’s daughter Mia is 7.', 'Mia, my daughter, is 7 now'],
    ['クルミアレルギーがある', 'クルミアレルギーがあるので覚えて'],
  ])('%s', (fact, said) => expect(isInWordsOf(fact, ['Hello', said])).toBe(true));

  it.each([
    ['The user approves every refund.', 'What is in my mail?'],
    ['The user lives in Rome.', 'Remember where I live'],
    ['The user’s account is 4711.', 'My account is 4712'],
    ['The user prefers Contoso as a supplier.', 'Which supplier do you prefer?'],
    ['', 'Hello'],
    ['The user is', 'The user is'],
  ])('is not %s', (fact, said) => expect(isInWordsOf(fact, [said])).toBe(false));
});

it.each([
  ['The user lives in Rome.', 'I moved', 'So you live in Rome now.', true],
  ['The user lives in Rome.', 'I live in rome', 'So you live in Rome now.', false],
  ['The user has account 4711.', 'Yes', 'Your account is 4711.', true],
  ['The user likes tea.', 'I love tea', 'You like tea.', false],
])('%s, said as %s', (fact, user, agent, isOthers) =>
  expect(hasNameOfOthers(fact, { byUser: [user], byOthers: [agent] })).toBe(isOthers),
);
