import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalogue } from '@vestra/models/catalogue/catalogue';
import { afterAll, expect, it } from 'vitest';
import { welcome } from '../../main/welcome.ts';
import { StartFailure } from '../db/start-failure.ts';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-models-file-'));
const file = join(folder, 'models.json');
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  [
    'a field that is wrong',
    '[{"id":"gpt-5","price":{"input":1}}]',
    'Entry 1 (gpt-5), field price.output: must be a number.',
  ],
  ['neither JSON nor YAML', '{"models": [', 'cannot be read: it is neither JSON nor YAML.'],
  ['an alias that unfolds without end', 'a: &a [1]\nmodels: [*a, *a]', 'cannot be read'],
])('a file with %s stops the start and says where [MOD-202]', (_what, text, sentence) => {
  writeFileSync(file, text);
  const read = () => readConfig({ VESTRA_MODELS_FILE: file });
  expect(read).toThrow(StartFailure);
  expect(read).toThrow(sentence);
  expect(read).toThrow(`VESTRA_MODELS_FILE (${file})`);
});

it('a file that is not there stops the start [MOD-202]', () => {
  expect(() => readConfig({ VESTRA_MODELS_FILE: join(folder, 'none.yaml') })).toThrow('cannot be read: ENOENT.');
});

it('the start says what retires soon and what is no default any more [MOD-205, MOD-206]', () => {
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const later = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
  writeFileSync(
    file,
    JSON.stringify([
      { id: 'soon', provider: 'openai', like: 'gpt-6-luna', retires_on: soon, replacement: 'gpt-6-luna' },
      { id: 'later', provider: 'openai', like: 'gpt-6-luna', retires_on: later },
      { id: 'gone', provider: 'openai', like: 'gpt-6-luna', retires_on: '2026-01-31', replacement: 'gpt-6-luna' },
    ]),
  );
  const config = readConfig({ OPENAI_API_KEY: 'sk-x', VESTRA_MODELS_FILE: file, VESTRA_DEFAULT_MODEL: 'gone' });
  const catalogue = createCatalogue(config.models);
  const nothing = async () => {};
  const compatibleProblem = async () => null;
  const server = {
    url: 'http://x',
    firstCredentials: null,
    catalogue,
    compatibleProblem,
    stop: nothing,
    stopAtOnce: nothing,
  };
  const text = welcome(config, server, { compatibleProblem: null, isTerminal: true });
  expect(text).toContain(
    'VESTRA_DEFAULT_MODEL is gone. The model `gone` was retired on 2026-01-31. Use `gpt-6-luna`. Until then agents answer with gpt-6-luna.',
  );
  expect(text).toContain(`The model \`soon\` retires on ${soon}. Use \`gpt-6-luna\`.`);
  expect(text).not.toContain('`later`');
});
