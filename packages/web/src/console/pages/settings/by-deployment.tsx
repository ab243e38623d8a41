import { type ReactNode, useId } from 'react';
import { useList } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Help, useForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';

/** A setting for one deployment by slug, or `*` for all others. */
export type OfDeployment = { deployment: string };

type ByDeploymentProps<Row extends OfDeployment> = {
  name: string;
  label: string;
  hint: string;
  /** The values of a new row. */
  empty: Omit<Row, 'deployment'>;
  children: (row: Row, change: (changed: Partial<Row>) => void) => ReactNode;
};

/** A setting with separate values per deployment. */
export function ByDeployment<Row extends OfDeployment>({ name, label, hint, empty, children }: ByDeploymentProps<Row>) {
  const { values, set, faultOf } = useForm();
  const rows = values[name] as readonly Row[];
  const deployments = useList('deployments.list', {}, { limit: 100 });
  const known = ['*', ...deployments.rows.map(({ slug }) => slug)];
  const free = known.filter((slug) => !rows.some(({ deployment }) => deployment === slug));
  const fault = faultOf(name);
  return (
    <fieldset>
      <legend className="font-medium text-sm">{label}</legend>
      <p className={`mb-2 text-sm ${fault ? 'text-danger' : 'text-quiet'}`}>
        <Help fault={fault} help={hint} />
      </p>
      <div className="flex flex-col gap-3">
        {rows.map((row, at) => (
          <div className="rounded-md border p-3" key={row.deployment}>
            <div className="mb-2 flex items-center gap-2">
              <select
                aria-label="Deployment"
                className="control w-auto max-w-full pr-8"
                onChange={(event) =>
                  set(
                    name,
                    rows.map((each, index) => (index === at ? { ...each, deployment: event.target.value } : each)),
                  )
                }
                value={row.deployment}
              >
                {[row.deployment, ...free].map((slug) => (
                  <option key={slug} value={slug}>
                    {slug === '*' ? 'All other deployments' : slug}
                  </option>
                ))}
              </select>
              <Button
                aria-label={`Remove the setting for ${row.deployment === '*' ? 'all other deployments' : row.deployment}`}
                className="ml-auto"
                look="quiet"
                onClick={() => set(name, rows.toSpliced(at, 1))}
                shape="icon"
              >
                <Icon name="trash" />
              </Button>
            </div>
            {children(row, (changed) =>
              set(
                name,
                rows.map((each, index) => (index === at ? { ...each, ...changed } : each)),
              ),
            )}
          </div>
        ))}
      </div>
      <Button
        className="mt-2"
        disabled={free.length === 0}
        onClick={() => set(name, [...rows, { deployment: free[0], ...empty }])}
        shape="small"
      >
        <Icon name="plus" /> Add deployment
      </Button>
    </fieldset>
  );
}

/** A text field in a panel, with help from the contract. */
export function PanelText(props: {
  label: string;
  /** A field path of the contract, such as `openings.message`. */
  help: string;
  value: string;
  rows: number;
  isMono?: boolean;
  placeholder?: string;
  onChange: (text: string) => void;
}) {
  const { helpOf } = useForm();
  const { label, help, value, rows, isMono = false, placeholder, onChange } = props;
  const id = useId();
  return (
    <div className="mt-2">
      <label className="mb-1 block font-medium text-sm" htmlFor={id}>
        {label}
      </label>
      <textarea
        aria-describedby={`${id}-help`}
        className={`control h-auto min-h-9 py-1.5 leading-5 ${isMono ? 'font-mono text-sm' : ''}`}
        id={id}
        onChange={(event) => onChange(event.target.value)}
        placeholder={placeholder}
        rows={rows}
        value={value}
      />
      <p className="mt-1 text-quiet text-sm" id={`${id}-help`}>
        <Help help={helpOf(help)?.description} />
      </p>
    </div>
  );
}
