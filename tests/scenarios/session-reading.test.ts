import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOn, type PageDesk, replies, say, startPageDesk, type Visit } from './session-page.fixture.ts';

let desk: PageDesk;
let notebookId: string;
beforeAll(async () => {
  desk = await startPageDesk();
  const { body: notebook } = await desk.call('POST', '/v1/notebooks', { body: { name: 'Returns', slug: 'returns' } });
  notebookId = notebook.id;
  for (const [title, text] of Object.entries(documents)) {
    await desk.call('POST', `/v1/notebooks/${notebookId}/documents`, { body: { title, text } });
  }
  await desk.apply({ name: 'reader', instructions: 'Be kind.', memory: 'none', knowledge: [{ notebook: notebookId }] });
});
afterAll(() => desk.stop());

const documents = {
  'Return window': '# Returns\n\nA parcel may be sent back within **41 days** of delivery.',
  'Opening hours': 'The shop is open until seven in the evening.',
};

const leave = async ({ page, faults }: Visit) => {
  expect(faults).toEqual([]);
  await page.context().close();
};

const markOf = (request: NormalisedRequest, text: string) =>
  request.messages
    .flatMap((message) => (message.role === 'tool' ? message.results.map(({ output }) => output) : []))
    .flatMap((output) => output.split(/^(?=# Document)/m))
    .find((passage) => passage.includes(text))
    ?.match(/^Cite as \[(\d+)\]$/m)?.[1];

const searchThen = (answer: (request: NormalisedRequest) => string) => (request: NormalisedRequest) =>
  request.messages.at(-1)?.role === 'tool'
    ? { text: answer(request) }
    : { calls: [{ name: 'search_notebooks', arguments: { query: 'send back a parcel, open shop' } }] };

describe('a reply that cites documents', () => {
  it('has numbered references that open the passage, with the keyboard too, and leave a foreign mark as text [CON-761]', async () => {
    desk.script(
      searchThen(
        (request) =>
          `Until seven [${markOf(request, 'until seven')}]. You have **41 days** [${markOf(request, '41 days')}], says nobody [77].`,
      ),
    );
    const visit = await desk.visit({ deployment: 'reader' });
    const { page } = visit;
    await say(visit, 'How long, and when are you open?');
    const list = page.getByRole('region', { name: 'Sources' });
    await list.getByText('Return window').waitFor();
    const reply = replies(visit);
    expect(await reply.locator('p').textContent()).toBe('Until seven1. You have 41 days2, says nobody [77].');
    expect(await list.getByRole('listitem').allTextContents()).toEqual(['1Opening hours', '2Return window · Returns']);
    const second = reply.getByRole('button', { name: 'Source 2: Return window' });
    await second.focus();
    await page.keyboard.press('Enter');
    const passage = page.getByRole('dialog', { name: 'Source 2: Return window' });
    await passage.locator('strong', { hasText: '41 days' }).waitFor();
    expect(await barriersOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await passage.waitFor({ state: 'detached' });
    expect(await second.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.setViewportSize({ width: 390, height: 780 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.reload();
    await page.getByRole('region', { name: 'Sources' }).getByText('Opening hours').click();
    await page.getByRole('dialog').getByText('until seven in the evening').waitFor();
    await leave(visit);
  });

  it('shows no source of a deleted document, and its mark as text [CON-761, NB-267]', async () => {
    const { body: document } = await desk.call('POST', `/v1/notebooks/${notebookId}/documents`, {
      body: { title: 'Old rule', text: 'The old rule about parrots is gone.' },
    });
    desk.script((request) =>
      request.messages.at(-1)?.role === 'tool'
        ? { text: `Parrots [${markOf(request, 'parrots')}]. Until seven [${markOf(request, 'until seven')}].` }
        : { calls: [{ name: 'search_notebooks', arguments: { query: 'parrots, open shop' } }] },
    );
    const visit = await desk.visit({ deployment: 'reader' });
    const { page } = visit;
    await say(visit, 'What about parrots?');
    const sources = page.getByRole('region', { name: 'Sources' });
    await sources.getByText('Old rule').waitFor();
    expect(await replies(visit).locator('p').textContent()).toBe('Parrots1. Until seven2.');
    await desk.call('DELETE', `/v1/notebooks/${notebookId}/documents/${document.id}`);
    await page.reload();
    // The other source is shown once all are loaded.
    await sources.getByText('Opening hours').waitFor();
    expect(await sources.getByRole('listitem').allTextContents()).toEqual(['1Opening hours']);
    expect(await replies(visit).locator('p').textContent()).toMatch(/^Parrots \[\d\]\. Until seven1\.$/);
    await leave(visit);
  });
});

describe('a built-in tool', () => {
  it('is a sentence in the language of the page while it runs [CON-760]', async () => {
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    desk.script(async (request) => {
      if (request.messages.at(-1)?.role !== 'tool')
        return { calls: [{ name: 'search_notebooks', arguments: { query: 'parcel' } }] };
      asked.resolve();
      await goOn.promise;
      return { text: 'Bis sieben Uhr.' };
    });
    const visit = await desk.visit({ deployment: 'reader' }, { locale: 'de-DE' });
    const { page } = visit;
    await page.getByLabel('Nachricht', { exact: true }).fill('Bis wann?');
    await page.keyboard.press('Enter');
    await asked.promise;
    await page.getByText('Durchsucht die Dokumente …').waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/search.notebooks/);
    goOn.resolve();
    await page.getByText('Bis sieben Uhr.').waitFor();
    expect(await page.getByText('Durchsucht die Dokumente …').count()).toBe(0);
    await leave(visit);
  });
});

/** Notes in every frame where each block of the growing reply is, and how tall the reply is. `at`: which reply it is. */
const watchGrowth = (page: Page, at = 0) =>
  page.evaluate((index) => {
    const seen: { height: number; tops: number[]; tags: string[] }[] = [];
    Object.assign(globalThis, { seen });
    const look = () => {
      const reply = document.querySelectorAll('[data-role=agent] .reply')[index];
      if (reply) {
        const { top, height } = reply.getBoundingClientRect();
        const blocks = [...reply.children];
        seen.push({
          height,
          tops: blocks.map((block) => Math.round(block.getBoundingClientRect().top - top)),
          tags: blocks.map(({ tagName }) => tagName),
        });
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, at);

type Growth = { height: number; tops: number[]; tags: string[] }[];
const growthOf = (page: Page) => page.evaluate(() => (globalThis as never as { seen: Growth }).seen);

const longReply = `Here is what you asked for, with everything that belongs to it.

## The plans

| Plan | Price | Seats |
|---|---|---|
| Team | 12 | 5 |
| Company | 40 | 50 |

- the first thing, which is a little longer than the others
- the second thing

1. Open the box.
2. Read the note.

\`\`\`ts
const parcel = await find({ order: 4711 });
print(parcel.state);
\`\`\`

> A quote that ends it.

The last paragraph has **bold words** and [a link](https://shop.example.com/help), and it is long enough for two lines on any screen that this is read on.`;

describe('a reply that arrives in bursts', () => {
  it('grows evenly, and nothing above its end moves or changes its kind [CON-762]', async () => {
    // Until the renderer runs, the page shows plain text, which has another height.
    desk.script(() => ({ text: '**Ready.**' }));
    const visit = await desk.visit({ deployment: 'reader' });
    await say(visit, 'Are you ready?');
    await visit.page.locator('[data-role=agent][aria-busy=false] strong').waitFor();
    await desk.rest(visit.session.conversation_id);
    // Everything at once is the largest burst that there is.
    desk.script(() => ({ text: longReply }));
    await watchGrowth(visit.page, 1);
    await say(visit, 'Everything, please');
    await visit.page.locator('[data-role=agent][aria-busy=false]').nth(1).waitFor();
    const growth = await growthOf(visit.page);
    const whole = growth.at(-1)?.height ?? 0;
    const steps = growth.slice(1).map(({ height }, at) => height - (growth[at]?.height ?? 0));
    expect(Math.min(...steps)).toBeGreaterThanOrEqual(-1);
    // A table and a code block come with their frame. Without an even reveal the whole reply comes in one step.
    expect(Math.max(...steps)).toBeLessThan(whole / 3);
    const moved = growth.slice(1).flatMap((now, at) => {
      const before = growth[at] as Growth[number];
      // The last block is still being written.
      return before.tops.flatMap((top, block) =>
        Math.abs((now.tops[block] ?? top) - top) > 1 || (now.tags[block] ?? '') !== before.tags[block]
          ? [`${before.tags[block]} ${block}: ${top} to ${now.tags[block]} ${now.tops[block]}`]
          : [],
      );
    });
    expect(moved).toEqual([]);
    await leave(visit);
  });

  it('appears as it arrives if the reader wants less motion [CON-762]', async () => {
    desk.script(() => ({ text: longReply }));
    const visit = await desk.visit({ deployment: 'reader' }, { reducedMotion: 'reduce' });
    await watchGrowth(visit.page);
    await say(visit, 'Everything, please');
    await visit.page.locator('[data-role=agent][aria-busy=false]').waitFor();
    const heights = new Set((await growthOf(visit.page)).map(({ height }) => height));
    expect(heights.size).toBeLessThan(5);
    await leave(visit);
  });

  it('leaves a reader who scrolled up where they are, and a button leads to what is new [CON-763]', async () => {
    desk.script(() => ({ text: longReply }));
    const visit = await desk.visit({ deployment: 'reader' }, { viewport: { width: 800, height: 500 } });
    const { page } = visit;
    const view = page.getByRole('region', { name: 'Conversation' });
    for (const message of ['First', 'Second']) {
      await say(visit, message);
      await page
        .locator('[data-role=agent][aria-busy=false]')
        .nth(message === 'First' ? 0 : 1)
        .waitFor();
    }
    let send = (_: string) => {};
    desk.script(async () => ({
      text: await new Promise<string>((resolve) => {
        send = resolve;
      }),
    }));
    await say(visit, 'Third');
    await page.getByText('Thinking…').waitFor();
    await view.hover();
    await page.mouse.wheel(0, -600);
    await page.getByRole('button', { name: 'Go to the newest message' }).waitFor();
    const top = await view.evaluate((element) => element.scrollTop);
    await expect.poll(() => view.evaluate((element) => element.scrollTop)).toBe(top);
    send(longReply);
    const news = page.getByRole('button', { name: 'Go to the newest message' });
    await expect.poll(() => news.textContent()).toBe('New messages');
    await page.locator('[data-role=agent][aria-busy=false]').nth(2).waitFor();
    expect(await view.evaluate((element) => element.scrollTop)).toBe(top);
    await news.click();
    await expect
      .poll(() => view.evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight))
      .toBeLessThan(4);
    expect(await news.count()).toBe(0);
    await leave(visit);
  });
});
