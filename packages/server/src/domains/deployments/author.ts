import type { Actor } from '../../caller.ts';
import type { Author } from './store.ts';

/** Who is written down as the author of a version. No route that saves one takes a session token. */
export function authorOf({ type, id, name }: Actor): Author {
  if (type === 'session') throw new Error('A session token saves no version.');
  return { type, id, name };
}
