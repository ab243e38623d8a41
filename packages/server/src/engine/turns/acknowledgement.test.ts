import { expect, it } from 'vitest';
import { acknowledgementIn } from './acknowledgement.ts';

it.each([
  ['de', '', /Ergebnis/],
  ['de-AT', 'Please do it.', /Ergebnis/],
  ['pt-BR', '', /resultado/],
  ['ar', '', /\p{Script=Arabic}/u],
  ['sv', '', /^I am on it/],
  ['constructor', '', /^I am on it/],
  ['auto', 'Write a report about the market for bicycles, please.', /^I am on it/],
  ['auto', 'Schreib mir bitte einen Bericht über Fahrräder.', /Ergebnis/],
  ['auto', 'Quiero un informe sobre el mercado, por favor.', /vuelvo/],
  ['auto', 'Écris un rapport sur le marché pour moi, s’il te plaît.', /résultat/],
  ['auto', 'Preciso de um relatório sobre o mercado.', /cuidando/],
  ['auto', '市場についてレポートを書いてください。', /結果/],
  ['auto', 'मेरे लिए एक रिपोर्ट लिखो।', /नतीजा/],
  ['auto', 'اكتب لي تقريرا', /\p{Script=Arabic}/u],
  ['auto', 'Report 2026', /^I am on it/],
  ['auto', '', /^I am on it/],
])(
  'acknowledges a task in the language of the agent or of the message: %s, %s [TASK-240]',
  (language, message, said) => {
    expect(acknowledgementIn(language, message)).toMatch(said);
  },
);
