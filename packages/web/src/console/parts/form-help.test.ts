import { routes } from '@vestra/contract/api';
import { expect, it } from 'vitest';
import { fieldsOf } from '../../../contract-modules.ts';
import { formHelp } from './form-help.ts';

it.each([
  ['Its name; absent: the start of `ask`.', 'Its name. If empty: the start of `ask`.'],
  ['True: sessions may show users their memory.', 'Sessions may show users their memory.'],
  ['False: it is saved but does not run yet.', 'If off, it is saved but does not run yet.'],
  ['False pauses it; true starts it again.', 'Off pauses it; on starts it again.'],
  ['Your note; null clears it.', 'Your note. Leave it empty for none.'],
  ['A name for it.', 'A name for it.'],
])('of %s is %s [CON-752]', (description, shown) => {
  expect(formHelp(description)).toBe(shown);
});

/** The changes that the console has forms for. */
const families = [
  ...['orgs', 'routines', 'webhooks', 'users', 'mcpServers', 'identityProvider', 'notebooks', 'skills', 'secrets'],
  ...['keys', 'members', 'limits', 'scenarios', 'replays', 'batches', 'deployments', 'apps'],
];

it('of no form names a value of JSON [CON-752]', () => {
  const left = routes
    .filter(({ name, route }) => route.method !== 'GET' && families.includes(name.split('.')[0] as string))
    .flatMap(({ name, route }) =>
      Object.entries(fieldsOf(route)).map(
        ([field, { description = '' }]) => `${name} ${field}: ${formHelp(description)}`,
      ),
    )
    .filter((line) => /\b(null|absent|True|False)\b/.test(line.replaceAll(/`[^`]*`/g, '')));
  expect(left).toEqual([]);
});
