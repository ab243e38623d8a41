import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Reads headers as OpenTelemetry's specification has them in the environment: W3C baggage without properties. */
export function otlpHeadersIn(text: string): Record<string, string> | null {
  const pairs = text.split(',').filter((each) => each.trim() !== '');
  try {
    const headers = pairs.map((pair): [string, string] => {
      const [name = '', ...rest] = pair.split('=');
      if (rest.length === 0) throw new Error('There is no value.');
      return [decodeURIComponent(name.trim()), decodeURIComponent(rest.join('=').trim())];
    });
    for (const [name, value] of headers) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return Object.fromEntries(headers);
  } catch {
    return null;
  }
}
