import { failed, type OwnTool, ownTool, part, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { Failure, fail } from '@vestra/contract/errors';
import { z } from 'zod';
import { type Engine, reportComputerStart } from '../../engine/index.ts';
import { untilAborted } from '../../platform/async/waiters.ts';
import { agentOrigin, type Origin } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { BrowserGone, PageFailed } from '../chromium/devtools.ts';
import type { RequestRefusal, SiteRules } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import type { ComputerRouting } from '../computer-routing.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, OpenBrowser, OpenTab } from './browser-pool.ts';
import { click, typeText, waitUntilSettled } from './page-actions.ts';
import { hiddenReasonOfTab } from './screen-redaction.ts';
import { agentRules, recordBlocked, type SiteSettings, verdictOn } from './site-rules.ts';
import {
  collectRefusals,
  type HandOffRequest,
  handOver,
  openForTask,
  readPage,
  tabOfTask,
  takeBackPage,
} from './task-tab.ts';

type Dependencies = {
  db: Database;
  browserPool: BrowserPool;
  routing: ComputerRouting;
  /** Why neither this process nor another one has browsers; null if one has. */
  obstacle: () => Promise<string | null>;
};

const openMs = 30_000;
const actMs = 20_000;
const readMs = 10_000;
const findMs = 5_000;
const handOverMs = 30_000;
const takeBackMs = 5_000;

/** The browser tools of the agent. Each task has one tab in the browser of its user. */
export function agentBrowsers({ db, browserPool, routing, obstacle }: Dependencies): Engine['taskBrowsers'] {
  const runTool = routing.route('browser.tool', (owner, { name, given, taskId, sites }: ToolUse, signal) => {
    const work: BrowserRun = { db, browserPool, owner, origin: agentOrigin(owner), taskId, rules: agentRules(sites) };
    const run = toolsOf(work).find(({ tool }) => tool.definition.name === name)?.run;
    if (!run) throw fail('computer_unavailable', { message: `The browser has no tool ${name}.` });
    return run(given, signal);
  });
  const handOverPage = routing.route(
    'browser.hand_over',
    (owner, of: HandOffRequest) => handOver({ db, browserPool }, owner, of),
    {
      ifAsleep: () => null,
    },
  );
  const takeBack = routing.route(
    'browser.take_back',
    async (owner, { taskId }: { taskId: string }) => takeBackPage(browserPool, owner, taskId),
    { ifAsleep: () => undefined },
  );
  return {
    async forTask({ tenant, turn, task, manifest, save }) {
      if ((await obstacle()) !== null) return [];
      const owner: Owner = { ...tenant, userId: turn.user_id };
      // A task that continues is past its hand-off. If this call fails, the next check of the page ends the hand-off.
      const wasBegun = task.active_ms > 0;
      if (wasBegun) await takeBack(owner, { taskId: task.id }, AbortSignal.timeout(takeBackMs)).catch(() => {});
      return descriptions.map((tool) => ({
        tool,
        async run(given, signal) {
          const use = { name: tool.definition.name, given, taskId: task.id, sites: manifest.browser };
          const answer = await runTool(owner, use, signal).catch(explained);
          const [picture] = answer.media ?? [];
          if (!picture) return answer;
          const { id, filename } = await save({ name: `page-${Date.now()}.jpg`, bytes: picture.content });
          return {
            ...answer,
            output: `${answer.output} is saved as ${filename} (${id}).`,
            media: [{ ...picture, fileId: id }],
          };
        },
      }));
    },
    handOver: (task, { isSecret }) => {
      const owner: Owner = { orgId: task.org_id, mode: task.mode, userId: task.user_id };
      const of = { taskId: task.id, conversationId: task.conversation_id, isSecret };
      return handOverPage(owner, of, AbortSignal.timeout(handOverMs));
    },
  };
}

type ToolUse = { name: string; given: Record<string, unknown>; taskId: string; sites: SiteSettings };

type BrowserRun = {
  db: Database;
  browserPool: BrowserPool;
  owner: Owner;
  origin: Origin;
  taskId: string;
  rules: SiteRules;
};

const number = z.int().min(1).describe('The number that stands before it in the page as read.').optional();
const inputs = {
  open: z.strictObject({ url: text('The whole address, with https://.', 2048) }),
  read: z.strictObject({ part: part('Which part of a long page.').optional() }),
  click: z.strictObject({ number, text: text('The text on it, where it has no number.', 500).optional() }),
  type: z.strictObject({
    number,
    field: text('Its label, where it has no number.', 500).optional(),
    text: z.string().max(8000).describe('What to write.'),
    submit: z.boolean().describe('Press Enter afterwards.').optional(),
  }),
  scroll: z.strictObject({ to: z.enum(['top', 'bottom', 'up', 'down']) }),
  nothing: z.strictObject({}),
};

function toolsOf(work: BrowserRun): OwnTool[] {
  const tool = <Input>(
    of: Parameters<typeof ownTool<Input>>[0],
    run: (given: Input, browser: OpenBrowser, signal: AbortSignal) => Promise<ToolAnswer>,
  ) => ownTool(of, (given, signal) => inBrowser(work, signal, (browser) => run(given, browser, signal)));

  return [
    tool(
      {
        name: 'browser_open',
        description:
          'Open a web page in the browser and read it as text, with a number before each thing to press or fill in.',
        input: inputs.open,
        isReadOnly: true,
      },
      ({ url }, browser, signal) => openPage(work, browser, url, signal),
    ),
    tool(
      {
        name: 'browser_read',
        description: 'Read the page that is open, as it is now.',
        input: inputs.read,
        isReadOnly: true,
      },
      (given, browser, signal) => read(requireTab(work, browser), given.part ?? 1, signal),
    ),
    tool(
      {
        name: 'browser_click',
        description: 'Press something on the page, by its number or by the text on it, and read the page that follows.',
        input: inputs.click,
        isReadOnly: false,
      },
      (given, browser, signal) => {
        const wanted = byNumberOr(given.number, given.text, (label) => ({ text: label }));
        if (!wanted) return wrong('Give `number` or `text`.');
        return act(work, browser, signal, (tab, limit) => click(tab, wanted, findMs, limit));
      },
    ),
    tool(
      {
        name: 'browser_type',
        description: 'Fill in a field of the page, by its number or its label, instead of its content.',
        input: inputs.type,
        isReadOnly: false,
      },
      (given, browser, signal) => {
        const field = byNumberOr(given.number, given.field, (into) => ({ into }));
        if (!field) return wrong('Give `number` or `field`.');
        const written = { ...field, text: given.text, submit: given.submit === true };
        return act(work, browser, signal, (tab, limit) => typeText(tab, written, findMs, limit));
      },
    ),
    tool(
      {
        name: 'browser_scroll',
        description: 'Scroll the page, for what comes only then, and read it.',
        input: inputs.scroll,
        isReadOnly: true,
      },
      (given, browser, signal) =>
        act(work, browser, signal, async (tab, limit) => {
          const to = given.to === 'up' ? -600 : given.to === 'down' ? 600 : given.to;
          await untilAborted(tab.run('scroll', [to]), limit);
          await waitUntilSettled(tab, limit);
          return { ok: true };
        }),
    ),
    tool(
      {
        name: 'browser_screenshot',
        description: 'Take a picture of the page, to look at it yourself and as a file for the person.',
        input: inputs.nothing,
        isReadOnly: true,
      },
      async (_given, browser, signal) => {
        const open = requireTab(work, browser);
        const { tab } = open;
        const hidden = await hiddenAnswer(open);
        if (hidden) return hidden;
        const picture = await untilAborted(tab.picture({ width: 1280, quality: 75 }), limited(signal, readMs));
        const hiddenSince = await hiddenAnswer(open);
        if (hiddenSince) return hiddenSince;
        // The run saves the picture and adds the file name to the answer.
        return { ...said(`A picture of ${tab.url()}`), media: [{ mediaType: 'image/jpeg', content: picture }] };
      },
    ),
    tool(
      {
        name: 'browser_close',
        description: 'Close the page when it is no longer needed.',
        input: inputs.nothing,
        isReadOnly: true,
      },
      async (_given, browser) => {
        await tabOfTask(browser, work.taskId)?.tab.close();
        return said('The page is closed.');
      },
    ),
  ];
}

const limited = (signal: AbortSignal, ms: number) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

/** Checks before and after reading: a page may show a payment form meanwhile, which only its user may see. */
async function read(open: OpenTab, part: number, signal: AbortSignal): Promise<ToolAnswer> {
  const hidden = await hiddenAnswer(open);
  if (hidden) return hidden;
  const text = await readPage(open.tab, part, limited(signal, readMs));
  return (await hiddenAnswer(open)) ?? said(text);
}

async function hiddenAnswer(open: OpenTab): Promise<ToolAnswer | null> {
  const hiddenReason = await hiddenReasonOfTab(open);
  if (hiddenReason === null) return null;
  return failed(
    hiddenReason === 'paying'
      ? 'The page asks for payment details, which only the person may see and fill in. Have them pay with request_handoff, or leave it with browser_open or browser_close.'
      : 'The page is private while the person gives a secret away in it.',
  );
}

const byNumberOr = <Label extends object>(
  at: number | undefined,
  label: string | undefined,
  asLabel: (label: string) => Label,
) => (at !== undefined ? { number: at } : label !== undefined ? asLabel(label) : null);

const wrong = async (why: string): Promise<ToolAnswer> => failed(why);

/** Returns failures as answers that the model reads, with the computer seconds to charge. */
async function inBrowser(
  work: BrowserRun,
  signal: AbortSignal,
  run: (browser: OpenBrowser) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const { browserPool, owner, taskId } = work;
  let began: number | null = null;
  const seconds = () => (began === null ? 0 : Math.ceil(performance.now() - began) / 1000);
  try {
    if (browserPool.control.isTaken(owner)) return failed('The person is using the browser themselves right now.');
    const answer = await browserPool.use(owner, async (browser) => {
      began = performance.now();
      await reportComputerStart();
      return run(browser).catch(async (error: unknown) => {
        // A hung page would block the tab and keep a core busy.
        if (signal.aborted || isLate(error)) await tabOfTask(browser, taskId)?.tab.endIfHung();
        return explained(error);
      });
    });
    return { ...answer, computerSeconds: seconds() };
  } catch (error) {
    return { ...explained(error), computerSeconds: seconds() };
  }
}

function explained(error: unknown): ToolAnswer {
  const why = whyNot(error);
  if (why === null) throw error;
  return failed(why);
}

function whyNot(error: unknown): string | null {
  if (error instanceof Failure) return error.message;
  if (error instanceof BrowserGone) return 'The page or the browser has ended. Open it again with browser_open.';
  if (error instanceof PageFailed) return 'The page changed meanwhile. Read it again with browser_read.';
  if (isLate(error))
    return 'The page did not answer in time. Where it hung it is closed; open it again with browser_open.';
  return null;
}

const isLate = (error: unknown) => (error as Error | null)?.name === 'TimeoutError';

function requireTab({ taskId }: BrowserRun, browser: OpenBrowser): OpenTab {
  const open = tabOfTask(browser, taskId);
  if (!open) throw fail('no_open_tab', { message: 'No page is open. Open one with browser_open.' });
  open.lastUsed = Date.now();
  return open;
}

async function openPage(work: BrowserRun, browser: OpenBrowser, url: string, signal: AbortSignal): Promise<ToolAnswer> {
  const verdict = verdictOn(work.rules, url);
  if (verdict.kind === 'site') return failed('This address is not among the sites that may be opened.');
  if (verdict.kind === 'page') return refusedAnswer(work, [{ kind: 'page', page: verdict.page, isWholePage: true }]);
  const open = await openForTask(browser, work.taskId, work.rules);
  open.isBusy = false;
  open.lastUsed = Date.now();
  const { tab } = open;
  const limit = limited(signal, openMs);
  const { result, refusals } = await collectRefusals(tab, async () => {
    const { error } = await untilAborted(tab.navigate(url), limit);
    if (error === null) await tab.until(() => tab.readiness() !== 'loading', limit);
    return error;
  });
  if (refusals.some(({ isWholePage }) => isWholePage)) return refusedAnswer(work, refusals);
  await recordBlockedPages(work, refusals);
  if (result !== null) return failed(`The page could not be opened (${result}).`);
  return read(open, 1, signal);
}

async function act(
  work: BrowserRun,
  browser: OpenBrowser,
  signal: AbortSignal,
  action: (tab: Tab, limit: AbortSignal) => Promise<{ ok: true } | { ok: false; why: string }>,
): Promise<ToolAnswer> {
  const open = requireTab(work, browser);
  const { tab } = open;
  const hidden = await hiddenAnswer(open);
  if (hidden) return hidden;
  const limit = limited(signal, actMs);
  const { result, refusals } = await collectRefusals(tab, () => action(tab, limit)).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  if (refusals.some(({ isWholePage }) => isWholePage)) return refusedAnswer(work, refusals);
  await recordBlockedPages(work, refusals);
  return result.ok ? read(open, 1, signal) : failed(result.why);
}

async function refusedAnswer(work: BrowserRun, refusals: readonly RequestRefusal[]): Promise<ToolAnswer> {
  await recordBlockedPages(work, refusals);
  const whole = refusals.find(({ isWholePage }) => isWholePage);
  return failed(
    whole?.kind === 'page'
      ? 'This page is closed to you. Do not try to reach it another way; tell the person if it matters.'
      : `It leads to ${whole?.host}, which is not among the sites that may be opened.`,
  );
}

async function recordBlockedPages(
  { db, origin, owner }: BrowserRun,
  refusals: readonly RequestRefusal[],
): Promise<void> {
  for (const refusal of refusals) {
    if (refusal.kind === 'page') await recordBlocked(db, origin, owner.userId, refusal.page);
  }
}

/** Definitions only. A call runs in the process where the browser is open. */
const descriptions: readonly OwnTool['tool'][] = toolsOf({} as BrowserRun).map(({ tool }) => tool);
