import { useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ChangeForm } from '../../parts/form.tsx';
import { linesOf } from '../../parts/list-field.tsx';
import { say } from '../../parts/notices.tsx';
import { Loaded } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, usd } from '../../parts/shown.tsx';
import { ByDeployment, type OfDeployment, PanelText } from './by-deployment.tsx';

type Model = RouteAnswer<'models.list'>['data'][number];

const price = (of: (price: Model['price']) => number) => (model: Model) => (model.priced ? usd(of(model.price)) : '?');

const columns: Column<Model>[] = [
  {
    id: 'model',
    header: 'Model',
    width: '2.5fr',
    cell: ({ id, default: isDefault }) => (
      <>
        <code className="font-mono text-sm">{id}</code> {isDefault && <Status tone="accent">default</Status>}
      </>
    ),
  },
  {
    id: 'takes',
    header: 'Input types',
    isWideOnly: true,
    cell: ({ takes }) => <span className="text-quiet">{takes.join(', ')}</span>,
  },
  {
    id: 'context',
    header: 'Context',
    width: '4.5rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ context_tokens }) => count(context_tokens),
  },
  { id: 'input', header: 'Input', width: '4.5rem', align: 'end', cell: price(({ input_per_mtok }) => input_per_mtok) },
  {
    id: 'output',
    header: 'Output',
    width: '4.5rem',
    align: 'end',
    cell: price(({ output_per_mtok }) => output_per_mtok),
  },
  {
    id: 'read',
    header: 'Cache read',
    width: '5rem',
    align: 'end',
    isLargeOnly: true,
    cell: price(({ cache_read_per_mtok }) => cache_read_per_mtok),
  },
  {
    id: 'write',
    header: 'Cache write',
    width: '5rem',
    align: 'end',
    isLargeOnly: true,
    cell: price(({ cache_write_per_mtok }) => cache_write_per_mtok),
  },
  { id: 'state', header: 'Status', width: '6rem', isWideOnly: true, cell: stateOf },
];

/** The models that a deployment may choose, with their prices. */
export function Models() {
  const models = useOne('models.list', {});
  return (
    <Loaded query={models}>
      {({ data, notes }) => (
        <>
          <div className="mb-2 flex items-center gap-2">
            <p className="grow text-quiet text-sm">Prices in US dollars per million tokens.</p>
            <RequestMenu request={models.request} />
          </div>
          {notes.map((note) => (
            <p className="mb-2 rounded-md bg-warn-soft px-3 py-2 text-warn" key={note}>
              {note}
            </p>
          ))}
          <DataTable
            columns={columns}
            empty={
              <EmptyState icon="skill" title="No models">
                Configure a vendor’s API key or the URL of your own model on the server, then restart it.
              </EmptyState>
            }
            label="Models"
            list={{ rows: data, error: null, isLoading: false }}
          />
        </>
      )}
    </Loaded>
  );
}

function stateOf({ available, unavailable_reason, priced, retires_on }: Model) {
  if (!available) {
    return (
      <span title={unavailable_reason ?? ''}>
        <Status>unavailable</Status>
      </span>
    );
  }
  if (retires_on) return <Status tone="warn">{`until ${retires_on}`}</Status>;
  return <Status tone={priced ? 'good' : 'warn'}>{priced ? 'available' : 'no price'}</Status>;
}

type Fallbacks = OfDeployment & { models: string };

/** The models to use if a vendor is unreachable. */
export function ModelFallbacks({ org }: { org: RouteAnswer<'orgs.get'> }) {
  const rows = Object.entries(org.model_fallbacks).map(
    ([deployment, models]): Fallbacks => ({
      deployment,
      models: models.join('\n'),
    }),
  );
  return (
    <ChangeForm
      initial={{ model_fallbacks: rows }}
      onDone={() => say('Saved')}
      row="orgs.update"
      send={({ model_fallbacks }) => ({
        model_fallbacks: Object.fromEntries(
          (model_fallbacks as Fallbacks[]).map(({ deployment, models }) => [deployment, linesOf(models)]),
        ),
      })}
      submit="Save fallbacks"
    >
      <ByDeployment<Fallbacks>
        empty={{ models: '' }}
        hint="The models that a deployment uses, in this order, if its own is unavailable. At most five."
        label="Fallback models"
        name="model_fallbacks"
      >
        {(row, change) => (
          <PanelText
            help="model_fallbacks"
            isMono
            label="Models in order of preference, one per line"
            onChange={(models) => change({ models })}
            placeholder="anthropic/claude-sonnet"
            rows={2}
            value={row.models}
          />
        )}
      </ByDeployment>
    </ChangeForm>
  );
}
