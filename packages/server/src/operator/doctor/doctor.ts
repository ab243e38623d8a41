import { isIP } from 'node:net';
import { nearest } from '@vestra/contract/nearest';
import ipaddr from 'ipaddr.js';
import { modelsInUse } from '../../agents/deployments/index.ts';
import { type Config, readConfig, settingNames } from '../../platform/config/config.ts';
import type { Database } from '../../platform/db/pool.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { databaseFindings } from './database.ts';
import { bad, type Finding, ok, warn } from './finding.ts';
import { dataFolderFindings, fileFindings, nodeFinding, programFindings } from './machine.ts';
import { moneyFindings, retiringFindings, vendorFindings } from './models-and-money.ts';

/** Checks everything that a server here needs, whether or not one is running. It changes nothing. */
export async function runChecks(env: Record<string, string | undefined>): Promise<Finding[]> {
  const config = readSettings(env);
  if ('status' in config) return [nodeFinding(), config, ...unknownSettings(env)];
  const lookInside = async (db: Database) => {
    const used = await modelsInUse(db);
    return [...retiringFindings(config, used), ...(await moneyFindings(db, used))];
  };
  const parts = await Promise.all([
    programFindings(config),
    dataFolderFindings(config),
    fileFindings(config),
    databaseFindings(config, lookInside),
    vendorFindings(config),
    serverFindings(config),
  ]);
  return [nodeFinding(), ...settingFindings(env, config), ...parts.flat()];
}

function readSettings(env: Record<string, string | undefined>): Config | Finding {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return bad('settings', error.message, 'The server does not start until this is fixed.');
  }
}

const signs = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

export function showFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.flatMap(({ status, about, what, remedy }) => [
    `${signs[status]}  ${about.padEnd(width)}  ${what}`,
    ...(remedy === null ? [] : [`${' '.repeat(width + 8)}→ ${remedy}`]),
  ]);
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length;
  return [...lines, '', `${count('ok')} ok, ${count('warn')} to check, ${count('fail')} to fix.`].join('\n');
}

/** Settings of the command line and the SDKs. */
const otherNames = ['VESTRA_KEY', 'VESTRA_URL', 'VESTRA_WEBHOOK_SECRET', 'DATABASE_DIRECT_URL'];

/** Reports unknown settings, and settings that fit a laptop but not a public server. */
export function settingFindings(env: Record<string, string | undefined>, config: Config): Finding[] {
  const findings = [...unknownSettings(env), ...exposureFindings(config)];
  return findings.length === 0 ? [ok('settings', 'every setting is known and fits')] : findings;
}

function unknownSettings(env: Record<string, string | undefined>): Finding[] {
  const known = [...settingNames, ...otherNames];
  return (
    Object.keys(env)
      // Any setting can be read from a file.
      .filter(
        (name) => name.startsWith('VESTRA_') && !known.includes(name) && !known.includes(name.replace(/_FILE$/, '')),
      )
      .map((name) => {
        const [meant] = nearest(name, known);
        const remedy = meant ? `Did you mean ${meant}?` : 'The settings are listed in docs/settings.md. Remove it.';
        return warn('settings', `${name} is set, which nothing reads`, remedy);
      })
  );
}

function exposureFindings({ publicUrl, host, allowPrivateAddresses, masterKey, databaseUrl, role }: Config): Finding[] {
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

const patienceMs = 5_000;

/** Checks that the server answers, and that its metrics are not public. */
export async function serverFindings({ publicUrl, host, port, role }: Config): Promise<Finding[]> {
  if (role === 'worker') return [ok('server', 'a worker serves no API')];
  const here = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return [
    await answersAt(here, 'If it should run here, start it with `vestra start`.'),
    ...(publicUrl === null
      ? []
      : [await answersAt(publicUrl, 'Check the proxy and the host name.'), await hidesMetrics(publicUrl)]),
  ];
}

async function answersAt(url: string, remedy: string): Promise<Finding> {
  const answer = await ask(`${url}/health/ready`);
  if (answer === null) return warn('server', `nothing answers at ${url}`, remedy);
  if (answer.status === 200) return ok('server', `ready at ${url}`);
  if (answer.status !== 503)
    return warn('server', `what answers at ${url} is no Vestra (status ${answer.status})`, remedy);
  const { checks = {} } = (await answer.json().catch(() => ({}))) as {
    checks?: Record<string, { message: string | null }>;
  };
  const why = Object.values(checks).flatMap(({ message }) => message ?? []);
  return bad('server', `not ready at ${url}: ${why.join(' ')}`, 'Fix the named problem.');
}

/** If a local proxy does not add X-Forwarded-For, its requests look like the operator's. */
async function hidesMetrics(publicUrl: string): Promise<Finding> {
  const answer = await ask(`${publicUrl}/metrics`);
  if (answer?.status !== 200) return ok('server', 'the public address does not show /metrics');
  return bad(
    'server',
    `${publicUrl}/metrics can be read by everybody`,
    'Let the proxy add X-Forwarded-For, or answer /metrics with 404.',
  );
}

const ask = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' }).catch(() => null);
