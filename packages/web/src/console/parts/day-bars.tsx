type DayBarsProps = {
  /** What the bars are, for those who hear the page. */
  label: string;
  days: readonly { day: string; value: number }[];
  show: (value: number) => string;
  tone?: 'accent' | 'good';
};

const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayName = (day: string) => shortDay.format(new Date(`${day}T00:00:00Z`));

/** One bar a day. The figures are there as a table too. */
export function DayBars({ label, days, show, tone = 'accent' }: DayBarsProps) {
  const most = Math.max(...days.map(({ value }) => value), 0);
  const total = days.reduce((sum, { value }) => sum + value, 0);
  return (
    <figure className="panel p-4">
      <figcaption className="flex items-baseline gap-2">
        <span className="eyebrow">{label}</span>
        <span className="figures ml-auto font-semibold text-lg">{show(total)}</span>
      </figcaption>
      <div aria-hidden="true" className="mt-3 flex h-28 items-end gap-[3px]">
        {days.map(({ day, value }) => (
          <span
            className="flex h-full grow items-end rounded-sm hover:bg-muted"
            key={day}
            title={`${dayName(day)}: ${show(value)}`}
          >
            <span
              className={`block w-full rounded-sm ${value === 0 ? 'bg-line' : tone === 'good' ? 'bg-good' : 'bg-accent'}`}
              style={{ height: value === 0 ? 2 : `${Math.max(4, (value / most) * 100)}%` }}
            />
          </span>
        ))}
      </div>
      <div aria-hidden="true" className="figures mt-1 flex justify-between text-quiet text-xs">
        <span>{days[0] && dayName(days[0].day)}</span>
        <span>today</span>
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {days.map(({ day, value }) => (
            <tr key={day}>
              <th scope="row">{dayName(day)}</th>
              <td>{show(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
