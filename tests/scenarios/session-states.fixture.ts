import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { calling, inTurn, resultsIn } from './interactions.fixture.ts';
import { barriersOn, type PageDesk } from './session-page.fixture.ts';

/** The functions that the states below are about. */
export const toolsOfStates = [
  {
    function: 'refund_card',
    description: 'Refunds an order to the card it was paid with.',
    input: { amount_usd: 'number', day: 'string', order: 'string' },
  },
  { function: 'write_off', description: 'Writes an order off.', input: { note: 'string' }, approver: 'org' },
];

const reply = `Your order **4711** is on its way.

| what | when |
|---|---|
| left the warehouse | Monday |
| arrives | Tuesday |

1. Keep the parcel.
2. Read \`the note\` in it, or [ask us](https://shop.example.com/help).`;

/** A reply with everything that a model can write, and marks of the two documents that it read. */
const wholeReply = (marks: readonly string[]) => `## Your options

You may send the parcel back within **41 days** [${marks[0]}]. The shop is open until seven [${marks[1]}].

| Plan | Price | Seats | Support | Storage | Included |
|---|---:|---:|---|---|---|
| Team | $19.00 | 5 | by email, within two days | 20 GB | one language |
| Company | $49.00 | 50 | by telephone, within an hour | 500 GB | every language |

- Keep the receipt.
- Print the label, or show its code at the counter of any shop.

\`\`\`ts
const parcel = await shop.find({ order: '4711', include: ['label', 'receipt', 'history'] });
console.log(parcel.state);
\`\`\`

> A parcel without a receipt takes a week longer.`;

/** One red pixel, drawn as large as any picture. */
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** The documents that the agent of these states reads. */
export const documentsOfStates = {
  'Return window': '# Returns\n\nA parcel may be sent back within **41 days** of delivery.',
  'Opening hours': 'The shop is open until seven in the evening.',
};

/** As what it says before anything was said. */
export const openingOfStates = {
  message: 'Welcome to the desk. Ask about your order, a refund or an address.',
  suggestions: ['Where is my order?', 'I want my money back', 'Can you change the address of an order that has left?'],
};

/** Where a state is known by nothing but its words. */
const languages = {
  'en-GB': { talk: 'Talk', notSent: 'Not sent.' },
  'ar-EG': { talk: 'تحدّث', notSent: 'لم تُرسل.' },
  'de-DE': { talk: 'Sprechen', notSent: 'Nicht gesendet.' },
};

type Locale = keyof typeof languages;

export type StateCheck = (state: string, page: Page) => Promise<void>;

/** Walks one page through all that a person can meet in it, and has each looked at. */
export async function walkStates(desk: PageDesk, { locale, look }: { locale: Locale; look: StateCheck }) {
  const words = languages[locale];
  const visit = await desk.visit({ voice: true }, { locale, timezoneId: 'Europe/Berlin' });
  const { page, session } = visit;
  const id = session.conversation_id;
  const field = page.locator('textarea');
  const say = async (text: string) => {
    await field.fill(text);
    await field.press('Enter');
  };
  const see = (state: string) => look(state, page);
  const wait = (kind: string) => page.locator(`[data-wait=${kind}]`).waitFor();
  const settled = async (text: string) => {
    await page.getByText(text).last().waitFor();
    await desk.rest(id);
  };

  await page.getByText(openingOfStates.message).waitFor();
  await see('opening');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from('1') });
  await field.fill(
    'Where is my order?\nI have waited for a week now, and the page of the parcel service says nothing.',
  );
  await see('typing');
  // Enter sends nothing while a file is on its way.
  await page.locator('form button[type=submit]:enabled').waitFor();

  desk.script(() => ({ text: reply, fail: 'hang' }));
  await field.press('Enter');
  await page.locator('[data-role=agent] table').waitFor();
  await see('streaming');
  await page.locator('[data-role=agent]').waitFor();
  await desk.call('POST', `/v1/conversations/${id}/stop`);
  await page.locator('[data-end=stopped]').waitFor();
  await desk.rest(id);

  desk.script((request) => {
    if (request.messages.at(-1)?.role !== 'tool')
      return calling('search_notebooks', { query: 'send back a parcel, open shop' });
    const found = resultsIn(request)
      .join('\n')
      .split(/^(?=# Document)/m);
    const marks = ['41 days', 'until seven'].map(
      (text) => found.find((passage) => passage.includes(text))?.match(/^Cite as \[(\d+)\]$/m)?.[1] ?? 'none',
    );
    return { text: wholeReply(marks) };
  });
  await page.locator('input[type=file]').setInputFiles([
    { name: 'damage.png', mimeType: 'image/png', buffer: Buffer.from(picture, 'base64') },
    { name: 'receipt of the parcel.txt', mimeType: 'text/plain', buffer: Buffer.from('1') },
  ]);
  await field.fill('What are my options?');
  await page.locator('form button[type=submit]:enabled').waitFor();
  await field.press('Enter');
  await page.locator('[data-sources=known]').waitFor();
  await desk.rest(id);
  await see('formatted reply');
  await page.locator('[data-role=user] img').last().scrollIntoViewIfNeeded();
  await see('pictures and files');

  desk.script(
    inTurn(calling('refund_card', { amount_usd: 49.5, day: '2026-11-20', order: '4711' }), { text: 'Refunded.' }),
  );
  await say('I want my money back');
  await wait('approval');
  await see('approval');
  await page.locator('[data-wait=approval] button').first().click();
  await page.locator('[data-outcome=approved]').waitFor();
  const [call] = await desk.open(id);
  await see('function running');
  const taken = await desk.call('POST', '/v1/deployments/desk/tool-calls/take', {
    body: { functions: ['refund_card'], wait_s: 10 },
  });
  const { claim_id } = taken.body.data[0];
  await desk.call('POST', `/v1/tool-calls/${call.id}/renew`, { body: { claim_id, progress: 'Asking the bank' } });
  await page.getByText('Asking the bank').first().waitFor();
  await see('progress');
  await desk.answer(call.id, { output: 'done' });
  await settled('Refunded.');

  desk.script(inTurn(calling('write_off', { note: 'x' }), { text: 'It was declined.' }));
  await say('Write the other one off');
  await wait('company');
  await see('waiting for the company');
  const [company] = await desk.open(id);
  await desk.answer(company.id, { approve: false });
  await settled('It was declined.');

  const also = [{ question: 'Which colours?', options: ['red', 'blue'], multi_select: true }, { question: 'When?' }];
  desk.script(
    inTurn(calling('ask_question', { question: 'Which size?', options: ['S', 'M'], also }), { text: 'Thank you.' }),
  );
  await say('Send me a shirt');
  await wait('question');
  await see('question');
  const [question] = await desk.open(id);
  await desk.answer(question.id, { answers: ['M', 'red', 'today'] });
  await settled('Thank you.');

  desk.script(({ tools, messages }) => {
    if (tools.some(({ name }) => name === 'hand_off_to_work'))
      return { text: 'I am on it.', ...calling('hand_off_to_work', { title: 'Order a shirt', task: 'Do it.' }) };
    if (messages.at(-1)?.role === 'tool') return { text: 'Ordered.' };
    return calling('request_handoff', { request: 'Sign in to the shop, then say that you have.' });
  });
  await say('Order it');
  await wait('handoff');
  await see('handoff');
  const [handoff] = await desk.open(id);
  await desk.answer(handoff.id, { decision: 'done' });
  await settled('Ordered.');

  desk.script(() => ({ fail: 400, failMessage: 'no such model' }));
  await say('And now?');
  await page.locator('[data-end=failed]').waitFor();
  await see('failed reply');

  await walkCall(page, words.talk, see);

  desk.line.cut();
  await say('Are you there?');
  await page.getByText(words.notSent).waitFor();
  await see('offline');
  desk.line.restore();

  await desk.sql('UPDATE sessions SET expires_at = now() WHERE id = $1', [session.id]);
  await page.locator('[data-ended=expired]').waitFor();
  await see('expired');
  await page.context().close();
  return visit;
}

/** The states of a call. What answers stands in the same page: a real connection to nobody. */
async function walkCall(page: Page, label: string, see: (state: string) => Promise<void>): Promise<void> {
  await page.evaluate(otherEnd);
  const looked = Promise.withResolvers<void>();
  await page.route('**/voice', async (route) => {
    await looked.promise;
    const sdp = await page.evaluate(
      (offer) => (globalThis as never as OtherEnd).answerCall(offer),
      route.request().postDataJSON().sdp,
    );
    await route.fulfill({ json: { object: 'voice_call', sdp, ends_at: new Date(Date.now() + 60_000).toISOString() } });
  });
  const bar = (state: string) => page.locator(`[data-call=${state}]`).waitFor();
  const tell = (note: Record<string, unknown>) =>
    page.evaluate((told) => (globalThis as never as OtherEnd).tellCall(told), note);
  const allow = (isAllowed: boolean) =>
    page.evaluate((given) => (globalThis as never as OtherEnd).answerMicrophone(given), isAllowed);
  const again = async () => {
    await page.locator('[data-call] button').first().click();
    await bar('asking');
    await allow(true);
    await bar('connecting');
  };
  const talk = page.getByRole('button', { name: label });
  await talk.click();
  await bar('asking');
  await see('call asking');
  await allow(false);
  await bar('microphone_refused');
  await see('microphone refused');
  await again();
  await see('call connecting');
  looked.resolve();
  await bar('listening');
  for (const state of ['thinking', 'speaking', 'listening']) {
    await tell({ type: 'state', state });
    await bar(state);
    if (state === 'thinking') await tell({ type: 'heard', text: 'When does my parcel arrive?' });
    if (state === 'speaking') await tell({ type: 'saying', text: 'It arrives on Tuesday, before noon.' });
    if (state !== 'listening') await page.locator('[data-by]').last().waitFor();
    else await tell({ type: 'hearing', text: 'And what does it' });
    await see(`call ${state}`);
  }
  await page.locator('[data-call] button[aria-pressed]').click();
  await bar('muted');
  await see('call muted');
  await tell({ type: 'ended', reason: 'budget' });
  await bar('budget');
  await see('call ended by a cap');
  await again();
  await bar('listening');
  await tell({ type: 'ended', reason: 'replaced' });
  await bar('replaced');
  await see('call replaced');
  await again();
  await bar('listening');
  await page.evaluate(() => (globalThis as never as OtherEnd).loseCall());
  await bar('lost');
  await see('call lost');
  await page.locator('[data-call] button').last().click();
  await talk.waitFor();
}

type OtherEnd = {
  answerMicrophone: (isAllowed: boolean) => void;
  answerCall: (offer: string) => Promise<string>;
  tellCall: (note: Record<string, unknown>) => Promise<void>;
  loseCall: () => Promise<void>;
};

const otherEnd = `
  let asked;
  let channel;
  let sound;
  navigator.mediaDevices.getUserMedia = () => new Promise((resolve, reject) => {
    channel = Promise.withResolvers();
    asked = { resolve, reject };
  });
  globalThis.answerMicrophone = (isAllowed) => isAllowed
    ? asked.resolve((sound ??= new AudioContext()).createMediaStreamDestination().stream)
    : asked.reject(new DOMException('', 'NotAllowedError'));
  const Peer = globalThis.RTCPeerConnection;
  globalThis.answerCall = async (sdp) => {
    const peer = new Peer();
    peer.ondatachannel = (event) => channel.resolve(event.channel);
    await peer.setRemoteDescription({ type: 'offer', sdp });
    await peer.setLocalDescription(await peer.createAnswer());
    while (peer.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 10));
    return peer.localDescription.sdp;
  };
  globalThis.tellCall = async (note) => (await channel.promise).send(JSON.stringify(note));
  globalThis.loseCall = async () => (await channel.promise).close();
`;

/** Where pictures of every state are put for somebody to look at; absent: none are taken. */
const folder = process.env.VESTRA_PICTURES;

export const takesPictures = folder !== undefined;

/**
 * Holds each state against axe, light on a desk and dark on a phone, and in both ways nothing may stick out; with
 * pictures in every way. `found` gets what is wrong.
 */
export function lookingFor(found: string[], locale: Locale): StateCheck {
  return async (state, page) => {
    const ways = !takesPictures ? twoWays : locale === 'en-GB' ? everyWay : otherWays;
    for (const [colorScheme, width] of ways) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: width === 390 ? 780 : 800 });
      const where = `${state}, ${colorScheme}, ${width}`;
      const barriers = await barriersOn(page);
      const sticksOut = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      found.push(
        ...barriers.map((barrier) => `${where}: ${barrier}`),
        ...(sticksOut > 0 ? [`${where}: too wide`] : []),
      );
      if (folder === undefined) continue;
      mkdirSync(folder, { recursive: true });
      const name = `${state}-${locale}-${colorScheme}-${width}`.replaceAll(' ', '-');
      await page.screenshot({ path: join(folder, `${name}.png`) });
    }
  };
}

const twoWays = [
  ['light', 1280],
  ['dark', 390],
] as const;
const otherWays = [
  ['light', 390],
  ['dark', 1440],
] as const;
const everyWay = [390, 1024, 1440].flatMap((width) => [['light', width] as const, ['dark', width] as const]);
