import { useNavigate, useSearch } from '@tanstack/react-router';
import { Fragment, useEffect, useId, useState } from 'react';
import { Button } from './button.tsx';

type Filters = Readonly<Record<string, string>>;

/** Filters are search parameters, so that a filtered list can be shared. */
export function useFilters<Name extends string>(...names: readonly Name[]) {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const filters: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = search[name];
    // The API rejects empty filter values.
    const isGiven =
      (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean';
    if (isGiven) filters[name] = String(value);
  }
  const set = (changed: { [N in Name]?: string | undefined }) => {
    const next: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...filters, ...changed })) if (value) next[name] = value as string;
    void navigate({ to: '.', search: next as never, replace: true });
  };
  return [filters, set] as const;
}

type Filter =
  /** An option is its value, or its value and its label. */
  | {
      name: string;
      label: string;
      options: readonly (string | readonly [value: string, label: string])[];
      /** The words of the empty choice. */
      none?: string;
    }
  | TypedFilterOf;

type TypedFilterOf = { name: string; label: string; placeholder?: string; type?: 'text' | 'date' };

export function FilterBar({
  filters,
  shown,
  set,
}: {
  filters: Filters;
  shown: readonly Filter[];
  set: (changed: Record<string, string | undefined>) => void;
}) {
  const chosen = shown.filter(({ name }) => filters[name]).length;
  const isFiltered = chosen > 0;
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  // A phone has room for a few of them. The rest is behind a button.
  const isFolded = shown.length > 2;
  return (
    <div
      className={`mb-3 flex flex-wrap items-center gap-2 max-sm:grid max-sm:grid-cols-2 ${isFolded && !isOpen ? 'max-sm:[&>:nth-child(n+3)]:hidden' : ''}`}
      id={id}
    >
      {shown.map((filter, index) => (
        <Fragment key={filter.name}>
          {'options' in filter ? (
            <select
              aria-label={filter.label}
              className={`control pr-8 sm:w-auto sm:max-w-48 ${filters[filter.name] ? 'border-accent text-foreground' : 'text-quiet'}`}
              onChange={(event) => set({ [filter.name]: event.target.value || undefined })}
              value={filters[filter.name] ?? ''}
            >
              <option value="">{filter.none ?? `${filter.label}: any`}</option>
              {withChosen(filter.options.map(asOption), filters[filter.name]).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          ) : (
            <TypedFilter filter={filter} set={set} value={filters[filter.name] ?? ''} />
          )}
          {index === 0 && isFolded && (
            <Button aria-controls={id} aria-expanded={isOpen} className="sm:hidden" onClick={() => setIsOpen(!isOpen)}>
              {chosen > 0 ? `Filters (${chosen})` : 'Filters'}
            </Button>
          )}
        </Fragment>
      ))}
      {isFiltered && (
        <Button
          look="quiet"
          onClick={() => set(Object.fromEntries(shown.map(({ name }) => [name, undefined])))}
          shape="small"
        >
          Clear
        </Button>
      )}
    </div>
  );
}

type Option = readonly [value: string, label: string];

const asOption = (option: string | Option): Option =>
  typeof option === 'string' ? [option, option.replaceAll('_', ' ')] : option;

/** An address may choose a value that the list does not offer, such as an id. */
const withChosen = (options: readonly Option[], chosen: string | undefined): readonly Option[] =>
  chosen === undefined || options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen]];

/** Applied after a pause in typing. */
function TypedFilter({
  filter: { name, label, ...rest },
  value,
  set,
}: {
  filter: TypedFilterOf;
  value: string;
  set: (changed: Record<string, string | undefined>) => void;
}) {
  const isDate = rest.type === 'date';
  const isShort = (rest.placeholder ?? label).length < 13;
  // An address may have a time, of which the field shows the day.
  const given = isDate ? value.slice(0, 10) : value;
  const [typed, setTyped] = useState(given);
  useEffect(() => setTyped(given), [given]);
  useEffect(() => {
    if (typed === given) return;
    const timer = setTimeout(() => set({ [name]: typed.trim() || undefined }), 350);
    return () => clearTimeout(timer);
  });
  const input = (
    <input
      aria-label={label}
      className={`control min-w-0 ${isDate ? 'sm:w-34' : isShort ? 'sm:w-32' : 'sm:w-44'} ${value ? 'border-accent' : ''}`}
      onChange={(event) => setTyped(event.target.value)}
      placeholder={rest.placeholder ?? label}
      type={rest.type ?? 'text'}
      value={typed}
    />
  );
  // A date field has no placeholder, so it needs a visible label.
  if (!isDate) return input;
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-quiet text-sm max-sm:col-span-2">
      <span aria-hidden="true" className="whitespace-nowrap">
        {label}
      </span>
      {input}
    </span>
  );
}
