import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { each } from './load.ts';
import { cpuMs, residentMb } from './processes.ts';
import type { Row, Stage } from './report.ts';
import { withServer } from './with-server.ts';

type Viewer = { frames: number; bytes: number; isOpen: boolean };

/** A page that never stands still, as large as a browser shows it. */
const moving = `<body style="margin:0;background:#fff"><div style="width:120px;height:120px;background:#b4532a;animation:go 2s linear infinite alternate"></div>
<p style="font:20px sans-serif">${'A parcel that is on its way. '.repeat(60)}</p><style>@keyframes go { to { margin-left: 80% } }</style>`;

/** Many people who look at one browser: what each of them sees of it, and what that takes. */
export async function measureViewers(stage: Stage): Promise<Row[]> {
  const count = Math.max(4, Math.round(200 * stage.share));
  const sites = await startSites();
  sites.serve('shop.localhost', { '/': moving });
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  try {
    return await withServer(
      stage,
      'viewers',
      async ({ server, call }) => {
        const pid = server.process.pid as number;
        await call('PUT', '/v1/deployments/desk?promote=now', {
          ...{ name: 'desk', memory: 'none', browser: { allowed_domains: ['shop.localhost'] } },
        });
        await call('POST', '/v1/users/ada/browser/fetch', { url: sites.at('shop.localhost'), keep_open_ms: 600_000 });
        const open = async (viewer: Viewer) => {
          const session = JSON.parse(await call('POST', '/v1/sessions', { user_id: 'ada', screen: 'view' }));
          const path = `/v1/sessions/${session.id}/screen`;
          const { stream_url, preview_token } = JSON.parse(await call('GET', path, undefined, { key: session.token }));
          await watch(`${stream_url}?preview_token=${preview_token}`, agent, viewer);
        };
        const seenBy = async (viewers: readonly Viewer[]) => {
          for (const viewer of viewers) Object.assign(viewer, { frames: 0, bytes: 0 });
          const [cpuBefore, begunAt] = [cpuMs(pid), performance.now()];
          await sleep(stage.seconds * 1000);
          const seconds = (performance.now() - begunAt) / 1000;
          const rates = viewers.map(({ frames }) => frames / seconds).sort((a, b) => a - b);
          const bytes = viewers.reduce((sum, viewer) => sum + viewer.bytes, 0);
          return {
            slowest: rates[0] as number,
            middle: rates[Math.floor(rates.length / 2)] as number,
            megabytes: bytes / seconds / 1e6,
            cores: (cpuMs(pid) - cpuBefore) / seconds / 1000,
          };
        };
        const viewers = Array.from({ length: count }, (): Viewer => ({ frames: 0, bytes: 0, isOpen: false }));
        await open(viewers[0] as Viewer);
        await sleep(2000);
        const alone = await seenBy(viewers.slice(0, 1));
        const before = residentMb(pid);
        await each(count - 1, 8, (at) => open(viewers[at + 1] as Viewer));
        await sleep(2000);
        const together = await seenBy(viewers);
        const left = viewers.filter(({ isOpen }) => isOpen).length;
        const perViewer = ((residentMb(pid) - before) * 1024) / (count - 1);
        const rate = (value: number) => `${value.toFixed(1)} a second`;
        return [
          { what: 'screen: pictures that one viewer of a moving page sees', measured: rate(alone.middle) },
          {
            what: `screen: the same, each of ${count} viewers of one browser, p50 and the slowest`,
            measured: `${rate(together.middle)}, ${rate(together.slowest)}`,
          },
          { what: `screen: viewers that still look, of ${count}`, measured: `${left}` },
          {
            what: 'screen: CPU of the server with one viewer, with all',
            measured: [alone, together].map(({ cores }) => `${(cores * 100).toFixed(0)} %`).join(', '),
          },
          { what: 'screen: sent to all viewers', measured: `${together.megabytes.toFixed(1)} MB a second` },
          { what: 'screen: memory of the server for each viewer', measured: `${perViewer.toFixed(0)} KB` },
        ];
      },
      { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' },
    );
  } finally {
    agent.destroy();
    await sites.close();
  }
}

/** Resolves when the stream is open; counts pictures for as long as it is. */
async function watch(url: string, agent: Agent, viewer: Viewer): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent, headers: { accept: 'text/event-stream' } }, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`A viewer was answered ${response.statusCode}.`);
  viewer.isOpen = true;
  let tail = '';
  response.setEncoding('latin1').on('data', (chunk: string) => {
    viewer.bytes += chunk.length;
    const text = tail + chunk;
    viewer.frames += text.split(nextPicture).length - 1;
    // Shorter than what is looked for: a picture is not counted twice.
    tail = text.slice(1 - nextPicture.length);
  });
  const end = () => {
    viewer.isOpen = false;
  };
  response.once('end', end).once('error', end);
}

const nextPicture = 'event: screen.frame\n';
