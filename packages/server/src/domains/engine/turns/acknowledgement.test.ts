import { expect, it } from 'vitest';
import { acknowledgementIn } from './acknowledgement.ts';

it.each([
  ['de', /Ergebnis/],
  ['de-AT', /Ergebnis/],
  ['pt-BR', /resultado/],
  ['ar', /\p{Script=Arabic}/u],
  ['auto', /^I am on it/],
  ['sv', /^I am on it/],
  ['constructor', /^I am on it/],
])(
  'work that begins without a word of the model is acknowledged in the agent’s language: %s [TASK-240]',
  (language, said) => {
    expect(acknowledgementIn(language)).toMatch(said);
  },
);
