import { routes } from '@vestra/contract/api';
import type { TestServer } from './server.ts';

/** Ids that appear in a text, such as `conv_…`. */
export const idsIn = (text: string): string[] => text.match(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{24}\b/g) ?? [];

/** Pages for browsers, pictures, and addresses elsewhere. */
const isSkipped = (path: string) => /callback|screen|\.well-known|\/v1\/browser|\/v1\/a2a/.test(path);

/** The values of parameters that accept more than an id. */
const beginnings: Readonly<Record<string, RegExp>> = {
  deployment_id: /^dep_/,
  turn_id: /^turn_/,
  user_id: /^user-/,
  version: /^\d+$/,
  name: /^[A-Z_]+$/,
};

/** The newest objects of each kind are enough. */
const maxPerRoute = 40;

/**
 * Calls every GET route that a key may call, with every id that fits it. Returns the paths whose response contains the text.
 */
export async function routesWith(
  { url, testKey }: Pick<TestServer, 'url' | 'testKey'>,
  text: string,
  names: readonly string[],
): Promise<{ found: string[]; called: number }> {
  const paths = pathsOfGets(names);
  const found: string[] = [];
  for (const path of paths) {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${testKey}` } });
    // The test follows the streams of conversations itself.
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body?.cancel();
    else if ((await response.text()).includes(text)) found.push(path);
  }
  return { found, called: paths.length };
}

const pathsOfGets = (names: readonly string[]): string[] =>
  routes
    .filter(({ route }) => route.method === 'GET' && route.auth === 'key' && !isSkipped(route.path))
    .flatMap(({ route }) => pathsOf(route, names));

/** The answer of every GET route that a key may call, with every id that fits it. Streams are left out. */
export async function answersOf(
  { url }: Pick<TestServer, 'url'>,
  key: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const path of pathsOfGets(names)) {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body?.cancel();
    else answers.set(path, `${response.status} ${await response.text()}`);
  }
  return answers;
}

function pathsOf({ path, params, query }: (typeof routes)[number]['route'], names: readonly string[]): string[] {
  let paths: string[] = [path];
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const schema = params?.shape[name];
    const fits = names.filter((each) =>
      beginnings[name] ? beginnings[name].test(each) : schema?.safeParse(each).success === true,
    );
    paths = paths.flatMap((each) => fits.slice(-maxPerRoute).map((id) => each.replace(`{${name}}`, id)));
  }
  const shape = query?.shape ?? {};
  const base = Object.entries({ format: 'json', limit: '100', q: 'find it' }).filter(([name]) => name in shape);
  const users = 'user_id' in shape ? names.filter((each) => beginnings.user_id?.test(each)).slice(-2) : [];
  const searches = [base, ...users.map((user) => [...base, ['user_id', user]])];
  return paths.flatMap((each) => searches.map((search) => `${each}?${new URLSearchParams(search)}`));
}
