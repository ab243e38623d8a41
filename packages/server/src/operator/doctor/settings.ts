import { isIP } from 'node:net';
import { nearest } from '@vestra/contract/nearest';
import ipaddr from 'ipaddr.js';
import { type Config, settingNames } from '../../platform/config/config.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Of the command line and the SDK, not of the server. */
const otherNames = ['VESTRA_KEY', 'VESTRA_URL', 'VESTRA_WEBHOOK_SECRET', 'DATABASE_DIRECT_URL'];

/** Settings that nobody reads, and those that are right for a laptop and wrong for everybody else. */
export function settingFindings(env: Record<string, string | undefined>, config: Config): Finding[] {
  const findings = [...unknownSettings(env), ...exposure(config)];
  return findings.length === 0 ? [ok('settings', 'every setting is known and fits')] : findings;
}

export function unknownSettings(env: Record<string, string | undefined>): Finding[] {
  const known = [...settingNames, ...otherNames];
  return (
    Object.keys(env)
      // What a setting is may lie in a file.
      .filter(
        (name) => name.startsWith('VESTRA_') && !known.includes(name) && !known.includes(name.replace(/_FILE$/, '')),
      )
      .map((name) => {
        const [meant] = nearest(name, known);
        const remedy = meant ? `Did you mean ${meant}?` : 'The settings are listed in README.md. Remove it.';
        return warn('settings', `${name} is set, which nothing reads`, remedy);
      })
  );
}

function exposure({ publicUrl, host, allowPrivateAddresses, masterKey, databaseUrl, role }: Config): Finding[] {
  const isPublic = publicUrl !== null && !isLocal(new URL(publicUrl).hostname);
  const findings: Finding[] = [];
  if (isPublic && publicUrl.startsWith('http:')) {
    findings.push(
      warn(
        'settings',
        'VESTRA_PUBLIC_URL is http: keys and conversations travel in the open',
        'Put TLS in front and set it to the https address.',
      ),
    );
  }
  if (publicUrl === null && !isLocal(host)) {
    findings.push(
      warn(
        'settings',
        `HOST is ${host} and VESTRA_PUBLIC_URL is not set: links in answers lead nowhere else`,
        'Set VESTRA_PUBLIC_URL to the address that people use.',
      ),
    );
  }
  if (isPublic && allowPrivateAddresses) {
    findings.push(
      warn(
        'settings',
        'VESTRA_ALLOW_PRIVATE_ADDRESSES is 1: agents reach this network',
        'Unset it outside of development.',
      ),
    );
  }
  if (databaseUrl !== null && masterKey === null && role !== 'all') {
    findings.push(
      warn(
        'settings',
        `VESTRA_ROLE is ${role} and VESTRA_MASTER_KEY is not set`,
        'Give each process the same VESTRA_MASTER_KEY.',
      ),
    );
  }
  return findings;
}

function isLocal(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || (isIP(name) !== 0 && ipaddr.process(name).range() === 'loopback');
}
