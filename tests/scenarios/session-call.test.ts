import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageDesk, startPageDesk } from './session-page.fixture.ts';

let desk: PageDesk;
beforeAll(async () => {
  // A call that is answered in the page itself finds its own addresses.
  desk = await startPageDesk({}, ['--disable-features=WebRtcHideLocalIpsWithMdns']);
  await desk.apply({ name: 'desk', memory: 'none' });
});
afterAll(() => desk.stop());

type OtherEnd = {
  setLoudness: (gain: number) => void;
  answerCall: (offer: string) => Promise<string>;
  tellCall: (note: Record<string, unknown>) => Promise<void>;
};

/** A microphone that hears a tone, and somebody within the page who answers the call. */
const otherEnd = `
  const Sound = globalThis.AudioContext;
  let loudness;
  let calls = 0;
  let channel = Promise.withResolvers();
  navigator.mediaDevices.getUserMedia = async () => {
    calls += 1;
    if (calls > 1) channel = Promise.withResolvers();
    const context = new Sound();
    await context.resume();
    const tone = new OscillatorNode(context);
    loudness = new GainNode(context, { gain: 0 });
    const destination = context.createMediaStreamDestination();
    tone.connect(loudness).connect(destination);
    tone.start();
    return destination.stream;
  };
  globalThis.setLoudness = (gain) => { loudness.gain.value = gain; };
  globalThis.answerCall = async (sdp) => {
    const peer = new RTCPeerConnection();
    peer.ondatachannel = (event) => channel.resolve(event.channel);
    await peer.setRemoteDescription({ type: 'offer', sdp });
    await peer.setLocalDescription(await peer.createAnswer());
    while (peer.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 10));
    return peer.localDescription.sdp;
  };
  globalThis.tellCall = async (note) => (await channel.promise).send(JSON.stringify(note));
`;

/** Opens the page of a session and calls from it. `before`: what runs in the page first. */
async function callUp(before = '') {
  const visit = await desk.visit({ voice: true });
  const { page } = visit;
  await page.evaluate(otherEnd + before);
  await page.route('**/voice', async (route) => {
    const { sdp: offer } = route.request().postDataJSON();
    const sdp = await page.evaluate((given) => (globalThis as never as OtherEnd).answerCall(given), offer);
    await route.fulfill({ json: { object: 'voice_call', sdp, ends_at: new Date(Date.now() + 60_000).toISOString() } });
  });
  await page.getByRole('button', { name: 'Talk' }).click();
  // The channel is open.
  await page.locator('[data-call=listening]').waitFor();
  const tell = (note: Record<string, unknown>) =>
    page.evaluate((told) => (globalThis as never as OtherEnd).tellCall(told), note);
  return { ...visit, tell };
}

const barHeight = (page: Page) =>
  page
    .locator('[data-level] > span')
    .nth(2)
    .evaluate((bar) => bar.getBoundingClientRect().height);

describe('a call on the session page', () => {
  it('has a meter that follows the microphone while the agent listens, and says whose turn it is [VOI-621]', async () => {
    const { page, tell, faults } = await callUp();
    await tell({ type: 'state', state: 'listening' });
    await page.locator('[data-call=listening] [data-level]').waitFor();
    expect(await barHeight(page)).toBeLessThan(6);
    await page.evaluate(() => (globalThis as never as OtherEnd).setLoudness(0.5));
    await expect.poll(() => barHeight(page)).toBeGreaterThan(15);
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.locator('[data-call=muted]').waitFor();
    await expect.poll(() => barHeight(page)).toBeLessThan(6);
    await page.getByRole('button', { name: 'Unmute' }).click();
    await expect.poll(() => barHeight(page)).toBeGreaterThan(15);
    for (const [state, shown] of [
      ['thinking', 'Thinking…'],
      ['speaking', 'Speaking'],
    ] as const) {
      await tell({ type: 'state', state });
      await page.locator('[data-call]').getByRole('status').getByText(shown).waitFor();
      expect(await page.locator('[data-level]').count()).toBe(0);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('says whose turn it is on a device whose sound cannot be opened [VOI-621]', async () => {
    const { page, tell, faults } = await callUp(`
      globalThis.refused = 0;
      globalThis.AudioContext = class { constructor() { refused += 1; throw new DOMException('', 'NotSupportedError'); } };
    `);
    await tell({ type: 'state', state: 'listening' });
    await expect.poll(() => page.evaluate('refused')).toBeGreaterThan(0);
    for (const state of ['listening', 'thinking', 'listening'] as const) {
      await tell({ type: 'state', state });
      await page.locator(`[data-call=${state}]`).waitFor();
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('opens the sound of the device once for all turns and calls [VOI-621]', async () => {
    const { page, tell } = await callUp(`
      globalThis.opened = 0;
      globalThis.AudioContext = class extends Sound { constructor() { super(); opened += 1; } };
    `);
    for (let call = 0; call < 2; call++) {
      for (const state of ['listening', 'thinking', 'listening', 'speaking', 'listening'] as const) {
        await tell({ type: 'state', state });
        await page.locator(`[data-call=${state}]`).waitFor();
        if (state !== 'listening') continue;
        await page.evaluate(() => (globalThis as never as OtherEnd).setLoudness(0.5));
        await expect.poll(() => barHeight(page)).toBeGreaterThan(15);
      }
      if (call > 0) break;
      await page.getByRole('button', { name: 'Hang up' }).click();
      await page.getByRole('button', { name: 'Call again' }).click();
      await page.locator('[data-call=listening]').waitFor();
    }
    expect(await page.evaluate('opened')).toBe(1);
    await page.context().close();
  });

  it('shows what is said by both, and its bar keeps its height [VOI-620]', async () => {
    const { page, tell } = await callUp();
    await tell({ type: 'state', state: 'listening' });
    const bar = page.locator('[data-call=listening]');
    await bar.waitFor();
    const heightOf = async () => Math.round((await page.locator('[data-call]').boundingBox())?.height ?? 0);
    const height = await heightOf();
    const user = page.locator('[data-by=user]');
    await tell({ type: 'hearing', text: 'When does' });
    await expect.poll(() => user.textContent()).toBe('You: When does …');
    await tell({ type: 'heard', text: 'When does it arrive?' });
    await expect.poll(() => user.textContent()).toBe('You: When does it arrive?');
    await tell({ type: 'saying', text: 'On Tuesday.' });
    const agent = page.locator('[data-by=agent]');
    await expect.poll(() => agent.textContent()).toBe('Agent: On Tuesday.');
    expect(await heightOf()).toBeCloseTo(height ?? 0, 3);
    await tell({ type: 'hearing', text: 'And' });
    await expect.poll(() => agent.count()).toBe(0);
    await page.context().close();
  });
});
