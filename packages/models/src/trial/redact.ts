import type { ModelSettings } from '../settings.ts';

export const removed = '[removed]';

/** A shorter value would occur by accident and make a recording unreadable. */
const shortestSecret = 6;

/** Keys of well-known shapes, complete or masked as vendors quote them, and signed tokens. */
const keyShapes = [
  /\b(?:sk|pk|rk|vk|gsk|xai|hf)[-_][\w*.-]{8,}/g,
  /\bAIza[\w-]{20,}/g,
  /\bya29\.[\w.-]+/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{6,}/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

const secretFields =
  /("(?:access_token|refresh_token|id_token|api_?key|authorization|password|secret|client_secret|private_key|assertion)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;

/** Returns a function that removes the secrets from a text, also in JSON, in URLs and in Base64. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= shortestSecret)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ]);
  const known = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  return (text) => {
    const withoutKnown = known.reduce((rest, secret) => rest.replaceAll(secret, removed), text);
    const withoutFields = withoutKnown.replace(secretFields, `$1"${removed}"`);
    return keyShapes.reduce((rest, shape) => rest.replace(shape, removed), withoutFields);
  };
}

/** Removes the values of query parameters, except those that select a format, and the name and password. */
export function redactUrl(url: string): string {
  const parsed = new URL(url);
  for (const name of [...parsed.searchParams.keys()]) {
    if (!/^(alt|api-version)$/.test(name)) parsed.searchParams.set(name, removed);
  }
  parsed.username = '';
  parsed.password = '';
  return parsed.href.replaceAll(encodeURIComponent(removed), removed);
}

const plainHeaders =
  /^(content-type|content-length|content-encoding|transfer-encoding|accept|user-agent|date|server|via|retry-after.*|anthropic-(version|beta)|(anthropic-|x-)?ratelimit-.*|(x-)?request-id|x-amzn-(requestid|errortype)|openai-(processing-ms|version)|x-should-retry)$/i;

/** Keeps the headers that explain a response. Every other header may carry a key, an account or an address. */
export const redactHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plainHeaders.test(name) ? value : removed]));

const secretNames = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|DATABASE_URL/i;

/** All keys of the settings, and every environment variable whose name says that it is a secret. */
export function secretsOf(settings: ModelSettings, env: Readonly<Record<string, string | undefined>>): string[] {
  const { anthropic, openai, google, compatible, clouds, own } = settings;
  const access = clouds?.bedrock?.access;
  const keys = [
    ...[anthropic, openai, google, compatible, clouds?.azure].map((endpoint) => endpoint?.apiKey?.()),
    ...own.map(({ endpoint }) => endpoint?.apiKey?.()),
    ...(access && 'bearer' in access ? [access.bearer()] : []),
    ...(access && 'keys' in access
      ? [access.keys.accessKeyId, access.keys.secretAccessKey(), access.keys.sessionToken?.()]
      : []),
    clouds?.vertex?.account.privateKey(),
  ];
  const named = Object.entries(env).flatMap(([name, value]) => (secretNames.test(name) ? [value] : []));
  return [...keys, ...named].filter((secret): secret is string => typeof secret === 'string');
}
