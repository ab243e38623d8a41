import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOfflineSpeech } from '@vestra/server/voice/speech/offline-speech';
import { createResampler } from '@vestra/server/voice/speech/sound';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { makeDataDir, startProcess } from '../support/process.ts';
import { startTestServer } from '../support/server.ts';
import { sum } from './money.fixture.ts';
import { barriersOn, type PageDesk, startPageDesk } from './session-page.fixture.ts';
import { bringVoice, openTelephones, type Telephones, voiceFolder, waveOf } from './telephone.fixture.ts';
import { hasRelay, startRelay } from './turn-relay.fixture.ts';

/** Sound takes its own time, and one that stutters on a busy machine says nothing about the code: by hand, on one at rest. */
const away =
  process.env.VESTRA_TEST_SOUND === '1' ? await bringVoice() : 'run `npm run test:sound` on a machine at rest';
if (away !== null) console.warn(`Calls with real sound are left out: ${away}.`);

/** A small model transcribes a synthetic voice, so the expected words are only nearly right. */
const question = 'When does my parcel arrive?';
const reply = 'Your parcel arrives on Tuesday morning.';
const nearly = /parcel|tuesday|morning/i;

describe.skipIf(away !== null)('a call with real sound', { retry: 1, timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'vestra-microphone-'));
  const microphone = join(folder, 'microphone.wav');
  let telephones: Telephones;
  let desk: PageDesk;
  let relay: Awaited<ReturnType<typeof startRelay>> | null;
  beforeAll(async () => {
    telephones = await openTelephones();
    const said = await telephones.sayAs(question);
    // Said again and again, and not before the call stands: how long that takes is the machine's to say.
    const wave = new Int16Array(16_000 * 12);
    wave.set(said, 16_000 * 5);
    writeFileSync(microphone, waveOf(wave));
    relay = hasRelay ? await startRelay() : null;
    desk = await startPageDesk({ VESTRA_VOICE_DIR: voiceFolder, ...relay?.env }, [
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}`,
      '--autoplay-policy=no-user-gesture-required',
    ]);
    await desk.apply({ name: 'desk', memory: 'none' });
  });
  afterAll(async () => {
    await telephones.close();
    await desk.stop();
    await relay?.stop();
    rmSync(folder, { recursive: true });
  });

  it('is started from the page: a spoken question gets a spoken answer [VOI-001, VOI-006, VOI-007, VOI-268]', async () => {
    desk.script(() => ({ text: [reply] }));
    const visit = await desk.visit({ voice: true });
    const { page, session } = visit;
    page.setDefaultTimeout(60_000);
    await page.evaluate(recordCalls);
    const bar = page.locator('[data-call]');
    await page.getByRole('button', { name: 'Talk' }).focus();
    await page.keyboard.press('Enter');
    await isTaken(page);
    expect(await barriersOn(page)).toEqual([]);
    await page.locator('[data-call=speaking]').waitFor();
    await page.locator('[data-role=agent]').getByText(reply).first().waitFor();
    await page.locator('[data-call=listening]').waitFor();
    const [asked] = (await desk.call('GET', `${visit.path}/messages`)).body.data.slice(-1);
    expect([asked.role, asked.text]).toEqual(['user', expect.stringMatching(/when|arrive|parcel/i)]);
    expect(asked.context).toMatchObject({ channel: 'voice' });
    const heard = Int16Array.from((await page.evaluate('heardSamples()')) as number[]);
    expect(await telephones.understand(createResampler(48_000, 16_000)(heard))).toMatch(nearly);
    expect(await bar.getAttribute('data-call')).toMatch(/^(listening|thinking|speaking)$/);
    await page.getByRole('button', { name: 'Mute' }).click();
    expect(await page.getByRole('button', { name: 'Unmute' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Escape');
    await bar.getByText('The call has ended.').waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await desk.until(visit.path, ({ cost_breakdown: costs }) => costs.voice > 0);
    const { body: usage } = await desk.call('GET', `/v1/usage/line-items?conversation_id=${session.conversation_id}`);
    expect(usage.data.filter(({ kind }: { kind: string }) => kind === 'voice')).not.toEqual([]);
    expect(visit.faults).toEqual([]);
    await page.context().close();
  });

  it('ends with its session, and is silent as soon as it is interrupted [VOI-003, VOI-261, SES-018]', async () => {
    desk.script(({ messages }) => ({
      text:
        messages.length > 2
          ? 'Fine.'
          : 'This is a long story about a ship and its crew that goes on and on and on. '.repeat(6),
    }));
    const { body: session } = await desk.call('POST', '/v1/sessions', { body: { voice: 'slt' } });
    const telephone = await telephones.call(desk, session);
    expect(telephone.answer.ends_at).toBe(session.expires_at);
    await telephone.speak('Tell me a long story.');
    await telephone.note(({ state }) => state === 'speaking');
    await telephone.sound();
    await telephone.speak('Stop, that is enough for now.');
    await telephone.note(({ text }) => /stop|enough|now/i.test(String(text)));
    const path = `/v1/conversations/${session.conversation_id}`;
    const isInterrupted = ({ context }: { context?: { interrupted?: string } }) => context?.interrupted !== undefined;
    const { data } = await desk.until(`${path}/messages`, (page) => page.data.some(isInterrupted));
    const { heard_of_last_reply: heard } = data.find(isInterrupted).context;
    expect(heard.length).toBeLessThan(470);
    await desk.call('DELETE', `/v1/sessions/${session.id}`);
    expect(await telephone.note(({ type }) => type === 'ended')).toMatchObject({ reason: 'session_ended' });
    await telephone.gone;
    telephone.close();
  });

  it('sends nothing to the addresses that an offer names if private ones are closed [VOI-611]', async () => {
    const packets: string[] = [];
    const udp = createSocket('udp4', () => packets.push('udp')).bind(0, '127.0.0.1');
    const tcp = createServer(() => packets.push('tcp')).listen(0, '127.0.0.1');
    await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
    const closed = await startTestServer({
      beside: desk,
      env: { ...desk.env, VESTRA_ALLOW_PRIVATE_ADDRESSES: '0', VESTRA_VOICE_DIR: voiceFolder, PORT: '0' },
    });
    const open = async () => (await desk.call('POST', '/v1/sessions', { body: { voice: true } })).body;
    try {
      const session = await open();
      const ports = { udp: udp.address().port, tcp: (tcp.address() as AddressInfo).port };
      const sdp = (await telephones.offer()).replace(
        /a=candidate:(.|\r\n(?=a=candidate))*/g,
        [
          `a=candidate:1 1 udp 2122194687 127.0.0.1 ${ports.udp} typ host`,
          `a=candidate:2 1 tcp 1518280447 127.0.0.1 ${ports.tcp} typ host tcptype passive`,
        ].join('\r\n'),
      );
      expect(sdp).toContain(`127.0.0.1 ${ports.tcp} typ host`);
      const before = callProcesses();
      const { status, body } = await closed.call('POST', `/v1/sessions/${session.id}/voice`, {
        key: session.token,
        body: { sdp },
      });
      expect(status).toBe(200);
      expect(body.sdp).toContain('a=candidate:');
      expect(body.sdp).not.toMatch(/^a=candidate:.*( tcp | 127\.0\.0\.1 | ::1 )/im);
      const started = callProcesses().filter((pid) => !before.includes(pid));
      // The call waits for its browser in vain and leaves.
      await expect.poll(() => started.filter((pid) => commandOf(pid) !== ''), { timeout: 60_000 }).toEqual([]);
      expect(packets).toEqual([]);

      // A browser that the server never calls reaches it all the same.
      const telephone = await telephones.call(closed, await open());
      telephone.hangUp();
      expect(await telephone.note(({ type }) => type === 'ended')).toMatchObject({ reason: 'hung_up' });
      telephone.close();
    } finally {
      await closed.stop();
      udp.close();
      tcp.close();
    }
  });

  if (!hasRelay) process.stderr.write('NOT TRIED: a call through a relay. `apt install coturn` and run this again.\n');
  it.skipIf(!hasRelay)('uses a relay if there is no direct connection [VOI-422]', async () => {
    desk.script(() => ({ text: [reply] }));
    const { body: session } = await desk.call('POST', '/v1/sessions', { body: { voice: true } });
    const telephone = await telephones.call(desk, session, { onlyRelays: true });
    await telephone.speak(question);
    expect(await telephone.listen()).toMatch(nearly);
    telephone.close();
  });

  it('yields to the next call of its session, in any process [VOI-269, VOI-420]', async () => {
    const { body: session } = await desk.call('POST', '/v1/sessions', { body: { voice: true } });
    const first = await telephones.call(desk, session);
    const second = await telephones.call(desk, session);
    expect(await first.note(({ type }) => type === 'ended')).toMatchObject({ reason: 'replaced' });
    await first.gone;
    second.hangUp();
    expect(await second.note(({ type }) => type === 'ended')).toMatchObject({ reason: 'hung_up' });
    for (const telephone of [first, second]) telephone.close();

    // The one that is replaced may never have been connected.
    const calls = await Promise.allSettled([telephones.call(desk, session), telephones.call(desk, session)]);
    const both = calls.filter((each) => each.status === 'fulfilled').map(({ value }) => value);
    const over = both.length === 2 ? await Promise.race(both.map(async (each) => each.gone.then(() => each))) : null;
    const stays = both.find((each) => each !== over);
    stays?.hangUp();
    // Not `replaced`: it was there until it was hung up.
    expect(await stays?.note(({ type }) => type === 'ended')).toMatchObject({ reason: 'hung_up' });
    for (const telephone of both) telephone.close();
  });

  it('is over when its process is killed, and no other call notices [VOI-270]', async () => {
    desk.script(() => ({ text: [reply] }));
    const call = async () => {
      const before = callProcesses();
      const { body: session } = await desk.call('POST', '/v1/sessions', { body: { voice: true } });
      const telephone = await telephones.call(desk, session);
      const [pid] = callProcesses().filter((each) => !before.includes(each));
      return { telephone, pid: pid as number };
    };
    const killed = await call();
    const other = await call();
    process.kill(killed.pid, 'SIGKILL');
    await killed.telephone.gone;
    await other.telephone.speak(question);
    expect(await other.telephone.listen()).toMatch(nearly);
    for (const { telephone } of [killed, other]) telephone.close();
  });

  it('is not heard while its process is gone, as the page says, and is lost then [VOI-533, VOI-270]', async () => {
    const { page } = await desk.visit({ voice: true });
    page.setDefaultTimeout(60_000);
    const before = callProcesses();
    await page.getByRole('button', { name: 'Talk' }).click();
    await isTaken(page);
    const [pid] = callProcesses().filter((each) => !before.includes(each));
    process.kill(pid as number, 'SIGKILL');
    await page.locator('[data-call=connecting]').waitFor();
    await page.locator('[data-call=lost]').waitFor();
    await page.context().close();
  });

  it('leaves no speech in a file, and its folder is deleted with it [VOI-535]', async () => {
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('vestra-voice-'));
    const before = folders();
    const speech = createOfflineSpeech({ folder: voiceFolder, idleMs: 1 });
    const call = speech.open('rms');
    for await (const { length } of call.speak(reply, new AbortController().signal))
      expect(length).toBeGreaterThan(16_000);
    const own = folders().filter((name) => !before.includes(name));
    expect(own.map((name) => readdirSync(join(tmpdir(), name)))).toEqual([[]]);
    // The models leave by themselves once the last call is over.
    call.close();
    await expect.poll(() => folders().filter((name) => own.includes(name))).toEqual([]);
    await speech.close();
  });

  it('reports that its server was killed, leaves no process behind, and the next is answered elsewhere [VOI-531, VOI-532]', async () => {
    desk.script(() => ({ text: [reply] }));
    const { dataDir, remove } = await makeDataDir();
    const port = await freePort();
    const server = await startProcess(dataDir, {
      ...desk.env,
      DATABASE_URL: desk.connectionString,
      PORT: String(port),
      VESTRA_MASTER_KEY: 'ab'.repeat(32),
      VESTRA_LEASE_SECONDS: '1',
      VESTRA_REQUESTS_PER_MINUTE: '1000000',
    });
    try {
      desk.line.leadTo(`http://127.0.0.1:${port}`);
      const visit = await desk.visit({ voice: true });
      const { page, session, path } = visit;
      page.setDefaultTimeout(60_000);
      await page.evaluate(recordCalls);
      await page.getByRole('button', { name: 'Talk' }).click();
      await isTaken(page);
      await page.locator('[data-call=speaking]').waitFor();
      const started = childrenOf(server.child.pid as number);
      expect(started.filter((pid) => commandOf(pid).includes('voice/'))).toHaveLength(3);
      desk.line.leadTo(desk.url);
      await server.kill('SIGKILL');
      await page.locator('[data-call=lost]').getByText('The connection was lost.').waitFor();
      // It was told so: that the network is silent would be noticed seconds later.
      expect(await page.evaluate('statesOfCalls')).toEqual(['connecting', 'connected']);
      expect(await barriersOn(page)).toEqual([]);
      await expect.poll(() => started.filter((pid) => commandOf(pid).includes('voice/'))).toEqual([]);

      expect(await page.getByRole('button', { name: 'Call again' }).evaluate(hasFocus)).toBe(true);
      await page.keyboard.press('Enter');
      await isTaken(page);
      await page.locator('[data-call=speaking]').waitFor();
      expect(await page.getByRole('button', { name: 'Hang up' }).evaluate(hasFocus)).toBe(true);
      await page.keyboard.press('Escape');
      await page.locator('[data-call=hung_up]').waitFor();
      const { cost_usd, cost_breakdown } = await desk.until(
        path,
        ({ status, cost_breakdown: costs }) => status === 'idle' && costs.voice > 0,
      );
      const { body: usage } = await desk.call('GET', `/v1/usage/line-items?conversation_id=${session.conversation_id}`);
      expect(sum(usage.data)).toBe(cost_usd);
      const ofCalls = usage.data.filter(({ kind }: { kind: string }) => kind === 'voice');
      expect(sum(ofCalls)).toBe(cost_breakdown.voice);
      const { body: said } = await desk.call('GET', `${path}/messages`);
      const roles = said.data.map(({ role }: { role: string }) => role);
      expect(roles.filter((role: string) => role === 'user').length).toBeGreaterThanOrEqual(2);
      expect(visit.faults).toEqual([]);
      await page.context().close();
    } finally {
      desk.line.leadTo(desk.url);
      await server.kill('SIGKILL');
      await remove();
    }
  });
});

const hasFocus = (element: HTMLElement) => element === document.activeElement;

/** A call that is refused says so at once. */
async function isTaken(page: Page): Promise<void> {
  const settled = ['listening', 'unavailable', 'microphone_refused', 'no_microphone'].map(
    (each) => `[data-call=${each}]`,
  );
  await page.locator(settled.join()).waitFor();
  expect(await page.locator('[data-call]').getAttribute('data-call')).toBe('listening');
}

const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const callProcesses = () =>
  processes().filter((pid) => commandOf(pid).includes('voice/speech/call-connection-process.ts'));

const childrenOf = (parent: number) =>
  processes().filter((pid) => new RegExp(`^PPid:\\t${parent}$`, 'm').test(statusOf(pid)));

const statusOf = (pid: number) => readOf(pid, 'status');
const commandOf = (pid: number) => readOf(pid, 'cmdline');

function readOf(pid: number, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return '';
  }
}

/** In the page: what its calls hear, for a test to listen to. */
const recordCalls = `
  globalThis.heardOf = [];
  globalThis.statesOfCalls = [];
  globalThis.heardSamples = () => globalThis.heardOf.flatMap((piece) => [...piece]);
  const Peer = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Peer {
    constructor(...words) {
      super(...words);
      this.addEventListener('connectionstatechange', () => globalThis.statesOfCalls.push(this.connectionState));
      this.addEventListener('track', async ({ track }) => {
        const reader = new MediaStreamTrackProcessor({ track: track.clone(), maxBufferSize: 500 }).readable.getReader();
        for (;;) {
          // One frame at a time: a page that has fallen behind must still hear what it is told.
          await new Promise((resolve) => setTimeout(resolve));
          const { value, done } = await reader.read();
          if (done) return;
          const samples = new Float32Array(value.numberOfFrames);
          value.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
          globalThis.heardOf.push(Int16Array.from(samples, (sample) => sample * 32767));
          value.close();
        }
      });
    }
  };
`;
