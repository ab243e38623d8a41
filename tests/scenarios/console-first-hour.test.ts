import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { verifyWebhook } from '@vestra/sdk/webhook';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { type ConsoleDesk, startConsoleDesk } from './console.fixture.ts';

let desk: ConsoleDesk;
let own: Awaited<ReturnType<typeof startOwnProgram>>;
beforeAll(async () => {
  [desk, own] = await Promise.all([startConsoleDesk(), startOwnProgram()]);
});
afterAll(async () => {
  await desk.stop();
  own.close();
});

// An empty list offers what its page offers, once more.
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
const goTo = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
const shownSecret = async (page: Page) => {
  const secret = (await page.locator('[data-secret]').textContent()) ?? '';
  await press(page, 'I have saved it');
  return secret;
};

describe('a new company', () => {
  it('has its whole first hour in the console [CON-300] [CON-302] [CON-746]', { timeout: 480_000 }, async () => {
    desk.script(cast({ agent: model }));
    const { page, leave } = await desk.enter('/', { as: null });

    await page.getByLabel('Email').fill(desk.owner.email);
    await page.getByLabel('Password').fill(desk.owner.password);
    await press(page, 'Sign in');
    await page.getByText(/of 6$/).waitFor();

    // An agent by interview.
    await page.getByRole('link', { name: 'Write your first agent' }).click();
    await page.getByRole('link', { name: 'answer a few questions', exact: true }).click();
    await page.getByLabel('Agent name').fill('Paper Shop');
    await page.getByLabel('What should it do?').fill('It answers questions about orders of our paper shop.');
    await press(page, 'Start');
    for (let at = 1; at <= 5; at++) {
      await page.getByText(`Question ${at}?`, { exact: true }).waitFor();
      await page.getByLabel('Your answer').fill(`Answer ${at}.`);
      await press(page, 'Answer');
    }
    const file = page.getByRole('heading', { name: 'Deployment file', exact: true });
    await file.waitFor();
    // Beside the questions, however many there are.
    const questions = page.getByRole('list', { name: 'Interview' });
    const [left, right] = await Promise.all([questions, file].map((each) => each.boundingBox()));
    expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0) - 1);
    await press(page, 'Apply');
    await page.waitForURL(/deployments\/dep_/);
    await page.getByRole('region', { name: 'Playground' }).getByText('is ready for your first message').waitFor();
    const deploymentUrl = page.url();

    // Knowledge.
    await goTo(page, 'Knowledge');
    await press(page, 'Create notebook');
    await page.getByLabel('Name', { exact: true }).fill('House rules');
    await page.getByLabel('Slug').fill('house-rules');
    await inDialog(page, 'Create notebook').click();
    const rules = Buffer.from('# Returns\nPaper may be returned within 30 days.');
    await page
      .getByLabel('Drop documents here, or choose them')
      .setInputFiles({ name: 'returns.md', mimeType: 'text/markdown', buffer: rules });
    await page.getByText('1 of 1 uploaded').waitFor();
    const knowledge = await page.getByText('- notebook: nb_').textContent();

    // Tools: a function that asks first, answered by a program of the company.
    await page.goto(deploymentUrl);
    await page.getByText('Answer 1.').waitFor();
    await page.getByRole('textbox', { name: 'Deployment file' }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText(`\n${knowledge}\n${added}`);
    await press(page, 'Apply');
    await page.getByText('Version 2 is saved').waitFor();
    await page.getByRole('link', { name: 'Functions' }).click();
    await press(page, 'Add endpoint');
    await page.getByLabel('URL').fill(`${own.url}/functions`);
    await inDialog(page, 'Save').click();
    await shownSecret(page);

    // Tested, and live. Its tests would be played again for live money, of which a new company has none: it says so.
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByRole('link', { name: '1 of 1 tests passed' }).waitFor();
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await press(page, 'Promote to live');
    await inDialog(page, 'Promote').click();
    await page.getByText('Version 2 goes live when its test passes').waitFor();
    await page.getByText('The wallet is empty.').waitFor();
    await press(page, 'Promote to live');
    await page.getByLabel('Immediately').check();
    await inDialog(page, 'Promote').click();
    await page.getByText('live v2').waitFor();
    await page.getByRole('link', { name: 'Test', exact: true }).click();

    // A conversation with an approval, and its trace.
    await goTo(page, 'Playground');
    await page.getByRole('textbox', { name: 'Message' }).fill('Order two sheets, please');
    await page.keyboard.press('Enter');
    await page.locator('[data-waiting=approval]').getByRole('button', { name: 'Approve' }).click();
    await page.locator('[data-said=agent]').getByText('Ordered as number 17.').waitFor();
    await page.getByRole('button', { name: /^order_paper/ }).click();
    await page.getByRole('table', { name: 'Output' }).getByRole('row', { name: 'order 17' }).waitFor();
    await page.getByRole('link', { name: 'Conversation', exact: true }).click();
    await press(page, 'Create scenario');
    const scenario = page.getByRole('dialog', { name: 'Add this scenario' });
    expect(await scenario.getByLabel('Tool results').inputValue()).toContain('"order": 17');
    await scenario.getByLabel('Name').fill('orders paper');
    await scenario.getByRole('button', { name: 'Add scenario' }).click();
    await page.getByRole('dialog', { name: 'Scenario saved' }).waitFor();
    await page.keyboard.press('Escape');

    // A cap, who is told of it, and what happens at it.
    await goTo(page, 'Limits and alerts');
    await press(page, 'Change limits');
    await page.getByLabel('Org, per day').fill('0.5');
    await page.getByLabel('Each user, per day').fill('0.5');
    await page.getByLabel('Alerts at').fill('50, 90');
    await press(page, 'Save limits');
    await page.getByText('50% and 90% of a cap').waitFor();
    await goTo(page, 'Webhooks');
    await press(page, 'Add endpoint');
    await page.getByLabel('URL').fill(`${own.url}/told`);
    await inDialog(page, 'Add endpoint').click();
    const secret = await shownSecret(page);
    await goTo(page, 'Playground');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('Think hard');
    await page.keyboard.press('Enter');
    await page.locator('[data-said=agent]').getByText('Thought.').waitFor();
    await message.fill('And once more');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('org_cap_reached').waitFor();
    // The refused text is still in the field.
    expect(await message.inputValue()).toBe('And once more');
    await goTo(page, 'Limits and alerts');
    await page.getByRole('link', { name: 'Daily org cap, $0.50, reached' }).waitFor();
    await goTo(page, 'Webhooks');
    await page.getByRole('link', { name: /\/told/ }).click();
    await page
      .getByRole('row', { name: /usage\.cap_reached succeeded/ })
      .first()
      .waitFor();
    const alert = own.told.find(({ body }) => body.includes('usage.cap_reached'));
    expect(await verifyWebhook({ body: alert?.body ?? '', headers: alert?.headers as never, secret })).toMatchObject({
      type: 'usage.cap_reached',
    });

    // Colleagues and keys.
    await goTo(page, 'Members');
    await press(page, 'Invite');
    await page.getByLabel('Email').fill('colleague@example.com');
    await inDialog(page, 'Invite').click();
    expect(await shownSecret(page)).toContain('/console/accept#token=');
    await goTo(page, 'API keys');
    await page.getByRole('button', { name: 'Actions for First test key' }).click();
    await page.getByRole('menuitem', { name: 'Roll' }).click();
    await inDialog(page, 'Roll key').click();
    const key = await shownSecret(page);
    expect((await desk.call('GET', '/v1/deployments/paper-shop', { key })).body.live_version).toBe(2);
    await leave(/Applying inline style/);
  });
});

const added = `tools:
  - function: order_paper
    description: Orders paper.
    input: { sheets: integer }
    approver: org
tests:
  - name: greets
    ask: Say hello.
    expect: It says hello.
`;

/** The interviewer, and the agent that comes of it. */
function model(request: NormalisedRequest): ScriptedAnswer {
  if (request.outputSchema) return interviewer(request);
  const asked = lastText(request);
  if (asked.includes('Think hard')) return { text: 'Thought.', usage: { inputTokens: 600_000, outputTokens: 1 } };
  if (!asked.includes('Order')) return { text: 'Hello.' };
  const [result] = resultsIn(request);
  if (result === undefined) return { calls: [{ name: 'order_paper', arguments: { sheets: 2 } }] };
  return { text: `Ordered as number ${/"order":(\d+)/.exec(result)?.[1]}.` };
}

function interviewer(request: NormalisedRequest): ScriptedAnswer {
  const told = /<data-[0-9a-f]{24} of="interview">\n([\s\S]*?)\n<\/data-/.exec(lastText(request))?.[1];
  // Other structured requests, such as the one for memory, get an empty result.
  if (told === undefined) return { text: '{}' };
  const { name, answers } = JSON.parse(told) as { name: string; answers: { answer: string }[] };
  const file = { name, instructions: answers.map(({ answer }) => answer).join(' ') || 'Be kind.' };
  const [question, is_done] = [`Question ${answers.length + 1}?`, answers.length === 5];
  return { text: JSON.stringify({ question, is_done, file: JSON.stringify(file) }) };
}

/** The company's program: it orders paper and receives events. */
async function startOwnProgram() {
  const told: { body: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url === '/told') told.push({ body, headers: request.headers });
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ output: { order: 17 } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, told, close: () => server.close() };
}
