import { useSyncExternalStore } from 'react';

const whole = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const small = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const tiny = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

/**
 * Cents from one dollar on, and for whole cents. Otherwise three significant digits: the cost of a reply must not be
 * rounded to a cent, and amounts below each other have as many digits.
 */
export const usd = (value: number): string => {
  const cents = Number((value * 100).toPrecision(3));
  if (Math.abs(value) >= 1 || Number.isInteger(cents)) return whole.format(value);
  return Math.abs(value) >= 0.001 ? small.format(value) : tiny.format(Number(value.toPrecision(3)));
};

/** A share of one, such as 3.4%. */
export const percent = (share: number): string =>
  `${(100 * share).toLocaleString('en-US', { maximumFractionDigits: share < 0.1 ? 1 : 0 })}%`;

export const count = (value: number): string => value.toLocaleString('en-US');

/** As people read sizes of files. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  return size < 1024 * 1024
    ? `${(size / 1024).toFixed(size < 10_240 ? 1 : 0)} KB`
    : `${(size / 1024 / 1024).toFixed(1)} MB`;
}

export const Usd = ({ value }: { value: number }) => <span className="figures">{usd(value)}</span>;

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
// Formatters are created once, because creating one is slower than rendering a row.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
const ofDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const ofMoment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

function ago(time: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  if (!unit) return seconds > 5 ? relative.format(seconds, 'second') : 'just now';
  if (unit[0] === 'day' && Math.abs(seconds) > 14 * 86_400) return ofDay.format(new Date(time));
  return relative.format(Math.round(seconds / unit[1]), unit[0]);
}

export const exactTime = (time: string): string => ofMoment.format(new Date(time));

/** A relative time with the exact time as its tooltip. */
export function Time({ at }: { at: string | null }) {
  useSyncExternalStore(onTick, () => ticks);
  if (at === null) return <span className="text-quiet">–</span>;
  return (
    <time className="figures whitespace-nowrap" dateTime={at} title={exactTime(at)}>
      {ago(at)}
    </time>
  );
}

/** One clock for every time on the page. */
let ticks = 0;
let clock: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function onTick(listener: () => void): () => void {
  listeners.add(listener);
  clock ??= setInterval(tick, 30_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}

function tick(): void {
  ticks++;
  for (const listener of listeners) listener();
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const tones = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
  accent: 'bg-accent-soft text-accent',
  quiet: 'bg-muted text-quiet',
};
export type Tone = keyof typeof tones;

/** The tone of each status. Unknown ones are quiet. */
const toneOf: Readonly<Record<string, Tone>> = {
  active: 'good',
  done: 'good',
  passed: 'good',
  live: 'good',
  completed: 'good',
  resolved: 'good',
  connected: 'good',
  ok: 'good',
  approved: 'good',
  enabled: 'good',
  ready: 'good',
  working: 'accent',
  running: 'accent',
  replying: 'accent',
  indexing: 'accent',
  processing: 'accent',
  draft: 'accent',
  waiting: 'warn',
  pending: 'warn',
  queued: 'warn',
  invited: 'warn',
  failed: 'danger',
  error: 'danger',
  denied: 'danger',
  failing: 'danger',
  disabled: 'danger',
};

export function Status({ children, tone }: { children: string; tone?: Tone }) {
  return (
    <span
      className={`inline-flex h-5 items-center whitespace-nowrap rounded-sm px-1.5 font-medium text-xs ${tones[tone ?? toneOf[children] ?? 'quiet']}`}
    >
      {children.replaceAll('_', ' ')}
    </span>
  );
}
