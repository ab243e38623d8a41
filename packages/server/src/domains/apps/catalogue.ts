import { readFileSync } from 'node:fs';
import { text } from '@vestra/contract/text';
import { z } from 'zod';
import { StartFailure } from '../../db/start-failure.ts';
import type { App } from './app.ts';
import { knownApps } from './known-apps.ts';

export type Catalogue = {
  /** By id. */
  all: readonly App[];
  find: (id: string) => App | undefined;
};

const entry = z.strictObject({
  id: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,39}$/,
      'must be lowercase letters, digits and dashes, a letter or digit first, at most 40',
    ),
  name: text(1, 120),
  description: text(0, 500).default(''),
  url: z.string(),
  icon_url: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .nullable()
    .default(null),
  connectable: z.boolean().default(true),
});

/** The apps that come with the service, and those of the operator's file, which come before them. */
export function readCatalogue({
  file,
  refuseAddress,
}: {
  file: string | null;
  /** Why this address must not be called; null where it may. */
  refuseAddress: (url: string) => string | null;
}): Catalogue {
  const own = file === null ? [] : readApps(file, refuseAddress);
  const byId = new Map([...knownApps, ...own].map((app) => [app.id, app]));
  const all = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return { all, find: (id) => byId.get(id) };
}

function readApps(file: string, refuseAddress: (url: string) => string | null): App[] {
  const result = z.array(entry).max(1000).safeParse(parsed(file));
  if (!result.success) {
    const [first] = result.error.issues;
    const where = first?.path.length ? `\`${first.path.join('.')}\` of ` : '';
    throw new StartFailure(
      `${where}VESTRA_APPS_FILE (${file}) is not valid: ${first?.message}. It is a JSON list of {id, name, url} with description, icon_url and connectable where wanted.`,
    );
  }
  const ids = new Set<string>();
  for (const [at, { id, url }] of result.data.entries()) {
    const refusal = refuseAddress(url);
    if (refusal !== null) throw new StartFailure(`\`${at}.url\` of VESTRA_APPS_FILE (${file}) is refused: ${refusal}`);
    if (ids.has(id)) throw new StartFailure(`VESTRA_APPS_FILE (${file}) has the app \`${id}\` twice.`);
    ids.add(id);
  }
  return result.data;
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code;
    throw new StartFailure(`VESTRA_APPS_FILE (${file}) cannot be read: ${reason}.`);
  }
}
