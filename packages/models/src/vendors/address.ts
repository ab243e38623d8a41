import type { Endpoint } from '../settings.ts';

const trimmed = (baseUrl: string) => baseUrl.replace(/\/+$/, '');

/** Anthropic's own client expects the address without the version. */
const withVersion = (baseUrl: string) =>
  trimmed(baseUrl).endsWith('/v1') ? trimmed(baseUrl) : `${trimmed(baseUrl)}/v1`;

type At = Pick<Endpoint, 'baseUrl'>;

/** The address of each vendor, version included, unless the operator sets another. */
export const addressOf = {
  anthropic: ({ baseUrl }: At) => withVersion(baseUrl ?? 'https://api.anthropic.com'),
  openai: ({ baseUrl }: At) => trimmed(baseUrl ?? 'https://api.openai.com/v1'),
  google: ({ baseUrl }: At) => trimmed(baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta'),
  compatible: ({ baseUrl }: { baseUrl: string }) => trimmed(baseUrl),
};
