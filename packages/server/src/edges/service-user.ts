import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import { protocols } from '@vestra/contract/protocols';

/** Whom a client speaks for by its header; undefined where it names nobody. */
export function readServiceUser(headers: Headers): string | undefined {
  const given = headers.get('service-user');
  if (given === null) return undefined;
  const read = check(protocols.a2a.headers, { 'Service-User': given }, 'invalid_request');
  if (read.ok) return given;
  throw fail('invalid_request', { param: 'Service-User', message: read.faults[0].message });
}
