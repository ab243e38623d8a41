import { Failure, fail } from '@vestra/contract/errors';
import type { Refusal, Rules } from '../../adapters/browser/rules.ts';
import type { Tab } from '../../adapters/browser/tab.ts';
import { untilAborted } from '../../async/until-aborted.ts';
import type { Origin } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import type { Owner } from '../computers/api.ts';
import {
  computerRuns,
  failed,
  type OwnTool,
  object,
  ownTool,
  pendingInteractions,
  said,
  type ToolAnswer,
  text,
  type WorkBrowsers,
} from '../engine/api.ts';
import { click, settle, type } from './act.ts';
import { recordBlocked } from './blocked.ts';
import type { Desk, Desks, OpenTab } from './desks.ts';
import { isBrowserGone, isPageTrouble } from './gone.ts';
import { jpegAddress } from './jpeg-address.ts';
import { secrecyOfTab } from './secrecy.ts';
import { agentRules, verdictOn } from './site-rules.ts';
import { openForTask, readPage, tabOfTask, watching } from './task-tab.ts';

type Dependencies = { db: Database; desks: Desks };

const openMs = 30_000;
const actMs = 20_000;
const readMs = 10_000;
const findMs = 5_000;
const pictureMs = 5_000;
/** The interaction of a hand-off is written a moment after its page was handed over. */
const beginsWithinMs = 10_000;

/** The agent's own hands in the browser of whom it works for: a tab per piece of work. */
export function workBrowsers({ db, desks }: Dependencies): WorkBrowsers {
  return {
    async ofWork({ tenant, turn, task, manifest, save }) {
      if ((await desks.obstacle()) !== null) return [];
      const owner: Owner = { ...tenant, userId: turn.user_id };
      const origin: Origin = {
        ...tenant,
        actor: { type: 'system', id: 'agent', name: 'Agent' },
        requestId: null,
        ip: null,
      };
      // Whoever works on goes on after a hand-off, not during one.
      const desk = desks.ifOpen(owner);
      const open = desk && tabOfTask(desk, task.id);
      if (open) open.handOff = null;
      return toolsOf({ db, desks, owner, origin, taskId: task.id, rules: agentRules(manifest.browser), save });
    },
    async handOver(task, { isSecret }) {
      const owner: Owner = { orgId: task.org_id, mode: task.mode, userId: task.user_id };
      const desk = desks.ifOpen(owner);
      const open = desk && tabOfTask(desk, task.id);
      if (!open || !/^https?:/.test(open.tab.url())) return null;
      const givenAt = Date.now();
      const isOpen = async () => {
        if (Date.now() - givenAt < beginsWithinMs) return true;
        const pending = await pendingInteractions(db, [task.conversation_id]);
        return pending.some(({ task_id, type }) => task_id === task.id && type === 'handoff');
      };
      open.handOff = { isSecret, isOpen, checkedAt: givenAt };
      const isHidden = async () => (await secrecyOfTab(open)) !== null;
      const take = async () => {
        if (await isHidden()) return null;
        const picture = await open.tab.picture({ width: 640, quality: 50 });
        return (await isHidden()) ? null : picture;
      };
      const picture = await untilAborted(take(), AbortSignal.timeout(pictureMs)).catch(() => null);
      return { url: open.tab.url(), frame: picture && jpegAddress(picture) };
    },
  };
}

type Work = Dependencies & {
  owner: Owner;
  origin: Origin;
  taskId: string;
  rules: Rules;
  save: Parameters<WorkBrowsers['ofWork']>[0]['save'];
};

function toolsOf(work: Work): OwnTool[] {
  const tool = (
    of: Parameters<typeof ownTool>[0],
    run: (given: Record<string, unknown>, desk: Desk, signal: AbortSignal) => Promise<ToolAnswer>,
  ) => ownTool(of, (given, signal) => atDesk(work, signal, (desk) => run(given, desk, signal)));
  const number = { type: 'integer', minimum: 1, description: 'The number that stands before it in the page as read.' };

  return [
    tool(
      {
        name: 'browser_open',
        description:
          'Open a web page in the browser and read it as text, with a number before each thing to press or fill in.',
        input: object({ url: text('The whole address, with https://.', 2048) }),
        isReadOnly: true,
      },
      (given, desk, signal) => openPage(work, desk, String(given.url), signal),
    ),
    tool(
      {
        name: 'browser_read',
        description: 'Read the page that is open, as it is now.',
        input: object({ part: { type: 'integer', minimum: 1, description: 'Which part of a long page.' } }, ['part']),
        isReadOnly: true,
      },
      (given, desk, signal) => read(requireTab(work, desk), Number(given.part ?? 1), signal),
    ),
    tool(
      {
        name: 'browser_click',
        description: 'Press something on the page, by its number or by the text on it, and read the page that follows.',
        input: object({ number, text: text('The text on it, where it has no number.', 500) }, ['number', 'text']),
        isReadOnly: false,
      },
      (given, desk, signal) => {
        const wanted =
          given.number === undefined ? { text: String(given.text ?? '') } : { number: Number(given.number) };
        if (given.number === undefined && given.text === undefined) return wrong('Give `number` or `text`.');
        return act(work, desk, signal, (tab, limit) => click(tab, wanted, findMs, limit));
      },
    ),
    tool(
      {
        name: 'browser_type',
        description: 'Fill in a field of the page, by its number or its label, in place of what stands in it.',
        input: object(
          {
            number,
            field: text('Its label, where it has no number.', 500),
            text: { type: 'string', maxLength: 8000, description: 'What to write.' },
            submit: { type: 'boolean', description: 'Press Enter afterwards.' },
          },
          ['number', 'field', 'submit'],
        ),
        isReadOnly: false,
      },
      (given, desk, signal) => {
        if (given.number === undefined && given.field === undefined) return wrong('Give `number` or `field`.');
        const field = given.number === undefined ? { into: String(given.field) } : { number: Number(given.number) };
        const written = { ...field, text: String(given.text), submit: given.submit === true };
        return act(work, desk, signal, (tab, limit) => type(tab, written, findMs, limit));
      },
    ),
    tool(
      {
        name: 'browser_scroll',
        description: 'Scroll the page, for what comes only then, and read it.',
        input: object({ to: { type: 'string', enum: ['top', 'bottom', 'up', 'down'] } }),
        isReadOnly: true,
      },
      (given, desk, signal) =>
        act(work, desk, signal, async (tab, limit) => {
          const to = given.to === 'up' ? -600 : given.to === 'down' ? 600 : (given.to as 'top' | 'bottom');
          await untilAborted(tab.run('scroll', [to]), limit);
          await settle(tab, limit);
          return { ok: true };
        }),
    ),
    tool(
      {
        name: 'browser_screenshot',
        description: 'Take a picture of the page and give it to the person as a file.',
        input: object({}),
        isReadOnly: true,
      },
      async (_given, desk, signal) => {
        const open = requireTab(work, desk);
        const { tab } = open;
        const hidden = await hiddenAnswer(open);
        if (hidden) return hidden;
        const picture = await untilAborted(tab.picture({ width: 1280, quality: 75 }), limited(signal, readMs));
        const hiddenSince = await hiddenAnswer(open);
        if (hiddenSince) return hiddenSince;
        const { id, filename } = await work.save({ name: `page-${Date.now()}.jpg`, bytes: picture });
        return said(`A picture of ${tab.url()} is saved as ${filename} (${id}).`);
      },
    ),
    tool(
      {
        name: 'browser_close',
        description: 'Close the page when it is no longer needed.',
        input: object({}),
        isReadOnly: true,
      },
      async (_given, desk) => {
        await tabOfTask(desk, work.taskId)?.tab.close();
        return said('The page is closed.');
      },
    ),
  ];
}

const limited = (signal: AbortSignal, ms: number) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

/** Looked at before and after: a page may come to what only its person may see while it is read. */
async function read(open: OpenTab, part: number, signal: AbortSignal): Promise<ToolAnswer> {
  const hidden = await hiddenAnswer(open);
  if (hidden) return hidden;
  const text = await readPage(open.tab, part, limited(signal, readMs));
  return (await hiddenAnswer(open)) ?? said(text);
}

async function hiddenAnswer(open: OpenTab): Promise<ToolAnswer | null> {
  const secrecy = await secrecyOfTab(open);
  if (secrecy === null) return null;
  return failed(
    secrecy === 'paying'
      ? 'The page asks for payment details, which only the person may see and fill in. Have them pay with request_handoff, or leave it with browser_open or browser_close.'
      : 'The page is private while the person gives a secret away in it.',
  );
}

const wrong = async (why: string): Promise<ToolAnswer> => failed(why);

/** What goes wrong is for the model to read; how long the computer ran for it is charged. */
async function atDesk(work: Work, signal: AbortSignal, run: (desk: Desk) => Promise<ToolAnswer>): Promise<ToolAnswer> {
  const { desks, owner, taskId } = work;
  let began: number | null = null;
  const seconds = () => (began === null ? 0 : Math.ceil(performance.now() - began) / 1000);
  try {
    if (desks.hands.isTaken(owner)) return failed('The person is using the browser themselves right now.');
    const answer = await desks.use(owner, async (desk) => {
      began = performance.now();
      await computerRuns();
      return run(desk).catch(async (error: unknown) => {
        // What took too long may hang for ever: nothing would work in that page again, and it would keep a processor busy.
        if (signal.aborted || isLate(error)) await tabOfTask(desk, taskId)?.tab.endIfHung();
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
  if (isBrowserGone(error)) return 'The page or the browser has ended. Open it again with browser_open.';
  if (isPageTrouble(error)) return 'The page changed meanwhile. Read it again with browser_read.';
  if (isLate(error))
    return 'The page did not answer in time. Where it hung it is closed; open it again with browser_open.';
  return null;
}

const isLate = (error: unknown) => (error as Error | null)?.name === 'TimeoutError';

function requireTab({ taskId }: Work, desk: Desk): OpenTab {
  const open = tabOfTask(desk, taskId);
  if (!open) throw fail('no_open_tab', { message: 'No page is open. Open one with browser_open.' });
  open.lastUsed = Date.now();
  return open;
}

async function openPage(work: Work, desk: Desk, url: string, signal: AbortSignal): Promise<ToolAnswer> {
  const verdict = verdictOn(work.rules, url);
  if (verdict.kind === 'site') return failed('This address is not among the sites that may be opened.');
  if (verdict.kind === 'page') return refusedAnswer(work, [{ kind: 'page', page: verdict.page, isWholePage: true }]);
  const open = await openForTask(desk, work.taskId, work.rules);
  open.isBusy = false;
  open.lastUsed = Date.now();
  const { tab } = open;
  const limit = limited(signal, openMs);
  const { result, refusals } = await watching(tab, async () => {
    const { error } = await untilAborted(tab.navigate(url), limit);
    if (error === null) await tab.until(() => tab.readiness() !== 'loading', limit);
    return error;
  });
  if (refusals.some(({ isWholePage }) => isWholePage)) return refusedAnswer(work, refusals);
  await recordClosed(work, refusals);
  if (result !== null) return failed(`The page could not be opened (${result}).`);
  return read(open, 1, signal);
}

async function act(
  work: Work,
  desk: Desk,
  signal: AbortSignal,
  deed: (tab: Tab, limit: AbortSignal) => Promise<{ ok: true } | { ok: false; why: string }>,
): Promise<ToolAnswer> {
  const open = requireTab(work, desk);
  const { tab } = open;
  const hidden = await hiddenAnswer(open);
  if (hidden) return hidden;
  const limit = limited(signal, actMs);
  const { result, refusals } = await watching(tab, () => deed(tab, limit)).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  if (refusals.some(({ isWholePage }) => isWholePage)) return refusedAnswer(work, refusals);
  await recordClosed(work, refusals);
  return result.ok ? read(open, 1, signal) : failed(result.why);
}

async function refusedAnswer(work: Work, refusals: readonly Refusal[]): Promise<ToolAnswer> {
  await recordClosed(work, refusals);
  const whole = refusals.find(({ isWholePage }) => isWholePage);
  return failed(
    whole?.kind === 'page'
      ? 'This page is closed to you. Do not try to reach it another way; tell the person if it matters.'
      : `It leads to ${whole?.host}, which is not among the sites that may be opened.`,
  );
}

async function recordClosed({ db, origin, owner }: Work, refusals: readonly Refusal[]): Promise<void> {
  for (const refusal of refusals) {
    if (refusal.kind === 'page') await recordBlocked(db, origin, owner.userId, refusal.page);
  }
}
