import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';

type Point = { label: string; values: Readonly<Record<string, number>> };

type ChartProps = {
  /** The accessible name of the chart. */
  title: string;
  /** Left to right. */
  points: readonly Point[];
  /** Bottom to top. */
  series: readonly string[];
  format: (value: number) => string;
  /** A horizontal line, such as a cap. */
  line?: { at: number; label: string } | null;
  height?: number;
  nameOf?: (series: string) => string;
};

const left = 56;
const bottom = 22;
const top = 12;
/** Of a bar, so that a single one does not fill the chart. */
const widest = 48;

/** Colours also differ in lightness and follow the theme. */
const fills = [
  'var(--accent)',
  'color-mix(in oklab, var(--good) 80%, var(--surface))',
  'color-mix(in oklab, var(--warn) 80%, var(--surface))',
  'color-mix(in oklab, var(--accent) 45%, var(--surface))',
  'color-mix(in oklab, var(--danger) 75%, var(--surface))',
  'color-mix(in oklab, var(--quiet) 60%, var(--surface))',
  'color-mix(in oklab, var(--good) 40%, var(--surface))',
  'color-mix(in oklab, var(--warn) 40%, var(--surface))',
];
const fillOf = (index: number) => fills[index % fills.length] as string;

/** A stacked chart, with the same figures as a table for screen readers. */
export function StackedChart(props: ChartProps) {
  const { title, points, series, format, line = null, height = 220, nameOf = (name) => name } = props;
  const id = useId();
  const [place, width] = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const stacks = points.map(({ values }) => stackOf(values, series));
  const highest = Math.max(...stacks.map((stack) => stack.at(-1) ?? 0), 0);
  // A cap far above the spend would flatten the chart, so it is only written in the legend.
  const isLineShown = line !== null && (highest === 0 || line.at <= highest * 4);
  const ticks = ticksUpTo(Math.max(highest, isLineShown ? line.at : 0));
  const most = ticks.at(-1) ?? 1;
  const inner = { width: width - left - 8, height: height - top - bottom };
  const y = (value: number) => top + inner.height * (1 - value / most);
  const step = inner.width / Math.max(1, points.length);
  const x = (index: number) => left + step * (index + 0.5);
  const shown = at === null ? null : points[at];
  return (
    <figure className="panel p-3" data-chart="">
      <figcaption className="mb-1 flex min-h-6 flex-wrap items-center gap-x-4 gap-y-0.5 text-sm" id={id}>
        {shown ? (
          <>
            <strong className="font-medium">{shown.label}</strong>
            <span className="figures">{format(sum(shown.values, series))}</span>
          </>
        ) : (
          <span className="text-quiet">{title}</span>
        )}
        {series.length > 1 &&
          series.map((name, index) => (
            <span className="inline-flex min-w-0 max-w-56 items-center gap-1.5" key={name}>
              <span className="size-2.5 shrink-0 rounded-xs" style={{ background: fillOf(index) }} />
              <span className="truncate" title={nameOf(name)}>
                {nameOf(name)}
              </span>
              {shown && <span className="figures text-quiet">{format(shown.values[name] ?? 0)}</span>}
            </span>
          ))}
        {line && (
          <span className="ml-auto inline-flex items-center gap-1.5 text-danger">
            <span className="w-4 border-danger border-t border-dashed" />
            {line.label} {format(line.at)}
          </span>
        )}
      </figcaption>
      <svg
        aria-hidden="true"
        className="block w-full touch-pan-y"
        onPointerLeave={() => setAt(null)}
        onPointerMove={(event) => setAt(nearest(event, width, points.length))}
        ref={place}
        style={{ height }}
        viewBox={`0 0 ${width} ${height}`}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line stroke="var(--line)" x1={left} x2={width - 8} y1={y(tick)} y2={y(tick)} />
            <text dominantBaseline="middle" fill="var(--quiet)" fontSize="11" textAnchor="end" x={left - 8} y={y(tick)}>
              {format(tick)}
            </text>
          </g>
        ))}
        {stacks.map((stack, index) => (
          <g key={points[index]?.label}>
            {series.map((name, layer) => {
              const from = layer === 0 ? 0 : (stack[layer - 1] ?? 0);
              const to = stack[layer] ?? 0;
              const wide = Math.min(widest, step * 0.72);
              return (
                <rect
                  fill={fillOf(layer)}
                  height={Math.max(0, y(from) - y(to))}
                  key={name}
                  opacity={at === null || at === index ? 1 : 0.45}
                  width={wide}
                  x={x(index) - wide / 2}
                  y={y(to)}
                />
              );
            })}
          </g>
        ))}
        {isLineShown && (
          <line
            stroke="var(--danger)"
            strokeDasharray="5 4"
            strokeWidth="1.5"
            x1={left}
            x2={width - 8}
            y1={y(line.at)}
            y2={y(line.at)}
          />
        )}
        {namedPoints(points.length).map((index) => (
          <text
            fill="var(--quiet)"
            fontSize="11"
            key={index}
            textAnchor={
              points.length <= mostNamed
                ? 'middle'
                : index === 0
                  ? 'start'
                  : index === points.length - 1
                    ? 'end'
                    : 'middle'
            }
            x={x(index)}
            y={height - 6}
          >
            {points[index]?.label}
          </text>
        ))}
      </svg>
      <details className="mt-1 text-sm">
        <summary className="w-fit text-quiet">Show as table</summary>
        <div className="mt-2 max-h-72 overflow-auto">
          <table aria-labelledby={id} className="w-full text-left">
            <thead>
              <tr className="border-b">
                <Head>Time</Head>
                {series.map((name) => (
                  <Head isFigure key={name}>
                    {nameOf(name)}
                  </Head>
                ))}
              </tr>
            </thead>
            <tbody>
              {points.map(({ label, values }) => (
                <tr className="border-b last:border-0" key={label}>
                  <th className="py-1 pr-3 font-normal" scope="row">
                    {label}
                  </th>
                  {series.map((name) => (
                    <td className="figures py-1 pl-3 text-right" key={name}>
                      {format(values[name] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const Head = ({ children, isFigure = false }: { children: ReactNode; isFigure?: boolean }) => (
  <th className={`eyebrow py-1 ${isFigure ? 'pl-3 text-right' : 'pr-3'}`} scope="col">
    {children}
  </th>
);

/** The cumulative height of each layer. */
function stackOf(values: Point['values'], series: readonly string[]): number[] {
  let height = 0;
  return series.map((name) => (height += Math.max(0, values[name] ?? 0)));
}

const sum = (values: Point['values'], series: readonly string[]) =>
  series.reduce((all, name) => all + (values[name] ?? 0), 0);

/** Three or four steps of 1, 2 or 5 times a power of ten. */
function ticksUpTo(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const steps = Math.ceil(most / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** More names would run into each other. */
const mostNamed = 8;

const namedPoints = (length: number): number[] =>
  length <= mostNamed ? [...Array(length).keys()] : [0, Math.floor((length - 1) / 2), length - 1];

/** One unit of the drawing is one pixel, so that its text has the usual size. */
function useWidth() {
  const place = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const drawing = place.current;
    if (!drawing) return;
    const measure = () => setWidth(Math.max(200, drawing.getBoundingClientRect().width));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(drawing);
    return () => watch.disconnect();
  }, []);
  return [place, width] as const;
}

function nearest(event: React.PointerEvent<SVGSVGElement>, width: number, length: number): number | null {
  const box = event.currentTarget.getBoundingClientRect();
  const share = (((event.clientX - box.left) / box.width) * width - left) / (width - left - 8);
  const index = Math.floor(share * length);
  return length === 0 ? null : Math.min(length - 1, Math.max(0, index));
}
