import type { Config } from '../../platform/config/config.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const patienceMs = 5_000;

/** Whether the server answers where it should, and keeps to itself what is only the operator's. */
export async function serverFindings({ publicUrl, host, port, role }: Config): Promise<Finding[]> {
  if (role === 'worker') return [ok('server', 'a worker serves no API')];
  const here = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return [
    await answersAt(here, 'Start it with `vestra start`, where it should run here.'),
    ...(publicUrl === null
      ? []
      : [await answersAt(publicUrl, 'Look at the proxy and the name.'), await hidesMetrics(publicUrl)]),
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
  return bad('server', `not ready at ${url}: ${why.join(' ')}`, 'Mend what the sentence names.');
}

/** A proxy on this machine that does not say for whom it asks seems to be the operator. */
async function hidesMetrics(publicUrl: string): Promise<Finding> {
  const answer = await ask(`${publicUrl}/metrics`);
  if (answer?.status !== 200) return ok('server', 'the public address keeps /metrics to itself');
  return bad(
    'server',
    `${publicUrl}/metrics can be read by everybody`,
    'Let the proxy add X-Forwarded-For, or answer /metrics with 404.',
  );
}

const ask = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' }).catch(() => null);
