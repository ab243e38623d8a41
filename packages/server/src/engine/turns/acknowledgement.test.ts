import { expect, it } from 'vitest';
import { acknowledgementIn } from './acknowledgement.ts';

it.each<[locale: string | null, language: string, message: string, said: RegExp]>([
  // The user's locale comes first, then the language of the agent, then a guess.
  ['fr', 'auto', 'Résume ce document', /résultat/],
  ['fr-CA', 'de', 'Please do it.', /résultat/],
  ['pt_BR', 'auto', 'Do it', /cuidando/],
  ['en', 'auto', 'Preciso de um relatório sobre o mercado.', /^I am on it/],
  ['sv', 'de', 'Do it', /Ergebnis/],
  ['sv', 'auto', 'Schreib mir bitte einen Bericht.', /Ergebnis/],
  ['constructor', 'auto', '', /^I am on it/],
  [null, 'de', '', /Ergebnis/],
  [null, 'de-AT', 'Please do it.', /Ergebnis/],
  [null, 'pt-BR', '', /resultado/],
  [null, 'ar', '', /\p{Script=Arabic}/u],
  [null, 'sv', '', /^I am on it/],
  [null, 'constructor', '', /^I am on it/],
  [null, 'auto', 'Write a report about the market for bicycles, please.', /^I am on it/],
  [null, 'auto', 'Schreib mir bitte einen Bericht über Fahrräder.', /Ergebnis/],
  [null, 'auto', 'Quiero un informe sobre el mercado, por favor.', /vuelvo/],
  [null, 'auto', 'Écris un rapport sur le marché pour moi, s’il te plaît.', /résultat/],
  [null, 'auto', 'Preciso de um relatório sobre o mercado.', /cuidando/],
  [null, 'auto', '市場についてレポートを書いてください。', /結果/],
  [null, 'auto', 'मेरे लिए एक रिपोर्ट लिखो।', /नतीजा/],
  [null, 'auto', 'اكتب لي تقريرا', /\p{Script=Arabic}/u],
  [null, 'auto', 'Report 2026', /^I am on it/],
  [null, 'auto', 'Do it', /^I am on it/],
  [null, 'auto', 'Run a check on e', /^I am on it/],
  [null, 'auto', '', /^I am on it/],
])(
  'acknowledges a task in the language of the user, of the agent or of the message: %s, %s, %s [TASK-240]',
  (locale, language, message, said) => {
    expect(acknowledgementIn({ locale, language, message })).toMatch(said);
  },
);
