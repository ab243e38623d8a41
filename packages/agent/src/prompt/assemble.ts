import type { ApprovalCategory } from '../approval-category.ts';
import { asData } from './data.ts';
import { piece } from './piece.ts';

export type PromptFacts = SystemFacts & PassingFacts;

type SystemFacts = {
  role: 'orchestrator' | 'worker';
  instructions: string;
  /** A language tag, or `auto` to follow the user. */
  language: string;
  /** The user's language tag, if known. */
  locale: string | null;
  notebooks: readonly Named[];
  skills: readonly Named[];
  approvals: readonly ApprovalCategory[];
  /** Whether commands can run and files can be stored. */
  hasComputer: boolean;
  /** Folders on the computer that hold the clones of the company's repositories. */
  repositories: readonly string[];
  /** Whether web pages can be opened. */
  hasBrowser: boolean;
  /** The user as the caller's system describes them; null if there is none. */
  person: { name: string | null; email: string | null; metadata: Readonly<Record<string, unknown>> } | null;
  /** Servers and apps whose tools are missing, each with the reason. */
  missingTools: readonly string[];
  /** Tool servers with their own text on how to use them. */
  toolServers: readonly { name: string; instructions: string }[];
  /** Milliseconds since 1970, UTC. */
  now: number;
  /** An IANA name; null: UTC. */
  timezone: string | null;
  fence: string;
};

/** Facts that can change with the next message. */
type PassingFacts = {
  /** Null: memory is unavailable. */
  memory: readonly string[] | null;
  /** `number` is the one that the agent's tools use. */
  openWork: readonly { number: number; title: string | null; status: string; waitsFor: readonly string[] }[];
  openQuestions: readonly { number: number; of: string; question: string }[];
  /** Files from earlier messages and tasks, newest first. A summary of the conversation may not name them. */
  files?: readonly { id: string; filename: string }[];
  /** Context from the caller's system for this message. */
  context: Readonly<Record<string, unknown>> | null;
};

type Named = { name: string; description: string };

/**
 * Returns the system text in three blocks: the same for all, for one deployment, and for one conversation on one day. A
 * vendor's cache keeps everything before the first difference. Facts that change with each message are therefore placed
 * after the message (`passingText`).
 */
export function assembleSystem(facts: SystemFacts): string[] {
  return [piece(facts.role, {}), joined(ofDeployment(facts)), joined(ofConversation(facts))];
}

/**
 * Memory and the titles of tasks and questions come from people and pages, so each is fenced as data. So is the time,
 * because only the platform can write inside this fence.
 */
export function passingText({
  memory,
  openWork,
  openQuestions,
  files = [],
  context,
  now,
  timezone,
  fence,
}: PassingFacts & Pick<SystemFacts, 'now' | 'timezone' | 'fence'>): string {
  const zone = timezone ?? 'UTC';
  return joined([
    ...(context === null ? [] : [asData(fence, 'context', JSON.stringify(context))]),
    ...(memory === null ? [asData(fence, 'missing memory', piece('memory-away', {}))] : []),
    ...(memory === null || memory.length === 0 ? [] : [asData(fence, 'memory', lines(memory))]),
    ...(openWork.length === 0 ? [] : [asData(fence, 'open work', lines(openWork.map(workLine)))]),
    ...(openQuestions.length === 0 ? [] : [asData(fence, 'open questions', lines(openQuestions.map(questionLine)))]),
    ...(files.length === 0 ? [] : [asData(fence, 'files of this conversation', fileLines(files))]),
    asData(fence, 'time', `${momentIn(zone, now).time} on ${momentIn(zone, now).day} (${zone})`),
  ]);
}

function ofDeployment(facts: SystemFacts): string[] {
  const { instructions, notebooks, skills, approvals, hasComputer, repositories, hasBrowser } = facts;
  return [
    ...(instructions.trim() === '' ? [] : [piece('instructions', { instructions: instructions.trim() })]),
    languageOf(facts),
    ...(notebooks.length === 0 ? [] : [piece('notebooks', { notebooks: listed(notebooks) })]),
    ...(skills.length === 0 ? [] : [piece('skills', { skills: listed(skills) })]),
    ...(hasComputer ? [piece('computer', {})] : []),
    ...(hasComputer && repositories.length > 0
      ? [piece('repositories', { repositories: lines(repositories.map((folder) => `\`${folder}\``)) })]
      : []),
    ...(hasBrowser ? [piece('browser', {})] : []),
    ...(approvals.length === 0 ? [] : [piece('approvals', { deeds: lines(approvals.map((each) => deeds[each])) })]),
  ];
}

function ofConversation(facts: SystemFacts): string[] {
  const { language, locale, now, timezone, person, missingTools, toolServers, fence } = facts;
  const zone = timezone ?? 'UTC';
  return [
    piece('data', { fence }),
    piece('day', { day: momentIn(zone, now).day, zone }),
    ...(language !== 'auto' || locale === null ? [] : [piece('locale', { locale })]),
    ...(person && isKnown(person) ? [piece('person', { person: asData(fence, 'person', personText(person)) })] : []),
    ...(toolServers.length === 0 ? [] : [piece('tool-servers', { servers: serverTexts(toolServers, fence) })]),
    ...(missingTools.length === 0 ? [] : [piece('missing-tools', { missing: lines(missingTools) })]),
  ];
}

const serverTexts = (servers: SystemFacts['toolServers'], fence: string) =>
  joined(servers.map(({ name, instructions }) => asData(fence, `tool server ${name}`, instructions)));

type Person = NonNullable<SystemFacts['person']>;

const isKnown = ({ name, email, metadata }: Person) =>
  name !== null || email !== null || Object.keys(metadata).length > 0;

const longestMetadata = 4000;

function personText({ name, email, metadata }: Person): string {
  const written = JSON.stringify(metadata);
  return [
    ...(name === null ? [] : [`Name: ${name}`]),
    ...(email === null ? [] : [`Email: ${email}`]),
    ...(written === '{}' ? [] : [`Metadata: ${written.slice(0, longestMetadata).toWellFormed()}`]),
  ].join('\n');
}

function languageOf({ language }: SystemFacts): string {
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

type Moment = { day: string; time: string };

const minuteMs = 60_000;
let lastMoment: Moment & { timeZone: string; minute: number } = { timeZone: '', minute: 0, day: '', time: '' };

/** Cached, because it is called several times a minute with the same result. */
function momentIn(timeZone: string, now: number): Moment {
  const minute = Math.floor(now / minuteMs);
  if (lastMoment.timeZone === timeZone && lastMoment.minute === minute) return lastMoment;
  const parts = Object.fromEntries(
    formatFor(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  const day = `${parts.weekday}, ${parts.year}-${parts.month}-${parts.day}`;
  lastMoment = { timeZone, minute, day, time: `${parts.hour}:${parts.minute}` };
  return lastMoment;
}

const mostFormats = 500;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because creating a format is the slowest part of this file. */
function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formats.size >= mostFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}

function workLine({ number, title, status, waitsFor }: PassingFacts['openWork'][number]): string {
  const waits = waitsFor.length === 0 ? '' : `, waits for: ${waitsFor.join('; ')}`;
  return `Work ${number}, ${title ?? 'without a title'}: ${status}${waits}`;
}

const questionLine = ({ number, of, question }: PassingFacts['openQuestions'][number]) =>
  `Question ${number}, asked by ${of}: ${question}`;

const maxFiles = 40;

function fileLines(files: NonNullable<PassingFacts['files']>): string {
  const older = files.length - maxFiles;
  return [
    'Open one by its name with read_conversation_file.',
    lines(files.slice(0, maxFiles).map(({ id, filename }) => `${filename} (${id})`)),
    ...(older > 0 ? [`and ${older} older`] : []),
  ].join('\n');
}

const listed = (all: readonly Named[]) =>
  lines(all.map(({ name, description }) => (description.trim() === '' ? name : `${name}: ${description}`)));

/** One line each: a description with line breaks could look like a separate section. */
const lines = (all: readonly string[]) => all.map((each) => `- ${each.replace(/\s+/g, ' ').trim()}`).join('\n');

const joined = (pieces: readonly string[]) => pieces.join('\n\n');
