/** What is counted in one process, and the text in which Prometheus reads it. */
export type Registry = {
  /** Only goes up. The name ends in `_total`. */
  counter: <Label extends string = never>(described: Described<Label>) => Counter<Label>;
  histogram: <Label extends string = never>(
    described: Described<Label> & { buckets: readonly number[] },
  ) => Histogram<Label>;
  /** Asked when somebody reads. What cannot be known just now is null, and left out. */
  ask: <Label extends string = never>(
    described: Described<Label> & { type?: 'gauge' | 'counter' },
    read: Read<Label>,
  ) => void;
  write: (format: Format) => Promise<string>;
};

type Format = 'prometheus' | 'openmetrics';

type Described<Label extends string> = { name: string; help: string; labels?: readonly Label[] };
type Labels<Label extends string> = Readonly<Record<Label, string>>;
type Counter<Label extends string> = { add: (labels: Labels<Label>, by?: number) => void };
type Histogram<Label extends string> = { observe: (labels: Labels<Label>, value: number) => void };
type Sample<Label extends string> = { labels: Labels<Label>; value: number };
type Read<Label extends string> = () => Answer<Label> | Promise<Answer<Label>>;
type Answer<Label extends string> = number | readonly Sample<Label>[] | null;

type Line = { suffix: string; labels: readonly (readonly [string, string])[]; value: number };
type Family = {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  lines: () => Line[] | Promise<Line[]>;
};

export function createRegistry(): Registry {
  const families = new Map<string, Family>();

  function add(family: Family): void {
    if (families.has(family.name)) throw new Error(`The metric ${family.name} is there twice.`);
    families.set(family.name, family);
  }

  return {
    counter({ name, help, labels = [] }) {
      const kept = keptByLabels(labels, () => ({ value: 0 }));
      // From the first read on, so that the first one that is counted is seen as a rise and not as a beginning.
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
      const kept = keptByLabels(labels, () => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }));
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
      const written = await Promise.all([...families.values()].map((family) => writtenFamily(family, format)));
      return `${written.join('')}${format === 'openmetrics' ? '# EOF\n' : ''}`;
    },
  };
}

/** A label that turns out to have endless values would fill the memory, here and in Prometheus. */
const mostSets = 2_000;
const others = 'other';

/** One value for each set of labels that was met; those beyond the limit share one. */
function keptByLabels<Label extends string, Value>(names: readonly Label[], make: () => Value) {
  const values = new Map<string, { labels: (readonly [string, string])[]; value: Value }>();
  return {
    of(given: Labels<Label>): Value {
      let key = '';
      for (const name of names) key += `${given[name]}\n`;
      const known = values.get(key) ?? (values.size >= mostSets ? values.get(others) : undefined);
      if (known) return known.value;
      const isBeyond = values.size >= mostSets;
      const value = make();
      const labels = names.map((name) => [name, isBeyond ? others : given[name]] as const);
      values.set(isBeyond ? others : key, { labels, value });
      return value;
    },
    map: (lines: (labels: (readonly [string, string])[], value: Value) => Line[]): Line[] =>
      [...values.values()].flatMap(({ labels, value }) => lines(labels, value)),
  };
}

function histogramLines(
  labels: readonly (readonly [string, string])[],
  buckets: readonly number[],
  counts: readonly number[],
  count: number,
  sum: number,
): Line[] {
  let below = 0;
  const upTo = buckets.map((bound, at) => {
    below += counts[at] as number;
    return { suffix: '_bucket', labels: [...labels, ['le', shownNumber(bound)] as const], value: below };
  });
  return [
    ...upTo,
    { suffix: '_bucket', labels: [...labels, ['le', '+Inf'] as const], value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}

async function writtenFamily({ name, help, type, lines }: Family, format: Format): Promise<string> {
  const found = await lines();
  // OpenMetrics names a counter without the ending that its samples have.
  const named = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  const samples = found.map(
    ({ suffix, labels, value }) => `${name}${suffix}${inBraces(labels)} ${shownNumber(value)}\n`,
  );
  return `# HELP ${named} ${escaped(help)}\n# TYPE ${named} ${type}\n${samples.join('')}`;
}

function inBraces(labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`).join()}}`;
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function shownNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
