import { routes } from '@vestra/contract/api';
import { distanceOf } from '@vestra/contract/nearest';

export const openaiPrefix = '/v1/openai/';
/** Paths that OpenAI clients use below an address that ends in `/v1`. */
const openaiPaths = /^\/v1\/(chat\/completions|completions|responses|embeddings|assistants|threads)(\/|$)/;

const reference = 'The API reference at /docs lists all routes.';

/** The message for a path that no route has: the route that was probably meant, or where to find all. */
export function routeHint(method: string, path: string): string {
  if (path.startsWith(openaiPrefix)) {
    const asked = `${method} ${path.slice(openaiPrefix.length, openaiPrefix.length + 100)}`;
    return `\`${asked}\` of OpenAI’s API is not offered here: only chat/completions, responses, conversations, files and models are.`;
  }
  if (openaiPaths.test(path)) {
    return 'No such route: OpenAI’s API is offered under /v1/openai. Give the client a base URL that ends so.';
  }
  const meant = meantPath(path);
  return meant === null ? `No such route. ${reference}` : `No such route. Did you mean ${method} ${meant}?`;
}

const longestPath = 200;

/** The path of a route that differs from the given one by typing errors, a slash, or a wrong or repeated `/v1`. */
function meantPath(path: string): string | null {
  if (path.length > longestPath) return null;
  const given = path.split('/').filter((part) => part !== '');
  const below = given.slice(given.findLastIndex((part, at) => part === 'v1' && at < 3) + 1);
  if (below.length === 0) return null;
  let best: { path: string; distance: number } | null = null;
  for (const { route } of routes) {
    const distance = distanceBetween(['v1', ...below], route.path.slice(1).split('/'));
    if (distance !== null && distance < (best?.distance ?? Infinity)) best = { path: route.path, distance };
  }
  return best?.path ?? null;
}

const furthest = 3;

/** Null if the paths are too different. A parameter in braces fits every part. */
function distanceBetween(given: readonly string[], wanted: readonly string[]): number | null {
  if (given.length !== wanted.length) return null;
  let sum = 0;
  for (const [at, part] of wanted.entries()) {
    const typed = given[at] as string;
    // A literal match is better than one by a parameter.
    const distance = part.startsWith('{') ? 0.1 : distanceOf(typed, part, furthest);
    if (distance > furthest || distance > Math.ceil(part.length * 0.4)) return null;
    sum += distance;
  }
  return sum <= furthest + 1 ? sum : null;
}
