import { createClient } from '@vestra/sdk/client';
import { serveFunctions } from '@vestra/sdk/functions';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { makeDataDir, startProcess } from '../support/process.ts';
import { door } from './conversations.fixture.ts';
import { calling, inTurn, resultsIn } from './interactions.fixture.ts';
import { barriersOn, type PageDesk, replies, say, startPageDesk, type Visit } from './session-page.fixture.ts';

let desk: PageDesk;
beforeAll(async () => {
  desk = await startPageDesk();
  await desk.apply({
    name: 'desk',
    memory: 'none',
    tools: [
      { function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' } },
      {
        function: 'refund_card',
        description: 'Refunds an order to the card it was paid with. Never twice.',
        input: { amount_usd: 'number', day: 'string', note: 'string' },
      },
      { function: 'write_off', description: 'Writes an order off.', input: { note: 'string' }, approver: 'org' },
    ],
  });
});
afterAll(() => desk.stop());

/** A PNG of five by five pixels. */
const redDot =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

const shown = ({ page }: Visit) => page.locator('[data-role]').allInnerTexts();
const leave = async (visit: Visit) => {
  expect(visit.faults).toEqual([]);
  await visit.page.context().close();
};
const textOf = (lines: string[]) => lines.map((line) => line.replace(/^(You|Agent)\n+/, '').trim());

describe('the chat', () => {
  it('sends messages, streams replies, and does not expose the token [PAGE-001]', async () => {
    const visit = await desk.visit({ user_id: 'ada' });
    const { page, session } = visit;
    await page.getByText('How can I help?').waitFor();
    expect(page.url()).toBe(session.url.split('#')[0]);
    desk.script(() => ({ text: 'I thi', fail: 'hang' }));
    await say(visit, 'Good morning');
    await replies(visit).getByText('I thi').waitFor();
    expect(await replies(visit).getAttribute('aria-busy')).toBe('true');
    expect(await page.getByRole('status').allInnerTexts()).not.toContain('Agent: I thi');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('[data-end=stopped]').waitFor();
    await desk.rest(session.conversation_id);
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });

    desk.script(() => ({ text: ['It is ', '**sunny**', '.'] }));
    await page.getByLabel('Message', { exact: true }).fill('And');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('now?');
    await page.keyboard.press('Enter');
    await replies(visit).getByText('sunny', { exact: true }).waitFor();
    await page.getByText('Agent: It is sunny .').waitFor({ state: 'attached' });
    // The announcement has the whole reply while its last characters are still revealed.
    await expect
      .poll(async () => textOf(await shown(visit)))
      .toEqual(['Good morning', 'I thi', 'And\nnow?', 'It is sunny.']);
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
    await leave(visit);
  });

  it('queues messages sent during a reply, and shows them in order', async () => {
    const visit = await desk.visit();
    const held = door();
    desk.script(async ({ messages }) => {
      await held.opened;
      return { text: `Answer ${messages.filter(({ role }) => role === 'user').length}` };
    });
    await say(visit, 'First');
    await visit.page.getByText('Thinking…').waitFor();
    await say(visit, 'Second');
    await visit.page.getByText('Queued').waitFor();
    held.open();
    await replies(visit).getByText('Answer 2').waitFor();
    expect(textOf(await shown(visit))).toEqual(['First', 'Answer 1', 'Second', 'Answer 2']);
    expect(await visit.page.getByText('Queued').count()).toBe(0);
    await leave(visit);
  });

  it('resumes after the network was lost, without losing or repeating a word', async () => {
    const visit = await desk.visit();
    const { page, session } = visit;
    const words = Array.from({ length: 40 }, (_, at) => `word${at} `);
    desk.script(() => ({ text: words, chunkDelayMs: 60 }));
    await say(visit, 'Count');
    await replies(visit).getByText('word1').waitFor();
    desk.line.cut();
    await page.getByText('Reconnecting…').waitFor();
    await desk.rest(session.conversation_id);
    desk.line.restore();
    await replies(visit).getByText('word39').waitFor();
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' });
    expect(textOf(await replies(visit).allInnerTexts())).toEqual([words.join('').trim()]);
    await leave(visit);
  });

  it('survives a connection that is cut repeatedly, without losing or repeating a word [SES-532]', async () => {
    const visit = await desk.visit();
    const words = Array.from({ length: 60 }, (_, at) => `word${at} `);
    desk.script(() => ({ text: words, chunkDelayMs: 60 }));
    await say(visit, 'Count');
    for (let at = 0; at < 60; at += 10) {
      await replies(visit).getByText(`word${at} `).waitFor();
      desk.line.cut();
      desk.line.restore();
    }
    await replies(visit).getByText('word59').waitFor();
    expect(textOf(await replies(visit).allInnerTexts())).toEqual([words.join('').trim()]);
    await leave(visit);
  });

  it('keeps a message that could not be sent, and sends it once on request [PAGE-243]', async () => {
    const visit = await desk.visit();
    desk.script(() => ({ text: 'Heard.' }));
    await visit.page.getByText('How can I help?').waitFor();
    desk.line.cut();
    await say(visit, 'Hello?');
    await visit.page.getByText('Not sent. The service cannot be reached right now.').waitFor();
    expect(await visit.page.locator('body').textContent()).not.toMatch(/127\.0\.0\.1|http/);
    desk.line.restore();
    await visit.page.getByRole('button', { name: 'Try again' }).click();
    await replies(visit).getByText('Heard.').waitFor();
    expect(textOf(await shown(visit))).toEqual(['Hello?', 'Heard.']);
    await desk.rest(visit.session.conversation_id);
    const { body } = await desk.call('GET', `${visit.path}/messages`);
    expect(body.data).toHaveLength(2);
    await leave(visit);
  });

  it('offers to retry a failed reply, and announces it to screen readers [PAGE-243]', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    desk.script(() => ({ fail: 400, failMessage: 'no such model at http://10.0.0.7' }));
    await say(visit, 'Tell me');
    const ending = page.locator('[data-end=failed]');
    await ending.getByText('The reply could not be finished.').waitFor();
    await page.getByRole('status').getByText('The reply could not be finished.').waitFor({ state: 'attached' });
    expect(await barriersOn(page)).toEqual([]);
    desk.script(() => ({ text: 'Here it is.' }));
    await ending.getByRole('button', { name: 'Try again' }).click();
    await replies(visit).getByText('Here it is.').waitFor();
    expect(await ending.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(textOf(await shown(visit))).toEqual(['Tell me', 'Tell me', 'Here it is.']);
    await leave(visit);
  });

  it('copies a reply, sends the last message again, and shows the time of day [CON-742]', async () => {
    const visit = await desk.visit(
      { user_id: 'cora' },
      { permissions: ['clipboard-read', 'clipboard-write'], timezoneId: 'Europe/Berlin' },
    );
    const { page, path } = visit;
    desk.script(() => ({ text: 'The **first** answer.' }));
    await say(visit, 'Which one?');
    await replies(visit).getByText('first').waitFor();
    await page.getByRole('button', { name: 'Copy reply' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('The **first** answer.');
    desk.script(() => ({ text: 'The second answer.' }));
    await page.getByRole('button', { name: 'Try again' }).click();
    await replies(visit).getByText('second').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    // Only the last reply can be tried again.
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: /Copy reply|Copied/ }).count()).toBe(2);
    const { body } = await desk.call('GET', `${path}/messages`);
    const [newest] = body.data;
    expect(body.data.map(({ text }: { text: string }) => text).reverse()).toEqual([
      'Which one?',
      'The **first** answer.',
      'Which one?',
      'The second answer.',
    ]);
    const time = new Date(newest.created_at).toLocaleTimeString('en-GB', {
      timeStyle: 'short',
      timeZone: 'Europe/Berlin',
    });
    expect(await page.locator(`time[datetime="${newest.created_at}"]`).textContent()).toBe(time);
    expect(await page.locator('time').count()).toBe(4);
    // On another day, the date is shown too.
    await page.clock.setFixedTime(Date.now() + 3 * 86_400_000);
    await page.reload();
    await expect.poll(() => page.locator(`time[datetime="${newest.created_at}"]`).textContent()).toMatch(/\d \w+, \d/);
    await leave(visit);
  });

  it('scrolls a wide table within the page of a phone [CON-742]', async () => {
    const visit = await desk.visit({}, { viewport: { width: 390, height: 700 } });
    const { page } = visit;
    const cells = Array.from({ length: 12 }, (_, at) => `column ${at}`);
    const table = `| ${cells.join(' | ')} |\n|${'---|'.repeat(12)}\n| ${cells.join(' | ')} |`;
    desk.script(() => ({ text: `${table}\n\nThe last line.` }));
    await say(visit, 'Compare');
    await replies(visit).getByText('The last line.').waitFor();
    const wide = replies(visit).locator('div:has(> table)');
    expect(await wide.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await wide.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => wide.evaluate((box) => box.scrollLeft)).toBeGreaterThan(0);
    expect(await barriersOn(page)).toEqual([]);
    await leave(visit);
  });

  it('says what the agent does while a function runs, live and after a reload [CON-743]', async () => {
    const tools = [
      {
        function: 'find_order',
        description: 'Finds an order.',
        input: { number: 'string', api_key: 'string' },
        read_only: true,
        activity: 'Looking up order {number}',
      },
      { function: 'find_shelf', description: 'Finds a shelf.', input: { sku: 'string' }, read_only: true },
    ];
    await desk.apply({ name: 'finder', memory: 'none', tools });
    desk.script(inTurn(calling('find_order', { number: '4711', api_key: 'hush' }), { text: 'On its way.' }));
    const visit = await desk.visit({ deployment: 'finder' });
    const { page } = visit;
    await say(visit, 'Where is my order?');
    for (const look of ['live', 'reloaded']) {
      if (look === 'reloaded') await page.reload();
      await page.locator('main section').getByText('Looking up order 4711').waitFor();
      expect(await page.content()).not.toContain('hush');
    }
    const finish = async (output: string) => {
      const { body } = await desk.call('GET', visit.path);
      await desk.answer(body.pending_tool_calls[0].call_id, { output });
      await desk.rest(visit.session.conversation_id);
    };
    await finish('sent');
    await replies(visit).getByText('On its way.').waitFor();
    desk.script(inTurn(calling('find_shelf', { sku: 'A4' }), { text: 'Shelf 3.' }));
    await say(visit, 'Which shelf?');
    await page.locator('main section').getByText('Using “find shelf”…').waitFor();
    await finish('3');
    await leave(visit);
  });

  it('begins with the opening of the file, unless the org sets one for this deployment [CON-744]', async () => {
    const opening = { message: 'Ask me about paper.', suggestions: ['Which sizes are there?'] };
    const applied = await desk.apply({ name: 'opener', memory: 'none', opening });
    expect(applied.status).toBeLessThan(300);
    desk.script(() => ({ text: 'A4 and A5.' }));
    const visit = await desk.visit({ deployment: 'opener' });
    await visit.page.getByText('Ask me about paper.').waitFor();
    await visit.page.getByRole('button', { name: 'Which sizes are there?' }).click();
    await replies(visit).getByText('A4 and A5.').waitFor();
    await leave(visit);
    const first = (await desk.call('POST', '/v1/sessions', { body: { chat: true, deployment: 'opener' } })).body;
    await desk.apply({ name: 'opener', memory: 'none', opening: { suggestions: ['Who are you?'] } });
    const open = async (deployment = 'opener') =>
      (await desk.call('POST', '/v1/sessions', { body: { chat: true, deployment } })).body.opening;
    expect(first.opening).toEqual(opening);
    expect(await open()).toEqual({ suggestions: ['Who are you?'] });
    expect(await open('opener@1')).toEqual(opening);
    const ofOrg = { opener: { message: 'Hello.', suggestions: [] } };
    await desk.call('PATCH', '/v1/org', { body: { openings: ofOrg } });
    expect(await open()).toEqual(ofOrg.opener);
    await desk.call('PATCH', '/v1/org', { body: { openings: {} } });
  });

  it('accepts a rating and a note for each reply, by keyboard, and saves them [CON-206]', async () => {
    const visit = await desk.visit({ user_id: 'rita' });
    const { page, path } = visit;
    desk.script(() => ({ text: 'Perhaps.' }));
    await say(visit, 'Is it open?');
    const good = page.getByRole('button', { name: 'Good reply' });
    const bad = page.getByRole('button', { name: 'Bad reply' });
    await good.waitFor();
    desk.line.cut();
    await good.click();
    await page.getByRole('alert').getByText('The service cannot be reached right now.').waitFor();
    desk.line.restore();
    await good.focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-rating=good]').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.locator('[data-rating=bad]').waitFor();
    await page.keyboard.type('Yes or no, please');
    expect(await barriersOn(page)).toEqual([]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Thank you.').waitFor();
    expect(await bad.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.reload();
    await page.locator('[data-rating=bad]').waitFor();
    const { body } = await desk.call('GET', `${path}/feedback`);
    expect(body.data).toMatchObject([
      { rating: 'bad', note: 'Yes or no, please', rater: { type: 'user', id: 'rita' } },
    ]);
    await leave(visit);
  });

  it('shows earlier messages while scrolling up, and messages of others', async () => {
    const { body: conversation } = await desk.call('POST', '/v1/conversations', { body: {} });
    const path = `/v1/conversations/${conversation.id}`;
    desk.script(({ messages }) => ({ text: `Reply ${messages.filter(({ role }) => role === 'user').length}` }));
    for (let at = 1; at <= 20; at += 1) {
      await desk.call('POST', `${path}/messages`, { body: { message: `Ask ${at}` }, headers: { prefer: 'wait=30' } });
    }
    const visit = await desk.visit({ conversation_id: conversation.id });
    await replies(visit).getByText('Reply 20').waitFor();
    expect(textOf(await shown(visit))).toHaveLength(30);
    await visit.page.getByLabel('Conversation').hover();
    await visit.page.mouse.wheel(0, -10_000);
    await replies(visit).getByText('Reply 1', { exact: true }).waitFor();
    await desk.call('POST', `${path}/messages`, { body: { message: 'From elsewhere' } });
    await visit.page.locator('[data-role=user]', { hasText: 'From elsewhere' }).waitFor();
    await replies(visit).getByText('Reply 21').waitFor();
    const expected = Array.from({ length: 20 }, (_, at) => [`Ask ${at + 1}`, `Reply ${at + 1}`]).flat();
    expect(textOf(await shown(visit))).toEqual([...expected, 'From elsewhere', 'Reply 21']);
    await leave(visit);
  });

  it('opened in the middle of a reply shows it from its beginning', async () => {
    const first = await desk.visit();
    desk.script(() => ({ text: ['So far ', 'so good'], fail: 'hang' }));
    await say(first, 'Begin');
    await replies(first).getByText('so good').waitFor();
    const second = await desk.visit({ conversation_id: first.session.conversation_id });
    await replies(second).getByText('So far so good').waitFor();
    await second.page.getByRole('button', { name: 'Stop' }).click();
    await first.page.locator('[data-end=stopped]').waitFor();
    await leave(first);
    await leave(second);
  });
});

describe('an interaction', () => {
  const waitFor = async (visit: Visit, name: string, given: unknown) => {
    desk.script(inTurn(calling(name, given), { text: 'Thanks.' }));
    await say(visit, 'Go on');
    await visit.page.locator('[data-wait]').waitFor();
  };
  const settled = async (visit: Visit) => {
    await replies(visit).getByText('Thanks.').last().waitFor();
    await desk.rest(visit.session.conversation_id);
    return resultsIn(desk.asked.at(-1)).at(-1);
  };

  it('as an approval accepts approve and decline from the person who is present [PAGE-002]', async () => {
    const visit = await desk.visit();
    const { page, path } = visit;
    await waitFor(visit, 'order_paper', { sheets: 500 });
    const card = page.locator('[data-wait=approval]');
    expect(await card.locator('dl').textContent()).toMatch(/Sheets\s*500/);
    await card.getByRole('button', { name: 'Yes' }).click();
    await page.locator('[data-outcome=approved]').waitFor();
    const called = await desk.until(path, ({ pending_tool_calls }) => pending_tool_calls.length === 1);
    expect(await page.locator('[data-wait]').count()).toBe(0);
    await desk.answer(called.pending_tool_calls[0].call_id, { output: 'ordered' });
    expect(await settled(visit)).toContain('ordered');

    await waitFor(visit, 'order_paper', { sheets: 1 });
    await card.getByRole('button', { name: 'No' }).click();
    await page.locator('[data-outcome=denied]').waitFor();
    expect(await settled(visit)).toBe('The person said no. The tool was not called.');
    await leave(visit);
  });

  it('with the company’s own code is shown as a task, with its progress and without its arguments [PAGE-220]', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    await waitFor(visit, 'order_paper', { sheets: 500 });
    await page.getByRole('button', { name: 'Yes' }).click();
    const using = 'Using “order paper”…';
    await page.getByText(using).first().waitFor();
    await expect.poll(() => page.getByRole('status').first().textContent()).toBe(using);
    const body = { functions: ['order_paper'], wait_s: 10 };
    const taken = await desk.call('POST', '/v1/deployments/desk/tool-calls/take', { body });
    const [{ call_id, claim_id }] = taken.body.data;
    const progress = 'Asking the warehouse <b>now</b>';
    await desk.call('POST', `/v1/tool-calls/${call_id}/renew`, { body: { claim_id, progress } });
    await page.getByText(progress).first().waitFor();
    await expect.poll(() => page.getByRole('status').textContent()).toBe(progress);
    const later = await desk.visit({ conversation_id: visit.session.conversation_id });
    await later.page.getByText(progress).first().waitFor();
    await desk.answer(call_id, { output: 'ordered' });
    expect(await settled(visit)).toContain('ordered');
    for (const each of [visit, later]) {
      await replies(each).getByText('Thanks.').waitFor();
      expect(await each.page.locator('main section').getByText(progress).count()).toBe(0);
      await leave(each);
    }
  });

  it('with the company’s own code stays at its place under later replies, which end without Thinking and can be retried [CON-702]', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    await waitFor(visit, 'order_paper', { sheets: 500 });
    await page.getByRole('button', { name: 'Yes' }).click();
    const thinking = page.locator('main section').getByText(/Thinking…|Using “order paper”…/);
    await thinking.waitFor();
    desk.script(() => ({ text: '| Plan | Price |\n|---|---:|\n| Team | $9 |' }));
    await say(visit, 'What does it cost?');
    await page.getByRole('cell', { name: 'Team' }).waitFor();
    await page.getByRole('status').getByText('Team').waitFor({ state: 'attached' });
    expect(await page.getByRole('status').last().textContent()).not.toContain('---');
    desk.script(() => ({ fail: 400 }));
    await say(visit, 'And a year?');
    const ending = page.locator('[data-end=failed]');
    for (const look of ['live', 'reloaded']) {
      if (look === 'reloaded') await page.reload();
      await ending.getByRole('button', { name: 'Try again' }).waitFor();
      expect(await thinking.count()).toBe(1);
      const places = await Promise.all([thinking, replies(visit).first(), ending].map((each) => each.boundingBox()));
      expect(places.map((box) => box?.y)).toEqual(
        places.map((box) => box?.y).toSorted((a, b) => Number(a) - Number(b)),
      );
    }
    desk.script(() => ({ text: 'Ninety.' }));
    await ending.getByRole('button', { name: 'Try again' }).click();
    await replies(visit).getByText('Ninety.').waitFor();
    expect(await thinking.count()).toBe(1);
    const { body } = await desk.call('GET', visit.path);
    await desk.answer(body.pending_tool_calls[0].call_id, { output: 'ordered' });
    await thinking.waitFor({ state: 'detached' });
    await desk.rest(visit.session.conversation_id);
    await leave(visit);
  });

  it('with the company’s own code is answered once, even if the server is killed in the middle of it [SES-421]', async () => {
    const { dataDir, remove } = await makeDataDir();
    const port = await freePort();
    const killed = await startProcess(dataDir, {
      ...{ ...desk.env, DATABASE_URL: desk.connectionString, VESTRA_MASTER_KEY: 'ab'.repeat(32) },
      ...{ VESTRA_PUBLIC_URL: desk.line.url, PORT: String(port) },
    });
    desk.line.leadTo(`http://127.0.0.1:${port}`);
    const begun: string[] = [];
    const held = door();
    const serving = new AbortController();
    const served = serveFunctions(createClient({ baseUrl: desk.line.url, key: desk.testKey }), {
      ...{ deployment: 'desk', signal: serving.signal, onEvent: () => {} },
      functions: {
        order_paper: async (_, { call_id, progress }) => {
          begun.push(call_id);
          await progress('Counting sheets');
          await held.opened;
          return 'ordered once';
        },
      },
    });
    const visit = await desk.visit();
    const { page, session } = visit;
    await waitFor(visit, 'order_paper', { sheets: 500 });
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('Counting sheets').first().waitFor();
    desk.line.cut();
    await killed.kill('SIGKILL');
    await page.getByText('Reconnecting…').waitFor();
    held.open();
    desk.line.leadTo(desk.url);
    desk.line.restore();
    expect(await settled(visit)).toContain('ordered once');
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' });
    expect([begun.length, await replies(visit).count()]).toEqual([1, 1]);
    const resolved = (await desk.log(session.conversation_id)).filter(({ type }) => type === 'interaction.resolved');
    // One for the approval and one for the call.
    expect(resolved).toHaveLength(2);
    serving.abort();
    await served;
    await leave(visit);
    await remove();
  });

  it('shows once, in plain words, the action and its values [PAGE-241]', async () => {
    const visit = await desk.visit({}, { locale: 'de-DE', timezoneId: 'Europe/Berlin' });
    const { page } = visit;
    desk.script(
      inTurn(calling('refund_card', { amount_usd: 49.5, day: '2026-11-20', note: '<b>x</b>' }), { text: 'Thanks.' }),
    );
    await page.getByLabel('Nachricht', { exact: true }).fill('Los');
    await page.keyboard.press('Enter');
    const card = page.locator('[data-wait=approval]');
    await card.getByText('Refunds an order to the card it was paid with.').waitFor();
    const said = ((await card.textContent()) ?? '').replace(/\u00a0/g, ' ');
    expect(said).toMatch(/Mit ZahlungAmount49,50 \$Day20\. November 2026Note<b>x<\/b>/);
    expect(said).toMatch(/Sie können bis \d+\. \p{L}+ \d{4} um \d?\d:\d\d \S+ antworten\./u);
    expect(said).not.toMatch(/refund_card|amount_usd|49\.5/);
    expect(await barriersOn(page)).toEqual([]);
    await card.getByRole('button', { name: 'Nein' }).click();
    await page.locator('[data-outcome=denied]').waitFor();
    expect(await page.locator('[data-outcome=denied]').textContent()).toBe(
      'Refunds an order to the card it was paid with. · Abgelehnt',
    );
    await leave(visit);
  });

  it('is answered by the company if it approves: in a reply and in a task [PAGE-242]', async () => {
    const visit = await desk.visit();
    const { page, session } = visit;
    desk.script(({ tools, messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return { text: 'Thanks.' };
      const isWork = !tools.some(({ name }) => name === 'hand_off_to_work');
      const asksForWork = last?.role === 'user' && last.text === 'Work';
      if (asksForWork && !isWork) return calling('hand_off_to_work', { title: 'Write off', task: 'Do it.' });
      return calling('write_off', { note: 'CANARY-5' });
    });
    for (const [message, isYes] of [
      ['Go on', true],
      ['Work', false],
    ] as const) {
      await say(visit, message);
      const card = page.locator('[data-wait=company]');
      await card.getByText('The company has to approve this step.').waitFor();
      expect(await card.getByRole('button').count()).toBe(0);
      expect(await barriersOn(page)).toEqual([]);
      if (!isYes) await page.locator('[data-work=waiting]').getByText('Waiting for the company').first().waitFor();
      expect(await page.content()).not.toContain('CANARY');
      const [wait] = await desk.open(session.conversation_id);
      await desk.answer(wait.id, { approve: isYes });
      await page.getByText(isYes ? 'Approved by the company' : 'Declined by the company').waitFor();
      if (isYes) {
        const [call] = await desk.open(session.conversation_id);
        await desk.answer(call.id, { output: 'off' });
      }
      await desk.rest(session.conversation_id);
    }
    expect(await page.content()).not.toContain('CANARY');
    await leave(visit);
  });

  it('accepts the answer of one of two tabs, and both show it', async () => {
    const first = await desk.visit();
    await waitFor(first, 'order_paper', { sheets: 7 });
    const second = await desk.visit({ conversation_id: first.session.conversation_id });
    const held = door();
    const isSent = [first, second].map(async ({ page }) => {
      const sent = page.waitForRequest('**/answer');
      await page.route('**/answer', async (route) => {
        await held.opened;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Yes' }).click();
      await sent;
    });
    await Promise.all(isSent);
    held.open();
    for (const { page } of [first, second]) {
      await page.locator('[data-outcome=approved]').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    const [call, ...others] = await desk.open(first.session.conversation_id);
    expect(others).toEqual([]);
    await desk.answer(call.id, { output: 'ordered' });
    await settled(first);
    await leave(first);
    await leave(second);
  });

  it('in person returns the nonce with the approval', async () => {
    const visit = await desk.visit();
    await waitFor(visit, 'ask_question', { question: 'Wipe the disk?', in_person: true });
    await visit.page.getByText('Only you can approve this').waitFor();
    await visit.page.getByRole('button', { name: 'Yes' }).click();
    expect(await settled(visit)).toBe('The person said yes.');
    await leave(visit);
  });

  it('as a question accepts options, several of them, and free text [PAGE-002]', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    const also = [
      { question: 'Which colours?', options: ['red', 'blue', 'green'], multi_select: true },
      { question: 'When?' },
    ];
    await waitFor(visit, 'ask_question', { question: 'Which size?', options: ['S', 'M'], also });
    const send = page.getByRole('button', { name: 'Answer' });
    await page.getByRole('radio', { name: 'M' }).check();
    await page.getByRole('checkbox', { name: 'red' }).check();
    await page.getByRole('checkbox', { name: 'green' }).check();
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel('Your answer: When?').fill('today');
    await send.click();
    expect(await settled(visit)).toBe('Which size?\nM\n\nWhich colours?\nred, green\n\nWhen?\ntoday');

    await waitFor(visit, 'ask_question', { question: 'Which size?', options: ['S', 'M'] });
    await page.getByRole('radio', { name: 'M' }).check();
    await page.getByLabel('Another answer: Which size?').fill('XL');
    expect(await page.getByRole('radio', { name: 'M' }).isChecked()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await settled(visit)).toBe('XL');
    await waitFor(visit, 'ask_question', { question: 'Sure?' });
    await page.getByRole('button', { name: 'Skip' }).click();
    expect(await settled(visit)).toBe('The person said no.');
    await leave(visit);
  });

  it('disappears when it is answered elsewhere or cancelled', async () => {
    const visit = await desk.visit();
    const { page, session } = visit;
    await waitFor(visit, 'ask_question', { question: 'Which size?' });
    const [first] = await desk.open(session.conversation_id);
    await desk.answer(first.id, { answers: ['From the phone'] });
    await page.locator('[data-outcome=answered]', { hasText: 'From the phone' }).waitFor();
    await settled(visit);
    await waitFor(visit, 'ask_question', { question: 'Another?' });
    const [second] = await desk.open(session.conversation_id);
    await desk.call('POST', `/v1/interactions/${second.id}/cancel`);
    await page.locator('[data-outcome=cancelled]').waitFor();
    expect(await page.locator('[data-wait]').count()).toBe(0);
    await leave(visit);
  });

  it('as a hand-off accepts its result, and a value if it asks for one', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    for (const [button, read] of [
      ['Done', 'The person did it.'],
      ['I could not do it', 'The person said no. They wrote: "I could not do it.".'],
      ['Not now', 'The person said no. They wrote: "Not now.".'],
    ] as const) {
      desk.script(({ tools, messages }) => {
        if (tools.some(({ name }) => name === 'hand_off_to_work'))
          return calling('hand_off_to_work', { title: 'Sign in', task: 'Do it.' });
        return messages.at(-1)?.role === 'tool'
          ? { text: `Thanks for ${button}.` }
          : calling('request_handoff', { request: 'Sign in to the shop.' });
      });
      await say(visit, 'Go on');
      await page.locator('[data-wait=handoff]').getByText('Sign in to the shop.').waitFor();
      await page.getByRole('button', { name: button }).click();
      await page.locator('[data-role=work]').getByText(`Thanks for ${button}.`).waitFor();
      expect(desk.asked.flatMap(resultsIn)).toContain(read);
    }
    desk.script(({ tools, messages }) => {
      if (tools.some(({ name }) => name === 'hand_off_to_work'))
        return calling('hand_off_to_work', { title: 'Code', task: 'Do it.' });
      return messages.at(-1)?.role === 'tool'
        ? { text: 'Got it.' }
        : calling('request_handoff', { request: 'Read me the code.', asks_for_value: true });
    });
    await say(visit, 'Go on');
    await page.getByLabel('Your answer: Read me the code.').fill('123 456');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('[data-role=work]').getByText('Got it.').waitFor();
    expect(desk.asked.flatMap(resultsIn)).toContain('123 456');
    await leave(visit);
  });
});

describe('an app to connect', () => {
  it('is requested by a button, and then by a link if its address is a web address [APP-430]', async () => {
    const asking = await desk.visit();
    desk.script(inTurn(calling('ask_question', { question: 'Which size?' }), { text: 'Thanks.' }));
    await say(asking, 'Go on');
    await asking.page.locator('[data-wait]').waitFor();
    for (const [connect_url, links] of [
      ['https://sign-in.example/start', 1],
      ['javascript:alert(1)', 0],
    ] as const) {
      const context = await desk.browser.newContext({ locale: 'en-GB' });
      const page = await context.newPage();
      await page.route('**/v1/interactions/*', async (route) => {
        const answer = await route.fetch();
        const details = { app: 'calendar', name: 'Calendar' };
        const changed = { type: 'connect', kind: 'connector_auth', summary: 'Connect Calendar to go on.', details };
        await route.fulfill({ response: answer, json: { ...(await answer.json()), ...changed } });
      });
      await page.route('**/v1/connections', (route) => route.fulfill({ status: 201, json: { connect_url } }));
      const { body: session } = await desk.call('POST', '/v1/sessions', {
        body: { chat: true, conversation_id: asking.session.conversation_id },
      });
      await page.goto(session.url);
      const card = page.locator('[data-wait=connect]');
      await card.getByText('Connect Calendar to go on.').waitFor();
      await card.getByRole('button', { name: 'Connect Calendar' }).click();
      if (links === 1) await card.getByRole('link', { name: 'Connect Calendar' }).waitFor();
      else await card.getByRole('alert').getByText('This is not available right now.').waitFor();
      expect(await card.getByRole('link').count()).toBe(links);
      await context.close();
    }
    await leave(asking);
  });
});

describe('tasks and files', () => {
  it('shows a task with its plan, and its files to download, also after a reload', async () => {
    const visit = await desk.visit();
    const { page } = visit;
    const steps = (first: string, second: string) => [
      { content: 'Read the invoices', status: first },
      { content: 'Write the report', status: second },
    ];
    desk.script((request) => {
      if (request.tools.some(({ name }) => name === 'hand_off_to_work')) {
        return { text: 'On it.', ...calling('hand_off_to_work', { title: 'Report', task: 'Write it.' }) };
      }
      return inTurn(
        calling('update_plan', { title: 'The report', steps: steps('completed', 'in_progress') }),
        calling('ask_question', { question: 'In which format?' }),
        calling('save_output', { filename: 'report.md', content: '# Report' }),
        calling('update_plan', { title: 'The report', steps: steps('completed', 'completed') }),
        { text: 'The report is ready.' },
      )(request);
    });
    await say(visit, 'Write a report');
    const card = page.getByRole('region', { name: 'The report' });
    await card.getByText('Now: Write the report').waitFor();
    await card.getByText('Waiting for you').waitFor();
    expect(await card.getByText('1/2').count()).toBe(1);
    await page.getByLabel('Your answer: In which format?').fill('Markdown');
    await page.keyboard.press('Enter');
    await page.locator('[data-role=work]').getByText('The report is ready.').waitFor();
    await page.locator('[data-work=done]').waitFor();

    const later = await desk.visit({ conversation_id: visit.session.conversation_id });
    await later.page.locator('[data-work=done]').getByText('Markdown').waitFor();
    for (const { page: each } of [visit, later]) {
      const arrived = each.waitForEvent('download');
      await each.getByRole('link', { name: 'Download report.md' }).click();
      const download = await arrived;
      expect(download.suggestedFilename()).toBe('report.md');
      const chunks = await (await download.createReadStream()).toArray();
      expect(Buffer.concat(chunks).toString()).toBe('# Report');
    }
    await leave(visit);
    await leave(later);
  });

  it('shows a picture as a thumbnail, before and after it is sent, and keeps its place [CON-742]', async () => {
    const visit = await desk.visit({ user_id: 'ada' });
    const { page } = visit;
    desk.script(() => ({ text: 'A red dot.' }));
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(redDot, 'base64') },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('1') },
    ]);
    const isDrawn = (picture: Locator) =>
      expect.poll(() => picture.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    await isDrawn(page.locator('form img'));
    await page.getByText('Uploading…').first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send' }).click();
    for (const look of ['live', 'reloaded']) {
      if (look === 'reloaded') await page.reload();
      await isDrawn(page.getByRole('link', { name: 'Download dot.png' }).getByRole('img'));
      await page.getByRole('link', { name: 'Download notes.txt' }).waitFor();
      // The stored message replaces the one that was shown at once.
      await expect.poll(() => page.locator('[data-role=user] img').count()).toBe(1);
    }
    await replies(visit).getByText('A red dot.').waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await leave(visit);
  });

  it('accepts files by button, drop and paste, and sends them with the message', async () => {
    const visit = await desk.visit({ user_id: 'ada' });
    const { page, path, session } = visit;
    desk.script(() => ({ text: 'I have them.' }));
    await page.locator('input[type=file]').setInputFiles([
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('1') },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('no') },
      { name: 'huge.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(10 * 1024 * 1024 + 1) },
    ]);
    await page.getByText('huge.bin is larger than 10 MB.').waitFor();
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    for (const [type, name] of [
      ['drop', 'two.txt'],
      ['paste', 'three.txt'],
    ] as const) {
      await page.getByLabel('Message', { exact: true }).evaluate(
        (field, given) => {
          const data = new DataTransfer();
          data.items.add(new File(['2'], given.name, { type: 'text/plain' }));
          const options = { bubbles: true, cancelable: true };
          field.dispatchEvent(
            given.type === 'drop'
              ? new DragEvent('drop', { ...options, dataTransfer: data })
              : new ClipboardEvent('paste', { ...options, clipboardData: data }),
          );
        },
        { type, name },
      );
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
    }
    await page.getByText('Uploading…').first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send' }).click();
    await replies(visit).getByText('I have them.').waitFor();
    await desk.rest(session.conversation_id);
    const { body } = await desk.call('GET', `${path}/messages`);
    const names = ['one.txt', 'two.txt', 'three.txt'];
    expect(body.data[1].attachments.map(({ filename }: { filename: string }) => filename)).toEqual(names);
    for (const name of names) await page.getByRole('link', { name: `Download ${name}` }).waitFor();
    await leave(visit);
  });
});
