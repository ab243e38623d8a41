import { secretsIn } from '@vestra/contract/secrets-in-text';
import type { RegisteredServer } from '../../agents/tool-servers/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import { asRepo, type PlacedValue, type SettingParts } from '../file/parts.ts';

/** The company's secrets that texts refer to, each with its place. A user's own are never missing. */
export const companySecrets = (texts: readonly PlacedValue<string>[]): PlacedValue<string>[] =>
  texts.flatMap(({ at, value }) => secretsIn(value).company.map((name) => ({ at, value: name })));

/** What the computer refers to: its variables and the tokens of its repositories. */
export const computerSecrets = ({ env, repos }: Pick<SettingParts, 'env' | 'repos'>): PlacedValue<string>[] =>
  companySecrets([
    ...env,
    ...repos.flatMap(({ at, value: { token } }) => (token === undefined ? [] : [{ at: `${at}.token`, value: token }])),
  ]);

/** Every company secret that a version needs to run, with its servers as they are registered now. */
export function secretsOfVersion({ environment }: Manifest, servers: readonly RegisteredServer[]): string[] {
  const tokens = environment?.repos.flatMap((repo) => asRepo(repo).token ?? []) ?? [];
  const texts = [
    ...servers.flatMap(({ headers }) => Object.values(headers)),
    ...Object.values(environment?.env ?? {}),
    ...tokens,
  ];
  return [...new Set(texts.flatMap((text) => secretsIn(text).company))];
}
