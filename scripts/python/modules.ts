/** Every generated file of the Python client, by path; null for a file to be deleted. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RouteRow, routes } from '@vestra/contract/api';
import { errorCatalogue, errorTypes } from '@vestra/contract/errors';
import { events as eventRows, streamEvent } from '@vestra/contract/events';
import { answerTypes } from './answers.ts';
import { inputTypes } from './inputs.ts';
import { familyModule } from './methods.ts';
import { pascal, quoted, snake } from './names.ts';
import { schemaOf } from './schemas.ts';

const root = join(import.meta.dirname, '../..');
const folder = 'packages/python/src/vestra';

export function pythonModules(): Record<string, string | null> {
  const families = [...new Set(routes.map(({ family }) => family))];
  const rowsOf = (family: string) => routes.filter((row) => row.family === family);
  const answers = answerTypes(
    routes.map(({ name, family, route }) => ({ family, call: name, schema: schemaOf(route.response, 'output') })),
  );
  answers.addEvents('StreamEvent', '', schemaOf(streamEvent, 'output'), 'One event of a conversation.');
  answers.addEvents(
    'WebhookEvent',
    'Webhook',
    schemaOf(eventRows.get.response, 'output'),
    'One event as it is delivered to a webhook endpoint.',
  );
  const inputs = inputTypes();
  const groups = families.map((family): [string, string] => [
    `${folder}/resources/${snake(family)}.py`,
    familyModule(family, rowsOf(family), answers, inputs),
  ]);
  const made = Object.fromEntries(groups);
  const gone = globSync(`${folder}/resources/*.py`, { cwd: root }).filter(
    (file) => !(file in made) && !file.endsWith('__init__.py'),
  );
  return {
    ...made,
    ...Object.fromEntries(gone.map((file) => [file, null])),
    [`${folder}/types.py`]: answers.module(),
    [`${folder}/params.py`]: inputs.module(),
    [`${folder}/_groups.py`]: groupsModule(families),
    [`${folder}/_error_codes.py`]: errorCodesModule(),
    [`${folder}/_version.py`]: versionModule(),
  };
}

/** The groups as attributes of each client. */
function groupsModule(families: readonly RouteRow['family'][]): string {
  const imports = families
    .map((family) => `from .resources.${snake(family)} import Async${pascal(family)}, ${pascal(family)}`)
    .sort();
  const classOf = (name: string, prefix: string) => [
    `class ${name}:`,
    `    """Every family of routes as a group of methods."""`,
    '',
    ...families.map((family) => `    ${snake(family)}: ${prefix}${pascal(family)}`),
    '',
    `    def _add_groups(self, transport: Transport) -> None:`,
    ...families.map((family) => `        self.${snake(family)} = ${prefix}${pascal(family)}(transport)`),
  ];
  return `${[
    '"""Written by `npm run fix` from the contract."""',
    '',
    'from __future__ import annotations',
    '',
    'from ._transport import Transport',
    ...imports,
    '',
    '',
    ...classOf('Groups', ''),
    '',
    '',
    ...classOf('AsyncGroups', 'Async'),
  ].join('\n')}\n`;
}

function errorCodesModule(): string {
  const literal = (name: string, values: readonly string[]) =>
    [`${name} = Literal[`, ...values.map((value) => `    ${quoted(value)},`), ']'].join('\n');
  return `${[
    '"""Written by `npm run fix` from the contract."""',
    '',
    'from typing import Literal',
    '',
    literal('ErrorType', [...errorTypes, 'connection']),
    '',
    "# The last three are the client's own: no answer came, or none of the service.",
    literal('ErrorCode', [...Object.keys(errorCatalogue), 'connection_failed', 'timed_out', 'unexpected_answer']),
  ].join('\n')}\n`;
}

function versionModule(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return `"""Written by \`npm run fix\` from package.json."""\n\nVERSION = ${quoted(version)}\n`;
}
