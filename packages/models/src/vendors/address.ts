import type { Endpoint } from '../settings.ts';

const trimmed = (baseUrl: string) => baseUrl.replace(/\/+$/, '');

/** Anthropic's own client takes the address without the version. */
const withVersion = (baseUrl: string) =>
  trimmed(baseUrl).endsWith('/v1') ? trimmed(baseUrl) : `${trimmed(baseUrl)}/v1`;

type At = Pick<Endpoint, 'baseUrl'>;

/** Where each vendor is asked, version included: its own address unless the operator gives another. */
export const addressOf = {
  anthropic: ({ baseUrl }: At) => withVersion(baseUrl ?? 'https://api.anthropic.com'),
  openai: ({ baseUrl }: At) => trimmed(baseUrl ?? 'https://api.openai.com/v1'),
  google: ({ baseUrl }: At) => trimmed(baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta'),
  compatible: ({ baseUrl }: { baseUrl: string }) => trimmed(baseUrl),
};
