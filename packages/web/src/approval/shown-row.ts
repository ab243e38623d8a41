/** The language of the page, as far as it formats values. */
type Language = { locale: string; words: { yes: string; no: string } };

/** An argument of an approval: name, schema title and value. */
export type Row = { label: string; title?: string; value: string };

/** Formats money, dates, lists and booleans for people. Everything else stays unchanged, and nothing is rounded. */
export function shownRow(row: Row, all: readonly Row[], language: Language): { label: string; value: string } {
  const { currency, name } = currencyIn(row.label);
  return {
    label: row.title ?? asWords(name),
    value:
      moneyOf(row.value, currency ?? currencyBeside(row.label, all), language) ??
      dateOf(row.value, language) ??
      listOf(row.value) ??
      answerOf(row.value, language) ??
      row.value,
  };
}

/** `refund_order`, `refundOrder` and `refund-order` are read as `Refund order`. */
export function asWords(name: string): string {
  if (!/^[\p{L}\p{N}\p{M}\s_.-]+$/u.test(name)) return name;
  const words = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

export const asMoney = (
  amount: number,
  currency: string,
  { locale }: Pick<Language, 'locale'>,
  fractionDigits?: number,
): string =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    ...(fractionDigits !== undefined && { minimumFractionDigits: fractionDigits }),
    maximumFractionDigits: 6,
  })
    .format(amount)
    // In a text from right to left, `US$` would be shown as `$US`.
    .replace(/(?<=\u200f.*)\p{L}+\p{Sc}/u, '\u2066$&\u2069');

/** Always Gregorian: an approval must not depend on the calendar of the locale. */
export const asMoment = (
  time: Date,
  { locale }: Pick<Language, 'locale'>,
  { timeZone, hasSeconds = false }: { timeZone?: string | undefined; hasSeconds?: boolean } = {},
): string =>
  new Intl.DateTimeFormat(locale, {
    calendar: 'gregory',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    ...(hasSeconds && { second: '2-digit' }),
    ...(timeZone === undefined ? { timeZoneName: 'short' } : { timeZone }),
  }).format(time);

/** Only common codes: `select_all` must not become Albanian lek. */
const currencies =
  'usd eur gbp jpy chf cad aud nzd inr brl mxn cny krw sek nok dkk pln czk huf ron try ils zar sgd hkd aed sar egp';
const isCurrency = (code: string) => currencies.split(' ').includes(code);

function currencyIn(label: string): { currency: string | null; name: string } {
  const [, name, code = ''] = /^(.+)[_-]([a-z]{3})$/i.exec(label) ?? [];
  const isMoney = name !== undefined && isCurrency(code.toLowerCase());
  return isMoney ? { currency: code.toUpperCase(), name } : { currency: null, name: label };
}

function currencyBeside(label: string, all: readonly Row[]): string | null {
  if (!/(^|_)(amount|price|total|fee|sum|cost)$/i.test(label)) return null;
  const code = all.find((each) => each.label.toLowerCase() === 'currency')?.value.toLowerCase() ?? '';
  return isCurrency(code) ? code.toUpperCase() : null;
}

function moneyOf(value: string, currency: string | null, language: Language): string | null {
  const found = /^-?\d{1,12}(?:\.(\d{1,6}))?$/.exec(value);
  if (currency === null || found === null) return null;
  const usual = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().minimumFractionDigits;
  return asMoney(Number(value), currency, language, Math.max(usual ?? 2, found[1]?.length ?? 0));
}

function dateOf(value: string, language: Language): string | null {
  const [, day, clock, zone] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.0+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(value) ?? [];
  if (day === undefined || !isDay(day)) return null;
  const time = new Date(`${day}T${clock ?? '00:00'}${zone ?? 'Z'}`);
  if (Number.isNaN(time.getTime())) return null;
  if (clock !== undefined) {
    const timeZone = zone === undefined ? 'UTC' : undefined;
    return asMoment(time, language, { timeZone, hasSeconds: time.getUTCSeconds() !== 0 });
  }
  const { locale } = language;
  return new Intl.DateTimeFormat(locale, { calendar: 'gregory', dateStyle: 'long', timeZone: 'UTC' }).format(time);
}

/** `Date` would turn February 31 into a day in March. */
function isDay(day: string): boolean {
  const time = new Date(`${day}T00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}

function listOf(value: string): string | null {
  if (!value.startsWith('[')) return null;
  const items = parsed(value);
  const isPlain = (each: unknown) => typeof each === 'number' || (typeof each === 'string' && /^[^,;\n]+$/.test(each));
  if (!Array.isArray(items) || items.length === 0 || !items.every(isPlain)) return null;
  return items.join(', ');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function answerOf(value: string, { words }: Language): string | null {
  if (value === 'true') return words.yes;
  return value === 'false' ? words.no : null;
}

/** The action without its arguments, which the rows show. Null if the user may not read it. */
export function headlineOf({
  kind,
  summary,
  details,
}: {
  kind?: string;
  summary?: string;
  details?: Readonly<Record<string, unknown>>;
}): string | null {
  if (summary === undefined || details === undefined) return null;
  if (kind !== 'tool_permission' && kind !== 'credit_approval') return summary;
  if (typeof details.description === 'string') return details.description;
  return typeof details.tool_name === 'string' ? asWords(details.tool_name) : summary;
}
