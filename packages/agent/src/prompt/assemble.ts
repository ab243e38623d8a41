import type { ApprovalCategory } from '../approval-category.ts';
import { asData } from './data.ts';
import { piece } from './piece.ts';

export type PromptFacts = {
  role: 'orchestrator' | 'worker';
  instructions: string;
  /** A language tag, or `auto`: follow the user. */
  language: string;
  /** The user's own language tag, where it is known. */
  locale: string | null;
  notebooks: readonly Named[];
  skills: readonly Named[];
  approvals: readonly ApprovalCategory[];
  /** Whether commands can be run and files be kept. */
  hasComputer: boolean;
  /** Whether web pages can be opened. */
  hasBrowser: boolean;
  memory: readonly string[];
  /** Servers and apps whose tools should be there and are not, each with why. */
  missingTools: readonly string[];
  openWork: readonly { title: string | null; status: string; waitsFor: readonly string[] }[];
  /** Milliseconds since 1970, UTC. */
  now: number;
  /** An IANA name; null: UTC. */
  timezone: string | null;
  fence: string;
};

type Named = { name: string; description: string };

/**
 * The system text in three blocks: the same for all, the same for a deployment, of this run alone. A vendor's cache keeps
 * the blocks up to the first that differs, so whatever changes (the day, the memory, the fence) stands in the last.
 */
export function assembleSystem(facts: PromptFacts): string[] {
  return [piece(facts.role, {}), joined(ofDeployment(facts)), joined(ofRun(facts))];
}

function ofDeployment(facts: PromptFacts): string[] {
  const { instructions, notebooks, skills, approvals, hasComputer, hasBrowser } = facts;
  return [
    ...(instructions.trim() === '' ? [] : [piece('instructions', { instructions: instructions.trim() })]),
    languageOf(facts),
    ...(notebooks.length === 0 ? [] : [piece('notebooks', { notebooks: listed(notebooks) })]),
    ...(skills.length === 0 ? [] : [piece('skills', { skills: listed(skills) })]),
    ...(hasComputer ? [piece('computer', {})] : []),
    ...(hasBrowser ? [piece('browser', {})] : []),
    ...(approvals.length === 0 ? [] : [piece('approvals', { deeds: lines(approvals.map((each) => deeds[each])) })]),
  ];
}

/** Memory and the titles of work were taken from what people and pages said, so they are data like any other. */
function ofRun({ language, locale, now, timezone, memory, missingTools, openWork, fence }: PromptFacts): string[] {
  const zone = timezone ?? 'UTC';
  return [
    piece('data', { fence }),
    piece('day', { day: dayIn(zone, now), zone }),
    ...(language !== 'auto' || locale === null ? [] : [piece('locale', { locale })]),
    ...(missingTools.length === 0 ? [] : [piece('missing-tools', { missing: lines(missingTools) })]),
    ...(memory.length === 0 ? [] : [piece('memory', { memory: asData(fence, 'memory', lines(memory)) })]),
    ...(openWork.length === 0
      ? []
      : [piece('open-work', { work: asData(fence, 'open work', lines(openWork.map(workLine))) })]),
  ];
}

function languageOf({ language }: PromptFacts): string {
  return language === 'auto' ? piece('language-auto', {}) : piece('language-fixed', { language });
}

const deeds: Record<ApprovalCategory, string> = {
  payment: 'paying, buying, or anything else that moves money',
  booking: 'booking or reserving',
  cancellation: 'cancelling',
  send_email: 'sending an email or another message',
  publish: 'publishing or posting',
  delete: 'deleting',
};

function dayIn(timeZone: string, now: number): string {
  const parts = Object.fromEntries(
    formatFor(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.weekday}, ${parts.year}-${parts.month}-${parts.day}`;
}

const mostFormats = 500;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one takes longer than all else here together. */
function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const options = { timeZone, weekday: 'long', year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en-CA', options);
  if (formats.size >= mostFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}

function workLine({ title, status, waitsFor }: PromptFacts['openWork'][number]): string {
  const waits = waitsFor.length === 0 ? '' : `, waits for: ${waitsFor.join('; ')}`;
  return `${title ?? 'Work without a title'}: ${status}${waits}`;
}

const listed = (all: readonly Named[]) =>
  lines(all.map(({ name, description }) => (description.trim() === '' ? name : `${name}: ${description}`)));

/** One line each: a description with line breaks would pass for a section of its own. */
const lines = (all: readonly string[]) => all.map((each) => `- ${each.replace(/\s+/g, ' ').trim()}`).join('\n');

const joined = (pieces: readonly string[]) => pieces.join('\n\n');
