import { useQuery } from '@tanstack/react-query';
import { callApi, type OrgAndMode, useOrgAndMode } from '../../data/api.ts';
import type { Fields } from '../../data/rows.ts';

export type UsageFilter = Pick<Fields<'usage.report'>, 'from' | 'to' | 'user_id' | 'deployment_id'>;
export type Grouping = 'day' | 'user' | 'deployment' | 'model' | 'kind' | 'conversation' | 'task';

type Stack = {
  points: { label: string; values: Record<string, number> }[];
  series: string[];
  names: Record<string, string>;
  /** Its layers that are users. */
  users: string[];
};

const most = 5;
const rest = 'everything else';

/** Spend per day, split by a grouping. Reports have one dimension, so it takes one per layer or per day. */
export function useUsageStack(by: Grouping, days: readonly string[], filter: UsageFilter) {
  const place = useOrgAndMode();
  return useQuery({
    queryKey: [place.org, place.mode, 'usage.report', { stack: by, days: [days[0], days.at(-1)], ...filter }],
    queryFn: () => stackOf(place, by, days, filter),
    placeholderData: (before) => before,
  });
}

async function stackOf(place: OrgAndMode, by: Grouping, days: readonly string[], filter: UsageFilter): Promise<Stack> {
  const whole = await byDay(place, filter);
  const alone: Stack = {
    points: days.map((day) => ({ label: day, values: { all: whole.get(day) ?? 0 } })),
    series: ['all'],
    names: { all: 'Spend' },
    users: [],
  };
  if (by === 'day' || by === 'conversation' || by === 'task') return alone;
  const { data, next_cursor } = await callApi(place, 'usage.report', { ...filter, group_by: by, limit: most + 1 });
  if (data.length === 0) return alone;
  const isAskedByKey = by === 'user' || by === 'deployment';
  // There is no filter for spend without a user or deployment: it is the rest of each day.
  const layers = data.filter(({ key }) => !isAskedByKey || key !== '').slice(0, most);
  const series = layers.map(({ key }) => key);
  const names: Record<string, string> = Object.fromEntries(layers.map(({ key, label }) => [key, label ?? key]));
  const shares = isAskedByKey
    ? await sharesByLayer(place, by, series, filter)
    : await sharesByDay(place, by, days, whole, filter);
  const ofNone = isAskedByKey && data.find(({ key }) => key === '')?.label;
  const isAllThatIsLeft = next_cursor === null && data.length === series.length + 1;
  if (ofNone) names[rest] = isAllThatIsLeft ? ofNone : `${ofNone} and ${rest}`;
  const points = days.map((day) => {
    const values: Record<string, number> = {};
    for (const name of series) values[name] = shares.get(`${day} ${name}`) ?? 0;
    const left = (whole.get(day) ?? 0) - Object.values(values).reduce((sum, value) => sum + value, 0);
    // Rounding errors do not become a layer.
    if (left > 0.00005) values[rest] = left;
    return { label: day, values };
  });
  // The reports are asked one after another. Spend between them can use up the difference, and its layer stays.
  const hasRest = Boolean(ofNone) || points.some(({ values }) => rest in values);
  return { points, series: hasRest ? [...series, rest] : series, names, users: by === 'user' ? series : [] };
}

async function byDay(place: OrgAndMode, filter: UsageFilter): Promise<Map<string, number>> {
  const days = new Map<string, number>();
  let cursor: string | undefined;
  do {
    const page = await callApi(place, 'usage.report', {
      ...filter,
      group_by: 'day',
      limit: 100,
      ...(cursor && { cursor }),
    });
    for (const { key, cost_usd } of page.data) days.set(key, cost_usd);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return days;
}

async function sharesByLayer(
  place: OrgAndMode,
  by: 'user' | 'deployment',
  series: readonly string[],
  filter: UsageFilter,
) {
  const shares = new Map<string, number>();
  await Promise.all(
    series.map(async (name) => {
      const of = by === 'user' ? { user_id: name } : { deployment_id: name };
      for (const [day, cost] of await byDay(place, { ...filter, ...of })) shares.set(`${day} ${name}`, cost);
    }),
  );
  return shares;
}

async function sharesByDay(
  place: OrgAndMode,
  by: 'model' | 'kind',
  days: readonly string[],
  whole: Map<string, number>,
  filter: UsageFilter,
) {
  const shares = new Map<string, number>();
  await Promise.all(
    days.map(async (day) => {
      if (!whole.get(day)) return;
      const { data } = await callApi(place, 'usage.report', {
        ...filter,
        from: day,
        to: day,
        group_by: by,
        limit: 100,
      });
      for (const { key, cost_usd } of data) shares.set(`${day} ${key}`, cost_usd);
    }),
  );
  return shares;
}
