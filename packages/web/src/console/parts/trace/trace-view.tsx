import { useVirtualizer } from '@tanstack/react-virtual';
import { type PointerEvent, useMemo, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { count, duration, usd } from '../shown.tsx';
import { hasSentence, type Sentence } from '../talk/sentence.ts';
import { SpanDetails } from './span-details.tsx';
import { type Span, spansOf, type Trace, windowOf, zoomed } from './spans.ts';

const rowHeight = 28;
/** A trace of fewer steps needs no zoom. */
const fewSpans = 8;
const columns = 'grid-cols-[10rem_minmax(0,1fr)_5.5rem] max-sm:grid-cols-[6rem_minmax(0,1fr)_5rem]';

/** A waterfall of model and tool calls. Dragging zooms in, and a click shows details. */
export function TraceView({
  trace,
  isRunning = false,
  said,
}: {
  trace: Trace;
  isRunning?: boolean;
  /** The step that wrote it is chosen. */
  said?: Sentence | undefined;
}) {
  const spans = useMemo(() => spansOf(trace, Date.now()), [trace]);
  const whole = useMemo(() => windowOf(spans), [spans]);
  const [zoom, setZoom] = useState<{ fromMs: number; toMs: number } | null>(null);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const [heard, setHeard] = useState<Sentence>();
  if (said && said !== heard) {
    setHeard(said);
    setChosenId(spans.findLast(({ call }) => hasSentence(call?.content?.text ?? '', said))?.id ?? null);
  }
  const { fromMs, toMs } = zoom ?? whole;
  const shown = useMemo(
    () => (zoom ? spans.filter((span) => span.endMs >= zoom.fromMs && span.startMs <= zoom.toMs) : spans),
    [spans, zoom],
  );
  // The first failure, or the answer, is what a reader looks for.
  const chosen =
    spans.find(({ id }) => id === chosenId) ??
    spans.find(({ isError }) => isError) ??
    spans.findLast(({ kind }) => kind === 'model') ??
    spans.at(-1);
  const { totals, missing_tools } = trace;
  if (spans.length === 0) {
    return (
      <p className="py-4 text-quiet">{isRunning ? 'Waiting for the first step.' : 'No model or tool was called.'}</p>
    );
  }
  return (
    <div>
      <p className="figures mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-quiet text-sm">
        <span>{spans.length === 1 ? '1 step' : `${count(spans.length)} steps`}</span>
        <span>{duration(whole.toMs - whole.fromMs)}</span>
        <span>{count(totals.input_tokens)} input tokens</span>
        <span>{count(totals.output_tokens)} output tokens</span>
        <span>{usd(totals.cost_usd)}</span>
        <span className="ml-auto flex gap-1">
          {zoom && (
            <Button onClick={() => setZoom(null)} shape="small">
              Show all
            </Button>
          )}
          {ways
            .filter(([, way]) => spans.length >= fewSpans && (zoom !== null || way === 'in'))
            .map(([label, way]) => (
              <Button
                key={way}
                look="quiet"
                onClick={() => setZoom(zoomed(whole, { fromMs, toMs }, way))}
                shape="small"
              >
                {label}
              </Button>
            ))}
        </span>
      </p>
      {missing_tools.map(({ server, message }) => (
        <p className="mb-2 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn" key={server}>
          {server}: {message}
        </p>
      ))}
      <div className="panel overflow-hidden">
        <Axis fromMs={fromMs} startMs={whole.fromMs} toMs={toMs} />
        <Bars
          chosenId={chosen?.id ?? null}
          fromMs={fromMs}
          onChoose={setChosenId}
          onZoom={setZoom}
          spans={shown}
          toMs={toMs}
        />
      </div>
      {chosen && <SpanDetails span={chosen} trace={trace} />}
    </div>
  );
}

const ways = [
  ['Zoom in', 'in'],
  ['Zoom out', 'out'],
  ['Earlier', 'back'],
  ['Later', 'on'],
] as const;

function Axis({ fromMs, toMs, startMs }: { fromMs: number; toMs: number; startMs: number }) {
  return (
    <div className={`eyebrow figures grid border-b bg-muted/60 ${columns}`} data-axis="">
      <span className="px-3 py-1.5">Step</span>
      <span className="@container flex justify-between gap-2 whitespace-nowrap py-1.5">
        {/* A narrow axis has no room for the quarters. */}
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span className={part % 0.5 === 0 ? (part === 0.5 ? '@max-[9rem]:hidden' : '') : '@max-md:hidden'} key={part}>
            {duration(fromMs - startMs + (toMs - fromMs) * part)}
          </span>
        ))}
      </span>
      <span className="px-3 py-1.5 text-right max-sm:px-2">Cost</span>
    </div>
  );
}

type BarsProps = {
  spans: readonly Span[];
  fromMs: number;
  toMs: number;
  chosenId: string | null;
  onChoose: (id: string) => void;
  onZoom: (window: { fromMs: number; toMs: number }) => void;
};

function Bars({ spans, fromMs, toMs, chosenId, onChoose, onZoom }: BarsProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const virtual = useVirtualizer({
    count: spans.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 20,
  });
  const length = toMs - fromMs;
  const partAt = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const lane = (event.currentTarget as HTMLElement).querySelector('[data-lane]')?.getBoundingClientRect() ?? box;
    return Math.min(1, Math.max(0, (event.clientX - lane.left) / lane.width));
  };
  const finish = () => {
    if (drag && Math.abs(drag.to - drag.from) > 0.02) {
      const [low, high] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
      onZoom({ fromMs: fromMs + length * low, toMs: fromMs + length * high });
    }
    setDrag(null);
  };
  return (
    <div
      className="relative max-h-[24rem] touch-pan-y select-none overflow-y-auto"
      onPointerDown={(event) => event.pointerType === 'mouse' && setDrag({ from: partAt(event), to: partAt(event) })}
      onPointerLeave={() => setDrag(null)}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: partAt(event) })}
      onPointerUp={finish}
      ref={frame}
    >
      <ol aria-label="Steps" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const span = spans[index] as Span;
          const left = Math.max(0, ((span.startMs - fromMs) / length) * 100);
          const right = Math.min(100, ((span.endMs - fromMs) / length) * 100);
          return (
            <li
              className="absolute inset-x-0 top-0"
              key={key}
              style={{ height: rowHeight, transform: `translateY(${start}px)` }}
            >
              <button
                aria-pressed={span.id === chosenId}
                className={`grid size-full items-center text-left hover:bg-muted/60 aria-pressed:bg-accent-soft ${columns}`}
                onClick={() => onChoose(span.id)}
                type="button"
              >
                <span
                  className={`truncate px-3 text-xs ${span.kind === 'model' ? 'text-quiet' : 'font-mono'} ${span.isError ? 'text-danger' : ''}`}
                >
                  {span.name}
                </span>
                <span className="relative block h-full" data-lane="">
                  <span
                    className={`absolute top-2 h-3 min-w-0.5 rounded-sm ${barColour(span)}`}
                    style={{ left: `${left}%`, width: `max(2px, ${Math.max(0, right - left)}%)` }}
                  />
                  <span
                    className={`figures absolute top-1.5 whitespace-nowrap px-1 text-xs leading-4 ${right > 85 && left <= 15 ? 'text-background' : 'text-quiet'}`}
                    style={placeOfLabel(left, right)}
                  >
                    {duration(span.endMs - span.startMs)}
                  </span>
                </span>
                <span
                  className="figures truncate px-3 text-right text-quiet text-xs max-sm:px-2"
                  title={
                    span.call &&
                    `${count(span.call.input_tokens)} input, ${count(span.call.output_tokens)} output tokens`
                  }
                >
                  {span.call ? usd(span.call.cost_usd) : ''}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
      {drag && Math.abs(drag.to - drag.from) > 0.005 && (
        <div className="pointer-events-none absolute inset-y-0 right-22 left-40 max-sm:right-20 max-sm:left-24">
          <div
            className="h-full border-accent border-x bg-accent/10"
            style={{
              marginLeft: `${Math.min(drag.from, drag.to) * 100}%`,
              width: `${Math.abs(drag.to - drag.from) * 100}%`,
            }}
          />
        </div>
      )}
    </div>
  );
}

/** After the bar, before it, or inside it, depending on the space. */
function placeOfLabel(left: number, right: number): { left: string } | { right: string } {
  if (right <= 85) return { left: `${Math.max(left, right)}%` };
  return { right: `${100 - (left > 15 ? left : right)}%` };
}

const barColour = ({ kind, isError, isOpen }: Span) =>
  `${isError ? 'bg-danger' : kind === 'model' ? 'bg-accent' : 'bg-good'} ${isOpen ? 'animate-breathe' : ''}`;
