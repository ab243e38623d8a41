/** The metrics of one process, and their text format for Prometheus. */
export type Registry = {
  /** Only increases. The name ends with `_total`. */
  counter: <Label extends string = never>(described: MetricDescription<Label>) => Counter<Label>;
  histogram: <Label extends string = never>(
    described: MetricDescription<Label> & { buckets: readonly number[] },
  ) => Histogram<Label>;
  /** Reads the value at each scrape. Null omits the sample. */
  ask: <Label extends string = never>(
    described: MetricDescription<Label> & { type?: 'gauge' | 'counter' },
    read: Read<Label>,
  ) => void;
  write: (format: Format) => Promise<string>;
};

type Format = 'prometheus' | 'openmetrics';

type MetricDescription<Label extends string> = { name: string; help: string; labels?: readonly Label[] };
type Labels<Label extends string> = Readonly<Record<Label, string>>;
type Counter<Label extends string> = { add: (labels: Labels<Label>, by?: number) => void };
type Histogram<Label extends string> = { observe: (labels: Labels<Label>, value: number) => void };
type Sample<Label extends string> = { labels: Labels<Label>; value: number };
type Read<Label extends string> = () => MetricValue<Label> | Promise<MetricValue<Label>>;
type MetricValue<Label extends string> = number | readonly Sample<Label>[] | null;

type SampleLine = { suffix: string; labels: readonly (readonly [string, string])[]; value: number };
type Family = {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  lines: () => SampleLine[] | Promise<SampleLine[]>;
};

export function createRegistry(): Registry {
  const families = new Map<string, Family>();

  function add(family: Family): void {
    if (families.has(family.name)) throw new Error(`The metric ${family.name} is registered twice.`);
    families.set(family.name, family);
  }

  return {
    counter({ name, help, labels = [] }) {
      const kept = valuesByLabels(labels, () => ({ value: 0 }));
      // Start at 0, so that Prometheus sees the first count as an increase.
      if (labels.length === 0) kept.of({} as never);
      add({
        name,
        help,
        type: 'counter',
        lines: () => kept.map((pairs, { value }) => [{ suffix: '', labels: pairs, value }]),
      });
      return {
        add(given, by = 1) {
          kept.of(given).value += by;
        },
      };
    },

    histogram({ name, help, labels = [], buckets }) {
      const kept = valuesByLabels(labels, () => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }));
      if (labels.length === 0) kept.of({} as never);
      add({
        name,
        help,
        type: 'histogram',
        lines: () => kept.map((pairs, { counts, count, sum }) => histogramLines(pairs, buckets, counts, count, sum)),
      });
      return {
        observe(given, value) {
          const one = kept.of(given);
          const at = buckets.findIndex((bound) => value <= bound);
          if (at !== -1) one.counts[at] = (one.counts[at] as number) + 1;
          one.count += 1;
          one.sum += value;
        },
      };
    },

    ask({ name, help, labels = [], type = 'gauge' }, read) {
      add({
        name,
        help,
        type,
        async lines() {
          const answer = await read();
          if (answer === null) return [];
          if (typeof answer === 'number') return [{ suffix: '', labels: [], value: answer }];
          return answer.map((sample) => ({
            suffix: '',
            labels: labels.map((label) => [label, sample.labels[label]] as const),
            value: sample.value,
          }));
        },
      });
    },

    async write(format) {
      const written = await Promise.all([...families.values()].map((family) => formatFamily(family, format)));
      return `${written.join('')}${format === 'openmetrics' ? '# EOF\n' : ''}`;
    },
  };
}

/** A label with unlimited values would exhaust memory, here and in Prometheus. */
const maxLabelSets = 2_000;
const others = 'other';

/** One value per set of labels. Sets beyond the limit share one. */
function valuesByLabels<Label extends string, Value>(names: readonly Label[], make: () => Value) {
  const values = new Map<string, { labels: (readonly [string, string])[]; value: Value }>();
  return {
    of(given: Labels<Label>): Value {
      let key = '';
      for (const name of names) key += `${given[name]}\n`;
      const known = values.get(key) ?? (values.size >= maxLabelSets ? values.get(others) : undefined);
      if (known) return known.value;
      const isBeyond = values.size >= maxLabelSets;
      const value = make();
      const labels = names.map((name) => [name, isBeyond ? others : given[name]] as const);
      values.set(isBeyond ? others : key, { labels, value });
      return value;
    },
    map: (lines: (labels: (readonly [string, string])[], value: Value) => SampleLine[]): SampleLine[] =>
      [...values.values()].flatMap(({ labels, value }) => lines(labels, value)),
  };
}

function histogramLines(
  labels: readonly (readonly [string, string])[],
  buckets: readonly number[],
  counts: readonly number[],
  count: number,
  sum: number,
): SampleLine[] {
  let below = 0;
  const upTo = buckets.map((bound, at) => {
    below += counts[at] as number;
    return { suffix: '_bucket', labels: [...labels, ['le', formatNumber(bound)] as const], value: below };
  });
  return [
    ...upTo,
    { suffix: '_bucket', labels: [...labels, ['le', '+Inf'] as const], value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}

async function formatFamily({ name, help, type, lines }: Family, format: Format): Promise<string> {
  const found = await lines();
  // In OpenMetrics the name of a counter omits the suffix of its samples.
  const named = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  const samples = found.map(
    ({ suffix, labels, value }) => `${name}${suffix}${formatLabels(labels)} ${formatNumber(value)}\n`,
  );
  return `# HELP ${named} ${escapeText(help)}\n# TYPE ${named} ${type}\n${samples.join('')}`;
}

function formatLabels(labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escapeText(value).replaceAll('"', '\\"')}"`).join()}}`;
}

const escapeText = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
